//! What a trace lost is said, and never guessed.

use super::*;

fn text(role: &str, text: &str) -> Value {
    json!({"role": role, "parts": [{"type": "text", "content": text}]})
}

fn call(input: &Value, output: &Value) -> Value {
    json!({"gen_ai.operation.name": "chat", "gen_ai.input.messages": input, "gen_ai.output.messages": output})
}

/// The reason for the refusal of the only span.
fn reason(message: &Value) -> String {
    let taken = taken(message);
    assert!(taken.fixture.table.turns().is_empty(), "{}", told(&taken, 0));
    assert_eq!(taken.refused.len(), 1);
    assert_eq!(taken.fixture.holes.len(), 1);
    let refused = &taken.refused[0];
    format!("{}; {}", refused.reason, refused.setting.as_deref().unwrap_or("-"))
}

#[test]
fn content_that_was_not_captured() {
    let hidden = json!({"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o"});
    assert!(reason(&otlp(&[("a", hidden)])).contains("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY"));
    let hidden = json!({"ai.operationId": "ai.generateText.doGenerate", "ai.model.id": "gpt-4o"});
    assert!(reason(&otlp(&[("a", hidden)])).contains("recordInputs: true"));
    let hidden = json!({"openinference.span.kind": "LLM", "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "__REDACTED__", "output.value": "Hello"});
    assert!(reason(&otlp(&[("a", hidden)])).contains("hidden by what recorded them; OPENINFERENCE_HIDE_INPUTS=false"));
}

#[test]
fn content_that_was_elided_in_events() {
    let mut message = otlp(&[("chat", json!({"gen_ai.operation.name": "chat", "gcp.vertex.agent.event_id": "x"}))]);
    let event = |name: &str| json!({"name": name, "attributes": pairs(&json!({"content": "<elided>"}))});
    message["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["events"] =
        json!([event("gen_ai.user.message"), event("gen_ai.choice")]);
    assert!(reason(&message).contains("hidden by what recorded them; OTEL_SEMCONV_STABILITY_OPT_IN"));
}

#[test]
fn attributes_that_were_dropped() {
    let flattened = json!({
        "llm.request.type": "chat", "gen_ai.prompt.3.role": "user", "gen_ai.prompt.3.content": "Hi",
        "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "Hello",
    });
    assert!(
        reason(&otlp(&[("a", flattened)]))
            .contains("`gen_ai.prompt.0` is missing, but `gen_ai.prompt.3` is there; OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT")
    );
    let flattened = json!({
        "llm.request.type": "chat", "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Hi",
        "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "Hello",
    });
    let mut message = otlp(&[("a", flattened)]);
    message["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["droppedAttributesCount"] = json!(7);
    assert!(reason(&message).contains("7 of its attributes were dropped"));
    // Where all messages are one attribute, they are whole.
    let whole = call(&json!([text("user", "Hi")]), &json!([text("assistant", "Hello")]));
    let mut message = otlp(&[("a", whole)]);
    message["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["droppedAttributesCount"] = json!(7);
    let taken = taken(&message);
    assert!(
        taken.notes.iter().any(|note| note.contains("turns[0]: 7 of its span's attributes were dropped")),
        "{:?}",
        taken.notes
    );
}

#[test]
fn texts_that_were_cut() {
    let input = json!([text("user", &"long ".repeat(50))]).to_string();
    let cut = json!({"gen_ai.operation.name": "chat", "gen_ai.input.messages": &input[..128], "gen_ai.output.messages": [text("assistant", "Hello")]});
    assert!(reason(&otlp(&[("a", cut)])).contains("cut by a length limit; OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT"));
    // Two different texts of exactly the greatest length, which is one that people set as a limit.
    let (one, two) = ("a".repeat(256), "b".repeat(256));
    let cut = json!({
        "llm.request.type": "chat", "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": one,
        "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": two,
    });
    assert!(reason(&otlp(&[("a", cut)])).contains("cut by a length limit"));
    let chance = call(&json!([text("user", &"a".repeat(200))]), &json!([text("assistant", &"b".repeat(200))]));
    assert!(taken(&otlp(&[("a", chance.clone()), ("b", chance)])).refused.is_empty());
    let marked = call(&json!([text("user", "Hi... [truncated]")]), &json!([text("assistant", "Hello")]));
    assert!(reason(&otlp(&[("a", marked)])).contains("cut by a length limit"));
}

#[test]
fn calls_that_send_only_what_is_new() {
    let asks =
        json!([{"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "look", "arguments": {}}]}]);
    let result = json!([{"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "sunny"}]}]);
    let first = call(&json!([text("user", "Hi")]), &asks);
    let second = call(&result, &json!([text("assistant", "It is sunny.")]));
    let both = taken(&otlp(&[("a", first), ("b", second.clone())]));
    assert_eq!(told(&both, 1).lines().count(), 4);
    assert!(told(&both, 1).contains(r#""content": "sunny", "name": "look""#), "{}", told(&both, 1));
    assert!(reason(&otlp(&[("b", second)])).contains("begins with the result of the tool call \"c1\""));
    let mut continued = call(&json!([text("user", "And now?")]), &json!([text("assistant", "Rain.")]));
    continued["gen_ai.request.previous_response.id"] = json!("resp_1");
    assert!(reason(&otlp(&[("c", continued)])).contains("after the answer resp_1, which is not in the trace"));
}

#[test]
fn ids_that_several_answers_have_are_none() {
    let mut one = call(&json!([text("user", "Hi")]), &json!([text("assistant", "Hello")]));
    one["gen_ai.response.id"] = json!("__fake_id__");
    let mut other = call(&json!([text("user", "Bye")]), &json!([text("assistant", "Farewell")]));
    other["gen_ai.response.id"] = json!("__fake_id__");
    let id = |taken: &Taken| taken.fixture.table.turns()[0].output.id.clone();
    assert_eq!(id(&taken(&otlp(&[("a", one.clone()), ("b", other)]))), None);
    assert_eq!(id(&taken(&otlp(&[("a", one)]))).as_deref(), Some("__fake_id__"));
}

#[test]
fn an_answer_that_ended_with_tool_calls_and_holds_none() {
    let mut lost = call(&json!([text("user", "Hi")]), &json!([text("assistant", "I will look.")]));
    lost["gen_ai.response.finish_reasons"] = json!(["tool_calls"]);
    assert!(reason(&otlp(&[("a", lost)])).contains("ended with tool calls, but the span holds none"));
}

#[test]
fn messages_without_roles_and_failures() {
    let plain =
        json!({"openinference.span.kind": "LLM", "input.value": "system: Be kind.\nuser: Hi", "output.value": "Hello"});
    assert!(reason(&otlp(&[("a", plain)])).contains("texts without roles"));
    let mut failed =
        otlp(&[("a", json!({"gen_ai.operation.name": "chat", "gen_ai.input.messages": [text("user", "Hi")]}))]);
    failed["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["status"] = json!({"code": 2, "message": "429"});
    assert!(reason(&failed).contains("the call failed (429)"));
}

#[test]
fn personal_data_is_named_or_replaced_by_the_same_stand_in() {
    let said = "Mail ann@firm.org or +49 30 1234567, card 4111 1111 1111 1111, order 4111 1111 1111 1112; ANN@firm.org again, bob@firm.org";
    let message = otlp(&[("a", call(&json!([text("user", said)]), &json!([text("assistant", "ann@firm.org it is")])))])
        .to_string();
    let mut named = Redactor::default();
    traces(TraceFormat::Otlp, &message, &mut named);
    let left = named.left().unwrap();
    assert!(left.contains("3 emails, 1 phone number, 1 card number") || left.contains("3 emails"), "{left}");
    let own = vec![regex::Regex::new("order").unwrap()];
    let mut redactor = Redactor::new(&[Personal::Email, Personal::Phone, Personal::Card], own);
    let traces = traces(TraceFormat::Otlp, &message, &mut redactor);
    let taken = traces.take(&[], Path::new("a.json"), BTreeMap::new(), &Rules::default()).unwrap();
    let told = told(&taken, 0);
    let expected = "Mail person1@example.com or +1 555 0100001, card <CARD:1>, <REDACTED:1> 4111 1111 1111 1112; person1@example.com again, person2@example.com";
    assert!(told.contains(expected), "{told}");
    assert!(told.contains("person1@example.com it is"), "{told}");
    assert_eq!(redactor.left(), None);
}
