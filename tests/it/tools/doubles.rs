//! Doubles of tool servers: recording passes requests on to the real server, and replay answers them from the fixture.

use serde_json::{Value, json};

use super::agent;
use crate::support::loopback::Service;
use crate::support::tree::Tree;

tests! {
    a_double_replaces_a_recorded_server_on_standard_input,
    a_double_replaces_a_recorded_server_over_http,
    a_tool_call_that_was_never_recorded_is_a_miss,
    a_recorded_tool_call_that_nobody_makes_is_unused,
    a_live_tool_that_changed_is_named_as_the_cause_of_the_miss,
    the_recorded_tool_calls_in_a_fixture_are_checked,
    a_live_tool_is_compared_with_what_the_server_returned,
    a_call_with_an_empty_result_is_executed_again,
    recording_starts_only_the_servers_that_the_scenario_uses,
    a_shared_system_with_a_double_is_an_error,
    a_double_of_a_trace_serves_a_client,
    a_double_of_a_trace_answers_while_its_turns_are_adopted,
}

fn program() -> String {
    std::env::current_exe().unwrap().to_str().unwrap().to_owned()
}

/// Returns a project whose agent uses the tool server `files`.
pub(crate) fn tree(server: &str) -> Tree {
    let tree = Tree::empty();
    tree.write("note.txt", "hello");
    tree.write("scenarios/suite.toml", &format!("settle = \"100ms\"\n[tools.files]\n{server}\n"));
    let scenario = format!(
        "[[step]]\nrun = [{:?}, {:?}]\nenv = {{ TOOLS = \"{{{{ tools.files }}}}\", OPENAI_BASE_URL = \"{{{{ model.openai }}}}\", \
         OPENAI_API_KEY = \"{{{{ model.key }}}}\" }}\nstream = {{ last = \"answer\" }}\n[golden]\nshow = [\"/text\"]\n",
        program(),
        agent::AGENT
    );
    tree.write("scenarios/ask/scenario.toml", &scenario);
    tree
}

pub(crate) fn stdio() -> String {
    format!("mcp = {{ command = [{:?}, {:?}, \"{{{{ root }}}}/note.txt\"] }}", program(), agent::SERVER)
}

pub(crate) fn record(tree: &Tree) {
    let provider = agent::provider();
    let recording = tree.retake().args(&["record", "ask"]).env("RETAKE_UPSTREAM_OPENAI", provider.openai());
    recording.run().exits(0).says(&["ask: 2 turns recorded to fixtures/ask.json, two replays agree"]);
}

/// Returns the recorded exchanges with the server.
fn exchanges(tree: &Tree) -> Vec<Value> {
    let fixture: Value = serde_json::from_str(&tree.read("fixtures/ask.json")).unwrap();
    fixture["tools"]["files"].as_array().unwrap().clone()
}

fn change(tree: &Tree, change: impl FnOnce(&mut Vec<Value>)) {
    let mut fixture: Value = serde_json::from_str(&tree.read("fixtures/ask.json")).unwrap();
    change(fixture["tools"]["files"].as_array_mut().unwrap());
    tree.write("fixtures/ask.json", &fixture.to_string());
}

fn a_double_replaces_a_recorded_server_on_standard_input() {
    let tree = tree(&stdio());
    record(&tree);
    let methods: Vec<Value> = exchanges(&tree).iter().map(|exchange| exchange["method"].clone()).collect();
    assert_eq!(methods, ["initialize", "tools/list", "tools/call"]);
    assert!(tree.read("goldens/ask.snap").contains("/text = \"It says: hello\""));
    tree.remove("note.txt");
    tree.write("scenarios/suite.toml", "settle = \"100ms\"\n[tools.files]\nmcp = { command = [\"no-such-server\"] }\n");
    tree.retake().arg("test").run().exits(0).says(&["test ask ", "ok"]);
    // The fixture does not contain the path of this project.
    assert!(!tree.read("fixtures/ask.json").contains(tree.root().to_str().unwrap()));
}

fn a_double_replaces_a_recorded_server_over_http() {
    let tree = tree("mcp = { url = \"http://placeholder/\" }");
    let server: Service = agent::serve_over_http(tree.path("note.txt").to_str().unwrap().to_owned());
    tree.replace("scenarios/suite.toml", "http://placeholder/", &server.openai());
    record(&tree);
    assert_eq!(exchanges(&tree).len(), 3);
    drop(server);
    tree.retake().arg("test").run().exits(0).says(&["test ask ", "ok"]);
}

