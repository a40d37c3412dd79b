//! JSON as Python's `json` module reads and prints it.
//!
//! Keys are hashes of text that a Python program printed (KEY.md, section 2), so numbers have to survive a read and a
//! print to the byte: integers of any size, `repr` of floats, `-0` as `0`, `1e400` as `Infinity`. `serde_json::Value`
//! keeps none of these, and its `arbitrary_precision` would change number handling for every crate of a user's build.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

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
    Object(BTreeMap<String, Json>),
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
        let result = std::str::from_utf8(text)
            .map_err(|e| (e.valid_up_to(), "a byte that is not UTF-8".to_owned()))
            .and_then(|utf8| Parser { text, utf8, at: 0 }.document());
        result.map_err(|(at, message)| {
            let before = &text[..at.min(text.len())];
            let line_start = memchr::memrchr(b'\n', before).map_or(0, |i| i + 1);
            JsonError {
                message,
                line: memchr::memchr_iter(b'\n', before).count() + 1,
                column: String::from_utf8_lossy(&before[line_start..]).chars().count() + 1,
            }
        })
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
        print_value(self, out, layout, 0);
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
    pub fn as_object(&self) -> Option<&BTreeMap<String, Json>> {
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
        python_repr(self, &mut out);
        out
    }

    /// An object of the given entries.
    pub fn object<K: Into<String>>(entries: impl IntoIterator<Item = (K, Json)>) -> Json {
        Json::Object(entries.into_iter().map(|(k, v)| (k.into(), v)).collect())
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
            Json::Object(o) => s.collect_map(o),
        }
    }
}

/// The first byte that a JSON string escapes.
fn next_escape(bytes: &[u8]) -> Option<usize> {
    let common = memchr::memchr3(b'"', b'\\', b'\n', bytes);
    let run = &bytes[..common.unwrap_or(bytes.len())];
    if has_control(run) { run.iter().position(|b| *b < 0x20) } else { common }
}

/// Appends a string with its quotes, escaped as `json.dumps(…, ensure_ascii=False)` does.
pub(crate) fn print_string(s: &str, out: &mut String) {
    out.push('"');
    let mut plain = 0;
    let mut at = 0;
    while let Some(next) = s.as_bytes().get(at..).and_then(next_escape) {
        let i = at + next;
        at = i + 1;
        let b = s.as_bytes()[i];
        let escape = match b {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0c => "\\f",
            _ => "",
        };
        out.push_str(&s[plain..i]);
        if escape.is_empty() {
            let _ = write!(out, "\\u{b:04x}");
        } else {
            out.push_str(escape);
        }
        plain = i + 1;
    }
    out.push_str(&s[plain..]);
    out.push('"');
}

fn print_value(value: &Json, out: &mut String, layout: Layout, depth: usize) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Json::Int(i) => {
            let _ = write!(out, "{i}");
        }
        Json::BigInt(digits) => out.push_str(digits),
        Json::Float(f) => print_float(*f, out, ["NaN", "Infinity", "-Infinity"]),
        Json::Str(s) => print_string(s, out),
        Json::Array(a) => print_list(out, layout, depth, ('[', ']'), a.iter(), |item, out| {
            print_value(item, out, layout, depth + 1);
        }),
        Json::Object(o) => print_list(out, layout, depth, ('{', '}'), o.iter(), |(key, item), out| {
            print_string(key, out);
            out.push_str(if layout == Layout::Compact { ":" } else { ": " });
            print_value(item, out, layout, depth + 1);
        }),
    }
}

fn print_list<T>(
    out: &mut String,
    layout: Layout,
    depth: usize,
    brackets: (char, char),
    items: impl ExactSizeIterator<Item = T>,
    mut print: impl FnMut(T, &mut String),
) {
    out.push(brackets.0);
    let newline = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    };
    let filled = items.len() > 0;
    for (i, item) in items.enumerate() {
        if i > 0 {
            out.push_str(if layout == Layout::Python { ", " } else { "," });
        }
        if layout == Layout::Pretty {
            newline(out, depth + 1);
        }
        print(item, out);
    }
    if filled && layout == Layout::Pretty {
        newline(out, depth);
    }
    out.push(brackets.1);
}

