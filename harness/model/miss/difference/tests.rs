use super::*;

fn conversation(text: &str) -> Vec<Json> {
    Json::parse(text.as_bytes()).unwrap().as_array().unwrap().to_vec()
}

/// Returns the kinds and the first lines of the differences.
fn found(recorded: &[Json], called: &[Json]) -> Vec<(CauseKind, String)> {
    let all = differences(recorded, called, "`agent`");
    all.into_iter().map(|difference| (difference.cause.kind, difference.cause.what)).collect()
}

fn said(kind: CauseKind, what: &str) -> Vec<(CauseKind, String)> {
    vec![(kind, what.to_owned())]
}

const TOOLS: &str = r#"[
    {"type":"human","content":"go"},
    {"type":"ai","content":"","tool_calls":[{"name":"f","args":{"a":1,"p":{"q":[1,"x y"]}}},{"name":"g","args":{}}]},
    {"type":"tool","name":"f","content":"sunny today"},
    {"type":"tool","name":"g","content":"{\"temp\": 21}"},
    {"type":"ai","content":"fine"},
    {"type":"human","content":"and now?"}]"#;

#[test]
fn a_different_text_from_a_tool_names_the_tool_and_the_words() {
    let recorded = conversation(TOOLS);
    let called = conversation(&TOOLS.replace("sunny", "rainy"));
    let all = differences(&recorded, &called, "`agent`");
    assert_eq!(all[0].cause.what, "tool `f` returned different text than recorded (\"sunny\" → \"rainy\")");
    let lines = [
        "difference at message 3 of 6 (tool `f`), in `content`:",
        "  - sunny today",
        "  + rainy today",
        "  words \"sunny\" → \"rainy\"",
    ];
    assert_eq!(retake_base::line::texts(&all[0].lines), lines);
    assert_eq!(all.len(), 1);
}

#[test]
fn a_different_json_result_or_argument_names_the_field() {
    let recorded = conversation(TOOLS);
    assert_eq!(
        found(&recorded, &conversation(&TOOLS.replace("21", "25"))),
        said(CauseKind::ToolResult, "tool `g` returned a different `/temp` than recorded (\"21\" → \"25\")")
    );
    // The result follows from the arguments, so only the argument is reported.
    assert_eq!(
        found(&recorded, &conversation(&TOOLS.replace("x y", "x z").replace("sunny", "rainy"))),
        said(
            CauseKind::ToolArgument,
            "tool `f` is called with a different argument `/p/q/1` than recorded (\"y\" → \"z\")"
        )
    );
}

