//! Whether a tool failed, as its result says.

use super::field::{structured, text_of};
use retake_base::text::clipped;
use retake_core::json::Json;

/// Says that only one of two results, both of which are JSON, is an error, and which, with at most `width` characters of it.
pub(super) fn change(recorded: &str, called: &str, width: usize) -> Option<String> {
    let (was, is) = (structured(recorded)?, structured(called)?);
    let (what, error) = match (error_in(&was), error_in(&is)) {
        (None, Some(error)) => ("returned an error, where none was recorded", error),
        (Some(error), None) => ("succeeded, where an error was recorded", error),
        _ => return None,
    };
    Some(format!("{what} ({:?})", clipped(&text_of(Some(error)), width)))
}

/// What a result says went wrong: its error, or all of it if it only says that it is not `ok`.
fn error_in(result: &Json) -> Option<&Json> {
    let is_not_ok = || result.get("ok") == Some(&Json::Bool(false));
    result.get("error").filter(|error| error.is_truthy()).or_else(|| is_not_ok().then_some(result))
}
