use super::*;

fn json(yaml: &str) -> Json {
    Node::parse(yaml).unwrap().json()
}

fn of(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

#[test]
fn quotes_and_tags_determine_the_type_of_a_scalar() {
    let yaml = "a: yes\nb: 'yes'\nc: \"012\"\nd: 012\ne: !!str 012\nf: ! 12\ng: !!binary aGk=\nh: |\n  12\ni: !!int '12'\n\
                    j: !!python/unicode 'on'\nk: !!float 1\n";
    let expected = r#"{"a": true, "b": "yes", "c": "012", "d": 10, "e": "012", "f": "12", "g": "hi", "h": "12\n",
            "i": 12, "j": "on", "k": 1}"#;
    assert_eq!(json(yaml), of(expected));
}

#[test]
fn texts_of_several_lines_are_read_completely() {
    let yaml = "a: 'one\n  two\n\n  three'\nb: \"one\\\n  \\ two\\u2028\\x85\\\"\"\nc: |+\n  x\n\n\nd: >-\n  x\n  y\n\n  z\ne: |2-\n   x\n  y\n";
    let expected = "{\"a\": \"one two\\nthree\", \"b\": \"one two\\u2028\\u0085\\\"\", \"c\": \"x\\n\\n\\n\",\n\
            \"d\": \"x y\\nz\", \"e\": \" x\\ny\"}";
    assert_eq!(json(yaml), of(expected));
}

#[test]
fn indents_after_the_line_endings_of_yaml_1_1_are_removed() {
    let yaml = "a:\n  b: |\n    one\u{2028}    two\n      three\u{85}      four\n  c: 'x\u{2029}    y'\n";
    let expected = of(r#"{"a": {"b": "one\u2028two\n  three\n  four\n", "c": "x\u2029y"}}"#);
    assert_eq!(json(yaml), expected);
}

#[test]
fn aliases_are_replaced_by_their_values() {
    assert_eq!(
        json("a: &x [1, &y {b: c}]\nd: *x\ne: *y\n"),
        of(r#"{"a": [1, {"b": "c"}], "d": [1, {"b": "c"}], "e": {"b": "c"}}"#)
    );
}

#[test]
fn aliases_have_a_budget() {
    let values = (1..12).fold("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned(), |all, i| {
        let before = i - 1;
        format!("{all}a{i}: &a{i} [{}]\n", vec![format!("*a{before}"); 10].join(","))
    });
    let text = format!("a: &a {}\nb: [{}]\n", "long ".repeat(100_000), "*a,".repeat(100_000));
    for bomb in [values, text] {
        let error = Node::parse(&bomb).unwrap_err().to_string();
        assert!(error.contains("the aliases of this file stand for more than 32 MB"), "{error}");
    }
    let few = format!("a: &a {}\nb: [{}]\n", "long ".repeat(1000), "*a,".repeat(1000));
    assert_eq!(json(&few).pointer("/b").and_then(Json::as_array).map(<[Json]>::len), Some(1000));
}

#[test]
fn aliases_nest_no_deeper_than_lists() {
    let deep = (1..9).fold("a0: &a0 x\n".to_owned(), |all, i| {
        format!("{all}a{i}: &a{i} {}*a{}{}\n", "[".repeat(100), i - 1, "]".repeat(100))
    });
    let error = Node::parse(&deep).unwrap_err().to_string();
    assert!(error.contains("nest deeper than 256"), "{error}");
}

#[test]
fn invalid_yaml_is_an_error() {
    for (yaml, expected) in [
        ("a: [1, 2", "not YAML"),
        ("a: 1\n--- \nb: 2\n", "a second YAML document"),
        ("", "the file is empty"),
        ("? [a]\n: b\n", "a key that is a list or a map"),
    ] {
        let error = Node::parse(yaml).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let deep = "[".repeat(5000);
    assert!(Node::parse(&deep).is_err());
}

#[test]
fn the_last_of_equal_keys_counts_as_in_pyyaml() {
    for (yaml, expected) in [
        ("a: 1\nb: 2\na: 3\n", r#"{"a": 3, "b": 2}"#),
        ("a: {b: 1, c: 2, \"b\": 3}\n", r#"{"a": {"b": 3, "c": 2}}"#),
        ("- ? a\n  : 1\n  ? 'a'\n  : 2\n- a: 3\n", r#"[{"a": 2}, {"a": 3}]"#),
        // A map's own key replaces that of one it takes in.
        ("a: &x {b: 1}\nc: {b: 2, <<: *x}\n", r#"{"a": {"b": 1}, "c": {"b": 2}}"#),
    ] {
        assert_eq!(json(yaml), of(expected), "{yaml}");
    }
    let twice = Node::parse("a: 1\nA: {}\na: [2]\n").unwrap();
    assert!(twice.get("a").unwrap().list().is_some() && twice.get_any_case("A").unwrap().list().is_some());
}
