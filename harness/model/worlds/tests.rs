use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::*;
use crate::{GoingOn, Mode, ModelServer, Replay, Scope, ServerOptions};
use retake_core::conversation::{Answer, Block, Finish, ToolCall};
use retake_core::json::Json;
use retake_core::key::{CheckTexts, Rules};
use retake_wire::fixture::{Fixture, Recorded, Wire};
use retake_wire::{self as wire, Known};

const TEXT: &str = "I wrote the note. It says: grüße, 你好, and a good deal more than that.";

/// Each API with a request for a stream and one for a whole body.
fn requests() -> Vec<(Api, &'static str, String)> {
    let schema = r#"{"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}"#;
    let function = format!(r#"{{"name": "write", "parameters": {schema}}}"#);
    let tool = format!(r#"{{"type": "function", "function": {function}}}"#);
    let say = r#""messages": [{"role": "user", "content": "q"}]"#;
    let contents = r#""contents": [{"role": "user", "parts": [{"text": "q"}]}]"#;
    let mut all = Vec::new();
    for stream in [true, false] {
        let gemini = if stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
        let gemini: &'static str = format!("/v1beta/models/m:{gemini}").leak();
        all.extend([
            (Api::OpenAiChat, "/v1/chat/completions", format!(r#"{{{say}, "tools": [{tool}], "stream": {stream}}}"#)),
            (
                Api::OpenAiResponses,
                "/v1/responses",
                format!(r#"{{"input": "q", "tools": [{function}], "stream": {stream}}}"#),
            ),
            (
                Api::Anthropic,
                "/v1/messages",
                format!(r#"{{{say}, "tools": [{{"name": "write", "input_schema": {schema}}}], "stream": {stream}}}"#),
            ),
            (Api::Gemini, gemini, format!(r#"{{{contents}, "tools": [{{"functionDeclarations": [{function}]}}]}}"#)),
            (Api::Ollama, "/api/chat", format!(r#"{{{say}, "tools": [{tool}], "stream": {stream}}}"#)),
        ]);
    }
    all
}

fn call_of(api: Api, path: &str, request: &str) -> Call {
    wire::decode(api, path, &wire::request_body(request.as_bytes()), &Known::default()).unwrap()
}

/// A turn that says something and calls a tool, as its provider sends it.
fn turn_of(call: &Call) -> Recorded {
    let args = Json::object([("path", Json::from("note.txt")), ("text", "a text of some length, to be cut".into())]);
    let tool = ToolCall { id: "call_1".to_owned(), name: "write".to_owned(), args };
    let answer = Answer {
        id: Some("a1".to_owned()),
        model: Some("m".to_owned()),
        blocks: vec![Block::Text(TEXT.to_owned()), Block::ToolCall(tool)],
        finish: Some(Finish::ToolCalls),
        usage: None,
    };
    let response = wire::render(&answer, &call.render_for("00")).unwrap();
    let rules = Rules::default();
    Recorded {
        request: None,
        caller: None,
        conversation: rules.canonical(call.messages.iter().cloned().map(Into::into).collect()),
        texts: Some(CheckTexts::new(&rules.normalizer, &call.system, &call.tools, &call.model, &call.settings).into()),
        output: wire::decode_response(call.api, &response).unwrap(),
        wire: Some(Wire::of(call.api, response)),
    }
}

fn fixture_of(turns: Vec<Recorded>) -> Arc<Fixture> {
    Arc::new(Fixture::of_turns(Path::new("f.json"), [].into(), turns, &Rules::default()))
}

/// What is sent, as the response that a client gets.
fn received(sent: &Sent) -> Response {
    Response::received(sent.status, &sent.content_type, sent.pieces.concat())
}

fn each(check: impl Fn(&Call, &Turn, &Response)) {
    for (api, path, request) in requests() {
        let call = call_of(api, path, &request);
        let fixture = fixture_of(vec![turn_of(&call)]);
        let turn = &fixture.table.turns()[0];
        check(&call, turn, &turn.wire.as_ref().unwrap().response);
    }
}

#[test]
fn each_api_can_fail_in_each_way_that_it_knows() {
    each(|call, turn, response| {
        let possible = possible(turn, call, call.api, response);
        let kinds: BTreeSet<FaultKind> = possible.iter().map(|fault| fault.kind).collect();
        let mut missing: Vec<&str> =
            FaultKind::ALL.into_iter().filter(|kind| !kinds.contains(kind)).map(FaultKind::name).collect();
        let of_calls = |name: &&str| FaultKind::of_word(name).unwrap()[0].side() == "model" && *name != "order";
        missing.retain(of_calls);
        let expected: &[&str] = match (call.api, call.stream) {
            (Api::OpenAiChat | Api::Anthropic, true) => &["no-parts"],
            (Api::OpenAiResponses, true) => &["no-parts", "framing-between"],
            (Api::Gemini, true) => &["framing-between"],
            // Its calls of tools come whole, and its frames are lines.
            (Api::Ollama, true) => &["no-parts", "content-filter", "bad-arguments", "framing-crlf", "framing-between"],
            (api, _) => {
                let of_streams = "stall cut-clean error-event framing-whole framing-crlf framing-between";
                let of_api = match api {
                    Api::Gemini => "",
                    Api::Anthropic => "no-parts bad-arguments",
                    Api::Ollama => "no-parts bad-arguments content-filter",
                    _ => "no-parts",
                };
                let all: BTreeSet<&str> = of_streams.split(' ').chain(of_api.split_whitespace()).collect();
                assert_eq!(missing.into_iter().collect::<BTreeSet<_>>(), all, "{api}");
                return;
            }
        };
        assert_eq!(missing, expected, "{}", call.api);
        let cuts: Vec<_> = possible.iter().filter(|fault| fault.kind == FaultKind::CutClean).collect();
        assert_eq!(cuts.len(), 3, "{}", call.api);
        assert_eq!(cuts[0].after, Some(1));
        assert_eq!(cuts[2].after, Some(cuts[2].of - 1));
    });
}

#[test]
fn a_refused_call_gets_the_providers_own_error() {
    each(|call, turn, response| {
        use FaultKind::{ContextOverflow, Error500, ModelGone, Overloaded, RateLimit, Unauthorized};
        let faults = [RateLimit, Overloaded, Error500, ContextOverflow, Unauthorized, ModelGone];
        for (kind, status) in faults.into_iter().zip([429, 503, 500, 400, 401, 404]) {
            let sent = faulted(kind.whole(), turn, call, call.api, response).unwrap();
            let status = if (call.api, status) == (Api::Anthropic, 503) { 529 } else { status };
            assert_eq!(sent.status, status);
            assert!(sent.headers.contains(&("retry-after-ms", "1".to_owned())));
            let error = wire::decode_response(call.api, &received(&sent)).unwrap_err().to_string();
            assert!(error.contains(&status.to_string()), "{error}");
            let body = Json::parse(&sent.pieces.concat()).unwrap();
            let own = match call.api {
                Api::Anthropic => body.get("type") == Some(&Json::from("error")) && body.get("request_id").is_some(),
                Api::Gemini => body.pointer("/error/code") == Some(&Json::Int(status.into())),
                Api::Ollama => body.get("error").is_some_and(|error| error.as_str().is_some()),
                _ => body.pointer("/error/message").is_some() && body.pointer("/error/code").is_some(),
            };
            assert!(own, "{body:?}");
        }
    });
}

#[test]
fn a_cut_stream_is_an_incomplete_answer_and_never_another_one() {
    each(|call, turn, response| {
        for fault in possible(turn, call, call.api, response) {
            let sent = faulted(fault, turn, call, call.api, response).unwrap();
            let bytes = sent.pieces.concat();
            match fault.kind {
                FaultKind::CutClean | FaultKind::CutDirty | FaultKind::Stall => {
                    assert!(response.bytes().starts_with(&bytes), "{fault}");
                    assert!(bytes.len() < response.bytes().len() && !bytes.is_empty(), "{fault}");
                    let end = match fault.kind {
                        FaultKind::CutClean => End::Whole,
                        FaultKind::CutDirty => End::Broken,
                        _ => End::Open,
                    };
                    assert_eq!(sent.end, end);
                    // Before the last event of Chat Completions, `[DONE]`, the answer is complete.
                    let read = wire::decode_response(call.api, &received(&sent));
                    let complete = call.stream && fault.after == Some(fault.of.saturating_sub(1));
                    assert!(read.is_err() || complete, "{} {fault}: {read:?}", call.api);
                }
                FaultKind::ErrorEvent => {
                    let said = wire::decode_response(call.api, &received(&sent)).unwrap_err().to_string();
                    assert!(!said.contains("incomplete"), "{} {fault}: {said}", call.api);
                }
                FaultKind::Garbage => {
                    // `[DONE]` is no JSON in the first place.
                    let read = wire::decode_response(call.api, &received(&sent));
                    assert!(read.is_err() || fault.after == Some(fault.of - 1), "{} {fault}: {read:?}", call.api);
                    assert_eq!(sent.end, End::Whole);
                }
                _ => {}
            }
        }
    });
}

#[test]
fn other_pieces_are_the_same_answer() {
    each(|call, turn, response| {
        for kind in FaultKind::of_word("framing").unwrap() {
            let fault = kind.whole();
            let Some(sent) = faulted(fault, turn, call, call.api, response) else { continue };
            let read = wire::decode_response(call.api, &received(&sent)).unwrap();
            assert_eq!(read, turn.output, "{} {fault}", call.api);
            let changes = matches!(kind, FaultKind::FramingCrlf | FaultKind::FramingBetween);
            assert_eq!(sent.pieces.concat() == response.bytes(), !changes);
            assert!(sent.pieces.iter().all(|piece| !piece.is_empty()));
            let ours = match &response.body {
                Body::Frames(frames) => frames.bytes().collect::<Vec<_>>(),
                _ => vec![response.bytes().into()],
            };
            assert_ne!(sent.pieces, ours, "{} {fault}", call.api);
        }
    });
}

#[test]
fn a_model_can_mean_something_else() {
    each(|call, turn, response| {
        let of = |kind: FaultKind| {
            let sent = faulted(kind.whole(), turn, call, call.api, response)?;
            assert_eq!(sent.end, End::Whole);
            Some(
                wire::decode_response(call.api, &received(&sent))
                    .unwrap_or_else(|e| panic!("{} {kind:?}: {e}", call.api)),
            )
        };
        let api = call.api;
        let nothing = of(FaultKind::Nothing).unwrap();
        assert_eq!((nothing.text(), nothing.tool_calls().len()), (String::new(), 0), "{api}");
        let length = of(FaultKind::Length).unwrap();
        assert_eq!(length.finish, Some(Finish::Length), "{api}");
        assert!(TEXT.starts_with(&length.text()) && !length.text().is_empty() && length.text().len() < TEXT.len());
        assert!(length.tool_calls().is_empty());
        let cut = of(FaultKind::LengthInToolCall).unwrap();
        assert_eq!(cut.finish, Some(Finish::Length), "{api}");
        assert!(cut.tool_calls().iter().all(|tool| tool.args != turn.output.tool_calls()[0].args), "{api}: {cut:?}");
        assert_eq!(of(FaultKind::UnknownTool).unwrap().tool_calls()[0].name, "no_such_tool");
        let wrong = of(FaultKind::WrongArguments).unwrap();
        assert!(wrong.tool_calls()[0].args.get("path").is_none() && wrong.tool_calls()[0].args.get("text").is_some());
        if let Some(bad) = of(FaultKind::BadArguments).filter(|_| api != Api::Gemini) {
            assert!(bad.tool_calls()[0].args.as_str().is_some_and(|text| !text.is_empty()), "{api}: {bad:?}");
            assert_eq!(bad.finish, Some(Finish::ToolCalls));
        }
        let without_parts = faulted(FaultKind::NoParts.whole(), turn, call, api, response);
        assert_eq!(without_parts.is_some(), api == Api::Gemini);
        if let Some(sent) = without_parts {
            let sent = String::from_utf8(sent.pieces.concat()).unwrap();
            assert!(!sent.contains("parts") && sent.contains("\"content\""), "{sent}");
        }
        let of_nothing = [FaultKind::LengthNothing, FaultKind::ReasoningOnly, FaultKind::NoParts];
        for nothing in of_nothing.into_iter().filter_map(of) {
            assert_eq!((nothing.text(), nothing.tool_calls().len()), (String::new(), 0), "{api}");
        }
        assert_eq!(of(FaultKind::LengthNothing).unwrap().finish, Some(Finish::Length), "{api}");
        let thought = of(FaultKind::ReasoningOnly).unwrap();
        assert!(matches!(&thought.blocks[..], [Block::Reasoning(_)]), "{api}: {thought:?}");
        if let Some(filtered) = of(FaultKind::ContentFilter) {
            assert_eq!(filtered.finish, Some(Finish::ContentFilter), "{api}");
            assert_eq!(filtered.text(), length.text(), "{api}");
        }
        let twice = of(FaultKind::CallTwice).unwrap();
        let calls = twice.tool_calls();
        assert!(calls.len() == 2 && calls[0] == calls[1], "{api}: {twice:?}");
        let refused = of(FaultKind::Refusal).unwrap();
        assert!(refused.tool_calls().is_empty() && !refused.text().contains("wrote"), "{api}");
        assert!(
            matches!(api, Api::Anthropic | Api::Gemini) == (refused.finish == Some(Finish::ContentFilter)),
            "{api}"
        );
    });
}

#[test]
fn words_mean_kinds_families_or_all() {
    assert_eq!(FaultKind::of_word("cut-clean"), Some(vec![FaultKind::CutClean]));
    assert_eq!(FaultKind::of_word("framing").unwrap().len(), 6);
    let transport = FaultKind::of_word("transport").unwrap();
    assert!(!transport.contains(&FaultKind::Hang) && transport.contains(&FaultKind::Reset));
    let all = FaultKind::of_word("all").unwrap();
    assert_eq!(all.len(), FaultKind::ALL.len() - 2);
    assert_eq!(FaultKind::of_word("cut"), None);
    assert!(FaultKind::words().iter().all(|word| FaultKind::of_word(word).is_some()));
    assert!(FaultKind::by_default().iter().all(|kind| all.contains(kind)));
    let of = |text| Fault::of_turn(text).map(|(turn, fault)| (turn, fault.kind, fault.after));
    assert_eq!(of("turn3/cut-clean/2"), Some((Some(2), FaultKind::CutClean, Some(2))));
    assert_eq!(of("cut-clean"), Some((None, FaultKind::CutClean, None)));
    for wrong in ["turn0/cut-clean", "turnx/cut-clean", "turn1", "turn1/cut", "cut-clean/0", ""] {
        assert_eq!(of(wrong), None, "{wrong}");
    }
}

/// Starts a server on which the calls of `requests()[0]` meet a fault, and sends the call as often as `times` says. Returns what came
/// over each connection, until it was closed or stayed silent.
fn sent_over_http(fault: &str, times: usize) -> (Vec<String>, Arc<Staged>) {
    let (api, path, request) = requests().remove(0);
    let call = call_of(api, path, &request);
    let staged = Arc::new(Staged::faulty(Some(0), Fault::of_turn(fault).unwrap().1, 1));
    let replay = Replay::new(fixture_of(vec![turn_of(&call)]), Arc::default(), Scope::new("w"));
    let replay = Arc::new(replay.going_on(GoingOn::Never).in_world(staged.clone()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let came = runtime.block_on(async {
        let server = ModelServer::start(Mode::Replay(replay), ServerOptions::default()).await.unwrap();
        let mut came = Vec::new();
        for _ in 0..times {
            let mut stream = TcpStream::connect(server.address()).await.unwrap();
            let head = format!(
                "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                server.key(),
                request.len()
            );
            stream.write_all((head + &request).as_bytes()).await.unwrap();
            let mut all = Vec::new();
            let silent = std::time::Duration::from_millis(500);
            let read = tokio::time::timeout(silent, stream.read_to_end(&mut all)).await;
            let end = if read.is_err() { "(open)" } else { "(closed)" };
            came.push(String::from_utf8_lossy(&all).into_owned() + end);
        }
        came
    });
    (came, staged)
}

#[test]
fn a_fault_does_not_take_the_turn() {
    for fault in ["rate-limit", "reset", "cut-clean/1", "cut-dirty/1", "empty", "framing-bytes", "nothing"] {
        let (came, staged) = sent_over_http(fault, 3);
        assert!(came[1].contains("[DONE]") && came[1].ends_with("0\r\n\r\n(closed)"), "{fault}: {came:?}");
        // The turn is taken now, and what comes later is no miss of the recording.
        assert!(came[2].starts_with("HTTP/1.1 404"), "{fault}: {came:?}");
        assert_eq!(staged.arrivals(0), Arrivals { came: 3, faults: 1 });
    }
}

#[test]
fn answers_break_on_the_wire_as_they_do_with_providers() {
    let first = |fault| sent_over_http(fault, 1).0.remove(0);
    // Closed before the head, as if the connection was reset.
    assert_eq!(first("reset"), "(closed)");
    assert_eq!(first("hang"), "(open)");
    let clean = first("cut-clean/2");
    assert!(clean.starts_with("HTTP/1.1 200") && clean.ends_with("0\r\n\r\n(closed)") && !clean.contains("[DONE]"));
    let dirty = first("cut-dirty/2");
    assert!(
        dirty.contains("data: ") && dirty.ends_with("(closed)") && !dirty.ends_with("0\r\n\r\n(closed)"),
        "{dirty}"
    );
    let stalled = first("stall/2");
    assert!(stalled.contains("data: ") && stalled.ends_with("(open)"), "{stalled}");
    let empty = first("empty");
    assert!(empty.starts_with("HTTP/1.1 200") && empty.contains("content-length: 0"), "{empty}");
    assert!(first("rate-limit").starts_with("HTTP/1.1 429"));
    // Each byte is a chunk of its own.
    assert!(first("framing-bytes").contains("\r\n1\r\nd\r\n1\r\na\r\n1\r\nt\r\n"));
}