#[test]
fn arguments_of_another_type_have_no_name() {
    let list = conversation(&TOOLS.replace(r#""g","args":{}"#, r#""g","args":[]"#));
    let what = "the arguments of tool `g` are of type `array`, recorded: `object` (\"{}\" → \"[]\")";
    assert_eq!(found(&conversation(TOOLS), &list), said(CauseKind::ToolArgument, what));
}

#[test]
fn a_type_comes_before_a_name_and_a_name_before_a_text() {
    let recorded = conversation(r#"[{"type":"human","content":"a"}]"#);
    let other = conversation(r#"[{"type":"developer","content":"b"}]"#);
    assert_eq!(
        found(&recorded, &other),
        said(CauseKind::MessageType, "message 1 of `agent` is of type `developer`, recorded: `human`")
    );
    let renamed = conversation(&TOOLS.replace(r#"{"name":"g","args":{}}"#, r#"{"name":"h","args":{}}"#));
    assert_eq!(
        found(&conversation(TOOLS), &renamed),
        said(CauseKind::ToolName, "message 2 of `agent` calls tools `f`, `h`, recorded: `f`, `g`")
    );
}

#[test]
fn missing_extra_and_reordered_messages_are_told_apart() {
    let recorded = conversation(TOOLS);
    let without = |at: usize| [&recorded[..at], &recorded[at + 1..]].concat();
    assert_eq!(
        found(&recorded, &without(4)),
        said(
            CauseKind::MessageMissing,
            "`agent` sends 1 message fewer than recorded: message 5 (ai \"fine\") is missing"
        )
    );
    assert_eq!(
        found(&without(4), &recorded),
        said(CauseKind::MessageExtra, "`agent` sends 1 message more than recorded: message 5 (ai \"fine\")")
    );
    let mut swapped = recorded.clone();
    swapped.swap(2, 3);
    assert_eq!(
        found(&recorded, &swapped),
        said(
            CauseKind::MessageOrder,
            "the messages of `agent` come in a different order: message 3 (tool `g` \"{\\\"temp\\\": 21}\") was recorded as message 4"
        )
    );
    assert_eq!(
        found(&recorded, &recorded[4..]),
        said(
            CauseKind::HistoryShortened,
            "the history of `agent` is shortened at the front: its first 4 messages are missing"
        )
    );
    assert_eq!(
        found(&recorded, &recorded[..4]),
        said(
            CauseKind::HistoryShortened,
            "the history of `agent` is shortened at the end: its last 2 messages are missing"
        )
    );
}

#[test]
fn two_changes_at_once_are_two_differences() {
    let called = conversation(&TOOLS.replace("sunny", "rainy").replace("and now?", "and then?"));
    let kinds: Vec<CauseKind> = found(&conversation(TOOLS), &called).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [CauseKind::ToolResult, CauseKind::MessageText]);
}

#[test]
fn the_same_change_in_another_message_is_not_a_second_difference() {
    let difference = |recorded: &str, called: &str| {
        let message = |text: &str| vec![Json::object([("content", text.into()), ("type", "human".into())])];
        differences(&message(recorded), &message(called), "`agent`").remove(0)
    };
    let first = difference("read it back", "read it again");
    assert!(difference("Title for: read it back please", "Title for: read it again please").follows_from(&first));
    assert!(!difference("Title for: read it back", "Name for: read it back").follows_from(&first));
}

#[test]
fn roles_and_ids_that_are_mixed_up_are_one_difference() {
    let recorded = conversation(TOOLS);
    let lost = conversation(&TOOLS.replace(r#""type":"tool","name":"f""#, r#""type":"tool""#));
    let what = "message 3 of `agent` is the result of no tool call, recorded: of tool `f`";
    assert_eq!(found(&recorded, &lost), said(CauseKind::ToolCallId, what));
    let swapped = TOOLS.replace(r#""tool","name":"f""#, r#""tool","name":"x""#);
    let swapped =
        swapped.replace(r#""tool","name":"g""#, r#""tool","name":"f""#).replace(r#""name":"x""#, r#""name":"g""#);
    let what = "`agent` sends the results of tools `f` and `g` for each other's calls";
    assert_eq!(found(&recorded, &conversation(&swapped)), said(CauseKind::ToolCallId, what));
    // So are their contents alone, under the ids and names that were recorded.
    let [sunny, temp] = ["sunny today", r#"{\"temp\": 21}"#];
    let contents = TOOLS.replace(sunny, "*").replace(temp, sunny).replace('*', temp);
    assert_eq!(found(&recorded, &conversation(&contents)), said(CauseKind::ToolCallId, what));
    let what = "`agent` asks without any message, recorded: 6 messages";
    assert_eq!(found(&recorded, &[]), said(CauseKind::NoMessages, what));
}

#[test]
fn a_reversed_history_is_an_order_even_if_results_lost_their_names() {
    let recorded = conversation(TOOLS);
    let mut reversed = recorded.clone();
    reversed.reverse();
    let nameless =
        Json::Array(reversed).print(Layout::Compact).replace(r#""name":"f","type":"tool""#, r#""type":"tool""#);
    let kinds: Vec<CauseKind> = found(&recorded, &conversation(&nameless)).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [CauseKind::MessageOrder]);
}

#[test]
fn messages_that_are_sent_as_one_are_one_difference() {
    let two = conversation(r#"[{"type":"human","content":"one question"},{"type":"human","content":"another"}]"#);
    let one = conversation(r#"[{"type":"human","content":"one question\nanother"}]"#);
    assert_eq!(found(&two, &one), said(CauseKind::MessageMissing, "`agent` sends messages 1 to 2 as one"));
}

#[test]
fn what_is_absent_is_not_quoted_and_white_space_is_seen() {
    let result = |text: &str| {
        conversation(&format!(
            r#"[{{"type":"tool","name":"f","content":{}}}]"#,
            Json::from(text).print(Layout::Compact)
        ))
    };
    let line = |was: &str, is: &str| found(&result(was), &result(is)).remove(0).1;
    assert_eq!(
        line(r#"{"a": 1}"#, r#"{"a": 1, "b": ","}"#),
        "tool `f` returned a different `/b` than recorded (absent → \",\")"
    );
    assert_eq!(line(r#"{"a": 1}"#, r#"{"a": "1"}"#), "tool `f` returned a different `/a` than recorded (1 → \"1\")");
    assert_eq!(
        line(r#"{"a": 1}"#, r#"{"a": 1, "error": "no disk"}"#),
        "tool `f` returned an error, where none was recorded (\"no disk\")"
    );
    let (seat, none) = (r#"{"ok": true, "day": "Wed"}"#, r#"{"ok": false, "error": "no seat is free"}"#);
    assert_eq!(line(seat, none), "tool `f` returned an error, where none was recorded (\"no seat is free\")");
    assert_eq!(line(none, seat), "tool `f` succeeded, where an error was recorded (\"no seat is free\")");
    assert_eq!(
        line(none, r#"{"ok": false, "error": "no train goes"}"#),
        "tool `f` returned a different `/error` than recorded (\"seat is free\" → \"train goes\")"
    );
    assert_eq!(
        line(r#"{"ok": true}"#, r#"{"ok": false}"#),
        "tool `f` returned an error, where none was recorded (\"{\\\"ok\\\": false}\")"
    );
    assert_eq!(
        line("You are free.", "You are free. "),
        "tool `f` returned different text than recorded (\"free.\" → \"free.·\")"
    );
    assert_eq!(
        line(seat, r#"{"day": "Wed", "ok": true}"#),
        "tool `f` returned the same JSON in another spelling than recorded (\"{\\\"ok\\\": true, \\\"day\\\": \\\"Wed\\\"}\" → \"{\\\"day\\\": \\\"Wed\\\", \\\"ok\\\": true}\")"
    );
    let long = "x".repeat(60);
    assert_eq!(
        line(&format!("{long}1"), &format!("{long}2")),
        "tool `f` returned different text than recorded (…\"xxxxxxxxxx1\" → …\"xxxxxxxxxx2\")"
    );
}

#[test]
fn results_that_are_not_sent_and_images_that_are_lost_are_named() {
    let recorded = conversation(TOOLS);
    let cut = recorded[..2].to_vec();
    assert_eq!(
        found(&recorded[..4], &cut),
        said(CauseKind::MessageMissing, "the results of `f` and `g` are missing in message 3 of `agent`")
    );
    assert_eq!(
        found(&recorded[..4], &[&recorded[..2], &recorded[3..4]].concat()),
        said(CauseKind::MessageMissing, "the result of `f` is missing in message 3 of `agent`")
    );
    let image = r#"[{"type":"human","content":"look{\"image_url\": {\"url\": \"u\"}, \"type\": \"image_url\"}"}]"#;
    let lost = r#"[{"type":"human","content":"look"}]"#;
    assert_eq!(
        found(&conversation(image), &conversation(lost)),
        said(CauseKind::MessageText, "message 1 (human) of `agent` has no image any more")
    );
}
