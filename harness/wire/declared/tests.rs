use super::*;
use crate::fixture::{Fixture, Recorded, Wire};
use crate::{Api, Call, Known, Response, Target, decode, decode_response, read_body};
use retake_core::conversation::Answer;
use retake_core::key::Rules;

fn call(path: &str, body: &str) -> Call {
    let (api, body) = read_body(Target::from(path), body.as_bytes()).unwrap();
    decode(api, path, &body, &Known::default()).unwrap()
}

fn key(call: Call) -> String {
    let rules = Rules::default();
    rules.conversation_hash(&rules.canonical(call.into_messages())).to_string()
}

fn answer(path: &str, content_type: &str, body: &str) -> Answer {
    let response = Response::received(200, content_type, body.as_bytes().to_vec());
    decode_response(crate::api_of_path(path).unwrap(), &response).unwrap()
}

const INTERACTIONS: &str = "/v1beta/interactions";
const RAW: &str = "/v1/projects/p/locations/l/publishers/anthropic/models/claude-x:rawPredict";

#[test]
fn each_file_declares_apis_with_paths_messages_and_texts() {
    let names: Vec<&str> = KNOWN.iter().map(|api| api.name.as_str()).collect();
    let expected = [
        "cohere",
        "gemini-interactions",
        "mistral-conversations",
        "mistral-fim",
        "mistral-agents",
        "openai-completions",
        "vertex-raw-predict",
    ];
    assert_eq!(names, expected);
    for api in KNOWN.iter() {
        assert!(!api.path.is_empty() && !api.messages.is_empty() && !api.text.is_empty(), "{api:?}");
        assert!(api.usage.iter().take(2).all(|count| !count.is_empty()), "{api:?}");
        assert_eq!(Api::from_name(&api.name), Some(Api::Declared(api)));
    }
}

