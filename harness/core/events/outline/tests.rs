use crate::events::held::Holdings;
use std::cell::RefCell;

use super::*;
use crate::events::ids::Ids;
use crate::events::merge::{Merger, Seen};
use crate::events::options::ShapeOptions;
use crate::events::shape::Known;
use crate::events::words::WordKeys;
use crate::json::Json;

fn tree(keep: Keep, payloads: &[&str]) -> String {
    let payloads: Vec<Json> = payloads.iter().map(|text| Json::parse(text.as_bytes()).unwrap()).collect();
    let normalize = |text: &str| text.replace("u-1", "<ID>");
    let (ids, words) = (Ids::default(), WordKeys::new(&[]));
    let (mut merger, mut seen) = (Merger::new(keep, &normalize, &ids, &words), Seen::default());
    for payload in &payloads {
        merger.add(payload, false, &mut seen);
    }
    merger.finish(&mut seen);
    let (options, pinned) = (ShapeOptions::default(), RefCell::default());
    let (known, holdings) = (Known::default(), Holdings::new());
    let chosen = Chosen::of(&[], &options, &normalize, &ids, false, (&known, &holdings));
    let tree = super::tree(
        &At::label("event", ""),
        &seen,
        None,
        keep,
        (&Pins::new("event", &options, &pinned), &chosen, None, HashSet::new()),
    );
    let block = golden::Block { head: Some(golden::Head::default()), trees: vec![tree], ..golden::Block::default() };
    let golden = golden::Golden { blocks: vec![block], ..golden::Golden::default() }.to_string();
    golden.trim_start().to_owned()
}

#[track_caller]
fn check(payloads: &[&str], lines: &[&str]) {
    assert_eq!(tree(Keep::Types, payloads).lines().collect::<Vec<_>>(), lines);
}

