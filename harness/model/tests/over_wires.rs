//! The model server, tested over each provider's API.

use super::{lookup, on_a_server, post, replay_of};
use crate::*;
use retake_core::conversation::{Answer, Block, Message, Native};
use retake_core::json::Json;
use retake_core::key::{CheckTexts, Rules};
use retake_wire::fixture::{Fixture, Recorded, Wire};
use retake_wire::{self as wire, Api, Body, Known, Response};

fn json(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

/// Makes a turn from a request and a response, as recording does.
pub(crate) fn recorded(api: Api, path: &str, request: &str, response: Response) -> Recorded {
    let rules = Rules::default();
    let call = wire::decode(api, path, &wire::request_body(request.as_bytes()), &Known::default()).unwrap();
    Recorded {
        request: None,
        caller: None,
        conversation: rules.canonical(call.clone().into_messages()),
        texts: Some(CheckTexts::new(&rules.normalizer, &call.system, &call.tools, &call.model, &call.settings).0),
        output: wire::decode_response(api, &response).unwrap(),
        wire: Some(Wire::of(api, response)),
    }
}

fn chat_turn() -> Recorded {
    let response = json(
        r#"{"id": "chatcmpl-1", "model": "gpt", "choices": [{"message": {"content": "hello there"}, "finish_reason": "stop"}]}"#,
    );
    let request = r#"{"messages": [{"role": "user", "content": "q"}]}"#;
    recorded(Api::OpenAiChat, "/v1/chat/completions", request, Response::json(200, response))
}

#[test]
fn a_turn_recorded_over_one_api_is_served_over_each() {
    let messages = r#"{"messages": [{"role": "user", "content": "q"}]}"#;
    let gemini = r#"{"contents": [{"role": "user", "parts": [{"text": "q"}]}]}"#;
    let cases = [
        (Api::OpenAiChat, "/v1/chat/completions", messages),
        (Api::OpenAiResponses, "/v1/responses", r#"{"input": "q"}"#),
        (Api::OpenAiResponses, "/v1/responses", r#"{"input": "q", "stream": true}"#),
        (Api::Anthropic, "/v1/messages", messages),
        (
            Api::Anthropic,
            "/v1/messages?beta=true",
            r#"{"messages": [{"role": "user", "content": "q"}], "stream": true}"#,
        ),
        (Api::Gemini, "/v1beta/models/m:generateContent", gemini),
        (Api::Gemini, "/v1beta/models/m:streamGenerateContent", gemini),
        (Api::Gemini, "/v1beta/models/m:streamGenerateContent?alt=sse", gemini),
        (Api::Ollama, "/api/chat", messages),
        (Api::Ollama, "/api/chat", r#"{"messages": [{"role": "user", "content": "q"}], "stream": false}"#),
    ];
    on_a_server(cases.iter().map(|_| chat_turn()).collect(), async |server, replay| {
        for (api, path, call) in cases {
            let (status, _, body) = post(server, path, server.key(), call).await;
            let kinds = ["application/json", "text/event-stream", "application/x-ndjson"];
            let answers = kinds.map(|kind| Response::received(status, kind, body.clone().into_bytes()));
            let mut answers = answers.iter().filter_map(|response| wire::decode_response(api, response).ok());
            assert_eq!(answers.next().map(|answer| answer.text()).as_deref(), Some("hello there"), "{path}: {body}");
        }
        assert!(replay.all_served());
    });
}

/// A chat turn in whose conversation an assistant message with a `name` calls a tool.
fn named_turn(name: &str) -> Recorded {
    let request = format!(
        r#"{{"messages": [{{"role": "user", "content": "q"}}, {{"role": "assistant", "name": "{name}", "content": null, "tool_calls":
            [{{"id": "c", "type": "function", "function": {{"name": "f", "arguments": "{{}}"}}}}]}},
            {{"role": "tool", "tool_call_id": "c", "content": "sun"}}]}}"#
    );
    let response = json(r#"{"choices": [{"message": {"content": "hello there"}, "finish_reason": "stop"}]}"#);
    recorded(Api::OpenAiChat, "/v1/chat/completions", &request, Response::json(200, response))
}

