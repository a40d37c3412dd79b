use super::*;
use retake_core::events::{Capture, Captured, ShapeOptions};

/// The events of a stream, each with its name and its payload.
type Events<'a> = &'a [(&'a str, &'a str)];

fn sent(events: Events<'_>) -> WhatWasSent {
    let text =
        events.iter().map(|(name, data)| format!("event: {name}\ndata: {data}\n\n")).collect::<Vec<_>>().concat();
    let captured = Captured::stream("POST /", Capture::new().push(text.as_bytes()));
    WhatWasSent::of([(0, &captured)], &ShapeOptions::default(), &str::to_owned)
}

const RECORDED: [(&str, &str); 4] = [
    ("chunk", r#"{"text": "I wrote ", "type": "delta"}"#),
    ("chunk", r#"{"text": "note.txt.", "type": "delta"}"#),
    ("state", r#"{"said": [{"role": "user", "text": "Write!"}, {"role": "ai", "text": "I wrote note.txt."}]}"#),
    ("end", "null"),
];

fn verdict(now: Events<'_>) -> (Did, String) {
    compared(&RECORDED, now, &[], None)
}

fn beside<'a>(recorded: &'a WhatWasSent, now: &'a WhatWasSent) -> Compared<'a> {
    let damaged = Some("Let me see what I can do.".to_owned());
    Compared { recorded, now, status: "200".to_owned(), error_words: &[], changed: None, stuck: None, damaged }
}

/// The verdict beside a recorded run, for a step that waited in vain if that is given.
fn compared(recorded: Events<'_>, now: Events<'_>, error_words: &[String], stuck: Option<&str>) -> (Did, String) {
    let (recorded, now) = (sent(recorded), sent(now));
    let compared = Compared { error_words, stuck: stuck.map(str::to_owned), ..beside(&recorded, &now) };
    if compared.is_as_recorded() {
        return (Did::Recovered, String::new());
    }
    let Verdict { did, why } = compared.verdict();
    (did, why)
}

#[test]
fn half_a_text_that_ends_well_is_silent() {
    let state = r#"{"said": [{"role": "user", "text": "Write!"}, {"role": "ai", "text": "I wrote "}]}"#;
    let half = verdict(&[RECORDED[0], ("state", state), RECORDED[3]]);
    assert_eq!(half, (Did::Silent, "the client saw \"I wrote\" of 17 characters, and no error".to_owned()));
    // In other pieces, which no rule forbids.
    let pieces = [("chunk", r#"{"text": "I ", "type": "delta"}"#), ("chunk", r#"{"text": "wro", "type": "delta"}"#)];
    assert_eq!(verdict(&[pieces[0], pieces[1], RECORDED[3]]).0, Did::Silent);
    // A piece in the middle is missing.
    let hole = verdict(&[RECORDED[0], ("chunk", r#"{"text": ".txt.", "type": "delta"}"#), RECORDED[3]]);
    assert_eq!(hole, (Did::Silent, "the client saw 0 of 17 characters, and no error".to_owned()));
    let nothing = verdict(&[("state", r#"{"said": [{"role": "user", "text": "Write!"}]}"#), RECORDED[3]]);
    assert_eq!(nothing, (Did::Silent, "the client saw 0 of 17 characters, and no error".to_owned()));
}

#[test]
fn what_says_that_something_failed_is_reported() {
    let reported = |event: (&str, &str)| {
        let (did, why) = verdict(&[RECORDED[0], event, RECORDED[3]]);
        assert_eq!(did, Did::Reported, "{why}");
        why
    };
    assert_eq!(reported(("run.failed", "{}")), "event `run.failed`");
    assert_eq!(reported(("state", r#"{"status": "incomplete"}"#)), "status \"incomplete\"");
    assert_eq!(reported(("state", r#"{"error": {"message": "no"}}"#)), "an `error`: \"no\"");
    // ADK's events have a code and no word that says so.
    assert_eq!(reported(("chunk", r#"{"errorCode": "MAX_TOKENS"}"#)), "an `errorCode`");
    assert_eq!(verdict(&[RECORDED[0], ("chunk", r#"{"errorCode": null}"#), RECORDED[3]]).0, Did::Silent);
    // What the client was told is quoted, but for what no two processes have in common.
    let told = reported(("error", r#"{"code": 7, "message": "The model at 0x7f31 refused\n(process 123456)"}"#));
    assert_eq!(told, "event `error`: \"The model at … refused (process …\"");
    // Without its last event, the stream breaks off, which is no report.
    let broken = "breaks off after `chunk`, before `end`, without a word";
    assert_eq!(verdict(&RECORDED[..2]), (Did::Reported, broken.to_owned()));
    let own = [RECORDED[0], ("state", r#"{"status": "degraded"}"#), RECORDED[3]];
    assert_eq!(verdict(&own).0, Did::Other);
    assert_eq!(compared(&RECORDED, &own, &["DEGRADED".to_owned()], None).0, Did::Reported);
}

#[test]
fn another_text_is_something_other() {
    let sorry = verdict(&[("chunk", r#"{"text": "Sorry, not today.", "type": "delta"}"#), RECORDED[3]]);
    assert_eq!(sorry, (Did::Other, "200, ends, \"Sorry, not today.\"".to_owned()));
    // What is left of an answer of the model that others were to follow.
    let left = verdict(&[("chunk", r#"{"text": "Let me see ", "type": "delta"}"#), RECORDED[3]]);
    assert_eq!(left, (Did::Silent, "200, ends, \"Let me see\" of the damaged answer".to_owned()));
    // A text at a place where there was none, a new word and a new event are something other too.
    assert_eq!(verdict(&[RECORDED[0], ("chunk", r#"{"more": "I wrote "}"#), RECORDED[3]]).0, Did::Other);
    assert_eq!(verdict(&[RECORDED[0], ("chunk", r#"{"type": "stop"}"#), RECORDED[3]]).1, "200, type \"stop\"");
    assert_eq!(verdict(&[RECORDED[0], ("note", "{}"), RECORDED[3]]).1, "200, event `note`");
    assert_eq!(verdict(&RECORDED).0, Did::Recovered);
}

#[test]
fn a_text_that_comes_again_after_its_beginning_is_repeated() {
    let piece = |text: &str| format!(r#"{{"text": {text:?}, "type": "delta"}}"#);
    let (first, second) = (piece("I wr"), piece("ote "));
    let again = [("chunk", &*first), RECORDED[0], RECORDED[1], RECORDED[2], RECORDED[3]];
    let repeated = "200, ends, \"I wr\" and then all 17 characters".to_owned();
    assert_eq!(verdict(&again), (Did::Repeated, repeated));
    // After several beginnings, too.
    let twice = [("chunk", &*first), ("chunk", &*first), ("chunk", &*second), again[1], again[2], again[3], again[4]];
    assert_eq!(verdict(&twice).0, Did::Repeated);
    // An event that was recorded once, and says now that it begins again.
    let begins = [("begin", "{}"), RECORDED[0], RECORDED[1], RECORDED[3]];
    let restarts = [("begin", "{}"), ("chunk", &*first), begins[0], begins[1], begins[2], begins[3]];
    assert_eq!(compared(&begins, &restarts, &[], None).0, Did::Other);
    // States begin with what came before them, and come as often as they want.
    let states = [("state", r#"{"said": "I"}"#), ("state", r#"{"said": "I wrote"}"#)];
    let more = [states[0], states[0], states[1], states[1]];
    assert_eq!(compared(&states, &more, &[], None).0, Did::Recovered);
}

#[test]
fn a_step_that_waits_in_vain_is_hung_unless_it_is_told_something() {
    let (done, running) = ([("body", r#"{"status": "done"}"#)], [("body", r#"{"status": "running"}"#)]);
    let waits = |now: &str| compared(&done, &[("body", now)], &[], Some("/status did not become \"done\""));
    assert_eq!(waits(running[0].1), (Did::Hung, "/status did not become \"done\"".to_owned()));
    assert_eq!(waits(r#"{"status": "failed"}"#).0, Did::Reported);
    assert_eq!(waits(r#"{"status": "halted"}"#), (Did::Other, "200, status \"halted\"".to_owned()));
}

#[test]
fn what_differs_without_a_fault_is_not_compared() {
    let run = |id: &str| sent(&[("chunk", &*format!(r#"{{"text": "Hello", "took": {id:?}}}"#)), RECORDED[3]]);
    let noise = Noise::between(&run("12 ms"), &run("9 ms"));
    let none = Noise::default();
    assert!(!noise.is_within(&none) && Noise::between(&run("9 ms"), &run("9 ms")).is_within(&none));
    let heard = |sent| noise.out_of(sent, false);
    let is_as_recorded = |now| beside(&heard(run("12 ms")), &heard(now)).is_as_recorded();
    assert!(is_as_recorded(run("31 ms")));
    assert!(!is_as_recorded(sent(&[("chunk", r#"{"text": "Hel", "took": "9 ms"}"#), RECORDED[3]])));
}
