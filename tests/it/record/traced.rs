//! A trace of each of four conventions, as its exporter writes it, of a service over each of four APIs: imported with its scenario,
//! adopted, green, and red by the right line when its service is broken.

use serde_json::{Value, json};

use super::dated;
use crate::support::tree::Tree;

tests! { a_trace_of_each_convention_guards_the_service_that_it_is_of }

const MESSAGE: &str = "How warm is it in Rome?";
const ASKED: &str = "User asks: How warm is it in Rome?";
const PROMPT: &str = "Today is 2025-08-01. Be kind.";
const RESULT: &str = "18 degrees, ticket A-12";
const ANSWER: &str = "It is 18 degrees.";

/// A service, the attributes of the spans of its trace, and the first line of its failure when it is broken.
struct Traced {
    api: &'static str,
    /// The request that started the trace, then two calls with what is around and between them.
    spans: Vec<(&'static str, Value)>,
    broken: &'static str,
    line: &'static str,
}

/// The attributes of a FastAPI or Express server, whose instrumentation keeps bodies if it is told to.
fn server(body: bool) -> (&'static str, Value) {
    let mut attributes = json!({"http.request.method": "POST", "url.path": "/chat", "http.response.status_code": 200});
    if body {
        attributes["http.request.body"] = json!({"message": MESSAGE}).to_string().into();
    }
    ("POST /chat", attributes)
}

/// OpenTelemetry's GenAI conventions, by Google's SDK.
fn gen_ai() -> Vec<(&'static str, Value)> {
    let text = |text: &str| json!({"type": "text", "content": text});
    let call = json!({"type": "tool_call", "id": null, "name": "look", "arguments": {"place": "Rome"}});
    let user = json!({"role": "user", "parts": [text(ASKED)]});
    let result = json!({"type": "tool_call_response", "id": null, "name": "look", "response": {"result": RESULT}});
    let then = [user.clone(), json!({"role": "model", "parts": [call]}), json!({"role": "user", "parts": [result]})];
    let span = |messages: &[Value], part: &Value| {
        let answer = json!([{"role": "model", "parts": [part], "finish_reason": "stop"}]);
        let attributes = json!({
            "gen_ai.operation.name": "generate_content", "gen_ai.provider.name": "gcp.gemini",
            "gen_ai.request.model": "small", "gen_ai.response.model": "small-001",
            "gen_ai.response.finish_reasons": ["stop"],
            "gen_ai.usage.input_tokens": 40, "gen_ai.usage.output_tokens": 9,
            "gen_ai.system_instructions": json!([text(PROMPT)]).to_string(),
            "gen_ai.input.messages": json!(messages).to_string(), "gen_ai.output.messages": answer.to_string(),
        });
        ("generate_content small", attributes)
    };
    vec![server(true), span(&[user], &call), span(&then, &text(ANSWER))]
}

/// OpenInference, by OpenAI's SDK with its Responses API.
fn openinference() -> Vec<(&'static str, Value)> {
    let call = json!({"type": "function_call", "id": "fc_1", "call_id": "call_9", "name": "look",
        "arguments": "{\"place\": \"Rome\"}", "status": "completed"});
    let said = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": ANSWER, "annotations": []}]});
    let user = json!({"role": "user", "content": ASKED});
    let result = json!({"type": "function_call_output", "call_id": "call_9", "output": RESULT});
    let span = |id: &str, input: &[Value], output: &Value, flat: Value| {
        let tool = json!({"type": "function", "name": "look", "parameters": {"type": "object"}});
        let request = json!({"model": "small", "instructions": PROMPT, "input": input, "tools": [tool]});
        let response = json!({"id": id, "object": "response", "created_at": 1_754_056_614, "model": "small-2025",
            "status": "completed", "output": [output], "tools": [tool], "parallel_tool_calls": true,
            "usage": {"input_tokens": 40, "output_tokens": 9, "total_tokens": 49}});
        let mut attributes = json!({
            "openinference.span.kind": "LLM", "llm.system": "openai", "llm.model_name": "small",
            "input.mime_type": "application/json", "input.value": request.to_string(),
            "output.mime_type": "application/json", "output.value": response.to_string(),
            "llm.input_messages.0.message.role": "system", "llm.input_messages.0.message.content": PROMPT,
            "llm.input_messages.1.message.role": "user", "llm.input_messages.1.message.content": ASKED,
            "llm.output_messages.0.message.role": "assistant",
            "llm.token_count.prompt": 40, "llm.token_count.completion": 9,
        });
        attributes.as_object_mut().unwrap().append(flat.as_object().cloned().as_mut().unwrap());
        ("Response", attributes)
    };
    let of_call = |rest: &str| format!("llm.output_messages.0.message.tool_calls.0.tool_call.{rest}");
    let first = json!({of_call("id"): "call_9", of_call("function.name"): "look", of_call("function.arguments"): "{\"place\": \"Rome\"}"});
    vec![
        server(true),
        span("resp_1", std::slice::from_ref(&user), &call, first),
        ("look", json!({"openinference.span.kind": "TOOL", "tool.name": "look", "output.value": RESULT})),
        span("resp_2", &[user, call.clone(), result], &said, json!({"llm.output_messages.0.message.content": ANSWER})),
    ]
}

/// OpenLLMetry, by Anthropic's SDK.
fn openllmetry() -> Vec<(&'static str, Value)> {
    let call = json!([{"type": "tool_use", "id": "toolu_9", "name": "look", "input": {"place": "Rome"}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": "toolu_9", "content": RESULT}]);
    let span = |prompts: &[(&str, String)], answer: Value| {
        let mut attributes = json!({
            "llm.request.type": "chat", "gen_ai.system": "Anthropic", "gen_ai.request.model": "small",
            "gen_ai.response.model": "small-2025", "gen_ai.response.id": format!("msg_{}", prompts.len()),
            "gen_ai.usage.prompt_tokens": 40, "gen_ai.usage.completion_tokens": 9, "llm.usage.total_tokens": 49,
            "llm.request.functions.0.name": "look", "llm.request.functions.0.input_schema": "{\"type\": \"object\"}",
        });
        for (at, (role, content)) in prompts.iter().enumerate() {
            attributes[format!("gen_ai.prompt.{at}.role")] = (*role).into();
            attributes[format!("gen_ai.prompt.{at}.content")] = content.as_str().into();
        }
        for (name, value) in answer.as_object().unwrap() {
            attributes[format!("gen_ai.completion.0.{name}")] = value.clone();
        }
        ("anthropic.chat", attributes)
    };
    let prompt = [("system", PROMPT.to_owned()), ("user", ASKED.to_owned())];
    let then = [&prompt[..], &[("assistant", call.to_string()), ("user", result.to_string())]].concat();
    let first = json!({"role": "assistant", "finish_reason": "tool_use", "tool_calls.0.id": "toolu_9",
        "tool_calls.0.name": "look", "tool_calls.0.arguments": "{\"place\": \"Rome\"}"});
    let last = json!({"role": "assistant", "finish_reason": "end_turn", "content": ANSWER});
    vec![
        server(true),
        ("chat.workflow", json!({"traceloop.span.kind": "workflow"})),
        span(&prompt, first),
        span(&then, last),
    ]
}

/// The AI SDK, whose span of a whole turn repeats what the spans of its calls say.
fn ai_sdk() -> Vec<(&'static str, Value)> {
    let call = json!({"type": "tool-call", "toolCallId": "call_9", "toolName": "look", "input": {"place": "Rome"}});
    let result = json!({"type": "tool-result", "toolCallId": "call_9", "toolName": "look", "output": {"type": "text", "value": RESULT}});
    let user = json!({"role": "user", "content": [{"type": "text", "text": ASKED}]});
    let system = json!({"role": "system", "content": PROMPT});
    let span = |messages: Value, finish: &str, answer: (&str, Value)| {
        let mut attributes = json!({
            "operation.name": "ai.generateText.doGenerate", "ai.operationId": "ai.generateText.doGenerate",
            "ai.model.provider": "openai.chat", "ai.model.id": "small", "ai.prompt.messages": messages.to_string(),
            "ai.prompt.tools": ["{\"type\":\"function\",\"name\":\"look\",\"inputSchema\":{\"type\":\"object\"}}"],
            "ai.response.finishReason": finish, "ai.response.id": format!("chatcmpl-{finish}"),
            "ai.response.model": "small-2025", "ai.usage.promptTokens": 40, "ai.usage.completionTokens": 9,
            "gen_ai.system": "openai.chat", "gen_ai.request.model": "small",
            "gen_ai.response.finish_reasons": [finish],
        });
        attributes[answer.0] = answer.1;
        ("ai.generateText.doGenerate", attributes)
    };
    let calls = json!([{"toolCallId": "call_9", "toolName": "look", "input": "{\"place\":\"Rome\"}"}]).to_string();
    let then = json!([system, user, {"role": "assistant", "content": [call]}, {"role": "tool", "content": [result]}]);
    let whole = json!({
        "operation.name": "ai.generateText", "ai.operationId": "ai.generateText", "ai.model.id": "small",
        "ai.prompt": json!({"system": PROMPT, "prompt": ASKED}).to_string(), "ai.response.text": ANSWER,
        "ai.response.finishReason": "stop",
    });
    vec![
        server(false),
        ("ai.generateText", whole),
        span(json!([system, user]), "tool-calls", ("ai.response.toolCalls", calls.into())),
        span(then, "stop", ("ai.response.text", ANSWER.into())),
    ]
}

/// An OTLP message of spans. The second is around those after it, if it is a whole turn's.
fn otlp(spans: &[(&str, Value)]) -> Value {
    let value = |value: &Value| match value {
        Value::Number(number) => json!({"intValue": number.to_string()}),
        Value::Array(list) => {
            json!({"arrayValue": {"values": list.iter().map(|text| json!({"stringValue": text})).collect::<Vec<_>>()}})
        }
        text => json!({"stringValue": text}),
    };
    let is_around = ["ai.generateText", "chat.workflow"].contains(&spans[1].0);
    let span = |(number, (name, attributes)): (usize, &(&str, Value))| {
        let parent = match number {
            0 => String::new(),
            2.. if is_around => format!("{:016x}", 2),
            _ => format!("{:016x}", 1),
        };
        let pairs = attributes.as_object().unwrap().iter();
        let pairs: Vec<Value> = pairs.map(|(key, held)| json!({"key": key, "value": value(held)})).collect();
        json!({
            "traceId": "5b8efff798038103d269b633813fc60c", "spanId": format!("{:016x}", number + 1),
            "parentSpanId": parent, "name": name, "kind": 3, "attributes": pairs, "status": {},
            "startTimeUnixNano": format!("17540566140{number:08}"), "endTimeUnixNano": format!("17540566140{number:07}9"),
        })
    };
    let spans: Vec<Value> = spans.iter().enumerate().map(span).collect();
    json!({"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {"name": "service"}, "spans": spans}]}]})
}

fn a_trace_of_each_convention_guards_the_service_that_it_is_of() {
    let services = [
        Traced {
            api: "gemini",
            spans: gen_ai(),
            broken: "tool",
            line: "replay miss: tool `look` returned a different `/result` than recorded (\"18\" → \"30\")",
        },
        Traced {
            api: "responses",
            spans: openinference(),
            broken: "silent",
            line: "golden: the event `answer` did not come",
        },
        Traced {
            api: "anthropic",
            spans: openllmetry(),
            broken: "wording",
            line: "replay miss: message 1 (human) of the call \"Query: How warm is it in Rome?\" says different text than recorded (\"Question:\" → \"Query:\")",
        },
        Traced {
            api: "chat",
            spans: ai_sdk(),
            broken: "stops",
            line: "unused: the service stopped asking after turn 1 (calls look) (1 call fewer than recorded)",
        },
    ];
    for Traced { api, spans, broken, line } in services {
        let suite = |wording: &str, broken: &str| dated::suite_over(api, wording, broken);
        let tree = Tree::with_suite(&suite("Question:", ""));
        tree.write("traces.json", &otlp(&spans).to_string());
        let import = ["import", "otlp", "traces.json", "--out", "fixtures/warm.json", "--scenario", "warm"];
        let imported = tree.retake().args(&import).run().exits(0);
        imported.tells(&["2 turns written to fixtures/warm.json, 0 refused"]);
        let adopted = tree.retake().args(&["adopt", "warm", "--yes"]).run().exits(0);
        adopted.tells(&["call 1: turn 1 of", "call 2: turn 2 of", "warm: accepted"]);
        assert!(tree.read("goldens/warm.snap").contains("turn 2"), "{api}: {}", tree.read("goldens/warm.snap"));
        tree.retake().arg("test").run().green();
        let (wording, broken) = if broken == "wording" { ("Query:", "") } else { ("Question:", broken) };
        tree.write("scenarios/suite.toml", &suite(wording, broken));
        let red = tree.retake().args(&["test", "warm"]).run().exits(1);
        assert_eq!(red.failure("warm").lines().next(), Some(line), "{api}: {}", red.all());
    }
}