#[test]
fn objects_are_merged_key_by_key() {
    check(
        &[r#"{"a": 1, "long name": {"x": "", "y": {}}}"#, r#"{"a": null, "b": 1.5, "long name": {"x": true}}"#],
        &[
            "event",
            "  a          null | number",
            "  b?         number",
            "  \"long name\"        object",
            "    x          string | true",
            "    y?         object",
        ],
    );
}

#[test]
fn elements_are_distinguished_by_type_or_else_by_role() {
    let list = r#"{"m": [{"type": "ai", "role": "x", "id": 1}, {"type": "tool", "role": "x"}, "text", null]}"#;
    check(
        &[list, r#"{"m": [{"type": "ai", "role": "x", "more": [true]}]}"#],
        &[
            "event",
            "  m          [1..4 × ai | null | string | tool]",
            "    ai.id?     number",
            "    ai.more?   [true]",
            "    ai.role    \"x\"",
            "    tool.role  \"x\"",
        ],
    );
    let list = r#"{"m": [{"type": 1, "role": "user", "text": ""}, {"role": "null"}]}"#;
    check(&[list], &["event", "  m          [2 × \"null\" | user]", "    user.text  string", "    user.type  number"]);
}

#[test]
fn short_lists_of_objects_are_printed_on_the_line_of_their_key() {
    let calls = r#"{"calls": [{"id": "a", "args": {}}, {"id": "b", "args": {}, "x": {"y": [1, "2"]}}], "none": []}"#;
    check(
        &[calls],
        &["event", "  calls      [2 × {args: object, id: string, x?: {y: [2 × number | string]}}]", "  none       []"],
    );
}

#[test]
fn lists_below_a_key_that_differ_in_length_have_a_total() {
    let of = |calls: &str| format!(r#"{{"messages": [{{"type": "ai", "calls": [{calls}]}}]}}"#);
    let lines =
        |total: &str| vec!["event".to_owned(), "  messages   [ai]".to_owned(), format!("    ai.calls   {total}")];
    let check = |payloads: &[String], total: &str| {
        let payloads: Vec<&str> = payloads.iter().map(String::as_str).collect();
        assert_eq!(tree(Keep::Types, &payloads).lines().collect::<Vec<_>>(), lines(total));
    };
    check(&[of(""), of("1, 2"), of("1, 2")], "[0..2 × number, 4 in all]");
    check(&[of(""), of("1"), of("1, 2")], "[0..2 × number, 3 in all]");
    check(&[of("1, 2"), of("1, 2")], "[2 × number]");
}

#[test]
fn a_list_whose_elements_appear_in_a_different_order_is_marked_as_reordered() {
    let calls = |order: &str| format!(r#"{{"calls": [{order}]}}"#);
    let (a, b) = (r#"{"id": "0a0a0a0a0a0a"}"#, r#"{"id": "1b1b1b1b1b1b"}"#);
    let (one, other) = (calls(&format!("{a}, {b}")), calls(&format!("{b}, {a}")));
    check(&[&one, &one], &["event", "  calls      [2 × {id: 2 ids}]"]);
    check(&[&one, &other], &["event", "  calls      [2 × {id: 2 ids}, reordered]"]);
}

#[test]
fn long_lists_of_objects_get_their_own_lines() {
    let key = "k".repeat(60);
    check(
        &[&format!(r#"[[{{"{key}": 1, "o": {{"p": ""}}, "l": [{{"type": "t", "q": 1}}]}}], null]"#)],
        &[
            "event  [2 × [object] | null]",
            &format!("  [][].{key}  number"),
            "  [][].l     [t]",
            "    t.q        number",
            "  [][].o     object",
            "    p          string",
        ],
    );
    let edge = |length: usize| format!(r#"{{"l": [{{"{}": 1}}]}}"#, "k".repeat(length));
    assert_eq!(tree(Keep::Types, &[&edge(68)]).lines().count(), 2);
    assert_eq!(tree(Keep::Types, &[&edge(69)]).lines().count(), 3);
}

#[test]
fn a_payload_that_is_a_list_is_printed_next_to_the_label() {
    check(
        &[r#"[{"content": "", "type": "ai"}, {"step": 1}]"#, r#"[{"step": 1}]"#],
        &["event  [1..2 × {content?: string, step?: number, type?: \"ai\"}]"],
    );
    check(&["[1]", r#"{"a": 1}"#, "null"], &["event  [number] | null | object", "  a          number"]);
}

#[test]
fn keys_that_normalize_to_the_same_key_are_one_key() {
    check(&[r#"{"u-1": 1, "u-11": ""}"#, r#"{"u-1": 1}"#], &["event", "  <ID>       number", "  <ID>1?     string"]);
    let shape = tree(Keep::Types, &[r#"{"au-1": 1, "a<ID>": ""}"#, r#"{"au-1": 1}"#]);
    assert_eq!(shape, "event\n  a<ID>      number | string\n");
}

#[test]
fn values_are_printed_in_order_and_only_counted_after_twenty() {
    let payloads = [r#"{"a": "z", "l": [1, 2], "o": {"x": null}}"#, r#"{"a": "u-1", "o": 7}"#, r#"{"a": "z"}"#];
    let lines = [
        "event",
        "  a          \"z\" | \"<ID>\"",
        "  l?         [2 × 1 | 2]",
        "  o?         7 | object",
        "    x          null",
        "",
    ];
    assert_eq!(tree(Keep::Values, &payloads), lines.join("\n"));
    let many: Vec<String> = (0..23).map(|n| format!("[{n}]")).collect();
    let many = tree(Keep::Values, &many.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(many.ends_with("| 18 | 19 | … 3 more]\n"), "{many}");
}

#[test]
fn deep_nesting_can_be_printed() {
    let deep = format!("{}{}", r#"[{"a":"#.repeat(120) + "1", "}]".repeat(120));
    let start = std::time::Instant::now();
    assert!(tree(Keep::Types, &[&deep]).lines().count() > 100);
    assert!(start.elapsed().as_secs() < 5);
}
