//! A JSON value kept as its text: a recorded body is printed once, and sent often.

use std::fmt;

use bytes::Bytes;

use super::printer::Layout;
use super::value::Json;

/// A JSON value as compact text. Cloning shares it.
#[derive(Clone, PartialEq, Eq)]
pub struct JsonText(Bytes);

impl JsonText {
    /// The value itself.
    #[must_use]
    pub fn json(&self) -> Json {
        // It was printed from a value, so it parses.
        Json::parse(&self.0).unwrap_or(Json::Null)
    }

    /// The text, as it goes over HTTP.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        self.0.clone()
    }

    /// Whether the value is an array.
    #[must_use]
    pub fn is_array(&self) -> bool {
        self.0.first() == Some(&b'[')
    }
}

impl From<&Json> for JsonText {
    fn from(json: &Json) -> JsonText {
        JsonText(json.print(Layout::Compact).into())
    }
}

impl fmt::Debug for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}
