use super::*;

fn misfit_of(schema: &str, args: &str) -> Option<String> {
    let json = |text: &str| Json::parse(text.as_bytes()).unwrap();
    misfit(&json(schema), &json(args))
}

#[test]
fn arguments_are_held_to_the_schema() {
    let schema = r##"{"type": "object", "required": ["path"], "additionalProperties": false, "properties": {
        "path": {"type": "string"}, "lines": {"type": "array", "items": {"type": "integer"}},
        "mode": {"enum": ["r", "w"]}, "at": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/at"}]}},
        "$defs": {"at": {"type": "object", "properties": {"next": {"$ref": "#/$defs/at"}}}}}"##;
    let of = |args: &str| misfit_of(schema, args).unwrap_or_default();
    assert_eq!(of(r#"{"path": "a", "lines": [1, 2.0], "mode": "r", "at": {"next": {}}}"#), "");
    assert_eq!(of("{}"), "`path` is required and missing");
    assert_eq!(of(r#"{"path": 1}"#), "`path` is a number, expected string");
    assert_eq!(of(r#"{"path": "a", "lines": [1, "2"]}"#), "`lines[1]` is a string, expected integer");
    assert_eq!(of(r#"{"path": "a", "mode": "x"}"#), "`mode` is \"x\", expected \"r\" or \"w\"");
    assert_eq!(of(r#"{"path": "a", "at": 3}"#), "`at` fits none of the forms that the schema allows");
    assert_eq!(of(r#"{"path": "a", "b": 3}"#), "`b` is not one of the tool's arguments");
    assert_eq!(of(r#""{\"path\": 1""#), "the arguments as a whole is a string, expected object");
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    assert_eq!(misfit_of(r##"{"$ref": "#"}"##, "1"), None);
}
