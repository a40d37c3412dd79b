//! `retake serve`: the model server without a runner.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use serde_json::{Value, json};

use crate::support::fixtures::{self, turn};
use crate::support::loopback::{Reply, chat, send};
use crate::support::program::{Program, retake};
use crate::support::tree::Tree;

tests! { it_prints_its_urls_and_key_when_it_is_ready,
    it_uses_the_address_and_the_key_that_it_is_given,
    an_address_beyond_loopback_is_refused,
    it_answers_with_the_recorded_turn_as_json_or_as_a_stream,
    it_lists_the_models_of_the_turns,
    a_call_without_the_key_is_refused_with_401,
    a_miss_is_answered_with_404_in_the_error_format_of_the_provider,
    at_its_end_it_writes_its_report_and_its_exit_code_shows_misses,
    several_fixtures_are_served_together,
    a_fixture_that_cannot_be_read_is_an_error_that_names_it,
}

/// A running `retake serve` or `retake proxy` that is ready. It is killed when this value is dropped.
pub(crate) struct Serving {
    child: Child,
    output: BufReader<ChildStdout>,
    pub(crate) ready: Value,
}

impl Serving {
    pub(crate) fn start(program: Program) -> Serving {
        Serving::of_command(program.into_command().stdin(Stdio::null()))
    }

    /// Like `start`, but keeps the standard input open.
    pub(crate) fn held(program: Program) -> Serving {
        Serving::of_command(program.into_command().stdin(Stdio::piped()))
    }

    /// Closes the standard input and waits for the program to end.
    pub(crate) fn let_go(&mut self) -> ExitStatus {
        drop(self.child.stdin.take());
        self.child.wait().unwrap()
    }

    fn of_command(command: &mut Command) -> Serving {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let ready = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"));
        Serving { child, output, ready }
    }

    pub(crate) fn of(fixture: &Path) -> Serving {
        Serving::start(retake().arg("serve").arg(fixture))
    }

    pub(crate) fn ready(&self, name: &str) -> &str {
        self.ready[name].as_str().unwrap()
    }

    /// Calls the model as OpenAI's SDK does, with additional headers.
    pub(crate) fn ask(&self, headers: &[(&str, &str)], messages: &Value, stream: bool) -> Reply {
        let authorization = format!("Bearer {}", self.ready("key"));
        let headers = [&[("authorization", &*authorization)], headers].concat();
        send(&format!("{}/chat/completions", self.ready("openai")), &headers, Some(&chat(messages, stream)))
    }

    /// Sends a signal and waits for the end. Returns the exit code and what was written to standard error.
    pub(crate) fn end_and_read(&mut self, signal: &str) -> (Option<i32>, String) {
        let mut errors = self.child.stderr.take().unwrap();
        let reading = std::thread::spawn(move || {
            let mut text = String::new();
            errors.read_to_string(&mut text).map(|_| text)
        });
        let code = self.end(signal).code();
        (code, reading.join().unwrap().unwrap())
    }

    /// Sends a signal and waits for the program to end.
    pub(crate) fn end(&mut self, signal: &str) -> ExitStatus {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        self.child.wait().unwrap()
    }

    /// Requests one of the server's own endpoints, without the key.
    pub(crate) fn asked(&self, path: &str, body: Option<&Value>) -> Reply {
        send(&format!("{}/__retake/{path}", self.ready("url")), &[], body)
    }

