//! The client's side: a service whose client leaves, comes back and comes a second time, with one mistake at a time.

use crate::support::fixtures::{self, turn};
use crate::support::tree::Tree;
use crate::worlds::verdicts::unaligned;

tests! {
    a_client_that_comes_back_has_all_of_it_once,
    no_answer_is_held_for_what_comes_after_it,
    the_request_with_which_a_client_comes_back_is_declared,
    what_a_client_loses_or_gets_twice_is_said,
    a_service_that_cannot_resume_reports_it,
    what_later_steps_are_told_counts,
    a_run_that_begins_anew_is_paid_twice,
    a_client_that_waits_for_ever_is_said,
    what_becomes_of_a_run_without_its_client_is_judged_if_it_is_declared,
    what_makes_two_requests_the_same_is_declared,
    whether_a_run_outlives_its_client_is_no_question_of_time,
    what_is_asked_after_the_clients_stream_has_ended_counts,
}

/// A service whose runs go on without their clients, and are read at `/runs/ID/events`.
const RUNS: &str = r#"
import json, os, select, threading, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

def pieces(question):
    body = {"model": "gpt-4o-mini", "stream": True, "messages": [{"role": "user", "content": question}]}
    headers = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"}
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    for line in urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)):
        if line.startswith(b"data: ") and line.strip() != b"data: [DONE]":
            text = json.loads(line.removeprefix(b"data: "))["choices"][0]["delta"].get("content")
            if text:
                yield text

class Run:
    def __init__(self, question):
        self.events, self.more, self.question, self.left, self.sent = [], threading.Condition(), question, False, 0
        self.add("begin", {"run": "7-" + os.urandom(4).hex()})
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        try:
            for text in pieces(self.question):
                self.add("text", {"text": text})
            #SECOND
            self.add("end", {})
        except Exception as error:
            self.add("error", {"message": str(error)})
            self.add("end", {})

    def add(self, event, data):
        with self.more:
            self.events.append((event, data | {"n": len(self.events) + 1}))
            self.more.notify_all()

    def has_left(self):
        with self.more:
            self.more.wait_for(lambda: self.left or self.sent == len(self.events))
            return self.left

    def sends(self, at, left):
        with self.more:
            self.sent, self.left = at, left
            self.more.notify_all()

    def after(self, at):
        with self.more:
            self.more.wait_for(lambda: len(self.events) > at)
            return self.events[at]

runs = {}

class Service(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/":
            self.send_response(200)
            return self.end_headers()
        after = int(self.headers.get("last-event-id") or 0)
        if after and runs["7"].events[after - 1][0] == "end":
            self.send_response(204)
            return self.end_headers()
        #AFTER
        self.stream(runs["7"], after)

    def do_POST(self):
        question = json.loads(self.rfile.read(int(self.headers["content-length"])))
        #POST
        runs["7"] = Run(question)
        self.stream(runs["7"], 0)

    def stream(self, run, at):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        event = ""
        while event != "end":
            event, data = run.after(at)
            at += 1
            try:
                self.wfile.write(f"id: {at}\nevent: {event}\ndata: {json.dumps(data)}\n\n".encode())
                run.sends(at, False)
            except OSError:
                return run.sends(at, True)

    def log_message(self, *_):
        pass

ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Service).serve_forever()
"#;

/// The lines of the client's worlds of that service, with `from` replaced in it.
fn lines(from: &str, to: &str, worlds: &str) -> String {
    let tree = tree(from, to, worlds);
    let ran = tree.retake().args(&["worlds", "poem"]).run();
    assert!(ran.stdout.starts_with("poem:"), "{} {}", ran.all(), tree.retake().args(&["test"]).run().all());
    unaligned(&ran.stdout)
}

