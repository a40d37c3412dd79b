use super::*;
use retake_core::key::Normalizer;

fn call(turn: usize, caller: &str, said: &str) -> HeardCall {
    HeardCall { turn, caller: Some(caller.to_owned()), messages: vec![Message::new("human", said)] }
}

fn rules(patterns: &[&str]) -> Rules {
    let rule = |pattern: &&str| (regex::Regex::new(pattern).unwrap(), "<X>".to_owned());
    Rules { normalizer: Normalizer::default().with(patterns.iter().map(rule)), ..Rules::default() }
}

#[test]
fn the_rule_that_makes_calls_equal_is_told_apart_from_rules_that_do_not() {
    let calls = [call(0, "a", "order 12, please"), call(1, "a", "order 17, please")];
    let found = merged(&calls, &rules(&["please", r"\d+"]));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].rule, found[0].turns), (1, [0, 1]));
    assert_eq!(found[0].texts, ["order 12, <X>", "order 17, <X>"]);
    assert!(merged(&[call(0, "a", "12"), call(1, "b", "17")], &rules(&[r"\d+"])).is_empty(), "callers keep them apart");
    assert!(merged(&[call(0, "a", "12"), call(1, "a", "12")], &rules(&[r"\d+"])).is_empty(), "they are equal anyway");
}
