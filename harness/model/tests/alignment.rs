//! The calls of a run are matched with the recorded turns: which calls changed, which are additional, which are missing.

use super::*;
use crate::GoingOn;
use retake_core::conversation::ToolCall;

/// Makes a turn of a conversation from the kind and the text of each message.
fn said(caller: Option<&str>, messages: &[(&str, &str)], answer: &str) -> Recorded {
    let messages: Vec<_> = messages.iter().map(|(kind, text)| Message::new(kind, *text)).collect();
    Recorded { conversation: Rules::default().canonical(messages), ..turn(caller, "p", "", answer) }
}

/// Replays the calls, where each call that misses gets an answer, and returns the first line about each call that missed.
fn first_lines(turns: Vec<Recorded>, calls: &[Recorded]) -> Vec<String> {
    let mut replay = replay_of(turns);
    replay.going_on = GoingOn::Meant;
    for call in calls {
        let (caller, conversation) = (call.caller.clone(), call.conversation.clone());
        let prompt = call.texts.as_ref().and_then(|texts| texts[0].as_deref()).unwrap_or_default();
        let _ =
            replay.take(None, &Lookup { caller, conversation: conversation.into(), ..lookup(None, prompt, "") }, None);
    }
    let first = |call: MissedCall| call.differences[0].cause.what.clone();
    replay.log().missed.into_iter().map(first).collect()
}

const LOOP: [&[(&str, &str)]; 3] = [
    &[("human", "A train to Ghent")],
    &[("human", "A train to Ghent"), ("ai", "one"), ("human", "And back?")],
    &[("human", "A train to Ghent"), ("ai", "one"), ("human", "And back?"), ("ai", "two"), ("human", "Thanks")],
];

fn recording(caller: Option<&str>) -> Vec<Recorded> {
    LOOP.iter().zip(["one", "two", "three"]).map(|(messages, answer)| said(caller, messages, answer)).collect()
}

#[test]
fn a_call_that_lost_messages_is_none_of_the_caller_that_had_the_rest_of_them() {
    let of = |prompt: &str, messages: &[(&str, &str)], answer: &str| {
        let texts = Some(checks(prompt).0);
        Recorded { texts, ..said(None, messages, answer) }
    };
    let turns = || {
        let (question, answer) = (("human", "A train to Ghent"), ("ai", "one"));
        let go_on = ("human", "And back?");
        vec![
            of("Route.", &[go_on], "train"),
            of("Plan.", &[question], "one"),
            of("Plan.", &[question, answer, go_on], "two"),
        ]
    };
    let lost = "the history of the call \"And back?\" is shortened at the front: its first 2 messages are missing";
    let again = "the call \"And back?\" asks once more than recorded: turn 1 had already answered it";
    for (prompt, first_line) in [("Plan.", lost), ("Plan. Mind the day.", again), ("Route.", again)] {
        let mut calls = turns();
        calls[2] = of(prompt, &[("human", "And back?")], "");
        assert_eq!(first_lines(turns(), &calls), [first_line], "{prompt}");
    }
    // If the turn is asked for after all, the call was made on top of it.
    let mut calls = turns();
    calls.insert(2, of("Plan.", &[("human", "And back?")], ""));
    let more = "the service asks once more than recorded, before turn 3 (answers \"two\"): \"And back?\"";
    assert_eq!(first_lines(turns(), &calls), [more]);
}

fn with(caller: Option<&str>, at: usize, call: Recorded) -> Vec<Recorded> {
    let mut calls = recording(caller);
    calls.insert(at, call);
    calls
}

#[test]
fn a_call_before_the_first_recorded_one_is_additional_and_not_a_change_of_the_first() {
    for (caller, who) in [(None, "the service"), (Some("agent"), "`agent`")] {
        let safe = || said(caller, &[("human", "Is this safe? A train to Ghent")], "");
        assert_eq!(
            first_lines(recording(caller), &with(caller, 0, safe())),
            [format!(
                "{who} asks once more than recorded, before turn 1 (answers \"one\"): \"Is this safe? A train to Ghent\""
            )]
        );
    }
}

#[test]
fn additional_calls_between_and_after_recorded_ones_are_reported_with_their_place() {
    let mut history = LOOP[1].to_vec();
    history.push(("human", "Reflect: is that right?"));
    for (caller, who) in [(None, "the service"), (Some("agent"), "`agent`")] {
        let reflect = || said(caller, &history, "");
        assert_eq!(
            first_lines(recording(caller), &with(caller, 1, reflect())),
            [format!(
                "{who} asks once more than recorded, before turn 2 (answers \"two\"): \"Reflect: is that right?\""
            )]
        );
        let rate = || said(caller, &[("human", "Rate the trip: a train to Ghent")], "");
        assert_eq!(
            first_lines(recording(caller), &with(caller, 3, rate())),
            [format!(
                "{who} asks once more than recorded, after turn 3 (answers \"three\"): \"Rate the trip: a train to Ghent\""
            )]
        );
    }
}

