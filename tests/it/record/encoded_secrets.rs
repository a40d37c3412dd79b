//! Secrets in each encoding that services use, in everything that a recorder, an importer and a server see. None of them reaches
//! a file or the terminal in any encoding, and replay matches whether the system has the secrets or their placeholders.

use std::io::Write as _;
use std::sync::LazyLock;

use axum::Router;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use retake::Stage;
use serde_json::{Value, json};

use crate::record::proxy::proxy;
use crate::replay::serve::Serving;
use crate::support::loopback::{Reply, Service, send};
use crate::support::program::Program;
use crate::support::tree::Tree;

tests! { no_encoded_secret_is_in_a_file_after_proxy_and_replay_matches,
    no_encoded_secret_is_in_a_file_after_record_and_replay_matches,
    no_encoded_secret_is_in_a_file_after_import_and_replay_matches,
}

/// The value of a declared variable, which is no word in ASCII.
const DECLARED: &str = "g\u{e9}heim-\u{20ac}uro-zebraDeclared01";

/// Secrets in two parts each, so no scanner reports this file as a leak; the part of each that must be in no file; and what
/// takes the place of each.
const SECRETS: [(&str, &str, &str, &str); 8] = [
    (
        "-----BEGIN PRIVATE",
        " KEY-----\nMIIEzebraPem01AAkq/hkiG9w0B\nZq81kLm02nXp47RtvB6zebraPem01==\n-----END PRIVATE KEY-----",
        "zebraPem01AAkq",
        "<PRIVATE_KEY>",
    ),
    (
        "https://hooks.slack",
        ".com/services/T00000000/B00000000/zebraSlack01abcdefghij",
        "zebraSlack01abcdefghij",
        "https://hooks.slack.com/services/<SLACK_WEBHOOK>",
    ),
    (
        "aws_secret_access_key=",
        "zebraAws01lrXUtn/EMI/K7MDENG/bPxRfiCYEXAM",
        "zebraAws01lrXUtn",
        "aws_secret_access_key=<AWS_SECRET_KEY>",
    ),
    (
        "AccountKey=",
        "zebraAzure01AB/klmnopqrstuvwxyz+0123456789/ABCDEFGH==",
        "zebraAzure01AB",
        "AccountKey=<AZURE_KEY>",
    ),
    ("1//0", "zebraGoogle01abcdefghijklmnopqrstuvwxyz", "zebraGoogle01abcdef", "<GOOGLE_TOKEN>"),
    (
        "https://b.s3.amazonaws.com/k?X-Amz-Signature=",
        "zebraSigned010123456789abcdef",
        "zebraSigned010123456789",
        "https://b.s3.amazonaws.com/k?X-Amz-Signature=<SIGNATURE>",
    ),
    ("sk-proj-", "zebraOpenai01abcdefghij", "zebraOpenai01abcdefghij", "<OPENAI_KEY>"),
    ("password=", "zebraPass01!Quartz", "zebraPass01", "password=<SUSPECTED_PASSWORD>"),
];

/// Stands between two secrets. What is in lines is not joined over it.
const BETWEEN: &str = " , and what comes after it, in more words than fit between two lines of one text, is this: ";

type Encode = fn(&str) -> String;

