//! Functions that read the fields of a body, with errors that name the field.

use std::fmt;

use retake_core::conversation::Usage;
use retake_core::json::{Json, Layout, Object};

/// Why a body does not have the form that its API requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireError {
    /// The path of the field, what was expected and what was found, as in
    /// `messages[2].tool_calls[0].function.name: expected a string, found number`.
    pub message: String,
    /// Whether the body is an error that the provider itself reported.
    pub by_provider: bool,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for WireError {}

impl WireError {
    pub(crate) fn new(message: impl Into<String>) -> WireError {
        WireError { message: message.into(), by_provider: false }
    }

    /// The error for a field that is missing or has the wrong type.
    pub(crate) fn expected(field: &str, what: &str, found: Option<&Json>) -> WireError {
        WireError::new(format!("{field}: expected {what}, found {}", found.map_or("nothing", Json::kind)))
    }

    /// The error for a body in which the provider reported an error instead of an answer.
    pub(crate) fn of_provider(error: &Json) -> WireError {
        let message = error.str_of("message").or(error.as_str());
        let message = message.map_or_else(|| error.print(Layout::Compact), str::to_owned);
        WireError { by_provider: true, ..WireError::new(format!("the provider's error: {message}")) }
    }

    /// Adds the name of an enclosing field to the front of the path.
    pub(crate) fn within(self, field: impl fmt::Display) -> WireError {
        WireError { message: format!("{field}.{}", self.message), ..self }
    }

    /// Adds the source of the body to the front of the message.
    pub(crate) fn of(self, source: impl fmt::Display) -> WireError {
        WireError { message: format!("{source}: {}", self.message), ..self }
    }
}

pub(crate) fn request(body: &Json) -> Result<&Object, WireError> {
    body.as_object().ok_or_else(|| WireError::expected("the request", "an object", Some(body)))
}

/// Fails if the body is an error that the provider reported.
pub(crate) fn no_error(body: &Json) -> Result<(), WireError> {
    given(body, "error").map_or(Ok(()), |error| Err(WireError::of_provider(error)))
}

/// Checks that a field is an array with at least one element. `what` names an element in the error.
pub(crate) fn filled(body: &Json, key: &str, what: &str) -> Result<(), WireError> {
    match body.get(key) {
        Some(Json::Array(items)) if items.is_empty() => {
            Err(WireError::new(format!("{key}: expected at least one {what}, found none")))
        }
        Some(Json::Array(_)) => Ok(()),
        found => Err(WireError::expected(key, "an array", found)),
    }
}

/// Returns the value of a field; `None` if it is missing or null.
pub(crate) fn given<'a>(object: &'a Json, key: &str) -> Option<&'a Json> {
    object.get(key).filter(|value| **value != Json::Null)
}

/// Returns a field as `read` reads it. `what` names what it has to be, in the error.
pub(crate) fn required<'a, T>(
    object: &'a Json,
    key: &str,
    what: &str,
    read: fn(&'a Json) -> Option<T>,
) -> Result<T, WireError> {
    let found = object.get(key);
    found.and_then(read).ok_or_else(|| WireError::expected(key, what, found))
}

pub(crate) fn string<'a>(object: &'a Json, key: &str) -> Result<&'a str, WireError> {
    required(object, key, "a string", Json::as_str)
}

pub(crate) fn index(object: &Json, key: &str) -> Result<u64, WireError> {
    required(object, key, "a whole number", Json::as_u64)
}

pub(crate) fn object<'a>(object: &'a Json, key: &str) -> Result<&'a Json, WireError> {
    required(object, key, "an object", |found| found.as_object().map(|_| found))
}

/// Returns a string; `None` if it is missing or null.
pub(crate) fn optional_string<'a>(object: &'a Json, key: &str) -> Result<Option<&'a str>, WireError> {
    given(object, key).map(|_| string(object, key)).transpose()
}

/// Reads counts of tokens at these places: those of the input, of the output, read from a cache, written to one, and of reasoning. One
/// that is not there, or has no place, is 0.
pub(crate) fn usage(counts: &Json, places: [&str; 5]) -> Usage {
    let [input, output, cached, cache_written, reasoning] =
        places.map(|at| counts.pointer(at).and_then(Json::as_u64).unwrap_or(0));
    Usage { input, output, cached, cache_written, reasoning }
}

/// Like [`usage`], where the count of the input is without what was read from a cache or written to one.
pub(crate) fn usage_beside_cache(counts: &Json, places: [&str; 4]) -> Usage {
    let [input, output, cached, cache_written] = places;
    let usage = usage(counts, [input, output, cached, cache_written, ""]);
    Usage { input: usage.input.saturating_add(usage.cached).saturating_add(usage.cache_written), ..usage }
}

/// Returns a boolean; `false` if it is missing or null.
pub(crate) fn flag(object: &Json, key: &str) -> Result<bool, WireError> {
    match given(object, key) {
        None => Ok(false),
        Some(Json::Bool(on)) => Ok(*on),
        found => Err(WireError::expected(key, "a boolean", found)),
    }
}

/// Returns an object; `None` if it is missing or null.
pub(crate) fn optional_object<'a>(object: &'a Json, key: &str) -> Result<Option<&'a Json>, WireError> {
    match given(object, key) {
        found @ (None | Some(Json::Object(_))) => Ok(found),
        found => Err(WireError::expected(key, "an object", found)),
    }
}

/// Calls `read` with each object of an array and collects the results. A field that is missing or null counts as an empty array.
pub(crate) fn each<T>(
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
