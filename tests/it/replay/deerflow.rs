//! Fixtures in deer-flow's format replay unchanged. `data/make_deerflow.py` writes them from the rules of the key alone.

use serde_json::{Value, json};

use crate::replay::serve::Serving;
use crate::support::tree::{Tree, project};

tests! { it_replays_with_declared_callers_and_without_any,
    a_miss_says_that_the_fixture_contains_no_conversations,
    callers_with_the_same_conversation_are_only_distinguished_by_a_rule,
    it_is_served_over_http_to_calls_without_a_caller,
    keys_of_hashes_alone_are_not_computed_again,
    after_an_import_it_is_in_retakes_format_and_replays_the_same,
}

fn data(name: &str) -> String {
    format!("tests/it/data/deerflow_{name}.json")
}

/// Returns a project with one of Retake's own scenarios, and a fixture in deer-flow's format in place of the scenario's own.
fn tree(scenario: &str, fixture: &str) -> Tree {
    let tree = Tree::of(&[scenario]);
    tree.write(&format!("fixtures/{scenario}.json"), &project(&data(fixture)));
    // In this fixture the ids of tool calls are words, which a golden does not recognize as ids.
    tree.replace(&format!("scenarios/{scenario}/scenario.toml"), "[golden]\n", "[golden]\ndetail = \"keys\"\n");
    let golden = format!("goldens/{scenario}.snap");
    let text = tree.read(&golden);
    // Each answer has its head, its sequence, and its trees.
    let blocks = text.split("\n\n\n").map(|block| block.splitn(3, "\n\n").take(2).collect::<Vec<_>>().join("\n\n"));
    let sequence = blocks.collect::<Vec<_>>().join("\n\n\n");
    // Its turns are in another order.
    let lines: Vec<&str> =
        sequence.lines().filter(|line| !(line.starts_with("  ") && line.contains(" = turn "))).collect();
    tree.write(&golden, &lines.join("\n"));
    tree
}

fn it_replays_with_declared_callers_and_without_any() {
    for system in ["gateway", "undeclared"] {
        let tree = tree("write_read_file", "write_read_file");
        let before = tree.files();
        tree.runner(system).run().exits(0).trials_are(&[("write_read_file", "ok"), ("retake::no_orphans", "ok")]);
        assert_eq!(tree.files(), before);
    }
}

fn a_miss_says_that_the_fixture_contains_no_conversations() {
    for (system, caller) in
        [("gateway", "`lead_agent`"), ("undeclared", "the call \"Create note.txt with the text \\\"h…\"")]
    {
        tree("write_read_file", "one_word").runner(system).run().exits(101).says(&[
            &format!("replay miss: {caller} asks something that was never recorded\n"),
            "messages   5 in the key: human, ai calling write_file, tool `write_file`, ai calling read_file, \
             tool `read_file`",
            "nearest    not known: fixtures/write_read_file.json keeps hashes and no conversations; 2 of its 4 turns \
             are still open",
            "if the change is intended:\n    retake record write_read_file\n",
        ]);
    }
}

/// In both formats: deer-flow's would lose what Retake's does not have, such as the ids of messages.
fn keys_of_hashes_alone_are_not_computed_again() {
    let tree = tree("write_read_file", "write_read_file");
    let fixture = "fixtures/write_read_file.json";
    for imported in [false, true] {
        if imported {
            tree.retake().args(&["import", "deerflow", fixture, "--out", fixture]).run().exits(0);
        }
        let before = tree.files();
        let of_all = "turn 1: only hashes of the conversation are stored, so its key cannot be computed again; the same \
                      is true of 3 more turns";
        tree.retake().args(&["key", "--write", fixture]).run().exits(2).says(&[
            fixture,
            of_all,
            "nothing was written; to store conversations, too: retake record write_read_file",
        ]);
        assert_eq!(tree.files(), before);
    }
}

fn callers_with_the_same_conversation_are_only_distinguished_by_a_rule() {
    tree("two_callers", "two_callers").runner("gateway").run().exits(0);
    let tree = tree("two_callers", "two_callers");
    tree.runner("undeclared").run().exits(101).says(&[
        "replay miss: `subagent:critic`, `subagent:optimist` had this \
         conversation, and the call does not say whose it is",
        "to fix     let the system send the header x-retake-caller, or add a [[callers]] rule",
    ]);
    let rule = |name: &str| {
        format!("[[callers]]\nname = \"subagent:{name}\"\nwhen = {{ system = \"^You are an? {name}\" }}\n")
    };
    tree.write("scenarios/suite.toml", &format!("settle = \"100ms\"\n{}{}", rule("optimist"), rule("critic")));
    tree.runner("undeclared").run().exits(0);
}

/// Makes the calls of the scenario `write_read_file` in OpenAI's format, where tool results have no tool name and arguments are
/// text.
fn it_is_served_over_http_to_calls_without_a_caller() {
    let mut serving = Serving::of(&crate::support::tree::repository().join(data("write_read_file")));
    let prompt = "Create note.txt with the text \"hi from replay.\", then read it back";
    let mut messages =
        vec![json!({ "role": "system", "content": "Be brief" }), json!({ "role": "user", "content": prompt })];
    let ask = |messages: &[Value]| {
        let reply = serving.ask(&[], &json!(messages), false);
        assert_eq!(reply.status, 200, "{}", reply.body);
        reply.json()["choices"][0]["message"].clone()
    };
    for (tool, result) in [("write_file", "Wrote 15 bytes to note.txt"), ("read_file", "hi from replay.")] {
        let answer = ask(&messages);
        let call = &answer["tool_calls"][0];
        assert_eq!((&call["function"]["name"], &call["id"]), (&json!(tool), &json!(format!("call_{tool}"))));
        messages.push(answer.clone());
        messages.push(json!({ "role": "tool", "tool_call_id": call["id"], "content": result }));
    }
    let said = "I wrote note.txt and read it back. It says: \"hi from replay.\"";
    assert_eq!(ask(&messages)["content"], said);
    let title = format!(
        "Generate a concise title of at most six words for this conversation. Answer with the title only.\n\n\
         User: {prompt}\nAssistant: {said}"
    );
    assert_eq!(ask(&[json!({ "role": "user", "content": title })])["content"], "Writing and reading a note");
    assert_eq!(serving.end("-TERM").code(), Some(0));
}

fn after_an_import_it_is_in_retakes_format_and_replays_the_same() {
    let tree = tree("write_read_file", "write_read_file");
    let imported = tree.path("fixtures/write_read_file.json");
    let from = crate::support::tree::repository().join(data("write_read_file"));
    let import = tree.retake().args(&["import", "deerflow"]).arg(from).arg("--out").arg(&imported);
    import.run().exits(0).says(&["4 turns written to ", ", 0 left out"]);
    assert!(
        tree.read("fixtures/write_read_file.json").starts_with("{\n  \"context\": {},\n  \"format\": \"retake/2\"")
    );
    let trials = [("write_read_file", "ok"), ("retake::no_orphans", "ok")];
    tree.runner("undeclared").run().exits(0).trials_are(&trials);
}
