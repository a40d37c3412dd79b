//! Parses YAML into a tree that remembers how each scalar was written, since the meaning of a recorded body depends on it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use granit_parser::{Event, Marker, Parser, ScalarStyle, Span, Tag};

use super::scalar;
use retake_base::error::{Error, Place, Result};
use retake_core::json::{Json, Layout, MAX_DEPTH};

/// The maximum number of values that are written in a file.
const MAX_NODES: usize = 4_000_000;

/// The most bytes that the aliases of a file stand for. A few of them, each of values with aliases, could stand for terabytes.
const MOST_ALIASED: usize = 32_000_000;

/// One value in a file.
#[derive(Debug)]
pub(super) struct Node {
    /// The line on which the value begins, counted from 1.
    pub(super) line: usize,
    value: Value,
    /// The bytes that the value would take if its aliases were copies.
    size: usize,
    /// How deep lists and maps nest in it.
    depth: usize,
}

#[derive(Debug)]
enum Value {
    Scalar {
        text: String,
        plain: bool,
        tag: Option<String>,
    },
    List(Vec<Rc<Node>>),
    Map(Vec<(String, Rc<Node>)>),
    /// A number, boolean or null from a JSON file.
    Json(Json),
}

impl Node {
    /// Parses a text that contains one document.
    /// An error names the place where the text is not YAML, or where a second document begins.
    pub(super) fn parse(text: &str) -> Result<Rc<Node>> {
        let text = text.trim_start_matches('\u{feff}');
        let mut building = Building::default();
        let at = |place: Marker| Place { line: place.line(), column: place.col() + 1 };
        // Where PyYAML and the specification differ, PyYAML wrote the file.
        let as_pyyaml = granit_parser::options! { block_scalar_eof_without_line_feed: true };
        for event in Parser::new_from_str_with_options(text, as_pyyaml) {
            let (event, span) = event.map_err(|e| Error::new(format!("not YAML: {}", e.info())).at(at(*e.marker())))?;
            building.take(event, span).map_err(|what| Error::new(what).at(at(span.start)))?;
        }
        building.root.ok_or_else(|| Error::new("the file is empty"))
    }

    /// Converts a JSON file into the same tree.
    pub(super) fn of_json(json: &Json) -> Rc<Node> {
        let scalar = |text: String, plain| Value::Scalar { text, plain, tag: None };
        let value = match json {
            Json::Array(elements) => Value::List(elements.iter().map(Node::of_json).collect()),
            Json::Object(entries) => {
                Value::Map(entries.iter().map(|(k, v)| (k.to_string(), Node::of_json(v))).collect())
            }
            Json::Str(text) => scalar(text.clone(), false),
            other => Value::Json(other.clone()),
        };
        Rc::new(Node { line: 1, value, size: 0, depth: 0 })
    }

    /// The value of a key; the last value if the key is repeated, and `None` if it is missing.
    pub(super) fn value(&self, key: &str) -> Option<&Node> {
        self.entries().iter().rfind(|(name, _)| name == key).map(|(_, node)| &**node)
    }

    /// The value of a key, as [`Node::value`] returns it; `None` if it is null.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.value(key).filter(|node| !node.is_null())
    }

    /// The value of a key, ignoring case.
    pub(super) fn get_any_case(&self, key: &str) -> Option<&Node> {
        let found = self.entries().iter().rfind(|(name, _)| name.eq_ignore_ascii_case(key));
        found.map(|(_, node)| &**node)
    }

    /// The entries of a map, in the order of the file, the last one of equal keys last; empty if the value is not a map.
    pub(super) fn entries(&self) -> &[(String, Rc<Node>)] {
        if let Value::Map(entries) = &self.value { entries } else { &[] }
    }

    /// The elements of a list; `None` if the value is not a list.
    pub(super) fn list(&self) -> Option<&[Rc<Node>]> {
        if let Value::List(elements) = &self.value { Some(elements) } else { None }
    }

    /// The text of a scalar, even if it could be read as a number or another type. For `!!binary`, this is the decoded text.
    pub(super) fn text(&self) -> Option<Cow<'_, str>> {
        match &self.value {
            Value::Scalar { text, .. } => Some(match self.binary() {
                Some(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
                None => Cow::Borrowed(text),
            }),
            Value::Json(json) => Some(Cow::Owned(json.print(Layout::Compact))),
            Value::List(_) | Value::Map(_) => None,
        }
    }

    /// The bytes of a scalar: the decoded bytes for `!!binary`, otherwise the bytes of its text.
    pub(super) fn bytes(&self) -> Option<Vec<u8>> {
        self.binary().or_else(|| Some(self.text()?.into_owned().into_bytes()))
    }

    pub(super) fn is_null(&self) -> bool {
        match &self.value {
            Value::Scalar { .. } => self.json() == Json::Null,
            Value::Json(json) => *json == Json::Null,
            Value::List(_) | Value::Map(_) => false,
        }
    }

    /// The value as JSON. What JSON cannot express, such as dates and bytes, becomes text.
    pub(super) fn json(&self) -> Json {
        match &self.value {
            Value::Scalar { text, plain, tag } => match (tag.as_deref(), *plain) {
                (None, true) | (Some("int" | "float" | "bool" | "null"), _) => scalar::resolved(text),
                (Some("binary"), _) => self.text().unwrap_or_default().into_owned().into(),
                _ => text.as_str().into(),
            },
            Value::Json(json) => json.clone(),
            Value::List(elements) => Json::Array(elements.iter().map(|node| node.json()).collect()),
            Value::Map(entries) => Json::object(entries.iter().map(|(key, node)| (key.clone(), node.json()))),
        }
    }

    /// The first thing that an object of Python is made of, which PyYAML writes as `[Accept]`, `{args: [Accept]}` or
    /// `{state: [Accept]}`: the text of a text, the number of a status, the bytes of a buffer.
    fn first_part(&self) -> Option<Rc<Node>> {
        let parts = self.list().or_else(|| self.get("args").or_else(|| self.get("state"))?.list());
        parts?.first().cloned()
    }

    fn binary(&self) -> Option<Vec<u8>> {
        let Value::Scalar { text, tag: Some(tag), .. } = &self.value else { return None };
        let encoded: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        (tag == "binary").then(|| STANDARD.decode(encoded).ok()).flatten()
    }
}

