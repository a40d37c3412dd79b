//! An API that the suite declares: drift, misses, goldens, worlds and cost of a service that calls it, without a line of code for it.

use retake_core::json::Json;
use retake_core::key::Rules;
use retake_wire::fixture::{Exchange, Recorded};
use retake_wire::{Api, Declaration, Known, Response, decode_response};

use crate::support::fixtures;
use crate::support::tree::Tree;
use crate::systems::service;

tests! { what_is_declared_has_an_effect, a_fixture_of_an_api_that_is_not_declared_names_the_table }

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
