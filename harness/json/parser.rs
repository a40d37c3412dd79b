//! JSON in.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use smol_str::SmolStr;

use super::control::has_control;
use super::text::JsonText;
use super::value::{Json, Object};

/// How deep arrays and objects may nest. Deeper input is refused, since reading it recurses.
pub const MAX_DEPTH: usize = 256;

/// Where and why a text is not JSON.
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

impl Json {
    /// Reads one JSON text.
    ///
    /// # Errors
    /// The place and the reason, where the text is not JSON, is not UTF-8, nests deeper than [`MAX_DEPTH`], or holds a
    /// lone surrogate (which has no UTF-8 form).
    pub fn parse(text: &[u8]) -> Result<Json, JsonError> {
        utf8(text).and_then(parse).map_err(|e| JsonError::at(text, e))
    }

    /// Reads an object whose list `list` may be too large to be held whole: gives the object without it, and the texts
    /// of its elements, each to be read by [`Json::parse`]; `None` where there is no such list.
    ///
    /// # Errors
    /// As [`Json::parse_unique`], but an element that is not JSON is only found when it is read.
    pub fn parse_around<'a>(text: &'a [u8], list: &str) -> Result<(Json, Option<Vec<&'a str>>), JsonError> {
        utf8(text).and_then(|text| parse_around(text, list)).map_err(|e| JsonError::at(text, e))
    }

    /// Reads an object, and also keeps the text of a value in it, with its order of keys and its spelling: of the field `path[1]` in
    /// the object under `path[0]`. `None` where there is no such field.
    ///
    /// # Errors
    /// As [`Json::parse_unique`].
    pub fn parse_keeping(text: &[u8], path: [&str; 2]) -> Result<(Json, Option<JsonText>), JsonError> {
        utf8(text).and_then(|text| parse_keeping(text, path)).map_err(|e| JsonError::at(text, e))
    }

    /// Reads a JSON text in which a repeated key is a mistake: one that a person edits.
    ///
    /// # Errors
    /// As [`Json::parse`], and where an object has a key twice.
    pub fn parse_unique(text: &[u8]) -> Result<Json, JsonError> {
        utf8(text).and_then(parse_unique).map_err(|e| JsonError::at(text, e))
    }

    /// Reads a request's body. Languages whose strings are UTF-16 send half a pair where they cut a text in the middle of an
    /// emoji; it is U+FFFD here, as it is wherever it becomes UTF-8.
    ///
    /// # Errors
    /// As [`Json::parse`], but for lone surrogates.
    pub(crate) fn parse_request(text: &[u8]) -> Result<Json, JsonError> {
        utf8(text)
            .and_then(|text| Parser { lossy: true, ..Parser::of(text) }.document())
            .map_err(|e| JsonError::at(text, e))
    }

    /// Where a field (at its key) or an element of a JSON text begins; where it is not there, the innermost part of the way
    /// to it that is. The byte offset.
    pub(crate) fn offset_of(text: &str, path: &[Step<'_>]) -> usize {
        offset_of(text, path)
    }
}

fn utf8(text: &[u8]) -> Parsed<&str> {
    std::str::from_utf8(text).map_err(|e| {
        let byte = text.get(e.valid_up_to()).copied().unwrap_or_default();
        (e.valid_up_to(), format!("the byte 0x{byte:02x} is not UTF-8"))
    })
}

/// Reads one JSON text. An error is its byte offset and the reason.
fn parse(text: &str) -> Parsed<Json> {
    Parser::of(text).document()
}

/// As [`parse`], but an object that has a key twice is an error.
fn parse_unique(text: &str) -> Parsed<Json> {
    Parser { unique: true, ..Parser::of(text) }.document()
}

