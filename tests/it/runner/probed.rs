//! `retake init --probe`, which starts a service once, and the keys that a red run offers on a terminal.

use crate::support::program::{Program, Ran};
use crate::support::tree::Tree;

tests! { a_probe_proposes_the_route_that_calls_the_model,
    a_probe_finds_the_port_that_a_service_takes_whatever_it_is_told,
    a_probe_keeps_what_reaches_the_model_and_names_no_page_that_answers_everywhere,
    a_probe_gives_the_service_the_variables_of_the_provider_that_it_called,
    a_service_gets_the_variables_that_it_lacks_and_the_project_shows,
    a_probe_starts_only_what_exists,
    a_probe_starts_what_a_person_says_or_the_suite_has,
    a_probe_that_finds_no_call_says_which_routes_there_are,
    a_probe_tries_the_scripts_of_a_project_if_its_file_serves_nothing,
    a_command_that_a_person_corrects_is_tried_and_stays,
    a_service_that_wants_to_know_its_client_shows_no_routes,
    routes_that_need_another_one_first_are_named_from_the_document,
    a_service_that_does_not_start_is_told_with_what_it_printed,
    what_was_not_tried_is_marked_and_replaced_by_what_was_seen,
    a_red_run_on_a_terminal_offers_what_its_failure_advises,
    a_red_run_offers_to_record_what_was_never_recorded,
    nothing_is_offered_in_ci_nor_without_a_terminal,
    a_review_on_a_terminal_takes_single_keys,
    init_asks_on_a_terminal_whether_it_may_start_the_service,
}

/// A service of Python's own library. It writes down its process and which keys it has, and calls its model at `/v2/ask`.
const SERVICE: &str = r##"import http.server, json, os, urllib.request

API = {"paths": {
    "/v2/ask": {"post": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Ask"}}}},
        "responses": {"200": {"content": {"text/event-stream": {}}}}}},
    "/users": {"post": {"requestBody": {"content": {"application/json": {"schema": {"type": "object",
        "required": ["name"], "properties": {"name": {"type": "string"}}}}}}}}},
    "components": {"schemas": {"Ask": {"type": "object", "required": ["question", "depth"], "properties": {
        "question": {"type": "string"}, "depth": {"type": "integer", "minimum": 2}}}}}}

class Service(http.server.BaseHTTPRequestHandler):
    def say(self, status, kind, text):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        if self.path == "/openapi.json" and API:
            self.say(200, "application/json", json.dumps(API))
        elif self.path in ("/healthz", "/"):
            self.say(200, "text/plain", "ok")
        else:
            self.say(404, "text/plain", "no")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path != "/v2/ask" or body["depth"] < 2:
            return self.say(422, "text/plain", "no")
        call = {"model": "m", "messages": [{"role": "user", "content": body["question"]}]}
        headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
        url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
        try:
            urllib.request.urlopen(urllib.request.Request(url, json.dumps(call).encode(), headers)).read()
        except urllib.error.HTTPError as refused:
            return self.say(500, "text/plain", f"the model answered {refused.code}")
        self.say(200, "text/event-stream", "data: {}\n\n")

    def log_message(self, *_):
        pass

open("seen.txt", "w").write(f"{os.getpid()} {os.environ['OPENAI_API_KEY']}")
http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Service).serve_forever()
"##;

fn probe(tree: &Tree) -> Ran {
    tree.retake().args(&["init", "--probe"]).env("OPENAI_API_KEY", "sk-real").run()
}

fn a_probe_proposes_the_route_that_calls_the_model() {
    let tree = Tree::empty();
    tree.write("app.py", SERVICE);
    probe(&tree).exits(0).says(&[
        "tried  python3 app.py: it listens on the port that it is given",
        "tried  GET /healthz: 200 text/plain",
        "tried  GET /openapi.json: 200 application/json",
        "tried  POST /v2/ask: 200 (a stream), and it called its model",
        "Then: retake record hello",
    ]);
    let (suite, hello) = (tree.read("scenarios/suite.toml"), tree.read("scenarios/hello/scenario.toml"));
    assert!(suite.contains("ready = { http = \"/healthz\", ") && !suite.contains("not tried"), "{suite}");
    assert!(!suite.contains("\nport ="), "{suite}");
    assert!(hello.contains("post   = \"/v2/ask\"\n") && hello.contains("question = \"{{ prompt }}\""), "{hello}");
    assert!(hello.contains("depth = 2") && hello.contains("stream = true"), "{hello}");
    // Nothing of it is left, and it never had the real key.
    let seen = tree.read("seen.txt");
    let (process, key) = seen.split_once(' ').unwrap();
    assert!(!std::path::Path::new("/proc").join(process).exists() && key != "sk-real", "{seen}");
    // What was printed leads to a red run that says what is missing.
    tree.retake().arg("test").run().red(&["to record it: retake record hello"]);
}

