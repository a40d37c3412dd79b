//! Which session a call belongs to.

use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::str::FromStr;

use axum::http::{HeaderMap, HeaderName};

use retake_core::json::{Json, Layout};
use retake_wire::Call;

/// What tells the sessions of equal conversations apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionBy {
    /// A header of the call.
    Header(HeaderName),
    /// A value in the call's body, as a JSON pointer.
    Body(String),
    /// The first message that is not the system's, before anything is removed from it.
    FirstMessage,
}

impl SessionBy {
    /// Returns the session of a call; `None` if the call does not say it.
    pub(super) fn of(&self, headers: &HeaderMap, call: &Call, request: &Json) -> Option<String> {
        match self {
            SessionBy::Header(name) => {
                let value = headers.get(name)?.as_bytes();
                (!value.is_empty()).then(|| String::from_utf8_lossy(value).into_owned())
            }
            SessionBy::Body(pointer) => match request.pointer(pointer)? {
                Json::Null => None,
                Json::Str(text) => (!text.is_empty()).then(|| text.clone()),
                value => Some(value.print(Layout::Compact)),
            },
            SessionBy::FirstMessage => {
                let first = call.messages.iter().find(|message| message.kind != "system")?;
                let mut hasher = DefaultHasher::new();
                (&first.kind, first.content.print(Layout::Compact)).hash(&mut hasher);
                Some(format!("{:016x}", hasher.finish()))
            }
        }
    }
}

impl fmt::Display for SessionBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SessionBy::Header(name) => write!(f, "header:{name}"),
            SessionBy::Body(pointer) => write!(f, "json:{pointer}"),
            SessionBy::FirstMessage => f.write_str("first-message"),
        }
    }
}

impl FromStr for SessionBy {
    type Err = String;

    /// Reads `header:x-session-id`, `json:/user` or `first-message`.
    fn from_str(text: &str) -> Result<SessionBy, String> {
        let known = "write header:NAME, json:/POINTER or first-message";
        match text.split_once(':') {
            None if text == "first-message" => Ok(SessionBy::FirstMessage),
            Some(("header", name)) => {
                let name = name.trim().parse().map_err(|_| format!("`{name}` is not the name of a header: {known}"))?;
                Ok(SessionBy::Header(name))
            }
            Some(("json", pointer)) if pointer.starts_with('/') => Ok(SessionBy::Body(pointer.to_owned())),
            Some(("json", pointer)) => Err(format!("`{pointer}` is not a JSON pointer, which begins with /: {known}")),
            _ => Err(format!("`{text}` is unknown: {known}")),
        }
    }
}

#[cfg(test)]
mod tests;
