//! Google's Gemini API, with its own paths and with those of Vertex AI.

pub(super) mod answer;
mod parts;
pub(super) mod render;
pub(super) mod request;
pub(super) mod stream;

pub(super) use parts::is_thought;

/// Returns the model and the method from the end of a path such as `models/gemini-3-flash:streamGenerateContent`.
pub(super) fn of_path(path: &str) -> Option<(&str, &str)> {
    let (path, _) = path.split_once(['?', '#']).unwrap_or((path, ""));
    path.trim_end_matches('/').rsplit('/').next()?.rsplit_once(':')
}

/// Whether a path asks for SSE. If it does not, a stream is one JSON array.
pub(super) fn asks_for_sse(path: &str) -> bool {
    let query = path.split_once('?').map_or("", |(_, query)| query);
    query.split(['&', '#']).any(|pair| pair.eq_ignore_ascii_case("alt=sse"))
}
