use super::*;

fn json(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

#[test]
fn a_path_is_shown_as_a_pointer_and_read_back() {
    let payload = json(r#"{"a": [{"b/c": "x", "*": "left out"}], "11111111-1111-4111-8111-111111111111": 1}"#);
    let mut shown = Vec::new();
    leaves(&payload, &mut |path, at, value| {
        let pointer = path.to_string();
        assert_eq!(Path::of(&pointer).as_ref(), Some(path), "{pointer}");
        shown.push(format!("{pointer} {at:?} {}", value.kind()));
    });
    // An object with other keys too is an ordinary object.
    assert_eq!(shown, ["/11111111-1111-4111-8111-111111111111 [] number", "/a/*/b~1c [0] string"]);
    assert_eq!(Path::default().to_string(), "\"\"");
    assert_eq!(Path::of("a"), None);
}

#[test]
fn values_under_ids_are_one_place() {
    let payload = json(r#"{"11111111-1111-4111-8111-111111111111": {"text": "x"}}"#);
    let mut found = Vec::new();
    leaves(&payload, &mut |path, _, _| found.push(path.clone()));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].to_string(), "/*/text");
    let mut texts = Vec::new();
    found[0].each(&payload, &mut |at, value| texts.push((at.to_vec(), value.as_str().unwrap())));
    assert_eq!(texts, [(vec![0], "x")]);
}

#[test]
fn what_belongs_to_a_value_is_in_the_same_elements() {
    let payload = json(r#"{"id": "m", "l": [{"i": 0, "t": "a"}, {"i": 1, "t": "b"}], "other": [{"i": 7}]}"#);
    let (text, index) = (Path::of("/l/*/t").unwrap(), Path::of("/l/*/i").unwrap());
    assert_eq!(index.beside(&payload, &text, &[1]), Some(&Json::Int(1)));
    assert_eq!(Path::of("/id").unwrap().beside(&payload, &text, &[1]), Some(&Json::from("m")));
    let of_other = Path::of("/other/*/i").unwrap();
    assert_eq!(of_other.beside(&payload, &text, &[0]), None);
    assert!(index.can_be_beside(&text) && !of_other.can_be_beside(&text));
}
