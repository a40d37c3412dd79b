//! The arguments of a tool call, which are text in some APIs and an object in others.

use retake_core::json::{Json, Layout};

/// Parses arguments that are text. Empty text becomes an empty object, and text that is not JSON stays a string.
pub(crate) fn parsed(arguments: &str) -> Json {
    if arguments.is_empty() {
        return Json::object::<String>([]);
    }
    Json::parse(arguments.as_bytes()).unwrap_or_else(|_| arguments.into())
}

/// Returns arguments as text, the reverse of [`parsed`]. A string that is not JSON is returned as it is; a string that would
/// parse as another value is returned in quotes.
pub(crate) fn unparsed(args: &Json) -> String {
    match args {
        Json::Str(text) if parsed(text) == *args => text.clone(),
        args => args.print(Layout::Compact),
    }
}

#[cfg(test)]
mod tests;