fn a_probe_finds_the_port_that_a_service_takes_whatever_it_is_told() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let tree = Tree::empty();
    tree.write("app.py", &SERVICE.replace("int(os.environ[\"PORT\"])", "0").replace("and API", "and None"));
    probe(&tree).exits(0).says(&[
        "it listens on port ",
        "whichever it is given",
        "tried  GET /: 200",
        // No document says what it takes, so its sources are asked, and what it does not need is left out.
        "tried  POST /v2/ask: 200 (a stream), and it called its model",
        "Then: retake record hello",
    ]);
    let (suite, hello) = (tree.read("scenarios/suite.toml"), tree.read("scenarios/hello/scenario.toml"));
    assert!(suite.contains("\nport = "), "{suite}");
    assert!(hello.contains("json   = { depth = 3, question = \"{{ prompt }}\" }\n"), "{hello}");
}

fn a_probe_keeps_what_reaches_the_model_and_names_no_page_that_answers_everywhere() {
    let tree = Tree::empty();
    let service = SERVICE.replace("[{\"role\": \"user\", \"content\": body[\"question\"]}]", "body[\"messages\"]");
    let service = service.replace(" or body[\"depth\"] < 2", "").replace("and API", "and None");
    tree.write("app.py", &service.replace("404, \"text/plain\", \"no\"", "200, \"text/html\", \"<html>\""));
    probe(&tree).exits(0).says(&["tried  GET /: 200", "Then: retake record hello"]).never_says("tried  GET /docs");
    // An API has a person's words in `content`; the AI SDK's `parts` are no part of it.
    let hello = tree.read("scenarios/hello/scenario.toml");
    assert!(hello.contains("json   = { messages = [{ content = \"{{ prompt }}\", role = \"user\" }] }"), "{hello}");
}

fn a_probe_gives_the_service_the_variables_of_the_provider_that_it_called() {
    let tree = Tree::empty();
    // Like an SDK, which no file of the project shows.
    let url = "os.environ[\"OPENAI_BASE_URL\"] + \"/chat/completions\"";
    assert!(SERVICE.contains(url));
    let sdk = SERVICE.replace(url, "os.environ[\"_\".join([\"ANTHROPIC\", \"BASE\", \"URL\"])] + \"/v1/messages\"");
    tree.write("app.py", &sdk.replace("{\"model\": \"m\", ", "{\"model\": \"m\", \"max_tokens\": 9, "));
    probe(&tree).exits(0).says(&["tried  POST /v2/ask: 200 (a stream), and it called its model"]);
    let suite: toml::Table = tree.read("scenarios/suite.toml").parse().unwrap();
    let env = &suite["systems"]["agent"]["env"];
    assert_eq!(env["ANTHROPIC_BASE_URL"].as_str(), Some("{{ model.anthropic }}"), "{env}");
    assert_eq!(env["ANTHROPIC_API_KEY"].as_str(), Some("{{ model.key }}"), "{env}");
    assert!(env.get("OLLAMA_HOST").is_none() && env.get("GEMINI_API_KEY").is_none(), "{env}");
}

fn a_service_gets_the_variables_that_it_lacks_and_the_project_shows() {
    let tree = Tree::empty();
    let needs = "import os, sys\nfor name in ['SHOP', 'SHOP_TOKEN']:\n    name in os.environ or sys.exit(name + ' is not set')\n";
    tree.write("app.py", &format!("{needs}{SERVICE}"));
    tree.write(".env.example", "SHOP=books\nSHOP_COLOUR=red\n");
    tree.write(".env", "SHOP_TOKEN=of-a-person\n");
    // What is in a `.env` may be secret.
    probe(&tree).exits(1).says(&["SHOP_TOKEN is not set"]);
    tree.write("README.md", "Start it:\n\n    SHOP_TOKEN='shown' python3 app.py\n");
    probe(&tree).exits(0).says(&["tried  POST /v2/ask: 200 (a stream), and it called its model"]);
    let suite = tree.read("scenarios/suite.toml");
    assert!(suite.contains("SHOP = \"books\"\nSHOP_TOKEN = \"shown\"\n") && !suite.contains("COLOUR"), "{suite}");
}

