//! The process' side: a service that is killed in the middle of its runs, with one mistake at a time.

use crate::support::fixtures::{self, turn};
use crate::support::tree::Tree;
use crate::worlds::verdicts::unaligned;

tests! {
    a_durable_service_resumes_wherever_it_is_killed,
    an_answer_that_is_asked_for_again_is_paid_twice,
    a_run_that_is_not_there_any_more_is_lost,
    a_client_that_is_told_of_an_error_has_not_got_its_run_back,
    a_client_that_leaves_by_itself_is_not_owed_an_end,
    what_later_steps_are_told_counts,
    a_run_that_says_running_for_ever_never_ends,
    what_has_to_come_after_a_crash_is_declared,
    what_a_service_did_before_it_was_killed_is_no_verdict,
    a_system_that_retake_does_not_start_is_refused,
}

/// A service that writes down what it has, and goes on with it when it is started.
const DURABLE: &str = r#"
import json, os, threading, time, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FILE = os.environ["DATA"] + "/run.json"

def ask(question):
    body = {"model": "gpt-4o-mini", "stream": True, "messages": [{"role": "user", "content": question}]}
    headers = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"}
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    text = ""
    for line in urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)):
        if line.startswith(b"data: ") and line.strip() != b"data: [DONE]":
            text += json.loads(line.removeprefix(b"data: "))["choices"][0]["delta"].get("content") or ""
    return text

def save(has):
    with open(FILE + ".new", "w") as file:
        json.dump(has, file)
    os.replace(FILE + ".new", FILE)

class Run:
    def __init__(self, has):
        self.has, self.more = has, threading.Condition()
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        #WORK
        for at, question in enumerate(["Plan", "Write", "Check"]):
            if len(self.has) <= at:
                self.add(ask(question))
        self.add(None)

    def add(self, text):
        with self.more:
            self.has.append(text)
            save(self.has)
            self.more.notify_all()

    def after(self, at):
        with self.more:
            self.more.wait_for(lambda: len(self.has) > at)
            return self.has[at]

runs = {}

class Service(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/":
            self.send_response(200)
            return self.end_headers()
        if "1" not in runs:
            self.send_response(404)
            return self.end_headers()
        self.stream(runs["1"], int(self.headers.get("last-event-id") or 0))

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        save([])
        runs["1"] = Run([])
        self.stream(runs["1"], 0)

    def stream(self, run, at):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.flush()
        text = ""
        while text is not None and (not run.has or at <= len(run.has)):
            if at == 4: return
            text = run.after(at)
            at += 1
            event = "end" if text is None else "answer"
            self.wfile.write(f"id: {at}\nevent: {event}\ndata: {json.dumps({'text': text})}\n\n".encode())

    def log_message(self, *_):
        pass

if os.path.exists(FILE):
    #START
    runs["1"] = Run(json.load(open(FILE)))
#READY
ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Service).serve_forever()
"#;

fn tree(from: &str, to: &str, worlds: &str) -> Tree {
    let tree = Tree::empty();
    tree.write("app.py", &DURABLE.replace(from, to));
    tree.write(
        "scenarios/suite.toml",
        "[systems.agent]\ncommand = [\"python3\", \"app.py\"]\nready = { http = \"/\" }\n\
         env = { PORT = \"{{ port }}\", DATA = \"{{ workdir }}\", OPENAI_BASE_URL = \"{{ model.openai }}\", \
         OPENAI_API_KEY = \"{{ model.key }}\" }\n",
    );
    tree.write(
        "scenarios/poem/scenario.toml",
        &format!("worlds = {worlds}\n[[step]]\npost = \"/runs\"\njson = \"Go\"\nstream = {{ last = \"end\" }}\n"),
    );
    let said = [("Plan", "Roses, then violets."), ("Write", "Roses are red."), ("Check", "It is a poem.")];
    fixtures::write(&tree, "poem", said.iter().map(|(asked, said)| turn(None, asked, said)).collect());
    tree
}

const WORLDS: &str = "{ of = \"process\", back = \"/runs/1/events\" }";

/// The lines of the process' worlds of that service, or of this one, with `from` replaced in it.
fn lines(from: &str, to: &str, worlds: &str, of: &str) -> String {
    let ran = tree(from, to, worlds).retake().args(&["worlds", "poem", "--world", of]).run();
    assert!(ran.stdout.starts_with("poem:"), "{}", ran.all());
    unaligned(&ran.stdout)
}

