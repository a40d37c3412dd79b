//! The same call in the words of every instrumentation: each gives the same turn.

use super::*;

const ASKED: &str = "What is the weather in Tokyo?";

/// The turn that each dialect has to give.
pub(super) fn expected() -> String {
    [
        r#"{"content": "What is the weather in Tokyo?", "type": "human"}"#,
        r#"{"content": "", "tool_calls": [{"args": {"city": "Tokyo"}, "name": "get_weather"}], "type": "ai"}"#,
        r#"{"content": "sunny", "name": "get_weather", "type": "tool"}"#,
        r#"{"content": "It is sunny.", "type": "ai"}"#,
    ]
    .join("\n")
}

#[track_caller]
fn gives_the_turn(attributes: &Value) {
    let taken = taken(&otlp(&[("call", attributes.clone())]));
    assert!(taken.refused.is_empty(), "{:?}", taken.refused);
    assert_eq!(told(&taken, 0), expected());
}

#[test]
fn the_messages_of_the_newest_conventions() {
    gives_the_turn(&json!({
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.system_instructions": [{"type": "text", "content": "Be kind."}],
        "gen_ai.input.messages": [
            {"role": "user", "parts": [{"type": "text", "content": ASKED}]},
            {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "get_weather", "arguments": {"city": "Tokyo"}}]},
            {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "sunny"}]},
        ],
        "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "It is sunny."}], "finish_reason": "stop"}],
    }));
}

#[test]
fn flattened_prompts_and_completions() {
    gives_the_turn(&json!({
        "llm.request.type": "chat",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": json!([{"type": "text", "text": ASKED}]).to_string(),
        "gen_ai.prompt.1.role": "assistant",
        "gen_ai.prompt.1.tool_calls.0.id": "c1",
        "gen_ai.prompt.1.tool_calls.0.name": "get_weather",
        "gen_ai.prompt.1.tool_calls.0.arguments": "{\"city\":\"Tokyo\"}",
        "gen_ai.prompt.2.role": "tool",
        "gen_ai.prompt.2.tool_call_id": "c1",
        "gen_ai.prompt.2.content": "sunny",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": "It is sunny.",
        "gen_ai.completion.0.finish_reason": "stop",
    }));
}

#[test]
fn flattened_messages_of_openinference() {
    gives_the_turn(&json!({
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.contents.0.message_content.type": "text",
        "llm.input_messages.0.message.contents.0.message_content.text": ASKED,
        "llm.input_messages.1.message.role": "assistant",
        "llm.input_messages.1.message.tool_calls.0.tool_call.id": "c1",
        "llm.input_messages.1.message.tool_calls.0.tool_call.function.name": "get_weather",
        "llm.input_messages.1.message.tool_calls.0.tool_call.function.arguments": "{\"city\": \"Tokyo\"}",
        "llm.input_messages.2.message.role": "tool",
        "llm.input_messages.2.message.tool_call_id": "c1",
        "llm.input_messages.2.message.content": "sunny",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "It is sunny.",
    }));
}

#[test]
fn prompts_of_the_ai_sdk() {
    gives_the_turn(&json!({
        "ai.operationId": "ai.streamText.doStream",
        "ai.prompt.messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": [{"type": "text", "text": ASKED}]},
            {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "get_weather", "input": {"city": "Tokyo"}}]},
            {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c1", "toolName": "get_weather", "output": {"type": "text", "value": "sunny"}}]},
        ],
        "ai.response.text": "It is sunny.",
        "ai.response.finishReason": "stop",
    }));
}

#[test]
fn requests_of_adk() {
    gives_the_turn(&json!({
        "gen_ai.operation.name": "generate_content",
        "gcp.vertex.agent.llm_request": {"model": "gemini-2.5-flash", "config": {"system_instruction": "Be kind."}, "contents": [
            {"role": "user", "parts": [{"text": ASKED}]},
            {"role": "model", "parts": [{"function_call": {"id": "", "name": "get_weather", "args": {"city": "Tokyo"}}}]},
            {"role": "user", "parts": [{"function_response": {"id": "", "name": "get_weather", "response": {"output": "sunny"}}}]},
        ]},
        "gcp.vertex.agent.llm_response": {"content": {"role": "model", "parts": [{"text": "It is sunny."}]}, "finish_reason": "STOP"},
    }));
}

