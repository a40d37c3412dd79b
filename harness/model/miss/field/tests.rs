use super::field_difference;

#[test]
fn the_first_field_that_differs_is_told_by_what_happened_to_it() {
    for (recorded, called, pointer, words) in [
        (r#"{"a": {"b": "x"}}"#, r#"{"a": {"b": "y"}}"#, "/a/b", r#""x" → "y""#),
        (r#"{"ids": [1, 2, 3]}"#, r#"{"ids": [3, 2, 1]}"#, "/ids", "its 3 elements come in another order"),
        (r#"[{"n": 1}, {"n": 2}]"#, r#"[{"n": 2}]"#, "/0", r#""{\"n\": 1}" → absent"#),
        (r#"{"l": ["a", "b", "c"]}"#, r#"{"l": ["a", "x", "b", "c"]}"#, "/l/1", r#"absent → "x""#),
        (r#"{"l": ["a", "b", "c"]}"#, r#"{"l": ["a", "x"]}"#, "/l/1", r#""b" → "x""#),
        (
            r#"{"from": "Lyon", "n": 1, "to": "Rome"}"#,
            r#"{"from": "Rome", "n": 1, "to": "Lyon"}"#,
            "/from",
            r#""Lyon" → "Rome", exchanged with `to`"#,
        ),
        (
            r#"{"fee": 10, "lines": [{"n": 1}, {"n": 2}], "net": 90, "tax": 19, "total": 119}"#,
            r#"{"fee": 12, "lines": [{"n": 1}, {"n": 3}], "net": 90, "tax": 20, "total": 122}"#,
            "/fee",
            r#""10" → "12"; `/lines/1/n`: "2" → "3"; `/tax`: "19" → "20"; 1 more"#,
        ),
        (
            r#"{"reason": "too dear", "status": "declined"}"#,
            r#"{"held_until": 5, "status": "held"}"#,
            "/status",
            r#""declined" → "held"; `/held_until`: absent → "5"; `/reason`: "too dear" → absent"#,
        ),
        (r#"{"from": "Lyon", "to": "Rome"}"#, r#"{"from": "Rome", "to": "Rome"}"#, "/from", r#""Lyon" → "Rome""#),
    ] {
        let (at, changed) = field_difference(recorded, called).unwrap();
        assert_eq!((&*at, &*changed), (pointer, words), "{recorded} {called}");
    }
}