fn a_durable_service_resumes_wherever_it_is_killed() {
    let said = lines("", "", WORLDS, "kill");
    // Three calls, each before its answer and in it, and the last event.
    for at in 1..=7 {
        assert!(said.contains(&format!("  process  kill {at}/7  resumed\n")), "{at}: {said}");
    }
    assert!(said.contains("7 worlds, none fails that is not accepted"), "{said}");
    // The same table is read again, and one world of it is shown.
    let tree = tree("", "", WORLDS);
    tree.retake().args(&["test", "--update"]).run().exits(0);
    assert_eq!(tree.read("goldens/worlds/poem.snap").lines().last(), Some("process  kill 1..7/7  resumed"));
    tree.retake().args(&["test"]).run().exits(0);
    tree.retake().args(&["explain", "poem", "--world", "process/kill/3"]).run().exits(0);
}

fn an_answer_that_is_asked_for_again_is_paid_twice() {
    let said = lines("#START", "save([])", WORLDS, "kill");
    assert!(said.contains("  process  kill 1/7  resumed"), "nothing was paid yet: {said}");
    let paid = "! process  kill 3/7  PAID TWICE  before the answer of turn 2: asks for the answer of turn 1 again";
    assert!(said.contains(paid), "{said}");
}

fn a_run_that_is_not_there_any_more_is_lost() {
    let said = lines("if os.path.exists(FILE):", "if False:", WORLDS, "kill");
    assert!(said.contains("! process  kill 2/7  LOST  in the answer of turn 1: status 404"), "{said}");
    assert!(said.contains("! process  kill 7/7  LOST  at event 4: status 404: the run is not there"), "{said}");
}

const NOT_THERE: &str =
    "            self.send_response(404)\n            return self.end_headers()\n        self.stream";

fn a_client_that_is_told_of_an_error_has_not_got_its_run_back() {
    let tree = tree("if os.path.exists(FILE):", "if False:", WORLDS);
    let told = "            self.send_response(200)\n            self.end_headers()\n            return self.wfile.write(\
                b'event: error\\ndata: {\"message\": \"no such run\"}\\n\\n')\n        self.stream";
    tree.replace("app.py", NOT_THERE, told);
    let said = unaligned(&tree.retake().args(&["worlds", "poem"]).run().exits(0).stdout);
    for at in 1..=7 {
        let reported = format!("process  kill {at}/7  reported  event `error`: \"no such run\"");
        assert!(said.contains(&reported), "{at}: {said}");
    }
}

fn a_client_that_leaves_by_itself_is_not_owed_an_end() {
    let tree = tree("", "", "\"process\"");
    let steps = "[[step]]\npost = \"/runs\"\njson = \"Go\"\ncancel = { after = \"answer\" }\n\
                 [[step]]\nget = \"/runs/1/events\"\nreconnect = true\nstream = { last = \"end\" }\n";
    tree.write("scenarios/poem/scenario.toml", &format!("worlds = \"process\"\n{steps}"));
    let ran = tree.retake().args(&["worlds", "poem"]).run();
    assert!(ran.stdout.contains("  process  kill 1..7/7  resumed"), "{}", ran.all());
}

/// Who reads its stream to the end after a restart may be told something else by the run's state.
fn what_later_steps_are_told_counts() {
    let tree = tree("#READY", "was_started = bool(runs)", WORLDS);
    let state = "        if self.path == \"/state\":\n            self.send_response(200)\n            self.end_headers()\n            \
                 return self.wfile.write(json.dumps({\"status\": told if was_started else \"done\"}).encode())\n        \
                 if \"1\" not in runs:";
    tree.replace("app.py", "        if \"1\" not in runs:", state);
    let scenario = tree.read("scenarios/poem/scenario.toml");
    tree.write("scenarios/poem/scenario.toml", &format!("{scenario}[[step]]\nget = \"/state\"\n"));
    let never = "NEVER ENDS  in the answer of turn 2: status \"RUNNING\", and nothing goes on";
    for (told, at, expected) in [("failed", 1..=7, "reported  status \"failed\""), ("RUNNING", 4..=4, never)] {
        tree.replace("app.py", "runs = {}\n", &format!("runs, told = {{}}, {told:?}\n"));
        let said = unaligned(&tree.retake().args(&["worlds", "poem"]).run().stdout);
        for at in at {
            assert!(said.contains(&format!(" process  kill {at}/7  {expected}")), "{at}: {said}");
        }
        tree.replace("app.py", &format!("runs, told = {{}}, {told:?}\n"), "runs = {}\n");
    }
}

