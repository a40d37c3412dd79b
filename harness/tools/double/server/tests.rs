use super::*;
use crate::clients::Clients;
use crate::model::unjudged;

#[test]
fn a_call_after_the_stage_s_end_is_a_miss_that_no_verdict_counted() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("scenarios")).unwrap();
    let suite = "[tools.files]\nmcp = { url = \"http://127.0.0.1:9/\" }\n";
    std::fs::write(root.path().join("scenarios/suite.toml"), suite).unwrap();
    let suite = crate::scenario::suite_of(root.path()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let scope = Scope::new("a late call of a tool");
        let (used, recorded, normalizer) = (BTreeSet::new(), ToolExchanges::new(), Normalizer::default());
        let doubles = Doubles::start(Given {
            suite: &suite,
            used: &used,
            pacing: Pacing::None,
            root: root.path(),
            fixture: Path::new("f.json"),
            recorded: &recorded,
            mode: ToolsMode::Replay(scope.clone()),
            secrets: &Json::Null,
            normalizer: &normalizer,
            scrub: Scrub::default(),
        });
        let doubles = doubles.await.unwrap().unwrap();
        let url = doubles.context().str_of("files").unwrap().to_owned();
        doubles.end().await;
        assert!(scope.judge().is_empty());
        let call = r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read"}}"#;
        let answer = Clients::keeping(1).of(&url).unwrap().post(&url).body(call).send().await.unwrap();
        assert!(answer.text().await.unwrap().contains("replay miss"));
        assert!(unjudged().iter().any(|miss| miss.scenario == scope.name()));
    });
}
