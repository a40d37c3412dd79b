//! Base64 in a text: what a run of it decodes to, wherever in the run the base64 begins, and the run for other bytes. A run that is
//! broken into pieces is found by [`broken_base64`](super::broken_base64).
//!
//! The same bytes can be written with two alphabets, and with padding or without; which of them a system uses cannot always be
//! seen, since a secret may need no padding where its placeholder does. So from a placeholder on, a run is always written with
//! the standard alphabet and with padding, whether recording put the placeholder there or a system encoded it itself.

use std::ops::Range;

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::likeness;

/// The shortest run of base64 to decode. A shorter one contains no secret of a known form.
pub(super) const SHORTEST: usize = 20;

/// How many characters of a run are decoded to see whether it is text.
const SAMPLE: usize = 344;

/// How far into a run its base64 may begin after a slash or a dash, as in the path of a URL.
const PATH: usize = 96;

/// How many characters before a place tell that it is in base64, and not behind a path.
const BEFORE: usize = 64;

/// A run of base64, and the bytes that it stands for.
pub(super) struct Run {
    /// Where it is: in one piece, or in several if it is broken into lines.
    pub(super) pieces: Vec<Range<usize>>,
    pub(super) bytes: Vec<u8>,
}

impl Run {
    pub(super) fn range(&self) -> Range<usize> {
        let [first, last] = [self.pieces.first(), self.pieces.last()].map(|piece| piece.cloned().unwrap_or_default());
        first.start..last.end
    }

    /// Returns the place of this run from the byte at an offset on, and the base64 of other bytes that have the same beginning.
    pub(super) fn from(&self, offset: usize, bytes: &[u8]) -> (Range<usize>, String) {
        let whole = offset / 3;
        let mut before = whole * 4;
        let start = self.pieces.iter().find_map(|piece| {
            let at = piece.start + before;
            before = before.saturating_sub(piece.len());
            (at < piece.end).then_some(at)
        });
        let end = self.range().end;
        (start.unwrap_or(end)..end, engine(false).encode(&bytes[whole * 3..]))
    }
}

/// Returns the base64 of a text that is somewhere in the middle of other base64, for each of the three offsets that it may have:
/// the characters that depend on nothing else, and how many characters before them depend on the text too, or on what is before
/// it in the same three bytes.
pub(super) fn middles(text: &str) -> Vec<(String, usize)> {
    let middle = |(before, skipped): (usize, usize)| {
        let bytes = [&vec![0; before], text.as_bytes()].concat();
        Some((engine(false).encode(&bytes).get(skipped..bytes.len() * 8 / 6)?.to_owned(), skipped))
    };
    let mut middles: Vec<(String, usize)> = [(0, 0), (1, 2), (2, 3)].into_iter().filter_map(middle).collect();
    let url_safe: Vec<(String, usize)> =
        middles.iter().map(|(text, skipped)| (text.replace('+', "-").replace('/', "_"), *skipped)).collect();
    middles.extend(url_safe);
    middles.sort();
    middles.dedup();
    middles
}

/// Returns the run of base64 around a middle of it that is at this place; `None` if it is not base64.
pub(super) fn around(text: &str, middle: Range<usize>, skipped: usize) -> Option<Run> {
    let bytes = text.as_bytes();
    let start = middle.start.checked_sub(skipped)?;
    let (mut end, mut url_safe) = (start, None);
    while let Some(byte) = bytes.get(end) {
        let of = match byte {
            b'-' | b'_' => Some(true),
            b'+' | b'/' => Some(false),
            byte if byte.is_ascii_alphanumeric() => None,
            _ => break,
        };
        if of.is_some() && url_safe.is_some() && of != url_safe {
            break;
        }
        url_safe = url_safe.or(of);
        end += 1;
    }
    (end >= middle.end).then(|| decoded(text, start..end, url_safe == Some(true)))?
}

/// Returns the runs of base64 in a text that may be text when decoded. Several of them may overlap: the same run, beginning at
/// different places.
pub(super) fn runs(text: &str) -> impl Iterator<Item = Run> + '_ {
    let bytes = text.as_bytes();
    split(bytes, 0..bytes.len(), SHORTEST, is_either).flat_map(move |run| {
        let has = |of: fn(u8) -> bool| bytes[run.clone()].iter().any(|byte| !byte.is_ascii_alphanumeric() && of(*byte));
        let runs: Vec<(Range<usize>, bool)> = match (has(is_standard), has(is_url_safe)) {
            (_, false) => vec![(run, false)],
            (false, true) => vec![(run, true)],
            // Base64 next to something else, such as the path before it.
            (true, true) => {
                let url_safe = split(bytes, run.clone(), SHORTEST, is_url_safe).map(|run| (run, true));
                url_safe.chain(split(bytes, run, SHORTEST, is_standard).map(|run| (run, false))).collect()
            }
        };
        runs.into_iter().flat_map(move |(range, url_safe)| of_run(text, range, url_safe))
    })
}

