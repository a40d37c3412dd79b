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
    format!("{}; {}", refused.reason, refused.setting.unwrap_or("-"))
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
    let mut dropped = otlp(&[("a", flattened.clone())]);
    dropped["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["droppedAttributesCount"] = json!(3);
    assert!(reason(&dropped).contains("3 of its attributes were dropped, and each message is several; OTEL_SPAN"));
    assert!(
        reason(&otlp(&[("a", flattened)]))
            .contains("`gen_ai.prompt.0` is missing, but `gen_ai.prompt.3` is there, and no attribute was dropped; -")
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
        taken.notes.iter().any(|note| note.contains("turn 1: 7 of its span's attributes were dropped")),
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

fn tool_call(id: &str, name: &str) -> Value {
    let id = if id.is_empty() { json!({}) } else { json!({"id": id}) };
    let mut part = json!({"type": "tool_call", "name": name, "arguments": {}});
    part.as_object_mut().unwrap().extend(id.as_object().unwrap().clone());
    json!({"role": "assistant", "parts": [part], "finish_reason": "tool_call"})
}

/// The names and ids of the tool calls in the answer of the only turn.
fn tool_calls(message: &Value) -> Vec<String> {
    let taken = taken(message);
    let [turn] = taken.fixture.table.turns() else { panic!("{:?}", taken.refused) };
    turn.output.tool_calls().iter().map(|call| format!("{} {}", call.name, call.id)).collect()
}

#[test]
fn tool_calls_of_one_answer_are_one_answer_whatever_holds_each() {
    let asked = json!([text("user", "Hi")]);
    let two = json!([tool_call("c1", "look"), tool_call("c2", "buy")]);
    assert_eq!(tool_calls(&otlp(&[("a", call(&asked, &two))])), ["look c1", "buy c2"]);
    let said = json!([text("assistant", "I will look."), tool_call("c2", "buy")]);
    assert_eq!(tool_calls(&otlp(&[("a", call(&asked, &said))])), ["buy c2"]);
    let choice = |index: usize, name: &str| {
        let of = |field: &str| format!("gen_ai.completion.{index}.{field}");
        json!({of("role"): "assistant", of("finish_reason"): "tool_calls", of("tool_calls.0.id"): format!("c{index}"),
            of("tool_calls.0.name"): name, of("tool_calls.0.arguments"): "{}"})
    };
    let mut choices =
        json!({"llm.request.type": "chat", "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Hi"});
    for one in [choice(0, "look"), choice(1, "buy")] {
        choices.as_object_mut().unwrap().extend(one.as_object().unwrap().clone());
    }
    assert_eq!(tool_calls(&otlp(&[("a", choices.clone())])), ["look c0", "buy c1"]);
    choices["gen_ai.request.choice.count"] = json!(2);
    assert!(reason(&otlp(&[("a", choices)])).starts_with("it asked for several choices"));
    let texts = json!([{"role": "assistant", "parts": [{"type": "text", "content": "One"}], "finish_reason": "stop"},
        {"role": "assistant", "parts": [{"type": "text", "content": "Other"}], "finish_reason": "stop"}]);
    assert!(told(&taken(&otlp(&[("a", call(&asked, &texts))])), 0).ends_with(r#"{"content": "One", "type": "ai"}"#));
}

#[test]
fn a_tool_call_without_an_id_gets_one_and_the_role_tool_makes_it_no_result() {
    let asked = json!([text("user", "Hi")]);
    let message = otlp(&[("a", call(&asked, &json!([tool_call("", "look")])))]);
    assert_eq!(tool_calls(&message), ["look call_0000000000000001_1"]);
    let mut by_tool = tool_call("c1", "look");
    by_tool["role"] = json!("tool");
    assert_eq!(tool_calls(&otlp(&[("a", call(&asked, &json!([by_tool.clone()])))])), ["look c1"]);
    let result = json!({"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "sunny"}]});
    let after = call(&json!([text("user", "Hi"), by_tool, result]), &json!([text("assistant", "Sunny.")]));
    let told = told(&taken(&otlp(&[("a", after)])), 0);
    assert!(told.contains(r#""tool_calls": [{"args": {}, "name": "look"}], "type": "ai""#), "{told}");
    assert!(told.contains(r#""content": "sunny", "name": "look", "type": "tool""#), "{told}");
}

#[test]
fn messages_that_are_texts_of_json_in_a_list_are_messages() {
    let mut message = otlp(&[("a", json!({"gen_ai.operation.name": "chat"}))]);
    let list = |name: &str, message: Value| json!({"key": name, "value": {"arrayValue": {"values": [{"stringValue": message.to_string()}]}}});
    let attributes = &mut message["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"];
    let more =
        [list("gen_ai.input.messages", text("user", "Hi")), list("gen_ai.output.messages", text("assistant", "Hello"))];
    attributes.as_array_mut().unwrap().extend(more);
    assert!(told(&taken(&message), 0).ends_with(r#"{"content": "Hello", "type": "ai"}"#));
}

#[test]
fn a_part_of_an_answer_is_no_turn_if_a_later_call_tells_more() {
    let part = call(&json!([text("user", "Hi")]), &json!([text("assistant", "I will look.")]));
    let mut whole = tool_call("c1", "look");
    whole["parts"] = json!([{"type": "text", "content": "I will look."}, whole["parts"][0], {"type": "tool_call", "id": "c2", "name": "buy", "arguments": {}}]);
    let result =
        |id: &str| json!({"role": "tool", "parts": [{"type": "tool_call_response", "id": id, "response": "1"}]});
    let next = json!([text("user", "Hi"), whole, result("c1"), result("c2")]);
    let taken = taken(&otlp(&[("a", part), ("b", call(&next, &json!([text("assistant", "Done.")])))]));
    assert_eq!(taken.fixture.table.turns().len(), 1);
    assert_eq!(taken.refused[0].reason, "it holds 0 tool calls of its answer, and the next call says that it made 2");
}

#[test]
fn one_call_that_cannot_be_a_turn_is_one_refusal() {
    let good = call(&json!([text("user", "Hi")]), &json!([text("assistant", "Hello")]));
    let image = json!([{"role": "assistant", "parts": [{"type": "image", "content": "AA", "mime_type": "image/png"}]}]);
    let drawn = call(&json!([text("user", "Draw")]), &image);
    // A library's dump of Gemini's response is not what the provider sent.
    let dump = json!({"openinference.span.kind": "LLM",
        "input.value": {"model": "g", "contents": [{"role": "user", "parts": [{"text": "Weather?"}]}]},
        "output.value": {"candidates": [{"content": {"role": "model", "parts": [{"text": "Sunny", "function_call": null}]}, "finish_reason": "STOP"}]}});
    let taken = taken(&otlp(&[("a", good), ("b", drawn), ("c", dump)]));
    let turns = taken.fixture.table.turns();
    assert_eq!(turns.iter().map(|turn| turn.output.text()).collect::<Vec<_>>(), ["Hello", "Sunny"]);
    assert!(turns.iter().all(|turn| turn.wire.is_none()));
    let [refused] = &taken.refused[..] else { panic!("{:?}", taken.refused) };
    assert!(refused.span == "0000000000000002" && refused.reason.starts_with("no API can serve"), "{refused:?}");
}

#[test]
fn a_second_span_of_a_call_without_its_content_is_no_hole() {
    let mut told = call(&json!([text("user", "Hi")]), &json!([text("assistant", "Hello")]));
    let mut silent = json!({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"});
    let overlapping = |told: &Value, silent: &Value| {
        let mut message = otlp(&[("a", told.clone()), ("b", silent.clone())]);
        message["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["endTimeUnixNano"] = json!("1754056615000000000");
        taken(&message).fixture.holes.len()
    };
    assert_eq!(overlapping(&told, &silent), 1, "it may be a call of its own");
    for (name, value) in [("gen_ai.response.id", json!("r1")), ("gen_ai.usage.input_tokens", json!(7))] {
        for span in [&mut told, &mut silent] {
            span[name] = value.clone();
        }
        assert_eq!(overlapping(&told, &silent), 0, "{name}");
        told.as_object_mut().unwrap().remove(name);
    }
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
    let left = named.left(&message).unwrap();
    assert!(left.contains("3 emails, 1 phone number, 1 card number") || left.contains("3 emails"), "{left}");
    let own = vec![regex::Regex::new("order").unwrap()];
    let mut redactor = Redactor::new(&[Personal::Email, Personal::Phone, Personal::Card], own);
    let traces = traces(TraceFormat::Otlp, &message, &mut redactor);
    let taken = traces.take(&[], Path::new("a.json"), BTreeMap::new(), &Rules::default()).unwrap();
    let told = told(&taken, 0);
    let expected = "Mail person1@example.com or +1 555 0100001, card <CARD:1>, <REDACTED:1> 4111 1111 1111 1112; person1@example.com again, person2@example.com";
    assert!(told.contains(expected), "{told}");
    assert!(told.contains("person1@example.com it is"), "{told}");
    assert_eq!(redactor.left(&told), None);
    let paid = json!({"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "pay", "arguments": {"card": 4_111_111_111_111_111_u64}}]});
    let mut other = call(&json!([text("user", "Hi")]), &json!([paid]));
    other["elsewhere"] = json!("4111 1111 1111 1111");
    let mut cards = Redactor::new(&[Personal::Card], Vec::new());
    let traces = self::traces(TraceFormat::Otlp, &otlp(&[("a", other)]).to_string(), &mut cards);
    let taken = traces.take(&[], Path::new("a.json"), BTreeMap::new(), &Rules::default()).unwrap();
    assert!(self::told(&taken, 0).contains(r#""args": {"card": "<CARD:1>"}"#), "{}", self::told(&taken, 0));
    assert_eq!(redactor.replaced(&told), 5);
}
