//! Doubles of plain HTTP tools: whatever is asked below their address is passed on while recording, and answered from the fixture then.

use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::{get, post};
use serde_json::{Value, json};

use super::agent;
use crate::support::loopback::Service;
use crate::support::tree::Tree;

tests! {
    a_double_replaces_an_http_tool,
    what_an_http_tool_was_not_asked_while_it_was_recorded_is_a_miss,
    after_a_miss_of_a_tool_nothing_waits_for_what_cannot_come,
    an_http_tool_that_is_not_asked_any_more_is_unused,
    of_several_requests_that_are_not_made_the_first_line_quotes_none,
    a_step_that_fails_behind_an_error_of_the_model_says_so,
    a_header_that_a_request_lacks_is_drift_and_what_clients_send_by_themselves_is_not,
    a_language_that_the_agent_chose_is_held,
    headers_that_vary_between_replays_are_not_held,
    a_key_that_names_a_request_is_no_secret,
    an_id_that_requests_had_in_common_is_held,
    what_the_model_said_may_be_sent_to_an_http_tool,
    an_http_tool_that_cannot_be_reached_while_it_is_recorded_is_said,
}

/// Asks the model, does what it says, and tells it what came of it.
const AGENT: &str = r#"import json, os, urllib.request, uuid

def post(url, body, key):
    headers = {"content-type": "application/json", "authorization": "Bearer " + key, "X-Tenant": "t1"}
    return urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers))

def ask(messages):
    body = {"model": "m", "messages": messages}
    answer = post(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, os.environ["OPENAI_API_KEY"])
    return json.load(answer)["choices"][0]["message"]

messages = [{"role": "user", "content": "How is the weather?"}]
messages.append(ask(messages))
with urllib.request.urlopen(os.environ["TOOL"] + "/v1/forecast?city=Paris&day=1&day=2") as answer:
    sky, link = json.load(answer)["sky"], answer.headers["link"]
booked = post(os.environ["TOOL"] + "/OF_TOOL/bookings/" + str(uuid.uuid4()), {"sky": sky}, "of-the-tool")
said = f"{sky}, {link}, {booked.status} {booked.read().decode()}"
messages.append({"role": "tool", "tool_call_id": "call_1", "content": said})
print(json.dumps({"type": "answer", "text": ask(messages)["content"]}))
"#;

/// A key that stands in the path, as some services want it.
const KEY: &str = "shpat_0123456789abcdef0123456789abcdef";

fn suite(tool: &str) -> String {
    format!("settle = \"100ms\"\n[tools.weather]\nhttp = \"{tool}/below/\"\n")
}

fn tree() -> Tree {
    let tree = Tree::empty();
    tree.write("agent.py", &AGENT.replace("OF_TOOL", KEY));
    tree.write("scenarios/suite.toml", &suite("http://127.0.0.1:9"));
    let scenario = "[[step]]\nrun = [\"python3\", \"{{ root }}/agent.py\"]\nenv = { TOOL = \"{{ tools.weather.url }}\", \
        OPENAI_BASE_URL = \"{{ model.openai }}\", OPENAI_API_KEY = \"{{ model.key }}\" }\nstream = { last = \"answer\" }\n\
        [golden]\nshow = [\"/text\"]\n";
    tree.write("scenarios/ask/scenario.toml", scenario);
    tree
}

fn recorded() -> Tree {
    let tree = tree();
    record(&tree);
    tree
}

/// Records with the real tool, which is gone afterwards.
fn record(tree: &Tree) {
    let forecast = || async {
        (
            [("content-type", "application/json"), ("link", "</2>; rel=next"), ("set-cookie", "session=1")],
            "{\"sky\": \"clear\"}",
        )
    };
    let book = |headers: axum::http::HeaderMap, body: String| async move {
        assert_eq!(
            (&headers["authorization"], &*body),
            (&"Bearer of-the-tool".parse().unwrap(), "{\"sky\": \"clear\"}")
        );
        (axum::http::StatusCode::CREATED, "booked")
    };
    let tool =
        Router::new().route("/v1/below/v1/forecast", get(forecast)).route("/v1/below/{key}/bookings/{id}", post(book));
    let tool = Service::start(tool.route("/v1/below/notes", post(async || "noted")));
    tree.write("scenarios/suite.toml", &suite(&tool.openai()));
    let provider = agent::provider();
    let record = tree.retake().args(&["record", "ask"]).env("RETAKE_UPSTREAM_OPENAI", provider.openai());
    record.run().exits(0).says(&["ask: 2 turns recorded to fixtures/ask.json, two replays agree"]);
}