/// The byte offset of a field or element, or of the innermost part of the way to it that is there.
fn offset_of(text: &str, path: &[Step<'_>]) -> usize {
    let mut parser = Parser::of(text);
    parser.skip_space();
    let mut found = parser.at;
    for step in path {
        match parser.go_to(step) {
            Ok(Some(at)) => found = at,
            _ => break,
        }
    }
    found
}

/// One part of the way to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    /// The value of a key.
    Key(&'a str),
    /// An element of a list.
    Index(usize),
}

/// Reads an object and leaves the elements of one of its lists unread: what is beside the list, and the elements' texts
/// where there is such a list. A text that is not JSON may pass for an element; reading it tells. An object that has a key
/// twice is an error.
fn parse_around<'a>(text: &'a str, list: &str) -> Parsed<(Json, Option<Vec<&'a str>>)> {
    let mut parser = Parser { unique: true, ..Parser::of(text) };
    let mut elements = None;
    parser.skip_space();
    if parser.peek() != Some(b'{') {
        return Ok((parser.document()?, None));
    }
    let rest = parser.entries(0, |parser, key| {
        parser.skip_space();
        if key != list || parser.peek() != Some(b'[') {
            return Ok(Some(parser.value(1)?));
        }
        elements = Some(parser.elements());
        Ok(None)
    })?;
    parser.end()?;
    let elements = elements.map(|spans: Vec<_>| spans.into_iter().map(|span| &text[span]).collect());
    Ok((rest, elements))
}

/// Reads a text in which a repeated key is an error, and keeps the text of one field of one object in it.
fn parse_keeping(text: &str, [object, field]: [&str; 2]) -> Parsed<(Json, Option<JsonText>)> {
    let mut parser = Parser { unique: true, ..Parser::of(text) };
    let mut kept = None;
    parser.skip_space();
    if parser.peek() != Some(b'{') {
        return Ok((parser.document()?, None));
    }
    let json = parser.entries(0, |parser, key| {
        parser.skip_space();
        if key != object || parser.peek() != Some(b'{') {
            return parser.value(1).map(Some);
        }
        let within = parser.entries(1, |parser, key| {
            parser.skip_space();
            let start = parser.at;
            let value = parser.value(2)?;
            if key == field {
                kept = Some(JsonText::of_parsed(&text[start..parser.at]));
            }
            Ok(Some(value))
        });
        within.map(Some)
    })?;
    parser.end()?;
    Ok((json, kept))
}

struct Parser<'a> {
    text: &'a [u8],
    utf8: &'a str,
    at: usize,
    /// A repeated key is an error.
    unique: bool,
    /// A lone surrogate is none.
    lossy: bool,
}

type Parsed<T> = Result<T, (usize, String)>;

