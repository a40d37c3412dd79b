//! How a golden writes names, texts and values, so no character of them is invisible or mistaken for notation.

use std::borrow::Cow;
use std::ops::Range;

use sha2::{Digest as _, Sha256};

use crate::json::{Json, Layout};

/// Replaces texts that vary between runs with names.
pub(super) type Normalize<'a> = dyn Fn(&str) -> String + 'a;

/// Returns a name as a golden writes it: in JSON quotes if it is empty or contains white space, notation or an invisible
/// character.
pub(super) fn name(text: &str) -> Cow<'_, str> {
    let odd = |c: char| c.is_whitespace() || is_unseen(c) || "{}[],|?=\"".contains(c);
    if text.is_empty() || text.contains(odd) { Cow::Owned(json_quoted(text)) } else { Cow::Borrowed(text) }
}

/// Returns a line of prose as a golden writes it: in JSON quotes if one of its ends or another part of it would be invisible
/// or ambiguous.
pub(super) fn prose(text: &str) -> Cow<'_, str> {
    let odd = text.trim() != text || text.starts_with('"') || text.contains(|c| is_unseen(c) || "×…".contains(c));
    if odd { Cow::Owned(json_quoted(text)) } else { Cow::Borrowed(text) }
}

pub(super) fn json_quoted(text: &str) -> String {
    unseen_escaped(&Json::from(text).print(Layout::Compact)).into_owned()
}

/// Returns the text with its invisible characters escaped, as in JSON.
pub(super) fn unseen_escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unseen) {
        return Cow::Borrowed(text);
    }
    let seen = |c| if is_unseen(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    Cow::Owned(text.chars().map(seen).collect())
}

/// What replaces a point in time. The rules of the key use the same word in texts.
pub(super) const TIME: &str = "<TS>";

/// The seconds since 1970 that count as a point in time: from September 2020 to July 2036.
const TIMES: Range<f64> = 1.6e9..2.1e9;

/// Whether a number is a point in time, in seconds, milliseconds, microseconds or nanoseconds since 1970.
pub fn is_time(number: &Json) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "the range is far wider")]
    let number = match number {
        Json::Int(number) => *number as f64,
        Json::Float(number) => *number,
        _ => return false,
    };
    [1.0, 1e3, 1e6, 1e9].iter().any(|unit| TIMES.contains(&(number / unit)))
}

/// The distance between columns of texts.
const COLUMNS: usize = 8;

/// Appends a name and, in a column after it, a text. The first column follows names of up to `width` characters; longer names
/// use a later one. So the column of a line never depends on other lines.
pub(super) fn padded(name: &str, text: &str, width: usize, out: &mut String) {
    out.push_str(name);
    if !text.is_empty() {
        let length = name.chars().count();
        let column = width + length.saturating_sub(width).next_multiple_of(COLUMNS);
        out.extend(std::iter::repeat_n(' ', column - length + 2));
        out.push_str(text);
    }
}

pub(super) fn pointer_token(key: &str) -> Cow<'_, str> {
    if key.contains(['~', '/']) { Cow::Owned(key.replace('~', "~0").replace('/', "~1")) } else { Cow::Borrowed(key) }
}

/// What is called with a key, a pointer and the scalar there.
type OnScalar<'a> = dyn FnMut(&str, &str, &Json) + 'a;

/// Calls `found` with each scalar of a value: the last key on the way to it, its pointer, in which `*` is any element, and itself.
pub(super) fn each_scalar((key, at): (&str, &str), value: &Json, normalize: &Normalize, found: &mut OnScalar<'_>) {
    match value {
        Json::Object(entries) => {
            for (key, value) in entries.iter() {
                let at = format!("{at}/{}", pointer_token(&normalize(key)));
                each_scalar((key, &at), value, normalize, found);
            }
        }
        Json::Array(items) => {
            let at = format!("{at}/*");
            for item in items {
                each_scalar((key, &at), item, normalize, found);
            }
        }
        scalar => found(key, at, scalar),
    }
}

/// Whether a character is a control character, white space other than a space, or a character without width.
pub(super) fn is_unseen(c: char) -> bool {
    c.is_control()
        || (c.is_whitespace() && c != ' ')
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// The text as HTML; `None` if that is the same.
pub(super) fn html(text: &str) -> Option<String> {
    let escaped = text.trim().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    (text.contains(['&', '<', '>', '"', '\''])).then_some(escaped)
}

/// The beginning of a hash.
pub(super) fn hash(of: impl AsRef<[u8]>) -> String {
    let hash = Sha256::digest(of);
    format!("{:02x}{:02x}", hash[0], hash[1])
}

#[cfg(test)]
mod tests;