/// Returns what a run stands for, for each place at which its base64 may begin.
fn of_run(text: &str, range: Range<usize>, url_safe: bool) -> impl Iterator<Item = Run> + '_ {
    starts(text, range.clone()).filter(move |start| start + SHORTEST <= range.end).filter_map(move |start| {
        let sample = decoded(text, start..range.end.min(start + SAMPLE), url_safe)?;
        looks_like_text(&sample.bytes).then(|| decoded(text, start..range.end, url_safe))?
    })
}

/// Returns where in a run its base64 may begin.
pub(super) fn starts(text: &str, range: Range<usize>) -> impl Iterator<Item = usize> + '_ {
    let path = &text.as_bytes()[range.start..range.end.min(range.start + PATH)];
    let separators = path.iter().enumerate().filter(|(_, byte)| !byte.is_ascii_alphanumeric()).map(|(at, _)| at + 1);
    (0..4.min(range.len())).chain(separators.filter(|at| *at > 3)).map(move |at| range.start + at)
}

/// Returns the parts of a range that consist of certain bytes and are long enough to decode.
pub(super) fn split(
    bytes: &[u8],
    range: Range<usize>,
    shortest: usize,
    has: impl Fn(u8) -> bool,
) -> impl Iterator<Item = Range<usize>> {
    let mut at = range.start;
    std::iter::from_fn(move || {
        loop {
            // A part that is long enough has each byte that is as far as this from the end of the part before.
            let probe = at + shortest - 1;
            if probe >= range.end {
                return None;
            }
            let before = bytes[at..=probe].iter().rev().take_while(|byte| has(**byte)).count();
            let start = probe + 1 - before;
            at = start + before + bytes[probe + 1..range.end].iter().take_while(|byte| has(**byte)).count();
            if at - start >= shortest {
                return Some(start..at);
            }
        }
    })
}

/// Whether a place after `+` or `/` is in the middle of a whole run of base64, such as a picture or a signature has. What begins a
/// secret stands there by chance, once in some millions of characters. A path, which such a character separates too, is of words.
pub(super) fn is_within(text: &str, at: usize) -> bool {
    let (before, after) = text.as_bytes().split_at(at);
    let before = before.iter().rev().take_while(|byte| is_standard(**byte)).count();
    let length = after.iter().take_while(|byte| is_standard(**byte)).count();
    let padding = after[length..].iter().take_while(|byte| **byte == b'=').count();
    text[..at].ends_with(['+', '/'])
        && before >= BEFORE
        && (before + length + padding).is_multiple_of(4)
        && likeness::word_letters(&text[at - BEFORE..at]) * 4 < BEFORE
}

pub(super) fn is_either(byte: u8) -> bool {
    is_standard(byte) || is_url_safe(byte)
}

fn is_standard(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

fn is_url_safe(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// Decodes a range, with the padding after it.
fn decoded(text: &str, range: Range<usize>, url_safe: bool) -> Option<Run> {
    let Range { start, mut end } = range;
    if (end - start) % 4 == 1 {
        // The last character belongs to what comes after the base64.
        end -= 1;
    }
    let bytes = engine(url_safe).decode(text.get(start..end)?).ok()?;
    let missing = (4 - (end - start) % 4) % 4;
    let padding = text.as_bytes()[end..].iter().take(missing).take_while(|byte| **byte == b'=').count();
    let end = end + if padding == missing { padding } else { 0 };
    Some(Run { pieces: std::iter::once(start..end).collect(), bytes })
}

/// Whether decoded bytes look like text. Images and other binary data are not searched.
pub(super) fn looks_like_text(bytes: &[u8]) -> bool {
    let first = &bytes[..bytes.len().min(256)];
    let odd = first.iter().filter(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace()).count();
    odd * 16 < first.len() && first.iter().filter(|byte| !byte.is_ascii()).count() * 2 < first.len()
}

/// Decodes base64 in the standard alphabet, with padding or without.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    engine(false).decode(text).ok()
}

/// Decodes base64 in either alphabet.
pub(super) fn decode_either(base64: &[u8]) -> Option<Vec<u8>> {
    engine(base64.iter().any(|byte| b"-_".contains(byte))).decode(base64).ok()
}

const CONFIG: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);

static ENGINES: [GeneralPurpose; 2] = [GeneralPurpose::new(&STANDARD, CONFIG), GeneralPurpose::new(&URL_SAFE, CONFIG)];

fn engine(url_safe: bool) -> &'static GeneralPurpose {
    &ENGINES[usize::from(url_safe)]
}
