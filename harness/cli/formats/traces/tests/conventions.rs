//! Each convention as its own instrumentation writes it, with what is easily misread in it.

use super::dialects::expected;
use super::wild::{are, read, read_all};
use super::*;

const ASKED: &str = "What is the weather in Tokyo?";

/// Attributes of these names below a prefix.
fn below(prefix: &str, fields: &Value) -> Value {
    let named = fields.as_object().unwrap().iter().map(|(name, held)| (format!("{prefix}.{name}"), held.clone()));
    Value::Object(named.collect())
}

fn joined(parts: &[Value]) -> Value {
    Value::Object(parts.iter().flat_map(|part| part.as_object().unwrap().clone()).collect())
}

fn lc(class: &str, kwargs: &Value) -> Value {
    json!({"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", class], "kwargs": kwargs})
}

#[test]
fn the_same_turn_in_each() {
    let args = json!({"city": "Tokyo"});
    let openai_call = json!({"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\": \"Tokyo\"}"}});
    let openai = json!([
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": ASKED},
        {"role": "assistant", "content": null, "tool_calls": [openai_call]},
        {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
    ]);
    let said = json!({"role": "assistant", "content": "It is sunny.", "refusal": null, "annotations": []});
    let anthropic = json!([
        {"role": "user", "content": ASKED},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "get_weather", "input": args}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "sunny"}]},
    ]);
    let llmetry = |role: &str, at: usize, fields: &Value| below(&format!("gen_ai.{role}.{at}"), fields);
    are(
        vec![
            ("LangSmith's exporter, LangChain", read(&json!({
                "langsmith.span.kind": "llm", "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o",
                "gen_ai.prompt": {"messages": [[
                    lc("SystemMessage", &json!({"content": "Be kind."})),
                    lc("HumanMessage", &json!({"content": ASKED, "type": "human"})),
                    lc("AIMessage", &json!({"content": "", "tool_calls": [{"name": "get_weather", "args": args, "id": "c1", "type": "tool_call"}], "invalid_tool_calls": []})),
                    lc("ToolMessage", &json!({"content": "sunny", "tool_call_id": "c1", "status": "success"})),
                ]]},
                "gen_ai.completion": {"generations": [[{"text": "It is sunny.", "generation_info": {"finish_reason": "stop"}, "type": "ChatGeneration",
                    "message": lc("AIMessage", &json!({"content": "It is sunny.", "tool_calls": [], "usage_metadata": {"input_tokens": 3}}))}]],
                    "llm_output": {"token_usage": {}}, "run": null, "type": "LLMResult"},
            }))),
            ("LangSmith's exporter, around OpenAI's SDK", read(&json!({
                "langsmith.span.kind": "llm", "gen_ai.request.model": "gpt-4o",
                "gen_ai.prompt": {"messages": openai, "model": "gpt-4o"},
                "gen_ai.completion": {"id": "x", "choices": [{"finish_reason": "stop", "index": 0, "message": said}], "usage_metadata": {}},
            }))),
            ("LangSmith's exporter, a chat without the provider's form", read(&json!({
                "langsmith.span.kind": "llm", "gen_ai.prompt": {"messages": anthropic},
                "gen_ai.completion": {"message": {"role": "assistant", "content": [{"type": "text", "text": "It is sunny."}]}},
            }))),
            ("OpenInference, Anthropic", read(&json!({
                "openinference.span.kind": "LLM", "llm.model_name": "claude", "input.mime_type": "application/json",
                "input.value": {"messages": anthropic, "model": "claude", "max_tokens": 100, "system": "Be kind."},
                "output.value": {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "end_turn",
                    "content": [{"type": "text", "text": "It is sunny."}], "usage": {"input_tokens": 3, "output_tokens": 2}},
            }))),
            ("OpenInference, a stream whose output is a text", read(&joined(&[
                json!({"openinference.span.kind": "LLM", "input.value": {"messages": openai, "model": "gpt-4o", "stream": true}, "output.value": "It is sunny."}),
                below("llm.output_messages.0.message", &json!({"role": "assistant", "content": "It is sunny."})),
            ]))),
            ("OpenLLMetry, Anthropic with thoughts", read(&joined(&[
                json!({"llm.request.type": "chat", "gen_ai.system": "Anthropic", "gen_ai.request.model": "claude"}),
                llmetry("prompt", 0, &json!({"role": "user", "content": ASKED})),
                llmetry("prompt", 1, &json!({"role": "assistant", "content": json!([{"type": "tool_use", "id": "c1", "name": "get_weather", "input": args}]).to_string()})),
                llmetry("prompt", 2, &json!({"role": "user", "content": json!([{"type": "tool_result", "tool_use_id": "c1", "content": "sunny"}]).to_string()})),
                llmetry("completion", 0, &json!({"role": "thinking", "content": "Hm.", "finish_reason": "end_turn"})),
                llmetry("completion", 1, &json!({"role": "assistant", "content": "It is sunny.", "finish_reason": "end_turn"})),
            ]))),
            ("OpenLLMetry with the messages of the conventions", read(&json!({
                "traceloop.association.properties.user": "u", "llm.request.type": "chat",
                "gen_ai.input.messages": [
                    {"role": "user", "parts": [{"type": "text", "content": ASKED}]},
                    {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "get_weather", "arguments": args}]},
                    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "sunny"}]},
                ],
                "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "It is sunny."}], "finish_reason": "stop"}],
            }))),
            ("the AI SDK in version 4", read(&json!({
                "ai.operationId": "ai.generateText.doGenerate", "ai.prompt.format": "messages",
                "ai.prompt.messages": [
                    {"role": "user", "content": [{"type": "text", "text": ASKED}]},
                    {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "get_weather", "args": args}]},
                    {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c1", "toolName": "get_weather", "result": "sunny"}]},
                ],
                "ai.result.text": "It is sunny.", "ai.finishReason": "stop",
            }))),
            ("Logfire, OpenAI's SDK", read(&json!({
                "request_data": {"messages": openai, "model": "gpt-4o"}, "gen_ai.request.model": "gpt-4o",
                "response_data": {"message": said, "usage": {"completion_tokens": 2}},
            }))),
            ("Logfire, Anthropic's SDK", read(&json!({
                "request_data": {"messages": anthropic, "model": "claude", "max_tokens": 100, "system": "Be kind."}, "gen_ai.request.model": "claude",
                "response_data": {"message": {"role": "assistant", "content": "It is sunny."}, "usage": {}},
            }))),
            ("Logfire, a stream of OpenAI's SDK", read(&json!({
                "request_data": {"messages": openai, "model": "gpt-4o", "stream": true}, "gen_ai.request.model": "gpt-4o",
                "response_data": {"combined_chunk_content": "It is sunny.", "chunk_count": 3},
            }))),
            ("Gemini's contents with the system prompt beside them", read(&json!({
                "langfuse.observation.type": "generation",
                "langfuse.observation.input": {"contents": [
                    {"role": "user", "parts": [{"text": ASKED}]},
                    {"role": "model", "parts": [{"functionCall": {"name": "get_weather", "args": args}}]},
                    {"role": "user", "parts": [{"functionResponse": {"name": "get_weather", "response": {"result": "sunny"}}}]},
                ], "systemInstruction": {"parts": [{"text": "Be kind."}]}},
                "langfuse.observation.output": {"candidates": [{"content": {"role": "model", "parts": [{"text": "It is sunny."}]}}]},
            })).replace(r#"{\"result\": \"sunny\"}"#, "sunny")),
        ],
        &expected(),
    );
}