fn change(tree: &Tree, change: impl FnOnce(&mut Vec<Value>)) {
    let mut fixture: Value = serde_json::from_str(&tree.read("fixtures/ask.json")).unwrap();
    change(fixture["tools"]["weather"].as_array_mut().unwrap());
    tree.write("fixtures/ask.json", &fixture.to_string());
}

fn a_double_replaces_an_http_tool() {
    let tree = recorded();
    change(&tree, |exchanges| {
        let forecast = json!({"method": "GET", "params": {"path": "/v1/forecast", "query": {"city": "Paris", "day": ["1", "2"]}},
            "result": {"headers": {"content-type": "application/json", "link": "</2>; rel=next"}, "json": {"sky": "clear"}}});
        let path = exchanges[1]["params"]["path"].as_str().unwrap();
        assert!(path.contains("/bookings/") && !path.contains(KEY), "{path}");
        let booking = json!({"method": "POST", "params": {"path": path, "json": {"sky": "clear"}}, "headers": ["authorization", "authorization: 710e", "x-tenant", "x-tenant: 628b"],
            "ids": exchanges[1]["ids"], "result": {"headers": {"content-type": "text/plain; charset=utf-8"}, "text": "booked"}, "status": 201});
        assert_eq!(exchanges[1]["ids"][0]["at"], "/path", "{}", exchanges[1]);
        assert_eq!(*exchanges, [forecast, booking]);
    });
    tree.retake().arg("test").run().exits(0).says(&["test ask ", "ok"]);
    assert!(tree.read("goldens/ask.snap").contains("/text = turn 2"), "{}", tree.read("goldens/ask.snap"));
    // What only reads may be read again.
    tree.replace("agent.py", "booked = ", "urllib.request.urlopen(answer.url)\nbooked = ");
    tree.retake().arg("test").run().exits(0);
}

fn what_an_http_tool_was_not_asked_while_it_was_recorded_is_a_miss() {
    let tree = recorded();
    tree.replace("agent.py", "city=Paris", "city=Rome");
    tree.retake().arg("test").run().exits(1).says(&[
        "replay miss: server `weather`: `GET` of `/v1/forecast` has a different `/query/city` than recorded (\"Paris\" → \"Rome\")",
        "HTTP GET, server `weather`",
        "difference at /query/city: \"Paris\" → \"Rome\"",
        "retake record ask",
    ]);
}

