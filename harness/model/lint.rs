//! What is wrong with a call by itself: tool calls and results that do not belong together. A provider may refuse it, or
//! let it pass and answer the worse.

use crate::conversation::{Message, ToolCall};
use crate::wire::{Api, Call};

/// What is wrong with one call of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// Who made the call, where that is known.
    pub caller: Option<String>,
    /// The turn that answered it; `None` for a miss, and while recording.
    pub turn: Option<usize>,
    /// What is wrong: `a tool result without its call: call_1`.
    pub what: String,
}

/// What is wrong with a conversation, in its order: a tool result without its call, a call without its result, an empty
/// id where the API needs one.
pub(super) fn flaws(call: &Call) -> Vec<String> {
    // Of a conversation that goes on from another one, a part is not here.
    let goes_on = |message: &Message| {
        let mut blocks = message.content.as_array().unwrap_or_default().iter();
        blocks.any(|b| b.get("previous_response_id").is_some() || b.str_of("type") == Some("item_reference"))
    };
    if call.api == Api::Opaque || call.messages.iter().any(goes_on) {
        return Vec::new();
    }
    let needs_ids = matches!(call.api, Api::OpenAiChat | Api::OpenAiResponses | Api::Anthropic);
    let mut open: Vec<&ToolCall> = Vec::new();
    let mut flaws = Vec::new();
    for message in &call.messages {
        if message.kind != "tool" {
            open.extend(&message.tool_calls);
            continue;
        }
        let name = message.name.as_deref().unwrap_or_default();
        let answered = match message.tool_call_id.as_deref() {
            Some("") if needs_ids => {
                flaws.push("an empty id: of a tool result".to_owned());
                open.iter().position(|call| call.id.is_empty())
            }
            Some(id) if !id.is_empty() => {
                let by_id = open.iter().position(|call| call.id == id);
                by_id.or_else(|| open.iter().position(|call| !needs_ids && call.id.is_empty() && call.name == name))
            }
            // Functions of OpenAI's first kind, and APIs that go by name and order. What has neither is of another kind.
            _ if name.is_empty() => continue,
            _ => open.iter().position(|call| call.name == name),
        };
        match (answered, message.tool_call_id.as_deref().filter(|id| !id.is_empty())) {
            (Some(at), _) => {
                let answered = open.remove(at);
                if needs_ids && answered.id.is_empty() && message.tool_call_id.is_some() {
                    flaws.push(format!("an empty id: of the call of `{}`", answered.name));
                }
            }
            (None, Some(id)) => flaws.push(format!("a tool result without its call: `{id}`")),
            (None, None) if name.is_empty() => {}
            (None, None) => flaws.push(format!("a tool result without its call: of `{name}`")),
        }
    }
    flaws.extend(open.iter().map(|call| match call.id.as_str() {
        "" => format!("a tool call without its result: of `{}`", call.name),
        id => format!("a tool call without its result: `{id}` of `{}`", call.name),
    }));
    flaws
}

#[cfg(test)]
mod tests {
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
        let gone_on = r#"{"previous_response_id": "r", "input": [{"type": "function_call_output", "call_id": "a", "output": "1"}]}"#;
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
        let gemini =
            r#"{"contents": [{"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}]}"#;
        assert_eq!(of(Api::Gemini, gemini), ["a tool result without its call: of `f`"]);
    }
}
