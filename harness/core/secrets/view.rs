//! A text as it reads once its escapes are decoded: those of URLs, of JSON, of Python and of JavaScript. Whatever is found in
//! such a view is at a place of the text itself, so a form of secrets needs one pattern for all encodings.

use std::ops::Range;

use super::forms::Edition;

/// A text with some of its escapes decoded.
pub(super) struct View {
    pub(super) text: String,
    /// The places of the decoded text, one list for each time that it was decoded, the last one first.
    decoded: Vec<Vec<Unit>>,
}

/// A character, or the byte of one, that an escape stood for.
#[derive(Clone, Debug)]
struct Unit {
    /// Its place in the decoded text.
    to: Range<usize>,
    /// The place of its escape.
    from: Range<usize>,
}

impl View {
    /// Returns every view of a text, those that are decoded most often first. A text without escapes has none.
    pub(super) fn all(text: &str, edition: Edition) -> Vec<View> {
        let mut views: Vec<View> = Vec::new();
        let (mut begin, mut decoded) = (0, next_views(text, &[], edition));
        // How often escapes are decoded one after another: JSON in a string of JSON, or in a URL that is a parameter of a URL. A text
        // that is itself a string of JSON, such as a call that is searched as it was sent, needs two more than the text in it.
        let depth = if edition == Edition::First { 3 } else { 5 };
        for _ in 1..depth {
            views.append(&mut decoded);
            for deeper in views[begin..].iter().flat_map(|view| next_views(&view.text, &view.decoded, edition)) {
                if views.iter().chain(&decoded).all(|view| view.text != deeper.text) {
                    decoded.push(deeper);
                }
            }
            begin = views.len();
        }
        views.append(&mut decoded);
        views.reverse();
        views
    }

    /// Returns the place in the text itself of a range of the view.
    pub(super) fn place(&self, range: Range<usize>) -> Range<usize> {
        self.decoded.iter().fold(range, |range, units| place(units, range))
    }
}

fn place(units: &[Unit], range: Range<usize>) -> Range<usize> {
    // The last escape that begins at or before an offset.
    let before = |at: usize| units[..units.partition_point(|unit| unit.to.start <= at)].last();
    let start = before(range.start).map_or(range.start, |unit| {
        if range.start < unit.to.end { unit.from.start } else { unit.from.end + (range.start - unit.to.end) }
    });
    let end = before(range.end.saturating_sub(1)).filter(|_| !range.is_empty()).map_or(range.end, |unit| {
        if range.end <= unit.to.end { unit.from.end } else { unit.from.end + (range.end - unit.to.end) }
    });
    start..end.max(start)
}

fn next_views(text: &str, before: &[Vec<Unit>], edition: Edition) -> Vec<View> {
    let has = |mark| memchr::memchr(mark, text.as_bytes()).is_some();
    // A form of a web page writes a space as `+`, and other characters as in a URL.
    let form = (edition > Edition::First && has(b'+') && has(b'%')).then_some(([b'%', b'+'], plus as Escape));
    let forms = [Some(([b'%'; 2], percent as Escape)), form, Some(([b'\\'; 2], backslash))].into_iter().flatten();
    let all = |units: Vec<Unit>| [units].into_iter().chain(before.iter().cloned()).collect();
    let decoded = forms.filter_map(|(marks, escape)| decode(text, marks, escape));
    decoded.map(|(text, units)| View { text, decoded: all(units) }).collect()
}

/// Reads one escape at the beginning of some bytes: what it stands for, and its length.
type Escape = fn(&[u8]) -> Option<(Stands, usize)>;

#[derive(Clone, Copy)]
enum Stands {
    For(char),
    /// A byte of a character in UTF-8, or a character of Latin-1.
    ForByte(u8),
}

/// Decodes the escapes that begin with one of two marks; `None` if there are none.
fn decode(text: &str, [one, other]: [u8; 2], escape: Escape) -> Option<(String, Vec<Unit>)> {
    let bytes = text.as_bytes();
    let mut marks = memchr::memchr2_iter(one, other, bytes).peekable();
    marks.peek()?;
    let (mut out, mut units) = (String::with_capacity(text.len()), Vec::new());
    let mut copied = 0;
    while let Some(mut at) = marks.find(|mark| *mark >= copied) {
        // Escapes without anything between them: several may stand for one character.
        let mut row: Vec<(u8, Range<usize>)> = Vec::new();
        while let Some((stands, length)) = escape(&bytes[at..]) {
            if copied < at && row.is_empty() {
                out.push_str(&text[copied..at]);
            }
            copied = at + length;
            match stands {
                Stands::ForByte(byte) => row.push((byte, at..copied)),
                Stands::For(c) => {
                    of_bytes(&mut row, &mut out, &mut units);
                    add(c, at..copied, &mut out, &mut units);
                }
            }
            at = copied;
        }
        of_bytes(&mut row, &mut out, &mut units);
    }
    out.push_str(&text[copied..]);
    (!units.is_empty()).then_some((out, units))
}

