use super::*;
use crate::json::Layout;

fn json(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

#[test]
fn what_differs_between_two_replays_is_marked_and_not_compared() {
    let recorded = json(r#"{"seed": 1, "top": {"a": [1, 2], "b": 3}}"#);
    let one = json(r#"{"seed": 2, "top": {"a": [1, 5], "b": 3}}"#);
    let other = json(r#"{"seed": 3, "top": {"a": [1, 6], "b": 3}, "id": "x"}"#);
    let mut marked = recorded;
    places_that_differ(&one, &other).iter().for_each(|place| mark_varying(&mut marked, place));
    let expected = r#"{"id": "<varies>", "seed": "<varies>", "top": {"a": [1, "<varies>"], "b": 3}}"#;
    assert_eq!(marked.print(Layout::Python), expected);
    for mut called in [one, other] {
        as_varying(&marked, &mut called);
        assert_eq!(called, marked);
    }
    let mut changed = json(r#"{"seed": 4, "top": {"a": [2, 6], "b": 3}}"#);
    as_varying(&marked, &mut changed);
    assert_ne!(changed, marked);
}
