//! JSON as Python's `json` module reads and prints it.
//!
//! Keys are hashes of text that a Python program printed (KEY.md, section 2), so numbers have to survive a read and a
//! print to the byte: integers of any size, `repr` of floats, `-0` as `0`, `1e400` as `Infinity`. `serde_json::Value`
//! keeps none of these, and its `arbitrary_precision` would change number handling for every crate of a user's build.

mod object;
mod parser;
mod printer;
#[cfg(test)]
mod tests;
mod text;

use std::fmt;

pub use object::Object;
pub(crate) use parser::Step;
use smol_str::SmolStr;
pub use text::JsonText;

/// How deep arrays and objects may nest. Deeper input is refused, since reading it recurses.
pub const MAX_DEPTH: usize = 256;

/// One JSON value. Object keys are unique and sorted by code point; of a repeated key the last value counts.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer that fits 64 bits.
    Int(i64),
    /// The digits of an integer that does not.
    BigInt(Box<str>),
    /// Any number written with a fraction or an exponent; may be infinite or NaN, as in Python.
    Float(f64),
    /// A string.
    Str(String),
    /// An array.
    Array(Vec<Json>),
    /// An object.
    Object(Object),
}

/// Where and why a text is no JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// What was found and what was expected, a lower-case fragment.
    pub message: String,
    /// 1-based line.
    pub line: usize,
    /// 1-based column, in characters.
    pub column: usize,
}

impl JsonError {
    fn at(text: &[u8], (at, message): (usize, String)) -> JsonError {
        let before = &text[..at.min(text.len())];
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |i| i + 1);
        JsonError {
            message,
            line: memchr::memchr_iter(b'\n', before).count() + 1,
            column: String::from_utf8_lossy(&before[line_start..]).chars().count() + 1,
        }
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at line {}, column {}", self.message, self.line, self.column)
    }
}

impl std::error::Error for JsonError {}

/// The layout of printed JSON. Keys are sorted in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// `{"a": 1, "b": [1, 2]}`: what Python's `json.dumps` prints; the form that is hashed.
    Python,
    /// `{"a":1,"b":[1,2]}`: for the wire and for JSON lines.
    Compact,
    /// Two spaces of indent, one entry a line: for files that people review.
    Pretty,
}

impl Json {
    /// Reads one JSON text.
    ///
    /// # Errors
    /// The place and the reason, where the text is no JSON, is not UTF-8, nests deeper than [`MAX_DEPTH`], or holds a
    /// lone surrogate (which has no UTF-8 form).
    pub fn parse(text: &[u8]) -> Result<Json, JsonError> {
        utf8(text).and_then(parser::parse).map_err(|e| JsonError::at(text, e))
    }

