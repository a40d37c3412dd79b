//! The fuzz targets. Each takes arbitrary bytes; it must return, and its assertions must hold.
//!
//! `cargo test` runs the same functions over the committed corpus, so a regression is found without cargo-fuzz.

#[path = "../../harness/core/key/tests/literal.rs"]
mod literal;

/// The readers of traces, which belong to the command.
#[allow(dead_code, reason = "the command uses more of them")]
#[path = "../../harness/cli/formats/traces"]
mod readers {
    mod call;
    mod chain;
    mod fields;
    mod lack;
    mod langfuse;
    mod message;
    mod otlp;
    mod span;
    mod talk;
    mod tools;

    use retake_core::json::Json;
    use retake_core::key::Rules;

    /// Reads the traces in a message of either format.
    pub(super) fn read(message: &Json) {
        let rules = Rules::default();
        for spans in [otlp::spans(message), langfuse::spans(message)].into_iter().filter_map(Result::ok) {
            for spans in span::by_trace(otlp::join_records(spans)) {
                let (mut calls, _) = call::calls(&spans);
                call::name_callers(&mut calls, &spans);
                assert_eq!(chain::complete(&mut calls).len(), calls.len());
                let _ = tools::exchanges(&spans, &calls);
                for call in calls {
                    assert!(!call.answer.blocks.is_empty());
                    let _ = rules.key(&rules.canonical(call.messages), call.caller.as_deref());
                }
            }
        }
    }
}

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use retake_core::events::{
    AfterLast, Capture, Captured, Detail, Event, Format, Golden, Loose, ShapeOptions, Status, event_keys, golden,
};
use retake_core::json::{Json, Layout};
use retake_core::key::{CheckTexts, Normalizer, Rules, message_from_langchain};
use retake_core::secrets::Scrub;
use retake_wire::fixture::{Fixture, Recorded, Wire, call_log};
use retake_wire::{self as wire, Api, Body, Known, RenderFor, Response};

/// A target with its name, which is also the name of its folder in `corpus/`.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 11] = [
    ("fixture", fixture),
    ("journal", journal),
    ("json", json),
    ("key", key),
    ("normalize", normalize),
    ("steps", steps),
    ("stream", stream),
    ("toml", toml),
    ("traces", traces),
    ("wire", wire),
    ("worlds", worlds),
];

/// JSON: a value that is printed in any layout reads back as the same value.
pub fn json(data: &[u8]) {
    let Ok(value) = Json::parse(data) else { return };
    let _ = (value.python_str(), value.is_truthy(), value.pointer("/a/-1/0"));
    let python = value.print(Layout::Python);
    for layout in [Layout::Python, Layout::Compact, Layout::Pretty] {
        let again = Json::parse(value.print(layout).as_bytes()).expect("what was printed reads back");
        assert_eq!(again.print(Layout::Python), python);
    }
}

/// Text normalization: the result equals that of a literal implementation of KEY.md.
pub fn normalize(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    assert_eq!(Normalizer::default().apply(&text), literal::normalize(&text));
}

/// Keys: the key of messages equals that of a literal implementation of KEY.md. The first line may be the caller.
pub fn key(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (caller, messages) = match text.split_once('\n') {
        Some((caller, rest)) if !caller.starts_with(['[', '{']) => (Some(caller), rest),
        _ => (None, &*text),
    };
    let Ok(json) = Json::parse(messages.as_bytes()) else { return };
    let read =
        json.as_array().map(|list| list.iter().cloned().map(message_from_langchain).collect::<Result<Vec<_>, _>>());
    let Some(Ok(read)) = read else { return };
    let rules = Rules::default();
    let key = rules.key(&rules.canonical(read), caller);
    if let Some(literal) = literal::key(messages, caller) {
        assert_eq!([key.conversation_hash, key.input_hash].map(|hash| hash.to_string()), literal);
    }
}

/// Fixtures of any form: a fixture that is read and printed reads back the same.
pub fn fixture(data: &[u8]) {
    let rules = Rules::default();
    let path = Path::new("fixtures/a.json");
    let Ok(fixture) = Fixture::parse(path, data, &rules) else { return };
    for turn in 0..fixture.table.turns().len() {
        let _ = fixture.conversation(turn, &rules);
    }
    // A fixture in deer-flow's form is printed in Retake's own form, without conversations, since it has none.
    let printed = fixture.print();
    let again = Fixture::parse(path, printed.as_bytes(), &rules).expect("a printed fixture reads back");
    assert_eq!(again.print(), printed);
}

/// Calls `run` with a temporary folder, which all calls on this thread share.
fn with_folder(run: impl FnOnce(&Path)) {
    thread_local! {
        static FOLDER: RefCell<tempfile::TempDir> = RefCell::new(folder());
    }
    FOLDER.with_borrow(|folder| run(folder.path()));
}

