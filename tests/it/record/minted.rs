//! Tools that make up the number of an order, or offer a day from today on, which the model says again in a call of the next tool and in
//! its answer.

use axum::{Json, Router};
use serde_json::{Value, json};

use crate::support::loopback::Service;
use crate::support::program::Ran;
use crate::support::tree::Tree;

tests!(
    an_agent_that_acts_on_what_its_tool_made_up_replays,
    a_rule_is_enough_for_a_number_that_is_no_uuid,
    an_act_on_another_order_is_red,
    recording_again_changes_nothing,
    a_day_that_a_tool_offered_is_that_of_the_run,
    a_day_that_the_model_made_of_today_moves_if_only_so_replays_agree,
);

/// An agent with two tools, which streams what they return and what the model says.
const APP: &str = r#"
import datetime, http.server, json, os, secrets, urllib.request, uuid
ORDERS = {}
def book(args):
    if args.get("day", "x") <= os.environ["RETAKE_DATE"]: return {"error": "in the past"}
    ref = MADE_UP
    ORDERS[ref] = {"item": args["item"], "paid": False}
    return {"ref": ref, "item": args["item"]}
def pay(args):
    if args["ref"] not in ORDERS: return {"error": "no such order"}
    ORDERS[args["ref"]]["paid"] = True
    return {"ref": args["ref"], "paid": True}
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_GET(self):
        self.begin("application/json")
        self.wfile.write(json.dumps([{"ref": ref, **order} for ref, order in ORDERS.items()]).encode())
    def do_POST(self):
        said = json.loads(self.rfile.read(int(self.headers["content-length"])))
        messages = PROMPT + [{"role": "user", "content": said["text"]}]
        self.begin("text/event-stream")
        while True:
            body = json.dumps({"model": "m", "messages": messages}).encode()
            headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
            request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers)
            message = json.load(urllib.request.urlopen(request))["choices"][0]["message"]
            messages.append(message)
            for call in message.get("tool_calls", []):
                name, args = call["function"]["name"], json.loads(call["function"]["arguments"])
                result = {"book": book, "pay": pay}[name](args)
                self.event("tool", {"name": name, "args": args, "result": result})
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result)})
            if "tool_calls" not in message:
                self.event("answer", {"text": message["content"]})
                return self.event("end", {})
    def event(self, name, data):
        self.wfile.write(f"event: {name}\ndata: {json.dumps(data)}\n\n".encode())
    def begin(self, kind):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.end_headers()
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"#;

/// A point in time from today on.
const OFFERED: &str =
    r#"(datetime.date.fromisoformat(os.environ["RETAKE_DATE"]) + datetime.timedelta(AWAY)).isoformat() + "T09:00""#;

const SYSTEM: &str = r#"settle = "100ms"
[systems.agent]
command = ["python3", "app.py"]
ready = { http = "/" }
[systems.agent.env]
PORT = "{{ port }}"
OPENAI_BASE_URL = "{{ model.openai }}"
OPENAI_API_KEY = "{{ model.key }}"
"#;

const RULE: &str = "[[normalize]]\npattern = 'BK-[0-9A-F]{6}'\nreplace = 'BK-<ID>'\n";

const SCENARIO: &str = "[[step]]\npost = \"/\"\njson = { text = \"A bike, paid.\" }\nstream = { last = \"end\" }\n[[step]]\nget = \"/orders\"\n";

