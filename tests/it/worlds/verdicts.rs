//! Each verdict on services with one mistake, and what the table says of the same service without it.

use regex::Regex;
use retake::Message;
use retake_core::conversation::{Answer, Block, Finish, ToolCall};
use retake_core::json::Json;
use retake_core::key::Rules;
use retake_wire::fixture::{Recorded, Wire};
use retake_wire::{self as wire, Api, RenderFor};

use crate::support::fixtures::{self, turn};
use crate::support::tree::Tree;
use crate::worlds::guide::recorded;

tests! {
    what_goes_into_no_golden_counts,
    a_failure_that_a_step_waits_for_is_reported,
    a_failure_that_is_told_is_reported_though_its_call_stays_open,
    a_tool_that_ran_with_damaged_arguments_has_acted,
    a_text_that_comes_again_after_its_beginning_is_repeated,
    asking_until_an_answer_makes_sense_is_a_storm_if_none_does,
    asking_again_and_again_what_was_never_recorded_is_a_storm,
    asking_again_for_an_answer_in_other_pieces_is_noticed,
    a_system_that_is_sick_has_the_same_table_however_long_it_takes_to_start,
    what_a_service_remembers_is_compared_on_fresh_systems,
    mistakes_with_an_answer_on_its_way_are_seen,
}

const TABLE: &str = "goldens/worlds/poem.snap";

/// A service whose client gets JSON. `RUN` answers a question, and what becomes of a run is at `/run`.
const AGENT: &str = r#"
import json, os, threading, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

def ask(messages):
    headers = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"}
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    body = json.dumps({"model": "gpt-4o-mini", "messages": messages}).encode()
    choice = json.load(urllib.request.urlopen(urllib.request.Request(url, body, headers)))["choices"][0]
    return choice["message"]

def write(path="untitled.txt", text=""):
    return "wrote " + path

def answer(question):
    messages = [{"role": "user", "content": question}]
    while True:
        message = ask(messages)
        if not message.get("tool_calls"):
            return message.get("content") or ""
        messages.append(message)
        for call in message["tool_calls"]:
            args = arguments(call["function"]["arguments"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": write(**args)})

def arguments(text):
    #ARGUMENTS
    return json.loads(text)

state = {}

def work(question):
    state.update(status="running")
    try:
        state.update(status="done", text=answer(question))
    except Exception as error:
        #FAILED
        state.update(status="failed", reason=str(error))

class Service(BaseHTTPRequestHandler):
    def do_GET(self):
        self.say(state)

    def do_POST(self):
        question = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path == "/now":
            try:
                return self.say({"text": answer(question)})
            except ValueError as error:
                return self.send_error(500, str(error))
        state.update(status="running")
        threading.Thread(target=work, args=[question], daemon=True).start()
        self.say({"run": "/run"})

    def say(self, what):
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(what).encode())

    def log_message(self, *_):
        pass

ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Service).serve_forever()
"#;

/// A project with that service and this scenario, and with `from` replaced in the service.
pub(super) fn agent(from: &str, to: &str, scenario: &str, turns: Vec<Recorded>) -> Tree {
    let tree = Tree::empty();
    tree.write("app.py", &AGENT.replace(from, to));
    tree.write(
        "scenarios/suite.toml",
        "[systems.agent]\ncommand = [\"python3\", \"app.py\"]\nready = { http = \"/\" }\n\
         env = { PORT = \"{{ port }}\", OPENAI_BASE_URL = \"{{ model.openai }}\", OPENAI_API_KEY = \"{{ model.key }}\" }\n",
    );
    tree.write("scenarios/poem/scenario.toml", scenario);
    fixtures::write(&tree, "poem", turns);
    tree
}

/// The lines of the worlds, as the command prints them.
pub(super) fn lines(tree: &Tree) -> Vec<String> {
    let ran = tree.retake().args(&["worlds", "poem"]).run();
    assert!(ran.stdout.starts_with("poem:"), "{} {}", ran.all(), tree.retake().args(&["test"]).run().all());
    unaligned(&ran.stdout).lines().map(|line| line.trim().to_owned()).collect()
}