fn tree(from: &str, to: &str, worlds: &str) -> Tree {
    let tree = Tree::empty();
    tree.write("app.py", &RUNS.replace(from, to));
    tree.write(
        "scenarios/suite.toml",
        "[systems.agent]\ncommand = [\"python3\", \"app.py\"]\nready = { http = \"/\" }\n\
         env = { PORT = \"{{ port }}\", OPENAI_BASE_URL = \"{{ model.openai }}\", OPENAI_API_KEY = \"{{ model.key }}\" }\n",
    );
    tree.write(
        "scenarios/poem/scenario.toml",
        &format!(
            "worlds = {worlds}\n[[step]]\npost = \"/runs\"\njson = \"Write a poem\"\nstream = {{ last = \"end\" }}\n\
             headers = {{ Idempotency-Key = \"k1\" }}\ncapture = {{ answer = \"sse:begin:/run\" }}\n\
             [golden]\ncollapse = [\"text\"]\n"
        ),
    );
    let poem = turn(None, "Write a poem", "Roses are red, violets are blue, this is for you.");
    let more = ["Name it", "Sign it"].into_iter().filter(|question| to.contains(question));
    let more = more.map(|question| turn(None, question, "Roses, and more than that."));
    fixtures::write(&tree, "poem", [poem].into_iter().chain(more).collect());
    tree
}

const BACK: &str = "back = \"/runs/{{ answer }}/events\"";

fn worlds(of: &str) -> String {
    format!("{{ of = {of}, {BACK} }}")
}

fn a_client_that_comes_back_has_all_of_it_once() {
    // A second request with the same key reads the run that there is.
    let keyed = "if self.headers.get(\"idempotency-key\") in runs: return self.stream(runs[\"7\"], 0)\n        \
                 runs[self.headers.get(\"idempotency-key\")] = True";
    let said = lines("#POST", keyed, &worlds("\"client\""));
    assert!(!said.contains('!') && said.contains("none fails that is not accepted"), "{said}");
    for kind in ["leave", "late", "viewers", "twice"] {
        assert!(said.contains(&format!("client  {kind} ")), "{kind}: {said}");
    }
    assert!(said.contains("client  leave 2/") && said.contains("recovered"), "{said}");
    // Nobody says what becomes of a run whose client is gone.
    let gone =
        "other  not judged: `leaves` says what becomes of a run without its client, which asks the model no more";
    assert!(said.contains(gone), "{said}");
    assert!(said.contains("sick: not looked for, since a second run on the same system asks the model less"), "{said}");

    let tree = tree("#POST", keyed, &worlds("\"client\""));
    tree.retake().args(&["test", "--update"]).run().exits(0);
    tree.retake().args(&["test"]).run().exits(0);
    let table = tree.read("goldens/worlds/poem.snap");
    assert!(table.contains("client  leave 1..4/5  recovered"), "{table}");
}

/// A service whose own client of the model waits less than an answer would be held for an event that follows from its end.
fn no_answer_is_held_for_what_comes_after_it() {
    let (from, to) = ("encode(), headers)):", "encode(), headers), timeout=0.9):");
    let said = lines(from, to, &worlds("[\"leave\", \"late\"]"));
    assert!(said.contains("client  leave 4/5  recovered") && said.contains("client  late 4/5  recovered"), "{said}");
    assert!(!said.contains("event `error`") && !said.contains('!'), "{said}");
}

/// A service that is asked for the rest of a run by a POST, which says in its body what the client has.
fn the_request_with_which_a_client_comes_back_is_declared() {
    let read = "question = json.loads(self.rfile.read(int(self.headers[\"content-length\"])))";
    let resumes = "body = self.rfile.read(int(self.headers[\"content-length\"])).decode()\n        \
                   question = json.loads(body.replace(\"after=\", \"\"))\n        \
                   if self.path != \"/runs\":\n            \
                   after = question if isinstance(question, int) else question[\"after\"]\n            \
                   if not after or runs[\"7\"].events[after - 1][0] != \"end\": return self.stream(runs[\"7\"], after)\n            \
                   self.send_response(204); return self.end_headers()";
    for body in ["json = { after = \"{{ last.n | default(0) }}\" }", "form = { after = \"{{ last.n | default(0) }}\" }"]
    {
        let worlds = |body: &str| {
            format!("{{ of = [\"leave\", \"viewers\"], back = \"POST /runs/{{{{ answer }}}}/resume\", back_{body} }}")
        };
        let said = lines(read, resumes, &worlds(body));
        assert!(!said.contains('!') && !said.contains("reported"), "{said}");
        assert!(
            said.contains("client  leave 5/5  recovered") && said.contains("client  viewers 4/5  recovered"),
            "{said}"
        );
        let hole = lines(read, resumes, &worlds(&body.replace("last.n |", "last.n + 1 |")));
        assert!(hole.contains("! client  leave ") && hole.contains("  LOST  "), "{hole}");
    }
    let tree = tree("#POST", "", "{ of = \"leave\", back = \"post /runs/7/events\" }");
    let said = tree.retake().args(&["test"]).run().all();
    assert!(said.contains("`post /runs/7/events` is no path") && said.contains("a method and a path"), "{said}");
}