fn a_tool_call_that_was_never_recorded_is_a_miss() {
    let tree = tree(&stdio());
    record(&tree);
    change(&tree, |exchanges| exchanges[2]["params"]["arguments"]["line"] = 2.into());
    tree.retake().arg("test").run().exits(1).says(&[
        "replay miss: server `files`: `tools/call` of `read` has a different `/arguments/line` than recorded (2 → 1)",
        "MCP tools/call, server `files`",
        "difference at /arguments/line: 2 → 1",
        "retake record ask",
    ]);
}

fn a_recorded_tool_call_that_nobody_makes_is_unused() {
    let tree = tree(&stdio());
    record(&tree);
    change(&tree, |exchanges| exchanges.push(exchanges[2].clone()));
    let red = tree.retake().arg("test").run().exits(1);
    red.says(&["unused: 1 recorded request to tools not made: `files`: tools/call {"]);
    let scenario = format!("unused = \"allow\"\n{}", tree.read("scenarios/ask/scenario.toml"));
    tree.write("scenarios/ask/scenario.toml", &scenario);
    tree.retake().arg("test").run().exits(0);
}

fn a_live_tool_that_changed_is_named_as_the_cause_of_the_miss() {
    let tree = tree(&stdio());
    record(&tree);
    let scenario = format!("tools = \"live\"\n{}", tree.read("scenarios/ask/scenario.toml"));
    tree.write("scenarios/ask/scenario.toml", &scenario);
    tree.retake().arg("test").run().exits(0).never_says("drift");
    tree.write("note.txt", "goodbye");
    tree.retake().arg("test").run().exits(1).says(&[
        "replay miss: tool `read` returned different text than recorded",
        "- hello",
        "+ goodbye",
        "because of: `files`: the tool `read` changed at /content/0/text: \"hello\" → \"goodbye\"",
    ]);
}

fn the_recorded_tool_calls_in_a_fixture_are_checked() {
    let tree = tree(&stdio());
    record(&tree);
    change(&tree, |exchanges| exchanges[2]["resutl"] = 1.into());
    let red = tree.retake().arg("test").run().exits(1);
    red.says(&["fixtures/ask.json:1:", "resutl: unknown field; did you mean `result`?"]);
}

/// The tool of the server, as a command: a build without the feature `mcp` cannot start the server itself.
const READ: &str = "[tools.read]\ncommand = [\"cat\", \"{{ root }}/note.txt\"]\n";

fn a_live_tool_is_compared_with_what_the_server_returned() {
    let tree = tree(&stdio());
    tree.replace("scenarios/ask/scenario.toml", "TOOLS =", "TELLS = \"From the tool: \", TOOLS =");
    record(&tree);
    tree.write("scenarios/suite.toml", READ);
    tree.retake().args(&["tools", "ask"]).run().exits(0).says(&["ask: 1 action executed, no drift"]);
    tree.write("note.txt", "goodbye");
    let red = tree.retake().args(&["tools", "ask"]).run().exits(1);
    red.says(&["recorded  \"hello\"", "now       \"goodbye\""]);
}

fn a_call_with_an_empty_result_is_executed_again() {
    let tree = tree(&stdio());
    tree.write("note.txt", "");
    record(&tree);
    let mut fixture: Value = serde_json::from_str(&tree.read("fixtures/ask.json")).unwrap();
    fixture.as_object_mut().unwrap().remove("tools");
    tree.write("fixtures/ask.json", &fixture.to_string());
    tree.write("scenarios/suite.toml", READ);
    tree.retake().args(&["tools", "ask"]).run().exits(0).says(&["ask: 1 action executed, no drift"]);
    tree.write("note.txt", "no longer empty");
    tree.retake().args(&["tools", "ask"]).run().exits(1).says(&["recorded  \"\"", "now       \"no longer empty\""]);
}

fn recording_starts_only_the_servers_that_the_scenario_uses() {
    let tree = tree(&format!("{}\n[tools.other]\nmcp = {{ command = [\"no-such-server\"] }}", stdio()));
    record(&tree);
    tree.retake().arg("test").run().exits(0);
}