/// Creates the temporary folder, in memory if the machine has `/dev/shm`.
fn folder() -> tempfile::TempDir {
    let shm = Path::new("/dev/shm");
    let folder = if shm.is_dir() { tempfile::tempdir_in(shm) } else { tempfile::tempdir() };
    let folder = folder.expect("a temporary folder");
    std::fs::create_dir_all(folder.path().join("scenarios/a")).expect("a folder");
    folder
}

/// Recorders' journals: a journal that can be read becomes a fixture that reads back the same.
pub fn journal(data: &[u8]) {
    with_folder(|folder| {
        let path = folder.join("a.jsonl");
        std::fs::write(&path, data).expect("a file");
        let rules = Rules::default();
        let Ok(made) = call_log::to_fixture(None, &path, Path::new("a.json"), BTreeMap::new(), &rules, &Scrub::known())
        else {
            return;
        };
        let printed = made.fixture.print();
        let again = Fixture::parse(Path::new("a.json"), printed.as_bytes(), &rules).expect("a fixture reads back");
        assert_eq!(again.print(), printed);
    });
}

/// Journals of durable steps: a journal that was opened and written to opens again, and a refused one is not changed.
pub fn steps(data: &[u8]) {
    use retake::durable::{Journal, ModelRequest};
    with_folder(|folder| {
        let path = folder.join("steps.jsonl");
        std::fs::write(&path, data).expect("a file");
        let before = std::fs::read(&path).expect("a file");
        match Journal::open(&path) {
            Err(_) => assert_eq!(std::fs::read(&path).expect("a file"), before, "a refused file is not touched"),
            Ok(journal) => {
                let step =
                    journal.run().model("plan", &ModelRequest::new("m", "a"), |_| std::future::ready(Ok::<_, ()>(1)));
                let _: Option<Result<u8, ()>> = futures_util::FutureExt::now_or_never(step);
                drop(journal);
                Journal::open(&path).expect("a journal that was written to opens again");
            }
        }
    });
}

