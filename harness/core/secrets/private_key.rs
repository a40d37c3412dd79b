//! Private keys, in whatever frame a file tool, a program or a message put their lines: numbered, quoted, indented, as strings that are
//! joined. The first line is known, and so is the last one; what stands between them goes.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::broken_base64::shape;
use super::likeness;
use crate::key::normalize::regex;

/// How much of a text is searched for the end of a key, in bytes.
const LONGEST: usize = 64 << 10;

/// The shortest part of a line of a key, unless it is the last one.
const PIECE: usize = 16;

/// How many bytes may stand between two lines of a key.
const FRAME: usize = 96;

/// How many letters and digits after the first line show that there may be a key.
const SUSPICIOUS: usize = 24;

static FIRST: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"-{4,5} ?BEGIN[ A-Z0-9_-]{0,100}?PRIVATE KEY(?: BLOCK)? ?-{4,5}|PuTTY-User-Key-File-\d: [\s\S]{0,1500}?Private-Lines: \d+",
    )
});

static LAST: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?:-{4,5} ?END[ A-Z0-9_-]{0,100}?PRIVATE )?KEY(?: BLOCK)? ?-{4,5}|Private-MAC: [0-9a-f]{40,64}")
});

/// Returns the ranges of the private keys of a text.
pub(super) fn keys(text: &str) -> Vec<Range<usize>> {
    found(text).into_iter().filter(|(_, whole)| *whole).map(|(range, _)| range).collect()
}

/// Returns the ranges of what follows the first line of a key, and may be one in a form that is not known.
pub(super) fn suspected(text: &str) -> Vec<Range<usize>> {
    found(text).into_iter().filter(|(_, whole)| !*whole).map(|(range, _)| range).collect()
}

fn found(text: &str) -> Vec<(Range<usize>, bool)> {
    let firsts: Vec<Range<usize>> = FIRST.find_iter(text).map(|first| first.range()).collect();
    let mut found = Vec::new();
    for (index, first) in firsts.iter().enumerate() {
        let limit = firsts.get(index + 1).map_or(text.len(), |next| next.start).min(first.end + LONGEST);
        let limit = (first.end..=limit).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(first.end);
        let rest = &text[first.end..limit];
        let length = match LAST.find(rest) {
            Some(last) => is_key(&rest[..last.start()]).then_some((last.end(), true)),
            None => lines(rest).map(|end| (end, true)).or_else(|| Some((suspicious(rest)?, false))),
        };
        found.extend(length.map(|(length, whole)| (first.start..first.end + length, whole)));
    }
    found
}

/// Whether what stands between the first and the last line may be a key: not words, and more than an ellipsis.
fn is_key(body: &str) -> bool {
    let data: String = body.chars().filter(char::is_ascii_alphanumeric).collect();
    data.len() >= PIECE
        && likeness::entropy(&data) >= 2.5
        && !is_prose(body)
        && likeness::word_letters(&data) * 2 < data.len()
}

/// Returns how far the lines of a key go that has no last line, since it was cut off.
fn lines(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let is_data = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let (mut end, mut frame) = (0, None::<Vec<u8>>);
    loop {
        let next = super::base64_run::split(bytes, end..bytes.len().min(end + FRAME + PIECE), PIECE, is_data).next();
        let next = next.filter(|next| {
            let frame = rest.get(end..next.start);
            frame.is_some_and(|frame| !is_prose(frame)) && !likeness::is_words(&rest[next.clone()])
        });
        let Some(next) = next else { break };
        frame = Some(shape(&bytes[end..next.start]));
        end = next.start + bytes[next.start..].iter().take_while(|byte| is_data(**byte) || **byte == b'=').count();
    }
    // The last line may be short. It has the frame of the line before.
    let frame = frame?;
    let after = (end..bytes.len().min(end + FRAME)).find(|at| is_data(bytes[*at]) && shape(&bytes[end..*at]) == frame);
    let last = after.map(|at| at + bytes[at..].iter().take_while(|byte| is_data(**byte) || **byte == b'=').count());
    Some(last.unwrap_or(end))
}

/// Returns how far a text goes on that may be a key in another form: to the next empty line.
fn suspicious(rest: &str) -> Option<usize> {
    let body = rest.trim_start();
    let skipped = rest.len() - body.len();
    let end = body.find("\n\n").unwrap_or(body.len());
    let data: String = body[..end].chars().filter(char::is_ascii_alphanumeric).take(SUSPICIOUS * 8).collect();
    let has = |of: fn(&u8) -> bool| data.bytes().filter(of).count() * 16 >= data.len();
    let mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    let random = mixed && likeness::entropy(&data) >= 3.5 && likeness::word_letters(&data) * 2 < data.len();
    (data.len() >= SUSPICIOUS && random && !is_prose(&body[..end])).then_some(skipped + end)
}

/// Whether a text has a sentence: three words in a row.
fn is_prose(text: &str) -> bool {
    let is_word = |word: &str| {
        let word = word.trim_end_matches([',', '.', ':', ';', '!', '?']);
        word.len() >= 2 && word.bytes().all(|byte| byte.is_ascii_lowercase())
    };
    let mut words = 0;
    text.split([' ', '\n']).any(|word| {
        words = if is_word(word) { words + 1 } else { 0 };
        words == 3
    })
}