/// The encodings. `gzip` leaves texts as they are, and compresses the whole answer.
const ENCODINGS: [(&str, Encode); 60] = [
    ("plain", str::to_owned),
    ("gzip", str::to_owned),
    ("url", url),
    ("url twice", |text| url(&url(text))),
    ("json", |text| escape(text, |c| if c.is_ascii() { None } else { Some(utf16(c)) })),
    ("json of json", |text| escape(&escape(text, |c| if c.is_ascii() { None } else { Some(utf16(c)) }), |_| None)),
    ("python's str", |text| escape(text, |c| (!c.is_ascii()).then(|| python(c)))),
    ("python's bytes", |text| escape(text, |c| (!c.is_ascii()).then(|| of_bytes(c, |byte| format!("\\x{byte:02x}"))))),
    ("javascript's", |text| {
        escape(text, |c| (!c.is_ascii_alphanumeric()).then(|| format!("\\u{{{:x}}}", u32::from(c))))
    }),
    ("base64", |text| STANDARD.encode(text)),
    ("base64 after one character", |text| STANDARD.encode(format!(":{text} and on"))),
    ("base64 after two characters", |text| STANDARD.encode(format!("u:{text}"))),
    ("base64 for urls", |text| URL_SAFE_NO_PAD.encode(format!("?>?{text}"))),
    ("base64 as MIME", |text| broken(text, 76, "\r\n", |_, line| line.to_owned())),
    ("base64 as PEM, quoted", |text| broken(text, 64, "\n", |_, line| format!("> {line}"))),
    ("base64 for urls, narrow", |text| {
        broken(text, 32, "\n", |_, line| line.to_owned()).replace('+', "-").replace('/', "_")
    }),
    ("base64 with numbers", |text| broken(text, 64, "\n", |n, line| format!("{n:>6}\u{2192}{line}"))),
    ("base64 as a list", |text| broken(text, 76, ",\n", |_, line| format!("  \"{line}\""))),
    ("base64 as MIME, in json", |text| escape(&broken(text, 76, "\n", |_, line| line.to_owned()), |_| None)),
    ("form", |text| url::form_urlencoded::byte_serialize(text.as_bytes()).collect()),
    ("json three deep", |text| escape(&escape(&escape(text, |_| None), |_| None), |_| None)),
    ("numbered", |text| lines(text, "\n", |n, line| format!("{n:>6}\u{2192}{line}"))),
    ("in a diff", |text| lines(text, "\n", |_, line| format!("+{line}"))),
    // Those from here on are planted in one place each.
    ("base64 indented", |text| broken(text, 76, "\n", |_, line| format!("      {line}"))),
    ("base64 quoted twice", |text| broken(text, 72, "\r\n", |_, line| format!(">> > {line}"))),
    ("base64 numbered by cat", |text| broken(text, 76, "\n", |n, line| format!("{n:>6}\t{line}"))),
    ("base64 after a bar", |text| broken(text, 76, "\n", |n, line| format!("{n}|{line}"))),
    ("base64 after a colon", |text| broken(text, 64, "\n", |n, line| format!("{n}: {line}"))),
    ("base64 after brackets", |text| broken(text, 76, "\n", |n, line| format!("[{n}] {line}"))),
    ("base64 in a box", |text| broken(text, 60, "\n", |_, line| format!("\u{2502} {line} \u{2502}"))),
    ("base64 in comments", |text| broken(text, 76, "\n", |_, line| format!("# {line}"))),
    ("base64 in comments of C", |text| broken(text, 76, "\n", |_, line| format!(" * {line}"))),
    ("base64 in comments of Rust", |text| broken(text, 70, "\n", |_, line| format!("// {line}"))),
    ("base64 removed in a diff", |text| broken(text, 76, "\n", |_, line| format!("-{line}"))),
    ("base64 in a list of YAML", |text| broken(text, 76, "\n", |_, line| format!("  - {line}"))),
    ("base64 found by grep", |text| broken(text, 64, "\n", |n, line| format!("conf/a.pem:{n}:{line}"))),
    ("base64 in a log", |text| broken(text, 76, "\n", |n, line| format!("2024-05-01T10:00:{n:02}Z app[17]: {line}"))),
    ("base64 joined by +", |text| broken(text, 64, " +\n", |_, line| format!("  \"{line}\\n\""))),
    ("base64 continued", |text| broken(text, 76, "\n", |_, line| format!("{line}\\"))),
    ("base64 in HTML", |text| broken(text, 76, "<br>", |_, line| line.to_owned())),
    ("base64 in a list of HTML", |text| broken(text, 76, "\n", |_, line| format!("<li><code>{line}</code></li>"))),
    ("base64 in a table", |text| broken(text, 76, "\n", |n, line| format!("| {n} | `{line}` |"))),
    ("base64 in one line", |text| broken(text, 76, " ", |_, line| line.to_owned())),
    ("base64 in base64", |text| STANDARD.encode(format!("inside: {}", STANDARD.encode(text)))),
    ("after a bar", |text| lines(text, "\n", |n, line| format!("{n}|{line}"))),
    ("in a box", |text| lines(text, "\n", |_, line| format!("\u{2502} {line} \u{2502}"))),
    ("in comments", |text| lines(text, "\n", |_, line| format!("# {line}"))),
    ("found by grep", |text| lines(text, "\n", |n, line| format!("conf/a.pem:{n}:{line}"))),
    ("in a list of YAML", |text| lines(text, "\n", |_, line| format!("  - {line}"))),
    ("in a list of JSON", |text| lines(text, ", ", |_, line| format!("\"{line}\""))),
    ("joined by +", |text| lines(text, " +\n", |_, line| format!("  \"{line}\\n\""))),
    ("in HTML", |text| lines(text, "<br>", |_, line| line.to_owned())),
    ("in a table", |text| lines(text, "\n", |n, line| format!("| {n} | `{line}` |"))),
    ("each byte of a url", |text| text.chars().map(|c| of_bytes(c, |byte| format!("%{byte:02X}"))).collect()),
    ("json in a url", |text| url(&escape(text, |c| (!c.is_ascii()).then(|| utf16(c))))),
    ("a url in json", |text| escape(&url(text), |c| (c == '%').then(|| utf16(c)))),
    ("go's json", |text| escape(text, |c| matches!(c, '=' | '&' | '<' | '>').then(|| utf16(c)))),
    ("php's json", |text| escape(text, |c| (c == '/').then(|| "\\/".to_owned()))),
    ("python's octal", |text| {
        escape(text, |c| (!c.is_ascii_alphanumeric()).then(|| of_bytes(c, |byte| format!("\\{byte:03o}"))))
    }),
    ("a form in json in json", |text| {
        let form: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
        escape(&escape(&format!("\"{form}\""), |_| None), |_| None)
    }),
];

