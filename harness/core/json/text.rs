//! A JSON value that is kept as text, so a recorded body keeps its order of keys and its spelling, and need not be printed
//! each time it is sent.

use std::fmt;

use bytes::Bytes;

use super::parser::Parser;
use super::printer::{Layout, newline, print_string};
use super::value::Json;

/// A JSON value as compact text, with its original order of keys and spelling of numbers and strings. Clones share the text.
#[derive(Clone, PartialEq, Eq)]
pub struct JsonText(Bytes);

impl JsonText {
    /// Creates the text of a JSON value, without white space. Returns `None` if a JSON file could not store the value
    /// faithfully: the text is not JSON, an object has the same key twice, or a string has a lone surrogate.
    pub fn of(text: &str) -> Option<JsonText> {
        Json::parse_unique(text.as_bytes()).ok()?;
        Some(JsonText::of_parsed(text))
    }

    /// Like [`of`](JsonText::of), for a text that was already parsed.
    pub(super) fn of_parsed(text: &str) -> JsonText {
        let mut out = String::with_capacity(text.len());
        tokens(text).for_each(|token| out.push_str(token));
        JsonText(out.into())
    }

    /// Returns the value itself.
    pub fn json(&self) -> Json {
        // This cannot fail: the text was parsed before, or printed from a value.
        Json::parse(&self.0).unwrap_or(Json::Null)
    }

    /// Returns the text as the bytes of an HTTP body.
    pub fn bytes(&self) -> Bytes {
        self.0.clone()
    }

    /// Returns the texts of a list's elements; none if this is no list.
    pub fn elements(&self) -> Vec<&str> {
        if self.is_array() { Parser::of(self.text()).elements() } else { Vec::new() }
    }

    pub fn is_array(&self) -> bool {
        self.0.first() == Some(&b'[')
    }

    /// Returns the text of a changed value, in the order and spelling of this text: unchanged parts keep every byte. `before`
    /// is the value of this text, `after` is the changed value, and `renamed` returns the new name of a key.
    pub fn changed(&self, before: &Json, after: &Json, renamed: &dyn Fn(&str) -> String) -> JsonText {
        let mut out = String::with_capacity(self.0.len());
        change(&mut tokens(self.text()), before, after, renamed, &mut out);
        JsonText(out.into())
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Appends the text with an indent of two spaces for each level, beginning at the level `depth`.
    pub(super) fn print_pretty(&self, out: &mut String, mut depth: usize) {
        let mut opened = false;
        for token in tokens(self.text()) {
            let closes = matches!(token, "}" | "]");
            depth -= usize::from(closes);
            if opened != closes {
                newline(out, depth);
            }
            out.push_str(token);
            opened = matches!(token, "{" | "[");
            depth += usize::from(opened);
            match token {
                "," => newline(out, depth),
                ":" => out.push(' '),
                _ => {}
            }
        }
    }
}

impl From<&Json> for JsonText {
    fn from(json: &Json) -> JsonText {
        JsonText(json.print(Layout::Compact).into())
    }
}

impl fmt::Debug for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// Returns the tokens of a JSON text, without white space: each bracket, comma, colon, string, number or literal.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches([' ', '\t', '\n', '\r']);
        let end = match rest.as_bytes().first()? {
            b'"' => string_end(rest.as_bytes()),
            b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
            _ => rest.find([',', '}', ']', ' ', '\t', '\n', '\r']).unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(end);
        rest = after;
        Some(token)
    })
}

/// Returns the offset after the string with which a text begins; the length of the text if the string does not end.
pub(super) fn string_end(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(found) = text.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        if text[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    text.len()
}

/// Appends one value. Its tokens in the old text are the next ones of `words`.
fn change<'a>(
    words: &mut impl Iterator<Item = &'a str>,
    before: &Json,
    after: &Json,
    renamed: &dyn Fn(&str) -> String,
    out: &mut String,
) {
    match (before, after) {
        (Json::Object(old), Json::Object(new)) if before != after && old.len() == new.len() => {
            out.extend(words.next());
            while let Some(word) = words.next() {
                if matches!(word, "," | "}") {
                    out.push_str(word);
                    if word == "}" {
                        break;
                    }
                    continue;
                }
                let key = Json::parse(word.as_bytes()).ok().and_then(Json::into_string).unwrap_or_default();
                let new_key = if new.contains_key(&*key) { key.clone() } else { renamed(&key) };
                if new_key == key {
                    out.push_str(word);
                } else {
                    print_string(&new_key, out);
                }
                out.extend(words.next());
                let values = (old.get(&*key).unwrap_or(&Json::Null), new.get(&*new_key).unwrap_or(&Json::Null));
                change(words, values.0, values.1, renamed, out);
            }
        }
        (Json::Array(old), Json::Array(new)) if before != after && old.len() == new.len() => {
            out.extend(words.next());
            for (i, (before, after)) in old.iter().zip(new).enumerate() {
                if i > 0 {
                    out.extend(words.next());
                }
                change(words, before, after, renamed, out);
            }
            out.extend(words.next());
        }
        _ => {
            let same = before == after;
            let mut depth = 0_usize;
            for word in words {
                if same {
                    out.push_str(word);
                }
                match word {
                    "{" | "[" => depth += 1,
                    "}" | "]" => depth -= 1,
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
            }
            if !same {
                after.print_to(out, Layout::Compact);
            }
        }
    }
}