/// `scenario.toml` and, after a line `====`, `suite.toml`: every error has a text.
pub fn toml(data: &[u8]) {
    const MARK: &[u8] = b"\n====\n";
    with_folder(|folder| {
        let at = data.windows(MARK.len()).position(|part| part == MARK);
        let (scenario, suite) = at.map_or((data, &b""[..]), |at| (&data[..at], &data[at + MARK.len()..]));
        std::fs::write(folder.join("scenarios/a/scenario.toml"), scenario).expect("a file");
        std::fs::write(folder.join("scenarios/suite.toml"), suite).expect("a file");
        match retake_scenario::discover(folder) {
            Ok(discovered) => {
                for broken in discovered.scenarios.iter().filter_map(|entry| entry.as_ref().err()) {
                    assert!(!broken.error.to_string().is_empty());
                }
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    });
}

/// Streams: the events do not depend on how the body is cut into chunks, and they make a golden. The first byte selects the
/// format and the size of the chunks.
pub fn stream(data: &[u8]) {
    let Some((cut, body)) = data.split_first() else { return };
    let format = [None, Some(Format::Sse), Some(Format::JsonLines)][usize::from(cut % 3)];
    let whole = events(body.chunks(body.len().max(1)), format);
    let events = events(body.chunks(usize::from(cut / 3) + 1), format);
    assert_eq!(events, whole);
    let _ = event_keys(&events);
    let captured = Captured {
        request: "GET /".to_owned(),
        status: Status::Http(200),
        content_type: String::new(),
        events,
        after: AfterLast::default(),
        tree: None,
        delivery: retake_core::events::Delivery::default(),
    };
    for detail in [Detail::Keys, Detail::Types, Detail::Values] {
        let options = ShapeOptions {
            detail,
            show: vec!["/a/-1".to_owned(), String::new()],
            collapse: vec!["b".to_owned()],
            unordered: vec!["a".to_owned()],
            ignore: vec!["c*".to_owned()],
            comments: true,
            words: vec!["w".to_owned()],
            loose: vec![Loose::of("b"), Loose::of("a:/a/*")],
            ..ShapeOptions::default()
        };
        let normalizer = Normalizer::default();
        let golden = golden(std::slice::from_ref(&captured), &options, &|text| normalizer.apply(text).into_owned());
        let text = golden.to_string();
        assert_eq!(Golden::parse(&text).map(|read| read.to_string()), Ok(text.clone()), "{text}");
        assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{text:?}");
    }
}

fn events<'a>(chunks: impl Iterator<Item = &'a [u8]>, format: Option<Format>) -> Vec<Event> {
    let mut capture = format.map_or_else(Capture::new, Capture::with_format);
    let mut events: Vec<Event> = chunks.flat_map(|chunk| capture.push(chunk)).collect();
    events.extend(capture.finish());
    events
}

/// The API that a first byte selects: those that came later have the upper half.
fn api_of(how: u8) -> Api {
    let all = [Api::OpenAiChat, Api::OpenAiResponses, Api::Anthropic, Api::Gemini, Api::Ollama, Api::Opaque];
    if how < 128 { all[usize::from(how % 6)] } else { [Api::Bedrock, Api::BedrockInvoke][usize::from(how % 2)] }
}

/// Requests and responses of each API. The first byte selects the API and the kind. An answer is rendered over every API, and
/// the rendered response must read back.
pub fn wire(data: &[u8]) {
    let Some((how, body)) = data.split_first() else { return };
    let api = api_of(*how);
    let rules = Rules::default();
    if how / 6 % 2 == 0 {
        let path =
            ["/v1/models/m:generateContent", "/v1/models/m:streamGenerateContent", ""][usize::from(how / 12 % 3)];
        let path = if api == Api::Bedrock || api == Api::BedrockInvoke { "/model/m%3A0/converse-stream" } else { path };
        // A call that is read after itself is the same as one that is read as a whole.
        let histories = wire::Histories::default();
        for _ in 0..2 {
            if let Some((call, hash)) = histories.read(api, path.into(), body, &rules.normalizer) {
                let whole = wire::decode(api, path, &wire::chat_body(body).unwrap(), &Known::default()).unwrap();
                // NaN is not equal to itself.
                assert_eq!(format!("{call:?}"), format!("{whole:?}"));
                let canonical = rules.canonical(whole.into_messages());
                assert!(hash.hash().is_none_or(|hash| hash == rules.hash_of_whole(&canonical)));
            }
        }
        let body = wire::request_body(body);
        if let Ok(call) = wire::decode(api, path, &body, &Known::default()) {
            let _ = rules.key(&rules.canonical(call.into_messages()), None);
        }
        return;
    }
    let content_type = ["application/json", "text/event-stream", "application/x-ndjson"][usize::from(how / 12 % 3)];
    let response = Response::received(200, content_type, body.to_vec());
    let Ok(answer) = wire::decode_response(api, &response) else { return };
    for to in Api::ALL {
        for (stream, array) in [(false, false), (true, false), (true, true)] {
            let call = RenderFor { api: to, stream, array, include_usage: true, model: "m", seed: "5eed" };
            if let Ok(rendered) = wire::respond(&answer, Some((api, &response)), &call) {
                // Over its own API a response goes out as it came, even if it is not valid there.
                if to != api && !matches!(rendered.body, Body::Text(_) | Body::Binary(_)) {
                    wire::decode_response(to, &rendered).expect("what was rendered reads back");
                }
            }
        }
    }
}

/// Worlds: a response of any form can be broken in each way that its API knows, and what is only cut differently stays the same bytes.
/// The first byte selects the API, and whether it is a stream.
pub fn worlds(data: &[u8]) {
    let Some((how, body)) = data.split_first() else { return };
    let is_stream = how / 5 % 2 == 0;
    let function = r#"{"name": "get_weather", "parameters": {"properties": {"city": {"type": "string"}}}}"#;
    let messages = r#""messages": [{"role": "user", "content": "q"}]"#;
    let chat =
        format!(r#"{{{messages}, "tools": [{{"type": "function", "function": {function}}}], "stream": {is_stream}}}"#);
    let gemini = if is_stream { "/v1/models/m:streamGenerateContent?alt=sse" } else { "/v1/models/m:generateContent" };
    let (api, path, request) = match how % 5 {
        0 => (Api::OpenAiChat, "", chat),
        1 => (Api::OpenAiResponses, "", format!(r#"{{"input": "q", "tools": [{function}], "stream": {is_stream}}}"#)),
        2 => (Api::Anthropic, "", format!(r#"{{{messages}, "stream": {is_stream}}}"#)),
        3 => (Api::Gemini, gemini, r#"{"contents": [{"role": "user", "parts": [{"text": "q"}]}]}"#.to_owned()),
        _ => (Api::Ollama, "", chat),
    };
    let content_type = match (is_stream, api) {
        (false, _) => "application/json",
        (true, Api::Ollama) => "application/x-ndjson",
        (true, _) => "text/event-stream",
    };
    let response = Response::received(200, content_type, body.to_vec());
    let Ok(output) = wire::decode_response(api, &response) else { return };
    let call = wire::decode(api, path, &wire::request_body(request.as_bytes()), &Known::default()).expect("a call");
    let rules = Rules::default();
    let recorded = Recorded {
        request: None,
        caller: None,
        conversation: rules.canonical(call.messages.iter().map(|message| &**message)),
        texts: Some(CheckTexts::new(&rules.normalizer, &call.system, &call.tools, &call.model, &call.settings).0),
        output,
        wire: Some(Wire::of(api, response)),
    };
    let fixture = Fixture::of_turns(Path::new("a.json"), [].into(), vec![recorded], &rules);
    let turn = &fixture.table.turns()[0];
    let response = &turn.wire.as_ref().expect("what was recorded").response;
    let _ = retake_model::possible_faults(turn, &call, api, response);
}

/// Traces: their calls have conversations with keys, or are refused. A call that is read is never empty.
pub fn traces(data: &[u8]) {
    if let Ok(message) = Json::parse_request(data) {
        readers::read(&message);
    }
}
