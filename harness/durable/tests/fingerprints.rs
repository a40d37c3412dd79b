//! What is part of a fingerprint.

use super::*;

fn model(request: &ModelRequest) -> String {
    request.fingerprint().unwrap().0.to_string()
}

fn messages(messages: &Value) -> String {
    model(&ModelRequest::new("m", messages))
}

fn settings(settings: &Value) -> String {
    model(&ModelRequest::new("m", "hi").settings(settings))
}

fn tool(args: &Value) -> String {
    ToolRequest::new("t", args).fingerprint().unwrap().0.to_string()
}

#[test]
fn a_fingerprint_is_the_sha_256_of_canonical_json() {
    let request = ModelRequest::new("m", &json!([{ "role": "user", "content": "é" }]))
        .settings(&json!({ "temperature": 0.5 }))
        .tools(&json!([{ "name": "ls" }]))
        .output_schema(&json!({ "type": "object" }));
    let canonical = r#"{"messages": [{"content": "é", "role": "user"}], "model": "m", "output_schema": {"type": "object"}, "settings": {"temperature": 0.5}, "tools": [{"name": "ls"}]}"#;
    assert_eq!(model(&request), retake_core::key::Hash::of(canonical.as_bytes()).to_string());

    let call = ToolRequest::new("ls", &json!({ "b": 1, "a": 1.0 })).call_id("call_1");
    let canonical = r#"{"args": {"a": 1.0, "b": 1}, "call_id": "call_1", "name": "ls"}"#;
    assert_eq!(call.fingerprint().unwrap().0, retake_core::key::Hash::of(canonical.as_bytes()));
}

#[test]
fn model_messages_settings_tools_output_schema_and_params_count() {
    let base = || ModelRequest::new("m", &json!(["hi"]));
    let some = json!({ "a": 1 });
    let all = [
        base(),
        ModelRequest::new("M", &json!(["hi"])),
        ModelRequest::new("m", &json!(["Hi"])),
        base().settings(&some),
        base().tools(&some),
        base().output_schema(&some),
        base().params(&some),
        base().params(&json!({ "output_mode": "native" })),
    ];
    let different: std::collections::BTreeSet<String> = all.iter().map(model).collect();
    assert_eq!(different.len(), all.len());
}

#[test]
fn fields_of_messages_and_parts_that_vary_between_attempts_do_not_count() {
    let plain = json!([{ "kind": "request", "parts": [{ "part_kind": "user-prompt", "content": "hi" }] }]);
    let with = json!([{
        "kind": "request", "timestamp": 1, "run_id": "r", "conversation_id": "c",
        "parts": [{ "part_kind": "user-prompt", "content": "hi", "timestamp": "2026-11-21" }],
    }]);
    assert_eq!(messages(&plain), messages(&with));
    let typed = |part: Value| json!([{ "role": "user", "content": [part] }]);
    assert_eq!(
        messages(&typed(json!({ "type": "text", "text": "hi" }))),
        messages(&typed(json!({ "type": "text", "text": "hi", "timestamp": 3 })))
    );
    let data = |time: u8| messages(&typed(json!({ "event": "login", "timestamp": time })));
    assert_ne!(data(1), data(2), "content without a type is a tool's data");
}

#[test]
fn nothing_else_is_left_out_and_arguments_always_count() {
    for field in ["timestamp", "run_id", "conversation_id"] {
        let call = |value: u8| json!([{ "parts": [{ "part_kind": "tool-call", "args": { field: value } }] }]);
        assert_ne!(messages(&call(1)), messages(&call(2)), "{field} in an argument");
        let call = |value: u8| json!([{ "role": "assistant", "tool_calls": [{ "args": { field: value } }] }]);
        assert_ne!(messages(&call(1)), messages(&call(2)), "{field} in an argument");
        let returned =
            |value: u8| json!([{ "parts": [{ "part_kind": "tool-return", "content": [{ field: value }] }] }]);
        assert_ne!(messages(&returned(1)), messages(&returned(2)), "{field} in a tool's result");
        assert_ne!(tool(&json!({ field: 1 })), tool(&json!({ field: 2 })), "{field} in a tool's argument");
        assert_ne!(settings(&json!({ field: 1 })), settings(&json!({ field: 2 })), "{field} in the settings");
    }
    for field in ["run_id", "conversation_id"] {
        let part = |value: u8| json!([{ "parts": [{ field: value }] }]);
        assert_ne!(messages(&part(1)), messages(&part(2)), "{field} of a part");
    }
}

