//! Recording a replay yields the same recording: the same keys, answers and frames, over each API, streamed or not.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;

use super::recorder::Recording;
use crate::*;
use retake_core::conversation::{Answer, Block, Finish, ToolCall, Usage};
use retake_core::json::Json;
use retake_core::key::Rules;
use retake_core::secrets::Fired;
use retake_wire::fixture::call_log::{self, CallLog, LoggedCall};
use retake_wire::fixture::{Fixture, Table};
use retake_wire::{self as wire, Api, Known, Response};

/// A call as a client sends it, and its response.
struct Exchange {
    api: Api,
    path: &'static str,
    body: String,
    response: Response,
}

/// Two requests: a question that is answered with a tool call, and the same conversation with the tool's result.
fn conversation(api: Api, stream: bool) -> [String; 2] {
    let (system, question) = (r#"{"role":"system","content":"Be brief"}"#, r#"{"role":"user","content":"look"}"#);
    let chat = |more: &str| format!(r#"{{"model":"m","stream":{stream},"messages":[{system},{question}{more}]}}"#);
    match api {
        Api::OpenAiChat => [
            chat(""),
            chat(
                r#",{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"look","arguments":"{\"at\": \"x\"}"}}]},{"role":"tool","tool_call_id":"call_1","content":"found"}"#,
            ),
        ],
        Api::Ollama => [
            chat(""),
            chat(
                r#",{"role":"assistant","content":"","tool_calls":[{"function":{"name":"look","arguments":{"at":"x"}}}]},{"role":"tool","tool_name":"look","content":"found"}"#,
            ),
        ],
        Api::OpenAiResponses => ["", r#",{"type":"function_call","call_id":"call_1","name":"look","arguments":"{\"at\":\"x\"}"},{"type":"function_call_output","call_id":"call_1","output":"found"}"#]
            .map(|more| format!(r#"{{"model":"m","stream":{stream},"instructions":"Be brief","input":[{question}{more}]}}"#)),
        Api::Anthropic => ["", r#",{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"look","input":{"at":"x"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"found"}]}"#]
            .map(|more| format!(r#"{{"model":"m","max_tokens":9,"stream":{stream},"system":"Be brief","messages":[{question}{more}]}}"#)),
        Api::Gemini => ["", r#",{"role":"model","parts":[{"functionCall":{"name":"look","args":{"at":"x"}}}]},{"role":"user","parts":[{"functionResponse":{"name":"look","response":{"result":"found"}}}]}"#]
            .map(|more| format!(r#"{{"contents":[{{"role":"user","parts":[{{"text":"look"}}]}}{more}]}}"#)),
        Api::Bedrock => ["", r#",{"role":"assistant","content":[{"toolUse":{"toolUseId":"call_1","name":"look","input":{"at":"x"}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"call_1","content":[{"text":"found"}]}}]}"#]
            .map(|more| format!(r#"{{"system":[{{"text":"Be brief"}}],"messages":[{{"role":"user","content":[{{"text":"look"}}]}}{more}]}}"#)),
        Api::BedrockInvoke => conversation(Api::Anthropic, stream)
            .map(|body| body.replace(r#""model":"m""#, r#""anthropic_version":"bedrock-2023-05-31""#).replace(&format!(r#""stream":{stream},"#), "")),
        Api::Declared(_) | Api::Opaque => [r#"{"model":"e","input":["a"]}"#, r#"{"model":"e","input":["b"]}"#].map(str::to_owned),
    }
}

fn exchanges() -> Vec<Exchange> {
    let paths = [
        (Api::OpenAiChat, ["/v1/chat/completions", "/v1/chat/completions"]),
        (Api::OpenAiResponses, ["/v1/responses", "/v1/responses"]),
        (Api::Anthropic, ["/v1/messages", "/v1/messages?beta=true"]),
        (Api::Gemini, ["/v1beta/models/m:generateContent", "/v1beta/models/m:streamGenerateContent?alt=sse"]),
        (Api::Gemini, ["/v1beta/models/m:generateContent", "/v1beta/models/m:streamGenerateContent"]),
        (Api::Bedrock, ["/model/m/converse", "/model/m/converse-stream"]),
        (Api::BedrockInvoke, ["/model/m/invoke", "/model/m/invoke-with-response-stream"]),
        (Api::Ollama, ["/api/chat", "/api/chat"]),
    ];
    let call =
        ToolCall { id: "call_1".to_owned(), name: "look".to_owned(), args: Json::object([("at", Json::from("x"))]) };
    let answers = [
        Answer { blocks: vec![Block::ToolCall(call)], finish: Some(Finish::ToolCalls), ..Answer::default() },
        Answer {
            blocks: vec![Block::Text("Here it is: \u{1f600} found, and more words.".to_owned())],
            finish: Some(Finish::Stop),
            usage: Some(Usage { input: 12, output: 7, ..Usage::default() }),
            ..Answer::default()
        },
    ];
    let mut all = Vec::new();
    for (api, paths) in paths {
        for (stream, path) in [false, true].into_iter().zip(paths) {
            for (body, answer) in conversation(api, stream).into_iter().zip(&answers) {
                let json = Json::parse(body.as_bytes()).unwrap();
                let call = wire::decode(api, path, &json, &Known::default()).unwrap();
                assert_eq!(call.stream, stream, "{path}");
                let response = wire::render(answer, &call.render_for("5eed")).unwrap();
                all.push(Exchange { api, path, body, response });
            }
        }
    }
    let embedding = |n: f64| Json::object([("data", Json::from(vec![Json::Float(n)]))]);
    let frames = ["event: a\ndata: {\"b\": 1}\n\n", ": ping\n\n", "data: plain\r\n\r\n"].map(str::to_owned);
    let opaque = [
        ("/v1/embeddings", Response::json(200, embedding(0.25))),
        ("/v1/completions", Response::stream(frames.into())),
        ("/v1/audio/speech", Response::received(200, "audio/mpeg", vec![0xff, 0xfb, 0x90, 0])),
        ("/v1/audio/transcriptions", Response::received(200, "text/plain; charset=utf-8", b"hello\n".to_vec())),
    ];
    all.extend(
        opaque
            .into_iter()
            .zip(conversation(Api::Opaque, false).into_iter().cycle())
            .map(|((path, response), body)| Exchange { api: Api::Opaque, path, body, response }),
    );
    all
}

/// Makes a fixture from a journal of these exchanges.
fn fixture_of(exchanges: &[Exchange]) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("j.jsonl");
    let journal = CallLog::create(&file).unwrap();
    for (began, exchange) in exchanges.iter().enumerate() {
        let entry = LoggedCall {
            at: None,
            began,
            ended: began + 1,
            api: exchange.api,
            caller: None,
            method: "POST".to_owned(),
            path: exchange.path.split('?').next().unwrap().to_owned(),
            request: Json::parse(exchange.body.as_bytes()).unwrap(),
            headers: Json::Null,
            response: exchange.response.clone(),
            cut: None,
            errors: false,
            scrub: Fired::new(),
            places: Arc::default(),
        };
        journal.append(&entry).unwrap();
    }
    let made = call_log::to_fixture(
        None,
        &file,
        "f.json".as_ref(),
        BTreeMap::new(),
        &Rules::default(),
        &retake_core::secrets::Scrub::known(),
    )
    .unwrap();
    assert_eq!(made.left_out, [""; 0]);
    made.fixture
}

#[test]
fn recording_a_replay_yields_the_same_recording() {
    let exchanges = exchanges();
    let original = fixture_of(&exchanges);
    assert_eq!(original.table.turns().len(), exchanges.len());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        // The APIs are replayed one after the other, because the same conversation has the same key over several of them.
        let mut again: Vec<Fixture> = Vec::new();
        for one in exchanges.chunk_by(|a, b| a.api == b.api && a.path == b.path) {
            let fixture = fixture_of(one);
            let replay = Arc::new(Replay::new(Arc::new(fixture.clone()), Arc::default(), Scope::new("provider")));
            let options = ServerOptions { key: Some("the-provider-s-key".to_owned()), ..ServerOptions::default() };
            let provider = ModelServer::start(Mode::Replay(replay.clone()), options).await.unwrap();
            let urls = provider.urls();
            // As the relay does, this adds the provider's key.
            let behind = super::recorder::provider(Router::new().fallback(async move |call: Request| {
                let (parts, body) = call.into_parts();
                let url = format!("{}{}", urls.url, parts.uri);
                let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
                let sent =
                    reqwest::Client::new().request(parts.method, url).bearer_auth("the-provider-s-key").body(body);
                axum::http::Response::from(sent.send().await.unwrap()).map(axum::body::Body::new)
            }));
            let recording = Recording::of(behind.await, false, &[]).await;
            for Exchange { path, body, response, .. } in one {
                let (url, key) = (format!("{}{path}", recording.server.urls().url), recording.server.key());
                let sent = reqwest::Client::new().post(url).bearer_auth(key).body(body.clone()).send().await.unwrap();
                assert_eq!(sent.status().as_u16(), response.status, "{path}");
                assert_eq!(sent.headers()["content-type"], response.content_type.as_str(), "{path}");
                assert_eq!(sent.bytes().await.unwrap(), response.bytes(), "{path}");
            }
            assert!(replay.all_served() && recording.recorder.troubles().is_empty());
            let mut made = recording.made();
            assert_eq!(made.left_out, [""; 0]);
            // Only the day is another one.
            made.fixture.recorded = fixture.recorded;
            assert_eq!(made.fixture.print(), fixture.print(), "{}", one[0].path);
            again.push(made.fixture);
        }
        let again: Vec<_> =
            again.iter().flat_map(|fixture| fixture.table.turns().iter().map(|turn| turn.key)).collect();
        let table: &Table = &original.table;
        assert_eq!(again, table.turns().iter().map(|turn| turn.key).collect::<Vec<_>>());
    });
}
