//! Recordings of real traffic by other tools: the tests import them, serve them, and repeat each recorded call.
//!
//! The recordings cannot be committed to this project. `RETAKE_CASSETTES` names a folder with them: `*.govcr.yaml` files are
//! from go-vcr, all other `*.yaml` files from VCR.py. If it is not set, these tests are ignored. They read the recordings with
//! their own code, not with the importer's.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use granit_parser::{Event, Parser, ScalarStyle};
use libtest_mimic::{Completion, Trial};
use serde_json::{Value, json};

use crate::record::proxy::proxy;
use crate::replay::serve::Serving;
use crate::support::loopback::client;
use crate::support::program::{Program, retake};
use crate::support::tree::Tree;

/// The variable that names the folder with the recordings.
pub(crate) const FOLDER: &str = "RETAKE_CASSETTES";

/// A recorded call and its answer.
#[derive(Clone)]
pub(crate) struct Interaction {
    pub(crate) file: PathBuf,
    pub(crate) number: usize,
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) request: Vec<u8>,
    pub(crate) status: u16,
    pub(crate) answer: Vec<u8>,
}

pub(crate) fn trials() -> Vec<Trial> {
    let trial = |name: &str, test: Box<dyn Fn(&Path) + Send>| {
        Trial::ignorable_test(format!("record::cassettes::{name}"), move || {
            let Some(folder) = std::env::var_os(FOLDER).filter(|folder| !folder.is_empty()) else {
                return Ok(Completion::ignored_with(format!("{FOLDER} is not set: it names a folder of recordings")));
            };
            test(Path::new(&folder));
            Ok(Completion::Completed)
        })
    };
    let forms = OTHER_FORMS.into_iter();
    let forms = forms.map(|(name, form)| trial(name, Box::new(move |folder| in_another_form(folder, form))));
    [
        trial("imported_recordings_replay_as_they_were_recorded", Box::new(replay_as_recorded)),
        trial("a_replay_that_is_recorded_gives_the_same_fixture", Box::new(record_from_replay)),
        trial("answers_in_other_pieces_are_the_same_answers", Box::new(in_other_pieces)),
        trial("a_damaged_event_stream_is_one_error", Box::new(super::damaged::each_damage_is_told)),
    ]
    .into_iter()
    .chain(forms)
    .collect()
}

fn replay_as_recorded(folder: &Path) {
    let files = files(folder);
    assert!(!files.is_empty(), "{} contains no recording", folder.display());
    for (format, of_go) in [("vcr", false), ("go-vcr", true)] {
        let files: Vec<&PathBuf> = files.iter().filter(|file| is_go(file) == of_go).collect();
        let interactions: Vec<Interaction> = files.iter().flat_map(|file| read(file)).collect();
        replays(format, &files, &interactions);
    }
}

/// Serves each recorded answer cut in twenty other ways. Its bytes and its events are the same.
fn in_other_pieces(folder: &Path) {
    let (mut asked, mut cut) = (0, 0);
    for (format, of_go) in [("vcr", false), ("go-vcr", true)] {
        let tree = Tree::empty();
        let files: Vec<PathBuf> = files(folder).into_iter().filter(|file| is_go(file) == of_go).collect();
        let import = files.iter().fold(retake().args(&["import", format]), Program::arg);
        import.arg("--out").arg(tree.path("fixtures/all.json")).run().exits(0);
        let serve = retake().arg("serve").arg(tree.path("fixtures/all.json")).args(&["--worlds", "--repeat"]);
        let serving = Serving::start(serve);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let client = client();
        let all = files.iter().flat_map(|file| read(file));
        for one in all.filter(|one| one.method == "POST" && (200..300).contains(&one.status)) {
            let path = one.url.split_once("://").and_then(|(_, rest)| rest.split_once('/')).unwrap().1;
            let ask = |world: Option<&str>| {
                let mut request = client.post(format!("{}/{path}", serving.ready("url"))).body(one.request.clone());
                request = request.header("x-api-key", serving.ready("key"));
                request = world.into_iter().fold(request, |request, world| request.header("x-retake-world", world));
                runtime.block_on(async {
                    let mut response = request.send().await.unwrap();
                    let mut pieces = Vec::new();
                    while let Some(piece) = response.chunk().await.unwrap() {
                        pieces.push(piece.to_vec());
                    }
                    pieces
                })
            };
            let events = |pieces: &[Vec<u8>]| {
                let mut capture = retake_core::events::Capture::new();
                let mut events: Vec<_> = pieces.iter().flat_map(|piece| capture.push(piece)).collect();
                events.extend(capture.finish());
                events
            };
            // Framings that each answer has: another one would be no fault, and take the turn.
            let is_stream = serde_json::from_slice::<Value>(&one.answer).is_err();
            let seeded = (1..=19).map(|seed| format!("framing-seeded/{seed}"));
            let others = ["framing-bytes", "framing-whole"].into_iter().take(if is_stream { 2 } else { 1 });
            let others = others.map(str::to_owned);
            // A fault takes no turn, so the answer without one comes last.
            let worlds: Vec<String> = seeded.chain(others).collect();
            let framed: Vec<_> = worlds.iter().map(|world| ask(Some(world))).collect();
            let whole = ask(None);
            for (world, pieces) in worlds.iter().zip(framed) {
                asked += 1;
                cut += usize::from(pieces != whole);
                assert_eq!(events(&pieces), events(&whole), "{world}: {}", one.url);
                assert_eq!(pieces.concat(), whole.concat(), "{world}: {}", one.url);
            }
        }
    }
    assert!(cut * 2 > asked, "{cut} of {asked}");
}

