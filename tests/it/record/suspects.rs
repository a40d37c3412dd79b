//! Texts that have no known form of a secret, but stand where secrets usually do: they are never written, and a rule decides
//! whether a fixture may hold their placeholders.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use retake_core::json::{Json, Layout};
use retake_core::secrets::{Fired, Scrub};
use serde_json::{Value, json};

use crate::record::proxy::proxy;
use crate::replay::serve::Serving;
use crate::support::loopback::{Service, chat, send};
use crate::support::tree::Tree;

tests! { a_suspected_secret_is_masked_and_no_fixture_is_written_without_a_rule,
    a_recording_with_a_suspected_secret_is_resumed_at_no_cost_once_there_is_a_rule,
    an_import_with_a_suspected_secret_needs_a_rule_too,
    a_suspected_secret_is_kept_if_a_rule_says_that_it_is_none,
    nothing_in_the_projects_own_recordings_is_suspected,
}

const SUITE: &str = "settle = \"100ms\"\n";

/// One text for each rule, without the rule's name.
const SUSPECTED: [(&str, &str); 5] = [
    ("key", "SERVICE_API_KEY=Zebra81kLm02nXp47Rt"),
    ("password", "password: Zebra0ub4dor!3"),
    ("authorization", "authorization: Zebra81kLm02nXp47Rt"),
    ("cookie", "cookie: session=Zebra81kLm02nXp47Rt"),
    (
        "private-key",
        concat!("-----BEGIN ", "PRIVATE KEY-----\nZebra81k Lm02nXp4 7RtvB6q Zq81kLm 02nXp47R tvB6qq8 Zkq1sYt 5mT0wxq"),
    ),
];

fn answering() -> (Service, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let service = Service::start(Router::new().fallback(async move |body: String| {
        counted.fetch_add(1, Ordering::Relaxed);
        let call: Value = serde_json::from_str(&body).unwrap();
        let said = format!("it says {}", call["messages"][0]["content"].as_str().unwrap());
        let choice =
            json!({ "index": 0, "message": { "role": "assistant", "content": said }, "finish_reason": "stop" });
        json!({ "id": "c", "model": "m", "choices": [choice] }).to_string()
    }));
    (service, calls)
}

fn ask(proxy: &Serving, text: &str) -> (u16, String) {
    let url = format!("{}/chat/completions", proxy.ready("openai"));
    let headers = [("authorization", &*format!("Bearer {}", proxy.ready("key")))];
    let reply = send(&url, &headers, Some(&chat(&json!([{ "role": "user", "content": text }]), false)));
    (reply.status, reply.body)
}

#[track_caller]
fn assert_absent(tree: &Tree, said: &str) {
    assert!(!said.contains("Zebra"), "{said}");
    for (file, text) in tree.files() {
        assert!(!text.contains("Zebra"), "{file}: {text}");
    }
}

fn a_suspected_secret_is_masked_and_no_fixture_is_written_without_a_rule() {
    let (provider, calls) = answering();
    for (rule, text) in SUSPECTED {
        let tree = Tree::with_suite(SUITE);
        tree.scenario("out", "[[step]]\npost = \"/run\"\nstream = { last = \"end\" }\n");
        let mut proxy = Serving::start(proxy(&tree, &provider.openai()));
        let (status, said) = ask(&proxy, &format!("it holds\n{text}"));
        assert!(status == 200 && said.contains("Zebra"), "the system gets the real answer: {said}");
        let (code, said) = proxy.end_and_read("-INT");
        assert_eq!(code, Some(1), "{said}");
        for part in [
            "error: the calls contain what looks like a secret, at ",
            "turns[0].input.messages[0].content: \"it holds\\n",
            &format!("suspects = {{ {rule} = \"mask\" }} in scenarios/suite.toml, then retake import journal"),
            &format!("suspects = {{ {rule} = \"keep\" }}, then record again"),
        ] {
            assert!(said.contains(part), "{part} is not in {said}");
        }
        assert!(!tree.has("fixtures/out.json"));
        assert_absent(&tree, &said);
        // With the rule, what was paid for becomes a fixture that replays.
        let paid = calls.load(Ordering::Relaxed);
        tree.write("scenarios/suite.toml", &format!("{SUITE}suspects = {{ {rule} = \"mask\" }}\n"));
        let import = ["import", "journal", "fixtures/.journal/out.jsonl", "--out", "fixtures/out.json"];
        tree.retake().args(&import).run().exits(0).says(&["1 turn written to fixtures/out.json"]);
        assert_eq!(calls.load(Ordering::Relaxed), paid);
        assert_absent(&tree, "");
        let serving = Serving::start(tree.retake().args(&["serve", "fixtures/out.json"]));
        let (status, said) = ask(&serving, &format!("it holds\n{text}"));
        assert!(
            status == 200 && said.contains(&format!("<SUSPECTED_{}>", rule.to_uppercase().replace('-', "_"))),
            "{said}"
        );
    }
}

