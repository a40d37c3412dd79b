use super::*;

#[test]
fn the_first_body_holds_what_usual_clients_send_and_what_the_sources_read() {
    let fields = ["utterance", "session_id", "message", "chat_history"].map(str::to_owned);
    let first = bodies(&fields, &|_| None).swap_remove(0);
    assert_eq!((&first["utterance"], &first["session_id"]), (&json!(PROMPT), &json!("hello")));
    assert_eq!(first["chat_history"][0]["content"], json!(PROMPT));
    assert_eq!(first["params"]["input"]["content"][0]["text"], json!(PROMPT));
    // A list may be one of things with fields.
    let is_list = |body: &Value| body["utterance"][0]["text"] == json!(PROMPT);
    assert!(bodies(&fields, &|_| None).iter().any(is_list));
    // TOML holds no null, so no body does.
    assert!(bodies(&fields, &|_| None).iter().all(|body| !body.to_string().contains("null")));
}

#[test]
fn each_field_can_be_left_out_but_no_item_of_a_list() {
    let body = json!({ "a": { "b": [{ "c": 1, "d": 2 }] }, "e": 3 });
    let parts = parts(&body);
    assert_eq!(parts, ["/a", "/e", "/a/b", "/a/b/0/c", "/a/b/0/d"]);
    assert_eq!(without(&body, "/a/b/0/c"), Some(json!({ "a": { "b": [{ "d": 2 }] }, "e": 3 })));
    assert_eq!(without(&json!({}), "/a/b"), None);
}