/// A tree that is being built.
#[derive(Default)]
struct Building {
    open: Vec<Open>,
    anchors: HashMap<usize, Rc<Node>>,
    nodes: usize,
    /// The bytes that the aliases so far stand for.
    aliased: usize,
    documents: usize,
    root: Option<Rc<Node>>,
}

/// A list or map whose end has not been reached.
struct Open {
    anchor: usize,
    node: Node,
    key: Option<String>,
    /// Whether it stands for an object of Python, with what the object is made of.
    object: bool,
}

impl Building {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), String> {
        let line = span.start.line();
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err("a second YAML document, expected only one in a file".to_owned());
                }
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                let text = of_1_1(text, style, span);
                let plain = style == ScalarStyle::Plain;
                let size = size_of::<Node>() + text.len();
                let value = Value::Scalar { text, plain, tag: tag.map(|tag| name_of(&tag)) };
                self.put(anchor, Rc::new(Node { line, value, size, depth: 0 }))
            }
            Event::SequenceStart(_, anchor, tag) => self.begin(anchor, line, Value::List(Vec::new()), tag),
            Event::MappingStart(_, anchor, tag) => self.begin(anchor, line, Value::Map(Vec::new()), tag),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open { anchor, node, object, .. }) => {
                    let made_of = if object { node.first_part() } else { None };
                    self.put(anchor, made_of.unwrap_or_else(|| Rc::new(node)))
                }
                None => Ok(()),
            },
            Event::Alias(anchor) => {
                let node = self.anchors.get(&anchor).cloned().ok_or("an alias of a value that contains the alias")?;
                self.aliased = self.aliased.saturating_add(node.size);
                if self.aliased > MOST_ALIASED {
                    let most = MOST_ALIASED / 1_000_000;
                    return Err(format!("the aliases of this file stand for more than {most} MB"));
                }
                if self.open.len() + node.depth > MAX_DEPTH {
                    return Err(too_deep());
                }
                self.put(0, node)
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, anchor: usize, line: usize, value: Value, tag: Option<Cow<'_, Tag>>) -> Result<(), String> {
        if self.open.len() >= MAX_DEPTH {
            return Err(too_deep());
        }
        let object = tag.is_some_and(|tag| name_of(&tag).starts_with("python/object/"));
        let node = Node { line, value, size: size_of::<Node>(), depth: 1 };
        self.open.push(Open { anchor, node, key: None, object });
        Ok(())
    }

    fn put(&mut self, anchor: usize, node: Rc<Node>) -> Result<(), String> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(format!("more than {MAX_NODES} values"));
        }
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        let Some(parent) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        parent.node.size = parent.node.size.saturating_add(node.size);
        parent.node.depth = parent.node.depth.max(node.depth + 1);
        match (&mut parent.node.value, parent.key.take()) {
            (Value::List(elements), _) => elements.push(node),
            // The entries of other maps, which come before the map's own.
            (Value::Map(entries), Some(key)) if key == "<<" => {
                let maps = node.list().unwrap_or(std::slice::from_ref(&node));
                entries.splice(0..0, maps.iter().rev().flat_map(|map| map.entries().iter().cloned()));
            }
            (Value::Map(entries), Some(key)) => entries.push((key, node)),
            (Value::Map(_), None) => {
                parent.key = Some(node.text().ok_or("a key that is a list or a map")?.into_owned());
            }
            (Value::Scalar { .. } | Value::Json(_), _) => {}
        }
        Ok(())
    }
}

fn too_deep() -> String {
    format!("lists and maps nest deeper than {MAX_DEPTH}")
}

/// Returns a text by the rules of YAML 1.1. In this version, three more characters end a line. An indent follows each of them,
/// and the first of them counts as an ordinary line ending.
fn of_1_1(text: Cow<'_, str>, style: ScalarStyle, span: Span) -> String {
    const NEXT_LINE: char = '\u{85}';
    const BREAKS: [char; 3] = [NEXT_LINE, '\u{2028}', '\u{2029}'];
    if style == ScalarStyle::DoubleQuoted || !text.contains(BREAKS) {
        return text.into_owned();
    }
    let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
    // The column in which the text of a block begins is the indent of its lines.
    let indent = if block { span.start.col() } else { usize::MAX };
    let mut pieces = text.split_inclusive(BREAKS);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let spaces = piece.len() - piece.trim_start_matches(' ').len();
        out.push_str(&piece[spaces.min(indent)..]);
    }
    out.replace(NEXT_LINE, if block { "\n" } else { " " })
}

/// Returns the name of a tag, such as `binary` for `!!binary`; empty for tags of other schemas, whose values are text.
fn name_of(tag: &Tag) -> String {
    let of_schema = |schema| tag.suffix_in_namespace(schema);
    of_schema("tag:yaml.org,2002:").or_else(|| of_schema("!")).unwrap_or_default().into_owned()
}

#[cfg(test)]
mod tests;