#[test]
fn blocks_of_bedrock_in_events() {
    let mut message = otlp(&[("chat", json!({"gen_ai.operation.name": "chat"}))]);
    let event = |name: &str, fields: Value| json!({"name": name, "timeUnixNano": "1", "attributes": pairs(&fields)});
    message["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["events"] = json!([
        event("gen_ai.user.message", json!({"content": [{"text": ASKED}]})),
        event(
            "gen_ai.assistant.message",
            json!({"content": [{"toolUse": {"toolUseId": "t", "name": "get_weather", "input": {"city": "Tokyo"}}}]})
        ),
        event(
            "gen_ai.tool.message",
            json!({"content": [{"toolResult": {"toolUseId": "t", "status": "success", "content": [{"text": "sunny"}]}}]})
        ),
        event("gen_ai.choice", json!({"message": [{"text": "It is sunny."}], "finish_reason": "end_turn"})),
    ]);
    assert_eq!(told(&taken(&message), 0), expected());
}

#[test]
fn events_that_are_log_records() {
    let body = |fields: Value| json!({"kvlistValue": {"values": pairs(&fields)}});
    let record = |name: &str, fields: Value| json!({"traceId": "5b8efff798038103d269b633813fc60c", "spanId": "0000000000000001", "timeUnixNano": "1", "eventName": name, "body": body(fields)});
    let calls = json!([{"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\":\"Tokyo\"}"}}]);
    let records = json!([
        record("gen_ai.user.message", json!({"content": ASKED})),
        record("gen_ai.assistant.message", json!({"tool_calls": calls})),
        record("gen_ai.tool.message", json!({"id": "c1", "content": "sunny"})),
        record(
            "gen_ai.choice",
            json!({"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "It is sunny."}})
        ),
    ]);
    let logs = json!({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]});
    let spans = otlp(&[("chat gpt-4o", json!({"gen_ai.operation.name": "chat"}))]);
    // The file exporter writes a line for each batch.
    let traces = traces(TraceFormat::Otlp, &format!("{logs}\n{spans}\n"), &mut Redactor::default());
    let taken = traces.take(&[], Path::new("a.json"), BTreeMap::new(), &Rules::default()).unwrap();
    assert_eq!(told(&taken, 0), expected());
}

#[test]
fn the_conversation_of_an_agent_without_spans_of_its_calls() {
    let taken = taken(&otlp(&[(
        "agent run",
        json!({
            "gen_ai.operation.name": "invoke_agent",
            "pydantic_ai.all_messages": [
                {"role": "user", "parts": [{"type": "text", "content": ASKED}]},
                {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "get_weather", "arguments": {"city": "Tokyo"}}]},
                {"role": "user", "parts": [{"type": "tool_call_response", "id": "c1", "name": "get_weather", "result": "sunny"}]},
                {"role": "assistant", "parts": [{"type": "text", "content": "It is sunny."}]},
            ],
        }),
    )]));
    assert_eq!(taken.fixture.table.turns().len(), 2);
    assert_eq!(told(&taken, 1), expected());
}

#[test]
fn messages_of_langchain_itself() {
    let input = json!([[
        {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "HumanMessage"], "kwargs": {"content": ASKED}},
        {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": {"content": "", "tool_calls": [{"name": "get_weather", "args": {"city": "Tokyo"}, "id": "c1", "type": "tool_call"}]}},
        {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "ToolMessage"], "kwargs": {"content": "sunny", "tool_call_id": "c1"}},
    ]]);
    let output = json!({"generations": [[{"text": "It is sunny.", "message": {"type": "ai", "data": {"content": "It is sunny."}}}]]});
    gives_the_turn(&json!({"openinference.span.kind": "LLM", "input.value": input, "output.value": output}));
}

