//! Reads a file as TOML, and rephrases the errors of the TOML reader and of serde for the person who edits the file.
//!
//! Visitors in `read/` may put lines of help after the first line of their message.

use serde::de::DeserializeOwned;

use super::raw::{RawScenario, RawStep};
use crate::source::Source;
use retake_base::error::{Error, Result, conflict};
use retake_base::text::listed;

/// The key under which the TOML reader hands a date to serde.
const DATE: &str = "$__toml_private_datetime";

/// Reads a text as TOML.
pub(super) fn read<T: DeserializeOwned>(source: &Source) -> Result<T> {
    toml::from_str(&source.text).map_err(|error| match conflict(&source.text) {
        Some(conflict) => conflict.in_file(&source.file),
        None => explain(&error, source),
    })
}

fn explain(error: &toml::de::Error, source: &Source) -> Error {
    let message = error.message();
    let explained = unknown(message, "field")
        .map(|(name, known)| unknown_field(name, &known))
        .or_else(|| unknown(message, "variant").map(|(name, known)| unknown_word(name, &known)))
        .or_else(|| wrong_type(message, source.text.get(error.span().unwrap_or_default()).unwrap_or_default()))
        .or_else(|| no_null(error, source))
        .unwrap_or_else(|| plain(message));
    let offset = error.span().map_or(0, |span| span.start);
    explained.in_file(&source.file).at(source.place(offset))
}

/// Returns the error "`x` is not one of …", with the most similar known word.
fn unknown_word(word: &str, known: &[&str]) -> Error {
    Error::new(format!("`{word}` is not one of {}", listed(known))).suggest(word, known.iter().copied())
}

fn unknown_field(name: &str, known: &[&str]) -> Error {
    if name == DATE {
        return Error::new("expected a table, found a date");
    }
    let (of_step, of_scenario) = (known.contains(&"post"), known.contains(&"step"));
    let error = Error::new(format!("unknown field `{name}`"));
    if of_step && has_field::<RawScenario>(name) {
        return error.help(format!("`{name}` belongs to the scenario: put it above the first [[step]]"));
    }
    if of_scenario && has_field::<RawStep>(name) {
        return error.help(format!("`{name}` belongs to a step: put [[step]] above it"));
    }
    error.suggest(name, known.iter().copied()).help(format!("known here: {}", listed(known)))
}

/// Whether a table has a field. Serde lists them all when it finds one that it does not know.
fn has_field<T: DeserializeOwned>(name: &str) -> bool {
    let refused = toml::from_str::<T>("no_field = 0").err();
    refused.is_some_and(|error| unknown(error.message(), "field").is_some_and(|(_, known)| known.contains(&name)))
}

/// Splits ``unknown field `x`, expected one of `a`, `b` `` into the unknown name and the known ones.
fn unknown<'a>(message: &'a str, what: &str) -> Option<(&'a str, Vec<&'a str>)> {
    let rest = message.strip_prefix("unknown ")?.strip_prefix(what)?.strip_prefix(" `")?;
    let (name, known) = rest.rsplit_once("`, expected ").or_else(|| rest.rsplit_once("`, there are no "))?;
    Some((name, known.split('`').skip(1).step_by(2).collect()))
}

/// Explains to writers of JSON, YAML and Python that TOML has no null.
fn no_null(error: &toml::de::Error, source: &Source) -> Option<Error> {
    let rest = source.text.get(error.span()?.start..)?;
    let word = rest.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
    if !["null", "nil", "none"].contains(&word.to_ascii_lowercase().as_str()) {
        return None;
    }
    let error = Error::new(format!("TOML has no `{word}`"));
    Some(error.help("leave the field out, or put a body with null into a file of its own: json_file = \"body.json\""))
}

/// Rephrases ``invalid type: integer `5`, expected a string`` in TOML's words, with the expected type first. `text` is the text
/// at that place.
fn wrong_type(message: &str, text: &str) -> Option<Error> {
    let rest = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "))?;
    let (found, expected) = rest.rsplit_once(", expected ")?;
    if found.contains(DATE) {
        return Some(Error::new("JSON has no dates").help("put quotes around it"));
    }
    let expected = match expected {
        "a sequence" => "a list",
        "a map" => "a table",
        "u8" | "i32" | "i64" => "a whole number",
        other => other,
    };
    let found = match found {
        // The reader hands a date to serde as a table.
        "map" if text.starts_with(|c: char| c.is_ascii_digit()) => format!("the date {text}"),
        "map" => "a table".to_owned(),
        "sequence" => "a list".to_owned(),
        other => other.replacen("floating point", "number", 1).trim_end_matches(" as i128").to_owned(),
    };
    let error = Error::new(format!("expected {expected}, found {found}"));
    Some(match (expected, found.as_str()) {
        ("a list", "a table") => error.help("a list of tables is written with two brackets: `[[name]]`"),
        ("a list", _) => error.help("a list is written in brackets: `[…]`"),
        ("a table", "a list") if text.starts_with("[[") => error.help("a table is written with one bracket: `[name]`"),
        _ => error,
    })
}

/// Turns a message into an error: its first line, and lines of help.
fn plain(message: &str) -> Error {
    let mut lines = message.lines();
    let first = Error::new(lines.next().unwrap_or_default());
    lines.fold(first, Error::help)
}
