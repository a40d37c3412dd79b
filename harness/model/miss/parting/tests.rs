use super::*;

fn conversation(text: &str) -> Vec<Json> {
    Json::parse(text.as_bytes()).unwrap().as_array().unwrap().to_vec()
}

#[test]
fn names_message_field_and_words() {
    let recorded = conversation(
        r#"[{"type":"human","content":"a"},{"type":"tool","name":"read_file","content":"hi from replay."}]"#,
    );
    let called = conversation(
        r#"[{"type":"human","content":"a"},{"type":"tool","name":"read_file","content":"hi from reply."}]"#,
    );
    let lines = [
        "they part  at message 2 of 2 (tool `read_file`), in `content`:",
        "  - hi from replay.",
        "  + hi from reply.",
        "  words \"replay.\" → \"reply.\"",
    ];
    assert_eq!(parting(&recorded, &called), lines);
}

#[test]
fn names_the_argument_of_a_tool_call() {
    let recorded =
        conversation(r#"[{"type":"ai","content":"","tool_calls":[{"name":"f","args":{"a":1,"p":{"q":[1,"x y"]}}}]}]"#);
    let called =
        conversation(r#"[{"type":"ai","content":"","tool_calls":[{"name":"f","args":{"a":1,"p":{"q":[1,"x z"]}}}]}]"#);
    let lines = parting(&recorded, &called);
    assert_eq!(lines[0], "they part  at message 1 of 1 (ai calling f), in `tool_calls[0].args.p.q[1]`:");
    assert_eq!(lines.last().unwrap(), "  words \"y\" → \"z\"");
}

#[test]
fn tells_which_of_the_two_is_longer() {
    let short = conversation(r#"[{"type":"human","content":"a"}]"#);
    let long = conversation(r#"[{"type":"human","content":"a"},{"type":"ai","content":"b\nc"}]"#);
    let went_on = "they part  the call goes on where the recorded conversation ends, at message 2 of 2:";
    assert_eq!(parting(&short, &long), [went_on, "  + ai: b⏎c"]);
    assert!(parting(&long, &short)[0].contains("the call ends where the recorded conversation goes on"));
}
