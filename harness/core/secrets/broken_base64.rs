//! Base64 that is broken into pieces: into lines of 64 or 76 characters, as `base64`, PEM and MIME do, in whatever frame the lines
//! stand: indented, quoted with `>`, numbered, each a string of a list. What belongs together is seen by what it decodes to: the
//! text goes on where the next piece does. Where it may as well be a text of its own that begins there, a run has parts, and they belong
//! together only if a secret is in two of them.

use std::ops::Range;

use super::base64_run::{self, Run};

/// The shortest piece, unless it is the last one.
const PIECE: usize = 12;

/// How wide programs make lines. Two of them are certainly one text.
const WIDTHS: [usize; 5] = [60, 64, 70, 72, 76];

/// How many bytes may stand between two pieces: the end of a line, and the frame of the next one.
const FRAME: usize = 64;

/// A run that is broken into pieces.
pub(super) struct BrokenRun {
    pub(super) whole: Run,
    /// The runs that it may consist of; none if it is certainly one.
    pub(super) parts: Vec<Run>,
}

/// Returns the runs of base64 in a text that are in several pieces and stand for text, without overlaps.
pub(super) fn runs(text: &str) -> Vec<BrokenRun> {
    let bytes = text.as_bytes();
    let (mut runs, mut done) = (Vec::<BrokenRun>::new(), 0);
    for first in base64_run::split(bytes, 0..bytes.len(), PIECE, base64_run::is_either) {
        if first.start < done || after(bytes, first.end).next().is_none() {
            continue;
        }
        let mut starts = base64_run::starts(text, first.clone()).filter(|start| begins_text(&bytes[*start..first.end]));
        let whole = starts.find_map(|start| Broken::from(text, start..first.end));
        if let Some(run) = whole {
            done = run.whole.range().end;
            runs.push(run);
        }
    }
    runs
}

/// A run of which some pieces are known.
struct Broken<'a> {
    text: &'a str,
    pieces: Vec<Range<usize>>,
    /// The pieces in the standard alphabet.
    joined: String,
    /// Where another text may begin: how many pieces and how many characters are before it.
    doubts: Vec<(usize, usize)>,
}

impl<'a> Broken<'a> {
    fn from(text: &'a str, first: Range<usize>) -> Option<BrokenRun> {
        let mut run = Broken { text, pieces: Vec::new(), joined: String::new(), doubts: Vec::new() };
        run.add(first, false).then_some(())?;
        while run.pieces.last().is_some_and(|last| !is_padded(text.as_bytes(), last.end)) && run.add_next() {}
        run.add_rest();
        (run.pieces.len() > 1).then(|| run.finish())?
    }

    /// Adds the next piece, if what is before it can be its frame.
    fn add_next(&mut self) -> bool {
        let (bytes, end) = (self.text.as_bytes(), self.pieces.last().map_or(0, |last| last.end));
        let mut next = after(bytes, end).filter(|next| next.len() >= PIECE).flat_map(|next| in_frame(bytes, next));
        next.any(|next| self.add(next, false))
    }

    /// Adds a piece if what it stands for is text.
    fn add(&mut self, piece: Range<usize>, last: bool) -> bool {
        let (before, whole) = (self.joined.len(), self.joined.len() / 4 * 4);
        let standard = |byte| match byte {
            b'-' => '+',
            b'_' => '/',
            byte => char::from(byte),
        };
        self.joined.extend(self.text.as_bytes()[piece.clone()].iter().copied().map(standard));
        let full = if last { self.joined.len() } else { self.joined.len() / 4 * 4 };
        let is_text = base64_run::decode(&self.joined[whole..full]).is_some_and(|bytes| is_text(&bytes, before == 0));
        if is_text {
            if self.may_end(&piece) {
                self.doubts.push((self.pieces.len(), before));
            }
            self.pieces.push(piece);
        } else {
            self.joined.truncate(before);
        }
        is_text
    }

    /// Whether what is known so far may be a whole text, and this piece the beginning of another one. Lines of one text are equally
    /// wide, except the last one.
    fn may_end(&self, next: &Range<usize>) -> bool {
        // The piece has been joined already.
        let before = self.joined.len() - next.len();
        let (Some(first), Some(last)) = (self.pieces.first(), self.pieces.last()) else { return false };
        let width = self.pieces.get(1).unwrap_or(first).len();
        let in_lines = self.text.as_bytes()[last.end..next.start].contains(&b'\n');
        let is_wide = self.pieces.len() > 1 || WIDTHS.contains(&width);
        let goes_on = in_lines && is_wide && last.len() == width && next.len() <= width;
        before.is_multiple_of(4) && !goes_on
    }

