//! Odd and damaged spans: each is a right turn, or refused with a true reason.

use super::wild::read;
use super::*;

/// A call by OpenTelemetry's conventions with this answer, and more attributes.
fn answered(parts: &Value, more: &Value) -> String {
    let mut attributes = json!({"gen_ai.operation.name": "chat",
        "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}],
        "gen_ai.output.messages": [{"role": "assistant", "parts": parts}]});
    attributes.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    read(&attributes)
}

/// A call by OpenInference or the AI SDK, whose attributes are the table's own.
fn asked(more: &Value) -> String {
    let mut attributes =
        json!({"openinference.span.kind": "LLM", "input.value": {"messages": [{"role": "user", "content": "Hi"}]}});
    attributes.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    read(&attributes)
}

/// A call of the AI SDK with this answer.
fn generated(calls: &Value) -> String {
    read(
        &json!({"ai.operationId": "ai.generateText.doGenerate", "ai.prompt.messages": [{"role": "user", "content": "Hi"}],
        "ai.response.text": "I look.", "ai.response.toolCalls": calls}),
    )
}

/// A call of OpenLLMetry, whose answer has these fields.
fn completed(more: &Value) -> String {
    let mut attributes = json!({"llm.request.type": "chat", "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Hi", "gen_ai.completion.0.role": "assistant"});
    let named = more.as_object().unwrap().iter();
    let named = named.map(|(name, value)| (format!("gen_ai.completion.0.{name}"), value.clone()));
    attributes.as_object_mut().unwrap().extend(named);
    read(&attributes)
}

const FORM: &str = "refused: a tool call in it has a form that cannot be read";

