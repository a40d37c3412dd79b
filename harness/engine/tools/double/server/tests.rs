use std::time::Instant;

use super::*;
use retake_model::clients::Clients;
use retake_model::{Scope, unjudged};

/// A call of the tool `read`.
const CALL: &str = r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read"}}"#;

/// Runs a check on the double of one server, for which nothing was recorded.
fn with_doubles<F: Future<Output = ()>>(scope: &Scope, pacing: Pacing, check: impl FnOnce(Doubles) -> F) {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("scenarios")).unwrap();
    let suite = "[tools.files]\nmcp = { url = \"http://127.0.0.1:9/\" }\n";
    std::fs::write(root.path().join("scenarios/suite.toml"), suite).unwrap();
    let suite = retake_scenario::suite_of(root.path()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (used, normalizer) = (BTreeSet::new(), Normalizer::default());
        let (scrub, egress) = (Scrub::default(), Egress::off());
        let doubles = Doubles::start(Given {
            suite: &suite,
            used: &used,
            pacing,
            root: root.path(),
            fixture: Path::new("f.json"),
            recorded: None,
            mode: ToolsMode::Replay(scope.clone()),
            secrets: &Json::Null,
            normalizer: &normalizer,
            scrub: &scrub,
            egress: &egress,
        });
        check(doubles.await.unwrap().unwrap()).await;
    });
}

async fn call(url: &str) -> String {
    let answer = Clients::keeping(1).request(axum::http::Method::POST, url).unwrap().body(CALL).send().await.unwrap();
    answer.text().await.unwrap()
}

#[test]
fn a_call_after_the_end_of_the_stage_is_a_miss_that_no_verdict_counted() {
    let scope = Scope::new("a late call of a tool");
    with_doubles(&scope, Pacing::None, async |doubles| {
        let url = doubles.on_stage().context.str_of("files").unwrap().to_owned();
        doubles.end().await;
        assert!(scope.judge().is_empty());
        assert!(call(&url).await.contains("replay miss"));
        assert!(unjudged().iter().any(|miss| miss.scenario == *scope.name));
    });
}

/// The delays make the proof notice an agent that depends on how fast a tool answers.
#[test]
fn a_shaken_replay_holds_answers_back() {
    with_doubles(&Scope::new("shaken"), Pacing::Shaken, async |doubles| {
        let url = doubles.on_stage().context.str_of("files").unwrap().to_owned();
        let began = Instant::now();
        for _ in 0..3 {
            call(&url).await;
        }
        // The delays are at least 0, 7 and 14 ms.
        assert!(began.elapsed() >= std::time::Duration::from_millis(21), "{:?}", began.elapsed());
        doubles.end().await;
    });
}