fn a_probe_starts_only_what_exists() {
    let tree = Tree::empty();
    tree.write("requirements.txt", "openai\n");
    probe(&tree).exits(1).says(&["no file here says how the service is started", "retake init --probe -- COMMAND"]);
    let tree = Tree::empty();
    // A sentence of the README names a program that is installed here.
    tree.write("odd/service.txt", SERVICE);
    tree.write("README.md", "Run `serve-agent odd/service.txt --port 8000`, as `uv run` does.\n");
    tree.write(".venv/bin/serve-agent", "#!/bin/sh\nexec python3 \"$1\"\n");
    executable(&tree, ".venv/bin/serve-agent");
    probe(&tree).exits(0).says(&["tried  .venv/bin/serve-agent odd/service.txt --port {{ port }}: it listens"]);
}

fn a_probe_tries_the_scripts_of_a_project_if_its_file_serves_nothing() {
    let tree = Tree::empty();
    tree.write("package.json", "{\"scripts\": {\"start\": \"node ./bin/www\"}}");
    tree.write("app.ts", "export {}");
    tree.write("service.py", SERVICE);
    for (program, does) in [("node", "exit 0"), ("npm", "exec python3 service.py")] {
        tree.write(&format!("bin/{program}"), &format!("#!/bin/sh\n{does}\n"));
        executable(&tree, &format!("bin/{program}"));
    }
    let path = format!("{}:{}", tree.path("bin").display(), std::env::var("PATH").unwrap());
    let told = tree.retake().args(&["init", "--probe"]).env("PATH", path).run().exits(0);
    let told = told.says(&["tried  npm run start: it listens on the port that it is given"]);
    // The file that serves nothing would need tsx, and is not what is started.
    assert!(told.all().contains("npm install --save-dev retake\n"), "{}", told.all());
    assert!(tree.read("scenarios/suite.toml").contains("command = [\"npm\", \"run\", \"start\"]\n"));
}

fn a_probe_starts_what_a_person_says_or_the_suite_has() {
    let tree = Tree::empty();
    tree.write("odd/service.txt", SERVICE);
    let given = ["init", "--probe", "--", "python3", "odd/service.txt", "{{ port }}"];
    tree.retake().args(&given).run().exits(0).says(&["Then: retake record hello"]);
    let suite = tree.read("scenarios/suite.toml");
    assert!(suite.contains("command = [\"python3\", \"odd/service.txt\", \"{{ port }}\"]\n"), "{suite}");
    tree.remove("scenarios/hello/scenario.toml");
    tree.retake().args(&["init", "--probe"]).run().exits(0).says(&[
        "tried  python3 odd/service.txt {{ port }}: it listens",
        "kept   scenarios/suite.toml",
        "wrote  scenarios/hello/scenario.toml",
        "Then: retake record hello",
    ]);
}

fn a_probe_that_finds_no_call_says_which_routes_there_are() {
    let tree = Tree::empty();
    let call = "urllib.request.urlopen(urllib.request.Request(url, json.dumps(call).encode(), headers)).read()";
    tree.write("app.py", &SERVICE.replace(call, "pass"));
    probe(&tree)
        .exits(0)
        .says(&["No route that calls the model was found. POST routes seen: /v2/ask, /users. Write the request in \
         scenarios/hello/scenario.toml, then: retake record hello"]);
    let hello = tree.read("scenarios/hello/scenario.toml");
    assert!(hello.contains("# not tried: no route that calls the model was found\n[[step]]"), "{hello}");
}

fn a_command_that_a_person_corrects_is_tried_and_stays() {
    let tree = Tree::empty();
    tree.write("pom.xml", "");
    tree.write("odd/service.txt", SERVICE);
    let told = probe(&tree).exits(1);
    told.says(&["no file here says how the service is started", "retake init --probe -- COMMAND"]).never_says("app.py");
    assert!(tree.read("scenarios/suite.toml").contains("command = [\"COMMAND\"]\n"));
    let given = ["init", "--probe", "--", "python3", "odd/servce.txt"];
    tree.retake().args(&given).run().exits(1).says(&["right `command` in scenarios/suite.toml"]);
    tree.replace("scenarios/suite.toml", "odd/servce.txt", "odd/service.txt");
    probe(&tree).exits(0).says(&["wrote  scenarios/suite.toml", "Then: retake record hello"]);
    let suite = tree.read("scenarios/suite.toml");
    assert!(suite.contains("command = [\"python3\", \"odd/service.txt\"]\n") && suite.contains("/healthz"), "{suite}");
    assert!(!suite.contains("# not "), "{suite}");
}

