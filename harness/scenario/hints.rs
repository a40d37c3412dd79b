//! What an error says of names: those that there are, and the one that was most likely meant.

use crate::error::Error;
use crate::text::nearest;

/// Adds the nearest known name, if one is near.
pub(super) fn suggest<'a>(error: Error, name: &str, known: impl IntoIterator<Item = &'a str>) -> Error {
    match nearest(name, known) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error,
    }
}

/// "`a`, `b`".
pub(super) fn listed<S: AsRef<str>>(names: &[S]) -> String {
    names.iter().map(|name| format!("`{}`", name.as_ref())).collect::<Vec<_>>().join(", ")
}
