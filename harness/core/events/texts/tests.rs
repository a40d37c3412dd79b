use super::*;

/// Returns the texts of payloads, without their numbers, each with its line. Each payload has its own line.
fn texts(payloads: &[&str]) -> Vec<(usize, String)> {
    let mut messages = Messages::default();
    for (line, payload) in payloads.iter().enumerate() {
        messages.take(&Json::parse(payload.as_bytes()).unwrap(), line);
    }
    messages.finish(&|text: &str| text.replace("/work/7", "<workdir>"))
}

#[track_caller]
fn check(payloads: &[&str], expected: &[(usize, &str)]) {
    let expected: Vec<_> = expected.iter().map(|(line, text)| (*line, (*text).to_owned())).collect();
    assert_eq!(texts(payloads), expected);
}

#[test]
fn pieces_are_joined_by_message_however_they_are_cut() {
    let whole = &[(0, "\"hello\" (5, 2cf2)")];
    check(&[r#"{"id": "m1", "content": "hello"}"#], whole);
    check(
        &[r#"{"id": "m1", "content": "hel"}"#, r#"{"id": "m1", "content": ""}"#, r#"{"id": "m1", "content": "lo"}"#],
        whole,
    );
    // A piece that comes twice, and a missing piece.
    check(&[r#"{"id": "m1", "content": "hello"}"#; 2], &[(0, "\"hellohello\" (10, 0a86)")]);
}

#[test]
fn pieces_that_repeat_everything_so_far_are_distinguished_from_pieces_to_be_joined() {
    let check = |texts: &[&str], shown: &'static str| {
        let payloads: Vec<String> =
            texts.iter().map(|text| format!(r#"{{"id": "m1", "content": "{text}"}}"#)).collect();
        check(&payloads.iter().map(String::as_str).collect::<Vec<_>>(), &[(0, shown)]);
    };
    check(&["h", "ello"], "\"hello\" (5, 2cf2)");
    check(&["h", "he", "hello"], "\"hello\" (5, 2cf2, growing)");
    check(&["h", "hello"], "\"hello\" (5, 2cf2, growing)");
    // A single piece could be either.
    check(&["hello"], "\"hello\" (5, 2cf2)");
}

#[test]
fn parallel_messages_are_distinguished_by_their_ids() {
    let (a, b) = (r#"{"messageId": "a1", "delta": "one "}"#, r#"{"messageId": "b1", "delta": "two "}"#);
    check(&[a, b, a, b], &[(0, "\"one one \" (8, aaa1)"), (1, "\"two two \" (8, 05f7)")]);
    // Without ids, no text is shown.
    check(&[a, r#"{"delta": "two"}"#], &[]);
    check(&[r#"{"item_id": "__fake_id__", "delta": "one"}"#], &[]);
}

#[test]
fn pieces_are_found_in_the_forms_of_frameworks() {
    for payload in [
        r#"[{"id": "r1", "content": [{"type": "text", "text": "he"}, "x", {"text": "llo"}]}, {"langgraph_step": 1}]"#,
        r#"{"id": "chatcmpl-1", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "hello"}}]}"#,
        r#"{"type": "response.output_text.delta", "item_id": "msg_1", "delta": "hello"}"#,
        r#"{"type": "tool-input-delta", "toolCallId": "call_1", "inputTextDelta": "hello"}"#,
        r#"{"data": {"item_id": "msg_1", "delta": "hello"}, "type": "raw"}"#,
        r#"{"id": "m1", "text": "hello"}"#,
    ] {
        check(&[payload], &[(0, "\"hello\" (5, 2cf2)")]);
    }
    check(&[r#"{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hello"}}"#], &[]);
    check(&["[]", "null", r#"{"id": "m1"}"#, r#"{"id": "m1", "content": 7}"#], &[]);
}

#[test]
fn a_text_is_normalized_as_a_whole_before_it_is_shortened() {
    check(
        &[r#"{"id": "m1", "delta": "in /wo"}"#, r#"{"id": "m1", "delta": "rk/7"}"#],
        &[(0, "\"in <workdir>\" (12, 3681)")],
    );
    let long = format!(r#"{{"id": "m1", "delta": "{}"}}"#, "ä".repeat(61));
    let (_, shown) = texts(&[&long]).remove(0);
    assert!(shown.starts_with(&format!("\"{}…\" (61, ", "ä".repeat(60))), "{shown}");
}
