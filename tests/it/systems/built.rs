//! Systems that are built before they start, and systems with a fixed port.

use super::described::{CHAT, READY, system};
use super::provider::record;
use crate::support::loopback::free_port;
use crate::support::tree::Tree;

tests!(
    a_system_is_built_once_and_again_only_if_its_inputs_have_changed,
    a_build_that_fails_shows_what_it_printed,
    scenarios_take_turns_on_a_fixed_port_and_a_port_in_use_is_named,
);

const COUNT: &str = "fixture = \"none\"\n[[step]]\nget = \"/count\"\n";

fn a_system_is_built_once_and_again_only_if_its_inputs_have_changed() {
    let build = r#"build = ["sh", "-c", "echo $MODE >> ../built.log; mkdir -p dist; date +%N > dist/made"]"#;
    let fields = format!("{READY}\ncwd = \"front\"\n{build}");
    let tree = Tree::with_suite(&system("agent", "MODE = \"plain\"", &fields));
    tree.scenario("one", COUNT);
    tree.scenario("two", COUNT);
    tree.write("front/src/page.js", "first");
    for (change, built) in
        [("", 1), ("", 1), ("front/src/page.js", 2), ("front/node_modules/x/index.js", 2), ("front/new.css", 3)]
    {
        if !change.is_empty() {
            tree.write(change, "changed");
        }
        tree.retake().arg("test").run().green();
        assert_eq!(tree.read("built.log"), "plain\n".repeat(built), "after {change:?}");
    }
    tree.replace("scenarios/suite.toml", "\"plain\"", "\"other\"");
    tree.retake().arg("test").run().green();
    assert_eq!(tree.read("built.log"), "plain\nplain\nplain\nother\n");
}

fn a_build_that_fails_shows_what_it_printed() {
    let fields = format!("{READY}\ncwd = \"front\"\nbuild = [\"sh\", \"-c\", \"echo no such module; exit 3\"]");
    let tree = Tree::with_suite(&system("agent", "", &fields));
    tree.scenario("one", COUNT);
    tree.write("front/page.js", "");
    tree.retake().arg("test").run().red(&["failed to build system `agent`", "failed: exit code 3", "| no such module"]);
    // What several recordings fail for is told once.
    tree.scenario("two", CHAT);
    tree.scenario("three", CHAT);
    let told = "two: not recorded: failed to build system `agent`";
    record(&tree, &["two", "three"]).red(&[told, "three: not recorded: for the same reason"]);
}

fn scenarios_take_turns_on_a_fixed_port_and_a_port_in_use_is_named() {
    let port = free_port();
    let taken = std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
    let tree = Tree::with_suite(&system("agent", "", &format!("{READY}\nport = {port}")));
    for name in ["one", "two", "three"] {
        tree.scenario(name, COUNT);
    }
    tree.retake().arg("test").run().red(&[&format!("port {port}, which the system pins, is in use")]);
    drop(taken);
    tree.retake().args(&["test", "--", "--test-threads", "3"]).run().green();
}
