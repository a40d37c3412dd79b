//! Whether a client receives an answer while the model still gives it: asked, not timed.

use crate::support::fixtures::{turn, write};
use crate::support::tree::{Tree, undated};

tests! {
    text_that_waits_for_the_end_of_its_answer_is_noticed,
    a_service_that_does_not_wait_for_what_is_held_back_shows_its_own_fault,
    a_stream_that_waits_for_all_answers_is_held_to_no_more,
    accepting_asks_what_updating_asks,
    a_client_that_leaves_waits_for_nothing,
}

/// A service that asks a model for a plan, says it, and passes on the answer piece by piece. `HOLDS` says what it keeps to itself.
const APP: &str = r#"
import http.server, json, os, urllib.request

HOLDS = os.environ.get("HOLDS", "")

def ask(question):
    body = {"model": "gpt-4o-mini", "stream": True, "messages": [{"role": "user", "content": question}]}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json.dumps(body).encode(),
        {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]})
    with urllib.request.urlopen(request, timeout=3) as answer:
        for line in answer:
            if line.startswith(b"data: {"):
                for choice in json.loads(line[6:])["choices"]:
                    yield choice["delta"].get("content") or ""

class Service(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        kept = []
        def say(name, text):
            kept.append(f"event: {name}\ndata: {json.dumps({'text': text})}\n\n")
            if HOLDS != "all":
                self.wfile.write("".join(kept).encode())
                kept.clear()
        say("plan", "".join(ask("plan")))
        pieces = ask("answer")
        try:
            for piece in list(pieces) if HOLDS == "text" else pieces:
                say("delta", piece)
        except TimeoutError:
            say("delta", "".join(ask("another answer")))
        say("end", "")
        self.wfile.write("".join(kept).encode())

    def log_message(self, *_):
        pass

http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Service).serve_forever()
"#;
const SUITE: &str = r#"[systems.app]
command = ["python3", "app.py"]
env = { PORT = "{{ port }}", OPENAI_BASE_URL = "{{ model.openai }}", OPENAI_API_KEY = "{{ model.key }}", HOLDS = "none" }
ready = { http = "/" }
"#;
const SCENARIO: &str = r#"timeout = "20s"
[[step]]
post = "/chat"
json = {}
stream = { last = "end" }
"#;

/// Returns a project whose scenario has a fixture and no golden.
fn tree() -> Tree {
    let tree = Tree::with_suite(SUITE);
    tree.write("app.py", APP);
    tree.scenario("chat", SCENARIO);
    let answer = turn(None, "answer", "It rains in Paris, as it often does at this time of year.");
    write(&tree, "chat", vec![turn(None, "plan", "Look it up, then say it."), answer]);
    tree
}

fn holding(tree: &Tree, what: &str) {
    tree.write("scenarios/suite.toml", &SUITE.replace("\"none\"", &format!("\"{what}\"")));
}

const EARLY: &str = "200 text/event-stream, before turn 2 ends\n";

fn text_that_waits_for_the_end_of_its_answer_is_noticed() {
    let tree = tree();
    tree.retake().args(&["test", "--update"]).run().green();
    assert!(tree.read("goldens/chat.snap").contains(EARLY), "{}", tree.read("goldens/chat.snap"));
    tree.retake().arg("test").run().green();
    holding(&tree, "text");
    tree.retake().arg("test").run().red(&["text of the answer comes only when the model has ended (turn 2)"]);
    // So it may be.
    std::fs::remove_file(tree.path("goldens/chat.snap")).unwrap();
    tree.retake().args(&["test", "--update"]).run().green();
    assert!(tree.read("goldens/chat.snap").contains("200 text/event-stream\n"));
    tree.retake().arg("test").run().green();
}

fn a_service_that_does_not_wait_for_what_is_held_back_shows_its_own_fault() {
    let tree = tree();
    tree.retake().args(&["test", "--update"]).run().green();
    holding(&tree, "text");
    // What it asks when its time is up was never recorded. But it only asks because an answer was held back.
    let red = tree.retake().arg("test").run();
    red.red(&["golden: text of the answer comes only when the model has ended (turn 2)\n"]);
}

fn a_stream_that_waits_for_all_answers_is_held_to_no_more() {
    let tree = tree();
    holding(&tree, "all");
    tree.retake().args(&["test", "--update"]).run().green();
    assert!(tree.read("goldens/chat.snap").contains("200 text/event-stream\n"), "{}", tree.read("goldens/chat.snap"));
    // It is better now, and the golden says so if it is asked to.
    holding(&tree, "none");
    tree.retake().arg("test").run().green();
    tree.retake().args(&["test", "--update"]).run().green();
    assert!(tree.read("goldens/chat.snap").contains(EARLY), "{}", tree.read("goldens/chat.snap"));
}

fn accepting_asks_what_updating_asks() {
    let tree = tree();
    tree.retake().arg("test").run().red(&["retake review"]);
    tree.retake().args(&["accept", "chat"]).run().green();
    let accepted = tree.read("goldens/chat.snap");
    std::fs::remove_file(tree.path("goldens/chat.snap")).unwrap();
    tree.retake().args(&["test", "--update"]).run().green();
    assert_eq!(undated(&accepted), undated(&tree.read("goldens/chat.snap")));
    assert!(accepted.contains(EARLY), "{accepted}");
}

fn a_client_that_leaves_waits_for_nothing() {
    let tree = tree();
    tree.scenario("chat", &SCENARIO.replace("stream = { last = \"end\" }", "cancel = { after = \"plan\" }"));
    tree.retake().args(&["test", "--update"]).run().green();
    tree.retake().arg("test").run().green();
}