/// Adds the characters that a row of bytes stands for.
fn of_bytes(row: &mut Vec<(u8, Range<usize>)>, out: &mut String, units: &mut Vec<Unit>) {
    let bytes: Vec<u8> = row.iter().map(|(byte, _)| *byte).collect();
    let mut at = 0;
    while at < bytes.len() {
        let utf8 = (1..=4.min(bytes.len() - at))
            .find_map(|n| Some((std::str::from_utf8(&bytes[at..at + n]).ok()?.chars().next()?, n)));
        let (c, length) = utf8.unwrap_or((char::from(bytes[at]), 1));
        add(c, row[at].1.start..row[at + length - 1].1.end, out, units);
        at += length;
    }
    row.clear();
}

fn add(c: char, from: Range<usize>, out: &mut String, units: &mut Vec<Unit>) {
    let start = out.len();
    out.push(c);
    units.push(Unit { to: start..out.len(), from });
}

/// `%2F`, of a URL.
fn percent(bytes: &[u8]) -> Option<(Stands, usize)> {
    (bytes.first() == Some(&b'%')).then_some(())?;
    Some((Stands::ForByte(u8::try_from(hex(bytes.get(1..3)?)?).ok()?), 3))
}

/// `%2F`, and `+` for a space, of a form.
fn plus(bytes: &[u8]) -> Option<(Stands, usize)> {
    if bytes.first() == Some(&b'+') { Some((Stands::For(' '), 1)) } else { percent(bytes) }
}

/// `\n`, `\x2f`, `\57`, `\u002f`, `\u{2f}` and `\U0000002f`.
fn backslash(bytes: &[u8]) -> Option<(Stands, usize)> {
    (bytes.first() == Some(&b'\\')).then_some(())?;
    let of = |c: char| Some((Stands::For(c), 2));
    match *bytes.get(1)? {
        c @ (b'\\' | b'"' | b'\'' | b'/') => of(char::from(c)),
        b'n' => of('\n'),
        b'r' => of('\r'),
        b't' => of('\t'),
        b'b' => of('\u{8}'),
        b'f' => of('\u{c}'),
        b'v' => of('\u{b}'),
        b'a' => of('\u{7}'),
        b'x' => Some((Stands::ForByte(u8::try_from(hex(bytes.get(2..4)?)?).ok()?), 4)),
        b'0'..=b'7' => {
            let digits = bytes[1..].iter().take(3).take_while(|digit| matches!(digit, b'0'..=b'7')).count();
            let value = bytes[1..=digits].iter().fold(0, |value, digit| value * 8 + u32::from(digit - b'0'));
            Some((Stands::ForByte(u8::try_from(value).ok()?), 1 + digits))
        }
        b'u' if bytes.get(2) == Some(&b'{') => {
            let digits = bytes[3..].iter().take(7).take_while(|digit| **digit != b'}').count();
            (bytes.get(3 + digits) == Some(&b'}')).then_some(())?;
            Some((Stands::For(char::from_u32(hex(&bytes[3..3 + digits])?)?), 4 + digits))
        }
        b'u' => {
            let unit = |at: usize| u16::try_from(hex(bytes.get(at..at + 4)?)?).ok();
            let first = unit(2)?;
            if let Some(Ok(c)) = char::decode_utf16([first]).next() {
                return Some((Stands::For(c), 6));
            }
            let second = (bytes.get(6..8)? == b"\\u").then(|| unit(8)).flatten()?;
            Some((Stands::For(char::decode_utf16([first, second]).next()?.ok()?), 12))
        }
        b'U' => Some((Stands::For(char::from_u32(hex(bytes.get(2..10)?)?)?), 10)),
        _ => None,
    }
}

fn hex(digits: &[u8]) -> Option<u32> {
    let of = |digit: &u8| char::from(*digit).to_digit(16);
    (!digits.is_empty()).then_some(())?;
    digits.iter().try_fold(0_u32, |value, digit| value.checked_mul(16)?.checked_add(of(digit)?))
}
