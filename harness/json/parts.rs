//! A part of a JSON text: where it stands, its own text, or all but a list that is too large to be held.

use std::ops::Range;

use super::error::JsonError;
use super::parser::{Parsed, Parser, utf8};
use super::text::JsonText;
use super::value::Json;

impl Json {
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

    /// Where a field (at its key) or an element of a JSON text begins; where it is not there, the innermost part of the way
    /// to it that is. The byte offset.
    pub(crate) fn offset_of(text: &str, path: &[Step<'_>]) -> usize {
        offset_of(text, path)
    }
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
    let mut elements = None;
    let rest = parse_object(text, |parser, key| {
        if key != list || parser.peek() != Some(b'[') {
            return Ok(Some(parser.value(1)?));
        }
        elements = Some(parser.elements());
        Ok(None)
    })?;
    let elements = elements.map(|spans: Vec<_>| spans.into_iter().map(|span| &text[span]).collect());
    Ok((rest, elements))
}

/// Reads a text in which a repeated key is an error, and keeps the text of one field of one object in it.
fn parse_keeping(text: &str, [object, field]: [&str; 2]) -> Parsed<(Json, Option<JsonText>)> {
    let mut kept = None;
    let json = parse_object(text, |parser, key| {
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
    Ok((json, kept))
}

/// Reads a text in which a repeated key is an error. The values of an object are read by `value`, which stands before one
/// and may leave an entry out; what is not an object is read as it is.
fn parse_object<'a>(
    text: &'a str,
    mut value: impl FnMut(&mut Parser<'a>, &str) -> Parsed<Option<Json>>,
) -> Parsed<Json> {
    let mut parser = Parser::unique(text);
    parser.skip_space();
    if parser.peek() != Some(b'{') {
        return parser.document();
    }
    let json = parser.entries(0, |parser, key| {
        parser.skip_space();
        value(parser, key)
    })?;
    parser.end()?;
    Ok(json)
}

impl Parser<'_> {
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
}
