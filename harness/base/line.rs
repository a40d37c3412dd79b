//! Lines of evidence: each says by its type, and not by its first character, whether it stands for the recording or for the run.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Which side a line stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Side {
    /// Neither: it is about both, or is the same on both.
    #[default]
    #[serde(skip)]
    Both,
    /// What was recorded, or is in the golden, and is not there any more.
    #[serde(rename = "-")]
    Gone,
    /// What is there in this run.
    #[serde(rename = "+")]
    Come,
}

/// One line of evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Line {
    /// `-` for what was recorded or is in the golden, `+` for this run; absent for a line that is about both.
    #[serde(rename = "sign", default, skip_serializing_if = "is_default")]
    pub side: Side,
    /// The columns before the sign.
    #[serde(default, skip_serializing_if = "is_default")]
    pub indent: usize,
    /// The text after the sign.
    pub text: String,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Line {
    pub fn of(side: Side, indent: usize, text: impl Into<String>) -> Line {
        Line { side, indent, text: text.into() }
    }

    /// The same line, further to the right.
    #[must_use]
    pub fn indented(self, columns: usize) -> Line {
        Line { indent: self.indent + columns, ..self }
    }
}

impl<T: Into<String>> From<T> for Line {
    fn from(text: T) -> Line {
        Line::of(Side::Both, 0, text)
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.side {
            Side::Both => "",
            Side::Gone => "- ",
            Side::Come => "+ ",
        };
        // An empty line stays empty.
        let indent = if self.text.is_empty() && sign.is_empty() { 0 } else { self.indent };
        write!(f, "{:indent$}{sign}{}", "", self.text)
    }
}

/// The lines of a text that is about both sides.
pub fn lines_of(text: &str) -> Vec<Line> {
    text.lines().map(Line::from).collect()
}

/// Lines as they are printed.
pub fn texts(lines: &[Line]) -> Vec<String> {
    lines.iter().map(ToString::to_string).collect()
}
