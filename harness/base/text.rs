//! Helpers for text that people read: shortening, plurals, escaping what a terminal hides, suggesting a name. Pure.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// The largest number of characters in one line of an error. The offending text may be a line of a megabyte.
const LONGEST_LINE: usize = 700;
/// The number of characters to show around a position in a longer line.
const AROUND_WIDTH: usize = 160;

/// Returns the text in a form that is safe for a terminal: escapes the characters that would move the cursor, change the
/// colour or reverse the direction of writing, and keeps only the beginning and the end of a long line.
pub fn readable(text: &str) -> Cow<'_, str> {
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

/// A number with its digits in groups of three: `1,204`.
pub fn in_thousands(number: u64) -> String {
    let digits = number.to_string();
    digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect::<Vec<_>>().join(",")
}

/// Returns the text with escapes for the characters that a terminal does not show.
pub fn visible(text: &str) -> String {
    let shown = |c: char| if is_hidden(c) { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(shown).collect()
}

/// Returns the text as it is printed, so that whoever reads the output sees it and nothing acts on it: neither a terminal, for which
/// hidden characters are escaped, nor a CI system, which takes commands from lines of a log: `::add-mask::x` at the beginning of
/// a line, `##vso[task.complete]` anywhere. Escapes are those of JSON, so JSON keeps its meaning.
pub fn printed(text: &str) -> Cow<'_, str> {
    let mut printed = String::new();
    let (mut done, mut begins, mut before) = (0, true, '\n');
    for (at, c) in text.char_indices() {
        let is_command = match c {
            ':' => begins && text[at..].starts_with("::"),
            '#' => before == '#' && is_before_bracket(&text[at + 1..]),
            _ => false,
        };
        if is_command || is_hidden(c) {
            printed.push_str(&text[done..at]);
            let _ = write!(printed, "\\u{:04x}", u32::from(c));
            done = at + c.len_utf8();
        }
        begins = c == '\n' || (begins && c.is_whitespace());
        before = c;
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    printed.push_str(&text[done..]);
    Cow::Owned(printed)
}

/// Whether the text is the rest of a word and `[`.
fn is_before_bracket(rest: &str) -> bool {
    rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "._-".contains(c)).starts_with('[')
}

/// Whether a character is a control character other than a line break or a tab, or changes the direction of writing.
fn is_hidden(c: char) -> bool {
    let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (c.is_control() && !matches!(c, '\n' | '\t'))
}

/// Returns a line or, if it is long, its part around a byte offset.
pub fn around(line: &str, offset: usize) -> String {
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

/// Returns the line with its control characters and its trailing white space made visible.
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

/// Returns the text or, if it is longer than `width` characters, its first `width` characters and an ellipsis.
pub fn clipped(text: &str, width: usize) -> Cow<'_, str> {
    match text.char_indices().nth(width) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// The number of characters that two texts share before the place where they part, and that are shown with it.
const SHARED: usize = 10;

/// Returns two different texts, each in about `width` characters at most. If a text has to be cut, both are shown from the place
/// where they part, so they never look the same. If they differ only in white space, that is made visible; if only in how a letter
/// with an accent is written, its code points are.
pub fn apart(one: &str, other: &str, width: usize) -> (String, String) {
    let forms = unicode_forms(one, other);
    let without_space = |text: &str| text.split_whitespace().collect::<String>();
    let only_space = one != other && without_space(one) == without_space(other);
    let (mut one, mut other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let same = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    if only_space {
        let most = one.len().min(other.len()) - same;
        let at_end = one.iter().rev().zip(other.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
        for text in [&mut one, &mut other] {
            let end = text.len() - at_end;
            for c in &mut text[same..end] {
                *c = match *c {
                    ' ' => '·',
                    '\n' => '⏎',
                    '\t' => '⇥',
                    other => other,
                };
            }
        }
    }
    let is_short = one.len().max(other.len()) <= width;
    let from = if is_short || same < width / 2 || one == other { 0 } else { same - SHARED.min(same) };
    let cut = |text: &[char]| -> String {
        let (before, after) = (if from > 0 { "…" } else { "" }, if text.len() > from + width { "…" } else { "" });
        let window: String = text.iter().skip(from).take(width).collect();
        format!("{before}{window}{after}")
    };
    let (one, other) = (cut(&one), cut(&other));
    forms.map_or((one.clone(), other.clone()), |(of_one, of_other)| (one + &of_one, other + &of_other))
}

/// The code points of the first letter that two texts write differently, if the texts differ only in that: `é` as one character, and
/// as an `e` with an accent of its own. A text that was cut is as far as it goes.
fn unicode_forms(one: &str, other: &str) -> Option<(String, String)> {
    let of = |text: &str| -> String { text.trim_end_matches(['"', '…']).nfc().collect() };
    let (is_one_cut, is_other_cut) = (one.contains('…'), other.contains('…'));
    let (all_of_one, all_of_other) = (of(one), of(other));
    let is_same = all_of_one == all_of_other
        || is_one_cut && all_of_other.starts_with(&all_of_one)
        || is_other_cut && all_of_one.starts_with(&all_of_other);
    let (of_one, of_other) = first_letters(one, other).filter(|_| is_same)?;
    Some((format!(" ({of_one})"), format!(" ({of_other})")))
}

/// The Unicode form and the code points of the first letter that two texts write differently: `NFD, U+0065 U+0308`.
fn first_letters(one: &str, other: &str) -> Option<(String, String)> {
    let same = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let letter = |text: &str| -> Vec<char> {
        let mut rest = text.chars().skip(same);
        rest.next().into_iter().chain(rest.take_while(|c| is_combining_mark(*c))).collect()
    };
    let (of_one, of_other) = (letter(one), letter(other));
    let points = |letter: &[char]| {
        let form = if letter.len() > 1 { "NFD" } else { "NFC" };
        let points: Vec<String> = letter.iter().map(|c| format!("U+{:04X}", u32::from(*c))).collect();
        format!("{form}, {}", points.join(" "))
    };
    (of_one != of_other && of_one.iter().copied().nfc().eq(of_other.iter().copied().nfc()))
        .then(|| (points(&of_one), points(&of_other)))
}

/// The other Unicode form of a text: composed if it is not, and the other way round. `None` if it has only one. The words say which
/// form the text has and which the other one, with the code points of a letter.
pub fn in_other_form(text: &str) -> Option<(String, String)> {
    let (composed, decomposed): (String, String) = (text.nfc().collect(), text.nfd().collect());
    let other = if composed == text { decomposed } else { composed };
    let (own, its) = first_letters(text, &other)?;
    Some((other, format!("{own} in place of {its}")))
}

/// Returns how often something happened, in words: `once`, `2 times`.
pub fn times(count: usize) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// A turn of a fixture as people name it: they count from 1, the file's list from 0.
pub fn nth_turn(index: usize) -> String {
    format!("turn {}", index.saturating_add(1))
}

/// Returns a number with its noun: `1 turn`, `2 turns`.
pub fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Lists names as "`a`, `b`".
pub fn listed<S: AsRef<str>>(names: &[S]) -> String {
    names.iter().map(|name| format!("`{}`", name.as_ref())).collect::<Vec<_>>().join(", ")
}

/// Returns the name among `known` that the user most likely meant, ignoring case; `None` if none is similar enough.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A name of a megabyte is similar to nothing, and comparing it takes long.
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
