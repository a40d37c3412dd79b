use super::*;

#[test]
fn the_table_has_a_line_for_the_recording_and_for_each_run() {
    let recorded = ForkRow {
        calls: 4,
        input: 1200,
        output: 30,
        cost: Some(0.0033),
        tools: vec!["a".into(), "b".into()],
        finish: "stop".into(),
        ..ForkRow::default()
    };
    let golden = Some(vec!["the event `end` is missing".to_owned()]);
    let run = ForkRow { calls: 3, replayed: 1, cost: None, golden, verified: Some(false), ..recorded.clone() };
    let ended = ForkRow { ended: Some("no such tool".to_owned()), golden: None, verified: None, ..run.clone() };
    let fork = ForkData {
        format: FORK_FORMAT.to_owned(),
        scenario: "chat".to_owned(),
        fixture: String::new(),
        from: 1,
        asked: serde_json::Value::Null,
        times: 2,
        recorded,
        runs: [(1, run), (2, ended)].into(),
    };
    let expected = "\
run       calls       read   written  cost    finish  golden   verify  tools
recorded  4           1,200  30       0.0033  stop    –        –       a, b
chat-1.1  3 (2 live)  1,200  30       –       stop    differs  bad     a, b
chat-1.2  3 (2 live)  1,200  30       –       ended   –        –       a, b
chat-1.1: golden: the event `end` is missing
chat-1.2: ended: no such tool";
    assert_eq!(fork_table("chat-1", &fork), expected);
}

#[test]
fn tokens_from_the_cache_have_a_price_of_their_own() {
    let cost = cost_of(1_000_000, 400_000, 100_000, Price { input: 2.0, cached: 1.0, output: 10.0 });
    assert!((cost - 2.6).abs() < 1e-9, "{cost}");
}
