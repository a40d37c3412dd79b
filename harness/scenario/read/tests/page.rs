//! Writes a page of the reference: a section for each table and a row for each field, in the order of their declarations.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::schema::FieldDoc;

/// Returns the page of a schema with these fields.
pub(super) fn of(
    head: &str,
    schema: &Value,
    told: &BTreeMap<(String, String), FieldDoc>,
    fields: &[String],
    tail: &str,
) -> String {
    let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
    for path in fields {
        let (table, field) = path.rsplit_once('.').unwrap_or(("", path));
        match sections.iter_mut().find(|(of, _)| *of == table) {
            Some((_, rows)) => rows.push(field),
            None => sections.push((table, vec![field])),
        }
    }
    let mut page = format!("{}\n", head.trim_end());
    for (table, rows) in sections {
        let (name, of_table) = find(schema, table);
        if !table.is_empty() {
            write!(page, "\n## `{}`\n", title(schema, table)).unwrap();
        }
        page += "\n| field | type | default | meaning, and an example |\n|---|---|---|---|\n";
        let required = |field: &str| {
            of_table["required"].as_array().is_some_and(|required| required.iter().any(|known| known == field))
        };
        for field in rows {
            let FieldDoc { meaning, default, example } = &told[&(name.clone(), field.to_owned())];
            let default = match default {
                Some(default) if default.starts_with(|c: char| c.is_ascii_alphabetic()) && !is_word(default) => {
                    default.clone()
                }
                Some(default) => format!("`{default}`"),
                None if required(field) => "required".to_owned(),
                None => String::new(),
            };
            let kind = kind(&of_table["properties"][field]);
            let cells = [format!("`{field}`"), kind, default, format!("{meaning} `{field} = {example}`")];
            // A vertical bar in a cell would end it.
            writeln!(page, "| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | ")).unwrap();
        }
    }
    page + tail
}

fn is_word(default: &str) -> bool {
    ["true", "false"].contains(&default)
}

/// Returns the table at a path, and the name of its type.
fn find<'a>(schema: &'a Value, path: &str) -> (String, &'a Value) {
    let mut at = (String::new(), schema);
    for part in path.split('.').filter(|part| !part.is_empty()) {
        let next = if part == "*" { &at.1["additionalProperties"] } else { &at.1["properties"][part] };
        at = table_of(schema, next).unwrap_or_else(|| panic!("there is no table at {path}"));
    }
    at
}

/// Returns the table that a value is, or that it contains.
fn table_of<'a>(schema: &'a Value, value: &'a Value) -> Option<(String, &'a Value)> {
    if let Some(name) = value["$ref"].as_str().and_then(|to| to.strip_prefix("#/definitions/")) {
        return Some((name.to_owned(), &schema["definitions"][name]));
    }
    if value.get("additionalProperties").is_some_and(Value::is_object) {
        return Some((String::new(), value));
    }
    let within = ["anyOf", "allOf"].iter().flat_map(|key| value[*key].as_array().into_iter().flatten());
    within.chain(value.get("items")).find_map(|value| table_of(schema, value))
}

/// Returns how a table is written in the file: `[systems.NAME]`, `[[step]]`; a table in a table is `[[step]] stream`.
fn title(schema: &Value, path: &str) -> String {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let is_list = schema["properties"][first]["type"].as_array().map_or_else(
        || schema["properties"][first]["type"] == "array",
        |types| types.iter().any(|kind| kind == "array"),
    );
    let (name, rest) = match rest.strip_prefix('*') {
        Some(rest) => (format!("{first}.NAME"), rest.trim_start_matches('.')),
        None => (first.to_owned(), rest),
    };
    let name = if is_list { format!("[[{name}]]") } else { format!("[{name}]") };
    if rest.is_empty() { name } else { format!("{name} {rest}") }
}

/// Whether an alternative says what the value is. It may only say what the value is not.
fn says_what_it_is(choice: &Value) -> bool {
    ["type", "$ref", "anyOf", "allOf", "enum", "title"].iter().any(|key| choice.get(key).is_some())
}

/// Returns the type of a value, in words.
fn kind(value: &Value) -> String {
    if let Some(title) = value["title"].as_str() {
        return title.to_owned();
    }
    if let Some(words) = value["enum"].as_array() {
        // More than a reader takes in: the line of the field says where they are listed.
        if words.len() > 8 {
            return "name".to_owned();
        }
        let words = words.iter().filter_map(Value::as_str).map(|word| format!("`\"{word}\"`"));
        return words.collect::<Vec<_>>().join(", ");
    }
    let choices = value["anyOf"].as_array().or_else(|| value["allOf"].as_array());
    let kinds: Vec<String> = choices.into_iter().flatten().filter(|choice| says_what_it_is(choice)).map(kind).collect();
    if !kinds.is_empty() {
        return kinds.join(" or ");
    }
    if value.get("$ref").is_some() {
        return "table".to_owned();
    }
    let kind_of = |word: &str| match word {
        "string" => "string".to_owned(),
        "boolean" => "`true` or `false`".to_owned(),
        "integer" => "integer".to_owned(),
        "number" => "number".to_owned(),
        "array" => format!("list of {}", plural(&value["items"])),
        "object" if value["additionalProperties"].is_object() => {
            format!("table of {}, by name", plural(&value["additionalProperties"]))
        }
        "object" => "table".to_owned(),
        other => panic!("{other}"),
    };
    match &value["type"] {
        Value::String(word) => kind_of(word),
        Value::Array(words) => {
            let words = words.iter().filter_map(Value::as_str).filter(|word| *word != "null");
            words.map(kind_of).collect::<Vec<_>>().join(" or ")
        }
        other => panic!("{other} in {value}"),
    }
}

/// Returns the type of several values, in words: "strings".
fn plural(value: &Value) -> String {
    let kind = kind(value);
    // "list of strings": what is in it stands in the plural already.
    match kind.split_once(" of ") {
        Some((list, rest)) => format!("{list}s of {rest}"),
        None if kind.ends_with('s') => kind,
        None => format!("{}s", kind.trim_start_matches("any ")),
    }
}
