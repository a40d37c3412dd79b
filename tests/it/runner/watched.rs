//! `retake test --watch` on a terminal: what is saved runs what it concerns, and each key does one thing.

use serde_json::json;

use crate::support::program::{Program, Ran};
use crate::support::tree::Tree;

tests! { what_is_saved_runs_what_it_concerns_and_keys_do_what_failures_advise,
    what_failed_runs_first,
    nothing_is_watched_without_a_terminal_or_in_ci,
}

/// Does one step whenever the command waits: presses a key, or saves a file. Before each it prints a line with its number.
const TERMINAL: &str = r#"import json, os, pty, sys, time
steps, out, done, saved = json.loads(sys.argv[1]), b"", 0, None
process, terminal = pty.fork()
if process == 0:
    os.execv(sys.argv[2], sys.argv[2:])
while True:
    try:
        read = os.read(terminal, 4096)
    except OSError:
        break
    if not read:
        break
    out += read
    if saved and b"test result: " in read:
        print(f"{time.monotonic() - saved:.3f} seconds to the result", file=sys.stderr)
        saved = None
    while out.count(b"[q]uit: ") > done:
        step = steps[done] if done < len(steps) else {"key": "q"}
        done += 1
        out += f"\n== step {done} ==\n".encode()
        for path, text in step.get("save", {}).items():
            saved = time.monotonic()
            with open(path, "w") as file:
                file.write(text)
        os.write(terminal, step.get("key", "").encode())
sys.stdout.buffer.write(out)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
"#;

/// Two systems with a scenario each, which have goldens.
fn tree() -> Tree {
    let serves = "import http.server, sys\n\
        http.server.test(http.server.SimpleHTTPRequestHandler, port=int(sys.argv[1]), bind='127.0.0.1')\n";
    let system = |name: &str| {
        format!(
            "[systems.{name}]\ncommand = [\"python3\", \"-u\", \"{{{{ root }}}}/serve.py\", \"{{{{ port }}}}\"]\n\
             cwd = \"services/{name}\"\nready = {{ http = \"/a.json\" }}\n"
        )
    };
    let tree = Tree::with_suite(&format!("settle = \"0ms\"\nlinger = \"0ms\"\n{}{}", system("front"), system("back")));
    tree.write("serve.py", serves);
    tree.write(".gitignore", "*.log\n");
    for name in ["front", "back"] {
        tree.write(&format!("services/{name}/a.json"), "{\"one\": 1}");
        tree.scenario(
            name,
            &format!("system = \"{name}\"\nfixture = \"none\"\n[[step]]\nget = \"/a.json\"\ngolden = true\n"),
        );
    }
    tree.retake().args(&["test", "--update"]).run().green();
    tree
}

fn watched(tree: &Tree, steps: &serde_json::Value, args: &[&str]) -> Ran {
    tree.write("terminal.py", TERMINAL);
    let program = Program::new(std::path::Path::new("python3")).in_folder(tree.root());
    program.args(&["terminal.py", &steps.to_string(), env!("CARGO_BIN_EXE_retake"), "test", "--watch"]).args(args).run()
}

/// What was printed after each step, without colours.
fn after_steps(ran: &Ran) -> Vec<String> {
    let colours = regex::Regex::new("\x1b\\[[0-9;]*m").unwrap();
    let text = colours.replace_all(&ran.stdout, "").replace('\r', "");
    text.split("\n== step ").map(str::to_owned).collect()
}

fn what_is_saved_runs_what_it_concerns_and_keys_do_what_failures_advise() {
    let tree = tree();
    let scenario = tree.read("scenarios/back/scenario.toml");
    let steps = json!([
        {"save": {"services/front/a.json": "{\"one\": \"x\"}"}},
        {"key": "u"},
        // What git ignores concerns nothing.
        {"save": {"services/front/new.log": "", "scenarios/back/scenario.toml": format!("description = \"More\"\n{scenario}")}},
    ]);
    let ran = watched(&tree, &steps, &[]);
    let told = after_steps(&ran);
    assert_eq!(told.len(), 5, "{}", ran.all());
    assert!(told[0].contains("test back") && told[0].contains("test front"), "{}", told[0]);
    assert!(told[1].contains("saved: services/front/a.json") && told[1].contains("[u]pdate"), "{}", told[1]);
    assert!(told[1].contains("test front") && !told[1].contains("test back"), "{}", told[1]);
    assert!(told[2].contains("$ retake test front --update"), "{}", told[2]);
    assert!(told[2].contains("saved: goldens/front.snap") && !told[2].contains("[u]pdate"), "{}", told[2]);
    assert!(told[3].contains("saved: scenarios/back/scenario.toml"), "{}", told[3]);
    assert!(told[3].contains("test back") && !told[3].contains("test front"), "{}", told[3]);
    assert!(!told[4].contains("test "), "{}", told[4]);
    ran.exits(0);
}

fn what_failed_runs_first() {
    let tree = tree();
    let suite = tree.read("scenarios/suite.toml");
    let steps = json!([
        {"save": {"services/front/a.json": "{\"one\": \"x\"}"}},
        {"save": {"scenarios/suite.toml": format!("retries = 0\n{suite}")}},
        {"key": "a"},
    ]);
    let ran = watched(&tree, &steps, &[]);
    let told = after_steps(&ran);
    let [failed, then] =
        ["test front", "test back"].map(|line| told[2].find(line).unwrap_or_else(|| panic!("{}", told[2])));
    assert!(failed < then, "{}", told[2]);
    assert!(told[3].contains("test front") && told[3].contains("test back"), "{}", told[3]);
    // A filter holds for what is saved, too.
    let steps = json!([{"save": {"scenarios/suite.toml": suite}}]);
    let told = after_steps(&watched(&tree, &steps, &["back"])).concat();
    assert!(told.contains("test back") && !told.contains("test front"), "{told}");
}

fn nothing_is_watched_without_a_terminal_or_in_ci() {
    let tree = tree();
    tree.retake().args(&["test", "--watch"]).run().exits(2).says(&["there is no terminal", "retake test"]);
}
