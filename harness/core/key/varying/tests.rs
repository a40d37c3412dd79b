use super::*;

#[test]
fn what_differs_between_two_replays_is_marked_and_not_compared() {
    let recorded = r#"{"seed": 1, "top": {"a": [1, 2], "b": 3}}"#;
    let one = r#"{"seed": 2, "top": {"a": [1, 5], "b": 3}}"#;
    let other = r#"{"seed": 3, "top": {"a": [1, 6], "b": 3}, "id": "x"}"#;
    let varying = Varying::between(4, Check::Settings, one, other);
    assert!(Varying::between(4, Check::Prompt, one, other).is_empty());
    assert_eq!(Varying::marked(&varying, 4, Check::Extra, recorded), None);
    let marked = Varying::marked(&varying, 4, Check::Settings, recorded).unwrap();
    assert_eq!(marked, r#"{"id": "<varies>", "seed": "<varies>", "top": {"a": [1, "<varies>"], "b": 3}}"#);
    for called in [one, other] {
        assert_eq!(text_as_varying(&marked, called).as_ref(), Some(&marked));
    }
    let changed = r#"{"seed": 4, "top": {"a": [2, 6], "b": 3}}"#;
    assert_ne!(text_as_varying(&marked, changed), Some(marked));
    // In other turns it is marked where it is, and no field is added.
    let of_another = Varying::marked(&varying, 5, Check::Settings, r#"{"seed": 1, "temperature": 2}"#);
    assert_eq!(of_another.unwrap(), r#"{"seed": "<varies>", "temperature": 2}"#);
}
