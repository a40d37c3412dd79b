//! What is fuzzed. Each target takes any bytes; it must return, and what it asserts must hold.
//!
//! The same functions run in `cargo test` over the committed corpus, so that a regression shows without cargo-fuzz.

#[path = "../../harness/key/tests/literal.rs"]
mod literal;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use retake::internal::events::{
    AfterLast, Capture, Captured, Detail, Event, Format, Loose, ShapeOptions, Status, event_keys, golden,
};
use retake::internal::fixture::{Fixture, call_log};
use retake::internal::json::{Json, Layout};
use retake::internal::key::{Normalizer, Rules, message_from_langchain};
use retake::internal::secrets::Scrub;
use retake::internal::wire::{self, Api, Body, Known, RenderFor, Response};

/// A target by its name, which is that of its corpus's folder.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 9] = [
    ("fixture", fixture),
    ("journal", journal),
    ("json", json),
    ("key", key),
    ("normalize", normalize),
    ("steps", steps),
    ("stream", stream),
    ("toml", toml),
    ("wire", wire),
];

/// JSON: what is read prints in each layout to what reads back, and Python's form is stable.
pub fn json(data: &[u8]) {
    let Ok(value) = Json::parse(data) else { return };
    let _ = (value.python_str(), value.is_truthy(), value.pointer("/a/-1/0"));
    let python = value.print(Layout::Python);
    for layout in [Layout::Python, Layout::Compact, Layout::Pretty] {
        let again = Json::parse(value.print(layout).as_bytes()).expect("what was printed reads back");
        assert_eq!(again.print(Layout::Python), python);
    }
}

/// Text normalization is what KEY.md says, word for word.
pub fn normalize(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    assert_eq!(Normalizer::default().apply(&text), literal::normalize(&text));
}

/// The key of messages is what KEY.md says. A caller may stand in a first line of its own.
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

/// A fixture of any form: what is read prints to what reads back the same.
pub fn fixture(data: &[u8]) {
    let rules = Rules::default();
    let path = Path::new("fixtures/a.json");
    let Ok(fixture) = Fixture::parse(path, data, &rules) else { return };
    for turn in 0..fixture.table.turns().len() {
        let _ = fixture.conversation(turn, &rules);
    }
    // Deer-flow's form keeps no conversations, and is printed in Retake's own.
    let printed = fixture.print();
    let again = Fixture::parse(path, printed.as_bytes(), &rules).expect("a printed fixture reads back");
    assert_eq!(again.print(), printed);
}

/// A folder of this thread, for what is read from files.
fn with_folder(run: impl FnOnce(&Path)) {
    thread_local! {
        static FOLDER: RefCell<tempfile::TempDir> = RefCell::new(folder());
    }
    FOLDER.with_borrow(|folder| run(folder.path()));
}

/// In memory, where there is a file system of it.
fn folder() -> tempfile::TempDir {
    let shm = Path::new("/dev/shm");
    let folder = if shm.is_dir() { tempfile::tempdir_in(shm) } else { tempfile::tempdir() };
    let folder = folder.expect("a temporary folder");
    std::fs::create_dir_all(folder.path().join("scenarios/a")).expect("a folder");
    folder
}

/// A recorder's journal.
pub fn journal(data: &[u8]) {
    with_folder(|folder| {
        let path = folder.join("a.jsonl");
        std::fs::write(&path, data).expect("a file");
        let rules = Rules::default();
        let Ok(made) = call_log::to_fixture(&path, Path::new("a.json"), BTreeMap::new(), &rules, &Scrub::known())
        else {
            return;
        };
        let printed = made.fixture.print();
        let again = Fixture::parse(Path::new("a.json"), printed.as_bytes(), &rules).expect("a fixture reads back");
        assert_eq!(again.print(), printed);
    });
}

/// The journal of durable steps. What is opened and written to opens again.
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

/// `scenario.toml`, and behind a line of `=` a `suite.toml`.
pub fn toml(data: &[u8]) {
    const MARK: &[u8] = b"\n====\n";
    with_folder(|folder| {
        let at = data.windows(MARK.len()).position(|part| part == MARK);
        let (scenario, suite) = at.map_or((data, &b""[..]), |at| (&data[..at], &data[at + MARK.len()..]));
        std::fs::write(folder.join("scenarios/a/scenario.toml"), scenario).expect("a file");
        std::fs::write(folder.join("scenarios/suite.toml"), suite).expect("a file");
        match retake::internal::scenario::discover(folder) {
            Ok(discovered) => {
                for broken in discovered.scenarios.iter().filter_map(|entry| entry.as_ref().err()) {
                    assert!(!broken.error.to_string().is_empty());
                }
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    });
}

/// A stream: its events do not depend on how it is cut, and become a golden. The first byte says how it is cut.
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
        let text = golden(std::slice::from_ref(&captured), &options, &|text| normalizer.apply(text).into_owned());
        assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{text:?}");
    }
}

fn events<'a>(chunks: impl Iterator<Item = &'a [u8]>, format: Option<Format>) -> Vec<Event> {
    let mut capture = format.map_or_else(Capture::new, Capture::with_format);
    let mut events: Vec<Event> = chunks.flat_map(|chunk| capture.push(chunk)).collect();
    events.extend(capture.finish());
    events
}

/// A request or response of each API. The first byte says which and how; an answer is rendered over every API, and
/// what was rendered reads back.
pub fn wire(data: &[u8]) {
    let Some((how, body)) = data.split_first() else { return };
    let api = Api::ALL[usize::from(how % 6)];
    let rules = Rules::default();
    if how / 6 % 2 == 0 {
        let path =
            ["/v1/models/m:generateContent", "/v1/models/m:streamGenerateContent", ""][usize::from(how / 12 % 3)];
        let body = wire::request_body(body);
        if let Ok(call) = wire::decode(api, path, &body, &Known::default()) {
            let _ = rules.key(&rules.canonical(call.messages), None);
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
                // What came over this API goes out as it came, whatever it is.
                if to != api && !matches!(rendered.body, Body::Text(_) | Body::Binary(_)) {
                    wire::decode_response(to, &rendered).expect("what was rendered reads back");
                }
            }
        }
    }
}
