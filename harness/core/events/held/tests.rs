use super::*;
use crate::events::golden::Golden;

fn named(golden: &str) -> Vec<(String, String)> {
    let named = crate::events::marked::Passed::of(&Golden::parse(golden).unwrap());
    let mut all = Vec::new();
    for (label, Holding { held, not_held }) in named.holdings {
        assert!(not_held || !held.is_empty(), "`{label}` is there, of which nothing is named");
        all.extend(held.iter().map(|(held, manner)| (label.clone(), format!("{held}{manner}"))));
        all.extend(not_held.then(|| (label.clone(), "not held".to_owned())));
    }
    all.sort();
    all
}

#[test]
fn a_golden_names_the_places_of_its_texts() {
    let golden = r#"POST /runs
200 text/event-stream, with ids

start     {id}
"a  b"    …  /text = "a  /b by /c = \"x\"" (5, 0000)
messages  …  /choices/*/delta/tool_calls/*/arguments by /id and /choices/*/delta/tool_calls/*/index = "{}" (2, 0000)
          "/odd key/*" by * = "He said (2, growing)" (5, 0000, growing)
          "", "/a, b" by /c and /d, /e = "raw" (3, 0000, then whole)
values    {messages[1]}
          /messages/-1/content = "not a collapsed event"
tokens    …  (text not held)
numbers   …

messages
  content    string
"#;
    let expected = [
        ("\"a  b\"", "/text"),
        ("messages", "\"\", then whole"),
        ("messages", "\"/a, b\" by /c and /d, then whole"),
        ("messages", "\"/odd key/*\" by *, growing"),
        ("messages", "/choices/*/delta/tool_calls/*/arguments by /id and /choices/*/delta/tool_calls/*/index"),
        ("messages", "/e, then whole"),
        ("tokens", "not held"),
    ];
    assert_eq!(named(golden), expected.map(|(label, held)| (label.to_owned(), held.to_owned())));
}

#[test]
fn a_line_without_a_place_names_nothing() {
    for line in ["\"the text\" (8, 0000)", "… 3 more texts (0000)"] {
        let golden = format!("POST /runs\n200 text/event-stream\n\nmessages  …  {line}\n");
        assert_eq!(named(&golden), [], "{line}");
    }
}
