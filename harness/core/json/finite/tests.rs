use super::unreadable_number;

#[test]
fn numbers_that_json_does_not_have_are_found_with_their_place() {
    let found = |text| unreadable_number(text).map(|(place, what)| format!("{place} {what}"));
    assert_eq!(found(r#"{"a": [1, {"b/c": NaN}]}"#).unwrap(), "/a/1/b~1c NaN");
    assert_eq!(found(r"[0, -Infinity]").unwrap(), "/1 -Infinity");
    assert_eq!(found(r#"{"x": Infinity}"#).unwrap(), "/x Infinity");
    assert_eq!(found(r#"{"x": 1e400}"#).unwrap(), "/x a number that is too large");
    assert_eq!(found(r#"{"x": -1.5E+999}"#).unwrap(), "/x a number that is too large");
    for text in ["NaN", "Infinity", r#"{"x": "NaN"}"#, r#"{"x": 1e308}"#, r#"{"e100": 1e-400}"#, r#"{"x": NaN"#] {
        assert_eq!(found(text), None, "{text}");
    }
}
