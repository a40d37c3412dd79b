use super::*;
use crate::json::Layout;

#[test]
fn only_what_some_api_cannot_express_is_left_out() {
    let plain =
        |message: &str| plain_conversation(&[Json::parse(message.as_bytes()).unwrap()]).remove(0).print(Layout::Python);
    assert_eq!(plain(r#"{"type": "ai", "content": "a", "name": "b"}"#), r#"{"content": "a", "type": "ai"}"#);
    let tool = |content: &str| {
        format!(r#"{{"content": {}, "name": "f", "type": "tool"}}"#, Json::from(content).print(Layout::Python))
    };
    for (sent, result) in [
        ("a", "a"),
        ("[1, {}]", "[1,{}]"),
        (r#"{"b": 1, "a": "x y"}"#, r#"{"a":"x y","b":1}"#),
        (r#"{"result": "a"}"#, "a"),
        (r#"{"result": 1}"#, "1"),
        (r#"{"output": [1, 2]}"#, "[1,2]"),
        (r#"{"result": {"b": 1, "a": null}}"#, r#"{"a":null,"b":1}"#),
        (r#"{"result": "{\"b\": 1}"}"#, r#"{"b":1}"#),
        (r#"{"output": {"result": "a"}}"#, "a"),
        (r#"{"result":"a","b":1}"#, r#"{"b":1,"result":"a"}"#),
        (r#"{"text":"a"}"#, r#"{"text":"a"}"#),
    ] {
        assert_eq!(plain(&tool(sent)), tool(result));
    }
}

#[test]
fn neighbours_of_one_role_become_one_message_and_results_stay_apart() {
    let conversation = |messages: &str| {
        let messages = Json::parse(messages.as_bytes()).unwrap();
        plain_conversation(messages.as_array().unwrap())
    };
    let call = |name: &str| format!(r#"{{"name": "{name}", "args": {{}}}}"#);
    let results = r#"{"type": "tool", "name": "f", "content": "1"}, {"type": "tool", "name": "g", "content": "2"}"#;
    let apart = format!(
        r#"[{{"type": "human", "content": "a"}}, {{"type": "human", "content": "b"}}, {{"type": "ai", "content": "so"}},
            {{"type": "ai", "content": "", "tool_calls": [{}]}}, {{"type": "ai", "content": "", "tool_calls": [{}]}}, {results}]"#,
        call("f"),
        call("g")
    );
    let joined = format!(
        r#"[{{"type": "human", "content": "ab"}}, {{"type": "ai", "content": "so", "tool_calls": [{}, {}]}}, {results}]"#,
        call("f"),
        call("g")
    );
    assert_eq!(conversation(&apart), conversation(&joined));
    assert_eq!(conversation(&joined).len(), 4);
}
