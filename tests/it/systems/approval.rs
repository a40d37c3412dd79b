//! A person who approves what an agent wants to do, in the middle of its run.

use std::net::{SocketAddr, TcpListener};

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::post;
use serde_json::{Value, json};

use crate::support::program::Program;
use crate::support::tree::{Tree, project};

tests!(
    a_person_approves_in_the_middle_of_a_run_and_refuses_in_another,
    two_approvals_in_one_run_are_waited_for_one_after_another,
    an_event_that_does_not_come_is_told_with_those_that_came,
);

/// The two services, each with the steps that open the stream of a run.
const SERVICES: [(&str, &str, &str); 2] = [
    (
        "python3",
        "approval.py",
        "[[step]]\npost = \"/runs\"\njson = { message = \"{{ message }}\" }\n\
         stream = { listen = true, first = \"state\", last = { event = \"state\", at = \"/status\", is = \"finished\" } }\n",
    ),
    (
        "node",
        "approval.mjs",
        "[[step]]\nlisten = \"/events\"\nstream = { last = { event = \"state\", times = 2 } }\n\
         [[step]]\npost = \"/runs\"\njson = { message = \"{{ message }}\" }\n",
    ),
];

const DECIDED: &str = "[[step]]\nafter = \"tool_pending\"\ncapture = { approval = \"sse:tool_pending:/approval\" }\n\
    [[step]]\npost = \"/approvals/{{ approval }}\"\njson = { approved = DECISION }\n";

/// Without Node, the other language alone.
fn services() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    SERVICES.into_iter().filter(|(program, ..)| Program::new(program.as_ref()).arg("--version").starts())
}

/// Starts a provider that wants to pay back as often as the message says, and then sums up what came of it.
fn provider() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let service = Router::new().route("/v1/chat/completions", post(answer));
            axum::serve(tokio::net::TcpListener::from_std(listener).unwrap(), service).await.unwrap();
        });
    });
    address
}

async fn answer(body: String) -> ([(axum::http::HeaderName, &'static str); 1], String) {
    let call: Value = serde_json::from_str(&body).unwrap();
    let messages = call["messages"].as_array().unwrap();
    let results: Vec<&str> =
        messages.iter().filter(|it| it["role"] == "tool").map(|it| it["content"].as_str().unwrap()).collect();
    let wanted = if messages[0]["content"].as_str().unwrap().contains("both") { 2 } else { 1 };
    let message = if results.len() < wanted {
        let function = json!({"name": "refund", "arguments": "{}"});
        let id = format!("call_{}", results.len());
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": function}]})
    } else {
        json!({"role": "assistant", "content": format!("What came of it: {}.", results.join(", "))})
    };
    let finish = if message["content"].is_null() { "tool_calls" } else { "stop" };
    let choice = json!({"index": 0, "finish_reason": finish, "logprobs": null, "message": message});
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3});
    let answer = json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "small", "choices": [choice], "usage": usage});
    ([(CONTENT_TYPE, "application/json")], answer.to_string())
}

/// Returns a project with one of the services, and scenarios with these messages and decisions.
fn tree((program, file, opens): (&str, &str, &str), scenarios: &[(&str, &str, &[bool])]) -> Tree {
    let tree = Tree::with_suite(&format!(
        "timeout = \"20s\"\n[systems.agent]\ncommand = [\"{program}\", \"{{{{ root }}}}/{file}\"]\nready = {{ http = \"/\" }}\n\
         env = {{ PORT = \"{{{{ port }}}}\", OPENAI_BASE_URL = \"{{{{ model.openai }}}}\", OPENAI_API_KEY = \"{{{{ model.key }}}}\" }}\n"
    ));
    tree.write(file, &project(&format!("tests/it/data/{file}")));
    for (name, message, decisions) in scenarios {
        let decided = decisions.iter().enumerate().map(|(at, decision)| {
            DECIDED
                .replace("approval }}", &format!("approval_{at} }}}}"))
                .replace("{ approval =", &format!("{{ approval_{at} ="))
                .replace("DECISION", &decision.to_string())
        });
        let decided: String = decided.collect();
        tree.scenario(name, &format!("vars = {{ message = \"{message}\" }}\n{opens}{decided}"));
    }
    tree
}

fn record(tree: &Tree, names: &[&str]) {
    let record = tree.retake().arg("record").args(names);
    record.env("RETAKE_UPSTREAM_OPENAI", format!("http://{}/v1", provider())).run().green();
}

fn a_person_approves_in_the_middle_of_a_run_and_refuses_in_another() {
    for service in services() {
        let tree = tree(service, &[("no", "Refund the order", &[false]), ("yes", "Refund the order", &[true])]);
        record(&tree, &["yes", "no"]);
        let golden = tree.read("goldens/yes.snap");
        assert!(golden.contains("tool_pending      {approval, tool}\nanswer"), "{golden}");
        for _ in 0..10 {
            tree.retake().arg("test").run().green();
        }
        // A service that does not wait for the person pays back what should not be.
        let (waits, does_not) = match service.0 {
            "node" => ("await decision", "true"),
            _ => ("pending[approval].get()", "True"),
        };
        tree.replace(service.1, waits, does_not);
        tree.retake().args(&["test", "no"]).run().red(&["replay miss: "]);
        // One that forgets the person's answer never ends.
        tree.replace(service.1, does_not, waits);
        let (decides, forgets) = match service.0 {
            "node" => ("(JSON.parse(body).approved)", ""),
            _ => (".put(body[\"approved\"])", ""),
        };
        tree.replace(service.1, decides, forgets);
        tree.replace("scenarios/suite.toml", "20s", "8s");
        tree.retake().args(&["test", "yes"]).run().red(&["the event `state"]);
    }
}

fn two_approvals_in_one_run_are_waited_for_one_after_another() {
    for service in services() {
        let tree = tree(service, &[("both", "Refund both orders", &[true, false])]);
        record(&tree, &["both"]);
        tree.retake().arg("test").run().green();
        // The order of the decisions is the order of the events.
        let scenario = tree.read("scenarios/both/scenario.toml");
        tree.scenario("both", &scenario.replacen("true }\n[[step]]\nafter", "false }\n[[step]]\nafter", 1));
        tree.retake().arg("test").run().red(&["replay miss: "]);
        // One event with a number of times is the last of them.
        let waits = scenario.replacen("after = \"tool_pending\"", "after = { event = \"tool_pending\", times = 2 }", 1);
        tree.scenario("both", &format!("timeout = \"8s\"\n{waits}"));
        tree.retake().arg("test").run().red(&["the event `tool_pending, 2 times` did not come"]);
    }
}

fn an_event_that_does_not_come_is_told_with_those_that_came() {
    let tree = tree(SERVICES[0], &[("yes", "Refund the order", &[true])]);
    record(&tree, &["yes"]);
    let scenario = tree.read("scenarios/yes/scenario.toml");
    tree.scenario("yes", &format!("{scenario}[[step]]\nafter = \"tool_pendng\"\n"));
    tree.retake().arg("test").run().red(&[
        "the stream was over before the event `tool_pendng` came",
        "came since the last event for which a step waited: `answer`, `state`",
    ]);
    tree.scenario("yes", &format!("{scenario}[[step]]\nafter = \"answer\"\ncapture = {{ first = \"sse:state:/status\", other = \"sse:nothing:/\" }}\n"));
    tree.retake().arg("test").run().red(&["`other` cannot be captured: the answer lacks sse:nothing:/"]);
}