fn a_recording_with_a_suspected_secret_is_resumed_at_no_cost_once_there_is_a_rule() {
    let (provider, calls) = answering();
    let tree = Tree::with_suite(SUITE);
    tree.scenario("out", "[[step]]\npost = \"/run\"\nstream = { last = \"end\" }\n");
    let record = |action: &str| {
        let runner = tree.recorder("suspected", action, "out");
        runner.env("RETAKE_UPSTREAM_OPENAI", provider.openai()).env("OPENAI_API_KEY", "the-provider-s-0wn-key").run()
    };
    let ran = record("record").exits(1).says(&[
        "the calls contain what looks like a secret, at ",
        "suspects = { private-key = \"mask\", authorization = \"mask\", cookie = \"mask\", password = \"mask\", key = \"mask\" }",
        "to continue from what was recorded",
    ]);
    assert!(!tree.has("fixtures/out.json"));
    assert_absent(&tree, &ran.all());
    assert_eq!(calls.load(Ordering::Relaxed), SUSPECTED.len());
    let rules = "suspects = { private-key = \"mask\", authorization = \"mask\", cookie = \"mask\", password = \"mask\", key = \"mask\" }\n";
    tree.write("scenarios/suite.toml", &format!("{SUITE}{rules}"));
    let ran =
        record("record --resume").exits(0).says(&["out: 5 turns recorded to fixtures/out.json, two replays agree"]);
    assert_eq!(calls.load(Ordering::Relaxed), SUSPECTED.len(), "nothing is paid for again");
    assert_absent(&tree, &ran.all());
    tree.runner("suspected").run().exits(0);
}

fn an_import_with_a_suspected_secret_needs_a_rule_too() {
    let tree = Tree::with_suite(SUITE);
    tree.scenario("out", "[[step]]\npost = \"/run\"\nstream = { last = \"end\" }\n");
    let request = chat(&json!([{ "role": "user", "content": "log in" }]), false);
    let choice =
        json!({ "index": 0, "message": { "role": "assistant", "content": SUSPECTED[1].1 }, "finish_reason": "stop" });
    let answer = json!({ "id": "c", "model": "m", "choices": [choice] });
    let entry = json!({
        "request": { "method": "POST", "url": "https://api.openai.com/v1/chat/completions", "headers": [],
            "postData": { "mimeType": "application/json", "text": request.to_string() } },
        "response": { "status": 200, "headers": [], "content": { "mimeType": "application/json", "text": answer.to_string() } },
    });
    let archive = Tree::empty();
    archive.write("a.har", &json!({ "log": { "entries": [entry] } }).to_string());
    let import = || {
        tree.retake().args(&["import", "har"]).arg(archive.path("a.har")).args(&["--out", "fixtures/out.json"]).run()
    };
    let ran = import().exits(1).says(&["\"password: <SUSPECTED_PASSWORD>\"", "suspects = { password = \"mask\" }"]);
    assert!(!tree.has("fixtures/out.json"));
    assert_absent(&tree, &ran.all());
    tree.write("scenarios/suite.toml", &format!("{SUITE}suspects = {{ password = \"mask\" }}\n"));
    import().exits(0);
    assert_absent(&tree, "");
}

fn a_suspected_secret_is_kept_if_a_rule_says_that_it_is_none() {
    let (provider, _) = answering();
    let tree = Tree::with_suite(&format!("{SUITE}suspects = {{ password = \"keep\" }}\n"));
    tree.scenario("out", "[[step]]\npost = \"/run\"\nstream = { last = \"end\" }\n");
    let mut proxy = Serving::start(proxy(&tree, &provider.openai()));
    assert_eq!(ask(&proxy, SUSPECTED[1].1).0, 200);
    let (code, said) = proxy.end_and_read("-INT");
    assert_eq!(code, Some(0), "{said}");
    assert!(tree.read("fixtures/out.json").contains(SUSPECTED[1].1));
}

/// What is suspected without cause stops recordings. With `RETAKE_CASSETTES`, recordings of real traffic are searched too.
fn nothing_in_the_projects_own_recordings_is_suspected() {
    let own = ["fixtures", "tests/systems/fixtures", "tests/clients/fixtures", "tests/releases", "goldens"];
    let own = own.map(|folder| crate::support::tree::repository().join(folder));
    // Recordings of other projects may hold keys that those masked themselves.
    let known = ["openai-key", "anthropic-key", "google-key", "bearer-token", "aws-access-key", "jwt", "url-password"];
    let (scrub, mut files, mut found) = (Scrub::known(), 0, Vec::new());
    let mut folders: Vec<PathBuf> =
        own.into_iter().chain(std::env::var_os("RETAKE_CASSETTES").map(Into::into)).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            files += 1;
            // As a file, and as the texts that it holds.
            let mut texts = vec![json!(text)];
            texts.extend(serde_json::from_str::<Value>(&text).ok());
            for text in texts {
                let mut text = Json::parse(text.to_string().as_bytes()).unwrap();
                let mut fired = Fired::new();
                scrub.json(&mut text, &mut fired);
                let print = text.print(Layout::Compact);
                for name in fired.iter().filter(|name| !known.contains(&name.as_str())) {
                    let at = print.find('<').unwrap_or_default();
                    let around: String =
                        print[..at].chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect();
                    found.push(format!("{}: {name}: {around}", path.display()));
                }
            }
        }
    }
    assert!(files > 50, "{files} files");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Serves a system that makes a call with each of the texts.
pub(crate) fn router(stage: &retake::Stage) -> Router {
    let (url, key) = (stage.model().openai.clone(), stage.key().to_owned());
    Router::new().fallback(async move || {
        let calls = tokio::task::spawn_blocking(move || {
            for (_, text) in SUSPECTED {
                let body = chat(&json!([{ "role": "user", "content": text }]), false);
                drop(send(
                    &format!("{url}/chat/completions"),
                    &[("authorization", &format!("Bearer {key}"))],
                    Some(&body),
                ));
            }
        });
        calls.await.unwrap();
        ([(axum::http::header::CONTENT_TYPE, "text/event-stream")], "event: end\ndata: null\n\n")
    })
}