#[test]
fn answers_with_tool_calls_in_each() {
    let user = json!([{"role": "user", "content": "Hi"}]);
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "look", "arguments": "{}"}});
    let two = json!({"role": "assistant", "content": null, "tool_calls": [call("c1"), call("c2")]});
    let found = [
        json!({"langsmith.span.kind": "llm", "gen_ai.prompt": {"messages": user},
            "gen_ai.completion": {"choices": [{"finish_reason": "tool_calls", "message": two}]}}),
        json!({"langsmith.span.kind": "llm", "gen_ai.prompt": {"messages": user},
            "gen_ai.completion": {"generations": [[{"text": "", "message": lc("AIMessage", &json!({"content": "", "tool_calls": [
                {"name": "look", "args": {}, "id": "c1", "type": "tool_call"}, {"name": "look", "args": {}, "id": "c2", "type": "tool_call"}]}))}]]}}),
        json!({"ai.operationId": "ai.streamText.doStream", "ai.prompt.messages": user, "ai.response.text": "",
            "ai.response.toolCalls": [{"toolCallId": "c1", "toolName": "look", "input": "{}"}, {"toolCallId": "c2", "toolName": "look", "input": "{}"}]}),
        joined(&[
            json!({"openinference.span.kind": "LLM", "input.value": {"messages": user}}),
            below(
                "llm.output_messages.0.message.tool_calls.0.tool_call",
                &json!({"id": "c1", "function.name": "look", "function.arguments": "{}"}),
            ),
            below(
                "llm.output_messages.0.message.tool_calls.1.tool_call",
                &json!({"id": "c2", "function.name": "look", "function.arguments": "{}"}),
            ),
            json!({"llm.output_messages.0.message.role": "assistant"}),
        ]),
        json!({"request_data": {"messages": user, "model": "m"}, "gen_ai.request.model": "m", "response_data": {"message": two}}),
        json!({"langfuse.observation.type": "generation", "langfuse.observation.input": user, "langfuse.observation.output": two}),
    ];
    let look = r#"{"args": {}, "name": "look"}"#;
    let expected = format!(r#"{{"content": "", "tool_calls": [{look}, {look}], "type": "ai"}}"#);
    for attributes in found {
        let read = read(&attributes);
        assert!(read.ends_with(&expected), "{attributes}\n{read}");
    }
}

