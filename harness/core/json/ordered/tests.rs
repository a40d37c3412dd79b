use std::io::Write as _;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use super::*;
use crate::json::{Json, Layout};

fn str_of(text: &str) -> Option<String> {
    python_repr_at(text.as_bytes(), &[])
}

/// What `python3 -c 'import json, sys; print(str(json.loads(sys.argv[1])))'` prints.
#[test]
fn objects_in_lists_keep_the_order_of_their_keys() {
    for (text, printed) in [
        (r#"[{"b": 1, "a": {"d": [], "c": null}}]"#, "[{'b': 1, 'a': {'d': [], 'c': None}}]"),
        (r#"[{"b": 1, "a": 2, "b": 3}]"#, "[{'b': 3, 'a': 2}]"),
        (r#" { "z" : "it's" , "y" : [ 1e400 , -0 , 1.0 , true ] } "#, r#"{'z': "it's", 'y': [inf, 0, 1.0, True]}"#),
        (r#"[[], {}, [{}], "é\n"]"#, r"[[], {}, [{}], 'é\n']"),
    ] {
        assert_eq!(str_of(text).as_deref(), Some(printed), "{text}");
    }
}

#[test]
fn a_part_is_found_by_its_path() {
    let text = br#"{"messages": [{}, {"content": ["a", [{"b": 1, "a": 2}]]}]}"#;
    let path = [Step::Key("messages"), Step::Index(1), Step::Key("content"), Step::Index(1)];
    assert_eq!(python_repr_at(text, &path).as_deref(), Some("[{'b': 1, 'a': 2}]"));
    assert_eq!(python_repr_at(text, &[Step::Key("messages"), Step::Index(2)]), None);
}

/// A JSON text: objects with few keys in any order, some of them repeated.
fn text() -> impl Strategy<Value = String> {
    let string = "[ -~é😀'\"\\\\\n\u{7f}\u{200b}]{0,6}".prop_map(|text| Json::Str(text).print(Layout::Compact));
    let number =
        prop_oneof![any::<i64>().prop_map(|n| n.to_string()), "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,3})?(e-?[0-9]{1,2})?"];
    let word = prop_oneof![Just("null"), Just("true"), Just("false"), Just("NaN")].prop_map(str::to_owned);
    let leaf = prop_oneof![3 => string, 3 => number, 1 => word];
    leaf.prop_recursive(4, 24, 5, |inner| {
        let entry = ("[a-d']{1,2}", inner.clone()).prop_map(|(key, value)| format!("{key:?}: {value}"));
        prop_oneof![
            prop::collection::vec(inner, 0..5).prop_map(|items| format!("[{}]", items.join(", "))),
            prop::collection::vec(entry, 0..5).prop_map(|entries| format!("{{{}}}", entries.join(", "))),
        ]
    })
}

/// Where there is no Python 3, the examples above have to do.
#[test]
fn it_is_what_python_prints() {
    let program = "import json, sys\nfor line in sys.stdin: print(json.dumps(repr(json.loads(line))))";
    let python = Command::new("python3").args(["-c", program]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut python) = python else { return };
    let mut runner = TestRunner::deterministic();
    let texts: Vec<String> = (0..2_000).map(|_| text().new_tree(&mut runner).unwrap().current()).collect();
    let mut input = python.stdin.take().unwrap();
    let lines = texts.join("\n") + "\n";
    let writing = std::thread::spawn(move || input.write_all(lines.as_bytes()).unwrap());
    let output = python.wait_with_output().unwrap();
    writing.join().unwrap();
    let printed: Vec<&[u8]> = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    assert_eq!(printed.len(), texts.len());
    for (text, printed) in texts.iter().zip(printed) {
        let printed = Json::parse(printed).unwrap();
        assert_eq!(str_of(text).as_deref(), printed.as_str(), "{text}");
    }
}
