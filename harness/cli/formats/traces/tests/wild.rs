//! Forms that no table names: a call is read by what its fields hold, and what cannot be told is refused, not misread.

use super::dialects::expected;
use super::*;

const ASKED: &str = "What is the weather in Tokyo?";

/// The conversation and the answer of the call in these attributes, or why it was refused.
pub(super) fn read(attributes: &Value) -> String {
    read_all(&otlp(&[("call", attributes.clone())]))
}

pub(super) fn read_all(message: &Value) -> String {
    outcome(&taken(message))
}

fn outcome(taken: &Taken) -> String {
    match &taken.refused[..] {
        [] if taken.fixture.table.turns().is_empty() => "no call".to_owned(),
        [] => told(taken, taken.fixture.table.turns().len() - 1),
        [refused, ..] => format!("refused: {}", refused.reason),
    }
}

/// Checks each of these, and shows all that differ.
#[track_caller]
pub(super) fn are(found: Vec<(&str, String)>, expected: &str) {
    let wrong: Vec<String> = found
        .into_iter()
        .filter(|(_, found)| found != expected && !(expected.starts_with("refused") && found.starts_with(expected)))
        .map(|(name, found)| format!("{name}:\n{found}"))
        .collect();
    assert!(wrong.is_empty(), "expected\n{expected}\n\nfound\n{}", wrong.join("\n\n"));
}

