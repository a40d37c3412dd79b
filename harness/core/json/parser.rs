//! The JSON parser.

use std::collections::HashSet;

use smol_str::SmolStr;

use super::error::JsonError;
use super::value::{Json, Object};

/// How deeply arrays and objects may nest. Deeper input is an error, since the parser is recursive.
pub const MAX_DEPTH: usize = 256;

impl Json {
    /// Reads one JSON text.
    ///
    /// # Errors
    /// If the text is not JSON, is not UTF-8, nests deeper than [`MAX_DEPTH`], or contains a lone surrogate (which has no
    /// UTF-8 form). The error has the position and the reason.
    pub fn parse(text: &[u8]) -> Result<Json, JsonError> {
        utf8(text).and_then(|text| Parser::of(text).document()).map_err(|e| JsonError::at(text, e))
    }

    /// Reads a JSON text that people edit, in which a repeated key is a mistake.
    ///
    /// # Errors
    /// As [`Json::parse`], and if an object has the same key twice.
    pub fn parse_unique(text: &[u8]) -> Result<Json, JsonError> {
        utf8(text).and_then(|text| Parser::unique(text).document()).map_err(|e| JsonError::at(text, e))
    }

    /// Reads the body of a request. Programs in languages with UTF-16 strings send a lone surrogate if they cut a text in the
    /// middle of an emoji. It becomes U+FFFD, as in any conversion to UTF-8.
    ///
    /// # Errors
    /// As [`Json::parse`], except that lone surrogates are accepted.
    pub fn parse_request(text: &[u8]) -> Result<Json, JsonError> {
        utf8(text).and_then(|text| Parser::lossy(text).document()).map_err(|e| JsonError::at(text, e))
    }
}

pub(super) fn utf8(text: &[u8]) -> Parsed<&str> {
    std::str::from_utf8(text).map_err(|e| {
        let byte = text.get(e.valid_up_to()).copied().unwrap_or_default();
        (e.valid_up_to(), format!("the byte 0x{byte:02x} is not UTF-8"))
    })
}

/// A parser at a position in a text.
pub(super) struct Parser<'a> {
    pub(super) text: &'a [u8],
    pub(super) utf8: &'a str,
    pub(super) at: usize,
    /// Whether a repeated key is an error.
    unique: bool,
    /// Whether a lone surrogate becomes U+FFFD instead of being an error.
    lossy: bool,
}

/// A parsed value, or the byte offset and the reason of an error.
pub(super) type Parsed<T> = Result<T, (usize, String)>;

