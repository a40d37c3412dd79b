//! A disk that is full while calls are recorded. Each answer was paid for, so the first that cannot be saved is the last that is
//! asked for.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use serde_json::{Value, json};

use crate::record::proxy::proxy;
use crate::record::secrets;
use crate::replay::serve::Serving;
use crate::support::loopback::{Service, chat, send};
use crate::support::program::Program;
use crate::support::tree::Tree;

tests! { a_proxy_asks_for_nothing_more_once_its_journal_cannot_be_written,
    a_proxy_that_saved_nothing_says_so,
    a_recording_asks_for_nothing_more_once_its_journal_cannot_be_written,
}

/// Starts a provider that counts the calls that it answers.
fn counting() -> (Service, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let service = Service::start(Router::new().fallback(async move || {
        counted.fetch_add(1, Ordering::Relaxed);
        let choice =
            json!({ "index": 0, "message": { "role": "assistant", "content": "yes" }, "finish_reason": "stop" });
        json!({ "id": "c", "model": "m", "choices": [choice] }).to_string()
    }));
    (service, calls)
}

/// Returns a program whose files cannot grow beyond so many kilobytes, as if the disk were full then.
fn limited(program: Program, kilobytes: usize) -> Program {
    let command = program.into_command();
    let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"", kilobytes * 2);
    let mut limited = Program::new("sh".as_ref()).args(&["-c", &script]).arg(command.get_program());
    for arg in command.get_args() {
        limited = limited.arg(arg);
    }
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            limited = limited.env(name.to_str().unwrap(), value);
        }
    }
    match command.get_current_dir() {
        Some(folder) => limited.in_folder(folder),
        None => limited,
    }
}

/// Asks something that fills 8 KB of the journal. Returns the status, or `None` if the answer broke off.
fn ask(proxy: &Serving, text: &str) -> Option<(u16, String)> {
    let url = format!("{}/chat/completions", proxy.ready("openai"));
    let body = chat(&json!([{ "role": "user", "content": format!("{text} {}", "long ".repeat(1_600)) }]), false);
    let asked = std::panic::catch_unwind(|| send(&url, &[("authorization", "Bearer ours")], Some(&body)));
    asked.ok().map(|reply| (reply.status, reply.body))
}

fn a_proxy_asks_for_nothing_more_once_its_journal_cannot_be_written() {
    let (provider, calls) = counting();
    let tree = Tree::empty();
    let mut proxy = Serving::start(limited(proxy(&tree, &provider.openai()), 20));
    assert_eq!(ask(&proxy, "one").unwrap().0, 200);
    assert_eq!(ask(&proxy, "two").unwrap().0, 200);
    assert_eq!(ask(&proxy, "three"), None, "an answer that is not saved does not arrive as if it were");
    let (status, said) = ask(&proxy, "four").unwrap();
    assert!(status == 400 && said.contains("cannot be written") && said.contains("not sent"), "{status} {said}");
    assert_eq!(calls.load(Ordering::Relaxed), 3, "nobody pays for an answer that cannot be saved");
    let (code, said) = proxy.end_and_read("-INT");
    assert_eq!(code, Some(1), "{said}");
    let journal = "fixtures/.journal/out.jsonl";
    assert!(said.contains(&format!("{journal} cannot be written")), "{said}");
    assert!(said.contains("2 turns recorded to fixtures/out.json"), "{said}");
    assert!(!said.contains("the calls are in"), "{said}");
    let lines: Vec<Value> = tree.read(journal).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "what was saved is whole");
    let fixture: Value = serde_json::from_str(&tree.read("fixtures/out.json")).unwrap();
    assert_eq!(fixture["turns"].as_array().unwrap().len(), 2);
}

fn a_proxy_that_saved_nothing_says_so() {
    let (provider, calls) = counting();
    let tree = Tree::empty();
    let mut proxy = Serving::start(limited(proxy(&tree, &provider.openai()), 4));
    assert_eq!(ask(&proxy, "one"), None);
    assert_eq!(ask(&proxy, "two").unwrap().0, 400);
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    let (code, said) = proxy.end_and_read("-INT");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("cannot be written") && said.contains("nothing was written"), "{said}");
    assert!(!said.contains("the calls are in"), "{said}");
    assert!(!tree.has("fixtures/out.json"));
}

/// The system of this scenario makes 48 calls, whatever becomes of them.
fn a_recording_asks_for_nothing_more_once_its_journal_cannot_be_written() {
    let (provider, calls) = counting();
    let planted = secrets::planted();
    let tree = secrets::tree(&planted);
    let runner = |action: &str| {
        let runner = tree.recorder("planted", action, "out");
        secrets::with_variables(runner, &planted).env("RETAKE_UPSTREAM_OPENAI", provider.openai())
    };
    let ran = limited(runner("record"), 12)
        .run()
        .exits(1)
        .says(&["fixtures/.journal/out.jsonl cannot be written", "to continue from what was recorded"]);
    let saved = tree.read("fixtures/.journal/out.jsonl").lines().count();
    assert!(saved > 0 && saved < 48, "{saved}");
    assert_eq!(calls.load(Ordering::Relaxed), saved + 1, "{}", ran.all());
    runner("record --resume").run().exits(0).says(&["out: 48 turns recorded to fixtures/out.json"]);
    assert_eq!(calls.load(Ordering::Relaxed), 48 + 1, "only what was not saved is asked for again");
}
