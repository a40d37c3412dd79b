//! An agent whose model asks for two tools at once, which finish in any order, as those of LangGraph do.

use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use retake::Stage;
use serde_json::{Value, json};

use crate::support::loopback::{Service, client};
use crate::support::program::{Program, Ran};
use crate::support::tree::Tree;

tests! { events_of_calls_that_were_made_at_once_are_in_the_order_of_the_calls,
    a_recording_that_keeps_older_ids_is_held_to_the_answers_that_came,
    calls_whose_events_have_no_ids_are_proven_by_five_replays,
    a_red_run_that_another_replay_contradicts_proposes_the_events_by_name,
}

/// The variable that lists what the tools send in each run of the agent: `0m` is the message of the first call, `1u` the update
/// of the second one. The last run repeats.
const RUNS: &str = "RETAKE_IT_PARALLEL_RUNS";

/// Serves the agent: `POST /work` takes `ids` if its events name the calls that they belong to, or `plain`.
pub(crate) fn router(stage: Stage) -> Router {
    Router::new().route("/work", post(work)).with_state(stage)
}

async fn work(State(stage): State<Stage>, kind: String) -> Response {
    static RUN: AtomicUsize = AtomicUsize::new(0);
    let runs = std::env::var(RUNS).unwrap();
    let runs: Vec<&str> = runs.split(", ").collect();
    let sent = runs[RUN.fetch_add(1, Ordering::Relaxed).min(runs.len() - 1)];

    let asked = json!({ "role": "user", "content": "Is it warmer in Paris or in Rome?" });
    let answer = ask(&stage, std::slice::from_ref(&asked)).await;
    let calls = answer["tool_calls"].as_array().cloned().unwrap_or_default();
    let result = |call: &Value| json!({ "role": "tool", "tool_call_id": call["id"], "content": "warm" });
    let results = calls.iter().map(result);
    let messages: Vec<Value> = [asked, answer.clone()].into_iter().chain(results).collect();
    let said = ask(&stage, &messages).await;

    let mut events = vec![format!("event: start\ndata: {answer}\n\n")];
    for token in sent.split(' ') {
        let (nth, name) = token.split_at(1);
        let mut message = json!({ "type": "tool", "name": "get_weather", "content": "warm" });
        if kind.contains("ids") {
            message["tool_call_id"] = calls[nth.parse::<usize>().unwrap()]["id"].clone();
        }
        events.push(match name {
            "m" => format!("event: messages\ndata: {}\n\n", json!([message, { "langgraph_node": "tools" }])),
            _ => format!("event: updates\ndata: {}\n\n", json!({ "tools": { "messages": [message] } })),
        });
    }
    events.push(format!("event: end\ndata: {}\n\n", json!({ "text": said["content"] })));
    ([(header::CONTENT_TYPE, "text/event-stream")], events.concat()).into_response()
}

/// Returns the model's message.
async fn ask(stage: &Stage, messages: &[Value]) -> Value {
    let tool = json!({ "type": "function", "function": { "name": "get_weather", "parameters": {} } });
    let body = json!({ "model": "small", "messages": messages, "tools": [tool] }).to_string();
    let request = client().post(format!("{}/chat/completions", stage.model().openai));
    let request = request.header("content-type", "application/json").bearer_auth(stage.key());
    let answer = request.body(body).send().await.unwrap().text().await.unwrap();
    serde_json::from_str::<Value>(&answer).unwrap()["choices"][0]["message"].clone()
}

/// Each tool sends its message, then its update. These are the orders that differ most.
const APART: &str = "0m 0u 1m 1u";
const TANGLED: &str = "1m 0m 0u 1u";

fn tree(kind: &str, golden: &str) -> Tree {
    let tree = Tree::with_suite("settle = \"100ms\"\n");
    let step =
        format!("[[step]]\npost = \"/work\"\nheaders = {{ content-type = \"text/plain\" }}\njson = \"{kind}\"\n");
    tree.scenario("two", &format!("{step}stream = {{ last = \"end\" }}\n[golden]\n{golden}\n"));
    tree
}