/// Records with `retake serve` as the provider. The new fixture has the same keys, answers and frames as the served one.
fn record_from_replay(folder: &Path) {
    for (format, of_go) in [("vcr", false), ("go-vcr", true)] {
        let tree = Tree::empty();
        let files: Vec<PathBuf> = files(folder).into_iter().filter(|file| is_go(file) == of_go).collect();
        let import = files.iter().fold(retake().args(&["import", format]), Program::arg);
        import.arg("--out").arg(tree.path("fixtures/all.json")).run().exits(0);
        let provider = Serving::of(&tree.path("fixtures/all.json"));
        let mut program = proxy(&tree, provider.ready("url"));
        for api in ["OPENAI", "ANTHROPIC", "GEMINI", "OLLAMA", "BEDROCK"] {
            let key = if api == "BEDROCK" { "AWS_BEARER_TOKEN_BEDROCK".to_owned() } else { format!("{api}_API_KEY") };
            program = program.env(&key, provider.ready("key"));
            // A provider's key is sent to another host only if this variable names that host.
            program = program.env(&format!("RETAKE_UPSTREAM_{api}"), provider.ready("url"));
        }
        let mut proxy = Serving::start(program);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let client = client();
        let all = files.iter().flat_map(|file| read(file));
        for one in all.filter(|one| one.method == "POST" && (200..300).contains(&one.status)) {
            let path = one.url.split_once("://").and_then(|(_, rest)| rest.split_once('/')).unwrap().1;
            let request = client.post(format!("{}/{path}", proxy.ready("url"))).body(one.request.clone());
            let body = runtime.block_on(async {
                let response = request.header("x-api-key", "ours").send().await.unwrap();
                response.bytes().await.unwrap()
            });
            match serde_json::from_slice::<Value>(&one.answer) {
                Ok(value) => assert_eq!(serde_json::from_slice::<Value>(&body).ok(), Some(value), "{}", one.url),
                Err(_) => assert_eq!(text(&body), text(&one.answer), "{}", one.url),
            }
        }
        let (code, said) = proxy.end_and_read("-INT");
        assert_eq!(code, Some(0), "{said}");
        let [original, again] = ["fixtures/all.json", "fixtures/out.json"].map(|file| without_forms(&tree.read(file)));
        assert_eq!(again, original, "{format}");
    }
}

/// The turns of a fixture, with their texts in place and without the forms of its calls: an import leaves out those that were made
/// below another version than replay offers.
fn without_forms(fixture: &str) -> Vec<Value> {
    let mut fixture: Value = serde_json::from_str(fixture).unwrap();
    let texts = fixture["texts"].take();
    let mut turns = std::mem::take(fixture["turns"].as_array_mut().unwrap());
    for checks in turns.iter_mut().filter_map(|turn| turn.get_mut("checks")?.as_object_mut()) {
        for (check, all) in texts.as_object().unwrap() {
            let at = checks.get(check).and_then(Value::as_u64).unwrap_or_default();
            checks.insert(check.clone(), all[usize::try_from(at).unwrap()].clone());
        }
        checks.remove("form");
    }
    turns
}

/// Writes the same calls as a cassette in a different form.
type Form = fn(&mut Vec<Interaction>) -> String;