/// Returns lines in columns as they would stand without the others, one for each place.
pub(super) fn unaligned(lines: &str) -> String {
    let places = Regex::new(r"^(.*  \S+ )([\d,.]+)(/\d+  .*)$").unwrap();
    let each = |line: &str| -> Vec<String> {
        let Some(parts) = places.captures(line) else { return vec![line.to_owned()] };
        let numbers = |part: &str| -> Vec<usize> {
            let (first, last) = part.split_once("..").unwrap_or((part, part));
            (first.parse().unwrap()..=last.parse().unwrap()).collect()
        };
        parts[2].split(',').flat_map(numbers).map(|at| format!("{}{at}{}", &parts[1], &parts[3])).collect()
    };
    let lines = Regex::new(r"(\S) {3,}").unwrap().replace_all(lines, "$1  ");
    lines.lines().flat_map(each).map(|line| line + "\n").collect()
}

fn poem() -> Vec<Recorded> {
    vec![turn(None, "Write a poem", "Roses are red, violets are blue, this is for you.")]
}

fn what_goes_into_no_golden_counts() {
    let scenario = "worlds = \"nothing\"\n[[step]]\npost = \"/now\"\njson = \"Write a poem\"\n";
    let lines = lines(&agent("", "", scenario, poem()));
    assert!(
        lines.contains(&"! turn 1  nothing  SILENT  the client saw 0 of 49 characters, and no error".to_owned()),
        "{lines:?}"
    );
}

fn a_failure_that_a_step_waits_for_is_reported() {
    let scenario = "worlds = \"error-500\"\n[[step]]\npost = \"/\"\njson = \"Write a poem\"\n\
                    [[step]]\nget = \"/run\"\nwait = { json = \"/status\", is = \"done\" }\n";
    let said = |failed: &str| lines(&agent("#FAILED", failed, scenario, poem())).concat();
    let reported = said("");
    assert!(reported.contains("reported  status \"failed\": \"HTTP Error 500: Internal Server Error\""), "{reported}");
    let other = said("return state.update(status=\"halted\")");
    assert!(other.contains("error-500  other  200, status \"halted\""), "{other}");
    let hung = said("return");
    assert!(hung.contains("! turn 1  error-500  hung  /status did not become \"done\", but is \"running\""), "{hung}");
}