    /// Reads an object whose list `list` may be too large to be held whole: gives the object without it, and the texts
    /// of its elements, each to be read by [`Json::parse`]; `None` where there is no such list.
    ///
    /// # Errors
    /// As [`Json::parse_unique`], but an element that is no JSON is only found when it is read.
    pub fn parse_around<'a>(text: &'a [u8], list: &str) -> Result<(Json, Option<Vec<&'a str>>), JsonError> {
        utf8(text).and_then(|text| parser::parse_around(text, list)).map_err(|e| JsonError::at(text, e))
    }

    /// Reads a JSON text in which a repeated key is a mistake: one that a person edits.
    ///
    /// # Errors
    /// As [`Json::parse`], and where an object has a key twice.
    pub fn parse_unique(text: &[u8]) -> Result<Json, JsonError> {
        utf8(text).and_then(parser::parse_unique).map_err(|e| JsonError::at(text, e))
    }

    /// Where a field (at its key) or an element of a JSON text begins; where it is not there, the innermost part of the way
    /// to it that is. The byte offset.
    pub(crate) fn offset_of(text: &str, path: &[Step<'_>]) -> usize {
        parser::offset_of(text, path)
    }

    /// Prints the value in a layout.
    #[must_use]
    pub fn print(&self, layout: Layout) -> String {
        let mut out = String::new();
        self.print_to(&mut out, layout);
        out
    }

    /// Appends the printed value to a buffer.
    pub fn print_to(&self, out: &mut String, layout: Layout) {
        printer::print(self, out, layout);
    }

    /// The value of a key, where this is an object that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.as_object()?.get(key)
    }

    /// The string under a key.
    #[must_use]
    pub fn str_of(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    /// The text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Json::Str(s) = self { Some(s) } else { None }
    }

    /// The elements of an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Json]> {
        if let Json::Array(a) = self { Some(a) } else { None }
    }

    /// The entries of an object.
    #[must_use]
    pub fn as_object(&self) -> Option<&Object> {
        if let Json::Object(o) = self { Some(o) } else { None }
    }

    /// The string itself, where this is one.
    #[must_use]
    pub fn into_string(self) -> Option<String> {
        if let Json::Str(s) = self { Some(s) } else { None }
    }

    /// The entries themselves, where this is an object.
    #[must_use]
    pub fn into_object(self) -> Option<Object> {
        if let Json::Object(o) = self { Some(o) } else { None }
    }

    /// A non-negative integer.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        if let Json::Int(i) = self { u64::try_from(*i).ok() } else { None }
    }

    /// Whether Python counts the value as true.
    #[must_use]
    pub fn is_truthy(&self) -> bool {
        match self {
            Json::Null => false,
            Json::Bool(b) => *b,
            Json::Int(i) => *i != 0,
            Json::BigInt(_) => true,
            Json::Float(f) => *f != 0.0,
            Json::Str(s) => !s.is_empty(),
            Json::Array(a) => !a.is_empty(),
            Json::Object(o) => !o.is_empty(),
        }
    }

    /// The word for the kind of value, as shapes and errors print it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "boolean",
            Json::Int(_) | Json::BigInt(_) | Json::Float(_) => "number",
            Json::Str(_) => "string",
            Json::Array(_) => "array",
            Json::Object(_) => "object",
        }
    }

    /// The value at a JSON pointer (RFC 6901), where `-1` is also the last element of an array, `-2` the one before.
    #[must_use]
    pub fn pointer(&self, pointer: &str) -> Option<&Json> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(self, |value, token| {
            let token = token.replace("~1", "/").replace("~0", "~");
            match value {
                Json::Object(o) => o.get(&token),
                Json::Array(a) => match token.strip_prefix('-') {
                    Some(back) => a.get(a.len().checked_sub(back.parse().ok()?)?),
                    None => a.get(token.parse::<usize>().ok()?),
                },
                _ => None,
            }
        })
    }

    /// Python's `str()` of the value: what becomes of message content that is neither string nor list.
    #[must_use]
    pub fn python_str(&self) -> String {
        if let Json::Str(s) = self {
            return s.clone();
        }
        let mut out = String::new();
        printer::python_repr(self, &mut out);
        out
    }

    /// An object of the given entries.
    pub fn object<K: Into<SmolStr>>(entries: impl IntoIterator<Item = (K, Json)>) -> Json {
        Json::Object(entries.into_iter().collect())
    }
}

impl From<&str> for Json {
    fn from(s: &str) -> Json {
        Json::Str(s.to_owned())
    }
}

impl From<String> for Json {
    fn from(s: String) -> Json {
        Json::Str(s)
    }
}

impl From<bool> for Json {
    fn from(b: bool) -> Json {
        Json::Bool(b)
    }
}

impl From<u64> for Json {
    fn from(n: u64) -> Json {
        i64::try_from(n).map_or_else(|_| Json::BigInt(n.to_string().into()), Json::Int)
    }
}

impl From<usize> for Json {
    fn from(n: usize) -> Json {
        Json::from(n as u64)
    }
}

impl From<Vec<Json>> for Json {
    fn from(a: Vec<Json>) -> Json {
        Json::Array(a)
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(o: Option<T>) -> Json {
        o.map_or(Json::Null, Into::into)
    }
}

impl serde::Serialize for Json {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => s.serialize_unit(),
            Json::Bool(b) => s.serialize_bool(*b),
            Json::Int(i) => s.serialize_i64(*i),
            Json::BigInt(digits) => match digits.parse::<i128>() {
                Ok(i) => s.serialize_i128(i),
                Err(_) => s.serialize_f64(digits.parse().unwrap_or(f64::INFINITY)),
            },
            Json::Float(f) => s.serialize_f64(*f),
            Json::Str(v) => s.serialize_str(v),
            Json::Array(a) => s.collect_seq(a),
            Json::Object(o) => s.collect_map(o.iter()),
        }
    }
}

fn utf8(text: &[u8]) -> parser::Parsed<&str> {
    std::str::from_utf8(text).map_err(|e| {
        let byte = text.get(e.valid_up_to()).copied().unwrap_or_default();
        (e.valid_up_to(), format!("the byte 0x{byte:02x} is not UTF-8"))
    })
}

/// Whether a byte below a space is among some; without a branch a byte, so that it takes many at once.
fn has_control(bytes: &[u8]) -> bool {
    bytes.iter().fold(u8::MAX, |least, byte| least.min(*byte)) < 0x20
}

/// As [`has_control`], of any but the line feed.
fn has_control_but_newline(bytes: &[u8]) -> bool {
    bytes.iter().fold(false, |found, byte| found | ((*byte < 0x20) & (*byte != b'\n')))
}
