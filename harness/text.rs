//! Texts as people read them: cut, counted, made visible, and the name that was meant. Pure.

use std::borrow::Cow;

/// The most characters of one line of an error: what was found may be a line of a megabyte.
const LONGEST_LINE: usize = 700;
/// Of a longer line, what stands around a place is shown.
const AROUND_WIDTH: usize = 160;

/// A text for a terminal: what would move its cursor, colour it or turn its letters round is written out, and of a long
/// line stand the beginning and the end.
pub(crate) fn readable(text: &str) -> Cow<'_, str> {
    let is_long = |line: &str| line.len() > LONGEST_LINE && line.chars().count() > LONGEST_LINE;
    if !text.chars().any(is_hidden) && !text.lines().any(is_long) {
        return Cow::Borrowed(text);
    }
    let lines = text.split('\n').map(|line| {
        let line = visible(line);
        if !is_long(&line) {
            return line;
        }
        let half = LONGEST_LINE / 2;
        let begin: String = line.chars().take(half).collect();
        let end: String = line.chars().skip(line.chars().count() - half).collect();
        format!("{begin} … {end}")
    });
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

/// A text with what no terminal shows as itself written out.
pub(crate) fn visible(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) {
            visible.extend(c.escape_default());
        } else {
            visible.push(c);
        }
    }
    visible
}

/// Controls but for line breaks and tabs, and the marks that turn the direction of writing.
fn is_hidden(c: char) -> bool {
    let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (c.is_control() && !matches!(c, '\n' | '\t'))
}

/// A line, or what of a long one stands around a byte offset.
pub(crate) fn around(line: &str, offset: usize) -> String {
    let chars: Vec<char> = line.chars().collect();
    if chars.len() <= AROUND_WIDTH {
        return with_its_end_shown(line);
    }
    let middle = line.char_indices().take_while(|(i, _)| *i < offset).count();
    let start = middle.saturating_sub(AROUND_WIDTH / 3).min(chars.len() - AROUND_WIDTH);
    let end = start + AROUND_WIDTH;
    let (before, after) = (if start > 0 { "…" } else { "" }, if end < chars.len() { "…" } else { "" });
    format!("{before}{}{after}", with_its_end_shown(&chars[start..end].iter().collect::<String>()))
}

/// Control characters and white space at the end as people can see them.
fn with_its_end_shown(line: &str) -> String {
    let body = line.trim_end();
    let tail: String = line[body.len()..]
        .chars()
        .flat_map(|c| if c == ' ' { vec!['·'] } else { c.escape_debug().collect() })
        .collect();
    let body: String =
        body.chars().flat_map(|c| if c.is_control() { c.escape_debug().collect() } else { vec![c] }).collect();
    body + &tail
}

/// A text, or its first `width` characters.
pub(crate) fn clipped(text: &str, width: usize) -> Cow<'_, str> {
    match text.char_indices().nth(width) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// A number with its noun: `1 turn`, `2 turns`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// The name among `known` that a person most likely meant, if one is near enough, capitals or not.
#[must_use]
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A name of a megabyte is near to nothing, and comparing it takes long.
    if name.len() > 200 {
        return None;
    }
    let lower = name.to_lowercase();
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= name.len().max(candidate.len()).div_ceil(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests;
