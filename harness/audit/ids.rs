//! Which texts are ids, by their form.

/// Whether a text is an id that a service or a provider made up: a UUID, or a word that ends in 12 or more letters and digits,
/// of which some are digits: `call_9f3b4c1d8e5a`, `chatcmpl-AbC123…`, `4f1c0b9e7a2d`.
pub(super) fn is_id(text: &str) -> bool {
    if text.len() > 128 || !text.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-' || c == b'_') {
        return false;
    }
    let is_hex = |part: &str| part.bytes().all(|c| c.is_ascii_hexdigit());
    let parts: Vec<&str> = text.split('-').collect();
    if parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12]) {
        return parts.iter().all(|part| is_hex(part));
    }
    let last = text.rsplit(['-', '_']).next().unwrap_or_default();
    let has_digit = last.bytes().any(|c| c.is_ascii_digit());
    last.len() >= 12 && has_digit && (is_hex(last) || last.len() < text.len())
}

#[cfg(test)]
mod tests;
