use super::*;
use crate::json::Json;
use crate::wire::{self, Known};

fn of(api: Api, body: &str) -> Vec<String> {
    let body = Json::parse(body.as_bytes()).unwrap();
    flaws(&wire::decode(api, "/v1beta/models/m:generateContent", &body, &Known::default()).unwrap())
}

fn chat(messages: &str) -> Vec<String> {
    of(Api::OpenAiChat, &format!(r#"{{"messages": [{{"role": "user", "content": "q"}}, {messages}]}}"#))
}

const CALLS: &str = r#"{"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}},
        {"id": "b", "function": {"name": "g", "arguments": "{}"}}]}"#;

fn result(id: &str) -> String {
    format!(r#"{{"role": "tool", "tool_call_id": "{id}", "content": "1"}}"#)
}

#[test]
fn calls_and_results_that_belong_together_are_sound_in_any_order() {
    assert_eq!(chat(&format!("{CALLS}, {}, {}", result("b"), result("a"))), [""; 0]);
    let legacy = r#"{"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": "1"}"#;
    assert_eq!(chat(legacy), [""; 0]);
    let anthropic = r#"{"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}},
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "1"}]}]}"#;
    assert_eq!(of(Api::Anthropic, anthropic), [""; 0]);
    let responses = r#"{"input": [{"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
            {"type": "computer_call_output", "call_id": "x", "output": {}},
            {"type": "function_call_output", "call_id": "a", "output": "1"}]}"#;
    assert_eq!(of(Api::OpenAiResponses, responses), [""; 0]);
    let gone_on =
        r#"{"previous_response_id": "r", "input": [{"type": "function_call_output", "call_id": "a", "output": "1"}]}"#;
    assert_eq!(of(Api::OpenAiResponses, gone_on), [""; 0]);
    let gemini = r#"{"contents": [{"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}]}"#;
    assert_eq!(of(Api::Gemini, gemini), [""; 0]);
    let ollama = r#"{"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]},
            {"role": "tool", "tool_name": "f", "content": "1"}]}"#;
    assert_eq!(of(Api::Ollama, ollama), [""; 0]);
    assert_eq!(of(Api::Opaque, "{}"), [""; 0]);
}

#[test]
fn what_does_not_belong_together_is_named() {
    assert_eq!(chat(&format!("{CALLS}, {}", result("a"))), ["a tool call without its result: `b` of `g`"]);
    assert_eq!(chat(&result("x")), ["a tool result without its call: `x`"]);
    let twice = format!("{CALLS}, {}, {}, {}", result("a"), result("a"), result("b"));
    assert_eq!(chat(&twice), ["a tool result without its call: `a`"]);
    let empty = format!("{}, {}", CALLS.replace("\"a\"", "\"\"").replace("\"b\"", "\"c\""), result(""));
    assert_eq!(
        chat(&empty),
        [
            "an empty id: of a tool result",
            "an empty id: of the call of `f`",
            "a tool call without its result: `c` of `g`"
        ]
    );
    let gemini = r#"{"contents": [{"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}]}"#;
    assert_eq!(of(Api::Gemini, gemini), ["a tool result without its call: of `f`"]);
}
