use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::*;
use crate::tests::{recorded, replay_of};
use crate::{Mode, ModelServer, ServerOptions};
use retake_core::conversation::{Answer, Block, Finish, ToolCall};
use retake_core::json::Json;
use retake_wire::fixture::Recorded;
use retake_wire::{self as wire, Known};

const TEXT: &str = "I wrote the note. It says: grüße, 你好, and a good deal more than that.";

/// Each API with a request for a stream and one for a whole body.
fn requests() -> Vec<(Api, &'static str, String)> {
    let schema = r#"{"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}"#;
    let function = format!(r#"{{"name": "write", "parameters": {schema}}}"#);
    let messages = r#""messages": [{"role": "user", "content": "q"}]"#;
    let asks = |said: &str, tool: &str, stream: bool| format!(r#"{{{said}, "tools": [{tool}], "stream": {stream}}}"#);
    let of = |stream: bool| {
        let gemini =
            if stream { "/v1beta/models/m:streamGenerateContent?alt=sse" } else { "/v1beta/models/m:generateContent" };
        let contents = r#""contents": [{"role": "user", "parts": [{"text": "q"}]}]"#;
        let chat = asks(messages, &format!(r#"{{"type": "function", "function": {function}}}"#), stream);
        let anthropic = format!(r#"{{"name": "write", "input_schema": {schema}}}"#);
        let declared = format!(r#"{{{contents}, "tools": [{{"functionDeclarations": [{function}]}}]}}"#);
        [
            (Api::OpenAiChat, "/v1/chat/completions", chat.clone()),
            (Api::OpenAiResponses, "/v1/responses", asks(r#""input": "q""#, &function, stream)),
            (Api::Anthropic, "/v1/messages", asks(messages, &anthropic, stream)),
            (Api::Gemini, gemini, declared),
            (Api::Ollama, "/api/chat", chat),
        ]
    };
    [true, false].into_iter().flat_map(of).collect()
}

/// A call, with a turn that says something and calls a tool, as its provider sends it.
fn turn_of(api: Api, path: &str, request: &str) -> (Call, Recorded) {
    let call = wire::decode(api, path, &wire::request_body(request.as_bytes()), &Known::default()).unwrap();
    let args = Json::object([("path", Json::from("note.txt")), ("text", "a text of some length, to be cut".into())]);
    let tool = ToolCall { id: "call_1".to_owned(), name: "write".to_owned(), args };
    let blocks = vec![Block::Text(TEXT.to_owned()), Block::ToolCall(tool)];
    let named = |name: &str| Some(name.to_owned());
    let answer =
        Answer { id: named("a1"), model: named("m"), blocks, finish: Some(Finish::ToolCalls), ..Answer::default() };
    let response = wire::render(&answer, &call.render_for("00")).unwrap();
    (call, recorded(api, path, request, response))
}

/// What is sent, as the response that a client gets.
fn received(sent: &Sent) -> Response {
    Response::received(sent.status, &sent.content_type, sent.pieces.concat())
}

fn each(check: impl Fn(&Call, &Turn, &Response)) {
    for (api, path, request) in requests() {
        let (call, recorded) = turn_of(api, path, &request);
        let replay = replay_of(vec![recorded]);
        let turn = &replay.fixture().table.turns()[0];
        check(&call, turn, &turn.wire.as_ref().unwrap().response);
    }
}

#[test]
fn each_api_can_fail_in_each_way_that_it_knows() {
    each(|call, turn, response| {
        let possible = possible(turn, call, call.api, response);
        let kinds: BTreeSet<FaultKind> = possible.iter().map(|fault| fault.kind).collect();
        let of_answers = |kind: &FaultKind| kind.side() == "model" && *kind != FaultKind::Order;
        let missing = FaultKind::ALL.into_iter().filter(|kind| of_answers(kind) && !kinds.contains(kind));
        let of_streams = "stall cut-clean error-event framing-whole framing-crlf framing-between";
        let of_api = match (call.api, call.stream) {
            (Api::OpenAiResponses, true) => "no-parts framing-between",
            (Api::Gemini, true) => "framing-between",
            (Api::Gemini, false) => "",
            (Api::Anthropic, false) => "no-parts bad-arguments",
            // Its calls of tools come whole, and its frames are lines.
            (Api::Ollama, true) => "no-parts content-filter bad-arguments framing-crlf framing-between",
            (Api::Ollama, false) => "no-parts content-filter bad-arguments",
            _ => "no-parts",
        };
        let expected = of_api.split_whitespace().chain(of_streams.split(' ').filter(|_| !call.stream));
        let missing: BTreeSet<&str> = missing.map(FaultKind::name).collect();
        assert_eq!(missing, expected.collect(), "{} {}", call.api, call.stream);
        let cuts: Vec<_> = possible.iter().filter(|fault| fault.kind == FaultKind::CutClean).collect();
        if call.stream {
            assert_eq!((cuts.len(), cuts[0].after, cuts[2].after), (3, Some(1), Some(cuts[2].of - 1)), "{}", call.api);
        }
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
            let read = wire::decode_response(call.api, &received(&sent));
            // Before the last event of Chat Completions, `[DONE]`, the answer is complete; and that is no JSON in the first place.
            let is_last = call.stream && fault.after == Some(fault.of.saturating_sub(1));
            let end = match fault.kind {
                FaultKind::CutClean | FaultKind::Garbage | FaultKind::ErrorEvent => End::Whole,
                FaultKind::CutDirty => End::Broken,
                FaultKind::Stall => End::Open,
                _ => continue,
            };
            assert_eq!(sent.end, end, "{fault}");
            if fault.kind == FaultKind::ErrorEvent {
                let said = read.unwrap_err().to_string();
                assert!(!said.contains("incomplete"), "{} {fault}: {said}", call.api);
                continue;
            }
            assert!(read.is_err() || is_last, "{} {fault}: {read:?}", call.api);
            if fault.kind != FaultKind::Garbage {
                let is_cut = bytes.len() < response.bytes().len() && !bytes.is_empty();
                assert!(is_cut && response.bytes().starts_with(&bytes), "{fault}");
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
                _ => vec![response.bytes()],
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
            let read = wire::decode_response(call.api, &received(&sent));
            Some(read.unwrap_or_else(|e| panic!("{} {kind:?}: {e}", call.api)))
        };
        let api = call.api;
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
        let without_parts = without_parts.map(|sent| String::from_utf8(sent.pieces.concat()).unwrap());
        let has_none = without_parts.map(|sent| !sent.contains("parts") && sent.contains("\"content\""));
        assert_eq!(has_none, (api == Api::Gemini).then_some(true));
        for kind in [FaultKind::Nothing, FaultKind::LengthNothing, FaultKind::ReasoningOnly, FaultKind::NoParts] {
            let Some(nothing) = of(kind) else { continue };
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
        assert!(matches!(&twice.tool_calls()[..], [one, other] if one == other), "{api}: {twice:?}");
        let refused = of(FaultKind::Refusal).unwrap();
        assert!(refused.tool_calls().is_empty() && !refused.text().contains("wrote"), "{api}");
        let by_filter = matches!(api, Api::Anthropic | Api::Gemini);
        assert_eq!(refused.finish == Some(Finish::ContentFilter), by_filter, "{api}");
    });
}

#[test]
fn words_mean_kinds_families_or_all() {
    let of_word = |word| FaultKind::of_word(word).unwrap();
    assert_eq!(of_word("cut-clean"), [FaultKind::CutClean]);
    assert_eq!(of_word("framing").len(), 6);
    assert!(!of_word("transport").contains(&FaultKind::Hang) && of_word("transport").contains(&FaultKind::Reset));
    assert_eq!(of_word("all").len(), FaultKind::ALL.len() - 2);
    assert_eq!(FaultKind::of_word("cut"), None);
    assert!(FaultKind::words().into_iter().all(|word| !of_word(word).is_empty()));
    assert!(FaultKind::by_default().iter().all(|kind| of_word("all").contains(kind)));
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
    let (_, fault) = Fault::of_turn(fault).unwrap();
    let staged = Arc::new(Staged::of(Stages::Faulty(Some((Some(0), fault)), 1), u32::MAX));
    let mut replay = replay_of(vec![turn_of(api, path, &request).1]);
    replay.staged = Some(staged.clone());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let came = runtime.block_on(async {
        let server = ModelServer::start(Mode::Replay(Arc::new(replay)), ServerOptions::default()).await.unwrap();
        let (key, length) = (server.key(), request.len());
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
        );
        let mut came = Vec::new();
        for _ in 0..times {
            let mut stream = TcpStream::connect(server.address()).await.unwrap();
            stream.write_all(format!("{head}{request}").as_bytes()).await.unwrap();
            let mut all = Vec::new();
            let read = tokio::time::timeout(std::time::Duration::from_millis(500), stream.read_to_end(&mut all)).await;
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
        assert_eq!(staged.arrivals(0), 3);
    }
}

#[test]
fn answers_break_on_the_wire_as_they_do_with_providers() {
    let first = |fault| sent_over_http(fault, 1).0.remove(0);
    // Closed before the head, as if the connection was reset.
    assert_eq!([first("reset"), first("hang")], ["(closed)", "(open)"]);
    let clean = first("cut-clean/2");
    assert!(clean.starts_with("HTTP/1.1 200") && clean.ends_with("0\r\n\r\n(closed)") && !clean.contains("[DONE]"));
    let dirty = first("cut-dirty/2");
    assert!(dirty.contains("data: ") && !dirty.ends_with("0\r\n\r\n(closed)") && dirty.ends_with("(closed)"));
    let stalled = first("stall/2");
    assert!(stalled.contains("data: ") && stalled.ends_with("(open)"), "{stalled}");
    let empty = first("empty");
    assert!(empty.starts_with("HTTP/1.1 200") && empty.contains("content-length: 0"), "{empty}");
    assert!(first("rate-limit").starts_with("HTTP/1.1 429"));
    // Each byte is a chunk of its own.
    assert!(first("framing-bytes").contains("\r\n1\r\nd\r\n1\r\na\r\n1\r\nt\r\n"));
}
