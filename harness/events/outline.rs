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
    write(&[TreeLine { name: label.to_owned(), text, below }], 0, out);
}

/// A name, what was seen there, and the lines of what is inside.
struct TreeLine {
    name: String,
    text: String,
    below: Vec<TreeLine>,
}

fn write(lines: &[TreeLine], depth: usize, out: &mut String) {
    let width = lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
    for TreeLine { name, text, below } in lines {
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
fn describe(shape: &Shape, place: &str, keep: Keep) -> (String, Vec<TreeLine>) {
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

fn describe_list(list: &List, place: &str, keep: Keep) -> (String, Vec<TreeLine>) {
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

fn field_lines(fields: &Fields, place: &str, keep: Keep) -> Vec<TreeLine> {
    let line = |(key, field): (&Rc<str>, &Field)| {
        let (text, below) = describe(&field.shape, "", keep);
        TreeLine { name: inside(place, &field_name(key, field)), text, below }
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
    if TYPES.contains(&kind) { notation::json_quoted(kind) } else { notation::name(kind).into_owned() }
}

fn inside(place: &str, name: &str) -> String {
    if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") }
}

#[cfg(test)]
mod tests;