    /// Ends the program. Returns its exit code and what it printed after the line that said it was ready.
    pub(crate) fn end_printing(&mut self, signal: &str) -> (Option<i32>, String) {
        let code = self.end(signal).code();
        let mut printed = String::new();
        self.output.read_to_string(&mut printed).unwrap();
        (code, printed)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a project with the fixture `greeting`, which has two turns.
pub(super) fn greeting() -> Tree {
    let tree = Tree::empty();
    let turns = vec![
        turn(Some("lead_agent"), "Hello", "Good morning"),
        turn(Some("middleware:title"), "A title for: Hello", "Greeting"),
    ];
    fixtures::write(&tree, "greeting", turns);
    tree
}

/// Returns the messages of a call: a system prompt, and this text from the user.
pub(crate) fn said(text: &str) -> Value {
    json!([{ "role": "system", "content": "Be brief" }, { "role": "user", "content": text }])
}

fn it_prints_its_urls_and_key_when_it_is_ready() {
    let tree = greeting();
    let serving = Serving::of(&tree.path("fixtures/greeting.json"));
    let keys: Vec<&String> = serving.ready.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["anthropic", "bedrock", "gemini", "key", "ollama", "openai", "url"]);
    let url = serving.ready("url");
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    assert_eq!(serving.ready("openai"), format!("{url}/v1"));
    for provider in ["anthropic", "bedrock", "gemini", "ollama"] {
        assert_eq!(serving.ready(provider), url);
    }
}

fn it_uses_the_address_and_the_key_that_it_is_given() {
    let tree = greeting();
    let serving = Serving::start(tree.retake().args(&["serve", "fixtures/greeting.json", "--key", "sk-of-mine"]));
    assert_eq!(serving.ready("key"), "sk-of-mine");
    let taken = serving.ready("url").strip_prefix("http://").unwrap();
    tree.retake()
        .args(&["serve", "fixtures/greeting.json", "--addr", taken])
        .run()
        .exits(2)
        .says(&[&format!("error: failed to listen on {taken}: ")]);
}

fn an_address_beyond_loopback_is_refused() {
    let tree = greeting();
    tree.retake().args(&["serve", "fixtures/greeting.json", "--addr", "0.0.0.0:0"]).run().exits(2).says(&[
        "error: 0.0.0.0:0 is not a loopback address: the replay model listens on loopback only",
        "use 127.0.0.1:0 for a free port",
    ]);
}

fn it_answers_with_the_recorded_turn_as_json_or_as_a_stream() {
    let tree = greeting();
    let serving = Serving::of(&tree.path("fixtures/greeting.json"));
    let whole = serving.ask(&[], &said("Hello"), false);
    assert_eq!((whole.status, &*whole.headers["content-type"]), (200, "application/json"));
    assert_eq!(whole.json()["choices"][0]["message"]["content"], "Good morning");
    let stream = serving.ask(&[("x-retake-caller", "title_agent")], &said("A title for: Hello"), true);
    assert_eq!(stream.status, 200);
    assert!(stream.headers["content-type"].starts_with("text/event-stream"));
    assert!(stream.body.contains("Greeting") && stream.body.ends_with("data: [DONE]\n\n"), "{}", stream.body);
}

fn it_lists_the_models_of_the_turns() {
    let tree = greeting();
    let serving = Serving::of(&tree.path("fixtures/greeting.json"));
    let authorization = format!("Bearer {}", serving.ready("key"));
    let models = send(&format!("{}/models", serving.ready("openai")), &[("authorization", &authorization)], None);
    assert_eq!((models.status, &models.json()["data"][0]["id"]), (200, &json!("gpt-4o-mini")));
}

fn a_call_without_the_key_is_refused_with_401() {
    let tree = greeting();
    let mut serving = Serving::of(&tree.path("fixtures/greeting.json"));
    let (url, body) = (format!("{}/chat/completions", serving.ready("openai")), chat(&said("Hello"), false));
    let noted = "refused: `POST /v1/chat/completions`, with no key in the call";
    for (headers, kind, missed) in
        [(&[][..], "no_key", 0), (&[("authorization", "Bearer sk-another")], "replay_miss", 1)]
    {
        let refused = send(&url, headers, Some(&body));
        assert_eq!(refused.status, 401);
        assert_eq!(refused.headers["x-should-retry"], "false");
        assert_eq!(refused.json()["error"]["type"], kind);
        let report = serving.asked("report", None).json();
        assert_eq!(report["missed"].as_array().unwrap().len(), missed, "{report}");
        assert_eq!(report["drift"][0]["text"], noted);
    }
    // The key is accepted in the header of any provider.
    let key = serving.ready("key").to_owned();
    for name in ["x-api-key", "api-key", "x-goog-api-key"] {
        assert_ne!(send(&url, &[(name, &key)], Some(&body)).status, 401, "{name}");
    }
    assert_eq!(serving.end("-TERM").code(), Some(1));
}

fn a_miss_is_answered_with_404_in_the_error_format_of_the_provider() {
    let tree = greeting();
    let serving = Serving::of(&tree.path("fixtures/greeting.json"));
    for stream in [false, true] {
        let miss = serving.ask(&[("x-retake-caller", "lead_agent")], &said("Hallo"), stream);
        assert_eq!((miss.status, &*miss.headers["x-should-retry"]), (404, "false"));
        let error = &miss.json()["error"];
        assert_eq!(error["type"], "replay_miss");
        let message = error["message"].as_str().unwrap();
        assert!(message.starts_with("replay miss: message 1 (human) of `lead_agent` says different text"), "{message}");
        assert!(message.contains("words \"Hello\" → \"Hallo\""), "{message}");
    }
}

/// A signal ends the server. It then writes what was served, missed and unused, and exits with 1 if a call missed.
fn at_its_end_it_writes_its_report_and_its_exit_code_shows_misses() {
    for (signal, misses, code) in [("-TERM", false, 0), ("-INT", false, 0), ("-TERM", true, 1), ("-INT", true, 1)] {
        let tree = greeting();
        let program = tree.retake().args(&["serve", "fixtures/greeting.json", "--report", "out/report.json"]);
        let mut serving = Serving::start(program);
        assert_eq!(serving.ask(&[], &said("Hello"), false).status, 200);
        if misses {
            assert_eq!(serving.ask(&[("x-retake-caller", "subagent:x")], &said("Hi"), false).status, 404);
        }
        assert_eq!(serving.end(signal).code(), Some(code));
        let report: Value = serde_json::from_str(&tree.read("out/report.json")).unwrap();
        assert_eq!(report["served"], json!([{ "turn": 0, "caller": "lead_agent" }]));
        assert_eq!(report["unused"], json!([{ "turn": 1, "caller": "middleware:title" }]));
        let missed: Vec<(&Value, &Value, &Value)> =
            report["missed"].as_array().unwrap().iter().map(|m| (&m["call"], &m["caller"], &m["reason"])).collect();
        let (call, caller) = (json!("POST /v1/chat/completions"), json!("subagent:x"));
        let reason = json!("this conversation was never recorded");
        assert_eq!(missed, if misses { vec![(&call, &caller, &reason)] } else { vec![] });
    }
}

fn several_fixtures_are_served_together() {
    let tree = greeting();
    fixtures::write(&tree, "parting", vec![turn(None, "Goodbye", "So long")]);
    let serving = Serving::start(tree.retake().args(&["serve", "fixtures/greeting.json", "fixtures/parting.json"]));
    for (hears, says) in [("Goodbye", "So long"), ("Hello", "Good morning")] {
        assert_eq!(serving.ask(&[], &said(hears), false).json()["choices"][0]["message"]["content"], says);
    }
}

fn a_fixture_that_cannot_be_read_is_an_error_that_names_it() {
    let tree = greeting();
    tree.write("fixtures/torn.json", "{\"turns\": [");
    tree.write("fixtures/later.json", "{\"format\": \"retake/99\", \"turns\": []}");
    for (file, says) in [
        ("none.json", "none.json: failed to read it: no such file"),
        ("torn.json", "torn.json:1:12: not JSON"),
        (
            "later.json",
            "later.json:1:2: `format`: unknown version \"retake/99\", this version of Retake reads \"retake/2\" and \"retake/1\"",
        ),
    ] {
        tree.retake().args(&["serve", &format!("fixtures/{file}")]).run().exits(2).says(&[says]);
    }
}
