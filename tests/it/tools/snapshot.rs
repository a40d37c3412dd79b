//! Recorded tool calls, made again by `retake tools` and by scenarios with `kind = "tools"`.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::{Value, json};

use crate::support::tree::{Tree, project};

tests! {
    the_recorded_calls_of_a_fixture_run_again_without_a_model,
    drift_of_a_tool_is_reported_at_its_action_and_nowhere_else,
    a_tool_without_a_target_stops_everything_before_the_first_call,
    a_scenario_of_kind_tools_is_a_trial_like_any_other,
    an_http_endpoint_can_be_a_tool,
    an_openhands_conversation_can_be_replayed_and_imported,
    one_of_several_conversations_has_to_be_named,
    a_broken_recording_is_an_error,
    mistakes_in_the_declaration_of_a_tool_name_their_place,
    without_the_feature_mcp_a_server_is_a_clear_error,
}

/// The gateway's tools, as commands.
const COMMANDS: &str = r#"
[tools.write_file]
command = ["sh", "-c", 'printf %s "$1" >"$2"; printf "Wrote %s bytes to %s" "$(printf %s "$1" | wc -c | tr -d " ")" "$2"', "sh", "{{ args.content }}", "{{ args.path }}"]

[tools.read_file]
command = ["cat", "{{ args.path }}"]

[tools.ls]
command = ["sh", "-c", 'printf %s "$(ls)"']
"#;

fn tree() -> Tree {
    let tree = Tree::empty();
    for name in ["write_read_file", "parallel_tools"] {
        tree.write(&format!("fixtures/{name}.json"), &project(&format!("fixtures/{name}.json")));
    }
    tree.write("scenarios/suite.toml", COMMANDS);
    tree
}

