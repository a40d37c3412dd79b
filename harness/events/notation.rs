//! How names, texts and values are written in a golden, so that nothing in them is unseen or taken for notation.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use crate::json::{Json, Layout};

/// Replaces what differs from run to run by names.
pub(super) type Normalize<'a> = dyn Fn(&str) -> String + 'a;

/// A name: as it is, or in JSON quotes where it is empty or holds white space, notation, or a character that nobody
/// sees.
pub(super) fn name(text: &str) -> Cow<'_, str> {
    let odd = |c: char| c.is_whitespace() || is_unseen(c) || "{}[],|?=\"".contains(c);
    if text.is_empty() || text.contains(odd) { Cow::Owned(json_quoted(text)) } else { Cow::Borrowed(text) }
}

/// A line of prose: as it is, or in JSON quotes where its ends or a part of it would not be seen.
pub(super) fn prose(text: &str) -> Cow<'_, str> {
    let odd = text.trim() != text || text.starts_with('"') || text.contains(|c| is_unseen(c) || "×…".contains(c));
    if odd { Cow::Owned(json_quoted(text)) } else { Cow::Borrowed(text) }
}

/// A text in JSON quotes.
pub(super) fn json_quoted(text: &str) -> String {
    unseen_escaped(&Json::from(text).print(Layout::Compact)).into_owned()
}

/// The text with the characters that nobody sees escaped, as in JSON.
pub(super) fn unseen_escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unseen) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().fold(String::with_capacity(text.len() + 8), |mut out, c| {
        if is_unseen(c) {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
        out
    }))
}

/// A value as one line of JSON. Each string, number and key in it is normalized as a text of its own, so that a
/// pattern sees a path without the quote behind it. A number that is a point in time is `<TS>`: agent services stamp their
/// events so, and no pattern could tell.
pub(super) fn value(value: &Json, normalize: &Normalize) -> String {
    unseen_escaped(&normalized(value, normalize)).into_owned()
}

fn normalized(value: &Json, normalize: &Normalize) -> String {
    match value {
        Json::Null | Json::Bool(_) => value.print(Layout::Python),
        Json::Int(_) | Json::Float(_) if is_time(value) => TIME.to_owned(),
        Json::Int(_) | Json::BigInt(_) | Json::Float(_) => normalize(&value.print(Layout::Python)),
        Json::Str(text) => Json::Str(normalize(text)).print(Layout::Python),
        Json::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| normalized(item, normalize)).collect();
            format!("[{}]", items.join(", "))
        }
        Json::Object(entries) => {
            let entry = |(key, item): (&str, _)| {
                format!("{}: {}", Json::Str(normalize(key)).print(Layout::Python), normalized(item, normalize))
            };
            let mut entries: Vec<_> = entries.iter().map(entry).collect();
            entries.sort_unstable();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// What a point in time is called, in a text by the key's own rules too.
const TIME: &str = "<TS>";

/// The seconds since 1970 that are taken for a point in time: from September 2020 to July 2036.
const TIMES: Range<f64> = 1.6e9..2.1e9;

/// Whether a number is a point in time, in seconds, milliseconds, microseconds or nanoseconds since 1970.
pub(crate) fn is_time(number: &Json) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "the range is far wider")]
    let number = match number {
        Json::Int(number) => *number as f64,
        Json::Float(number) => *number,
        _ => return false,
    };
    [1.0, 1e3, 1e6, 1e9].iter().any(|unit| TIMES.contains(&(number / unit)))
}

/// Control characters, white space other than a blank, and characters without width.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || (c.is_whitespace() && c != ' ')
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests;
