//! A shape as lines of text: one key a line, what is inside it indented below.

use std::rc::Rc;

use super::merge::{Field, Fields, Keep, List, Shape};
use super::notation;

/// How many characters a list of objects may have to stand on the line of its key.
const INLINE: usize = 80;

/// Words that the name of a variant must not be taken for.
const TYPES: [&str; 5] = ["boolean", "null", "number", "object", "string"];

/// Appends the tree of an event label: the label, alone where all payloads are objects, and the fields below it.
pub(super) fn print(label: &str, shape: &Shape, keep: Keep, out: &mut String) {
    let (text, below) = describe(shape, "", keep);
    let text = if text == "object" { String::new() } else { text };
    write(&[Line { name: label.to_owned(), text, below }], 0, out);
}

/// A name, what was seen there, and the lines of what is inside.
struct Line {
    name: String,
    text: String,
    below: Vec<Line>,
}

fn write(lines: &[Line], depth: usize, out: &mut String) {
    let width = lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
    for Line { name, text, below } in lines {
        out.extend(std::iter::repeat_n("  ", depth));
        out.push_str(name);
        if !text.is_empty() {
            out.extend(std::iter::repeat_n(' ', width - name.chars().count() + 2));
            out.push_str(text);
        }
        out.push('\n');
        write(below, depth + 1, out);
    }
}

/// The text for a shape, and the lines to stand below. `place` is where it is as seen from these lines: nowhere, or
/// `[]`, `[][]` for the elements of lists.
fn describe(shape: &Shape, place: &str, keep: Keep) -> (String, Vec<Line>) {
    let mut lines = Vec::new();
    let object = shape.object.as_ref().map(|fields| {
        lines.extend(field_lines(fields, place, keep));
        "object".to_owned()
    });
    let list = shape.list.as_ref().map(|list| {
        inline_list(list, keep).unwrap_or_else(|| {
            let (text, below) = describe_list(list, place, keep);
            lines.extend(below);
            text
        })
    });
    (union(shape.scalars.iter().cloned().chain(object).chain(list), keep), lines)
}

fn describe_list(list: &List, place: &str, keep: Keep) -> (String, Vec<Line>) {
    let (mut words, mut lines) = (Vec::new(), Vec::new());
    for (kind, fields) in &list.variants {
        let kind = variant(kind);
        lines.extend(field_lines(fields, &inside(place, &kind), keep));
        words.push(kind);
    }
    if let Some(rest) = &list.rest {
        let (text, below) = describe(rest, &format!("{place}[]"), keep);
        lines.extend(below);
        words.push(text);
    }
    (format!("[{}]", union(words, keep)), lines)
}

fn field_lines(fields: &Fields, place: &str, keep: Keep) -> Vec<Line> {
    let line = |(key, field): (&Rc<str>, &Field)| {
        let (text, below) = describe(&field.shape, "", keep);
        Line { name: inside(place, &field_name(key, field)), text, below }
    };
    fields.iter().map(line).collect()
}

/// A shape in one piece. None where it is too long, or has variants whose fields need lines of their own.
fn inline(shape: &Shape, keep: Keep) -> Option<String> {
    let mut words = shape.scalars.clone();
    if let Some(fields) = &shape.object {
        let mut text = String::from(if fields.is_empty() { "object" } else { "{" });
        for (i, (key, field)) in fields.iter().enumerate() {
            text.push_str(if i == 0 { "" } else { ", " });
            text.push_str(&field_name(key, field));
            text.push_str(": ");
            text.push_str(&inline(&field.shape, keep)?);
            within(&text)?;
        }
        text.push_str(if fields.is_empty() { "" } else { "}" });
        words.push(text);
    }
    if let Some(list) = &shape.list {
        words.push(inline_list(list, keep)?);
    }
    let text = union(words, keep);
    within(&text)?;
    Some(text)
}

fn inline_list(list: &List, keep: Keep) -> Option<String> {
    if list.variants.values().any(|fields| !fields.is_empty()) {
        return None;
    }
    let rest = list.rest.as_ref().map(|rest| inline(rest, keep));
    let rest = if let Some(rest) = rest { Some(rest?) } else { None };
    let text = format!("[{}]", union(list.variants.keys().map(|kind| variant(kind)).chain(rest), keep));
    within(&text)?;
    Some(text)
}

/// Nothing if a text is too long to stand inline. Longer ones are given up early, so that no text is built twice at
/// each level that it is nested.
fn within(text: &str) -> Option<()> {
    (text.chars().take(INLINE + 1).count() <= INLINE).then_some(())
}

fn union(words: impl IntoIterator<Item = String>, keep: Keep) -> String {
    let mut words: Vec<String> = words.into_iter().collect();
    if keep == Keep::Types {
        words.sort_unstable();
    }
    words.join(" | ")
}

fn field_name(key: &str, field: &Field) -> String {
    format!("{}{}", notation::name(key), if field.optional { "?" } else { "" })
}

