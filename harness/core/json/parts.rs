//! Access to parts of a JSON text: the position of a value, the text of a value, and everything except one large list.

use super::error::JsonError;
use super::parser::{Parsed, Parser, utf8};
use super::text::{JsonText, string_end};
use super::value::Json;

impl Json {
    /// Reads an object without its field `list`, a list that may be too large to hold in memory as values. Returns the rest
    /// of the object and the text of each element, which [`Json::parse`] reads; `None` if there is no such list.
    ///
    /// # Errors
    /// As [`Json::parse_unique`], but an element that is not JSON is found only when it is read.
    pub fn parse_around<'a>(text: &'a [u8], list: &str) -> Result<(Json, Option<Vec<&'a str>>), JsonError> {
        let around = utf8(text).and_then(|text| parse_around(Parser::unique(text), list));
        around.map(|(rest, mut lists)| (rest, lists.pop())).map_err(|e| JsonError::at(text, e))
    }

    /// Reads the body of a request, an object, without its field `list`. Returns the rest of the object and the text of each
    /// element, which [`Json::parse_element`] reads. `None` if there is no such list, or if the text is not JSON. An element that
    /// is not JSON is found only when it is read.
    pub fn parse_request_around<'a>(text: &'a [u8], list: &str) -> Option<(Json, Vec<&'a str>)> {
        let (rest, mut lists) = parse_around(Parser::lossy(utf8(text).ok()?), list).ok()?;
        let elements = lists.pop()?;
        (lists.is_empty() && rest.get(list).is_none()).then_some((rest, elements))
    }

    /// Reads an element of [`Json::parse_request_around`].
    pub fn parse_element(text: &str) -> Option<Json> {
        let mut parser = Parser::lossy(text);
        // The element is in a list, which is in an object.
        let value = parser.value(2).ok()?;
        parser.end().ok()?;
        Some(value)
    }

    /// Reads an object, and also returns the text of one value in it: the field `path[1]` of the object `path[0]`. The text
    /// has the original order of keys and the original spelling. It is `None` if there is no such field.
    ///
    /// # Errors
    /// As [`Json::parse_unique`].
    pub fn parse_keeping(
        text: &[u8],
        object: &str,
        keeps: impl Fn(&str, &Json) -> bool,
    ) -> Result<(Json, Option<JsonText>), JsonError> {
        utf8(text).and_then(|text| parse_keeping(text, object, keeps)).map_err(|e| JsonError::at(text, e))
    }

    /// Returns the byte offset at which a field (its key) or an element of a JSON text begins. If the path does not exist,
    /// returns the offset of the last step that does.
    pub fn offset_of(text: &str, path: &[Step<'_>]) -> usize {
        let mut parser = Parser::of(text);
        parser.skip_space();
        let mut found = parser.at;
        for step in path {
            let Ok(Some(at)) = parser.go_to(step) else { break };
            found = at;
        }
        found
    }
}

/// One step of the path to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    Key(&'a str),
    /// To an element of a list.
    Index(usize),
}

/// Reads an object without the lists under a key: the rest, and the texts of the elements of each.
fn parse_around<'a>(parser: Parser<'a>, list: &str) -> Parsed<(Json, Vec<Vec<&'a str>>)> {
    let mut lists = Vec::new();
    let rest = parse_object(parser, |parser, key| {
        if key != list || parser.peek() != Some(b'[') {
            return Ok(Some(parser.value(1)?));
        }
        lists.push(parser.elements());
        Ok(None)
    })?;
    Ok((rest, lists))
}

fn parse_keeping(text: &str, object: &str, keeps: impl Fn(&str, &Json) -> bool) -> Parsed<(Json, Option<JsonText>)> {
    let mut kept = None;
    let json = parse_object(Parser::unique(text), |parser, key| {
        if key != object || parser.peek() != Some(b'{') {
            return parser.value(1).map(Some);
        }
        let within = parser.entries(1, |parser, key| {
            parser.skip_space();
            let start = parser.at;
            let value = parser.value(2)?;
            if keeps(key, &value) {
                kept = Some(JsonText::of_parsed(&text[start..parser.at]));
            }
            Ok(Some(value))
        });
        within.map(Some)
    })?;
    Ok((json, kept))
}

/// Reads a text. If it is an object, `value` reads the value of each key, and returns
/// `None` to leave the entry out. Other values are read as they are.
fn parse_object<'a>(
    mut parser: Parser<'a>,
    mut value: impl FnMut(&mut Parser<'a>, &str) -> Parsed<Option<Json>>,
) -> Parsed<Json> {
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

impl<'a> Parser<'a> {
    /// Moves the parser from a value to a part of it. Returns the offset of the part (for a field, that of its key), or
    /// `None` if it does not exist.
    pub(super) fn go_to(&mut self, step: &Step<'_>) -> Parsed<Option<usize>> {
        self.skip_space();
        if self.peek() != Some(if matches!(step, Step::Key(_)) { b'{' } else { b'[' }) {
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
            self.eat(b',');
        }
        Ok(None)
    }

    /// Returns the texts of the elements of the list at which the parser is. It looks only at brackets, commas and quotes.
    pub(super) fn elements(&mut self) -> Vec<&'a str> {
        let (mut elements, mut depth) = (Vec::new(), 0);
        self.at += 1;
        self.skip_space();
        let mut start = self.at;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.at += string_end(&self.text[self.at..]);
                    continue;
                }
                b'[' | b'{' => depth += 1,
                b']' | b'}' if depth > 0 => depth -= 1,
                b',' | b']' | b'}' if depth == 0 => {
                    let empty = byte == b']' && elements.is_empty() && self.at == start;
                    if !empty {
                        elements.push(&self.utf8[start..self.at]);
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
}
