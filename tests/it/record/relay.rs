//! The relay: what it says before the first step, and what becomes of its failures.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};

use retake::__private::run::{Action, RecordOptions};

use crate::runner::discovery::{asking, greeting};
use crate::support::loopback::Service;
use crate::support::program::Ran;
use crate::support::tree::Tree;
use crate::systems::described::{CHAT, READY, system};

tests! {
    an_unreachable_provider_is_one_line_before_anything_starts,
    a_provider_that_is_gone_in_the_middle_is_trouble_of_the_machine_and_never_a_turn,
    only_the_providers_to_which_a_system_is_pointed_are_tried,
    a_system_that_says_nothing_of_its_provider_needs_one_of_them,
    a_runner_that_no_command_started_does_not_record,
    a_runner_that_is_killed_is_named_with_the_command_to_go_on,
}

/// An address at which nobody listens. A port that was free a moment ago could belong to another test by now.
const GONE: &str = "http://127.0.0.1:1";

fn an_unreachable_provider_is_one_line_before_anything_starts() {
    for address in [&format!("{GONE}/v1"), "https://provider.invalid/v1"] {
        let tree = greeting();
        tree.write("scenarios/hello/scenario.toml", &asking("Hello"));
        let recorder = tree.recorder("oddities", "record", "hello").env("OPENAI_API_KEY", "sk-of-the-provider");
        let recorder = recorder.env("RETAKE_UPSTREAM_OPENAI", address).env("HTTPS_PROXY", "").env("ALL_PROXY", "");
        let ran = recorder.run().exits(1);
        let line = format!("error: hello: not recorded: the provider at {address} cannot be reached: ");
        assert!(ran.stderr.starts_with(&line) && ran.stderr.trim_end().lines().count() == 1, "{}", ran.all());
        ran.never_says("to continue");
        assert!(!tree.has("fixtures/hello.json"));
    }
}

/// Answers one call, and then listens no more.
fn answering_once() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        loop {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            let mut part = [0; 4096];
            // The relay first opens a connection only to see whether it can.
            while !request.ends_with(b"}") {
                match stream.read(&mut part).unwrap() {
                    0 => break,
                    length => request.extend_from_slice(&part[..length]),
                }
            }
            if request.is_empty() {
                continue;
            }
            drop(listener);
            let body = r#"{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}"#;
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            return stream.write_all(head.as_bytes()).unwrap();
        }
    });
    address
}

fn a_provider_that_is_gone_in_the_middle_is_trouble_of_the_machine_and_never_a_turn() {
    let tree = greeting();
    tree.write(
        "scenarios/hello/scenario.toml",
        &format!("record = {{ errors = true }}\n{}", asking("Hello").repeat(2)),
    );
    let address = answering_once();
    let recorder = tree.recorder("oddities", "record", "hello");
    recorder.env("RETAKE_UPSTREAM_OPENAI", format!("http://{address}/v1")).run().exits(1).says(&[
        "error: hello: not recorded: model calls failed while recording",
        &format!("the provider at http://{address}/v1 cannot be reached: "),
        "to continue from what was recorded",
        "retake record hello --resume",
    ]);
    let import = ["import", "journal", "fixtures/.journal/hello.jsonl", "--out", "fixtures/hello.json"];
    tree.retake().args(&import).run().exits(0).says(&["1 turn written to fixtures/hello.json, 1 left out"]);
}

fn recorded(tree: &Tree, openai: &str, anthropic: &str) -> Ran {
    let record = tree.retake().args(&["record", "chat"]).env("RETAKE_UPSTREAM_OPENAI", openai);
    record.env("RETAKE_UPSTREAM_ANTHROPIC", anthropic).run()
}

fn only_the_providers_to_which_a_system_is_pointed_are_tried() {
    let provider = format!("http://{}/v1", crate::systems::provider::start());
    let tree = Tree::with_suite(&system("agent", "", READY));
    tree.scenario("chat", CHAT);
    recorded(&tree, &provider, GONE).exits(0);
    tree.write("scenarios/suite.toml", &system("agent", "ANTHROPIC_BASE_URL = \"{{ model.anthropic }}\"", READY));
    let ran = recorded(&tree, &provider, GONE).exits(1);
    ran.says(&[&format!("not recorded: the provider at {GONE} cannot be reached: ")]);
}

fn a_system_that_says_nothing_of_its_provider_needs_one_of_them() {
    let provider = Service::provider();
    let tree = greeting();
    tree.write("scenarios/hello/scenario.toml", &asking("Hello"));
    let recorder = || {
        let recorder = tree.recorder("oddities", "record", "hello").env("RETAKE_UPSTREAM_ANTHROPIC", GONE);
        recorder.env("OPENAI_API_KEY", "sk-of-the-provider")
    };
    recorder().env("RETAKE_UPSTREAM_OPENAI", provider.openai()).run().exits(0);
    let openai = format!("{GONE}/v1");
    recorder()
        .env("RETAKE_UPSTREAM_OPENAI", openai)
        .run()
        .exits(1)
        .says(&[&format!("the provider at {GONE}/v1 cannot be reached: ")]);
}

fn a_runner_that_no_command_started_does_not_record() {
    let tree = greeting();
    tree.write("scenarios/hello/scenario.toml", &asking("Hello"));
    let before = tree.files();
    let action = Action::Record(vec!["hello".to_owned()], RecordOptions::default());
    let runner = tree.runner("oddities").handed_over(&action);
    let runner = runner.env("OPENAI_API_KEY", "sk-of-the-provider");
    runner.run().exits(2).says(&["error: a runner reaches no provider", "to record: retake record NAME"]);
    assert_eq!(tree.files(), before);
}

fn a_runner_that_is_killed_is_named_with_the_command_to_go_on() {
    let (came, comes) = std::sync::mpsc::channel();
    let provider = crate::record::rounds::Provider::stopping_at(2, came);
    let tree = Tree::with_suite("settle = \"100ms\"\n");
    tree.scenario("work", &crate::record::rounds::scenario(&crate::record::rounds::agent("lead", 3)));
    let recorder = tree.recorder("rounds", "record", "work").env("RETAKE_UPSTREAM_OPENAI", provider.openai());
    let mut command = recorder.into_command();
    let child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    comes.recv().unwrap();
    let runner = super::processes::children_of(child.id())[0].to_string();
    assert!(std::process::Command::new("kill").args(["-KILL", &runner]).status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("error: the runner that recorded was ended: signal: 9"), "{said}");
    assert!(said.contains("to continue from what was recorded:\n    retake record work --resume"), "{said}");
}
