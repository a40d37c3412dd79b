//! A span of a trace, independent of the format that it came in.

use std::collections::BTreeMap;

use retake_core::json::{Json, Object};

use super::lack::Lack;
use super::otlp::number;

/// One span, or one observation of Langfuse.
#[derive(Clone, Debug, Default)]
pub(crate) struct Span {
    pub(super) trace: String,
    pub(super) id: String,
    pub(super) parent: String,
    pub(super) name: String,
    /// Nanoseconds since 1970; 0 if they are not known.
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) fields: BTreeMap<String, Json>,
    /// The events in it, each with its name under `event.name`, and the log records about it.
    pub(super) events: Vec<(u64, Object)>,
    /// How many attributes were dropped, as the exporter says.
    pub(super) dropped: u64,
    /// Why it failed, if it did.
    pub(super) failed: Option<String>,
}

/// The names in a text, which are separated by spaces.
pub(super) fn names(of: &str) -> impl Iterator<Item = &str> {
    of.split_ascii_whitespace()
}

/// Whether a word is one of these.
pub(super) fn is_among(word: &str, of: &str) -> bool {
    names(of).any(|name| name == word)
}

/// The letters of a word, which are the same whichever case and separators it is written in: `toolCallId`, `tool_call_id`.
fn letters(word: &str) -> impl Iterator<Item = u8> + '_ {
    word.bytes().filter(|byte| !matches!(byte, b'_' | b'-' | b'$' | b' ')).map(|byte| byte.to_ascii_lowercase())
}

/// A word in lower case and without separators.
pub(super) fn folded(word: &str) -> String {
    letters(word).map(char::from).collect()
}

/// The first of these fields that is there and not null. Their names are folded.
pub(super) fn field<'a>(value: &'a Json, of: &str) -> Option<&'a Json> {
    let fields = value.as_object()?;
    let there = fields.iter().filter(|(_, held)| **held != Json::Null);
    names(of).find_map(|name| there.clone().find(|(field, _)| letters(field).eq(name.bytes())).map(|(_, held)| held))
}

/// The first of these fields that is a text with something in it.
pub(super) fn text_field<'a>(value: &'a Json, of: &str) -> Option<&'a str> {
    names(of).find_map(|name| field(value, name)?.as_str().filter(|text| !text.is_empty()))
}

/// An object whose fields have names such as `message.role`, as the tree that they spell; `None` if it has none of these.
pub(super) fn undotted(value: &Json) -> Option<Json> {
    const HEADS: [&str; 3] = ["message.", "tool_call.", "message_content."];
    let fields = value.as_object()?;
    if !fields.keys().any(|name| HEADS.iter().any(|head| name.starts_with(head))) {
        return None;
    }
    tree(fields.iter().map(|(name, held)| (name.splitn(DEPTH, '.').collect(), held)).collect(), "").ok()
}

impl Span {
    /// The value of an attribute; of `name.0.…` and so on if the attribute was flattened.
    /// Fails if a flattened list lacks elements: what is missing.
    pub(super) fn value(&self, name: &str) -> Result<Option<Json>, String> {
        match self.fields.get(name) {
            Some(value) => Ok(Some(value.clone()).filter(|value| *value != Json::Null && value.as_str() != Some(""))),
            None if self.is_flattened(name) => tree(self.parts(name).collect(), name).map(Some),
            None => Ok(None),
        }
    }

    /// The text of an attribute.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name)?.as_str().filter(|text| !text.is_empty())
    }

    /// The first of these attributes that has a text. Their names are separated by spaces.
    pub(super) fn first_text(&self, of: &str) -> Option<&str> {
        names(of).find_map(|name| self.text(name))
    }

    /// What is in the first of these attributes that is whole.
    pub(super) fn opened(&self, of: &str) -> Option<Json> {
        names(of).find_map(|name| opened(self.fields.get(name)?).ok())
    }

    /// The first of these attributes that is a number.
    pub(super) fn count(&self, of: &str) -> Option<u64> {
        names(of).find_map(|name| number(self.fields.get(name)))
    }

    /// Whether an attribute is spread over `name.0.…`, `name.1.…`.
    pub(super) fn is_flattened(&self, name: &str) -> bool {
        !self.fields.contains_key(name) && self.parts(name).next().is_some()
    }

    fn parts<'a>(&'a self, name: &str) -> impl Iterator<Item = (Vec<&'a str>, &'a Json)> {
        let prefix = format!("{name}.");
        let from = self.fields.range(prefix.clone()..);
        let of_name = from.map_while(move |(key, value)| Some((key.strip_prefix(&prefix)?, value)));
        of_name
            .map(|(rest, value)| (rest.splitn(DEPTH, '.').collect(), value))
            .filter(|(path, _): &(Vec<&str>, _)| is_index(path[0]))
    }
}

