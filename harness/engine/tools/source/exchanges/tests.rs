use super::*;
use retake_wire::fixture::{Reply, ToolMessage};

fn json(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

fn exchange(params: &str, answer: Result<Json, Json>) -> ToolExchange {
    let (method, answer) = ("tools/call".to_owned(), Some(answer));
    ToolExchange { method, params: json(params), answer, ..ToolExchange::default() }
}

fn action(tool: &str, args: &str, told: &str) -> Action {
    let expected = vec![Json::object([("observation", Json::object([("content", Json::from(told))]))])];
    Action { record: Json::Null, tool: tool.to_owned(), args: json(args), expected, withheld: None }
}

/// Runs the actions through the exchanges of the server `files`, whose tools have the prefix `fs_`.
fn observed(actions: Vec<Action>, exchanges: Vec<ToolExchange>) -> Vec<Action> {
    let mut script = Script { entries: vec![Entry::Together(actions)], ..Script::default() };
    let tools = ToolExchanges::from([("files".to_owned(), exchanges)]);
    observe(&mut script, &tools, |_| "fs_", &Normalizer::default());
    let Some(Entry::Together(actions)) = script.entries.pop() else { panic!("there is one entry") };
    actions
}

fn content(action: &Action) -> Json {
    action.expected[0].pointer("/observation/content").unwrap().clone()
}

#[test]
fn an_action_gets_what_the_server_returned_and_equal_calls_get_it_in_order() {
    let result = |text: &str| Ok(json(&format!(r#"{{"content": [{{"type": "text", "text": "{text}"}}]}}"#)));
    let call = r#"{"name": "read", "arguments": {"path": "/tmp/abc/a"}}"#;
    let exchanges = vec![exchange(call, result("one")), exchange(call, result("two"))];
    let args = r#"{"path": "/tmp/def/a"}"#;
    let actions = vec![action("fs_read", args, "o…"), action("read", args, "own"), action("fs_read", args, "t…")];
    let actions = observed(actions, exchanges);
    assert_eq!(content(&actions[0]), json(r#"[{"type": "text", "text": "one"}]"#));
    assert_eq!(content(&actions[1]), Json::from("own"));
    assert_eq!(content(&actions[2]), json(r#"[{"type": "text", "text": "two"}]"#));
}

#[test]
fn an_error_of_the_protocol_is_a_failed_result() {
    let exchanges = vec![exchange(r#"{"name": "read"}"#, Err(json(r#"{"code": -32602, "message": "no path"}"#)))];
    let actions = observed(vec![action("fs_read", "{}", "MCP error -32602: no path")], exchanges);
    assert_eq!(content(&actions[0]), Json::from("no path"));
    assert_eq!(actions[0].expected[0].pointer("/observation/is_error"), Some(&Json::Bool(true)));
}

#[test]
fn a_call_in_which_the_server_asked_the_agent_cannot_be_repeated_without_it() {
    let mut exchange = exchange(r#"{"name": "read"}"#, Ok(json(r#"{"content": []}"#)));
    let reply = Some(Reply::Answer(Ok(json(r#"{"action": "accept"}"#))));
    exchange.messages = vec![ToolMessage { method: "elicitation/create".to_owned(), params: Json::Null, reply }];
    let actions = observed(vec![action("fs_read", "{}", "")], vec![exchange]);
    assert_eq!(actions[0].withheld, Some(Withheld::AsksAgent));
    assert!(!actions[0].runs(true));
}