fn generation(input: &Value, output: &Value) -> Value {
    json!({"openinference.span.kind": "LLM", "input.value": input, "output.value": output})
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn messages_in_forms_that_no_table_names() {
    let user = json!({"role": "user", "content": ASKED});
    let said = json!({"role": "assistant", "content": "It is sunny."});
    let args = json!({"city": "Tokyo"});
    let openai_call = json!({"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\": \"Tokyo\"}"}});
    let result = json!({"role": "tool", "tool_call_id": "c1", "content": "sunny"});
    are(
        vec![
            (
                // LangChain keeps Anthropic's blocks beside its own list of calls.
                "the same call in the content and in a list",
                read(&generation(
                    &json!({"messages": [
                        user,
                        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "get_weather", "input": args}],
                         "tool_calls": [{"name": "get_weather", "args": args, "id": "c1", "type": "tool_call"}]},
                        result,
                    ]}),
                    &said,
                )),
            ),
            (
                "blocks and additional arguments",
                read(&generation(
                    &json!({"messages": [
                        {"role": "user", "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": ASKED}]},
                        {"role": "assistant", "additional_kwargs": {"tool_calls": [openai_call]},
                         "blocks": [{"block_type": "tool_call", "tool_call_id": "c1", "tool_name": "get_weather", "tool_kwargs": args}]},
                        {"role": "tool", "additional_kwargs": {"tool_call_id": "c1"}, "blocks": [{"block_type": "text", "text": "sunny"}]},
                    ]}),
                    &json!({"message": {"role": "assistant", "blocks": [{"block_type": "text", "text": "It is sunny."}]}, "raw": {"id": "x"}}),
                )),
            ),
            (
                "requests and responses of tools as pieces",
                read(&json!({
                    "genkit:metadata:subtype": "model",
                    "genkit:input": {"messages": [
                        {"role": "user", "content": [{"text": ASKED}]},
                        {"role": "model", "content": [{"toolRequest": {"name": "get_weather", "ref": "c1", "input": args}}]},
                        {"role": "tool", "content": [{"toolResponse": {"name": "get_weather", "ref": "c1", "output": "sunny"}}]},
                    ]},
                    "genkit:output": {"message": {"role": "model", "content": [{"text": "It is sunny."}]}, "finishReason": "stop"},
                })),
            ),
            (
                "messages whose type says who, with requests to execute tools",
                read(&json!({
                    "gen_ai.operation.name": "chat",
                    "gen_ai.prompt": [
                        {"type": "USER", "contents": [{"type": "TEXT", "text": ASKED}]},
                        {"type": "AI", "toolExecutionRequests": [{"id": "c1", "name": "get_weather", "arguments": "{\"city\": \"Tokyo\"}"}]},
                        {"type": "TOOL_EXECUTION_RESULT", "id": "c1", "toolName": "get_weather", "text": "sunny"},
                    ],
                    "gen_ai.completion": {"type": "AI", "text": "It is sunny."},
                })),
            ),
            (
                "names with capitals, types with a dollar",
                read(&generation(
                    &json!([
                        {"Role": "User", "Contents": [{"$type": "text", "Text": ASKED}]},
                        {"Role": "Assistant", "Contents": [{"$type": "functionCall", "CallId": "c1", "Name": "get_weather", "Arguments": args}]},
                        {"Role": "Tool", "Contents": [{"$type": "functionResult", "CallId": "c1", "Result": "sunny"}]},
                    ]),
                    &json!({"Messages": [{"Role": "Assistant", "Contents": [{"$type": "text", "Text": "It is sunny."}]}], "FinishReason": "stop"}),
                )),
            ),
            (
                "roles that are objects",
                read(&generation(
                    &json!([
                        {"Role": {"Label": "user"}, "Items": [{"$type": "TextContent", "Text": ASKED}]},
                        {"Role": {"Label": "assistant"}, "Items": [{"$type": "FunctionCallContent", "Id": "c1", "FunctionName": "get_weather", "Arguments": args}]},
                        {"Role": {"Label": "tool"}, "Items": [{"$type": "FunctionResultContent", "CallId": "c1", "FunctionName": "get_weather", "Result": "sunny"}]},
                    ]),
                    &json!({"Role": {"Label": "assistant"}, "Items": [{"$type": "TextContent", "Text": "It is sunny."}]}),
                )),
            ),
            (
                "a list of messages whose names have dots",
                read(&json!({
                    "openinference.span.kind": "LLM",
                    "llm.input_messages": [
                        {"message.role": "user", "message.content": ASKED},
                        {"message.role": "assistant", "message.tool_calls": [{"tool_call.id": "c1", "tool_call.function.name": "get_weather", "tool_call.function.arguments": "{\"city\": \"Tokyo\"}"}]},
                        {"message.role": "tool", "message.tool_call_id": "c1", "message.content": "sunny"},
                    ],
                    "llm.output_messages": [{"message.role": "assistant", "message.content": "It is sunny."}],
                })),
            ),
            (
                "a kind that is JSON, and what goes in and out",
                read(&json!({
                    "mlflow.spanType": "\"CHAT_MODEL\"",
                    "mlflow.spanInputs": {"messages": [user, {"role": "assistant", "tool_calls": [openai_call]}, result]},
                    "mlflow.spanOutputs": {"choices": [{"index": 0, "finish_reason": "stop", "message": said}]},
                })),
            ),
            (
                "a conversation that ends with the answer itself",
                read(&generation(
                    &json!({"messages": [user, {"role": "assistant", "tool_calls": [openai_call]}, result, said]}),
                    &said,
                )),
            ),
            (
                "arguments of a function that was watched",
                read(&generation(
                    &json!({"args": [], "kwargs": {"model": "m", "messages": [user, {"role": "assistant", "content": null, "tool_calls": [openai_call]}, result]}}),
                    &json!({"content": "It is sunny.", "role": "assistant", "tool_calls": null, "function_call": null}),
                )),
            ),
            (
                "messages encoded twice",
                read(&json!({
                    "gen_ai.operation.name": "chat",
                    "gen_ai.input.messages": json!([user.to_string(), json!({"role": "assistant", "tool_calls": json!([openai_call]).to_string()}).to_string(), result.to_string()]).to_string(),
                    "gen_ai.output.messages": json!(json!([said]).to_string()).to_string(),
                })),
            ),
            (
                "parts of an answer, with calls in what a stream carried",
                read(&generation(
                    &json!({"messages": [
                        {"role": "user", "content": {"format": 2, "parts": [{"type": "text", "text": ASKED}]}},
                        {"role": "assistant", "content": [{"type": "tool-call", "payload": {"toolCallId": "c1", "toolName": "get_weather", "args": args}}]},
                        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c1", "toolName": "get_weather", "output": {"type": "json", "value": "sunny"}}]},
                    ]}),
                    &json!({"text": "It is sunny.", "toolCalls": [], "finishReason": "stop"}),
                )),
            ),
            (
                "blocks of Bedrock in a request and a response",
                read(&generation(
                    &json!({"modelId": "m", "messages": [
                        {"role": "user", "content": [{"text": ASKED}]},
                        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "get_weather", "input": args}}]},
                        {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "sunny"}], "status": "success"}}]},
                    ]}),
                    &json!({"output": {"message": {"role": "assistant", "content": [{"text": "It is sunny."}]}}, "stopReason": "end_turn", "usage": {"inputTokens": 1}}),
                )),
            ),
            (
                "items of the Responses API as they are logged",
                read(&generation(
                    &json!([
                        {"role": "user", "content": [{"type": "input_text", "text": ASKED}]},
                        {"type": "reasoning", "id": "r", "summary": []},
                        {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": "{\"city\": \"Tokyo\"}"},
                        {"type": "function_call_output", "call_id": "c1", "output": "sunny"},
                    ]),
                    &json!([{"type": "message", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "It is sunny.", "annotations": []}]}]),
                )),
            ),
            (
                "messages of LangChain with chunks, and generations",
                read(&generation(
                    &json!({"messages": [[
                        {"type": "human", "content": ASKED},
                        {"type": "AIMessageChunk", "content": [{"type": "text", "text": ""}, {"type": "tool_use", "id": "c1", "name": "get_weather", "input": {}, "partial_json": "{\"city\": \"Tokyo\"}"}],
                         "tool_calls": [{"name": "get_weather", "args": args, "id": "c1", "type": "tool_call"}],
                         "tool_call_chunks": [{"name": "get_weather", "args": "{\"city\"", "id": "c1", "index": 0}, {"name": null, "args": ": \"Tokyo\"}", "id": null, "index": 0}]},
                        {"type": "tool", "content": "sunny", "tool_call_id": "c1", "name": "get_weather"},
                    ]]}),
                    &json!({"generations": [[{"text": "It is sunny.", "generation_info": {"finish_reason": "stop"}, "type": "ChatGeneration",
                        "message": {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": {"content": "It is sunny.", "type": "ai", "tool_calls": [], "invalid_tool_calls": []}}}]], "llm_output": {"model_name": "m"}}),
                )),
            ),
            (
                "a text beside its role, and files",
                read(&generation(
                    &json!([
                        {"role": "user", "text": ASKED, "files": []},
                        {"role": "assistant", "text": "", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\": \"Tokyo\"}"}}]},
                        {"role": "tool", "text": "sunny", "tool_call_id": "c1"},
                    ]),
                    &json!({"text": "It is sunny.", "finish_reason": "stop"}),
                )),
            ),
            (
                "contents of Gemini with what is null",
                read(&generation(
                    &json!({"model": "gemini", "contents": [
                        {"role": "user", "parts": [{"text": ASKED, "function_call": null, "thought": null}]},
                        {"role": "model", "parts": [{"text": null, "function_call": {"id": null, "name": "get_weather", "args": args}, "thought_signature": "x"}]},
                        {"role": "user", "parts": [{"text": null, "function_response": {"id": null, "name": "get_weather", "response": {"output": "sunny"}}}]},
                    ]}),
                    &json!({"content": {"role": "model", "parts": [{"text": "It is sunny.", "function_call": null}]}, "finish_reason": "STOP"}),
                )),
            ),
        ],
        &expected(),
    );
}

