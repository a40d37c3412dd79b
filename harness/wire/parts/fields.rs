//! Reading fields of a body, with errors that say which field it was.

use std::fmt;

use crate::json::{Json, Layout, Object};

/// Why a body is not what its API says it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireError {
    /// The path of the field, what was expected and what was found, as in
    /// `messages[2].tool_calls[0].function.name: expected a string, found number`.
    pub message: String,
    /// Whether the provider said that it failed, in words of its own.
    pub by_provider: bool,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for WireError {}

impl WireError {
    pub(in crate::wire) fn new(message: impl Into<String>) -> WireError {
        WireError { message: message.into(), by_provider: false }
    }

    /// A field that is of another type, or absent.
    pub(in crate::wire) fn expected(field: &str, what: &str, found: Option<&Json>) -> WireError {
        WireError::new(format!("{field}: expected {what}, found {}", found.map_or("nothing", Json::kind)))
    }

    /// What a provider put where its answer should be.
    pub(in crate::wire) fn of_provider(error: &Json) -> WireError {
        let message = error.str_of("message").or(error.as_str());
        let message = message.map_or_else(|| error.print(Layout::Compact), str::to_owned);
        WireError { by_provider: true, ..WireError::new(format!("the provider's error: {message}")) }
    }

    /// Puts the field around the one at fault before its path.
    pub(in crate::wire) fn within(self, field: impl fmt::Display) -> WireError {
        WireError { message: format!("{field}.{}", self.message), ..self }
    }

    /// Puts before all else where the body at fault came from.
    pub(in crate::wire) fn of(self, source: impl fmt::Display) -> WireError {
        WireError { message: format!("{source}: {}", self.message), ..self }
    }
}

/// The fields of a request's body.
pub(in crate::wire) fn request(body: &Json) -> Result<&Object, WireError> {
    body.as_object().ok_or_else(|| WireError::expected("the request", "an object", Some(body)))
}

/// Checks that a field is an array, and not an empty one.
pub(in crate::wire) fn filled(body: &Json, key: &str, what: &str) -> Result<(), WireError> {
    match body.get(key) {
        Some(Json::Array(items)) if items.is_empty() => {
            Err(WireError::new(format!("{key}: expected at least one {what}, found none")))
        }
        Some(Json::Array(_)) => Ok(()),
        found => Err(WireError::expected(key, "an array", found)),
    }
}

/// A field's value; null is as good as absent.
pub(in crate::wire) fn given<'a>(object: &'a Json, key: &str) -> Option<&'a Json> {
    object.get(key).filter(|value| **value != Json::Null)
}

/// A string that has to be there.
pub(in crate::wire) fn string<'a>(object: &'a Json, key: &str) -> Result<&'a str, WireError> {
    let found = object.get(key);
    found.and_then(Json::as_str).ok_or_else(|| WireError::expected(key, "a string", found))
}

/// A string, unless absent or null.
pub(in crate::wire) fn optional_string<'a>(object: &'a Json, key: &str) -> Result<Option<&'a str>, WireError> {
    given(object, key).map(|_| string(object, key)).transpose()
}

/// A boolean; absent and null are false.
pub(in crate::wire) fn flag(object: &Json, key: &str) -> Result<bool, WireError> {
    match given(object, key) {
        None => Ok(false),
        Some(Json::Bool(on)) => Ok(*on),
        found => Err(WireError::expected(key, "a boolean", found)),
    }
}

/// An object, unless absent or null.
pub(in crate::wire) fn optional_object<'a>(object: &'a Json, key: &str) -> Result<Option<&'a Json>, WireError> {
    match given(object, key) {
        found @ (None | Some(Json::Object(_))) => Ok(found),
        found => Err(WireError::expected(key, "an object", found)),
    }
}

/// What becomes of each object in an array; absent and null are empty.
pub(in crate::wire) fn each<T>(
    object: &Json,
    key: &str,
    mut read: impl FnMut(&Json) -> Result<T, WireError>,
) -> Result<Vec<T>, WireError> {
    let items = match given(object, key) {
        None => return Ok(Vec::new()),
        Some(Json::Array(items)) => items,
        found => return Err(WireError::expected(key, "an array", found)),
    };
    let read_at = |(i, item): (usize, &Json)| match item {
        Json::Object(_) => read(item).map_err(|error| error.within(format_args!("{key}[{i}]"))),
        _ => Err(WireError::expected(&format!("{key}[{i}]"), "an object", Some(item))),
    };
    items.iter().enumerate().map(read_at).collect()
}
