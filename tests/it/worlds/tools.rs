//! The tools' side: a service whose tool fails, or acts without an answer, and one that is killed while a tool acts.

use super::verdicts::{agent, lines, writes};
use crate::support::tree::Tree;
use retake_core::json::Json;
use retake_core::key::Rules;
use retake_wire::fixture::{Fixture, ToolExchange};

tests! {
    a_service_that_tells_the_model_reports_it,
    what_acts_again_is_said_unless_it_only_reads,
    what_acts_again_when_the_model_fails_has_acted_twice,
    a_service_that_keeps_a_failure_to_itself_is_silent,
    a_tool_that_acts_again_after_a_crash_has_acted_twice,
    a_scenario_without_doubles_has_no_worlds_of_tools,
    a_plain_http_tool_fails_in_the_same_ways,
    what_a_double_is_asked_counts_in_each_world_of_a_system,
}

/// How the service calls a tool of an MCP server.
const CALL: &str = r#"def write(**args):
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "write", "arguments": args}}
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(os.environ["TOOLS"], json.dumps(call).encode(), headers)
    for last in TRIES:
        try:
            result = json.load(urllib.request.urlopen(request, timeout=1))["result"]["content"][0]["text"]
            return result
        except Exception as error:
            if last:
                FAILED
"#;

