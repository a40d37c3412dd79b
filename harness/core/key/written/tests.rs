use super::*;
use crate::conversation::Message;
use crate::json::Layout;
use crate::key::Rules;
use crate::key::canonical::message_from_langchain;

/// Returns the canonical conversation of messages in LangChain's form.
fn canonical(content: &str) -> String {
    let text = format!(r#"{{"messages": [{{"type": "human", "data": {{"content": {content}}}}}]}}"#);
    let mut call = Json::parse(text.as_bytes()).unwrap();
    keep_order(&mut call, text.as_bytes(), &["data"]);
    let Some(Json::Array(messages)) = call.into_object().unwrap().remove("messages") else { panic!("a list") };
    let messages: Vec<Message> = messages.into_iter().map(|message| message_from_langchain(message).unwrap()).collect();
    Json::Array(Rules::default().canonical(messages)).print(Layout::Python)
}

/// What the reference prints: `str()` of a list or an object keeps the order of keys, `json.dumps` of a block sorts them.
#[test]
fn content_that_is_printed_with_str_keeps_the_order_of_its_keys() {
    for (content, printed) in [
        (r#"["see ", [{"b": 1, "a": 2}]]"#, r#""see [{'b': 1, 'a': 2}]""#),
        (r#"{"b": 1, "a": 2}"#, r#""{'b': 1, 'a': 2}""#),
        (r#"[{"b": 1, "a": 2}]"#, r#""{\"a\": 2, \"b\": 1}""#),
    ] {
        assert_eq!(canonical(content), format!(r#"[{{"content": {printed}, "type": "human"}}]"#), "{content}");
    }
}

/// A chat request is not in LangChain's form, and content that is an object is an error there.
#[test]
fn lists_in_the_content_of_a_request_keep_the_order_too() {
    let text =
        r#"{"messages": [{"role": "user", "content": [[{"b": 1, "a": 2}]]}, {"role": "user", "content": {"b": 1}}]}"#;
    let mut request = Json::parse(text.as_bytes()).unwrap();
    keep_order(&mut request, text.as_bytes(), &[]);
    assert_eq!(request.pointer("/messages/0/content/0"), Some(&Json::from("[{'b': 1, 'a': 2}]")));
    assert!(request.pointer("/messages/1/content").unwrap().as_object().is_some());
}
