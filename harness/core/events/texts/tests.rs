use super::*;
use crate::conversation::{Answer, Block};
use crate::events::golden::Golden;

/// Returns the lines of payloads that are read by what a line of a golden names. Each payload has its own line.
fn texts(named: &str, payloads: &[&str], recorded: &str) -> Vec<(usize, String)> {
    let golden = format!("GET /a\n200 text/event-stream\n\na         …  {named}\n");
    let named = crate::events::marked::Passed::of(&Golden::parse(&golden).unwrap());
    let recorded = Recorded::of(&[Answer { blocks: vec![Block::Text(recorded.to_owned())], ..Answer::default() }]);
    let mut messages = Messages::new(named.holdings.get("a"), &recorded, true);
    for (line, payload) in payloads.iter().enumerate() {
        messages.take(&Json::parse(payload.as_bytes()).unwrap(), line);
    }
    let lines =
        messages.finish("a", &|text: &str| text.replace("/work/7", "<workdir>"), &Turns::default(), &mut Vec::new());
    lines.into_iter().flat_map(|(line, texts)| texts.into_iter().map(move |text| (line, text.to_string()))).collect()
}

#[track_caller]
fn check(payloads: &[&str], expected: &[(usize, &str)]) {
    let expected: Vec<_> = expected.iter().map(|(line, text)| (*line, format!("/content by /id = {text}"))).collect();
    assert_eq!(texts("/content by /id = \"\" (0, e3b0)", payloads, "recorded"), expected);
}

#[test]
fn pieces_are_joined_by_message_however_they_are_cut() {
    let whole = &[(0, "\"hello\" (5, 2cf2)")];
    check(&[r#"{"id": "m1", "content": "hello"}"#], whole);
    check(
        &[r#"{"id": "m1", "content": "hel"}"#, r#"{"id": "m1", "content": ""}"#, r#"{"id": "m1", "content": "lo"}"#],
        whole,
    );
    // A piece that comes twice.
    check(&[r#"{"id": "m1", "content": "hello"}"#; 2], &[(0, "\"hellohello\" (10, 0a86)")]);
    check(&["[]", "null", r#"{"id": "m1"}"#, r#"{"id": "m1", "content": 7}"#], &[]);
}

#[test]
fn parallel_messages_begin_on_their_own_lines_and_those_on_one_line_are_sorted() {
    let (a, b) = (r#"{"id": "x", "content": "one "}"#, r#"{"id": "y", "content": "two "}"#);
    check(&[a, b, a, b], &[(0, "\"one one \" (8, aaa1)"), (1, "\"two two \" (8, 05f7)")]);
    let list = |ids: [&str; 2]| {
        let [a, b] = ids.map(|text| format!(r#"{{"id": "{text}", "content": "{text}"}}"#));
        texts("/*/content by /*/id = \"\" (0, e3b0)", &[&format!("[{a}, {b}]")], "recorded")
    };
    assert_eq!(list(["b", "a"]), list(["a", "b"]));
    assert_eq!(list(["b", "a"])[0].1, "/*/content by /*/id = \"a\" (1, ca97)");
}

#[test]
fn a_text_in_one_piece_grows_if_others_at_its_place_do() {
    let payloads =
        [r#"{"id": "x", "content": "h"}"#, r#"{"id": "x", "content": "hello"}"#, r#"{"id": "y", "content": "one"}"#];
    check(&payloads, &[(0, "\"hello\" (5, 2cf2, growing)"), (2, "\"one\" (3, 7692, growing)")]);
    let named = "/content by /id = \"\" (0, e3b0, growing)";
    assert!(texts(named, &payloads[2..], "recorded")[0].1.ends_with("(3, 7692, growing)"));
    // In several pieces it shows that it does not.
    let pieces = [r#"{"id": "x", "content": "on"}"#, r#"{"id": "x", "content": "e"}"#];
    assert!(texts(named, &pieces, "recorded")[0].1.ends_with("(3, 7692)"));
}

#[test]
fn a_text_is_normalized_as_a_whole_before_it_is_shortened() {
    check(
        &[r#"{"id": "m1", "content": "in /wo"}"#, r#"{"id": "m1", "content": "rk/7"}"#],
        &[(0, "\"in <workdir>\" (12, 3681)")],
    );
    let long = format!(r#"{{"id": "m1", "content": "{}"}}"#, "ä".repeat(61));
    let (_, shown) = texts("/content by /id = \"\" (0, e3b0)", &[&long], "").remove(0);
    assert!(shown.starts_with(&format!("/content by /id = \"{}…\" (61, ", "ä".repeat(60))), "{shown}");
}

#[test]
fn many_texts_on_one_line_are_held_by_one_hash() {
    let payload = |last: &str| {
        let items: Vec<String> = (0..14).map(|n| format!(r#"{{"id": "m{n:02}", "t": "text {n:02}"}}"#)).collect();
        texts("/*/t by /*/id = \"\" (0, e3b0)", &[&format!("[{}]", items.join(", ").replace("text 13", last))], "")
    };
    let lines = payload("text 13");
    assert_eq!(lines.len(), 13);
    assert!(lines[12].1.starts_with("/*/t by /*/id = … 2 more texts ("), "{}", lines[12].1);
    assert_ne!(payload("text 14"), lines);
}
