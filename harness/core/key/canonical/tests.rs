use super::*;

fn content(content: &str) -> String {
    content_text(&Json::parse(content.as_bytes()).unwrap())
}

#[test]
fn content_becomes_the_text_that_python_makes_of_it() {
    assert_eq!(
        content(r#"["a", {"type": "text", "text": "b"}, {"text": "", "n": 1.0}, 3, null]"#),
        concat!("ab", r#"{"n": 1.0, "text": ""}"#, "3None")
    );
    assert_eq!(content("null"), "None");
    assert_eq!(content(r#"{"a": "b"}"#), "{'a': 'b'}");
}

#[test]
fn system_hidden_and_blank_messages_are_left_out() {
    let message = |text: &str| Message::new("human", text);
    let hidden = Message { hidden: true, ..message("hidden") };
    let call = ToolCall { id: "x".into(), name: "ls".into(), args: Json::Null };
    let calling = Message { tool_calls: vec![call], ..Message::new("ai", "") };
    let all = [
        Message::new("system", "s"),
        hidden,
        message(" \u{1f}\n"),
        message("<system-reminder>x</system-reminder>"),
        calling,
    ];
    let canonical =
        Json::Array(all.iter().filter_map(|message| canonical_message(message, &Normalizer::default())).collect())
            .print(Layout::Python);
    assert_eq!(canonical, r#"[{"content": "", "tool_calls": [{"args": null, "name": "ls"}], "type": "ai"}]"#);
}