#[test]
fn a_chat_context_with_items_and_an_answer_in_parts() {
    gives_the_turn(&json!({
        "gen_ai.request.model": "gpt-4o",
        "lk.chat_ctx": {"items": [
            {"type": "agent_config_update", "instructions": "Be kind."},
            {"type": "message", "role": "user", "content": [ASKED]},
            {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": "{\"city\": \"Tokyo\"}"},
            {"type": "function_call_output", "call_id": "c1", "name": "get_weather", "output": "sunny", "is_error": false},
        ]},
        "lk.response.text": "It is sunny.",
    }));
}

#[test]
fn an_answer_of_text_gives_way_to_one_with_parts() {
    let taken = taken(&otlp(&[(
        "ai.generateText.doGenerate",
        json!({
            "ai.operationId": "ai.generateText.doGenerate",
            "input.value": {"messages": [{"role": "user", "content": "Hi"}]},
            "output.value": "assistant: I will look.",
            "ai.response.text": "I will look.",
            "ai.response.toolCalls": [{"toolCallType": "function", "toolCallId": "c", "toolName": "look", "args": "{}"}],
        }),
    )]));
    assert!(
        told(&taken, 0)
            .ends_with(r#"{"content": "I will look.", "tool_calls": [{"args": {}, "name": "look"}], "type": "ai"}"#),
        "{}",
        told(&taken, 0)
    );
}

#[test]
fn a_providers_own_request_and_response_are_taken_as_they_are() {
    let request = json!({
        "model": "gpt-4o", "temperature": 0,
        "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"}],
    });
    let response = r#"{"object":"chat.completion","id":"x","model":"gpt-4o-1","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}]}"#;
    let taken = taken(&otlp(&[(
        "ChatCompletion",
        json!({"openinference.span.kind": "LLM", "input.value": request, "output.value": response}),
    )]));
    let turn = &taken.fixture.table.turns()[0];
    assert_eq!(String::from_utf8(turn.wire.as_ref().unwrap().response.bytes().into()).unwrap(), response);
    assert_eq!(&*taken.fixture.texts[&turn.checks.unwrap().prompt], "Be kind.");
    let read =
        retake_wire::fixture::Fixture::parse(Path::new("a.json"), taken.fixture.print().as_bytes(), &Rules::default());
    assert_eq!(read.unwrap().table.turns().len(), 1);
}

#[test]
fn the_whole_that_a_library_made_of_a_stream_is_not_what_the_provider_sent() {
    let request = json!({"model": "gpt-4o", "stream": true, "messages": [{"role": "user", "content": "Hi"}]});
    let whole = json!({"object": "chat.completion.chunk", "id": "x", "model": "gpt-4o-1",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hello"}}]});
    let span = json!({"openinference.span.kind": "LLM", "input.value": request, "output.value": whole});
    let taken = taken(&otlp(&[("ChatCompletion", span)]));
    let turn = &taken.fixture.table.turns()[0];
    assert!(turn.wire.is_none() && turn.checks.is_some(), "its request is whole, its response is not the provider's");
    assert_eq!(turn.output.text(), "Hello");
}

#[test]
fn a_span_around_the_calls_is_no_call_of_its_own() {
    let call = json!({
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}],
        "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "Hello"}]}],
    });
    let around = json!({"openinference.span.kind": "LLM", "input.value": {"messages": [{"role": "user", "content": "Hi"}]}, "output.value": "Hello"});
    assert_eq!(taken(&otlp(&[("outer", around), ("inner", call)])).fixture.table.turns().len(), 1);
}

#[test]
fn callers_are_named_where_they_tell_calls_apart() {
    let call = |agent: &str, system: &str| {
        json!({
            "gen_ai.operation.name": "chat",
            "gen_ai.agent.name": agent,
            "gen_ai.system_instructions": [{"type": "text", "content": system}],
            "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}],
            "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": agent}]}],
        })
    };
    let one = taken(&otlp(&[("a", call("title", "You write titles.")), ("b", call("title", "You write titles."))]));
    assert!(one.fixture.table.turns().iter().all(|turn| turn.caller.is_none()) && one.rules.is_empty());
    let two = taken(&otlp(&[("a", call("title", "You write titles.")), ("b", call("chat", "You help."))]));
    let callers: Vec<_> = two.fixture.table.turns().iter().map(|turn| turn.caller.clone().unwrap()).collect();
    assert_eq!(callers, ["title", "chat"]);
    assert_eq!(two.rules[1], "[[callers]]\nname = \"title\"\nwhen = { system = 'You write titles\\.' }");
}

#[test]
fn spans_of_tools_become_requests_to_their_server() {
    let tool = json!({
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_weather", "mcp.server.name": "weather",
        "gen_ai.tool.call.arguments": {"city": "Tokyo"}, "gen_ai.tool.call.result": "sunny",
    });
    let call = json!({
        "gen_ai.operation.name": "chat",
        "gen_ai.tool.definitions": [{"type": "function", "name": "get_weather", "parameters": {"type": "object"}}],
        "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}],
        "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "Hello"}]}],
    });
    let taken = taken(&otlp(&[("call", call), ("tool", tool)]));
    let methods: Vec<&str> = taken.fixture.tools["weather"].iter().map(|exchange| exchange.method.as_str()).collect();
    assert_eq!(methods, ["initialize", "tools/list", "tools/call"]);
    let called = &taken.fixture.tools["weather"][2];
    assert_eq!(called.params.print(Layout::Python), r#"{"arguments": {"city": "Tokyo"}, "name": "get_weather"}"#);
    let result = called.answer.clone().unwrap().unwrap();
    assert_eq!(result.print(Layout::Python), r#"{"content": [{"text": "sunny", "type": "text"}], "isError": false}"#);
}