fn what_a_client_loses_or_gets_twice_is_said() {
    let hole = lines("#AFTER", "after += 1", &worlds("\"leave\""));
    assert!(hole.contains("! client  leave 2/") && hole.contains("  LOST  "), "{hole}");
    let twice = lines("#AFTER", "after = max(0, after - 1)", &worlds("\"leave\""));
    assert!(twice.contains("  DOUBLED  event `text` with the id 2 comes twice"), "{twice}");
    // Each event goes to one of two clients.
    let late = lines("#AFTER", "if not after and len(runs[\"7\"].events) > 3: after = 3", &worlds("\"viewers\""));
    assert!(late.contains("  client  viewers 1/") && late.contains("! client  viewers 4/"), "{late}");
    let half = lines("#AFTER", "after = max(after, 2)", &worlds("\"viewers\""));
    assert!(half.contains("! client  viewers 1/") && half.contains("  LOST  the second client: "), "{half}");
}

fn a_service_that_cannot_resume_reports_it() {
    let gone = "self.send_response(404); return self.end_headers()";
    let said = lines("#AFTER", gone, &worlds("[\"leave\", \"late\", \"viewers\"]"));
    assert!(!said.contains('!') && said.contains("reported  status 404"), "{said}");
}

/// Who reads all of its stream over two connections may be told something else by the run's state.
fn what_later_steps_are_told_counts() {
    let state = "self.stream(runs[\"7\"], after) if self.path != \"/state\" else self.wfile.write(\
                 b\"HTTP/1.0 200 OK\\r\\n\\r\\n\" + json.dumps({\"status\": runs.get(\"told\", \"done\")}).encode())";
    let said = |to: &str| {
        let tree = tree("self.stream(runs[\"7\"], after)", state, &worlds("\"leave\""));
        tree.replace("app.py", "#AFTER", &format!("if after: runs[\"told\"] = \"{to}\""));
        let scenario = tree.read("scenarios/poem/scenario.toml");
        tree.write("scenarios/poem/scenario.toml", &format!("{scenario}[[step]]\nget = \"/state\"\n"));
        let ran = tree.retake().args(&["worlds", "poem"]).run();
        unaligned(&ran.stdout)
    };
    let told = said("cancelled");
    assert!(told.contains("  client  leave 2/5  reported  status \"cancelled\""), "{told}");
    assert!(said("done").contains("  client  leave 2/5  recovered"));
}

fn a_run_that_begins_anew_is_paid_twice() {
    let said = lines("", "", "[\"leave\", \"twice\"]");
    assert!(said.contains("! client  leave 2/"), "{said}");
    assert!(said.contains("! client  twice 1/"), "{said}");
    assert!(said.contains("  PAID TWICE  asks for the answer of turn 1 again"), "{said}");
}

fn a_client_that_waits_for_ever_is_said() {
    let never = "runs[\"7\"].more.wait_for(lambda: False) if after > 1 else None";
    let said = lines("#AFTER", &format!("with runs[\"7\"].more: {never}"), &worlds("\"late\""));
    assert!(said.contains("NEVER ENDS  what the client waits for that came back does not come"), "{said}");
}