/// How many of the encodings are planted in each place.
const EVERYWHERE: usize = 23;

/// Puts each line of a text into a frame.
fn lines(text: &str, between: &str, frame: impl Fn(usize, &str) -> String) -> String {
    text.lines().enumerate().map(|(n, line)| frame(n + 1, line)).collect::<Vec<_>>().join(between)
}

/// Returns the base64 of a text in lines of a width, each in a frame.
fn broken(text: &str, width: usize, between: &str, frame: impl Fn(usize, &str) -> String) -> String {
    let base64 = STANDARD.encode(format!("it says, in base64: {text} (and that is all)"));
    let lines = (0..base64.len()).step_by(width).map(|at| &base64[at..base64.len().min(at + width)]);
    lines.enumerate().map(|(n, line)| frame(n + 1, line)).collect::<Vec<_>>().join(between)
}

fn url(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

/// Escapes quotes, backslashes and line feeds, and what `of` escapes.
fn escape(text: &str, of: impl Fn(char) -> Option<String>) -> String {
    let one = |c: char| match c {
        '\n' => "\\n".to_owned(),
        '"' | '\\' => format!("\\{c}"),
        c => of(c).unwrap_or_else(|| c.to_string()),
    };
    text.chars().map(one).collect()
}

fn utf16(c: char) -> String {
    let units: Vec<String> = c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect();
    units.concat()
}

fn python(c: char) -> String {
    if u32::from(c) < 256 { format!("\\x{:02x}", u32::from(c)) } else { format!("\\u{:04x}", u32::from(c)) }
}

fn of_bytes(c: char, of: impl Fn(u8) -> String) -> String {
    c.to_string().bytes().map(of).collect()
}

/// The places where all secrets are planted at once, each in one encoding. The number is how long the pieces of a stream are.
const PLACES: [(&str, usize); 11] = [
    ("message", 0),
    ("system", 0),
    ("tool definition", 0),
    ("tool arguments", 0),
    ("tool result", 0),
    ("embedding", 0),
    ("answer", 0),
    ("answer's arguments", 0),
    ("answer", 3),
    ("answer's arguments", 11),
    ("error", 0),
];

struct Planted {
    number: usize,
    place: &'static str,
    pieces: usize,
    encoding: &'static str,
    encode: Encode,
}

fn planted() -> Vec<Planted> {
    let each = ENCODINGS.iter().enumerate().flat_map(|(at, encoding)| {
        let places = if at < EVERYWHERE { &PLACES[..] } else { std::slice::from_ref(&PLACES[at % PLACES.len()]) };
        places.iter().map(move |place| (encoding, place))
    });
    let planted = each.enumerate().map(|(number, ((encoding, encode), (place, pieces)))| Planted {
        number,
        place,
        pieces: *pieces,
        encoding,
        encode: *encode,
    });
    planted.collect()
}

/// The secrets, or what takes their place, each of them encoded.
fn secrets(encode: Encode, scrubbed: bool) -> String {
    let known =
        SECRETS.map(|(first, second, _, word)| if scrubbed { word.to_owned() } else { format!("{first}{second}") });
    let declared = if scrubbed { "<DECLARED>" } else { DECLARED };
    let all = known.iter().map(String::as_str).chain([declared]);
    all.map(encode).collect::<Vec<_>>().join(BETWEEN)
}

impl Planted {
    fn text(&self, scrubbed: bool) -> String {
        secrets(self.encode, scrubbed)
    }

    fn of_answer(&self) -> bool {
        self.place.contains("answer") || self.place == "error"
    }

    /// Returns the path and the body of the call.
    fn request(&self, text: &str) -> (String, Value) {
        let at = |place: &str| if self.place == place { text } else { "nothing" };
        let case = format!("case {}", self.number);
        if self.place == "embedding" {
            return ("/v1/embeddings".to_owned(), json!({ "model": "e", "input": [case, text] }));
        }
        let function = json!({ "name": "look", "arguments": json!({ "value": at("tool arguments") }).to_string() });
        let call = json!({ "id": "call_1", "type": "function", "function": function });
        let tool = json!({ "name": "look", "description": at("tool definition"), "parameters": { "type": "object" } });
        let body = json!({
            "model": "m",
            "stream": self.pieces > 0,
            "tools": [{ "type": "function", "function": tool }],
            "messages": [
                { "role": "system", "content": at("system") },
                { "role": "user", "content": format!("{case}: use {}", at("message")) },
                { "role": "assistant", "content": null, "tool_calls": [call] },
                { "role": "tool", "tool_call_id": "call_1", "content": at("tool result") },
            ],
        });
        ("/v1/chat/completions".to_owned(), body)
    }

    fn call(&self, url: &str, key: &str, scrubbed: bool) -> Reply {
        let (path, body) = self.request(&self.text(scrubbed));
        send(&format!("{url}{path}"), &[("authorization", &format!("Bearer {key}"))], Some(&body))
    }

    /// Returns the provider's answer: status, content type and body.
    fn answer(&self) -> (StatusCode, &'static str, String) {
        let text = if self.of_answer() { self.text(false) } else { "nothing".to_owned() };
        if self.place == "embedding" {
            return (StatusCode::OK, "application/json", json!({ "data": [0.25] }).to_string());
        }
        if self.place == "error" {
            let error = json!({ "error": { "message": format!("not so: {text}"), "type": "auth" } });
            return (StatusCode::UNAUTHORIZED, "application/json", error.to_string());
        }
        let arguments = json!({ "value": text }).to_string();
        let in_arguments = self.place == "answer's arguments";
        if self.pieces > 0 {
            let whole: Vec<char> = if in_arguments { &arguments } else { &text }.chars().collect();
            let chunk = |delta: &Value, finish: &Value| {
                let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
                format!("data: {}\n\n", json!({ "id": "c", "model": "m", "choices": [choice] }))
            };
            let piece = |piece: &[char]| {
                let piece: String = piece.iter().collect();
                let call = json!([{ "index": 0, "id": "c", "function": { "name": "look", "arguments": piece } }]);
                chunk(
                    &if in_arguments { json!({ "tool_calls": call }) } else { json!({ "content": piece }) },
                    &Value::Null,
                )
            };
            let mut stream: String = whole.chunks(self.pieces).map(piece).collect();
            stream += &chunk(&json!({}), &json!("stop"));
            return (StatusCode::OK, "text/event-stream", stream + "data: [DONE]\n\n");
        }
        let function = json!({ "name": "look", "arguments": if in_arguments { arguments } else { "{}".to_owned() } });
        let call = json!({ "id": "c", "type": "function", "function": function });
        let message =
            json!({ "role": "assistant", "content": if in_arguments { "" } else { &text }, "tool_calls": [call] });
        let choice = json!({ "index": 0, "message": message, "finish_reason": "tool_calls" });
        (StatusCode::OK, "application/json", json!({ "id": "c", "model": "m", "choices": [choice] }).to_string())
    }

    fn response(&self) -> Response {
        let (status, kind, body) = self.answer();
        if self.encoding != "gzip" {
            return (status, [(CONTENT_TYPE, kind)], body).into_response();
        }
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(body.as_bytes()).unwrap();
        (status, [(CONTENT_TYPE, kind), (CONTENT_ENCODING, "gzip")], encoder.finish().unwrap()).into_response()
    }
}

/// In each encoding, in a paragraph of its own: a key in lines, a declared value, and in turn one of those with a known form.
pub(super) fn all_texts() -> String {
    let texts = ENCODINGS.iter().enumerate().map(|(at, (_, encode))| {
        let of_form = [0, 1 + at % (SECRETS.len() - 1)].map(|one| format!("{}{}", SECRETS[one].0, SECRETS[one].1));
        let all = of_form.iter().map(String::as_str).chain([DECLARED]);
        all.map(encode).collect::<Vec<_>>().join(BETWEEN)
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

fn provider() -> Service {
    Service::start(Router::new().fallback(async |body: String| {
        let (_, number) = body.split_once("case ").unwrap();
        let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
        planted()[digits.parse::<usize>().unwrap()].response()
    }))
}

/// Returns a project that declares the value, and accepts placeholders of passwords.
pub(super) fn tree() -> Tree {
    let tree = Tree::with_suite("settle = \"100ms\"\nsecrets = [\"DECLARED\"]\nsuspects = { password = \"mask\" }\n");
    let step = "[[step]]\npost = \"/run\"\nstream = { last = \"end\" }\n";
    tree.scenario("out", &format!("timeout = \"120s\"\nrecord = {{ errors = true }}\n{step}"));
    tree
}

pub(super) fn with_variables(program: Program) -> Program {
    program.env("DECLARED", DECLARED).env("OPENAI_API_KEY", "the-provider-s-0wn-key")
}

/// What must be in no file: the core of each secret in each encoding, with the encoding's name.
static CORES: LazyLock<Vec<(&str, String)>> = LazyLock::new(|| {
    let mut cores = Vec::new();
    for core in SECRETS.map(|(_, _, core, _)| core).into_iter().chain(["zebraDeclared01"]) {
        for (name, encode) in ENCODINGS.iter().filter(|(name, _)| !name.starts_with("base64")) {
            cores.push((*name, encode(core)));
        }
        for before in ["", "x", "xx"] {
            let whole = STANDARD.encode(format!("{before}{core}"));
            // Without the characters that depend on what is before and after it.
            cores.push(("base64", whole[if before.is_empty() { 0 } else { 4 }..whole.len() - 4].to_owned()));
        }
    }
    cores
});

#[track_caller]
pub(super) fn assert_absent(what: &str, text: &str) {
    for (encoding, core) in CORES.iter() {
        if let Some(at) = text.find(core) {
            let around: String = text[..at].chars().rev().take(200).collect::<Vec<_>>().into_iter().rev().collect();
            panic!("{core} ({encoding}) is in {what}: …{around}{core}");
        }
    }
}

#[track_caller]
pub(super) fn assert_in_no_file(tree: &Tree) {
    let runs = tree.path(".retake/runs");
    let runs = std::fs::read_dir(runs).into_iter().flatten().map(|entry| entry.unwrap().path());
    let runs = runs.map(|path| (path.display().to_string(), std::fs::read_to_string(&path).unwrap()));
    for (file, text) in tree.files().into_iter().chain(runs) {
        assert_absent(&file, &text);
    }
}

/// Replays with the secrets, and with what takes their place. Then misses some.
fn replays(tree: &Tree) {
    let planted = planted();
    for scrubbed in [false, true] {
        let program = tree.retake().args(&["serve", "fixtures/out.json", "--report", "report.json"]);
        let mut serving = Serving::start(with_variables(program));
        for one in &planted {
            let reply = one.call(serving.ready("url"), serving.ready("key"), scrubbed);
            let status = if one.place == "error" { 401 } else { 200 };
            assert_eq!(reply.status, status, "{} in a {}, {scrubbed}: {}", one.encoding, one.place, reply.body);
            assert_absent("an answer", &reply.body);
        }
        // What misses is reported without its secrets too.
        for one in planted.iter().filter(|one| one.place == "message" || one.place == "tool result") {
            assert_eq!(one.call(serving.ready("url"), serving.ready("key"), false).status, 404);
        }
        let (code, said) = serving.end_and_read("-INT");
        assert_eq!(code, Some(1), "{said}");
        assert_absent("what serve printed", &said);
        assert_absent("its report", &tree.read("report.json"));
    }
}

fn no_encoded_secret_is_in_a_file_after_proxy_and_replay_matches() {
    let (provider, tree, planted) = (provider(), tree(), planted());
    let mut proxy = Serving::start(with_variables(proxy(&tree, &provider.openai()).arg("--errors")));
    for one in &planted {
        let reply = one.call(proxy.ready("url"), "ours", false);
        let (status, _, body) = one.answer();
        assert_eq!((reply.status, reply.body), (status.as_u16(), body), "the system gets the real answer");
    }
    let (code, said) = proxy.end_and_read("-INT");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains(&format!("{} turns recorded to fixtures/out.json, 0 left out", planted.len())), "{said}");
    assert_absent("what was printed", &said);
    assert_in_no_file(&tree);
    replays(&tree);
}

fn no_encoded_secret_is_in_a_file_after_record_and_replay_matches() {
    let (provider, tree) = (provider(), tree());
    let runner = tree.recorder("encoded", "record", "out");
    let ran = with_variables(runner).env("RETAKE_UPSTREAM_OPENAI", provider.openai()).run().exits(0);
    let recorded = format!("out: {} turns recorded to fixtures/out.json, two replays agree", planted().len());
    assert_absent("what was printed", &ran.says(&[recorded]).all());
    assert_in_no_file(&tree);
    with_variables(tree.runner("encoded")).run().exits(0);
    for args in [&["show", "out"] as &[&str], &["explain", "out"], &["report", "--no-open"]] {
        assert_absent(args[0], &with_variables(tree.retake().args(args)).run().all());
    }
    // Without the rule nothing is written, but paid for nothing again either: the journal has it all.
    assert_in_no_file(&tree);
}

fn no_encoded_secret_is_in_a_file_after_import_and_replay_matches() {
    let (tree, archives) = (tree(), Tree::empty());
    let entries = planted().into_iter().map(|one| {
        let (path, body) = one.request(&one.text(false));
        let (status, kind, text) = one.answer();
        let request = json!({ "method": "POST", "url": format!("https://api.openai.com{path}"), "headers": [],
            "postData": { "mimeType": "application/json", "text": body.to_string() } });
        let content = json!({ "mimeType": kind, "text": text });
        json!({ "request": request, "response": { "status": status.as_u16(), "headers": [], "content": content } })
    });
    archives.write("all.har", &json!({ "log": { "entries": entries.collect::<Vec<_>>() } }).to_string());
    let import = tree.retake().args(&["import", "har"]).arg(archives.path("all.har")).args(&["--errors", "--out"]);
    let ran = with_variables(import).arg("fixtures/out.json").run().exits(0);
    assert_absent("what was printed", &ran.all());
    assert_in_no_file(&tree);
    replays(&tree);
}

/// Serves a system that makes all the calls, one after another, with the secrets.
pub(crate) fn router(stage: &Stage) -> Router {
    let (url, key) = (stage.model().url.clone(), stage.key().to_owned());
    Router::new().fallback(async move || {
        let calls = tokio::task::spawn_blocking(move || {
            for one in planted() {
                drop(one.call(&url, &key, false));
            }
        });
        calls.await.unwrap();
        ([(CONTENT_TYPE, "text/event-stream")], "event: end\ndata: null\n\n")
    })
}