fn is_index(part: &str) -> bool {
    !part.is_empty() && part.len() < 7 && part.bytes().all(|byte| byte.is_ascii_digit())
}

/// The most names between dots; damaged traces may have any number.
const DEPTH: usize = 32;

/// The tree that names with dots spell; where all names at one place are numbers, it is a list.
fn tree(parts: Vec<(Vec<&str>, &Json)>, at: &str) -> Result<Json, String> {
    let mut below: BTreeMap<&str, Vec<(Vec<&str>, &Json)>> = BTreeMap::new();
    for (path, value) in parts {
        below.entry(path[0]).or_default().push((path[1..].to_vec(), value));
    }
    let (is_list, mut entries) = (below.keys().all(|name| is_index(name)), Vec::new());
    for (name, mut held) in below {
        let leaf = held.first().filter(|(path, _)| path.is_empty() && held.len() == 1).map(|(_, leaf)| (*leaf).clone());
        held.retain(|(path, _)| !path.is_empty());
        entries.push((name.to_owned(), leaf.map_or_else(|| tree(held, &format!("{at}.{name}")), Ok)?));
    }
    if !is_list {
        return Ok(Json::object(entries));
    }
    let index = |(name, _): &(String, Json)| name.parse::<usize>().unwrap_or(usize::MAX);
    entries.sort_by_key(index);
    if let Some((missing, there)) = entries.iter().enumerate().find(|(place, entry)| *place != index(entry)) {
        return Err(format!("`{at}.{missing}` is missing, but `{at}.{}` is there", there.0));
    }
    Ok(Json::Array(entries.into_iter().map(|(_, value)| value).collect()))
}

/// The value of an attribute, or of a part of one: if it is a text that holds JSON, also encoded twice, that JSON.
/// Fails if the text is only the beginning of one.
pub(super) fn opened(value: &Json) -> Result<Json, Lack> {
    let Json::Str(text) = value else { return Ok(value.clone()) };
    let begins = text.trim_start().as_bytes().first();
    if !matches!(begins, Some(b'{' | b'[' | b'"')) {
        return Ok(value.clone());
    }
    // Nothing is wrong with a beginning but that it ends.
    let whole = before_cut(text.trim_end()).unwrap_or(text);
    let is_cut = || serde_json::from_str::<serde::de::IgnoredAny>(whole).is_err_and(|error| error.is_eof());
    match Json::parse_request(text.trim().as_bytes()) {
        Ok(json) => opened(&json),
        Err(_) if begins != Some(&b'"') && is_cut() => Err(Lack::Cut),
        Err(_) => Ok(value.clone()),
    }
}

/// What stands before the mark that tools put where they cut a text: `[truncated]`, `<truncated>`, `... (truncated)`.
pub(super) fn before_cut(text: &str) -> Option<&str> {
    let before = text.strip_suffix([']', '>', ')'])?.strip_suffix("truncated")?;
    let is_prose =
        before.ends_with('(') && !before.ends_with(".(") && !before.ends_with(". (") && !before.ends_with("… (");
    before.strip_suffix(['[', '<', '(']).filter(|_| !is_prose).map(|before| before.trim_end_matches(['.', '…', ' ']))
}

/// The spans of each trace by their start, and the traces by theirs.
pub(super) fn by_trace(mut spans: Vec<Span>) -> Vec<Vec<Span>> {
    spans.sort_by(|one, other| (&one.trace, one.start).cmp(&(&other.trace, other.start)));
    let mut traces: Vec<Vec<Span>> = spans.chunk_by(|one, other| one.trace == other.trace).map(<[_]>::to_vec).collect();
    traces.sort_by_key(|trace| trace[0].start);
    traces
}