fn lines(tree: &Tree, log: &str) -> Vec<Value> {
    tree.read(log).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn the_recorded_calls_of_a_fixture_run_again_without_a_model() {
    let tree = tree();
    let ran = tree.retake().args(&["tools", "write_read_file"]).run().exits(0);
    assert_eq!(ran.stdout, "");
    let said =
        "write_read_file: 2 actions executed, no drift, 0 model calls (.retake/tools/write_read_file/drift-0001.jsonl)";
    ran.says(&[said]);
    tree.retake().args(&["tools", "parallel_tools"]).run().exits(0).says(&["6 actions executed, no drift"]);
    let log = lines(&tree, ".retake/tools/write_read_file/drift-0001.jsonl");
    let actions: Vec<&Value> = log.iter().filter(|line| line.get("Action").is_some()).collect();
    assert_eq!(actions.len(), 2);
    assert_eq!(actions[1]["Action"]["action"], json!({"path": "note.txt"}));
    assert_eq!(actions[1]["Actual Observation"][0]["observation"]["content"], "hi from replay.");
    assert_eq!(actions[1]["Drift from expected observation"], "No drift");
    // The next run has its own log.
    tree.retake().args(&["tools", "write_read_file"]).run().exits(0).says(&["drift-0002.jsonl"]);
}

fn drift_of_a_tool_is_reported_at_its_action_and_nowhere_else() {
    let tree = tree();
    tree.replace("scenarios/suite.toml", r#"["cat", "{{ args.path }}"]"#, r#"["printf", "hi from reply."]"#);
    let ran = tree.retake().args(&["tools", "write_read_file", "--log", "drift.jsonl"]).run().exits(1);
    ran.says(&[
        "action 2, `read_file` {\"path\": \"note.txt\"}",
        "at /0/observation/content",
        "recorded  \"hi from replay.\"",
        "now       \"hi from reply.\"",
        "2 actions executed, drift in 1, 0 model calls (drift.jsonl)",
    ]);
    let log = lines(&tree, "drift.jsonl");
    let drift: Vec<&Value> = log.iter().filter_map(|line| line.get("Drift from expected observation")).collect();
    assert_eq!(drift[0], "No drift");
    assert_eq!(drift[1]["Drift Present"], true);
    assert_eq!(drift[1]["Expected"][0]["observation"]["content"], "hi from replay.");
    let about: Value = serde_json::from_str(&tree.read("drift.run.json")).unwrap();
    assert_eq!((&about["Executed"], &about["Drifted"]), (&json!(2), &json!(1)));
    // A log belongs to one run.
    let again = tree.retake().args(&["tools", "write_read_file", "--log", "drift.jsonl"]).run().exits(2);
    again.says(&["drift.jsonl: the file already exists"]);
}

fn a_tool_without_a_target_stops_everything_before_the_first_call() {
    let tree = tree();
    let suite = "[tools.write_file]\ncommand = [\"touch\", \"{{ root }}/called\"]\n";
    tree.write("scenarios/suite.toml", suite);
    let ran = tree.retake().args(&["tools", "write_read_file"]).run().exits(2);
    ran.says(&["suite.toml does not say how to run this tool: `read_file`; nothing was executed", "[tools.read_file]"]);
    assert!(!tree.has("called") && !tree.has(".retake/tools"));
}

fn a_scenario_of_kind_tools_is_a_trial_like_any_other() {
    let tree = tree();
    tree.remove("fixtures/parallel_tools.json");
    let scenario = "scenarios/again/scenario.toml";
    tree.write(scenario, "kind = \"tools\"\nfixture = \"write_read_file\"\n");
    tree.retake().arg("test").run().exits(0).says(&["test again ", "ok"]);
    tree.replace("scenarios/suite.toml", r#"["cat", "{{ args.path }}"]"#, r#"["printf", "hi from reply."]"#);
    let red = tree.retake().arg("test").run().exits(1);
    red.says(&[
        "drift: in scenario `again`: 2 actions executed, drift in 1, 0 model calls",
        "recorded  \"hi from replay.\"",
        "the whole log: .retake/tools/again/drift-0002.jsonl",
        "drift = { observation = \"note\" } in scenarios/again/scenario.toml",
    ]);
    tree.write(scenario, "kind = \"tools\"\nfixture = \"write_read_file\"\ndrift = { observation = \"note\" }\n");
    tree.retake().arg("test").run().exits(0).says(&["note: again: 2 actions executed, drift in 1"]);
    tree.retake().args(&["tools", "again"]).run().exits(0).says(&["drift in 1"]);
    for (field, says) in [
        ("system = \"x\"", "a scenario of kind = \"tools\" has no `system`"),
        ("recording = \"nowhere\"", "the calls come from `recording` or from `fixture`"),
        ("conversation = \"x\"", "`conversation` chooses one of the conversations in a folder"),
    ] {
        tree.write(scenario, &format!("kind = \"tools\"\nfixture = \"write_read_file\"\n{field}\n"));
        tree.retake().arg("test").run().exits(1).says(&["scenario.toml:3:", says]);
    }
    tree.write(scenario, "kind = \"tool\"\nfixture = \"write_read_file\"\n");
    tree.retake().arg("test").run().exits(1).says(&["`tool`"]);
}

fn an_http_endpoint_can_be_a_tool() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/read", server.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in server.incoming() {
            let (mut stream, mut bytes) = (stream.unwrap(), [0; 4096]);
            let mut request = String::new();
            while !request.ends_with('}') {
                let read = stream.read(&mut bytes).unwrap();
                request.push_str(&String::from_utf8_lossy(&bytes[..read]));
            }
            let (status, body) = if request.contains("x-team: retake") && request.ends_with("{\"path\":\"note.txt\"}") {
                ("200 OK", "{\"content\": \"hi from replay.\"}")
            } else {
                ("400 Bad Request", "no")
            };
            let length = body.len();
            write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}").unwrap();
        }
    });
    let tree = tree();
    let endpoint = format!("http = \"{url}\"\nheaders = {{ x-team = \"retake\" }}");
    tree.replace("scenarios/suite.toml", r#"command = ["cat", "{{ args.path }}"]"#, &endpoint);
    tree.retake().args(&["tools", "write_read_file"]).run().exits(0).says(&["no drift"]);
    tree.replace("scenarios/suite.toml", "retake", "another");
    let red = tree.retake().args(&["tools", "write_read_file"]).run().exits(1);
    red.says(&["now       \"HTTP status 400: no\""]);
}