fn after_a_miss_of_a_tool_nothing_waits_for_what_cannot_come() {
    let tree = recorded();
    tree.replace("agent.py", "city=Paris", "city=Rome");
    tree.replace(
        "agent.py",
        "messages = [",
        "import signal, sys\nsys.excepthook = lambda *_: signal.pause()\nmessages = [",
    );
    tree.replace("scenarios/ask/scenario.toml", "[[step]]", "timeout = \"120s\"\n[[step]]");
    let began = Instant::now();
    tree.retake().arg("test").run().exits(1).says(&["replay miss: server `weather`", "the command did not end"]);
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

fn an_http_tool_that_is_not_asked_any_more_is_unused() {
    let tree = recorded();
    change(&tree, |exchanges| {
        let mut other = exchanges[0].clone();
        other["params"]["path"] = "/v1/tides".into();
        exchanges.push(other);
    });
    tree.retake()
        .arg("test")
        .run()
        .exits(1)
        .says(&["unused: 1 recorded request to tools not made: `weather`: GET {", "/v1/tides"]);
}

fn of_several_requests_that_are_not_made_the_first_line_quotes_none() {
    let tree = recorded();
    change(&tree, |exchanges| {
        for path in ["/v1/tides", "/v1/waves"] {
            let mut other = exchanges[0].clone();
            other["params"]["path"] = path.into();
            exchanges.push(other);
        }
    });
    let run = tree.retake().arg("test").run().exits(1);
    let said = run.says(&["unused: 2 recorded requests to tools not made", "/v1/tides", "/v1/waves"]).all();
    let first = said.lines().find(|line| line.contains("unused: 2")).unwrap();
    assert!(!first.contains("/v1/"), "{first}");
}

fn a_step_that_fails_behind_an_error_of_the_model_says_so() {
    let tree = recorded();
    let mut fixture: Value = serde_json::from_str(&tree.read("fixtures/ask.json")).unwrap();
    let wire = &mut fixture["turns"][1]["wire"];
    assert!(wire.is_object(), "{}", fixture["turns"][1]);
    *wire = json!({"api": wire["api"], "status": 429, "content_type": "application/json", "json": {"error": {"message": "slow down"}}});
    tree.write("fixtures/ask.json", &fixture.to_string());
    tree.retake().arg("test").run().exits(1).says(&["expected exit code 0, found 1, after status 429 of the model"]);
    // So does an event by which the service says that it failed.
    let last = "print(json.dumps({\"type\": \"answer\", \"text\": ask(messages)[\"content\"]}))";
    let says = "    print(json.dumps({\"type\": \"error\", \"message\": \"busy\"}))";
    tree.replace("agent.py", last, &format!("try:\n    {last}\nexcept OSError:\n{says}"));
    tree.retake()
        .arg("test")
        .run()
        .exits(1)
        .says(&["the service sent the event `error`: \"busy\", after status 429 of the model"]);
}

fn a_header_that_a_request_lacks_is_drift_and_what_clients_send_by_themselves_is_not() {
    let tree = recorded();
    tree.replace(
        "agent.py",
        "\"X-Tenant\": ",
        "\"User-Agent\": \"other/2\", \"Accept\": \"*/*\", \"X-New\": \"n\", \"x-tenant\": ",
    );
    tree.retake().arg("test").run().exits(0);
    tree.replace("agent.py", "\"t1\"", "\"t2\"");
    tree.retake()
        .arg("test")
        .run()
        .exits(1)
        .says(&["` to `weather` has another value of the header `x-tenant` than recorded"]);
    tree.replace("agent.py", "\"t2\"", "\"t1\"");
    tree.replace("agent.py", "\"of-the-tool\"", "\"of-another\"");
    tree.retake().arg("test").run().exits(0);
    tree.replace("agent.py", "\"Bearer \" + key", "key if key == \"of-another\" else \"Bearer \" + key");
    tree.retake().arg("test").run().exits(1).says(&["has another value of the header `authorization` than recorded"]);
    tree.replace("agent.py", "key if key == \"of-another\" else ", "");
    tree.replace("agent.py", "\"t1\"", "\"t2\"");
    tree.replace("agent.py", ", \"x-tenant\": \"t2\"", "");
    tree.retake().arg("test").run().exits(1).says(&[
        "drift: `POST` of `/",
        "` to `weather` has no header `x-tenant` any more",
        "if the change is intended",
    ]);
    tree.replace("scenarios/ask/scenario.toml", "[[step]]", "drift = { results = \"note\" }\n[[step]]");
    tree.retake().arg("test").run().exits(0).says(&["note: ask: drift: ", "has no header `x-tenant` any more"]);
    tree.replace("scenarios/ask/scenario.toml", "drift = { results = \"note\" }\n", "");
    // In a fixture without headers none are held.
    change(&tree, |exchanges| {
        exchanges[1].as_object_mut().unwrap().remove("headers").unwrap();
    });
    tree.retake().arg("test").run().exits(0);
}

fn a_language_that_the_agent_chose_is_held() {
    let tree = tree();
    tree.replace("agent.py", "\"X-Tenant\"", "\"Accept\": \"a/b, */*\", \"Accept-Language\": \"de\", \"X-Tenant\"");
    record(&tree);
    tree.replace("agent.py", "a/b", "c/d");
    tree.retake().arg("test").run().exits(0);
    tree.replace("agent.py", "\"de\"", "\"en\"");
    tree.retake()
        .arg("test")
        .run()
        .exits(1)
        .says(&["` to `weather` has another value of the header `accept-language` than recorded"]);
}

fn headers_that_vary_between_replays_are_not_held() {
    let tree = tree();
    let seen = tree.path("seen");
    let file = json!(seen);
    let line = format!(
        "    if key == \"of-the-tool\" and not os.path.exists({file}):\n        open({file}, \"w\")\n        headers[\"X-First\"] = \"1\"\n    return"
    );
    tree.replace("agent.py", "    return urllib", &format!("{line} urllib"));
    tree.replace("agent.py", "str(uuid.uuid4())", "\"one\"");
    record(&tree);
    let fixture: Value = serde_json::from_str(&tree.read("fixtures/ask.json")).unwrap();
    assert_eq!(
        fixture["tools"]["weather"][1]["headers"],
        json!(["authorization", "authorization: 710e", "x-tenant", "x-tenant: 628b"])
    );
    // Recorded again, it is the same, with the minute of the first time.
    let minute = fixture["recorded"].as_str().unwrap().to_owned();
    tree.replace("fixtures/ask.json", &minute, "2026-01-02T03:04+00:00");
    let before = tree.read("fixtures/ask.json");
    std::fs::remove_file(seen).unwrap();
    record(&tree);
    assert_eq!(tree.read("fixtures/ask.json"), before);
}

fn a_key_that_names_a_request_is_no_secret() {
    // An id may be made of what is booked.
    let ids = ["5f1c7e0a-3a1d-5b52-9d55-0f6b7a8f1c11", "0e0c5b1e-77aa-5d0f-8d0a-52b0a1c7a4d3"];
    for [one, other] in [["booking-1", "booking-2"], ids] {
        let tree = tree();
        let key = |of: &str| format!("\"Idempotency-Key\": \"{of}\"");
        tree.replace("agent.py", "\"X-Tenant\"", &format!("{}, \"X-Tenant\"", key(one)));
        record(&tree);
        assert!(!tree.read("fixtures/ask.json").contains(one));
        tree.retake().arg("test").run().exits(0);
        tree.replace("agent.py", &key(one), &key(other));
        tree.retake().arg("test").run().exits(1).says(&["another value of the header `idempotency-key` than recorded"]);
    }
}

fn an_id_that_requests_had_in_common_is_held() {
    let tree = tree();
    tree.replace("agent.py", "uuid\n", "uuid\n\nKEY = str(uuid.uuid4())\n");
    tree.replace("agent.py", "\"X-Tenant\"", "\"Idempotency-Key\": KEY, \"X-Tenant\"");
    let again = "post(os.environ[\"TOOL\"] + \"/notes\", {}, \"of-the-tool\")\nsaid = f";
    tree.replace("agent.py", "said = f", again);
    record(&tree);
    tree.retake().arg("test").run().exits(0);
    tree.replace("agent.py", "\"Idempotency-Key\": KEY", "\"Idempotency-Key\": str(uuid.uuid4())");
    let other =
        "`POST` of `/notes` to `weather` has another id in `idempotency-key` than recorded: it was that of `POST`";
    tree.retake().arg("test").run().exits(1).says(&[other]);
    // Of what a fixture does not say nothing is held.
    change(&tree, |exchanges| exchanges.iter_mut().for_each(|of| drop(of.as_object_mut().unwrap().remove("ids"))));
    tree.retake().arg("test").run().exits(0);
}

/// The replay with marked words, and more tokens, gets the answer that was recorded.
fn what_the_model_said_may_be_sent_to_an_http_tool() {
    let tree = tree();
    let of_answer = "json.load(answer)[\"choices\"][0][\"message\"]";
    tree.replace("agent.py", &format!("return {of_answer}"), "return json.load(answer)");
    tree.replace(
        "agent.py",
        "messages.append(ask(messages))",
        "messages.append(ask(messages)[\"choices\"][0][\"message\"])",
    );
    tree.replace(
        "agent.py",
        "print(json.dumps({\"type\": \"answer\", \"text\": ask(messages)[\"content\"]}))",
        "answer = ask(messages)\ntext, used = answer[\"choices\"][0][\"message\"][\"content\"], answer[\"usage\"][\"completion_tokens\"]\n\
         post(os.environ[\"TOOL\"] + \"/notes\", {\"note\": text, \"used\": used}, \"of-the-tool\")\n\
         print(json.dumps({\"type\": \"answer\", \"text\": text, \"used\": used}))",
    );
    record(&tree);
    let golden = tree.read("goldens/ask.snap");
    assert!(golden.contains("used       output tokens of turn 2"), "{golden}");
    tree.retake().arg("test").run().exits(0);
}

fn an_http_tool_that_cannot_be_reached_while_it_is_recorded_is_said() {
    let tree = tree();
    let provider = agent::provider();
    let record = tree.retake().args(&["record", "ask"]).env("RETAKE_UPSTREAM_OPENAI", provider.openai());
    let said = record.run().exits(1);
    assert!(!tree.path("fixtures/ask.json").exists());
    said.says(&["HTTP Error 502"]);
}
