//! Help for errors about names: the known names, and the one that was most likely meant.

use retake_base::error::Error;
use retake_base::text::nearest;

/// Adds the known name that is most similar, if any is similar enough.
pub(super) fn suggest<'a>(error: Error, name: &str, known: impl IntoIterator<Item = &'a str>) -> Error {
    match nearest(name, known) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error,
    }
}

/// Lists names as "`a`, `b`".
pub(super) fn listed<S: AsRef<str>>(names: &[S]) -> String {
    names.iter().map(|name| format!("`{}`", name.as_ref())).collect::<Vec<_>>().join(", ")
}