#[test]
fn a_step_that_is_no_call_is_none() {
    let chain = json!({"langsmith.span.kind": "chain", "gen_ai.prompt": {"messages": [{"role": "user", "content": "Hi"}]},
        "gen_ai.completion": {"messages": [{"role": "assistant", "content": "Hello"}]}});
    assert_eq!(read_all(&otlp(&[("chain", chain)])), "no call");
    // LangSmith calls a template's span a chat, too.
    let template = json!({"langsmith.span.kind": "prompt", "gen_ai.operation.name": "chat", "gen_ai.prompt": {"question": "Hi"},
        "gen_ai.completion": {"messages": [lc("HumanMessage", &json!({"content": "Hi"}))]}});
    assert_eq!(read_all(&otlp(&[("template", template)])), "no call");
    let around = json!({"ai.operationId": "ai.generateText", "ai.prompt": {"messages": [{"role": "user", "content": "Hi"}]}, "ai.response.text": "Hello"});
    assert_eq!(read_all(&otlp(&[("around", around)])), "no call");
}

#[test]
fn the_two_spans_of_a_stream_that_logfire_writes_are_one_call() {
    let request = json!({"messages": [{"role": "user", "content": "Hi"}], "model": "m", "stream": true});
    let began = json!({"request_data": request, "gen_ai.request.model": "m", "gen_ai.operation.name": "chat"});
    let mut ended = began.clone();
    ended["response_data"] = json!({"combined_chunk_content": "Hello", "chunk_count": 3});
    let both = taken(&otlp(&[("began", began.clone()), ("ended", ended)]));
    assert_eq!((both.fixture.table.turns().len(), both.refused.len()), (1, 0), "{:?}", both.refused);
    assert_eq!(taken(&otlp(&[("began", began)])).refused[0].reason, "it holds no answer");
}

#[test]
fn what_langsmith_hides_is_not_recorded() {
    let hidden = json!({"langsmith.span.kind": "llm", "gen_ai.request.model": "m", "gen_ai.prompt": "{}", "gen_ai.completion": "{}"});
    let refused = &taken(&otlp(&[("call", hidden)])).refused[0];
    assert_eq!(refused.reason, "it holds no messages: the service did not record their content");
    assert_eq!(refused.setting, Some("LANGSMITH_HIDE_INPUTS=false LANGSMITH_HIDE_OUTPUTS=false"));
}
