//! What instrumentation libraries wrote about real calls, shortened: each call is a right turn, or refused with the true reason.

use super::wild::{read, read_all};
use super::*;

/// An OTLP message with a span by each library, in one trace: its name, when it began and ended, and its attributes.
fn by_libraries(spans: &[(&str, u64, u64, Value)]) -> Value {
    let of_library = |(index, (library, start, end, attributes)): (usize, &(&str, u64, u64, Value))| {
        json!({"scope": {"name": library}, "spans": [{"traceId": "5b8efff798038103d269b633813fc60c", "spanId": format!("{:016x}", index + 1),
            "name": "call", "startTimeUnixNano": start.to_string(), "endTimeUnixNano": end.to_string(), "attributes": pairs(attributes)}]})
    };
    let scopes: Vec<Value> = spans.iter().enumerate().map(of_library).collect();
    json!({"resourceSpans": [{"resource": {}, "scopeSpans": scopes}]})
}

fn with(mut attributes: Value, more: &Value) -> Value {
    attributes.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    attributes
}

/// A call by OpenTelemetry's conventions.
fn chat(asked: &Value, answer: &Value) -> Value {
    json!({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.input.messages": asked, "gen_ai.output.messages": answer})
}

fn part(role: &str, part: &Value) -> Value {
    json!({"role": role, "parts": [part]})
}

fn says(role: &str, text: &str) -> Value {
    part(role, &json!({"type": "text", "content": text}))
}

fn calls(id: &str, city: &str) -> Value {
    part("assistant", &json!({"type": "tool_call", "id": id, "name": "weather", "arguments": {"city": city}}))
}

fn returns(id: &str, response: &Value) -> Value {
    part("tool", &json!({"type": "tool_call_response", "id": id, "response": response}))
}

/// The refusals of a message, each with its setting.
fn refusals(message: &Value) -> Vec<String> {
    let refused = taken(message).refused;
    refused.iter().map(|it| format!("{}; {}", it.reason, it.setting.unwrap_or("-"))).collect()
}

const BROKEN: &str =
    "refused: nothing in it says why its answer ended, so its stream broke off, or the service left it";

#[test]
fn a_stream_that_broke_off_is_no_turn() {
    let begun = chat(&json!([says("user", "Hi")]), &json!([says("assistant", "Hel")]));
    let of_inference = json!({"openinference.span.kind": "LLM", "input.value": {"model": "m", "messages": [{"role": "user", "content": "Hi"}]},
        "output.value": {"choices": [{"message": {"content": "Hel", "role": "assistant"}, "index": 0}], "object": "chat.completion.chunk"},
        "llm.invocation_parameters": {"model": "m", "stream": true}});
    let of_langsmith = json!({"langsmith.span.kind": "llm", "langsmith.request.streaming": true, "gen_ai.prompt": {"messages": [{"role": "user", "content": "Hi"}]},
        "gen_ai.completion": {"choices": [{"index": 0, "finish_reason": null, "message": {"role": "assistant", "content": "Hel"}}]}});
    let of_langfuse = json!({"langfuse.observation.type": "generation", "langfuse.observation.input": [{"role": "user", "content": "Hi"}],
        "langfuse.observation.output": "Hel", "langfuse.observation.completion_start_time": "\"2026-11-26T16:58:51Z\""});
    for (name, finish, call) in [
        ("OpenLLMetry", "gen_ai.response.finish_reasons", with(begun.clone(), &json!({"gen_ai.is_streaming": true}))),
        ("Logfire", "gen_ai.response.finish_reasons", with(begun.clone(), &json!({"logfire.span_type": "log"}))),
        ("Anthropic", "anthropic.message.stop_reason", with(begun.clone(), &json!({"gen_ai.request.stream": true}))),
        ("OpenInference", "llm.finish_reason", of_inference),
        ("LangSmith", "gen_ai.response.finish_reasons", of_langsmith),
        ("Langfuse", "langfuse.observation.metadata.finish_reason", of_langfuse),
    ] {
        assert_eq!(read(&call), BROKEN, "{name}");
        let ended = with(call, &json!({finish: if finish.ends_with('s') { json!(["stop"]) } else { json!("stop") }}));
        assert!(read(&ended).ends_with(r#"{"content": "Hel", "type": "ai"}"#), "{name}: {}", read(&ended));
    }
    // What is no stream is whole without a reason; a reason may be that it failed.
    assert!(!read(&begun).starts_with("refused"));
    assert_eq!(read(&with(begun, &json!({"gen_ai.response.finish_reasons": ["error"]}))), BROKEN);
}

#[test]
fn each_item_of_the_responses_api_is_a_message_and_all_are_one_answer() {
    let asked = |first: &str, second: &str| {
        json!([
            says("user", "Hi"),
            says("assistant", "I look."),
            calls("fc_1", "Paris"),
            calls("fc_2", "Rome"),
            returns(first, &json!("sunny")),
            returns(second, &json!("rain"))
        ])
    };
    let one = r#"{"content": "I look.", "tool_calls": [{"args": {"city": "Paris"}, "name": "weather"}, {"args": {"city": "Rome"}, "name": "weather"}], "type": "ai"}"#;
    for (first, second) in [("fc_1", "fc_2"), ("call_1", "call_2")] {
        let told = read(&chat(&asked(first, second), &json!([says("assistant", "Done.")])));
        assert!(told.contains(one), "{told}");
        assert!(told.contains(r#"{"content": "rain", "name": "weather", "type": "tool"}"#), "{told}");
    }
    // LangChain's messages hold the items beside the calls.
    let item = json!({"arguments": "{}", "call_id": "c1", "name": "weather", "type": "function_call"}).to_string();
    let message =
        json!({"role": "assistant", "parts": [{"type": "text", "content": item}, calls("c1", "Paris")["parts"][0]]});
    let told = read(&chat(
        &json!([says("user", "Hi"), message, returns("c1", &json!("sunny"))]),
        &json!([says("assistant", "Done.")]),
    ));
    assert!(
        told.contains(
            r#"{"content": "", "tool_calls": [{"args": {"city": "Paris"}, "name": "weather"}], "type": "ai"}"#
        ),
        "{told}"
    );
    // Langfuse keeps an item alone, which is no answer of Anthropic's.
    let item = json!({"id": "msg_1", "content": [{"annotations": [], "text": "Done.", "type": "output_text", "logprobs": null}],
        "role": "assistant", "status": "completed", "type": "message"});
    let told = read(
        &json!({"langfuse.observation.type": "generation", "langfuse.observation.input": [{"role": "user", "content": "Hi"}], "langfuse.observation.output": item}),
    );
    assert!(told.ends_with(r#"{"content": "Done.", "type": "ai"}"#), "{told}");
}

#[test]
fn two_libraries_that_tell_of_one_call_are_one_turn() {
    let asked = || json!([says("user", "Hi")]);
    let call = |id: &str| {
        chat(&asked(), &json!([{"role": "assistant", "finish_reason": "", "parts": [calls(id, "Paris")["parts"][0]]}]))
    };
    let both =
        |scope: &str| taken(&by_libraries(&[("langchain", 10, 90, call("call_1")), (scope, 20, 80, call("fc_1"))]));
    assert_eq!(both("openai").fixture.table.turns().len(), 1);
    assert_eq!(both("langchain").fixture.table.turns().len(), 2, "a library tells of each call once");
    // Logfire tells of a stream at its end, when the span of the SDK is over.
    let named = |of: Value| with(of, &json!({"gen_ai.response.id": "msg_3"}));
    let silent = json!({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"});
    let stream = by_libraries(&[("sdk", 20, 80, named(silent.clone())), ("logfire", 85, 85, named(call("c1")))]);
    assert!(refusals(&stream).is_empty(), "{:?}", refusals(&stream));
    // Settings alone do not make two calls one.
    let of_logfire = |asked: &str| {
        with(silent.clone(), &json!({"request_data": {"model": "m"}, "gen_ai.input.messages": [says("user", asked)]}))
    };
    let answered = with(of_logfire("Hi"), &json!({"gen_ai.output.messages": [says("assistant", "Hello")]}));
    let left = by_libraries(&[("logfire", 10, 20, answered), ("logfire", 30, 40, of_logfire("Go"))]);
    assert_eq!(refusals(&left), ["it holds no answer; -"]);
}

#[test]
fn a_call_that_failed_says_why_and_once() {
    let silent = json!({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"});
    let mut message = by_libraries(&[
        (
            "openinference",
            10,
            90,
            with(
                silent.clone(),
                &json!({"output.value": {"generations": [[{"text": "", "message": {"kwargs": {"content": ""}}}]]}}),
            ),
        ),
        ("sdk", 20, 80, with(silent, &json!({"error.type": "invalid_request_error"}))),
    ]);
    let scopes = message["resourceSpans"][0]["scopeSpans"].as_array_mut().unwrap();
    let said = "RequestError('400 - bad')Traceback (most recent call last):\n  File \"a.py\"";
    scopes[0]["spans"][0]["events"] =
        json!([{"name": "exception", "attributes": pairs(&json!({"exception.message": said}))}]);
    scopes[1]["spans"][0]["status"] = json!({"code": 2});
    assert_eq!(
        refusals(&message),
        ["the call failed (RequestError('400 - bad')), and what the provider answered is not in the span; -"]
    );
}

#[test]
fn settings_are_those_of_the_library_that_wrote_the_span() {
    let silent = json!({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"});
    for (library, setting) in [
        ("opentelemetry.instrumentation.openai.v1", "TRACELOOP_TRACE_CONTENT=true"),
        ("opentelemetry.instrumentation.openai_v2", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"),
        ("com.anthropic.sdk.python", "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE=content"),
        ("semantic_kernel.utils.telemetry", "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true"),
    ] {
        let said = refusals(&by_libraries(&[(library, 10, 20, silent.clone())]));
        assert!(said[0].contains(&format!("did not record their content; {setting}")), "{said:?}");
    }
    // Content that is there on one side was recorded.
    let answer = json!([says("assistant", "Hello")]);
    let one_side = with(silent.clone(), &json!({"gen_ai.output.messages": answer}));
    assert_eq!(
        refusals(&by_libraries(&[("opentelemetry.instrumentation.openai.v1", 10, 20, one_side)])),
        ["it holds an answer, but not what was asked; -"]
    );
    let one_side =
        json!({"ai.operationId": "ai.generateText.doGenerate", "ai.model.id": "m", "ai.response.text": "Hello"});
    assert!(refusals(&otlp(&[("a", one_side)]))[0].contains("not what was asked; experimental_telemetry"));
    // Kinds of pieces are no content.
    let empty = |role: &str| part(role, &json!({"type": "text"}));
    let hidden = chat(
        &json!([empty("user")]),
        &json!([empty("assistant"), part("assistant", &json!({"type": "tool_call", "id": "c1", "name": "weather"}))]),
    );
    assert_eq!(
        refusals(&by_libraries(&[("opentelemetry.instrumentation.openai.v1", 10, 20, hidden)])),
        ["its messages were hidden by what recorded them; TRACELOOP_TRACE_CONTENT=true"]
    );
}

#[test]
fn texts_are_what_the_library_sent() {
    let results = |result: &Value| json!([says("user", "Hi"), calls("c1", "Paris"), returns("c1", result)]);
    let told =
        read(&chat(&results(&json!([{"type": "text", "content": "sunny"}])), &json!([says("assistant", "Done.")])));
    assert!(told.contains(r#"{"content": "sunny", "name": "weather", "type": "tool"}"#), "{told}");
    let told = read(
        &json!({"ai.operationId": "ai.generateText.doGenerate", "ai.response.text": "Done.", "ai.prompt.messages": [
        {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
        {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "weather", "input": {"city": "Paris"}}]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c1", "toolName": "weather", "output": {"type": "json", "value": {"n": 1, "ok": true}}}]}]}),
    );
    assert!(told.contains(r#"{"content": "{\"n\":1,\"ok\":true}", "name": "weather", "type": "tool"}"#), "{told}");
    // LiteLLM writes the text and the calls of an answer apart.
    let apart = with(
        chat(
            &json!([says("user", "Hi")]),
            &json!([{"role": "assistant", "parts": [{"type": "text", "content": "I look."}], "finish_reason": "tool_calls"}]),
        ),
        &json!({"gen_ai.completion.0.function_call.name": "weather", "gen_ai.completion.0.function_call.arguments": "{\"city\": \"Paris\"}"}),
    );
    assert!(
        read(&apart).ends_with(
            r#"{"content": "I look.", "tool_calls": [{"args": {"city": "Paris"}, "name": "weather"}], "type": "ai"}"#
        ),
        "{}",
        read(&apart)
    );
    // Langfuse's choices have no reasons, but the number that was asked for.
    let choices = json!({"langfuse.observation.type": "generation", "langfuse.observation.input": [{"role": "user", "content": "Hi"}],
        "langfuse.observation.model.parameters": {"n": 2}, "langfuse.observation.output": [{"role": "assistant", "content": "One"}, {"role": "assistant", "content": "Other"}]});
    assert!(read(&choices).ends_with(r#"{"content": "One", "type": "ai"}"#), "{}", read(&choices));
}

#[test]
fn arguments_that_were_cut_are_no_arguments() {
    let cut = "{\"city\": \"Paris\", \"nested\": {\"a\": [1, nu";
    let call =
        json!({"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "weather", "arguments": cut}}]});
    let asked = json!({"openinference.span.kind": "LLM", "input.value": {"messages": [{"role": "user", "content": "Hi"}]}, "output.value": {"messages": [call]}});
    assert_eq!(read_all(&otlp(&[("a", asked)])), "refused: a text in it was cut by a length limit");
    // Two texts of one length, of which one is cut JSON, tell the limit, whatever it is.
    let (asked, answer) = ("é".repeat(cut.len()), "a".repeat(cut.len()));
    let flat = json!({"openinference.span.kind": "LLM", "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": asked,
        "llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": answer, "metadata": cut});
    assert_eq!(read_all(&otlp(&[("a", flat)])), "refused: a text in it was cut by a length limit");
}