fn tree(tries: &str, failed: &str, worlds: &str) -> Tree {
    let scenario = format!("worlds = {worlds}\n[[step]]\npost = \"/now\"\njson = \"Write a poem\"\n");
    let call = CALL.replace("TRIES", tries).replace("FAILED", failed);
    let tree = agent(
        "def write(path=\"untitled.txt\", text=\"\"):\n    return \"wrote \" + path\n",
        &call,
        &scenario,
        writes(),
    );
    tree.replace("scenarios/suite.toml", "env = {", "env = { TOOLS = \"{{ tools.notes }}\",");
    let suite = tree.read("scenarios/suite.toml");
    tree.write("scenarios/suite.toml", &format!("{suite}[tools.notes]\nmcp = {{ url = \"http://placeholder/\" }}\n"));
    let path = tree.path("fixtures/poem.json");
    let mut fixture = Fixture::read(&path, &Rules::default()).unwrap();
    let json = |text: &str| Json::parse(text.as_bytes()).unwrap();
    let exchange = ToolExchange {
        method: "tools/call".to_owned(),
        params: json(r#"{"name": "write", "arguments": {"path": "note.txt", "text": "roses"}}"#),
        answer: Some(Ok(json(r#"{"content": [{"type": "text", "text": "wrote note.txt"}]}"#))),
        ..ToolExchange::default()
    };
    fixture.tools.insert("notes".to_owned(), vec![exchange]);
    fixture.write(&path).unwrap();
    tree
}

fn said(tries: &str, failed: &str, worlds: &str) -> String {
    lines(&tree(tries, failed, worlds)).join("\n")
}

const TELLS: &str = "return \"Error: \" + str(error)";

fn a_service_that_tells_the_model_reports_it() {
    let said = said("[True]", TELLS, "\"tools\"");
    assert!(said.contains("tools  tool-error 1/1  reported  the model is told \"Error: the tool failed"), "{said}");
    assert!(said.contains("tools  tool-timeout 1/1  reported  the model is told \"Error: timed out\""), "{said}");
    assert!(said.contains("tools  tool-form 1/1  reported  the model is told \"Error: 'content'\""), "{said}");
    assert!(said.contains("tools  tool-lost 1/1  reported  the model is told \"Error: "), "{said}");
    assert!(!said.contains('!') && !said.contains("sick"), "{said}");
    // In whatever words, to the model or to the user.
    let own = self::said("[True]", "return \"Das hat nicht geklappt.\"", "\"tool-lost\"");
    assert!(own.contains("reported  the model is told \"Das hat nicht geklappt.\""), "{own}");
    let user = self::said("[True]", "raise ValueError(str(error))", "\"tool-lost\"");
    assert!(user.contains("tools  tool-lost 1/1  reported  status 500"), "{user}");
}

fn what_acts_again_is_said_unless_it_only_reads() {
    let worlds = "[\"tool-timeout\", \"tool-lost\"]";
    let twice = said("[False, True]", TELLS, worlds);
    assert!(twice.contains("tools  tool-timeout 1/1  recovered  in 2 calls"), "{twice}");
    let again = "! tools  tool-lost 1/1  ACTED TWICE  `write` acts again, with the same arguments";
    assert!(twice.contains(again), "{twice}");
    let reads = said("[False, True]", TELLS, &format!("{{ of = {worlds}, reads = [\"write\"] }}"));
    assert!(reads.contains("tools  tool-lost 1/1  recovered  in 2 calls"), "{reads}");
}

/// Also where it is the model that fails: it says a call twice, or the service begins again from the question.
fn what_acts_again_when_the_model_fails_has_acted_twice() {
    let twice = said("[True]", TELLS, "\"call-twice\"");
    let acts = "ACTED TWICE  `write` acts again, with the same arguments";
    assert!(twice.contains(&format!("! turn 1  call-twice  {acts}")), "{twice}");
    let tree = tree("[True]", TELLS, "{ of = [\"error-500\"] }");
    let again = "once = answer\ndef answer(question):\n    try: return once(question)\n    except Exception: return once(question)\n\n";
    tree.replace("app.py", "def arguments(", &format!("{again}def arguments("));
    let begins = lines(&tree).join("\n");
    assert!(begins.contains("turn 1  error-500  recovered"), "{begins}");
    assert!(begins.contains(&format!("! turn 2  error-500  {acts}")), "{begins}");
    // Who may call it again has recovered.
    tree.replace("scenarios/poem/scenario.toml", "[\"error-500\"]", "[\"error-500\"], reads = [\"write\"]");
    let reads = lines(&tree).join("\n");
    assert!(reads.contains("turns 1..2  error-500  recovered"), "{reads}");
}

fn a_service_that_keeps_a_failure_to_itself_is_silent() {
    let as_if = said("[True]", "return \"wrote note.txt\"", "\"tool-timeout\"");
    assert!(as_if.contains("! tools  tool-timeout 1/1  SILENT  `write` failed, and all is as recorded"), "{as_if}");
    let nothing = said("[True]", "return \"\"", "\"tool-lost\"");
    assert!(nothing.contains("! tools  tool-lost 1/1  SILENT  the model is told \"\""), "{nothing}");
    let none = said("[True]", "return \"null\"", "\"tool-lost\"");
    assert!(none.contains("! tools  tool-lost 1/1  SILENT  the model is told \"null\""), "{none}");
}

fn a_tool_that_acts_again_after_a_crash_has_acted_twice() {
    // Its client sends the request again, and nothing was written down.
    let said = said("[True]", TELLS, "\"process\"");
    assert!(said.contains("process  kill 1/4  resumed"), "{said}");
    let paid = "! process  kill 2/4  PAID TWICE  before `write` acts: asks for the answer of turn 1 again";
    let acted = "! process  kill 3/4  ACTED TWICE  after `write` acted: `write` acts again, with the same arguments";
    assert!(said.contains(paid) && said.contains(acted), "{said}");
}

/// Only the first world of a system is the one with which its doubles began.
fn what_a_double_is_asked_counts_in_each_world_of_a_system() {
    let tree = tree("[True]", TELLS, "[\"length-in-tool-call\", \"bad-arguments\"]");
    tree.replace("app.py", "#ARGUMENTS", "if not text.endswith(\"}\"): return {\"path\": \"n\"}");
    let said = lines(&tree).join("\n");
    for fault in ["length-in-tool-call", "bad-arguments"] {
        let acted = "ACTED  `tools/call` of `write` has a different `/arguments/path` than recorded";
        assert!(said.contains(&format!("! turn 1  {fault}  {acted}")), "{fault}: {said}");
    }
    // The doubles are the stage's own servers: who asks them has reached nothing else.
    let ran = tree.retake().args(&["test", "poem"]).run();
    assert!(!ran.all().contains("egress: reached"), "{}", ran.all());
}

/// How the service calls the same tool over plain HTTP.
const POST: &str = r#"def write(**args):
    request = urllib.request.Request(os.environ["TOOLS"] + "/notes", json.dumps(args).encode(), {"content-type": "application/json"})
    for last in TRIES:
        try:
            return json.load(urllib.request.urlopen(request, timeout=1))["said"]
        except Exception as error:
            if last:
                return "Error: " + str(error)
"#;

fn a_plain_http_tool_fails_in_the_same_ways() {
    let tree = tree("[True]", TELLS, "\"tools\"");
    tree.replace("scenarios/suite.toml", "mcp = { url = \"http://placeholder/\" }", "http = \"http://placeholder/\"");
    tree.replace("scenarios/suite.toml", "{{ tools.notes }}", "{{ tools.notes.url }}");
    let call = CALL.replace("TRIES", "[True]").replace("FAILED", TELLS);
    let app = tree.read("app.py");
    assert!(app.contains(&call), "{app}");
    let path = tree.path("fixtures/poem.json");
    let mut fixture = Fixture::read(&path, &Rules::default()).unwrap();
    let exchange = &mut fixture.tools.get_mut("notes").unwrap()[0];
    let json = |text: &str| Json::parse(text.as_bytes()).unwrap();
    "POST".clone_into(&mut exchange.method);
    exchange.params = json(r#"{"path": "/notes", "json": {"path": "note.txt", "text": "roses"}}"#);
    let result = r#"{"headers": {"content-type": "application/json"}, "json": {"said": "wrote note.txt"}}"#;
    exchange.answer = Some(Ok(json(result)));
    fixture.write(&path).unwrap();
    let with = |tries: &str| tree.write("app.py", &app.replace(&call, &POST.replace("TRIES", tries)));
    with("[True]");
    let said = lines(&tree).join("\n");
    assert!(said.contains("tools  tool-error 1/1  reported  the model is told \"Error: HTTP Error 500"), "{said}");
    assert!(said.contains("tools  tool-timeout 1/1  reported  the model is told \"Error: timed out\""), "{said}");
    assert!(said.contains("tools  tool-form 1/1  reported  the model is told \"Error: 'said'\""), "{said}");
    assert!(said.contains("tools  tool-lost 1/1  reported  the model is told \"Error: "), "{said}");
    with("[False, True]");
    let again = lines(&tree).join("\n");
    assert!(
        again.contains("! tools  tool-lost 1/1  ACTED TWICE  `/notes` acts again, with the same arguments"),
        "{again}"
    );
    assert!(again.contains("tools  tool-error 1/1  recovered  in 2 calls"), "{again}");
}

fn a_scenario_without_doubles_has_no_worlds_of_tools() {
    let tree = agent("", "", "worlds = \"tools\"\n[[step]]\npost = \"/now\"\njson = \"Write a poem\"\n", writes());
    let why =
        "the worlds of the side `tools` cannot be run: no call of a tool was recorded for which there is a double";
    tree.retake().args(&["worlds", "poem"]).run().exits(2).says(&[why]);
    // Beside others, it is said below them.
    tree.replace("scenarios/poem/scenario.toml", "\"tools\"", "[\"tools\", \"error-500\"]");
    tree.retake().args(&["worlds", "poem"]).run().says(&["tools: no worlds, since no call of a tool was recorded"]);
}