/// Python's `repr` of a float: shortest digits that read back, exponent form below `1e-4` and from `1e16` on.
fn print_float(f: f64, out: &mut String, [nan, inf, neg_inf]: [&str; 3]) {
    if f.is_nan() {
        return out.push_str(nan);
    }
    if f.is_infinite() {
        return out.push_str(if f > 0.0 { inf } else { neg_inf });
    }
    let scientific = format!("{f:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let _ = if (-4..16).contains(&exponent) {
        let plain = format!("{f}");
        write!(out, "{plain}{}", if plain.contains('.') { "" } else { ".0" })
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(out, "{digits}e{sign}{:02}", exponent.unsigned_abs())
    };
}

fn python_repr(value: &Json, out: &mut String) {
    match value {
        Json::Null => out.push_str("None"),
        Json::Bool(b) => out.push_str(if *b { "True" } else { "False" }),
        Json::Int(_) | Json::BigInt(_) => print_value(value, out, Layout::Python, 0),
        Json::Float(f) => print_float(*f, out, ["nan", "inf", "-inf"]),
        Json::Str(s) => python_repr_string(s, out),
        Json::Array(a) => print_list(out, Layout::Python, 0, ('[', ']'), a.iter(), python_repr),
        Json::Object(o) => print_list(out, Layout::Python, 0, ('{', '}'), o.iter(), |(key, item), out| {
            python_repr_string(key, out);
            out.push_str(": ");
            python_repr(item, out);
        }),
    }
}

