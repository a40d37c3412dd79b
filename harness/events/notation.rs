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
    if text.is_empty() || text.contains(odd) { Cow::Owned(quoted(text)) } else { Cow::Borrowed(text) }
}

/// A line of prose: as it is, or in JSON quotes where its ends or a part of it would not be seen.
pub(super) fn prose(text: &str) -> Cow<'_, str> {
    let odd = text.trim() != text || text.starts_with('"') || text.contains(|c| is_unseen(c) || "×…".contains(c));
    if odd { Cow::Owned(quoted(text)) } else { Cow::Borrowed(text) }
}

/// A text in JSON quotes.
pub(super) fn quoted(text: &str) -> String {
    visible(&Json::from(text).print(Layout::Compact)).into_owned()
}

/// The text with the characters that nobody sees escaped, as in JSON.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
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
    visible(&normalized(value, normalize)).into_owned()
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
fn is_time(number: &Json) -> bool {
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
mod tests {
    use super::*;

    #[test]
    fn a_name_is_quoted_where_it_could_be_misread() {
        for plain in ["run_id", "é", "on-chain.end", "<UUID>", "a:b", "/x/-1", "…"] {
            assert_eq!(name(plain), plain);
        }
        let odd = [
            ("", "\"\""),
            ("a b", "\"a b\""),
            ("a\n", "\"a\\n\""),
            ("a\u{7f}\u{a0}\u{200b}", "\"a\\u007f\\u00a0\\u200b\""),
            ("a?", "\"a?\""),
            ("a\"", "\"a\\\"\""),
        ];
        for (text, spelled) in odd {
            assert_eq!(name(text), spelled);
        }
    }

    #[test]
    fn prose_is_quoted_where_it_would_not_be_seen() {
        assert_eq!(prose("still here, wait"), "still here, wait");
        for (text, spelled) in [("a ", "\"a \""), ("a\u{2028}", "\"a\\u2028\""), ("ping ×2", "\"ping ×2\"")] {
            assert_eq!(prose(text), spelled);
        }
    }

    #[test]
    fn numbers_that_are_points_in_time_are_one() {
        let plain = |json: &str| value(&Json::parse(json.as_bytes()).unwrap(), &str::to_owned);
        let times = "[1795310937, 1795310937.2082062, 1795310951851, 1795310951851.5, 1795310951851000, \
                     1600000000, 2099999999000000000]";
        assert_eq!(plain(times), "[<TS>, <TS>, <TS>, <TS>, <TS>, <TS>, <TS>]");
        for number in ["0", "1599999999", "2100000000", "-1795310937", "179531093", "17953109371", "0.1795310937"] {
            assert_eq!(plain(number), number);
        }
        assert_eq!(plain("\"1795310937\""), "\"1795310937\"");
    }

    #[test]
    fn values_are_normalized_part_by_part() {
        let json = Json::parse(br#"{"b9": [1.0, null, "9\n"], "a9": 19, "c": "\u2028"}"#).unwrap();
        let normalize = |text: &str| text.replace('9', "#");
        assert_eq!(value(&json, &normalize), r##"{"a#": 1#, "b#": [1.0, null, "#\n"], "c": "\u2028"}"##);
    }
}