fn a_service_that_wants_to_know_its_client_shows_no_routes() {
    let tree = Tree::empty();
    let asks = "        if self.path.startswith(\"/v1/\"):\n            return self.say(401, \"application/json\", \"{\\n}\\n\")\n";
    let service = SERVICE.replace("and API", "and None").replace("/v2/ask", "/v1/tickets");
    let reads = "        body = json.loads";
    assert!(service.contains(reads));
    tree.write("app.py", &service.replace(reads, &format!("{asks}{reads}")));
    let told = probe(&tree).exits(0);
    told.says(&["  tried  POST /v1/*: 401: { }\n", "POST routes seen: none."]).never_says("/v1/responses");
}

fn routes_that_need_another_one_first_are_named_from_the_document() {
    let tree = Tree::empty();
    let call = "urllib.request.urlopen(urllib.request.Request(url, json.dumps(call).encode(), headers)).read()";
    let service =
        SERVICE.replace(call, "pass").replace("\"/users\": {", "\"/users/{id}/chat\": {\"get\": {}}, \"/users\": {");
    let service = service.replace("\"/users/{id}/chat\": {\"get\"", "\"/users/{id}/chat\": {\"post\"");
    tree.write("app.py", &service);
    probe(&tree).exits(0).says(&["POST routes seen: /users/{id}/chat, /v2/ask, /users."]);
}

fn a_service_that_does_not_start_is_told_with_what_it_printed() {
    let tree = Tree::empty();
    tree.write("app.py", "import sys\nprint('no database at all')\nsys.exit(3)\n");
    probe(&tree).exits(1).says(&[
        "These files wait for the right `command` in scenarios/suite.toml; to try it: retake init --probe",
        "failed to start the service once with `python3 app.py`: it ended before it listened on a port: exit code 3",
        "| no database at all",
    ]);
    assert!(tree.read("scenarios/suite.toml").contains("# not tried: it did not start\ncommand = "));
    assert!(tree.read("scenarios/hello/scenario.toml").contains("# not tried: the service did not start\n[[step]]"));
    tree.retake().arg("list").run().says(&["hello"]);
}

fn what_was_not_tried_is_marked_and_replaced_by_what_was_seen() {
    let tree = Tree::empty();
    tree.write("app.py", SERVICE);
    tree.retake().args(&["init", "--yes"]).run().exits(0);
    let marked = tree.read("scenarios/suite.toml");
    assert!(marked.contains("# not tried: `retake init --probe` starts it once and sees\ncommand = "), "{marked}");
    assert!(!tree.has("seen.txt"));
    probe(&tree).exits(0).says(&["wrote  scenarios/suite.toml", "wrote  scenarios/hello/scenario.toml"]);
    assert!(!tree.read("scenarios/suite.toml").contains("not tried"));
    // What a person has written stays.
    tree.replace("scenarios/suite.toml", "/healthz", "/");
    probe(&tree).exits(0).says(&["kept   scenarios/suite.toml", "kept   scenarios/hello/scenario.toml"]);
    assert!(tree.read("scenarios/suite.toml").contains("http = \"/\""));
}

/// Runs `retake` on a terminal of its own. Each key is pressed when the next question is asked, or Enter once there are no more.
const TERMINAL: &str = r#"import os, pty, sys
keys, asked, out = sys.argv[1], sys.argv[2].encode(), b""
process, terminal = pty.fork()
if process == 0:
    os.execv(sys.argv[3], sys.argv[3:])
pressed = 0
while True:
    try:
        read = os.read(terminal, 4096)
    except OSError:
        break
    if not read:
        break
    out += read
    while out.count(asked) > pressed:
        os.write(terminal, (keys[pressed:pressed + 1] or "\n").encode())
        if asked.endswith(b"[Y/n]: "):
            os.write(terminal, b"\n")
        pressed += 1
sys.stdout.buffer.write(out)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
"#;

fn on_terminal(tree: &Tree, keys: &str, asked: &str, args: &[&str]) -> Program {
    tree.write("terminal.py", TERMINAL);
    let program = Program::new(std::path::Path::new("python3")).in_folder(tree.root());
    program.args(&["terminal.py", keys, asked, env!("CARGO_BIN_EXE_retake")]).args(args)
}

const LEAVE: &str = "any other key leaves: ";