fn what_becomes_of_a_run_without_its_client_is_judged_if_it_is_declared() {
    let gone = |from: &str, to: &str, leaves: &str| {
        lines(from, to, &format!("{{ of = \"gone\", leaves = \"{leaves}\", {BACK} }}"))
    };
    let second = |unless: &str| {
        format!(
            "for question in [\"Name it\", \"Sign it\"]:\n                {unless}\n                \
             for text in pieces(question):\n                    self.add(\"text\", {{\"text\": text}})"
        )
    };
    let finishes = gone("#SECOND", &second(""), "finishes");
    assert!(!finishes.contains('!') && finishes.contains("client  gone 2/"), "{finishes}");
    let told = lines("#SECOND", &second(""), &worlds("\"gone\""));
    assert!(told.contains("  client  gone 2/") && told.contains("which asks the model 1 more time"), "{told}");
    let goes_on = gone("#SECOND", &second(""), "stops");
    let asks = "  NEVER ENDS  the model is still asked once it can be noticed that the client has left";
    assert!(goes_on.contains("! client  gone 2/") && goes_on.contains(asks), "{goes_on}");
    let again = "NEVER ENDS, and 1 like it: retake explain poem --world client/gone/1";
    assert!(goes_on.trim_end().ends_with(again), "{goes_on}");
    // It ends with its client, which is noticed when something is written to it.
    let ends = second("if self.has_left(): return");
    let stops = gone("#SECOND", &ends, "stops");
    assert!(!stops.contains('!') && stops.contains("client  gone 2/"), "{stops}");
    let lost = gone("#SECOND", &ends, "finishes");
    assert!(lost.contains("  LOST  the run is not finished after the client has left"), "{lost}");
}

fn what_makes_two_requests_the_same_is_declared() {
    let file = "scenarios/poem/scenario.toml";
    let run = |worlds: &str| {
        let tree = tree("", "", worlds);
        tree.replace(file, "headers = { Idempotency-Key = \"k1\" }\n", "");
        tree.retake().args(&["worlds", "poem"]).run()
    };
    run("\"twice\"").exits(2).says(&["no turn of these scenarios can meet such a fault"]);
    let said = run("{ of = \"twice\", same = \"/id\" }").exits(1).stdout;
    assert!(said.contains("! client  twice 1/"), "{said}");
}

/// A service ends a run when it has seen that its client has left.
fn whether_a_run_outlives_its_client_is_no_question_of_time() {
    let said = |post: &str, place: &str, looks: &str, world: &str| {
        let tree = tree("#POST", post, &worlds("[\"leave\", \"late\"]"));
        let rest = place.replace("#SECOND", "");
        tree.replace("app.py", place, &format!("if {looks}: return\n                {rest}"));
        unaligned(&tree.retake().args(&["worlds", "poem", "--world", world]).run().stdout)
    };
    // What it sends before it is held by an answer is with its client, even if it is slow.
    let looks = "select.select([self.socket], [], [], 0.4)[0]";
    let slow = said("Run.socket = self.connection", "#SECOND", looks, "client/leave/4");
    assert!(slow.contains("  client  leave 4/5  recovered"), "{slow}");
    // The model goes on when it can have seen it, even if it takes its time.
    let sees = "Run.gone = threading.Event()\n        \
                look = lambda it, gone: (select.select([it], [], []), gone.wait(0.1), gone.set())\n        \
                threading.Thread(target=look, args=(self.connection, Run.gone), daemon=True).start()";
    let quick = said(sees, "self.add(\"text\", {\"text\": text})", "self.gone.is_set()", "client/late/1");
    assert!(quick.contains("! client  late 1/5  NEVER ENDS"), "{quick}");
}

/// A service that ends the stream of a client that comes back, and only then asks the model again.
fn what_is_asked_after_the_clients_stream_has_ended_counts() {
    let again = "threading.Timer(0.1, lambda: list(pieces(runs[\"7\"].question))).start(); runs[\"7\"].add(\"end\", {}); return self.stream(runs[\"7\"], after)";
    let said = lines("#AFTER", again, &worlds("\"leave\""));
    assert!(
        said.contains("! client  leave 2/") && said.contains("  PAID TWICE  asks for the answer of turn 1 again"),
        "{said}"
    );
}