/// The service gives up in time, and says so, but the thread that asked the model waits on.
fn a_failure_that_is_told_is_reported_though_its_call_stays_open() {
    let scenario = "worlds = \"hang\"\n[[step]]\npost = \"/now\"\njson = \"Write a poem\"\n";
    let asks = "return self.say({\"text\": answer(question)})";
    let in_time = "found = []
                asking = threading.Thread(target=lambda: found.append(answer(question)), daemon=True)
                asking.start()
                asking.join(1)
                return self.say({\"text\": found[0]} if found else {\"error\": \"it took too long\"})";
    let said = lines(&agent(asks, in_time, scenario, poem())).concat();
    assert!(said.contains("  hang  reported  an `error`: \"it took too long\""), "{said}");
    let hung = lines(&agent("", "", scenario, poem())).concat();
    assert!(hung.contains("! turn 1  hang  hung"), "{hung}");
}

/// A run in which the model calls the tool `write`.
pub(super) fn writes() -> Vec<Recorded> {
    let rules = Rules::default();
    let args = Json::object([("path", Json::from("note.txt")), ("text", "roses".into())]);
    let call = ToolCall { id: "call_1".to_owned(), name: "write".to_owned(), args };
    let as_json = RenderFor {
        api: Api::OpenAiChat,
        stream: false,
        array: false,
        include_usage: false,
        model: "gpt-4o-mini",
        seed: "1",
    };
    let asks = Answer {
        blocks: vec![Block::ToolCall(call.clone())],
        finish: Some(Finish::ToolCalls),
        model: Some("gpt-4o-mini".to_owned()),
        ..Answer::default()
    };
    let response = wire::render(&asks, &as_json).unwrap();
    let first = Recorded {
        output: wire::decode_response(Api::OpenAiChat, &response).unwrap(),
        wire: Some(Wire::of(Api::OpenAiChat, response)),
        ..turn(None, "Write a poem", "")
    };
    let said = Message { tool_calls: vec![call], ..Message::new("ai", "") };
    let result = Message {
        name: Some("write".to_owned()),
        tool_call_id: Some("call_1".to_owned()),
        ..Message::new("tool", "wrote note.txt")
    };
    let second = Recorded {
        conversation: rules.canonical(vec![Message::new("human", "Write a poem"), said, result]),
        ..turn(None, "Write a poem", "It is in note.txt.")
    };
    vec![first, second]
}

fn a_tool_that_ran_with_damaged_arguments_has_acted() {
    let scenario = "worlds = [\"length-in-tool-call\"]\n[[step]]\npost = \"/now\"\njson = \"Write a poem\"\n";
    let said = |arguments: &str| lines(&agent("#ARGUMENTS", arguments, scenario, writes())).concat();
    let acted = said("if not text.endswith(\"}\"): return {}");
    assert!(acted.contains("! turn 1  length-in-tool-call  ACTED  ran write with "), "{acted}");
    let mended = said("");
    assert!(!mended.contains("ACTED") && mended.contains("length-in-tool-call  reported"), "{mended}");
    // A tool that says in its own words that it did nothing.
    let tree = agent("    #ARGUMENTS", "    if not text.endswith(\"}\"): return {\"path\": None}", scenario, writes());
    tree.replace(
        "app.py",
        "    return \"wrote \" + path",
        "    return \"wrote \" + path if path else \"Das ist kein JSON.\"",
    );
    let own = lines(&tree).concat();
    assert!(own.contains("length-in-tool-call  went on  asked \"Das ist kein JSON.\""), "{own}");
}

/// The guide's service, whose answer broke off if it did not say why it ended, with `from` replaced.
fn stream(from: &str, to: &str, worlds: &str) -> Tree {
    let tree = recorded("");
    let app = tree.read("app.py");
    let mended = "choice[\"delta\"].get(\"content\") or \"\"\n            ended = choice[\"finish_reason\"]\n    \
                  if not ended: raise ConnectionError(\"the answer broke off\")";
    let app = app.replace("choice[\"delta\"].get(\"content\") or \"\"", mended);
    assert!(app.contains("broke off") && app.contains(from), "{app}");
    tree.write("app.py", &app.replace(from, to));
    let scenario = tree.read("scenarios/poem/scenario.toml");
    tree.write("scenarios/poem/scenario.toml", &format!("worlds = {worlds}\n{scenario}"));
    tree
}

const SAYS: &str =
    "            for text in pieces(json.loads(question)):\n                self.say(\"text\", {\"text\": text})\n";

fn a_text_that_comes_again_after_its_beginning_is_repeated() {
    let again = "            try:\n                for text in pieces(json.loads(question)):\n                    \
                 self.say(\"text\", {\"text\": text})\n            except ConnectionError:\n                \
                 for text in pieces(json.loads(question)):\n                    self.say(\"text\", {\"text\": text})\n";
    let told = again
        .replace("except ConnectionError:\n", "except ConnectionError:\n                self.say(\"again\", {})\n");
    let said = |says: &str| lines(&stream(SAYS, says, "\"cut-clean\"")).join("\n");
    let repeated = said(again);
    assert!(repeated.contains("! turn 1  cut-clean 3/6  REPEATED  200, ends, \"Roses"), "{repeated}");
    let told = said(&told);
    assert!(told.contains("  cut-clean 3/6  other  200, event `again`"), "{told}");
    // Also if nothing comes after it for which the client waits.
    let ends = lines(&stream("str(error)})", "str(error)})\n            return", "\"cut-clean\"")).join("\n");
    for reported in [said(SAYS), ends] {
        let told = "turn 1  cut-clean 3/6  reported  event `error`: \"the answer broke off\"";
        assert!(reported.contains(told), "{reported}");
    }
}

fn asking_until_an_answer_makes_sense_is_a_storm_if_none_does() {
    let until = |tries: &str| {
        format!(
            "            for _ in {tries}:\n                texts = list(pieces(json.loads(question)))\n                \
             if any(texts): break\n            else: raise ValueError(\"no text\")\n            \
             for text in texts:\n                self.say(\"text\", {{\"text\": text}})\n"
        )
    };
    let said = |tries: &str| lines(&stream(SAYS, &until(tries), "\"nothing\"")).join("\n");
    let storm = said("iter(int, 1)");
    assert!(storm.contains("! turn 1  nothing  storm  more than 10 calls while the answers stay like that"), "{storm}");
    let few = said("range(3)");
    assert!(few.contains("turn 1  nothing  recovered  in 2 attempts"), "{few}");
}

fn asking_again_and_again_what_was_never_recorded_is_a_storm() {
    // The model is told of a tool that there is not, and whatever fails is tried again.
    let again = |tries: &str| {
        format!(
            "    for _ in {tries}:\n        try:\n            message = ask(messages)\n        \
             except Exception as error:\n            messages.append({{\"role\": \"user\", \"content\": str(error)}})\n            \
             continue\n        if not message.get("
        )
    };
    let scenario = "worlds = [\"unknown-tool\"]\n[[step]]\npost = \"/now\"\njson = \"Write a poem\"\n";
    let from = "    while True:\n        message = ask(messages)\n        if not message.get(";
    let said = |tries: &str| lines(&agent(from, &again(tries), scenario, writes())).join("\n");
    let storm = said("iter(int, 1)");
    assert!(storm.contains("! turn 1  unknown-tool  storm  more than 10 calls"), "{storm}");
    let few = said("range(9)");
    assert!(few.contains("\nturn 1  unknown-tool  went on  asked "), "{few}");
}

fn asking_again_for_an_answer_in_other_pieces_is_noticed() {
    let again = "            for _ in range(2):\n                try:\n                    \
                 texts = list(pieces(json.loads(question)))\n                    break\n                \
                 except Exception: pass\n            for text in texts:\n                self.say(\"text\", {\"text\": text})\n";
    let tree = stream(SAYS, again, "[\"framing-crlf\", \"framing-whole\"]");
    tree.replace("app.py", "line.strip() != b", "b\"\\r\" not in line and line.strip() != b");
    let said = lines(&tree).join("\n");
    assert!(said.contains("! turn 1  framing-crlf  PAID TWICE  asks again, although the answer is whole"), "{said}");
    assert!(said.contains("turn 1  framing-whole  recovered"), "{said}");
}

const POST: &str = "        question = self.rfile.read(int(self.headers[\"content-length\"])).decode()\n";

fn a_system_that_is_sick_has_the_same_table_however_long_it_takes_to_start() {
    let busy = format!(
        "{POST}        if busy:\n            self.send_response(409); self.end_headers(); return\n        busy.append(question)\n"
    );
    let table = |begins: &str| {
        let tree = stream(POST, &busy, "[\"cut-clean\", \"error-event\", \"nothing\", \"framing-whole\"]");
        let app = tree.read("app.py").replace(
            "self.say(\"text\", {\"text\": text})\n",
            "self.say(\"text\", {\"text\": text})\n            busy.clear()\n",
        );
        tree.write("app.py", &format!("{begins}busy = []\n{app}"));
        tree.retake().args(&["test", "--update", "poem::worlds"]).run().exits(0);
        unaligned(&tree.read(TABLE))
    };
    // How long it takes to start is what the test is about: it is not waited for here.
    let (fast, slow) = (table(""), table("import time; time.sleep(1.2)\n"));
    assert_eq!(fast, slow);
    assert!(fast.contains("cut-clean 3/6  sick") && fast.contains("nothing  SILENT"), "{fast}");
}

fn what_a_service_remembers_is_compared_on_fresh_systems() {
    let remembers = format!("{POST}        said.append(question)\n");
    let table = |begins: &str| {
        let tree = stream(POST, &remembers, "[\"rate-limit\", \"cut-clean\", \"nothing\"]");
        let app = tree.read("app.py");
        let asks = "[{\"role\": \"user\", \"content\": question}]";
        assert!(app.contains(asks), "{app}");
        let all = "[{\"role\": \"user\", \"content\": json.loads(it)} for it in said]";
        tree.write("app.py", &format!("{begins}said = []\n{}", app.replace(asks, all)));
        tree.retake().args(&["test", "--update", "poem::worlds"]).run().exits(0);
        tree.retake().args(&["test"]).run().exits(0);
        unaligned(&tree.read(TABLE))
    };
    let (fast, slow) = (table(""), table("import time; time.sleep(1.2)\n"));
    assert_eq!(fast, slow);
    assert!(fast.contains("cut-clean 3/6  reported  event `error`") && fast.contains("nothing  SILENT"), "{fast}");
    let said = "sick: not looked for, since a second run on the same system asks the model something else without any \
                fault: state of one request is in the next";
    assert!(fast.contains(said), "{fast}");
}

/// A mistake with each fault: what the service without any has, and what the one with it has instead; and what it does then.
const ON_ITS_WAY: [(&str, &str, &str, &str); 7] = [
    ("stall", ", timeout=1", "", "hung"),
    ("error-event", "raise ConnectionError(chunk[\"error\"][\"message\"])", "return", "SILENT"),
    ("garbage", "raise ConnectionError(\"no JSON\")", "continue", "SILENT"),
    ("length", "!= \"stop\"", "is None", "SILENT"),
    ("rate-limit", "except urllib.error.HTTPError: raise", "except urllib.error.HTTPError: return", "SILENT"),
    ("error-500", "except Exception as error:", "except Exception as error:\n            os._exit(1)", "crashed"),
    ("framing-seeded", "in answer:", "in iter(lambda: answer.read1(65536), b\"\"):", "reported"),
];

fn mistakes_with_an_answer_on_its_way_are_seen() {
    let worlds = format!("{:?}", ON_ITS_WAY.map(|(fault, ..)| fault));
    let from =
        "    for line in urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)):\n";
    let asks = "    try: answer = urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers), timeout=1)\n    \
                except urllib.error.HTTPError: raise\n    for line in answer:\n";
    let tree = stream(from, asks, &worlds);
    let reads = "            choice = json.loads(line.removeprefix(b\"data: \"))[\"choices\"][0]\n";
    let tells = "            try: chunk = json.loads(line.removeprefix(b\"data: \"))\n            \
                 except ValueError: raise ConnectionError(\"no JSON\")\n            \
                 if \"error\" in chunk: raise ConnectionError(chunk[\"error\"][\"message\"])\n            \
                 choice = chunk[\"choices\"][0]\n";
    tree.replace("app.py", reads, tells);
    tree.replace("app.py", "if not ended:", "if ended != \"stop\":");
    let (mended, said) = (tree.read("app.py"), lines(&tree).join("\n"));
    assert!(!said.contains('!'), "{said}");
    for (fault, has, instead, did) in ON_ITS_WAY {
        assert!(said.contains(&format!("  {fault}")) && mended.contains(has), "{fault}: {said}");
        tree.write("app.py", &mended.replace(has, instead));
        let ran = tree.retake().args(&["worlds", "poem", "--world", fault]).run();
        let said = unaligned(&ran.stdout);
        let is_red = |line: &str| line.starts_with("! turn 1  ") && line.contains(&format!("  {did}"));
        assert!(said.lines().any(is_red), "{fault}: {}", ran.all());
    }
}