const OTHER_FORMS: [(&str, Form); 6] = [
    ("indented_json_and_other_key_order", |all| {
        for one in all.iter_mut() {
            for body in [&mut one.request, &mut one.answer] {
                if let Ok(value) = serde_json::from_slice::<Value>(body) {
                    *body = reversed(&value, 1).into_bytes();
                }
            }
        }
        cassette(all, "uri", |bytes| (quoted(&text(bytes), None), ""))
    }),
    ("bodies_as_binary", |all| cassette(all, "uri", |bytes| (format!("!!binary {}", STANDARD.encode(bytes)), ""))),
    ("gzipped_bodies", |all| {
        cassette(all, "uri", |bytes| {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            gzip.write_all(bytes).unwrap();
            (format!("!!binary {}", STANDARD.encode(gzip.finish().unwrap())), "Content-Encoding: [gzip]")
        })
    }),
    ("crlf_in_streams", |all| {
        for one in all.iter_mut().filter(|one| serde_json::from_slice::<Value>(&one.answer).is_err()) {
            one.answer = text(&one.answer).replace("\r\n", "\n").replace('\n', "\r\n").into_bytes();
        }
        cassette(all, "uri", |bytes| (format!("{{string: {}}}", quoted(&text(bytes), None)), ""))
    }),
    ("lines_split_in_yaml", |all| cassette(all, "uri", |bytes| (quoted(&text(bytes), Some(60)), ""))),
    ("no_header_as_go_vcr", |all| cassette(all, "url", |bytes| (quoted(&text(bytes), None), ""))),
];

fn in_another_form(folder: &Path, form: Form) {
    let all = files(folder).into_iter().flat_map(|file| read(&file));
    // Bodies that are not text have only one form.
    let is_text = |one: &Interaction| std::str::from_utf8(&one.answer).is_ok() && one.method == "POST";
    let mut all: Vec<Interaction> = all.filter(|one| is_text(one) && one.status == 200).collect();
    let tree = Tree::empty();
    let text = form(&mut all);
    tree.write("all.yaml", &text);
    let file = tree.path("all.yaml");
    for (i, one) in all.iter_mut().enumerate() {
        (one.file, one.number) = (file.clone(), i + 1);
    }
    let format = if text.contains("\n    url: ") { "go-vcr" } else { "vcr" };
    replays(format, &[&file], &all);
}

/// Imports files and repeats their interactions. Each successful POST gets its recorded answer; all other interactions are
/// reported as left out.
fn replays(format: &str, files: &[&PathBuf], interactions: &[Interaction]) {
    let tree = Tree::empty();
    let out = tree.path("all.json");
    let mut import = retake().args(&["import", format]);
    for file in files {
        import = import.arg(file);
    }
    let ran = import.arg("--out").arg(&out).run().exits(0);
    let (kept, left_out): (Vec<_>, Vec<_>) =
        interactions.iter().partition(|one| one.method == "POST" && (200..300).contains(&one.status));
    let turns = kept.len();
    let ran = ran.says(&[format!("{turns} turn{} written to ", if turns == 1 { "" } else { "s" })]);
    let said: Vec<&str> = ran.stderr.lines().filter(|line| line.starts_with("left out: ")).collect();
    assert_eq!(said.len(), left_out.len(), "{said:?}");
    for (line, one) in said.iter().zip(left_out) {
        let place = format!("left out: {}: interaction {} (line ", one.file.display(), one.number);
        assert!(line.starts_with(&place), "{line}");
    }
    // There is no other warning: every answer could be parsed, so it can be served in the format of other APIs too.
    assert_eq!(ran.stderr.lines().count(), said.len() + 1, "{}", ran.stderr);
    let serving = Serving::of(&out);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let client = client();
    for one in kept {
        let at = format!("{}: interaction {}: {}", one.file.display(), one.number, one.url);
        let path = one.url.split_once("://").and_then(|(_, rest)| rest.split_once('/')).unwrap().1;
        let request = client.post(format!("{}/{path}", serving.ready("url"))).body(one.request.clone());
        let (status, body) = runtime.block_on(async {
            let response = request.header("x-api-key", serving.ready("key")).send().await.unwrap();
            (response.status().as_u16(), response.bytes().await.unwrap())
        });
        assert_eq!(status, one.status, "{at}: {}", text(&body));
        match serde_json::from_slice::<Value>(&one.answer) {
            Ok(value) => assert_eq!(serde_json::from_slice::<Value>(&body).ok(), Some(value), "{at}"),
            // Streams are the same to the byte.
            Err(_) => assert_eq!(text(&body), text(&one.answer), "{at}"),
        }
        assert!(serde_json::from_slice::<Value>(&one.answer).is_ok() || body == one.answer, "{at}");
    }
}

pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{FOLDER}: {}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "yaml"));
    files.sort();
    files
}