#[test]
fn a_call_gets_a_turn_whose_key_its_api_cannot_express() {
    let unnamed = r#"{"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "tool_calls":
        [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "c", "content": "sun"}]}"#;
    let anthropic = |result: &str| {
        r#"{"messages": [{"role": "user", "content": "q"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "RESULT"}]}]}"#
            .replace("RESULT", result)
    };
    let gemini = r#"{"contents": [{"parts": [{"text": "q"}]}, {"role": "model", "parts": [{"functionCall": {"name": "f"}}]},
        {"parts": [{"functionResponse": {"name": "f", "response": {"result": "sun"}}}]}]}"#;
    on_a_server(vec![named_turn("ann"), named_turn("ann")], async |server, replay| {
        let status = async |path: &str, call: &str| post(server, path, server.key(), call).await.0;
        assert_eq!(status("/v1/chat/completions", unnamed).await, 404, "this API can carry the name");
        let (missed, _, body) = post(server, "/v1/messages", server.key(), &anthropic("rain")).await;
        assert_eq!(missed, 404);
        assert!(
            body.contains("sun") && body.contains("rain") && !body.contains("ann"),
            "only real differences are reported: {body}"
        );
        assert_eq!(status("/v1/messages", &anthropic("sun")).await, 200);
        assert_eq!(status("/v1beta/models/m:generateContent", gemini).await, 200);
        assert!(replay.all_served());
        let said = server.seat().flaws();
        assert_eq!(said.iter().filter(|flaw| flaw.what.contains("recorded over another API")).count(), 2, "{said:?}");
    });
    on_a_server(vec![named_turn("ann"), named_turn("bob")], async |server, _| {
        let status = post(server, "/v1/messages", server.key(), &anthropic("sun")).await.0;
        assert_eq!(status, 404, "two conversations could be meant");
    });
}