#[test]
fn settings_of_the_transport_do_not_count_and_empty_settings_count_as_none() {
    let none = model(&ModelRequest::new("m", "hi"));
    for transport in ["timeout", "request_timeout", "retries", "max_retries", "cache_key", "prompt_cache_key"] {
        assert_eq!(settings(&json!({ transport: 3 })), none, "{transport}");
        assert_eq!(settings(&json!({ transport: 3, "top_p": 1 })), settings(&json!({ "top_p": 1 })), "{transport}");
        let deeper = |value: u8| settings(&json!({ "extra_body": { transport: value } }));
        assert_ne!(deeper(1), deeper(2), "{transport}, deeper");
    }
    for empty in [json!({}), json!(null), json!({ "temperature": null })] {
        assert_eq!(settings(&empty), none, "{empty}");
    }
    assert_ne!(settings(&json!({ "temperature": 0 })), none);
}

#[test]
fn the_name_arguments_and_call_id_of_a_tool_count() {
    let args = json!({ "a": 1 });
    let base = || ToolRequest::new("t", &args);
    let all = [
        base(),
        ToolRequest::new("u", &args),
        ToolRequest::new("t", &json!({ "a": 2 })),
        base().call_id("x"),
        base().call_id("y"),
        base().call_id(""),
    ];
    let different: std::collections::BTreeSet<String> =
        all.iter().map(|call| call.fingerprint().unwrap().0.to_string()).collect();
    assert_eq!(different.len(), all.len());
}

#[test]
fn the_order_of_keys_does_not_matter_and_the_type_of_a_number_does() {
    #[derive(serde::Serialize)]
    struct Args {
        b: u8,
        a: u8,
    }
    let typed = ToolRequest::new("t", &Args { b: 2, a: 1 }).fingerprint().unwrap().0.to_string();
    assert_eq!(typed, tool(&json!({ "a": 1, "b": 2 })));
    assert_ne!(tool(&json!({ "a": 1 })), tool(&json!({ "a": 1.0 })));
    assert_ne!(tool(&json!([1, 2])), tool(&json!([2, 1])), "the order of a list matters");
    assert_ne!(tool(&json!(u64::MAX)), tool(&json!(u64::MAX - 1)));
}

#[test]
fn a_value_that_is_not_json_has_no_fingerprint() {
    let request = ModelRequest::new("m", "hi").settings(&not_json());
    assert_eq!(request.fingerprint().unwrap_err(), "`settings` is not JSON: key must be a string");
    let mut deep = json!(1);
    for _ in 0..300 {
        deep = json!([deep]);
    }
    let reason = ToolRequest::new("t", &deep).fingerprint().unwrap_err();
    assert_eq!(reason, "`args` is not JSON: more than 256 levels of nesting");
}

#[test]
fn floats_that_json_cannot_express_have_distinct_fingerprints() {
    let of = |temperature: Option<f64>| {
        model(&ModelRequest::new("m", "hi").settings(&std::collections::BTreeMap::from([("temperature", temperature)])))
    };
    let call = |value: f64, other: f64| {
        ToolRequest::new("t", &[Some(value), None, Some(other)]).fingerprint().unwrap().0.to_string()
    };
    let all = [
        of(None),
        of(Some(f64::NAN)),
        of(Some(f64::INFINITY)),
        of(Some(f64::NEG_INFINITY)),
        call(f64::NAN, 1.0),
        call(1.0, f64::NAN),
        ToolRequest::new("t", &[None::<f64>; 3]).fingerprint().unwrap().0.to_string(),
    ];
    assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), all.len());
}

#[test]
fn keys_that_are_no_strings_have_fingerprints_of_their_own() {
    use std::collections::{BTreeMap, HashMap};
    fn of(args: &(impl serde::Serialize + ?Sized)) -> String {
        ToolRequest::new("t", args).fingerprint().unwrap().0.to_string()
    }
    let number = |inside: u8| BTreeMap::from([(1, BTreeMap::from([(inside.to_string(), 2)]))]);
    let text = |inside: u8| BTreeMap::from([("1", BTreeMap::from([(inside, 2)]))]);
    let all = [
        of(&BTreeMap::from([(1, 2)])),
        of(&BTreeMap::from([("1", 2)])),
        of(&BTreeMap::from([(true, 2)])),
        of(&BTreeMap::from([("true", 2)])),
        of(&number(1)),
        of(&text(1)),
        of(&(BTreeMap::from([(1, 2)]), BTreeMap::from([("1", 2)]))),
        of(&(BTreeMap::from([("1", 2)]), BTreeMap::from([(1, 2)]))),
    ];
    assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), all.len());
    // A map may have any order.
    let many: HashMap<u8, u8> = (0..50).map(|n| (n, n)).collect();
    assert_eq!(of(&many), of(&many.iter().collect::<BTreeMap<_, _>>()));
}
