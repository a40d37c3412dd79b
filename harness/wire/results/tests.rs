use super::*;
use crate::Known;
use retake_core::json::Json;

fn of(api: Api, body: &str) -> Vec<String> {
    let body = Json::parse(body.as_bytes()).unwrap();
    Results::of(&crate::decode(api, "/v1beta/models/m:generateContent", &body, &Known::default()).unwrap()).flaws
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
fn calls_and_results_that_match_have_no_flaws_in_any_order() {
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
fn calls_and_results_that_do_not_match_are_named() {
    assert_eq!(chat(&format!("{CALLS}, {}", result("a"))), ["a tool call without its result: `b`, a call of `g`"]);
    assert_eq!(chat(&result("x")), ["a tool result without its call: `x`"]);
    let twice = format!("{CALLS}, {}, {}, {}", result("a"), result("a"), result("b"));
    assert_eq!(chat(&twice), ["a tool result without its call: `a`"]);
    let empty = format!("{}, {}", CALLS.replace("\"a\"", "\"\"").replace("\"b\"", "\"c\""), result(""));
    assert_eq!(
        chat(&empty),
        [
            "an empty id: in a tool result",
            "an empty id: in a call of `f`",
            "a tool call without its result: `c`, a call of `g`"
        ]
    );
    let gemini = r#"{"contents": [{"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}]}"#;
    assert_eq!(of(Api::Gemini, gemini), ["a tool result without its call: a result of `f`"]);
}

fn check(api: Api, body: &str) -> String {
    let body = Json::parse(body.as_bytes()).unwrap();
    Results::of(&crate::decode(api, "/v1beta/models/m:generateContent", &body, &Known::default()).unwrap()).check
}

/// An Anthropic request with two tool calls, `a` and `b`, and a message of results. Each result is an id and the rest of its
/// block.
fn anthropic(results: &[(&str, &str)]) -> String {
    let results =
        results.iter().map(|(id, rest)| format!(r#"{{"type": "tool_result", "tool_use_id": "{id}", {rest}}}"#));
    let results = results.collect::<Vec<_>>().join(", ");
    format!(
        r#"{{"messages": [{{"role": "user", "content": "q"}}, {{"role": "assistant", "content": [
        {{"type": "tool_use", "id": "a", "name": "f", "input": {{}}}}, {{"type": "tool_use", "id": "b", "name": "f", "input": {{}}}}]}},
        {{"role": "user", "content": [{results}]}}]}}"#
    )
}

#[test]
fn an_error_an_empty_result_and_swapped_results_are_exceptions() {
    let of = |results: &[(&str, &str)]| check(Api::Anthropic, &anthropic(results));
    let (one, two) = (r#""content": "1""#, r#""content": "2""#);
    assert_eq!(of(&[("a", one), ("b", two)]), "");
    assert_eq!(of(&[("a", r#""content": "1", "is_error": true"#), ("b", two)]), "call 1, `f`: an error");
    assert_eq!(of(&[("a", one), ("b", r#""content": " ""#)]), "call 2, `f`: empty");
    assert_eq!(
        of(&[("b", one), ("a", two)]),
        "call 2, `f`: in the place of call 1\ncall 1, `f`: in the place of call 2"
    );
    // Equal results cannot be distinguished.
    assert_eq!(of(&[("b", one), ("a", one)]), "");
    assert_eq!(of(&[("a", one)]), "call 2, `f`: no result");
    assert_eq!(of(&[("a", one), ("b", two), ("x", one)]), "a result of `` without its call");
}

#[test]
fn errors_are_compared_only_if_both_apis_express_them() {
    let gemini = |response: &str| {
        check(
            Api::Gemini,
            &format!(
                r#"{{"contents": [{{"role": "model", "parts": [{{"functionCall": {{"name": "f", "args": {{}}}}}}]}},
            {{"role": "user", "parts": [{{"functionResponse": {{"name": "f", "response": {response}}}}}]}}]}}"#
            ),
        )
    };
    assert_eq!(gemini(r#"{"error": "no"}"#), "call 1, `f`: an error");
    assert_eq!(gemini(r#"{"output": "no"}"#), "");
    assert_eq!(expressible_in_every_api("call 1, `f`: an error\ncall 2, `f`: empty"), "call 2, `f`: empty");
}