#[test]
fn calls_beside_the_message_of_a_choice() {
    let call = json!({"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}});
    let output = json!({"index": 0, "finish_reason": "ToolCalls", "message": {"role": "Assistant", "content": "I look."}, "tool_calls": [call]});
    let found = read(&generation(&json!([{"role": "user", "content": "Hi"}]), &output));
    assert!(
        found.ends_with(r#"{"content": "I look.", "tool_calls": [{"args": {}, "name": "look"}], "type": "ai"}"#),
        "{found}"
    );
}

#[test]
fn the_pieces_of_a_stream_before_the_whole() {
    let part = |part: Value| json!({"role": "assistant", "parts": [part], "finish_reason": ""});
    let text = |text: &str| part(json!({"type": "text", "content": text}));
    let call = |args: Value| part(json!({"type": "tool_call", "id": "c1", "name": "look", "arguments": args}));
    let said = |output: Value| {
        let input = json!([{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}]);
        read(
            &json!({"gen_ai.operation.name": "chat", "gen_ai.input.messages": input, "gen_ai.output.messages": output}),
        )
    };
    let found =
        said(json!([text("I look"), text(" it up."), call(json!({})), call(json!({"a": 1})), text("I look it up.")]));
    assert!(
        found.ends_with(
            r#"{"content": "I look it up.", "tool_calls": [{"args": {"a": 1}, "name": "look"}], "type": "ai"}"#
        ),
        "{found}"
    );
    assert!(said(json!([text("I look"), text(" it up.")])).ends_with(r#"{"content": "I look it up.", "type": "ai"}"#));
}

#[test]
fn a_log_record_that_holds_both_sides_of_a_call() {
    let message = |role: &str, content: Value| json!({"role": role, "content": content});
    let body = json!({
        "input": {"messages": [
            message("user", json!({"content": json!([{"text": ASKED}]).to_string()})),
            message("assistant", json!({"content": json!([{"toolUse": {"toolUseId": "c1", "name": "get_weather", "input": {"city": "Tokyo"}}}]).to_string()})),
            message("tool", json!({"content": json!([{"toolResult": {"toolUseId": "c1", "status": "success", "content": [{"text": "sunny"}]}}]).to_string()})),
        ]},
        "output": {"messages": [message("assistant", json!({"message": json!([{"text": "It is sunny."}]).to_string(), "finish_reason": "end_turn"}))]},
    });
    let record = json!({"traceId": "5b8efff798038103d269b633813fc60c", "spanId": "0000000000000001", "timeUnixNano": "1",
        "attributes": pairs(&json!({"event.name": "agent.telemetry"})),
        "body": {"kvlistValue": {"values": pairs(&body)}}});
    let logs = json!({"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]});
    let spans = otlp(&[("chat", json!({"gen_ai.operation.name": "chat"}))]);
    let traces = traces(TraceFormat::Otlp, &format!("{logs}\n{spans}\n"), &mut Redactor::default());
    let taken = traces.take(&[], Path::new("a.json"), BTreeMap::new(), &Rules::default()).unwrap();
    assert_eq!(outcome(&taken), expected());
}

#[test]
fn what_cannot_be_told_is_refused() {
    let user = json!({"role": "user", "content": ASKED});
    let said = json!({"role": "assistant", "content": "It is sunny."});
    are(
        vec![
            (
                "a call in a form that cannot be read",
                read(&generation(
                    &json!([user]),
                    &json!({"role": "assistant", "content": "I look.", "tool_invocations": [{"which": "get_weather", "with": {"city": "Tokyo"}}]}),
                )),
            ),
            (
                "a piece that is a call in a form that cannot be read",
                read(&generation(
                    &json!([user]),
                    &json!({"role": "assistant", "content": [{"type": "tool_invocation", "which": "get_weather", "with": {"city": "Tokyo"}}]}),
                )),
            ),
            (
                "the newest message beside its history",
                read(&generation(&json!({"message": ASKED, "history": [user, said]}), &said)),
            ),
            ("several steps of an agent", {
                let call = json!({"openinference.span.kind": "LLM", "input.value": [user], "output.value": said});
                let tool = json!({"openinference.span.kind": "TOOL", "tool.name": "get_weather"});
                read_all(&otlp(&[("outer", call), ("tool", tool)]))
            }),
        ],
        "refused",
    );
}

#[test]
fn an_answer_that_is_json_stays_the_text_that_it_is() {
    let user = json!([{"role": "user", "content": "As JSON, please"}]);
    let text = r#"{"message": "hi"}"#;
    for attributes in [
        json!({"openinference.span.kind": "LLM", "input.value": user, "output.value": text, "output.mime_type": "text/plain"}),
        json!({"openinference.span.kind": "LLM", "input.value": user, "output.value": text,
               "llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": text}),
        json!({"ai.operationId": "ai.generateObject.doGenerate", "ai.prompt.messages": user, "ai.response.object": text}),
        json!({"llm.request.type": "chat", "gen_ai.prompt": user, "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": text}),
    ] {
        let found = read(&attributes);
        assert!(found.ends_with(r#"{"content": "{\"message\": \"hi\"}", "type": "ai"}"#), "{attributes}\n{found}");
    }
}

fn langfuse(text: &str) -> Taken {
    let traces = traces(TraceFormat::Langfuse, text, &mut Redactor::default());
    traces.take(&[], Path::new("a.json"), BTreeMap::new(), &Rules::default()).unwrap()
}

#[test]
fn rows_of_langfuses_export_to_a_bucket() {
    let call = json!({"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\": \"Tokyo\"}"}});
    let row = |id: &str, parent: &str, kind: &str, input: Value, output: &Value| {
        json!({"id": id, "trace_id": "t", "parent_observation_id": parent, "type": kind, "name": id,
            "start_time": "2025-08-01 13:56:54.163000", "end_time": "2025-08-01 13:56:55.000000", "level": "DEFAULT", "status_message": null,
            "provided_model_name": "gpt-4o", "input": input, "output": output, "metadata": {}, "usage_details": {"input": 7, "output": 3}})
    };
    let messages = json!([
        {"role": "user", "content": ASKED},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "sunny", "tool_call_id": "c1"},
    ]);
    let said = json!({"role": "assistant", "content": "It is sunny."});
    let rows = [
        row("agent", "", "SPAN", json!("x"), &json!("y")),
        row("call", "agent", "GENERATION", json!(messages.to_string()), &json!(said.to_string())),
    ];
    let taken = langfuse(&rows.iter().map(Value::to_string).collect::<Vec<_>>().join("\n"));
    assert_eq!(outcome(&taken), expected());
    let turn = &taken.fixture.table.turns()[0];
    assert_eq!(turn.output.model, None, "the row does not say which model answered");
    assert_eq!(turn.output.usage.unwrap().input, 7);
    assert!(taken.notes.iter().all(|note| !note.contains("parent")), "{:?}", taken.notes);
}

#[test]
fn otlp_as_other_programs_write_it() {
    let attributes = json!({"gen_ai.operation.name": "chat",
        "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}],
        "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "Hello"}]}]});
    let plain = otlp(&[("chat", attributes)]);
    let snake = plain.to_string();
    let snake = [
        ("resourceSpans", "resource_spans"),
        ("scopeSpans", "scope_spans"),
        ("traceId", "trace_id"),
        ("spanId", "span_id"),
        ("parentSpanId", "parent_span_id"),
        ("startTimeUnixNano", "start_time_unix_nano"),
        ("endTimeUnixNano", "end_time_unix_nano"),
        ("stringValue", "string_value"),
    ]
    .iter()
    .fold(snake, |text, (from, to)| text.replace(&format!("\"{from}\""), &format!("\"{to}\"")));
    let expected = read_all(&plain);
    for other in [
        snake,
        json!({"trace": plain}).to_string(),
        json!({"result": plain}).to_string(),
        json!({"batches": plain["resourceSpans"]}).to_string(),
    ] {
        let traces = traces(TraceFormat::Otlp, &other, &mut Redactor::default());
        let taken = traces.take(&[], Path::new("a.json"), BTreeMap::new(), &Rules::default()).unwrap();
        assert_eq!(outcome(&taken), expected, "{other}");
    }
}