fn variant(kind: &str) -> String {
    if TYPES.contains(&kind) { notation::quoted(kind) } else { notation::name(kind).into_owned() }
}

fn inside(place: &str, name: &str) -> String {
    if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::merge::{Merger, Seen};
    use crate::json::Json;

    fn tree(keep: Keep, payloads: &[&str]) -> String {
        let payloads: Vec<Json> = payloads.iter().map(|text| Json::parse(text.as_bytes()).unwrap()).collect();
        let normalize = |text: &str| text.replace("u-1", "<ID>");
        let (mut merger, mut seen) = (Merger::new(keep, &normalize), Seen::default());
        for payload in &payloads {
            merger.add(payload, &mut seen);
        }
        let shape = merger.finish(seen);
        let mut out = String::new();
        print("event", &shape, keep, &mut out);
        out
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
                "  a            null | number",
                "  b?           number",
                "  \"long name\"  object",
                "    x   boolean | string",
                "    y?  object",
            ],
        );
    }

    #[test]
    fn elements_are_told_apart_by_type_or_else_by_role() {
        let list = r#"{"m": [{"type": "ai", "role": "x", "id": 1}, {"type": "tool", "role": "x"}, "text", null]}"#;
        check(
            &[list, r#"{"m": [{"type": "ai", "role": "x", "more": [true]}]}"#],
            &[
                "event",
                "  m  [ai | null | string | tool]",
                "    ai.id?     number",
                "    ai.more?   [boolean]",
                "    ai.role    string",
                "    tool.role  string",
            ],
        );
        let list = r#"{"m": [{"type": 1, "role": "user", "text": ""}, {"role": "null"}]}"#;
        check(&[list], &["event", "  m  [\"null\" | user]", "    user.text  string", "    user.type  number"]);
    }

    #[test]
    fn short_lists_of_objects_stand_on_the_line() {
        let calls =
            r#"{"calls": [{"id": "a", "args": {}}, {"id": "b", "args": {}, "x": {"y": [1, "2"]}}], "none": []}"#;
        check(&[calls], &["event", "  calls  [{args: object, id: string, x?: {y: [number | string]}}]", "  none   []"]);
    }

    #[test]
    fn long_lists_of_objects_get_lines() {
        let key = "k".repeat(60);
        check(
            &[&format!(r#"[[{{"{key}": 1, "o": {{"p": ""}}, "l": [{{"type": "t", "q": 1}}]}}], null]"#)],
            &[
                "event  [[object] | null]",
                &format!("  [][].{key}  number"),
                &format!("  [][].l{}  [t]", " ".repeat(59)),
                "    t.q  number",
                &format!("  [][].o{}  object", " ".repeat(59)),
                "    p  string",
            ],
        );
        let edge = |length: usize| format!(r#"{{"l": [{{"{}": 1}}]}}"#, "k".repeat(length));
        assert_eq!(tree(Keep::Types, &[&edge(68)]).lines().count(), 2);
        assert_eq!(tree(Keep::Types, &[&edge(69)]).lines().count(), 3);
    }

    #[test]
    fn a_list_as_payload_stands_beside_the_label() {
        check(
            &[r#"[{"content": "", "type": "ai"}, {"step": 1}]"#, r#"[{"step": 1}]"#],
            &["event  [{content?: string, step?: number, type?: string}]"],
        );
        check(&["[1]", r#"{"a": 1}"#, "null"], &["event  [number] | null | object", "  a  number"]);
    }

    #[test]
    fn keys_that_normalize_to_one_are_one() {
        check(&[r#"{"u-1": 1, "u-11": ""}"#, r#"{"u-1": 1}"#], &["event", "  <ID>    number", "  <ID>1?  string"]);
        let shape = tree(Keep::Types, &[r#"{"au-1": 1, "a<ID>": ""}"#, r#"{"au-1": 1}"#]);
        assert_eq!(shape, "event\n  a<ID>  number | string\n");
    }

    #[test]
    fn values_stand_in_order_and_are_counted_past_twenty() {
        let payloads = [r#"{"a": "z", "l": [1, 2], "o": {"x": null}}"#, r#"{"a": "u-1", "o": 7}"#, r#"{"a": "z"}"#];
        let lines = ["event", "  a   \"z\" | \"<ID>\"", "  l?  [1 | 2]", "  o?  7 | object", "    x  null", ""];
        assert_eq!(tree(Keep::Values, &payloads), lines.join("\n"));
        let many: Vec<String> = (0..23).map(|n| format!("[{n}]")).collect();
        let many = tree(Keep::Values, &many.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(many.ends_with("| 18 | 19 | … 3 more]\n"), "{many}");
    }

    #[test]
    fn deep_nesting_prints() {
        let deep = format!("{}{}", r#"[{"a":"#.repeat(120) + "1", "}]".repeat(120));
        let start = std::time::Instant::now();
        assert!(tree(Keep::Types, &[&deep]).lines().count() > 100);
        assert!(start.elapsed().as_secs() < 5);
    }
}