fn a_run_that_says_running_for_ever_never_ends() {
    let stuck = lines("#WORK", "if self.has: return", WORLDS, "process/kill/3");
    assert!(stuck.contains("! process  kill 3/7  NEVER ENDS  before the answer of turn 2: "), "{stuck}");
    // A client that asks for the state again and again.
    let tree = tree("self.add(None)", "self.add(None)", "\"process\"");
    let state = "        if self.path == \"/state\":\n            self.send_response(200)\n            self.end_headers()\n            \
                 done = None in runs[\"1\"].has\n            \
                 return self.wfile.write(json.dumps({\"status\": \"done\" if done else \"running\"}).encode())\n        \
                 if \"1\" not in runs:";
    tree.replace("app.py", "        if \"1\" not in runs:", state);
    tree.replace(
        "app.py",
        "        self.stream(runs[\"1\"], 0)",
        "        self.send_response(202)\n        self.end_headers()",
    );
    let steps = "[[step]]\npost = \"/runs\"\njson = \"Go\"\n[[step]]\nget = \"/state\"\nwait = { json = \"/status\", is = \"done\" }\n";
    tree.write("scenarios/poem/scenario.toml", &format!("worlds = \"process\"\n{steps}"));
    let ran = tree.retake().args(&["worlds", "poem"]).run();
    assert!(ran.stdout.contains("  process  kill 1..6/6  resumed"), "{}", ran.all());
    tree.replace("app.py", "#WORK", "if self.has: return");
    let said = tree.retake().args(&["worlds", "poem", "--world", "process/kill/3"]).run().exits(1).stdout;
    let never = "NEVER ENDS  before the answer of turn 2: /status did not become \"done\", but is \"running\"";
    assert!(said.contains(never), "{said}");
}

fn what_has_to_come_after_a_crash_is_declared() {
    let of = |crash: &str| format!("{{ of = \"process\", back = \"/runs/1/events\", crash = \"{crash}\" }}");
    let said = lines("", "", &of("reports"), "process/kill/3");
    assert!(said.contains("resumed") && said.contains("not as crash = \"reports\" says"), "{said}");
    let reports = "if self.has and self.has[-1]: self.add('The run failed'); return self.add(None)";
    let said = lines("#WORK", reports, &of("resumes"), "process/kill/3");
    assert!(said.contains("! process  kill 3/7  LOST"), "{said}");
}

/// A service whose own client of the model does not wait until the system can be killed, once the run is recorded.
fn what_a_service_did_before_it_was_killed_is_no_verdict() {
    let waits = |limit: &str| {
        let limit = format!("headers), timeout={limit} if os.path.exists('recorded') else 60):");
        let tree = tree("headers)):", &limit, WORLDS);
        tree.replace(
            "app.py",
            "#READY",
            "import signal; signal.signal(15, lambda *_: open('recorded', 'w') and os._exit(0))",
        );
        unaligned(&tree.retake().args(&["worlds", "poem", "--world", "process/kill/2"]).run().stdout)
    };
    let late = waits("0.05");
    assert!(late.contains("no verdict: no call met process/kill/2 in time") && !late.contains("kill 2/7"), "{late}");
    let in_time = waits("60");
    assert!(in_time.contains("process  kill 2/7  resumed"), "{in_time}");
}

fn a_system_that_retake_does_not_start_is_refused() {
    let tree = tree("", "", "\"process\"");
    tree.write(
        "scenarios/suite.toml",
        "[systems.agent]\nurl = \"http://127.0.0.1:9\"\nmodel = { addr = \"127.0.0.1:8\", key_env = \"K\" }\n",
    );
    tree.retake()
        .args(&["worlds", "poem"])
        .run()
        .exits(2)
        .says(&["only a system with a `command` can be killed and started again"]);
}
