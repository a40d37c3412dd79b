//! Shows how two texts differ: as a short diff, and as the words that changed.

use similar::{ChangeTag, TextDiff};

use retake_base::line::{Line, Side};
use retake_base::text::{apart, around};

/// The most lines of a diff that are shown.
const DIFF_LINES: usize = 20;
/// Texts are compared line by line if what lies between their common ends is at most this many bytes long.
const COMPARED: usize = 20_000;

/// Returns a diff of two texts in at most [`DIFF_LINES`] lines, including a line with the words that changed.
pub(super) fn diff(recorded: &str, called: &str) -> Vec<Line> {
    let (prefix, suffix) = common_ends(recorded, called);
    let (left, right) = (&recorded[prefix..recorded.len() - suffix], &called[prefix..called.len() - suffix]);
    let mut lines = Vec::new();
    if left.len().max(right.len()) <= COMPARED {
        let first_line = recorded[..prefix].matches('\n').count();
        let line_start = recorded[..prefix].rfind('\n').map_or(0, |i| i + 1);
        let lines_diff = TextDiff::from_lines(recorded, called);
        let changes = lines_diff.iter_all_changes().filter(|change| {
            let at = change.old_index().or(change.new_index()).unwrap_or(0);
            change.tag() != ChangeTag::Equal || (at + 1 == first_line && !change.value().trim().is_empty())
        });
        for change in changes {
            let (side, indent) = match change.tag() {
                ChangeTag::Delete => (Side::Gone, 2),
                ChangeTag::Insert => (Side::Come, 2),
                ChangeTag::Equal => (Side::Both, 4),
            };
            let line = change.value().trim_end_matches(['\n', '\r']);
            let start = if change.tag() == ChangeTag::Equal { 0 } else { prefix - line_start };
            lines.push(Line::of(side, indent, around(line, start)));
        }
    } else {
        lines.push(Line::of(Side::Gone, 2, around(&left.replace('\n', "⏎"), 0)));
        lines.push(Line::of(Side::Come, 2, around(&right.replace('\n', "⏎"), 0)));
    }
    let more = lines.len().saturating_sub(DIFF_LINES - 2);
    if more > 0 {
        lines.truncate(DIFF_LINES - 2);
        lines.push(format!("    … {more} more lines").into());
    }
    let (was, is) = fragments_with_space(recorded, called);
    let short = |text: &str| text.chars().count() <= 60;
    lines.extend((short(was) && short(is)).then(|| format!("  words {was:?} → {is:?}").into()));
    lines
}

/// Returns the change from one text to another in one line: the words that changed, or the beginnings of longer changes.
pub fn change(recorded: &str, called: &str) -> String {
    change_within(recorded, called, 60)
}

/// The same as [`change`], with at most `width` characters of each text.
pub(super) fn change_within(recorded: &str, called: &str, width: usize) -> String {
    let (was, is) = fragments(recorded, called);
    // If the words are the same, the white space between them differs.
    let (was, is) = if was == is { fragments_with_space(recorded, called) } else { (was, is) };
    let (was, is) = apart(was, is, width);
    let shown = |words: &str| if words.is_empty() { "nothing".to_owned() } else { quoted(words) };
    format!("{} → {}", shown(&was), shown(&is))
}

/// Returns words in quotes. An ellipsis stands outside of them.
fn quoted(words: &str) -> String {
    let (before, inner) = words.strip_prefix('…').map_or(("", words), |inner| ("…", inner));
    let (inner, after) = inner.strip_suffix('…').map_or((inner, ""), |inner| (inner, "…"));
    format!("{before}{inner:?}{after}")
}

/// Returns the part of each text from the first word in which they differ to the last. A part may be empty.
pub(super) fn fragments<'a>(recorded: &'a str, called: &'a str) -> (&'a str, &'a str) {
    let (was, is) = fragments_with_space(recorded, called);
    (was.trim(), is.trim())
}

/// The same with the white space around the words.
fn fragments_with_space<'a>(recorded: &'a str, called: &'a str) -> (&'a str, &'a str) {
    let (prefix, suffix) = common_ends(recorded, called);
    let whole_words = |text: &'a str| {
        let start = prefix - text[..prefix].rsplit(char::is_whitespace).next().map_or(0, str::len);
        let end = text.len() - suffix;
        let end = end + text[end..].find(char::is_whitespace).unwrap_or(suffix);
        &text[start.min(end)..end]
    };
    (whole_words(recorded), whole_words(called))
}

/// Returns how many bytes two texts share at the front and, in the rest, at the back. Characters are never split.
pub(super) fn common_ends(a: &str, b: &str) -> (usize, usize) {
    let prefix: usize = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let back = a[prefix..].chars().rev().zip(b[prefix..].chars().rev());
    (prefix, back.take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum())
}

#[cfg(test)]
mod tests;