fn python_repr_string(s: &str, out: &mut String) {
    let quote = if s.contains('\'') && !s.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in s.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if c == quote => {
                out.push('\\');
                out.push(c);
            }
            _ if is_printable(c) => out.push(c),
            _ => {
                let _ = match u32::from(c) {
                    code @ 0..=0xff => write!(out, "\\x{code:02x}"),
                    code @ 0x100..=0xffff => write!(out, "\\u{code:04x}"),
                    code => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push(quote);
}

/// Python's `str.isprintable` of one character. The standard library escapes by the same Unicode categories, and
/// additionally a combining mark where it comes first: so the character is put second.
fn is_printable(c: char) -> bool {
    matches!(c, '\'' | '"') || format!("a{c}").escape_debug().nth(1).is_none_or(|first| first != '\\')
}

/// Whether a byte below a space is among some; without a branch a byte, so that it takes many at once.
fn has_control(bytes: &[u8]) -> bool {
    bytes.iter().fold(u8::MAX, |least, byte| least.min(*byte)) < 0x20
}

struct Parser<'a> {
    text: &'a [u8],
    /// The same text, known to be UTF-8.
    utf8: &'a str,
    at: usize,
}

type Parsed<T> = Result<T, (usize, String)>;

impl Parser<'_> {
    fn document(&mut self) -> Parsed<Json> {
        let value = self.value(0)?;
        self.skip_space();
        if self.at == self.text.len() { Ok(value) } else { self.fail("more text after the value") }
    }

    fn fail<T>(&self, message: &str) -> Parsed<T> {
        Err((self.at, message.to_owned()))
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expected<T>(&self, what: &str) -> Parsed<T> {
        let found = self.utf8.get(self.at..).and_then(|rest| rest.chars().next());
        let found = found.map_or("the end of the text".to_owned(), |c| format!("{c:?}"));
        Err((self.at, format!("expected {what}, found {found}")))
    }

    fn value(&mut self, depth: usize) -> Parsed<Json> {
        self.skip_space();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Json::Str(self.string()?)),
            Some(b'0'..=b'9' | b'-') => self.number(),
            Some(b't' | b'f' | b'n' | b'N' | b'I') => self.word(),
            _ => self.expected("a JSON value"),
        }
    }

    fn word(&mut self) -> Parsed<Json> {
        let words = [
            ("null", Json::Null),
            ("true", Json::Bool(true)),
            ("false", Json::Bool(false)),
            ("NaN", Json::Float(f64::NAN)),
            ("Infinity", Json::Float(f64::INFINITY)),
            ("-Infinity", Json::Float(f64::NEG_INFINITY)),
        ];
        for (word, value) in words {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        self.expected("a JSON value")
    }

    fn digits(&mut self) -> Parsed<()> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { self.expected("a digit") } else { Ok(()) }
    }

    fn number(&mut self) -> Parsed<Json> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            if self.text.get(start + 1) == Some(&b'I') {
                return self.word();
            }
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        let mut integer = true;
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
            integer = false;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
            integer = false;
        }
        let text = &self.utf8[start..self.at];
        if integer {
            return Ok(text.parse().map_or_else(|_| Json::BigInt(text.into()), Json::Int));
        }
        text.parse().map(Json::Float).or_else(|_| self.fail("a number that cannot be read"))
    }

    fn array(&mut self, depth: usize) -> Parsed<Json> {
        self.deeper(depth)?;
        let mut items = Vec::new();
        self.skip_space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return self.expected("`,` or `]`"),
            }
        }
        self.at += 1;
        Ok(Json::Array(items))
    }

    fn object(&mut self, depth: usize) -> Parsed<Json> {
        self.deeper(depth)?;
        let mut entries = BTreeMap::new();
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Json::Object(entries));
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return self.expected("a key in quotes");
            }
            let key = self.string()?;
            self.skip_space();
            if self.peek() != Some(b':') {
                return self.expected("`:`");
            }
            self.at += 1;
            entries.insert(key, self.value(depth + 1)?);
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return self.expected("`,` or `}`"),
            }
        }
        self.at += 1;
        Ok(Json::Object(entries))
    }

    fn deeper(&mut self, depth: usize) -> Parsed<()> {
        if depth >= MAX_DEPTH {
            return self.fail(&format!("more than {MAX_DEPTH} levels of nesting"));
        }
        self.at += 1;
        Ok(())
    }

    fn string(&mut self) -> Parsed<String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let mut run = &rest[..memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len())];
            if has_control(run) {
                run = &run[..run.iter().position(|b| *b < 0x20).unwrap_or(run.len())];
            }
            // A run begins and ends at ASCII bytes, so at whole characters.
            out.push_str(&self.utf8[self.at..self.at + run.len()]);
            self.at += run.len();
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => out.push(self.escape()?),
                Some(_) => return self.fail("a control character inside a string"),
                None => return self.expected("the end of a string"),
            }
        }
        self.at += 1;
        Ok(out)
    }

    fn escape(&mut self) -> Parsed<char> {
        self.at += 1;
        let c = match self.peek() {
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(c),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return self.expected("an escape"),
        };
        self.at += 1;
        Ok(c)
    }

    fn unicode_escape(&mut self) -> Parsed<char> {
        let start = self.at - 1;
        let mut code = self.hex4()?;
        if (0xd800..0xdc00).contains(&code) && self.text[self.at..].starts_with(b"\\u") {
            self.at += 1;
            let low = self.hex4()?;
            if (0xdc00..0xe000).contains(&low) {
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            }
        }
        char::from_u32(code).ok_or((start, "a lone surrogate, which has no UTF-8 form".to_owned()))
    }

    /// Four hex digits after the `u` that the parser stands on.
    fn hex4(&mut self) -> Parsed<u32> {
        self.at += 1;
        let digits = self.text.get(self.at..self.at + 4).filter(|d| d.iter().all(u8::is_ascii_hexdigit));
        let Some(digits) = digits else { return self.expected("four hex digits") };
        self.at += 4;
        Ok(digits.iter().fold(0, |n, d| n * 16 + char::from(*d).to_digit(16).unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn python(text: &str) -> String {
        Json::parse(text.as_bytes()).unwrap().print(Layout::Python)
    }

    #[test]
    fn numbers_print_as_python_prints_them() {
        let cases = [
            ("-0", "0"),
            ("-0.0", "-0.0"),
            ("1e400", "Infinity"),
            ("-1e400", "-Infinity"),
            ("1e16", "1e+16"),
            ("1e15", "1000000000000000.0"),
            ("0.00001", "1e-05"),
            ("0.0001", "0.0001"),
            ("1.0", "1.0"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("-9223372036854775809", "-9223372036854775809"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
            ("5e-324", "5e-324"),
            ("NaN", "NaN"),
            ("-Infinity", "-Infinity"),
        ];
        for (text, printed) in cases {
            assert_eq!(python(text), printed, "{text}");
        }
    }

    #[test]
    fn strings_print_as_python_prints_them() {
        assert_eq!(python(r#""a\/\u00e9\u0001\u007f\ud83d\ude00\b\f""#), "\"a/é\\u0001\u{7f}😀\\b\\f\"");
    }

    #[test]
    fn str_of_values_is_pythons() {
        let value = Json::parse(br#"{"a": [null, true, 1e22, "it's", "\u0007\u200b\u0301"]}"#).unwrap();
        assert_eq!(value.python_str(), "{'a': [None, True, 1e+22, \"it's\", '\\x07\\u200b\u{301}']}");
    }

    #[test]
    fn what_is_no_json_is_refused_with_its_place() {
        let cases = [
            ("", "expected a JSON value, found the end of the text at line 1, column 1"),
            ("{\n \"é\" 1}", "expected `:`, found '1' at line 2, column 6"),
            ("[1,]", "expected a JSON value, found ']' at line 1, column 4"),
            ("01", "more text after the value at line 1, column 2"),
            ("\"\n\"", "a control character inside a string at line 1, column 2"),
            ("\"\\ud800\"", "a lone surrogate, which has no UTF-8 form at line 1, column 2"),
            ("\"\\u12g4\"", "expected four hex digits, found '1' at line 1, column 4"),
        ];
        for (text, message) in cases {
            assert_eq!(Json::parse(text.as_bytes()).unwrap_err().to_string(), message);
        }
        let deep = "[".repeat(100_000);
        assert!(Json::parse(deep.as_bytes()).unwrap_err().message.contains("levels of nesting"));
        assert!(Json::parse(b"\"\xff\"").unwrap_err().message.contains("not UTF-8"));
    }

    #[test]
    fn pointers_count_from_the_end_too() {
        let value = Json::parse(br#"{"a/b": [1, {"~": 2}, 3]}"#).unwrap();
        assert_eq!(value.pointer("/a~1b/-1"), Some(&Json::Int(3)));
        assert_eq!(value.pointer("/a~1b/-2/~0"), Some(&Json::Int(2)));
        assert_eq!(value.pointer("/a~1b/-4"), None);
        assert_eq!(value.pointer("/a~1b/3"), None);
        assert_eq!(value.pointer("a"), None);
    }

    fn any_json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::Bool),
            any::<i64>().prop_map(Json::Int),
            (-1e300..1e300f64).prop_map(Json::Float),
            any::<String>().prop_map(Json::Str),
        ];
        leaf.prop_recursive(4, 64, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
                prop::collection::btree_map(any::<String>(), inner, 0..6).prop_map(Json::Object),
            ]
        })
    }

    proptest! {
        #[test]
        fn each_layout_reads_back(value in any_json()) {
            for layout in [Layout::Python, Layout::Compact, Layout::Pretty] {
                prop_assert_eq!(&Json::parse(value.print(layout).as_bytes()).unwrap(), &value);
            }
        }

        #[test]
        fn agrees_with_serde_json_on_what_is_json(text in "[\\[\\]{},:\"a0-9.eE+\\-\\\\nutrl ]{0,24}") {
            let ours = Json::parse(text.as_bytes());
            let theirs = serde_json::from_str::<serde_json::Value>(&text);
            // serde_json refuses numbers beyond f64, Python reads them as infinite.
            if theirs.is_ok() { prop_assert!(ours.is_ok(), "{}", text) }
            else if ours.is_ok() { prop_assert!(theirs.unwrap_err().to_string().contains("out of range")) }
        }

        #[test]
        fn no_input_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = Json::parse(&bytes);
        }
    }
}