    /// Adds what is left for the last line, which may be short: its frame has to be that of the line before.
    fn add_rest(&mut self) {
        let bytes = self.text.as_bytes();
        let Some(last) = self.pieces.last().cloned().filter(|last| !is_padded(bytes, last.end)) else { return };
        let before = self.pieces.len().checked_sub(2).map(|before| self.pieces[before].end);
        let frame = before.map(|before| shape(&bytes[before..last.start]));
        let is_rest = |rest: &Range<usize>| {
            let padding = bytes[rest.end..].iter().take(2).take_while(|byte| **byte == b'=').count();
            let ends = (self.joined.len() + rest.len() + padding).is_multiple_of(4);
            ends && frame.as_ref().is_none_or(|frame| *frame == shape(&bytes[last.end..rest.start]))
        };
        let rests: Vec<_> = after(bytes, last.end).flat_map(|next| in_frame(bytes, next)).filter(is_rest).collect();
        rests.into_iter().any(|rest| self.add(rest, true));
    }

    fn finish(mut self) -> Option<BrokenRun> {
        if self.joined.len() % 4 == 1 {
            // The last character belongs to what comes after the base64.
            self.joined.pop();
            self.pieces.last_mut()?.end -= 1;
        }
        let missing = (4 - self.joined.len() % 4) % 4;
        let last = self.pieces.last_mut()?;
        let padding = self.text.as_bytes()[last.end..].iter().take_while(|byte| **byte == b'=').count();
        last.end += if padding == missing { padding } else { 0 };
        let run = |(pieces, joined): (Range<usize>, Range<usize>)| {
            let bytes = base64_run::decode(self.joined.get(joined)?)?;
            Some(Run { pieces: self.pieces.get(pieces)?.to_vec(), bytes })
        };
        let all = (self.pieces.len(), self.joined.len());
        let starts = [(0, 0)].into_iter().chain(self.doubts.iter().copied());
        let ends = self.doubts.iter().copied().chain([all]);
        let parts = starts.zip(ends).map(|(start, end)| run((start.0..end.0, start.1..end.1)));
        let parts = if self.doubts.is_empty() { Vec::new() } else { parts.collect::<Option<_>>()? };
        Some(BrokenRun { whole: run((0..all.0, 0..all.1))?, parts })
    }
}

/// Whether base64 ends at this place with padding: a `=` before the end of a line may also break the line in an e-mail.
fn is_padded(bytes: &[u8], at: usize) -> bool {
    bytes.get(at) == Some(&b'=') && !matches!(bytes.get(at + 1..), Some([b'\n', ..] | [b'\r', b'\n', ..]))
        || bytes[at..].starts_with(b"==")
}

/// Returns what may be pieces after a place, with nothing but a frame between. They may begin with a part of the frame.
fn after(bytes: &[u8], at: usize) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut start = at;
    std::iter::from_fn(move || {
        start += bytes[start..].iter().take(FRAME + 1).take_while(|byte| !base64_run::is_either(**byte)).count();
        let end = start + bytes[start..].iter().take_while(|byte| base64_run::is_either(**byte)).count();
        let next = (start > at && start - at <= FRAME && start < end).then_some(start..end);
        start = end;
        next
    })
}

/// A piece, whole or without a beginning that may be a part of its frame: the `+` of a diff, or `key.pem-12-` of grep.
fn in_frame(bytes: &[u8], piece: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
    let marks = bytes[piece.clone()].iter().take(PIECE * 2).enumerate();
    let (start, end) = (piece.start, piece.end);
    let after = marks.filter(|(_, byte)| !byte.is_ascii_alphanumeric()).map(move |(at, _)| start + at + 1);
    std::iter::once(start).chain(after).filter(move |start| *start < end).map(move |start| start..end)
}

/// A frame without what differs from line to line: its numbers, and how far they are indented.
pub(super) fn shape(frame: &[u8]) -> Vec<u8> {
    let mut shape: Vec<u8> = frame.iter().map(|byte| if byte.is_ascii_digit() { b'0' } else { *byte }).collect();
    shape.dedup_by(|a, b| a == b && matches!(a, b'0' | b' '));
    shape
}

/// Whether the beginning of some base64 stands for text. Most words and paths are ruled out by this, at no cost.
fn begins_text(base64: &[u8]) -> bool {
    base64_run::decode_either(&base64[..base64.len().min(PIECE) / 4 * 4]).is_some_and(|bytes| is_text(&bytes, true))
}

/// Whether bytes are a part of a text. At both ends a character may be cut.
fn is_text(bytes: &[u8], first: bool) -> bool {
    let cut = if first { 0 } else { bytes.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count() };
    let whole = std::str::from_utf8(&bytes[cut..]).map_or_else(|error| error.error_len().is_none(), |_| true);
    let odd = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace() && *byte != 0x1b;
    whole && !bytes.is_empty() && !bytes.iter().any(odd)
}
