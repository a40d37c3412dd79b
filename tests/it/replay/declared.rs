//! An API that the suite declares: drift, misses, goldens, worlds and cost of a service that calls it, without a line of code for it.

use axum::Router;
use axum::http::Uri;
use axum::http::header::CONTENT_TYPE;

use retake_core::json::Json;
use retake_core::key::Rules;
use retake_wire::fixture::{Exchange, Recorded};
use retake_wire::{Api, Declaration, Known, Response, decode_response};

use crate::support::fixtures;
use crate::support::loopback::Service;
use crate::support::tree::Tree;
use crate::systems::service;

tests! { what_is_declared_has_an_effect, what_comes_with_retake_drifts_misses_and_has_worlds, a_fixture_of_an_api_that_is_not_declared_names_the_table }

const APIS: &str = r#"
[[apis]]
name = "ours"
path = "/ours/chat/completions"
prompt = "/instructions"
messages = "/history"
tools = "/functions"
model = "/engine"
settings = ["/temperature"]
text = "/reply/*/text"
usage = { input = "/cost/in", output = "/cost/out", cached = "/cost/cached" }
error = "/failure"
"#;

const SCENARIO: &str = r#"
cost = true
worlds = ["error-500", "cut-clean", "reset"]
[[step]]
post = "/model"
golden = true
json = { instructions = "Be brief.", functions = [{ name = "look" }], engine = "small", temperature = 0, user = "ann", history = [{ role = "user", content = "Where is the key?" }] }
"#;

/// A project with a service whose API is declared, and one recorded call of it.
fn recorded(answer: &str) -> Tree {
    let one = |text: &str| vec![text.to_owned()];
    let declaration = Declaration {
        name: "ours".to_owned(),
        path: one("/ours/chat/completions"),
        prompt: one("/instructions"),
        messages: one("/history"),
        tools: one("/functions"),
        model: one("/engine"),
        settings: one("/temperature"),
        text: one("/reply/*/text"),
        usage: [one("/cost/in"), one("/cost/out"), one("/cost/cached")],
        error: one("/failure"),
    };
    declaration.declare();
    let system = format!(
        "settle = \"0ms\"\nlinger = \"0ms\"\n[systems.agent]\ncommand = {}\nready = {{ http = \"/health\" }}\nenv = {{ PORT = \"{{{{ port }}}}\", \
         OPENAI_BASE_URL = \"{{{{ model.openai }}}}/ours\", OPENAI_API_KEY = \"{{{{ model.key }}}}\" }}\n",
        service::command()
    );
    let tree = Tree::with_suite(&(system + APIS));
    tree.scenario("ask", SCENARIO);
    let request = r#"{"instructions": "Be brief.", "functions": [{"name": "look"}], "engine": "small", "temperature": 0, "user": "ann",
        "history": [{"role": "user", "content": "Where is the key?"}]}"#;
    let (request, response) = (json(request), Response::json(200, json(answer)));
    let api = Api::from_name("ours").unwrap();
    let target = "/v1/ours/chat/completions".into();
    let exchange = Exchange { api, target, request: &request, headers: &Json::Null, response: &response };
    let output = decode_response(api, &response).unwrap_or_default();
    let turn = Recorded::of(&exchange, output, |_| None, &Rules::default(), &mut Known::default()).unwrap();
    fixtures::write(&tree, "ask", vec![turn]);
    tree
}