impl<'a> Parser<'a> {
    pub(super) fn of(text: &'a str) -> Parser<'a> {
        Parser { text: text.as_bytes(), utf8: text, at: 0, unique: false, lossy: false }
    }

    /// Creates a parser for which a repeated key is an error.
    pub(super) fn unique(text: &'a str) -> Parser<'a> {
        Parser { unique: true, ..Parser::of(text) }
    }

    /// Creates a parser for which a lone surrogate is U+FFFD.
    pub(super) fn lossy(text: &'a str) -> Parser<'a> {
        Parser { lossy: true, ..Parser::of(text) }
    }

    pub(super) fn document(&mut self) -> Parsed<Json> {
        let value = self.value(0)?;
        self.end()?;
        Ok(value)
    }

    pub(super) fn end(&mut self) -> Parsed<()> {
        self.skip_space();
        if self.at == self.text.len() { Ok(()) } else { self.fail("more text after the value") }
    }

    pub(super) fn fail<T>(&self, message: &str) -> Parsed<T> {
        Err((self.at, message.to_owned()))
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    pub(super) fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Whether a byte is next. If so, it is read.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expected<T>(&self, what: &str) -> Parsed<T> {
        let found = self.utf8.get(self.at..).and_then(|rest| rest.chars().next());
        let found = found.map_or("the end of the text".to_owned(), |c| format!("{c:?}"));
        Err((self.at, format!("expected {what}, found {found}")))
    }

    pub(super) fn value(&mut self, depth: usize) -> Parsed<Json> {
        self.skip_space();
        match self.peek() {
            Some(b'{') => self.entries(depth, |parser, _| parser.value(depth + 1).map(Some)),
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
        let word = words.into_iter().find(|(word, _)| self.text[self.at..].starts_with(word.as_bytes()));
        let Some((word, value)) = word else { return self.expected("a JSON value") };
        self.at += word.len();
        Ok(value)
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
        if self.eat(b'-') && self.peek() == Some(b'I') {
            self.at = start;
            return self.word();
        }
        if !self.eat(b'0') {
            self.digits()?;
        }
        let mut integer = true;
        if self.eat(b'.') {
            self.digits()?;
            integer = false;
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _ = self.eat(b'+') || self.eat(b'-');
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
        self.items(|parser| parser.value(depth + 1)).map(Json::Array)
    }

    /// Reads a list after its opening bracket. `item` reads each element.
    pub(super) fn items<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        self.parts(b']', "`,` or `]`", |parser| {
            items.push(item(parser)?);
            Ok(())
        })?;
        Ok(items)
    }

    /// Reads what stands between commas, after the opening bracket. `part` reads each, and `close` is the closing bracket.
    fn parts(&mut self, close: u8, expected: &str, mut part: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        self.skip_space();
        if self.eat(close) {
            return Ok(());
        }
        loop {
            part(self)?;
            self.skip_space();
            if self.eat(close) {
                return Ok(());
            }
            if !self.eat(b',') {
                return self.expected(expected);
            }
        }
    }

    /// Reads an object. `value` reads the value of each key, and returns `None` to leave the entry out.
    pub(super) fn entries(
        &mut self,
        depth: usize,
        mut value: impl FnMut(&mut Self, &str) -> Parsed<Option<Json>>,
    ) -> Parsed<Json> {
        let start = self.at;
        self.deeper(depth)?;
        let (mut entries, mut skipped) = (Vec::new(), 0);
        self.parts(b'}', "`,` or `}`", |parser| {
            parser.skip_space();
            if parser.peek() != Some(b'"') {
                return parser.expected("a key in quotes");
            }
            let key = parser.key()?;
            parser.skip_space();
            if !parser.eat(b':') {
                return parser.expected("`:`");
            }
            match value(parser, &key)? {
                Some(value) => entries.push((key, value)),
                None => skipped += 1,
            }
            Ok(())
        })?;
        let count = entries.len();
        // Those of programs are mostly sorted, and need no copy.
        let is_sorted = entries.is_sorted_by(|(key, _), (next, _)| key < next);
        let object: Object =
            if is_sorted { Object::from_sorted_store_unchecked(entries) } else { entries.into_iter().collect() };
        if self.unique && (object.len() < count || skipped > 1) {
            return self.repeated_key(start, depth);
        }
        Ok(Json::Object(object))
    }

    /// Returns the error about an object at an offset that was read and has the same key twice.
    fn repeated_key<T>(&mut self, object: usize, depth: usize) -> Parsed<T> {
        let mut keys = HashSet::new();
        self.unique = false;
        self.at = object + 1;
        loop {
            self.skip_space();
            let key_at = self.at;
            let key = self.string()?;
            if !keys.insert(key.clone()) {
                return Err((key_at, format!("the key {key:?} appears twice in this object")));
            }
            self.skip_space();
            self.at += 1;
            self.value(depth + 1)?;
            self.skip_space();
            self.at += 1;
        }
    }

    fn deeper(&mut self, depth: usize) -> Parsed<()> {
        if depth >= MAX_DEPTH {
            return self.fail(&format!("more than {MAX_DEPTH} levels of nesting"));
        }
        self.at += 1;
        Ok(())
    }

    /// Reads a key. Most keys are short, and then [`SmolStr`] stores them without allocating.
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

    pub(super) fn string(&mut self) -> Parsed<String> {
        self.at += 1;
        let start = self.at;
        let read = self.unescaped();
        // One search covers the whole string. A control character that comes before another error is the first error.
        let raw = &self.text[start..self.at];
        if has_control(raw) {
            self.at = start + raw.iter().position(|b| *b < 0x20).unwrap_or(0);
            return self.fail("a control character inside a string");
        }
        self.at += 1;
        read
    }

    /// Reads up to the closing quote, without consuming it, and returns the unescaped text.
    fn unescaped(&mut self) -> Parsed<String> {
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let run = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
            // A run begins and ends next to ASCII bytes, so it has whole characters only.
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

    /// Reads four hex digits. The parser is at the `u` before them.
    fn hex4(&mut self) -> Parsed<u32> {
        self.at += 1;
        let digits = self.text.get(self.at..self.at + 4).filter(|d| d.iter().all(u8::is_ascii_hexdigit));
        let Some(digits) = digits else { return self.expected("four hex digits") };
        self.at += 4;
        Ok(digits.iter().fold(0, |n, d| n * 16 + char::from(*d).to_digit(16).unwrap_or(0)))
    }
}

/// Whether some byte is a control character. The loop has no branch, so the compiler can check many bytes at once.
pub(super) fn has_control(bytes: &[u8]) -> bool {
    bytes.iter().fold(u8::MAX, |least, byte| least.min(*byte)) < 0x20
}

/// Like [`has_control`], but ignores line feeds.
pub(super) fn has_control_but_newline(bytes: &[u8]) -> bool {
    bytes.iter().fold(u8::MAX, |least, byte| least.min(if *byte == b'\n' { b' ' } else { *byte })) < 0x20
}
