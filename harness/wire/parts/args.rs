//! The arguments of a tool call: text on some wires, an object on others.

use crate::json::{Json, Layout};

/// Arguments as text, parsed: none are an empty object, and what is not JSON stays text.
pub(in crate::wire) fn parsed(arguments: &str) -> Json {
    if arguments.is_empty() {
        return Json::object::<String>([]);
    }
    Json::parse(arguments.as_bytes()).unwrap_or_else(|_| arguments.into())
}

/// Arguments as text. Text that did not parse goes out as it came; text that would be read as something else has
/// quotes.
pub(in crate::wire) fn unparsed(args: &Json) -> String {
    match args {
        Json::Str(text) if parsed(text) == *args => text.clone(),
        args => args.print(Layout::Compact),
    }
}

#[cfg(test)]
mod tests;