/// Records the scenario; each run of the agent sends the next of these.
fn recorded(tree: &Tree, runs: &[&str]) -> Ran {
    let provider = Service::provider();
    let runner = tree.recorder("parallel", "record", "two").env(RUNS, runs.join(", "));
    runner.env("RETAKE_UPSTREAM_OPENAI", provider.openai()).env("OPENAI_API_KEY", "sk-of-the-provider").run()
}

fn replayed(tree: &Tree, runs: &[&str]) -> Program {
    tree.runner("parallel").env(RUNS, runs.join(", "))
}

fn events_of_calls_that_were_made_at_once_are_in_the_order_of_the_calls() {
    let tree = tree("ids", "show = [\"/0/tool_call_id\", \"/tools/messages/0/tool_call_id\"]");
    recorded(&tree, &[TANGLED, APART, "1m 1u 0m 0u"]).exits(0).says(&["two replays agree"]);
    let golden = tree.read("goldens/two.snap");
    for order in [APART, TANGLED, "1m 1u 0m 0u", "0m 1m 1u 0u"] {
        replayed(&tree, &[order]).run().exits(0);
    }
    // What each call sent stays in its order.
    replayed(&tree, &["0u 0m 1m 1u"]).run().exits(101);
    // The order of all events, as they came.
    tree.replace("scenarios/two/scenario.toml", "[golden]\n", "[golden]\nordered = true\n");
    recorded(&tree, &[APART]).exits(0);
    assert_eq!(tree.read("goldens/two.snap"), golden);
    replayed(&tree, &[TANGLED]).run().exits(101);
}

/// Each recording has other ids. The fixture keeps those that it had, and what the service sent while it was recorded has the new ones.
fn a_recording_that_keeps_older_ids_is_held_to_the_answers_that_came() {
    let tree = tree("ids", "");
    recorded(&tree, &[APART]).exits(0);
    let ids = regex::Regex::new(r"call_\w+").unwrap();
    let fixture = tree.read("fixtures/two.json");
    assert!(ids.is_match(&fixture), "{fixture}");
    let older = ids.replace_all(&fixture, "${0}_older").into_owned();
    tree.write("fixtures/two.json", &older);
    recorded(&tree, &[TANGLED, APART]).exits(0).says(&["two replays agree", "golden unchanged"]);
    assert_eq!(tree.read("fixtures/two.json"), older);
}

fn calls_whose_events_have_no_ids_are_proven_by_five_replays() {
    let tree = tree("plain", "");
    // The recording itself is the first run, and the fourth replay differs.
    let refused = recorded(&tree, &[APART, APART, APART, APART, TANGLED, APART]).exits(1);
    assert!(!tree.has("fixtures/two.json") && !tree.has("goldens/two.snap"));
    let option = "unordered = [\"messages\", \"updates\"]";
    refused
        .says(&[
            "unstable: five replays of scenario `two` differ",
            "tried: with the option below, the goldens of the five replays are equal",
            &format!("if it may vary, add under [golden] in scenarios/two/scenario.toml:\n    {option}\n"),
        ])
        .never_says("EVENT");
    tree.replace("scenarios/two/scenario.toml", "[golden]\n", &format!("[golden]\n{option}\n"));
    recorded(&tree, &[APART, APART, APART, APART, TANGLED, APART]).exits(0).says(&["five replays agree"]);
    for order in [APART, TANGLED, "1m 1u 0m 0u"] {
        replayed(&tree, &[order]).run().exits(0);
    }
}

fn a_red_run_that_another_replay_contradicts_proposes_the_events_by_name() {
    let tree = tree("plain", "collapse = [\"messages\"]");
    recorded(&tree, &[APART]).exits(0).says(&["five replays agree"]);
    let red = |runs: &[&str]| replayed(&tree, runs).run().exits(101);
    red(&[TANGLED, TANGLED, APART]).says(&[
        "the same recording, replayed again, gave another golden",
        "if it may vary, add under [golden] in scenarios/two/scenario.toml:\n    unordered = [\"messages\", \"updates\"]\n",
    ]);
    // A service that changed sends the same each time.
    red(&[TANGLED]).never_says("replayed again").never_says("unordered");
}