#[test]
fn what_is_declared_moves_from_the_key_to_the_checks() {
    let first = r#"{"model": "m", "input": "hi", "system_instruction": "Be brief.", "tools": [{"type": "function", "name": "f"}],
        "generation_config": {"temperature": 0}}"#;
    let sent = call(INTERACTIONS, first);
    assert_eq!((sent.model.as_str(), sent.system.as_str(), sent.stream), ("m", "Be brief.", false));
    assert_eq!(sent.settings.print(retake_core::json::Layout::Compact), r#"{"generation_config":{"temperature":0}}"#);
    assert!(sent.tools.is_truthy() && sent.form.str_of("version") == Some("v1beta"));
    let others = [
        first.replace("Be brief.", "Be long."),
        first.replace("\"m\"", "\"n\""),
        first.replace("\"f\"", "\"g\""),
        first.replace(": 0", ": 1"),
        first.replace(
            "\"input\": \"hi\"",
            r#""stream": true, "input": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]"#,
        ),
        first.replace("\"input\": \"hi\"", r#""input": [{"type": "text", "text": "hi"}]"#),
    ];
    for other in &others {
        assert_eq!(key(call(INTERACTIONS, other)), key(sent.clone()), "{other}");
    }
    assert!(call(INTERACTIONS, &others[4]).stream);
    for other in
        [first.replace("\"hi\"", "\"ho\""), first.replace("\"m\"", "\"m\", \"previous_interaction_id\": \"v1_x\"")]
    {
        assert_ne!(key(call(INTERACTIONS, &other)), key(sent.clone()), "{other}");
    }
}

#[test]
fn roles_and_what_else_stands_in_a_message_are_kept() {
    let body = r#"{"model": "command", "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"},
        {"role": "assistant", "tool_plan": "look", "tool_calls": [{"id": "c", "function": {"name": "f"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "sun"}]}"#;
    let sent = call("/v2/chat", body);
    let kinds: Vec<&str> = sent.messages.iter().map(|message| &*message.kind).collect();
    assert_eq!(kinds, ["system", "human", "ai", "tool"]);
    assert_eq!(sent.system, "Be brief.");
    assert_eq!(key(call("/v2/chat", &body.replace("Be brief.", "Be long."))), key(sent.clone()));
    for (was, is) in [("sun", "rain"), ("look", "see"), ("\"f\"", "\"g\"")] {
        assert_ne!(key(call("/v2/chat", &body.replace(was, is))), key(sent.clone()), "{was}");
    }
}

#[test]
fn a_path_may_name_the_model_and_a_body_of_another_api_is_opaque() {
    let sent =
        call(RAW, r#"{"anthropic_version": "vertex-2023-10-16", "messages": [{"role": "user", "content": "hi"}]}"#);
    assert_eq!((sent.model.as_str(), sent.api.name()), ("claude-x", "vertex-raw-predict"));
    let streamed = RAW.replace(":rawPredict", ":streamRawPredict?alt=sse");
    let streamed = call(&streamed, r#"{"messages": [{"role": "user", "content": "hi"}], "stream": true}"#);
    assert!(streamed.stream);
    assert_eq!(key(sent), key(streamed));
    assert_eq!(call(RAW, r#"{"instances": [1]}"#).api, Api::Opaque);
    // OpenAI's conversations have Mistral's path.
    assert_eq!(call("/v1/conversations", r#"{"items": []}"#).api, Api::Opaque);
    assert_eq!(call("/v1/conversations", r#"{"model": "m", "inputs": "hi"}"#).api.name(), "mistral-conversations");
    let deployed = "/openai/deployments/d/completions?api-version=1";
    assert_eq!(call(deployed, r#"{"prompt": "It is"}"#).api.name(), "openai-completions");
    assert_eq!(call("/v1/fim/completions", r#"{"model": "m", "prompt": "fn "}"#).api.name(), "mistral-fim");
    assert_eq!(crate::api_of_path("/v1/interactions/abc"), None);
    assert_eq!(crate::api_of_path("/v1/publishers/anthropic/models/count-tokens:rawPredict"), None);
    assert_eq!(crate::api_of_path("/publishers/anthropic/models/:rawPredict"), None);
}

#[test]
fn texts_and_tokens_are_read_from_whole_bodies_and_streams() {
    let sse = |events: &[&str]| events.iter().map(|event| crate::parts::sse::frame(event)).collect::<String>();
    let cases = [
        (INTERACTIONS, r#"{"outputs": [{"type": "thought", "signature": "s"}, {"type": "text", "text": "a b"}],
            "usage": {"total_input_tokens": 7, "total_output_tokens": 3}}"#.to_owned()),
        (INTERACTIONS, sse(&[r#"{"event_type": "interaction.start"}"#, r#"{"delta": {"type": "text", "text": "a "}}"#,
            r#"{"delta": {"type": "text", "text": "b"}}"#,
            r#"{"event_type": "interaction.complete", "interaction": {"usage": {"total_input_tokens": 7, "total_output_tokens": 3}}}"#, "[DONE]"])),
        ("/v2/chat", r#"{"message": {"content": [{"type": "text", "text": "a b"}]}, "usage": {"tokens": {"input_tokens": 7, "output_tokens": 3}}}"#.to_owned()),
        ("/v2/chat", sse(&[r#"{"type": "content-delta", "delta": {"message": {"content": {"text": "a "}}}}"#,
            r#"{"type": "content-delta", "delta": {"message": {"content": {"text": "b"}}}}"#,
            r#"{"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": {"tokens": {"input_tokens": 7, "output_tokens": 3}}}}"#])),
        (RAW, r#"{"content": [{"type": "text", "text": "a b"}], "usage": {"input_tokens": 7, "output_tokens": 3}}"#.to_owned()),
        (RAW, sse(&[r#"{"type": "message_start", "message": {"usage": {"input_tokens": 7}}}"#,
            r#"{"type": "content_block_delta", "delta": {"type": "text_delta", "text": "a "}}"#,
            r#"{"type": "content_block_delta", "delta": {"type": "text_delta", "text": "b"}}"#,
            r#"{"type": "message_delta", "usage": {"output_tokens": 3}}"#])),
        ("/v1/completions", sse(&[r#"{"choices": [{"text": "a "}]}"#, r#"{"choices": [{"text": "b"}]}"#,
            r#"{"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}"#, "[DONE]"])),
        ("/v1/conversations", r#"{"outputs": [{"content": "a b"}], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}"#.to_owned()),
    ];
    for (path, body) in cases {
        let read = answer(path, "application/json", &body);
        let usage = read.usage.unwrap();
        assert_eq!((read.text().as_str(), usage.input, usage.output), ("a b", 7, 3), "{path}: {body}");
    }
    let failed =
        Response::received(200, "text/event-stream", sse(&[r#"{"error": {"message": "overloaded"}}"#]).into_bytes());
    let error = decode_response(crate::api_of_path(INTERACTIONS).unwrap(), &failed).unwrap_err();
    assert!(error.by_provider && error.to_string().contains("overloaded"), "{error}");
}

#[test]
fn a_turn_that_was_recorded_as_a_whole_is_carried_over() {
    let body = r#"{"model": "m", "input": "hi", "system_instruction": "Be brief."}"#;
    let response =
        Response::received(200, "application/json", br#"{"outputs": [{"type": "text", "text": "Hello."}]}"#.to_vec());
    let (rules, known) = (Rules::default(), &mut Known::default());
    let parsed = Json::parse(body.as_bytes()).unwrap();
    let whole = crate::fixture::Exchange {
        api: Api::Opaque,
        target: INTERACTIONS.into(),
        request: &parsed,
        headers: &Json::Null,
        response: &response,
    };
    let recorded = Recorded::of(&whole, Answer::default(), |_| Some("lead".into()), &rules, known).unwrap();
    let file = std::path::Path::new("f.json");
    let before = Fixture::of_turns(file, std::collections::BTreeMap::default(), vec![recorded], &rules).print();
    assert!(before.contains("\"api\": \"opaque\""), "{before}");
    let after = Fixture::carried_over(file, before.as_bytes(), &rules).unwrap();
    let [turn] = after.table.turns() else { panic!() };
    assert_eq!((turn.output.text().as_str(), turn.caller.as_deref()), ("Hello.", Some("lead")));
    assert_eq!(turn.key.conversation_hash.to_string(), key(call(INTERACTIONS, &body.replace("brief", "long"))));
    assert_eq!(turn.wire, Some(Wire::of(crate::api_of_path(INTERACTIONS).unwrap(), response)));
    let again = Fixture::carried_over(file, after.print().as_bytes(), &rules).unwrap();
    assert_eq!(again.print(), after.print());
}