#[test]
fn additional_calls_of_one_caller_are_counted_in_one_line() {
    let safe = |text: &'static str| said(None, &[("human", text)], "");
    let mut calls = with(None, 0, safe("Is this safe? A train to Ghent"));
    calls.insert(2, safe("Is this safe? And back?"));
    let line = "the service asks 2 more times than recorded, first before turn 1 (answers \"one\"): \"Is this safe? A train to Ghent\"";
    assert_eq!(first_lines(recording(None), &calls), [line, line]);
}

#[test]
fn a_question_that_is_edited_in_all_calls_is_not_an_additional_call() {
    for caller in [None, Some("agent")] {
        let mut calls = recording(caller);
        for call in &mut calls {
            let text = call.conversation[0].print(retake_core::json::Layout::Compact).replace("Ghent", "Bruges");
            call.conversation[0] = Json::parse(text.as_bytes()).unwrap();
        }
        let lines = first_lines(recording(caller), &calls);
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| line.contains("message 1 (human) of")), "{lines:#?}");
        assert!(lines.iter().all(|line| line.ends_with("says different text than recorded (\"Ghent\" → \"Bruges\")")));
    }
}

#[test]
fn an_edited_call_and_an_additional_one_are_told_apart_in_either_order() {
    let edited = || said(Some("agent"), &[("human", "A train to Bruges")], "");
    let safe = || said(Some("agent"), &[("human", "Is this request safe, yes or no? Answer in a word.")], "");
    let one = || vec![recording(Some("agent")).remove(0)];
    let changed = "message 1 (human) of `agent` says different text than recorded (\"Ghent\" → \"Bruges\")";
    let lines = first_lines(one(), &[safe(), edited()]);
    assert_eq!(lines[1], changed, "{lines:#?}");
    let lines = first_lines(one(), &[edited(), safe()]);
    assert_eq!(lines[0], changed, "{lines:#?}");
    assert!(lines[1].starts_with("`agent` asks once more than recorded"), "{lines:#?}");
}

#[test]
fn a_call_leaves_its_nearest_turn_to_a_call_that_fits_no_other() {
    let alone = |text| said(None, &[("human", text)], text);
    let turns = vec![alone("Title: Ghent by train"), alone("Title: tram")];
    let lines = first_lines(turns, &[alone("Title: Ghent by tram"), alone("Labels of Ghent by train")]);
    assert!(lines[0].contains("(\"tram\" → \"Ghent by tram\")"), "{lines:#?}");
    assert!(lines[1].contains("(\"Title:\" → \"Labels of\")"), "{lines:#?}");
}

#[test]
fn missing_and_reordered_calls_are_not_additional_calls() {
    let alone = |text| said(None, &[("human", text)], text);
    let three = || vec![alone("Title: Ghent"), alone("Summary: Ghent"), alone("Labels: Ghent")];
    let calls = [alone("Title: Ghent"), alone("Labels: Ghent")];
    assert!(first_lines(three(), &calls).is_empty());
    let calls = [alone("Labels: Ghent"), alone("Title: Ghent"), alone("Summary: Ghent")];
    assert!(first_lines(three(), &calls).is_empty());
    // The nearest turn of an edited call belongs to a later call that asks for it exactly. Then the turn that is left is meant.
    let calls = [alone("Summary: Bruges, Ghent"), alone("Title: Ghent"), alone("Labels: Ghent")];
    let lines = first_lines(three(), &calls);
    assert_eq!(lines.len(), 1);
    assert!(lines[0].contains("says different text than recorded"), "{lines:#?}");
}

#[test]
fn a_call_gets_its_turn_even_if_a_call_that_missed_was_given_it_before() {
    let mut replay = replay_of(recording(None));
    replay.going_on = GoingOn::Meant;
    assert_eq!(ask(&replay, None, "p", "Is this safe? A train to Ghent"), Ok("one".into()));
    assert_eq!(ask(&replay, None, "p", "A train to Ghent"), Ok("one".into()));
    assert_eq!(replay.unused(), [1, 2]);
    assert_eq!(replay.log().missed.len(), 1);
}

#[test]
fn a_call_that_resembles_no_turn_gets_a_text_and_never_tool_calls() {
    let tools = |mut turn: Recorded| {
        let call = ToolCall { id: "c".into(), name: "find".into(), args: Json::Null };
        turn.output.blocks = vec![Block::ToolCall(call)];
        turn
    };
    let turns = vec![tools(turn(Some("agent"), "p", "go", "")), turn(Some("agent"), "p", "went", "gone")];
    let mut replay = replay_of(turns);
    replay.going_on = GoingOn::Meant;
    assert_eq!(ask(&replay, Some("guard"), "q", "Is it safe?"), Ok("gone".into()));
}

#[test]
fn a_call_that_is_made_again_is_named_by_what_was_said_last_and_after_a_refusal_by_its_status() {
    let again = |status: u16| {
        let turns = || {
            let mut turns = recording(None);
            turns[1].wire = Some(Wire::of(Api::OpenAiChat, Response::json(status, Json::Null)));
            turns
        };
        let mut calls = turns();
        calls.push(said(None, LOOP[1], ""));
        first_lines(turns(), &calls)
    };
    assert_eq!(again(200), ["the call \"And back?\" asks once more than recorded: turn 2 had already answered it"]);
    assert_eq!(again(400), ["the call \"And back?\" is made again after status 400 (turn 2)"]);
}
