use super::*;

fn found(expected: &str, actual: &str) -> Vec<String> {
    let (expected, actual) = (Json::parse(expected.as_bytes()).unwrap(), Json::parse(actual.as_bytes()).unwrap());
    let found = differences("", Some(&expected), Some(&actual));
    found.iter().map(|difference| difference.to_json().print(retake_core::json::Layout::Python)).collect()
}

#[test]
fn each_place_is_named_by_its_pointer() {
    let found = found(r#"{"a": [1, {"b/c": 2}], "same": 0}"#, r#"{"a": [1, {"b/c": 3}, 4], "same": 0}"#);
    assert_eq!(
        found,
        [r#"{"actual": 3, "expected": 2, "pointer": "/a/1/b~1c"}"#, r#"{"actual": 4, "pointer": "/a/2"}"#]
    );
}

#[test]
fn a_missing_field_is_not_null() {
    assert_eq!(found(r#"{"a": null}"#, "{}"), [r#"{"expected": null, "pointer": "/a"}"#]);
    assert_eq!(found(r#"{"a": 1}"#, r#"{"a": 1}"#), Vec::<String>::new());
}