fn a_shared_system_with_a_double_is_an_error() {
    let tree = tree(&stdio());
    let system =
        "[systems.agent]\ncommand = [\"agent\", \"{{ tools.files }}\"]\nready = { http = \"/\" }\nshared = true\n";
    let suite = tree.read("scenarios/suite.toml") + system;
    tree.write("scenarios/suite.toml", &suite);
    tree.retake().arg("test").run().exits(2).says(&[
        "scenarios/suite.toml:7:10: `agent` is shared, but `{{ tools.files }}` belongs to one scenario",
        "leave out `shared`",
    ]);
}

/// The trace of a run of the agent: its two calls, and what the tool returned, by the conventions of OpenTelemetry.
fn trace() -> Value {
    let asked = json!({"role": "user", "parts": [{"type": "text", "content": "What does the file say?"}]});
    let calls = json!({"role": "assistant", "finish_reason": "tool_call",
        "parts": [{"type": "tool_call", "id": "call_1", "name": "read", "arguments": {"line": 1}}]});
    let result =
        json!({"role": "tool", "parts": [{"type": "tool_call_response", "id": "call_1", "response": "hello"}]});
    let said =
        json!({"role": "assistant", "parts": [{"type": "text", "content": "It says: hello"}], "finish_reason": "stop"});
    let call = |input: &Value, output: &Value| {
        json!({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.input.messages": input, "gen_ai.output.messages": [output],
            "gen_ai.tool.definitions": [{"type": "function", "name": "read", "parameters": {"type": "object"}}]})
    };
    let tool = json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read", "mcp.server.name": "files",
        "gen_ai.tool.call.arguments": {"line": 1}, "gen_ai.tool.call.result": "hello"});
    let spans = [call(&json!([asked]), &calls), tool, call(&json!([asked, calls, result]), &said)];
    let attribute = |(key, held): (&String, &Value)| {
        let text = held.as_str().map_or_else(|| held.to_string(), str::to_owned);
        json!({"key": key, "value": {"stringValue": text}})
    };
    let span = |(at, attributes): (usize, &Value)| {
        let attributes: Vec<Value> = attributes.as_object().unwrap().iter().map(attribute).collect();
        json!({"traceId": "a", "spanId": format!("b{at}"), "name": "span", "attributes": attributes,
            "startTimeUnixNano": (at + 1).to_string(), "endTimeUnixNano": (at + 2).to_string()})
    };
    let spans: Vec<Value> = spans.iter().enumerate().map(span).collect();
    json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
}

fn a_double_of_a_trace_serves_a_client() {
    let tree = tree("mcp = { command = [\"no-such-server\"] }");
    tree.write("trace.json", &trace().to_string());
    let imported = tree.retake().args(&["import", "otlp", "trace.json", "--out", "fixtures/ask.json"]).run();
    imported.exits(0).says(&["2 turns written"]);
    tree.retake().args(&["test", "--update"]).run().exits(0);
    assert!(tree.read("goldens/ask.snap").contains("\"It says: hello\""), "{}", tree.read("goldens/ask.snap"));
    tree.retake().arg("test").run().exits(0).says(&["test ask ", "ok"]);
}

fn a_double_of_a_trace_answers_while_its_turns_are_adopted() {
    let tree = tree("mcp = { command = [\"no-such-server\"] }");
    let import = |trace: &str| {
        tree.write("trace.json", trace);
        tree.retake().args(&["import", "otlp", "trace.json", "--out", "fixtures/ask.json"]).run().exits(0)
    };
    import(&trace().to_string());
    tree.retake().args(&["adopt", "ask", "--yes"]).run().exits(0).says(&["ask: accepted"]);
    let methods: Vec<Value> = exchanges(&tree).iter().map(|exchange| exchange["method"].clone()).collect();
    assert_eq!(methods, ["initialize", "tools/list", "tools/call"]);
    tree.retake().arg("test").run().exits(0).says(&["test ask ", "ok"]);
    // The agent calls the tool in another way than the trace: nothing is made up.
    import(&trace().to_string().replace(
        "{\\\"line\\\":1}\"}},{\"key\":\"gen_ai.tool.call.result",
        "{\\\"line\\\":2}\"}},{\"key\":\"gen_ai.tool.call.result",
    ));
    let adopted = tree.retake().args(&["adopt", "ask", "--yes"]).run().exits(1);
    adopted.tells(&[
        "ask: not adopted: the scenario failed",
        "server `files`",
        "--live-tools would ask the server itself",
        "nothing was written",
    ]);
    tree.retake().args(&["adopt", "ask", "--live-tools"]).run().exits(1).says(&["no-such-server"]);
}
