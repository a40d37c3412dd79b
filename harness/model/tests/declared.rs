//! Calls over APIs that are declared, and turns that were recorded as a whole before.

use super::over_wires::recorded;
use super::{on_a_server, post};
use retake_core::json::Json;
use retake_core::key::Check;
use retake_wire::{self as wire, Api, Response};

const PATH: &str = "/v1beta/interactions";
const CALL: &str = r#"{"model": "m", "system_instruction": "Be brief.", "input": [{"role": "user", "content": "first"},
    {"role": "model", "content": "one"}, {"role": "user", "content": "Where is it?"}]}"#;

/// The other forms that come declared: path, call and answer.
const OTHERS: [(&str, &str, &str); 2] = [
    (
        "/v2/chat",
        r#"{"model": "m", "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "first"},
            {"role": "assistant", "content": "one"}, {"role": "user", "content": "Where is it?"}]}"#,
        r#"{"message": {"content": [{"type": "text", "text": "Here."}]}}"#,
    ),
    (
        "/v1/projects/p/locations/l/publishers/anthropic/models/claude:rawPredict",
        r#"{"anthropic_version": "vertex-2023-10-16", "system": "Be brief.", "messages": [
            {"role": "user", "content": "first"}, {"role": "assistant", "content": "one"},
            {"role": "user", "content": "Where is it?"}]}"#,
        r#"{"content": [{"type": "text", "text": "Here."}]}"#,
    ),
];

#[test]
fn what_comes_declared_drifts_misses_and_breaks_as_what_is_spoken() {
    for (path, call, answer) in OTHERS {
        let api = wire::api_of_path(path).unwrap();
        let response = Response::json(200, Json::parse(answer.as_bytes()).unwrap());
        on_a_server(vec![recorded(api, path, call, response)], async |server, replay| {
            assert_eq!(post(server, path, server.key(), &call.replace("brief", "long")).await.0, 200);
            let drift: Vec<Check> = server.seat().drift().into_iter().map(|(_, drift)| drift.check).collect();
            assert_eq!(drift, [Check::Prompt], "{path}");
            assert!(replay.all_served());
            let (status, _, body) =
                post(server, path, server.key(), &call.replace("Where is it", "Where was it")).await;
            assert!(status == 404 && body.contains("(human)") && body.contains("was"), "{body}");
        });
    }
}

fn response() -> Response {
    let body = Json::parse(br#"{"outputs": [{"type": "text", "text": "Here."}]}"#).unwrap();
    Response::json(200, body)
}

#[test]
fn an_edited_prompt_is_a_note_and_a_changed_message_a_miss_that_names_it() {
    let api = wire::api_of_path(PATH).unwrap();
    let turns = vec![recorded(api, PATH, CALL, response()), recorded(api, PATH, CALL, response())];
    on_a_server(turns, async |server, replay| {
        let (status, _, body) = post(server, PATH, server.key(), CALL).await;
        assert_eq!((status, body.as_str()), (200, r#"{"outputs":[{"text":"Here.","type":"text"}]}"#));
        let edited = CALL.replace("brief", "long").replace("\"m\"", "\"n\"");
        assert_eq!(post(server, PATH, server.key(), &edited).await.0, 200);
        let drift: Vec<Check> = server.seat().drift().into_iter().map(|(_, drift)| drift.check).collect();
        assert_eq!(drift, [Check::Prompt, Check::Model]);
        assert!(replay.all_served());
        let (status, _, body) = post(server, PATH, server.key(), &CALL.replace("Where is it", "Where was it")).await;
        assert_eq!(status, 404);
        assert!(body.contains("message 3 of 3 (human)") && body.contains("was"), "{body}");
        let more = CALL.replace("\"m\",", "\"m\", \"previous_interaction_id\": \"x\",");
        let (_, _, body) = post(server, PATH, server.key(), &more).await;
        assert!(body.contains("fields") && body.contains("previous_interaction_id"), "{body}");
    });
}

#[test]
fn a_turn_that_was_recorded_as_a_whole_is_still_found_by_its_whole_body() {
    on_a_server(vec![recorded(Api::Opaque, PATH, CALL, response())], async |server, replay| {
        let (status, _, body) = post(server, PATH, server.key(), &CALL.replace("brief", "long")).await;
        assert_eq!(status, 404, "{body}");
        assert_eq!(post(server, PATH, server.key(), CALL).await.0, 200);
        assert!(replay.all_served());
    });
}

#[test]
fn an_answer_of_another_api_is_not_rendered_and_the_error_says_why() {
    let chat = r#"{"messages": [{"role": "user", "content": "hi"}]}"#;
    let body = Json::parse(br#"{"choices": [{"message": {"content": "Hello."}, "finish_reason": "stop"}]}"#).unwrap();
    let turn = recorded(Api::OpenAiChat, "/v1/chat/completions", chat, Response::json(200, body));
    on_a_server(vec![turn], async |server, _| {
        let (status, _, body) = post(server, "/v2/chat", server.key(), chat).await;
        assert_eq!(status, 404);
        assert!(body.contains("the API cohere cannot express") && body.contains("declared, not spoken"), "{body}");
    });
}

#[test]
fn paths_are_known_and_opaque_or_unknown_or_wrong() {
    let cases = [
        ("/v1/embeddings", "is embeddings, replayed by its whole body, and was not recorded with this body"),
        ("/v1/audio/speech", "is speech, replayed by its whole body"),
        ("/llm/ask", "which is not a path of a model that Retake knows"),
        ("/chat", "which is not a path of a model that Retake knows: is a base URL wrong?"),
        ("/v1/responses/resp_1/cancel", "is a response, asked for by its id, replayed by its whole body"),
        ("/v1/batches", "is batches, replayed by its whole body"),
        ("/api/v1/chat", "is LM Studio's own chat, replayed by its whole body"),
        ("/v1/v1/responses", "which is not a path of a model that Retake knows: is a base URL wrong?"),
    ];
    let turn = || recorded(wire::api_of_path(PATH).unwrap(), PATH, CALL, response());
    on_a_server(vec![turn()], async |server, replay| {
        for (path, said) in cases {
            let (_, _, body) = post(server, path, server.key(), "{}").await;
            let told: String = replay.scope().misses().iter().map(ToString::to_string).collect();
            assert!(body.contains(said) || told.contains(said), "{path}: {body}\n{told}");
        }
    });
}
