//! The error of a text that is not JSON.

use std::fmt;

use retake_base::error::Place;

/// Why a text is not JSON, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// A lower-case fragment that says what was found and what was expected.
    pub message: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
}

impl JsonError {
    /// Creates the error from a byte offset and a reason.
    pub(super) fn at(text: &[u8], (at, message): (usize, String)) -> JsonError {
        let before = String::from_utf8_lossy(&text[..at.min(text.len())]);
        let Place { line, column } = Place::of(&before, usize::MAX);
        JsonError { message, line, column }
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at line {}, column {}", self.message, self.line, self.column)
    }
}

impl std::error::Error for JsonError {}
