use super::*;
use proptest::prelude::*;

fn python(text: &str) -> String {
    Json::parse(text.as_bytes()).unwrap().print(Layout::Python)
}

#[test]
fn numbers_print_as_python_prints_them() {
    let cases = [
        ("-0", "0"),
        ("-0.0", "-0.0"),
        ("1e400", "Infinity"),
        ("-1e400", "-Infinity"),
        ("1e16", "1e+16"),
        ("1e15", "1000000000000000.0"),
        ("0.00001", "1e-05"),
        ("0.0001", "0.0001"),
        ("1.0", "1.0"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("-9223372036854775809", "-9223372036854775809"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("5e-324", "5e-324"),
        ("883474181113231.299", "883474181113231.2"),
        ("9007199254740993.0", "9007199254740992.0"),
        ("5.684341886080802e-14", "5.684341886080802e-14"),
        ("0.1234567890123456789", "0.12345678901234568"),
        ("NaN", "NaN"),
        ("-Infinity", "-Infinity"),
    ];
    for (text, printed) in cases {
        assert_eq!(python(text), printed, "{text}");
    }
}

#[test]
fn strings_print_as_python_prints_them() {
    assert_eq!(python(r#""a\/\u00e9\u0001\u007f\ud83d\ude00\b\f""#), "\"a/é\\u0001\u{7f}😀\\b\\f\"");
}

#[test]
fn str_of_values_is_pythons() {
    let value = Json::parse(br#"{"a": [null, true, 1e22, "it's", "\u0007\u200b\u0301"]}"#).unwrap();
    assert_eq!(value.python_str(), "{'a': [None, True, 1e+22, \"it's\", '\\x07\\u200b\u{301}']}");
}

#[test]
fn a_text_that_is_not_json_is_an_error_with_its_position() {
    let cases = [
        ("", "expected a JSON value, found the end of the text at line 1, column 1"),
        ("{\n \"é\" 1}", "expected `:`, found '1' at line 2, column 6"),
        ("[1,]", "expected a JSON value, found ']' at line 1, column 4"),
        ("01", "more text after the value at line 1, column 2"),
        ("\"\n\"", "a control character inside a string at line 1, column 2"),
        ("\"\\ud800\"", "a lone surrogate, which has no UTF-8 form at line 1, column 2"),
        ("\"\\u12g4\"", "expected four hex digits, found '1' at line 1, column 4"),
    ];
    for (text, message) in cases {
        assert_eq!(Json::parse(text.as_bytes()).unwrap_err().to_string(), message);
    }
    let deep = "[".repeat(100_000);
    assert!(Json::parse(deep.as_bytes()).unwrap_err().message.contains("levels of nesting"));
    assert!(Json::parse(b"\"\xff\"").unwrap_err().message.contains("not UTF-8"));
}

#[test]
fn pointers_count_from_the_end_too() {
    let value = Json::parse(br#"{"a/b": [1, {"~": 2}, 3]}"#).unwrap();
    assert_eq!(value.pointer("/a~1b/-1"), Some(&Json::Int(3)));
    assert_eq!(value.pointer("/a~1b/-2/~0"), Some(&Json::Int(2)));
    assert_eq!(value.pointer("/a~1b/-4"), None);
    assert_eq!(value.pointer("/a~1b/3"), None);
    assert_eq!(value.pointer("a"), None);
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<i64>().prop_map(Json::Int),
        (-1e300..1e300f64).prop_map(Json::Float),
        any::<String>().prop_map(Json::Str),
    ];
    leaf.prop_recursive(4, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
            prop::collection::btree_map(any::<String>(), inner, 0..6).prop_map(Json::object),
        ]
    })
}

proptest! {
    #[test]
    fn each_layout_reads_back(value in any_json()) {
        for layout in [Layout::Python, Layout::Compact, Layout::Pretty] {
            prop_assert_eq!(&Json::parse(value.print(layout).as_bytes()).unwrap(), &value);
        }
    }

    #[test]
    fn agrees_with_serde_json_on_what_is_json(text in "[\\[\\]{},:\"a0-9.eE+\\-\\\\nutrl ]{0,24}") {
        let ours = Json::parse(text.as_bytes());
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        // serde_json refuses numbers beyond f64, Python reads them as infinite.
        if theirs.is_ok() { prop_assert!(ours.is_ok(), "{}", text) }
        else if ours.is_ok() { prop_assert!(theirs.unwrap_err().to_string().contains("out of range")) }
    }

    #[test]
    fn no_input_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = Json::parse(&bytes);
    }
}

#[test]
fn the_elements_of_a_list_are_found_without_parsing_them() {
    let around = |text: &'static str| Json::parse_around(text.as_bytes(), "l").unwrap();
    let (rest, elements) = around(r#" {"a": 1, "l" : [ {"x": "]\"}"} , [1, [2]], "s\\" ,3 ], "b": [4]} "#);
    assert_eq!(rest.print(Layout::Compact), r#"{"a":1,"b":[4]}"#);
    let elements: Vec<Json> = elements.unwrap().iter().map(|e| Json::parse(e.as_bytes()).unwrap()).collect();
    assert_eq!(Json::Array(elements).print(Layout::Compact), r#"[{"x":"]\"}"},[1,[2]],"s\\",3]"#);
    assert_eq!(around(r#"{"l": []}"#), (Json::object::<String>([]), Some(vec![])));
    assert_eq!(around(r#"{"l": [ ]}"#).1, Some(vec![]));
    assert_eq!(around(r#"{"l": {"l": [1]}}"#).1, None);
    assert_eq!(around(r#"[{"l": [1]}]"#).1, None);
    // An error in an element is found when the element is parsed.
    assert_eq!(around(r#"{"l": [1,]}"#).1, Some(vec!["1", ""]));
    for torn in [r#"{"l": [1"#, r#"{"l": ["a\"#, r#"{"l": [1]"#, r#"{"l": [1] 2}"#] {
        assert!(Json::parse_around(torn.as_bytes(), "l").is_err(), "{torn}");
    }
}

const SPELLED: &str = r#"{"z": 1.0, "a": [1E5, -0, 123456789012345678901, {}, [ ]],
    "text": "caf\u00e9 \/ \ud83d\ude00", "b": {"y": null, "x": "{\"k\": 1}"}}"#;

#[test]
fn a_text_keeps_its_order_and_spelling_but_not_its_white_space() {
    let text = JsonText::of(SPELLED).unwrap();
    let compact = r#"{"z":1.0,"a":[1E5,-0,123456789012345678901,{},[]],"text":"caf\u00e9 \/ \ud83d\ude00","b":{"y":null,"x":"{\"k\": 1}"}}"#;
    assert_eq!(text.text(), compact);
    assert_eq!(text.json(), Json::parse(SPELLED.as_bytes()).unwrap());
    for twice_or_half in [r#"{"a": 1, "a": 2}"#, r#"["\ud83d"]"#, "{", "[1] 2"] {
        assert_eq!(JsonText::of(twice_or_half), None, "{twice_or_half}");
    }
}

#[test]
fn written_json_is_sorted_except_within_a_text() {
    let written = Written::object([
        ("b", Written::from(1_u64)),
        ("a", JsonText::of(r#"{"z":[1,{}],"a":{"c":[]}}"#).unwrap().into()),
    ]);
    let pretty = "{\n  \"a\": {\n    \"z\": [\n      1,\n      {}\n    ],\n    \"a\": {\n      \"c\": []\n    }\n  },\n  \"b\": 1\n}";
    assert_eq!(written.print(Layout::Pretty), pretty);
    assert_eq!(written.print(Layout::Compact), r#"{"a":{"z":[1,{}],"a":{"c":[]}},"b":1}"#);
}

#[test]
fn a_changed_value_keeps_the_order_and_spelling_of_its_unchanged_parts() {
    let text = JsonText::of(SPELLED).unwrap();
    let (before, mut after) = (text.json(), text.json());
    let Json::Object(fields) = &mut after else { panic!() };
    fields.insert("b".into(), Json::object([("Y", Json::Null), ("x", Json::from("changed"))]));
    let changed = text.changed(&before, &after, &|key| key.to_uppercase());
    let expected = text.text().replace(r#""y""#, r#""Y""#).replace(r#""{\"k\": 1}""#, r#""changed""#);
    assert_eq!(changed.text(), expected);
}

#[test]
fn keys_are_sorted_by_code_point_and_a_repeated_key_has_its_last_value() {
    let entries = |entries: &[(&str, i64)]| Json::object(entries.iter().map(|(key, n)| (*key, Json::Int(*n))));
    let mut json =
        entries(&[("b", 1), ("a", 2), ("\u{ffff}", 0), ("b", 3), ("B", 4), ("a", 5), ("b", 6), ("\u{10000}", 7)]);
    let printed = "{\"B\":4,\"a\":5,\"b\":6,\"\u{ffff}\":0,\"\u{10000}\":7}";
    assert_eq!(json.print(Layout::Compact), printed);
    assert_eq!(Json::parse(br#"{"b": 1, "a": 2, "b": 3, "B": 4}"#), Ok(entries(&[("B", 4), ("a", 2), ("b", 3)])));
    let object = json.as_object_mut().unwrap();
    object.extend([("b".into(), Json::Null), ("0".into(), Json::Null), ("b".into(), Json::Bool(true))]);
    assert_eq!(object.keys().take(4).collect::<Vec<_>>(), ["0", "B", "a", "b"]);
    assert_eq!(object.insert("b".into(), Json::Null), Some(Json::Bool(true)));
}

proptest! {
    #[test]
    fn every_text_parses_to_its_value_and_prints_like_it(json in any_json()) {
        let text = JsonText::from(&json);
        prop_assert_eq!(&text.json(), &json);
        prop_assert_eq!(Written::from(text).print(Layout::Pretty), json.print(Layout::Pretty));
    }
}

#[test]
fn half_an_emoji_in_a_request_is_a_replacement_character() {
    let read = |text: &str| Json::parse_request(text.as_bytes());
    assert_eq!(read(r#""a\ud83d""#), Ok("a\u{fffd}".into()));
    assert_eq!(read(r#""\ude00b""#), Ok("\u{fffd}b".into()));
    assert_eq!(read(r#""\ud83d\u0041\ud83d\ud83d\ude00""#), Ok("\u{fffd}A\u{fffd}\u{1f600}".into()));
    assert!(Json::parse(br#""\ud83d\u0041""#).is_err(), "other texts keep every character or are an error");
}
