use super::*;
use crate::init::routes::PROMPT;

#[test]
fn what_zod_names_is_put_right_from_the_outside_in() {
    let first = json!({"errors": [
        {"expected": "string", "code": "invalid_type", "path": ["diff"], "message": "Required"},
        {"code": "invalid_value", "values": ["ts", "py"], "path": ["language"]},
        {"expected": "object", "code": "invalid_type", "path": ["options"]},
        {"code": "unrecognized_keys", "keys": ["message"], "path": []},
    ]});
    let body = corrected(&json!({"message": "x"}), first.to_string().as_bytes()).unwrap();
    assert_eq!(body, json!({"diff": PROMPT, "language": "ts", "options": {}}));
    let second = json!({"error": {"issues": [
        {"expected": "boolean", "code": "invalid_type", "path": ["options", "strict"]},
        {"expected": "number", "code": "invalid_type", "path": ["options", "most"]},
    ]}});
    let body = corrected(&body, second.to_string().as_bytes()).unwrap();
    assert_eq!(body["options"], json!({"strict": false, "most": 3}));
    assert_eq!(corrected(&body, json!({"errors": []}).to_string().as_bytes()), None);
}

#[test]
fn what_pydantic_names_is_put_right() {
    let refusal = json!({"detail": [
        {"type": "missing", "loc": ["body", "question"], "msg": "Field required"},
        {"type": "literal_error", "loc": ["body", "level"], "ctx": {"expected": "'low' or 'high'"}},
        {"type": "int_type", "loc": ["body", "k"]},
        {"type": "extra_forbidden", "loc": ["body", "more"]},
    ]});
    let body = corrected(&json!({"level": "x", "more": 1}), refusal.to_string().as_bytes());
    assert_eq!(body, Some(json!({"question": PROMPT, "level": "low", "k": 3})));
}

#[test]
fn a_refusal_that_names_no_place_corrects_nothing() {
    for refusal in
        ["", "no", "{\"error\": \"bad\"}", "{\"path\": \"/chat\"}", "{\"path\": []}", "{\"loc\": [\"body\", 0]}"]
    {
        assert_eq!(corrected(&json!({"a": 1}), refusal.as_bytes()), None, "{refusal}");
    }
}