#[test]
fn each_is_a_right_turn_or_is_refused_with_a_true_reason() {
    let text = json!({"type": "text", "content": "I look."});
    let said = json!({"role": "assistant", "content": "I look."});
    let call = |name: &str, args: Value| json!({"type": "tool_call", "id": "c", "name": name, "arguments": args});
    let parts = |parts: Value| answered(&parts, &json!({}));
    let messages = |asked: Value, answered: Value| {
        read(
            &json!({"gen_ai.operation.name": "chat", "gen_ai.input.messages": asked, "gen_ai.output.messages": answered}),
        )
    };
    let saying = |role: &str| json!([{"role": role, "parts": [text]}]);
    let flat = |at: usize, content: &str| {
        let of = |field: &str| format!("llm.input_messages.{at}.message.{field}");
        json!({"input.value": null, "llm.input_messages.0.message.role": "user", of("role"): "user", of("content"): content, "output.value": said})
    };
    let mut failed = otlp(&[(
        "a",
        json!({"gen_ai.operation.name": "chat", "gen_ai.input.messages": saying("user"), "gen_ai.output.messages": saying("assistant")}),
    )]);
    failed["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["status"] = json!({"code": 2, "message": "reset"});
    let legacy = json!({"llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": "I look.",
        "llm.output_messages.0.message.function_call_name": "look", "llm.output_messages.0.message.function_call_arguments_json": "{}"});
    let older = json!({"output.value": {"role": "assistant", "content": null, "function_call": {"name": "look", "arguments": "{}"}}});
    let result = json!([{"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "response": "r"}]}]);
    let two = json!({"messages": [[{"role": "user", "content": "a"}], [{"role": "user", "content": "b"}]]});
    let turn = |calls: &str| format!("{}\n{calls}", r#"{"content": "Hi", "type": "human"}"#);
    let look = turn(r#"{"content": "", "tool_calls": [{"args": {}, "name": "look"}], "type": "ai"}"#);
    let plain = turn(r#"{"content": "I look.", "type": "ai"}"#);
    let both = turn(
        r#"{"content": "", "tool_calls": [{"args": {"a": 1}, "name": "look"}, {"args": {"a": 2}, "name": "look"}, {"args": {}, "name": "buy"}], "type": "ai"}"#,
    );
    let cases: Vec<(String, &str)> = vec![
        (parts(json!([call("look", json!({"a": 1})), call("look", json!({"a": 2})), call("buy", json!({}))])), &both),
        (parts(json!([call("look", json!({})), call("look", json!({}))])), &look),
        (generated(&json!({"weird": 1})), FORM),
        (generated(&json!([{"weird": 1}])), FORM),
        (generated(&json!("two calls")), FORM),
        (generated(&json!("[{\"toolCallId\": \"c\", \"toolNa")), "refused: a text in it was cut by a length limit"),
        (generated(&json!([])), &plain),
        (asked(&legacy), FORM),
        (asked(&older), &look),
        (
            parts(json!([{"type": "server_tool_call", "id": "s", "name": "web"}, text])),
            "refused: no API can serve a part of its answer",
        ),
        (
            parts(json!([text, {"type": "blob", "mime_type": "image/png", "content": "AA"}])),
            "refused: no API can serve a part of its answer",
        ),
        (parts(json!([])), "refused: it holds no answer"),
        (parts(json!([null])), "refused: no API can serve a part of its answer"),
        (
            parts(json!([{"type": "text", "content": "[REDACTED]"}])),
            "refused: its messages were hidden by what recorded them",
        ),
        (parts(json!([{"type": "tool_call", "id": "c", "arguments": {}}, text])), FORM),
        (parts(json!("I look.")), &plain),
        (
            answered(&json!([text]), &json!({"gen_ai.response.finish_reasons": ["stop", "tool_calls"]})),
            "refused: its answer ended with tool calls, but the span holds none",
        ),
        (answered(&json!([text]), &json!({"gen_ai.usage.input_tokens": -5})), &plain),
        (messages(json!([{"parts": [text]}]), saying("assistant")), "refused: its messages are texts without roles"),
        (messages(saying("user"), saying("user")), "refused: it holds no answer"),
        (messages(result, saying("assistant")), "refused: it begins with the result of the tool call \"c\""),
        (
            asked(&flat(2, "there")),
            "refused: `llm.input_messages.1` is missing, but `llm.input_messages.2` is there, and no attribute was dropped",
        ),
        (asked(&flat(0, "")), "refused: none of its messages has content"),
        (asked(&json!({"input.value": two, "output.value": said})), "refused: it holds several conversations at once"),
        (completed(&json!({"content": "I look.", "tool_calls.0.id": "c"})), FORM),
        (completed(&json!({"tool_calls.1.name": "look"})), "refused: `gen_ai.completion.0.tool_calls.0` is missing"),
        (
            super::wild::read_all(&failed),
            "refused: the call failed (reset), and nothing says that the answer in its span is whole",
        ),
        (
            read(
                &json!({"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "e", "gen_ai.input.messages": "x"}),
            ),
            "no call",
        ),
    ];
    let fits = |found: &str, expected: &str| {
        found == expected || expected.starts_with("refused") && found.starts_with(expected)
    };
    let wrong = cases.iter().enumerate().filter(|(_, (found, expected))| !fits(found, expected));
    let wrong: Vec<String> =
        wrong.map(|(at, (found, expected))| format!("{at}: {found}\nexpected {expected}")).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn an_attribute_of_any_other_value_is_no_panic() {
    let spans = [
        json!({"gen_ai.operation.name": "chat", "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}],
            "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "look", "arguments": {}}]}],
            "gen_ai.system_instructions": [{"type": "text", "content": "x"}], "gen_ai.tool.definitions": [{"name": "look"}]}),
        json!({"openinference.span.kind": "LLM", "input.value": {"messages": [{"role": "user", "content": "Hi"}], "model": "m"}, "output.value": {"choices": []},
            "llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "look", "llm.tools.0.tool.json_schema": "{}"}),
        json!({"llm.request.type": "chat", "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Hi", "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.tool_calls.0.name": "look"}),
        json!({"ai.operationId": "ai.streamText.doStream", "ai.prompt.messages": [{"role": "user", "content": "Hi"}], "ai.response.text": "x", "ai.response.toolCalls": [{"toolName": "look"}]}),
        json!({"langsmith.span.kind": "llm", "gen_ai.prompt": {"messages": [[{"lc": 1, "id": ["HumanMessage"], "kwargs": {"content": "Hi"}}]]}, "gen_ai.completion": {"generations": [[{"text": "x"}]]}}),
    ];
    let others = [
        json!(null),
        json!(""),
        json!(7),
        json!(true),
        json!("[{"),
        json!([]),
        json!({}),
        json!([[]]),
        json!([{"role": 1}]),
        json!({"messages": {"role": []}}),
        json!([{"parts": [[{}]]}]),
    ];
    for span in &spans {
        for name in span.as_object().unwrap().keys() {
            for other in &others {
                let mut span = span.clone();
                span[name] = other.clone();
                assert!(!read(&span).is_empty());
            }
        }
    }
}