const ID: &str = "6f2d7a4e9f3b4c1d8e5a0b1c2d3e4f50";

/// Writes an OpenHands conversation: a question, and twice an action, an observation and a message.
fn conversation(tree: &Tree, folder: &str) {
    let call = |id: &str, tool: &str, args: Value| {
        let mut action = args.clone();
        action["kind"] = "MyAction".into();
        json!({"kind": "ActionEvent", "id": id, "source": "agent", "tool_name": tool, "tool_call_id": format!("call-{id}"),
            "llm_response_id": format!("r-{id}"), "thought": [], "action": action,
            "tool_call": {"id": format!("call-{id}"), "name": tool, "arguments": args.to_string()}})
    };
    let observed = |of: &str, tool: &str, text: &str| {
        json!({"kind": "ObservationEvent", "id": format!("o-{of}"), "source": "environment", "tool_name": tool,
            "tool_call_id": format!("call-{of}"), "action_id": of,
            "observation": {"kind": "MyObservation", "content": [{"type": "text", "text": text}], "is_error": false}})
    };
    let said = |id: &str, by: &str| {
        json!({"kind": "MessageEvent", "id": id, "source": by, "llm_response_id": format!("r-{id}"),
            "llm_message": {"role": "assistant", "content": [{"type": "text", "text": id}]}})
    };
    let events = [
        said("please", "user"),
        call("a", "write_file", json!({"path": "a.txt", "content": "hello"})),
        observed("a", "write_file", "Wrote 5 bytes to a.txt"),
        said("written", "agent"),
        call("b", "read_file", json!({"path": "a.txt"})),
        observed("b", "read_file", "hello"),
        said("read", "agent"),
    ];
    for (index, event) in events.iter().enumerate() {
        tree.write(&format!("{folder}/events/event-{index:05}-aaaaaaa{index}.json"), &event.to_string());
    }
    tree.write(&format!("{folder}/base_state.json"), r#"{"leaf_event_id": "read"}"#);
}

fn an_openhands_conversation_can_be_replayed_and_imported() {
    let tree = tree();
    conversation(&tree, &format!("recordings/{ID}"));
    tree.retake()
        .args(&["tools", "recordings"])
        .run()
        .exits(0)
        .says(&["recordings: 2 actions executed, no drift, 0 model"]);
    let imported = tree.retake().args(&["import", "openhands", "recordings", "--out", "fixtures/imported.json"]).run();
    imported.exits(0).says(&["4 turns written to fixtures/imported.json, 0 left out"]);
    tree.retake().args(&["tools", "imported"]).run().exits(0).says(&["imported: 2 actions executed, no drift"]);
    // A scenario can replay it as well.
    tree.write("scenarios/again/scenario.toml", "kind = \"tools\"\nrecording = \"recordings\"\n");
    tree.retake().args(&["test", "again"]).run().exits(0).says(&["test again ", "ok"]);
}

fn one_of_several_conversations_has_to_be_named() {
    let tree = tree();
    let other = "00000000000000000000000000000001";
    conversation(&tree, &format!("recordings/{ID}"));
    conversation(&tree, &format!("recordings/nested/{other}"));
    let both = tree.retake().args(&["tools", "recordings"]).run().exits(2);
    both.says(&["there are 2 conversations", "--conversation ID", ID, &format!("nested/{other}")]);
    tree.retake().args(&["tools", "recordings", "--conversation", other]).run().exits(0).says(&["no drift"]);
    let absent =
        tree.retake().args(&["tools", "recordings", "--conversation", "22222222-2222-2222-2222-222222222222"]).run();
    absent.exits(2).says(&["there is no conversation `22222222-"]);
    let out = ["import", "openhands", "recordings", "--out", "f.json"];
    tree.retake().args(&out).run().exits(2).says(&["there are 2 conversations"]);
    tree.retake().args(&out).args(&["--conversation", other]).run().exits(0).says(&["4 turns written"]);
}

fn a_broken_recording_is_an_error() {
    let tree = tree();
    conversation(&tree, "recordings");
    let events = "recordings/events";
    tree.write(&format!("{events}/event-00005-aaaaaaa5.json"), "{\"kind\": ");
    tree.retake().args(&["tools", "recordings"]).run().exits(2).says(&["event-00005-aaaaaaa5.json:1:", "not JSON"]);
    tree.remove(&format!("{events}/event-00005-aaaaaaa5.json"));
    tree.retake().args(&["tools", "recordings"]).run().exits(2).says(&["number 5 is missing", "gap"]);
    tree.retake()
        .args(&["tools", "no-such"])
        .run()
        .exits(2)
        .says(&["`no-such` is neither a scenario, a fixture nor a folder"]);
    assert!(!tree.has(".retake"));
}

fn mistakes_in_the_declaration_of_a_tool_name_their_place() {
    let tree = tree();
    for (suite, says) in [
        ("[tools.x]\ncomand = [\"a\"]\n", "suite.toml:2:1: unknown field `comand`"),
        ("[tools.x]\n", "suite.toml:1:8: the tool `x` needs exactly one of `mcp`, `http`, `command`, `as_recorded`"),
        ("[tools.x]\ncommand = [\"a\"]\nhttp = \"http://h/\"\n", "suite.toml:1:8: the tool `x` needs exactly one of"),
        ("[tools.x]\ncommand = []\n", "suite.toml:2:11: the command names no program"),
        ("[tools.x]\ncommand = [\"{{ port }}\"]\n", "suite.toml:2:16: `port` is not defined here"),
        ("[tools.x]\nmcp = { command = [\"{{ args.a }}\"] }\n", "suite.toml:2:24: `args` is not defined here"),
        ("[tools.x]\nhttp = \"ftp://h\"\n", "suite.toml:2:8: `ftp://h` is not an address"),
        ("[tools.x]\nmcp = {}\n", "suite.toml:2:7: `mcp` has exactly one of `command` and `url`"),
        (
            "[tools.x]\ncommand = [\"a\"]\nheaders = { a = \"b\" }\n",
            "suite.toml:3:11: `headers` belongs to a tool with a URL",
        ),
        ("[tools.x]\ncommand = [\"a\"]\nprefix = \"p\"\n", "suite.toml:3:10: `prefix` belongs to a server"),
        ("[tools.x]\ncommand = [\"a\"]\nignore = [\"pid\"]\n", "suite.toml:3:11: `pid` is not a JSON pointer"),
        (
            "[tools.x]\ncommand = [\"a\"]\n[tools.y]\ncommand = [\"a\"]\ntools = [\"x\"]\n",
            "suite.toml:3:8: `x` is declared by `x` too",
        ),
    ] {
        tree.write("scenarios/suite.toml", suite);
        tree.retake().args(&["tools", "write_read_file"]).run().exits(2).says(&[says]);
    }
}

fn without_the_feature_mcp_a_server_is_a_clear_error() {
    if cfg!(feature = "mcp") {
        return;
    }
    let tree = tree();
    tree.write("scenarios/suite.toml", "[tools.files]\nmcp = { url = \"http://127.0.0.1:9/mcp\" }\n");
    let ran = tree.retake().args(&["tools", "write_read_file"]).run().exits(2);
    ran.says(&["tool `files`: this program was built without MCP", "--features mcp"]);
}