fn is_go(file: &Path) -> bool {
    file.to_string_lossy().ends_with(".govcr.yaml")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(crate) fn read(file: &Path) -> Vec<Interaction> {
    let yaml = std::fs::read_to_string(file).unwrap();
    let root = value(&mut Parser::new_from_str(&yaml));
    let interactions = root["interactions"].as_array().unwrap().iter().enumerate();
    let read = interactions.map(|(i, one)| {
        let (request, response) = (&one["request"], &one["response"]);
        let status = [&response["status"]["code"], &response["code"]].into_iter().find_map(Value::as_u64);
        Interaction {
            file: file.to_owned(),
            number: i + 1,
            method: request["method"].as_str().unwrap().to_owned(),
            url: request["uri"].as_str().or(request["url"].as_str()).unwrap().to_owned(),
            request: body(request),
            status: u16::try_from(status.unwrap_or(200)).unwrap(),
            answer: body(response),
        }
    });
    read.collect()
}

/// Returns the body of a request or a response.
fn body(of: &Value) -> Vec<u8> {
    if of.get("parsed_body").is_some() {
        return of["parsed_body"].to_string().into_bytes();
    }
    let body = of["body"].get("string").unwrap_or(&of["body"]);
    match body.get(BINARY).and_then(Value::as_str) {
        Some(encoded) => STANDARD.decode(encoded).unwrap(),
        None => body.as_str().unwrap_or_default().as_bytes().to_vec(),
    }
}

/// The key that marks the value of a `!!binary` scalar.
const BINARY: &str = "!!binary";

/// Reads a document as [`value`] does.
pub(crate) fn document(text: &str) -> Value {
    value(&mut Parser::new_from_str(text))
}

/// Reads the next value. These recordings contain no aliases, and quote each string that could be read as another type.
fn value<'a>(events: &mut Parser<'a, granit_parser::StrInput<'a>>) -> Value {
    match events.next().unwrap().unwrap().0 {
        Event::Scalar(text, ScalarStyle::Plain, _, None) => match &*text {
            "" | "~" => Value::Null,
            plain => serde_json::from_str(plain).unwrap_or_else(|_| plain.into()),
        },
        Event::Scalar(text, _, _, Some(tag)) if tag.suffix() == "binary" => {
            json!({ BINARY: text.split_whitespace().collect::<String>() })
        }
        Event::Scalar(text, ..) => text.into_owned().into(),
        Event::SequenceStart(..) => {
            let mut list = Vec::new();
            while !matches!(events.peek(), Some(Ok((Event::SequenceEnd, _)))) {
                list.push(value(events));
            }
            events.next();
            list.into()
        }
        Event::MappingStart(..) => {
            let mut map = serde_json::Map::new();
            while !matches!(events.peek(), Some(Ok((Event::MappingEnd, _)))) {
                let Value::String(key) = value(events) else { panic!("a key that is not text") };
                map.insert(key, value(events));
            }
            events.next();
            map.into()
        }
        Event::Alias(_) => panic!("an alias"),
        _ => value(events),
    }
}

/// Returns a cassette. `body` returns a body as YAML, and a header that it needs.
fn cassette(all: &[Interaction], url: &str, body: impl Fn(&[u8]) -> (String, &'static str)) -> String {
    let mut out = "version: 1\ninteractions:\n".to_owned();
    for one in all {
        let [(request, of_request), (answer, of_answer)] = [body(&one.request), body(&one.answer)];
        let address = quoted(&one.url, None);
        writeln!(
            out,
            "- request:\n    body: {request}\n    headers: {{{of_request}}}\n    method: POST\n    {url}: {address}"
        )
        .unwrap();
        writeln!(
            out,
            "  response:\n    body: {answer}\n    headers: {{{of_answer}}}\n    status: {{code: 200}}\n    code: 200"
        )
        .unwrap();
    }
    out
}

/// Returns a text in double quotes, split into lines of this width.
fn quoted(text: &str, width: Option<usize>) -> String {
    let mut out = "\"".to_owned();
    for (i, character) in text.chars().enumerate() {
        if width.is_some_and(|width| i % width == width - 1) {
            // An escaped line end adds nothing to the text. An escaped space is not taken for indentation.
            out.push_str("\\\n      ");
            if character == ' ' {
                out.push('\\');
            }
        }
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            ' '..='~' => out.push(character),
            other => write!(out, "\\U{:08X}", u32::from(other)).unwrap(),
        }
    }
    out.push('"');
    out
}

/// Returns JSON with its keys in reverse order, each on a separate line.
fn reversed(value: &Value, depth: usize) -> String {
    let (line, end) = (format!("\n{}", "   ".repeat(depth)), format!("\n{}", "   ".repeat(depth - 1)));
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let fields = fields.iter().rev();
            let fields = fields.map(|(key, value)| format!("{line}{} : {}", json!(key), reversed(value, depth + 1)));
            format!("{{{}{end}}}", fields.collect::<Vec<_>>().join(" ,"))
        }
        Value::Array(elements) if !elements.is_empty() => {
            let elements = elements.iter().map(|element| format!("{line}{}", reversed(element, depth + 1)));
            format!("[{}{end}]", elements.collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}