fn json(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

const ANSWER: &str = r#"{"reply": [{"text": "Under the mat, as always."}], "cost": {"in": 40, "out": 6, "cached": 8}}"#;

fn what_is_declared_has_an_effect() {
    let tree = recorded(ANSWER);
    tree.retake().args(&["test", "--update"]).run().exits(0);
    let golden = tree.read("goldens/ask.snap");
    assert!(
        golden.contains("/reply/*/text = turn 1") && golden.contains("1 call, 81 bytes, 40 + 6 tokens"),
        "{golden}"
    );
    let worlds = tree.read("goldens/worlds/ask.snap");
    assert!(worlds.contains("error-500") && worlds.contains("reset"), "{worlds}");
    tree.retake().args(&["test"]).run().exits(0);

    let file = "scenarios/ask/scenario.toml";
    let changes = [
        ("Be brief.", "Be long.", "prompt"),
        ("\"look\"", "\"seek\"", "tools"),
        ("\"small\"", "\"large\"", "model"),
        ("temperature = 0", "temperature = 1", "settings"),
    ];
    for (was, is, check) in changes {
        tree.replace(file, was, is);
        tree.retake().args(&["test", "ask"]).run().exits(0).says(&[check]);
        tree.replace(file, is, was);
    }
    tree.replace(file, "Where is the key?", "Where is the lamp?");
    tree.retake().args(&["test", "ask"]).run().exits(1).says(&["message 2 (human) of the call", "key", "lamp"]);
    tree.replace(file, "Where is the lamp?", "Where is the key?");
    tree.replace(file, "ann", "bob");
    tree.retake().args(&["test", "ask"]).run().exits(1).says(&["fields", "ann", "bob"]);

    // A declared error is no answer.
    let tree = recorded(r#"{"failure": "no model is free"}"#);
    tree.retake().args(&["show", "ask"]).run().exits(0).says(&["no model is free"]);
}

fn a_fixture_of_an_api_that_is_not_declared_names_the_table() {
    let tree = recorded(ANSWER);
    tree.replace("fixtures/ask.json", "\"ours\"", "\"theirs\"");
    tree.retake().args(&["test"]).run().exits(1).says(&["theirs", "a suite can declare others: `[[apis]]`"]);
}

/// Passes a request on to the model, and what comes of a stream's texts to its client. A stream without its end is an error.
const APP: &str = r#"
import json, os, urllib.error, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

def texts(value):
    if isinstance(value, dict):
        return "".join(value[key] if key == "text" else texts(value[key]) for key in value if key != "type")
    return ""

def ask(path, body, end):
    headers = {"authorization": "Bearer " + os.environ["KEY"], "content-type": "application/json"}
    request = urllib.request.Request(os.environ["MODEL"] + path, json.dumps(body).encode(), headers)
    text, last = "", ""
    with urllib.request.urlopen(request) as answer:
        for line in answer:
            if line.startswith(b"data: {"):
                event = json.loads(line[6:])
                last = event.get("event_type", event.get("type"))
                text += texts(event.get("delta"))
    if last != end:
        raise OSError("the answer broke off")
    return text

class Service(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer(200, {})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        try:
            self.answer(200, {"text": ask(asked["path"], asked["body"], asked["end"])})
        except (OSError, ValueError) as error:
            self.answer(502, {"error": str(error)})

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Service).serve_forever()
"#;

/// For each API that comes with Retake: its name, path, body and last event, and the events of its answer.
const COME_WITH_RETAKE: [(&str, &str, &str, &str, &[&str]); 3] = [
    (
        "cohere",
        "/v2/chat",
        r#"{ model = "command-a", stream = true, messages = [{ role = "system", content = "Be brief." }, { role = "user", content = "Where is the key?" }] }"#,
        "message-end",
        &[
            r#"{"type": "message-start", "delta": {"message": {"role": "assistant"}}}"#,
            r#"{"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "Under the mat, "}}}}"#,
            r#"{"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "as always."}}}}"#,
            r#"{"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": {"tokens": {"input_tokens": 40, "output_tokens": 6}}}}"#,
        ],
    ),
    (
        "gemini-interactions",
        "/v1beta/interactions",
        r#"{ model = "gemini-3-flash", stream = true, system_instruction = "Be brief.", input = "Where is the key?" }"#,
        "interaction.completed",
        &[
            r#"{"event_type": "interaction.created", "interaction": {"status": "in_progress"}}"#,
            r#"{"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "Under the mat, "}}"#,
            r#"{"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "as always."}}"#,
            r#"{"event_type": "interaction.completed", "interaction": {"usage": {"total_input_tokens": 40, "total_output_tokens": 6}}}"#,
        ],
    ),
    (
        "vertex-raw-predict",
        "/v1/projects/p/locations/l/publishers/anthropic/models/claude-x:streamRawPredict",
        r#"{ anthropic_version = "vertex-2023-10-16", max_tokens = 9, stream = true, system = "Be brief.", messages = [{ role = "user", content = "Where is the key?" }] }"#,
        "message_stop",
        &[
            r#"{"type": "message_start", "message": {"usage": {"input_tokens": 40, "output_tokens": 1}}}"#,
            r#"{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Under the mat, "}}"#,
            r#"{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "as always."}}"#,
            r#"{"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 6}}"#,
            r#"{"type": "message_stop"}"#,
        ],
    ),
];

/// Each of them, recorded from a stand-in: an edited prompt is a note, a changed message a miss that names it, and worlds run.
fn what_comes_with_retake_drifts_misses_and_has_worlds() {
    let stand_in = Service::start(Router::new().fallback(async |uri: Uri| {
        let path = uri.path();
        let (.., events) =
            COME_WITH_RETAKE.into_iter().find(|api| path.ends_with(api.1.trim_start_matches("/v1"))).unwrap();
        let frames: String = events.iter().flat_map(|event| ["data: ", event, "\n\n"]).collect();
        ([(CONTENT_TYPE, "text/event-stream")], frames)
    }));
    let upstream = stand_in.openai().replace("/v1", "");
    let tree = Tree::with_suite(
        "settle = \"0ms\"\nlinger = \"0ms\"\n[systems.agent]\ncommand = [\"python3\", \"app.py\"]\nready = { http = \"/\" }\n\
         env = { PORT = \"{{ port }}\", MODEL = \"{{ model.anthropic }}\", KEY = \"{{ model.key }}\" }\n",
    );
    tree.write("app.py", APP);
    for (name, path, body, end, _) in COME_WITH_RETAKE {
        let step = format!(
            "[[step]]\npost = \"/ask\"\ngolden = true\njson = {{ path = \"{path}\", end = \"{end}\", body = {body} }}\n"
        );
        tree.scenario(name, &format!("cost = true\nworlds = [\"error-500\", \"cut-clean\", \"reset\"]\n{step}"));
    }
    let record =
        tree.retake().arg("record").args(&COME_WITH_RETAKE.map(|api| api.0)).env("RETAKE_UPSTREAM_OPENAI", &upstream);
    record.env("RETAKE_UPSTREAM_GEMINI", &upstream).run().exits(0);
    tree.retake().args(&["test", "--update"]).run().exits(0);
    tree.retake().args(&["test"]).run().exits(0);
    for (name, ..) in COME_WITH_RETAKE {
        let fixture = tree.read(&format!("fixtures/{name}.json"));
        assert!(fixture.contains(&format!("\"api\": \"{name}\"")), "{fixture}");
        let golden = tree.read(&format!("goldens/{name}.snap"));
        assert!(golden.contains("/text = turn 1") && golden.contains("40 + 6 tokens"), "{golden}");
        let worlds = tree.read(&format!("goldens/worlds/{name}.snap"));
        let reported = worlds.lines().filter(|line| line.starts_with("turn ") && line.contains("reported")).count();
        // A request that fails in two ways, and a stream that is cut at its beginning, in its middle and before its end: one line.
        assert!(reported == 3 && !worlds.contains("SILENT"), "{worlds}");
        let file = format!("scenarios/{name}/scenario.toml");
        tree.replace(&file, "Be brief.", "Be long.");
        tree.retake().args(&["test", name]).run().exits(0).says(&["prompt changed", "\"brief.\" → \"long.\""]);
        tree.replace(&file, "Where is the key?", "Where is the lamp?");
        let miss = ["message 1 (human) of the call \"Where is the lamp?\"", "\"key?\" → \"lamp?\""];
        tree.retake().args(&["test", name]).run().exits(1).says(&miss);
    }
}