/// A service whose answer has no golden yet.
fn without_golden() -> Tree {
    let serves = "import http.server, sys\n\
        http.server.test(http.server.SimpleHTTPRequestHandler, port=int(sys.argv[1]), bind='127.0.0.1')\n";
    let suite = "[systems.agent]\ncommand = [\"python3\", \"-u\", \"serve.py\", \"{{ port }}\"]\nready = { http = \"/a.json\" }\n";
    let tree = Tree::with_suite(suite);
    tree.write("serve.py", serves);
    tree.write("a.json", "{\"one\": 1}");
    tree.scenario("a", "fixture = \"none\"\n[[step]]\nget = \"/a.json\"\ngolden = true\n");
    tree
}

fn a_red_run_on_a_terminal_offers_what_its_failure_advises() {
    let tree = without_golden();
    tree.write("bin/xdg-open", "#!/bin/sh\ntouch opened.txt\n");
    tree.write("bin/open", "#!/bin/sh\ntouch opened.txt\n");
    executable(&tree, "bin/xdg-open");
    executable(&tree, "bin/open");
    let path = format!("{}:{}", tree.path("bin").display(), std::env::var("PATH").unwrap());
    // Any other key leaves, and changes nothing.
    let told = on_terminal(&tree, "x", LEAVE, &["test"]).env("PATH", &path).run().exits(1);
    told.says(&["[u]pdate, re[v]iew, [o]pen the page, [?], any"]).never_says("[r]ecord");
    assert!(!tree.has("goldens/a.snap") && !tree.has(".retake/report.html"));
    // `?` says what each offered key does, and the offer stays.
    let told = on_terminal(&tree, "?x", LEAVE, &["test"]).env("PATH", &path).run().exits(1);
    let told =
        told.says(&["  u  write the goldens", "  v  go through", "  o  write the page"]).never_says("  r  record");
    assert_eq!(told.all().matches(LEAVE).count(), 2, "{}", told.all());
    // After the page is opened, the others are still offered. The run was red, so its exit code is.
    on_terminal(&tree, "ou", LEAVE, &["test"])
        .env("PATH", &path)
        .run()
        .exits(1)
        .says(&["report.html", "$ retake test a --update"]);
    assert!(tree.has("goldens/a.snap") && tree.has(".retake/report.html"));
    // A green run offers nothing.
    on_terminal(&tree, "", LEAVE, &["test"]).run().exits(0).never_says("[o]pen");
}

fn a_red_run_offers_to_record_what_was_never_recorded() {
    let tree = without_golden();
    tree.scenario("a", "[[step]]\nget = \"/a.json\"\ngolden = true\n");
    let told = on_terminal(&tree, "r", LEAVE, &["test"]).run().exits(1);
    told.says(&["[r]ecord, [o]pen", "$ retake record a", "recording needs a provider"]);
}

fn a_review_on_a_terminal_takes_single_keys() {
    let tree = without_golden();
    tree.retake().arg("test").run().exits(1);
    // No Enter is pressed.
    let told = on_terminal(&tree, "?sa", "[q]uit [?]: ", &["review"]).run().exits(0);
    let told = told.says(&["  a  accept, if two replays agree", "0 accepted, 0 rejected, 1 left"]);
    assert_eq!(told.all().matches("[q]uit [?]: ").count(), 2, "{}", told.all());
    assert!(!tree.has("goldens/a.snap"));
    // From the offers of a red run, too.
    let told = on_terminal(&tree, "vq", "[?]", &["test"]).run().exits(1);
    told.says(&["$ retake review", "1 of 1 · golden a"]);
}

fn nothing_is_offered_in_ci_nor_without_a_terminal() {
    let tree = without_golden();
    tree.retake().arg("test").input("u").run().exits(1).never_says("[u]pdate");
    on_terminal(&tree, "u", LEAVE, &["test"]).env("CI", "true").run().exits(1).never_says("[u]pdate");
    assert!(!tree.has("goldens/a.snap"));
}

fn init_asks_on_a_terminal_whether_it_may_start_the_service() {
    let ask = "[Y/n]: ";
    for (key, args, starts) in [("y", &["init"][..], true), ("n", &["init"], false), ("y", &["init", "--yes"], false)] {
        let tree = Tree::empty();
        tree.write("app.py", SERVICE);
        on_terminal(&tree, key, ask, args).run().exits(0);
        assert_eq!(tree.has("seen.txt"), starts, "{args:?}, answered with {key}");
    }
    let tree = Tree::empty();
    tree.write("app.py", SERVICE);
    on_terminal(&tree, "y", ask, &["init"]).env("CI", "1").run().exits(0).never_says("[Y/n]");
    assert!(!tree.has("seen.txt"));
}

fn executable(tree: &Tree, file: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(tree.path(file), std::fs::Permissions::from_mode(0o755)).unwrap();
}