/// A model that books, pays what was booked, and says so.
fn provider() -> Service {
    Service::start(Router::new().fallback(async |Json(body): Json<Value>| {
        let last = body["messages"].as_array().unwrap().last().unwrap();
        let told: Value = serde_json::from_str(last["content"].as_str().unwrap()).unwrap_or_default();
        let call = |name: &str, args: Value| {
            let function = json!({ "name": name, "arguments": args.to_string() });
            json!({ "role": "assistant", "tool_calls": [{ "id": name, "type": "function", "function": function }] })
        };
        let message = if last["role"] == "user" {
            let prompt = body["messages"][0]["content"].as_str().unwrap();
            let mut args = json!({ "item": "bike" });
            if prompt.starts_with("Today") {
                args["day"] = time::OffsetDateTime::now_utc().date().next_day().unwrap().to_string().into();
            }
            call("book", args)
        } else if told.get("item").is_some() {
            call("pay", json!({ "ref": told["ref"] }))
        } else {
            json!({ "role": "assistant", "content": format!("Order {} is paid: {}.", told["ref"], told["paid"]) })
        };
        Json(json!({ "id": "c", "model": "m", "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }] }))
    }))
}

const UUID: &str = "str(uuid.uuid4())";
const SHORT: &str = r#""BK-" + secrets.token_hex(3).upper()"#;

/// Days in words.
const TODAY: &str = r#"[{"role": "system", "content": datetime.date.fromisoformat(os.environ["RETAKE_DATE"]).strftime("Today is %A, %d %B %Y.")}]"#;

fn project(made_up: &str, rules: &str) -> Tree {
    project_with(made_up, rules, "[]")
}

fn project_with(made_up: &str, rules: &str, prompt: &str) -> Tree {
    let tree = Tree::empty();
    tree.write("app.py", &APP.replace("MADE_UP", made_up).replace("PROMPT", prompt));
    tree.write("scenarios/suite.toml", &format!("{SYSTEM}{rules}"));
    tree.scenario("buy", SCENARIO);
    tree
}

fn record(tree: &Tree, provider: &Service, more: &[&str]) -> Ran {
    let args = [&["record", "buy"], more].concat();
    let record = tree.retake().args(&args).env("OPENAI_API_KEY", "sk-of-the-provider");
    record.env("RETAKE_UPSTREAM_OPENAI", provider.openai()).run()
}

fn an_agent_that_acts_on_what_its_tool_made_up_replays() {
    let (tree, provider) = (project(UUID, ""), provider());
    record(&tree, &provider, &[]).exits(0).says(&["3 turns recorded", "two replays agree"]);
    let golden = tree.read("goldens/buy.snap");
    assert!(golden.contains("/text has turn 3") || golden.contains("/text = turn 3"), "{golden}");
    tree.retake().args(&["test"]).run().exits(0);
}

fn a_rule_is_enough_for_a_number_that_is_no_uuid() {
    let (tree, provider) = (project(SHORT, ""), provider());
    let refused = record(&tree, &provider, &[]).exits(1);
    refused.says(&["with the rules below, two replays agree", "BK-[0-9A-F]{6}", "retake record buy --resume"]);
    tree.write("scenarios/suite.toml", &format!("{SYSTEM}{RULE}"));
    record(&tree, &provider, &["--resume"]).exits(0).says(&["0 calls sent to the provider", "two replays agree"]);
    tree.retake().args(&["test"]).run().exits(0);
}

fn an_act_on_another_order_is_red() {
    let (tree, provider) = (project(UUID, ""), provider());
    record(&tree, &provider, &[]).exits(0);
    let other = tree.read("app.py").replace("return {\"ref\": args[\"ref\"], ", "return {\"ref\": str(uuid.uuid4()), ");
    tree.write("app.py", &other);
    let ran = tree.retake().args(&["test"]).run().exits(1);
    ran.says(&["the event `tool` has a different shape: `/result/ref` is `id | id 1`, not `id 1`"]);
}

fn recording_again_changes_nothing() {
    for (made_up, rules) in [(UUID, ""), (SHORT, RULE)] {
        let (tree, provider) = (project(made_up, rules), provider());
        record(&tree, &provider, &[]).exits(0);
        let files = || ["fixtures/buy.json", "goldens/buy.snap"].map(|file| tree.read(file));
        let before = files();
        record(&tree, &provider, &[]).exits(0).says(&["golden unchanged"]);
        assert_eq!(files(), before);
    }
}

fn a_day_that_a_tool_offered_is_that_of_the_run() {
    for away in ["2", "45"] {
        let (tree, provider) = (project(&OFFERED.replace("AWAY", away), ""), provider());
        let ran = record(&tree, &provider, &[]).exits(0).says(&["two replays agree"]);
        ran.never_says("stays that day");
        let on = |date: &str| tree.retake().env("RETAKE_DATE", date).arg("test").run();
        for date in ["2031-05-05", "2031-12-30"] {
            on(date).exits(0);
        }
        // Another one than the model was offered.
        let other =
            tree.read("app.py").replace("result = {", "args.update(DAY_LATER) if name == 'pay' else None; result = {");
        let later = r#"{"ref": "2031-05-08T09:00"}"#;
        tree.write("app.py", &other.replace("DAY_LATER", later));
        on("2031-05-05").exits(1).says(&["tool `pay` is called with a different argument `/ref`"]);
    }
}

fn a_day_that_the_model_made_of_today_moves_if_only_so_replays_agree() {
    let (tree, provider) = (project_with(UUID, "", TODAY), provider());
    let moves = "the model calls the tool `book` with a day: each replay has the day that is as far from its own";
    record(&tree, &provider, &[]).exits(0).says(&[moves, "two replays agree"]);
    let files = || ["fixtures/buy.json", "goldens/buy.snap"].map(|file| tree.read(file));
    let before = files();
    record(&tree, &provider, &[]).exits(0).says(&["golden unchanged"]);
    assert_eq!(files(), before);
    let on = |date: &str| tree.retake().env("RETAKE_DATE", date).arg("test").run();
    for date in ["2031-05-05", "2031-12-30"] {
        on(date).exits(0);
    }
    // Without it, the day is past.
    tree.write("fixtures/buy.json", &before[0].replace("  \"days_move\": true,\n", ""));
    on("2031-05-05").exits(1).says(&["tool `book` returned an error, where none was recorded"]);
}