#[test]
fn a_caller_with_turns_over_the_calls_own_api_gets_no_turn_of_another_api() {
    let by = |caller: &str, turn: Recorded| Recorded { caller: Some(caller.to_owned()), ..turn };
    let own = r#"{"messages": [{"role": "user", "content": "other"}]}"#;
    let answer = json(r#"{"type": "message", "content": [{"type": "text", "text": "hi"}], "stop_reason": "end_turn"}"#);
    let own = recorded(Api::Anthropic, "/v1/messages", own, Response::json(200, answer));
    let replay = replay_of(vec![by("a", named_turn("ann")), by("a", own), by("b", named_turn("ann"))]);
    let called = r#"{"messages": [{"role": "user", "content": "q"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "sun"}]}]}"#;
    let call = wire::decode(Api::Anthropic, "/v1/messages", &json(called), &Known::default()).unwrap();
    let ask = |caller: &str| {
        let conversation = Rules::default().canonical(call.clone().into_messages());
        let lookup =
            Lookup { api: Some(Api::Anthropic), conversation: conversation.into(), ..lookup(Some(caller), "", "") };
        replay.take(None, &lookup, None).map(|served| served.index).ok()
    };
    assert_eq!(ask("a"), None);
    assert_eq!(ask("b"), Some(2));
}

#[test]
fn an_error_is_in_the_providers_envelope() {
    on_a_server(vec![], async |server, _| {
        let cases = [
            ("/v1/messages", r#"{"messages": [{"role": "user"}]}"#, "/error/type", "replay_miss"),
            ("/v1/messages", "{}", "/type", "error"),
            ("/v1/messages/count_tokens", "{}", "/type", "error"),
            ("/v1beta/models/m:generateContent", r#"{"contents": [{}]}"#, "/error/status", "replay_miss"),
            ("/v1/responses", r#"{"input": "q"}"#, "/error/code", "replay_miss"),
        ];
        for (path, call, pointer, expected) in cases {
            let (_, retry, body) = post(server, path, server.key(), call).await;
            assert_eq!(json(&body).pointer(pointer), Some(&expected.into()), "{path}: {body}");
            assert_eq!(retry.as_deref(), Some("false"));
        }
        let ollama = post(server, "/api/chat", server.key(), r#"{"messages": [{"role": "user"}]}"#).await.2;
        assert!(json(&ollama).str_of("error").unwrap().starts_with("replay_miss: replay miss"), "{ollama}");
    });
}

#[test]
fn a_block_that_an_api_cannot_express_is_named_and_registered() {
    let search = Native { api: "openai-responses".into(), block: json(r#"{"type": "web_search_call"}"#) };
    let output = Answer { blocks: vec![Block::Native(search)], ..Answer::default() };
    on_a_server(vec![Recorded { output, ..chat_turn() }], async |server, replay| {
        let call = r#"{"messages": [{"role": "user", "content": "q"}]}"#;
        let (status, _, body) = post(server, "/v1/messages", server.key(), call).await;
        assert_eq!((status, json(&body).pointer("/error/type")), (404, Some(&"replay_unrenderable".into())));
        let named = "the API anthropic cannot express the block `web_search_call` of openai-responses";
        assert!(body.contains(named) && body.contains("turn 1 of fixtures/a.json"), "{body}");
        assert!(matches!(replay.scope().misses()[0].reason, MissReason::Unrenderable { .. }));
    });
}

#[test]
fn a_request_may_refer_to_an_earlier_response_by_its_id() {
    let response = json(
        r#"{"id": "resp_1", "status": "completed", "output": [{"type": "message", "id": "msg_1", "role": "assistant",
            "content": [{"type": "output_text", "text": "a"}]}]}"#,
    );
    let first = recorded(Api::OpenAiResponses, "/v1/responses", r#"{"input": "q"}"#, Response::json(200, response));
    let history = [Message::new("human", "q"), Message::new("ai", "a"), Message::new("human", "and?")];
    let again = || Recorded { conversation: Rules::default().canonical(history.to_vec()), ..chat_turn() };
    on_a_server(vec![first, again(), again()], async |server, replay| {
        let post = async |call: &str| post(server, "/v1/responses", server.key(), call).await;
        assert_eq!(post(r#"{"input": "q"}"#).await.0, 200);
        let (status, _, body) = post(r#"{"previous_response_id": "resp_1", "input": "and?"}"#).await;
        assert_eq!(status, 200, "{body}");
        let call = r#"{"input": [{"role": "user", "content": "q"}, {"type": "item_reference", "id": "msg_1"},
            {"role": "user", "content": "and?"}]}"#;
        assert_eq!(post(call).await.0, 200);
        assert!(replay.all_served());
    });
}

#[test]
fn ollamas_description_of_a_model_is_not_a_miss() {
    on_a_server(vec![chat_turn()], async |server, replay| {
        // LiteLLM sends this request without the key.
        for key in [server.key(), ""] {
            let (status, _, body) = post(server, "/api/show", key, r#"{"model": "qwen3:8b"}"#).await;
            assert_eq!((status, json(&body).pointer("/capabilities/1")), (200, Some(&"tools".into())), "{body}");
        }
        assert!(replay.scope().misses().is_empty());
    });
    // A recorded description is replayed.
    let shown = Response::json(200, json(r#"{"capabilities": ["completion"]}"#));
    let request = r#"{"model": "qwen3:8b"}"#;
    on_a_server(vec![recorded(Api::Opaque, "/api/show", request, shown)], async |server, replay| {
        let (_, _, body) = post(server, "/api/show", server.key(), request).await;
        assert_eq!(body, r#"{"capabilities":["completion"]}"#);
        assert!(replay.all_served());
    });
}

#[test]
fn requests_other_than_chats_are_replayed_by_path_and_body() {
    let vectors = Response::json(200, json(r#"{"data": [{"embedding": [0.5]}]}"#));
    let sound = Response::of(200, "audio/mpeg", Body::Binary(vec![0xff, 0xfb]));
    let turns = vec![
        recorded(Api::Opaque, "/v1/embeddings", r#"{"model": "m", "input": "a"}"#, vectors),
        recorded(Api::Opaque, "/v1/audio/speech", r#"{"input": "b"}"#, sound),
    ];
    // The fixture is printed and parsed again.
    let rules = Rules::default();
    let fixture = Fixture::of_turns("f".as_ref(), std::collections::BTreeMap::new(), turns.clone(), &rules);
    let text = fixture.print();
    assert!(text.contains("\"api\": \"opaque\"") && text.contains("\"base64\": \"//s=\""), "{text}");
    assert_eq!(Fixture::parse("f".as_ref(), text.as_bytes(), &rules).unwrap().print(), text);

    on_a_server(turns, async |server, replay| {
        let call = r#"{"input":"a","model":"m"}"#;
        let served = post(server, "/v1/embeddings?api-version=1", server.key(), call).await;
        assert_eq!(served, (200, None, r#"{"data":[{"embedding":[0.5]}]}"#.into()));
        let served = post(server, "/v1/audio/speech", server.key(), r#"{"input": "b"}"#).await;
        assert_eq!((served.0, served.2.is_empty()), (200, false));
        let (status, _, body) = post(server, "/v1/rerank", server.key(), "{}").await;
        assert_eq!(status, 404);
        let error = json(&body);
        let message = error.pointer("/error/message").and_then(Json::as_str).unwrap();
        assert!(message.contains("`POST /v1/rerank` is reranking, replayed by its whole body"), "{message}");
        assert_eq!(replay.scope().misses().len(), 1);
    });
}