impl<'a> Parser<'a> {
    fn of(text: &'a str) -> Parser<'a> {
        Parser { text: text.as_bytes(), utf8: text, at: 0, unique: false, lossy: false }
    }

    fn document(&mut self) -> Parsed<Json> {
        let value = self.value(0)?;
        self.end()?;
        Ok(value)
    }

    fn end(&mut self) -> Parsed<()> {
        self.skip_space();
        if self.at == self.text.len() { Ok(()) } else { self.fail("more text after the value") }
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
        self.entries(depth, |parser, _| parser.value(depth + 1).map(Some))
    }

    /// An object whose values are read by `value`, which may leave an entry out.
    fn entries(
        &mut self,
        depth: usize,
        mut value: impl FnMut(&mut Self, &str) -> Parsed<Option<Json>>,
    ) -> Parsed<Json> {
        let start = self.at;
        self.deeper(depth)?;
        let (mut entries, mut skipped) = (Vec::new(), 0);
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Json::Object(Object::new()));
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return self.expected("a key in quotes");
            }
            let key = self.key()?;
            self.skip_space();
            if self.peek() != Some(b':') {
                return self.expected("`:`");
            }
            self.at += 1;
            match value(self, &key)? {
                Some(value) => entries.push((key, value)),
                None => skipped += 1,
            }
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return self.expected("`,` or `}`"),
            }
        }
        self.at += 1;
        let count = entries.len();
        let object = Object::from(entries);
        if self.unique && (object.len() < count || skipped > 1) {
            return self.repeated_key(start, depth);
        }
        Ok(Json::Object(object))
    }

    /// The error about the object at an offset, which was read and has a key twice.
    fn repeated_key<T>(&mut self, object: usize, depth: usize) -> Parsed<T> {
        let mut keys = HashSet::new();
        self.unique = false;
        self.at = object + 1;
        loop {
            self.skip_space();
            let key_at = self.at;
            let key = self.string()?;
            if !keys.insert(key.clone()) {
                return Err((key_at, format!("the key {key:?} stands twice in this object")));
            }
            self.skip_space();
            self.at += 1;
            self.value(depth + 1)?;
            self.skip_space();
            self.at += 1;
        }
    }

    /// From a value to a part of it. Gives where that begins (a field at its key), `None` where it is not there.
    fn go_to(&mut self, step: &Step<'_>) -> Parsed<Option<usize>> {
        self.skip_space();
        let opening = if matches!(step, Step::Key(_)) { b'{' } else { b'[' };
        if self.peek() != Some(opening) {
            return Ok(None);
        }
        self.at += 1;
        for index in 0.. {
            self.skip_space();
            if matches!(self.peek(), Some(b'}' | b']') | None) {
                break;
            }
            let at = self.at;
            let here = match step {
                Step::Key(wanted) => {
                    let key = self.string()?;
                    self.skip_space();
                    self.at += 1;
                    key == *wanted
                }
                Step::Index(wanted) => index == *wanted,
            };
            if here {
                return Ok(Some(at));
            }
            self.value(0)?;
            self.skip_space();
            if self.peek() == Some(b',') {
                self.at += 1;
            }
        }
        Ok(None)
    }

    /// Where the elements of the list are that the parser stands on: told by brackets and quotes alone.
    fn elements(&mut self) -> Vec<Range<usize>> {
        let (mut elements, mut depth) = (Vec::new(), 0);
        self.at += 1;
        self.skip_space();
        let mut start = self.at;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => self.skip_string(),
                b'[' | b'{' => depth += 1,
                b']' | b'}' if depth > 0 => depth -= 1,
                b',' | b']' | b'}' if depth == 0 => {
                    let empty = byte == b']' && elements.is_empty() && self.at == start;
                    if !empty {
                        elements.push(start..self.at);
                    }
                    start = self.at + 1;
                    if byte != b',' {
                        self.at += 1;
                        break;
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
        elements
    }

    /// From the opening quote of a string to its closing one.
    fn skip_string(&mut self) {
        self.at += 1;
        while let Some(found) = memchr::memchr2(b'"', b'\\', &self.text[self.at.min(self.text.len())..]) {
            self.at += found;
            if self.text[self.at] == b'"' {
                return;
            }
            self.at += 2;
        }
        self.at = self.text.len();
    }

    fn deeper(&mut self, depth: usize) -> Parsed<()> {
        if depth >= MAX_DEPTH {
            return self.fail(&format!("more than {MAX_DEPTH} levels of nesting"));
        }
        self.at += 1;
        Ok(())
    }

    /// A key: a string that is short as a rule, and then takes no memory of its own.
    fn key(&mut self) -> Parsed<SmolStr> {
        let rest = &self.text[self.at + 1..];
        let end = rest.iter().position(|b| matches!(b, b'"' | b'\\' | 0..0x20));
        match end.filter(|end| rest[*end] == b'"') {
            Some(end) => {
                let start = self.at + 1;
                self.at = start + end + 1;
                Ok(SmolStr::new(&self.utf8[start..start + end]))
            }
            None => self.string().map(SmolStr::from),
        }
    }

    fn string(&mut self) -> Parsed<String> {
        self.at += 1;
        let start = self.at;
        let read = self.unescaped();
        // Looked for once for the whole string; what stands before another mistake is the first one.
        let raw = &self.text[start..self.at];
        if has_control(raw) {
            self.at = start + raw.iter().position(|b| *b < 0x20).unwrap_or(0);
            return self.fail("a control character inside a string");
        }
        self.at += 1;
        read
    }

    /// The text up to a closing quote, on which the parser then stands.
    fn unescaped(&mut self) -> Parsed<String> {
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let run = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
            // A run begins and ends at ASCII bytes, so at whole characters.
            out.push_str(&self.utf8[self.at..self.at + run]);
            self.at += run;
            match self.peek() {
                Some(b'"') => return Ok(out),
                Some(_) => out.push(self.escape()?),
                None => return self.expected("the end of a string"),
            }
        }
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
            let next = self.at;
            self.at += 1;
            let low = self.hex4()?;
            if (0xdc00..0xe000).contains(&low) {
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            } else {
                self.at = next;
            }
        }
        let lossy = self.lossy.then_some(char::REPLACEMENT_CHARACTER);
        char::from_u32(code).or(lossy).ok_or((start, "a lone surrogate, which has no UTF-8 form".to_owned()))
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
