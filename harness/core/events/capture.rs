//! Turns a response body into events while it arrives.
//!
//! The crate `eventsource-stream` parses server-sent events. A capture splits the stream into blocks, each of which ends at
//! a blank line, and gives the crate one block at a time, line by line. The reason is how the crate (0.2.3) works:
//!
//! - It copies the rest of its buffer for each line, and scans its buffer again for each chunk that arrives. So one chunk of
//!   many lines takes time quadratic in its size, and so does one long line in many chunks: a line of 4 MB takes 2.7 s in
//!   chunks of 8 KB. With one line in each chunk, both are linear: a line of 10 MB takes 0.07 s.
//! - It panics at a leading byte-order mark, and returns nothing more after a byte that is not UTF-8. It never gets either.
//! - It drops comments, events without data and an unterminated tail. The capture handles these itself.
//!
//! Since events are parsed from complete lines only, the boundaries of chunks cannot change them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::convert::Infallible;
use std::iter::once;
use std::sync::Arc;

use eventsource_stream::EventStream;
use futures_util::{FutureExt, StreamExt, stream};

use super::captured::{Event, Payload};
use crate::json::Json;

/// The format of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Server-sent events: blocks of `field: value` lines.
    Sse,
    JsonLines,
}

/// The most different values of `retry:` lines that are kept.
const RETRIES: usize = 8;
/// The largest capacity, in bytes, that an empty buffer keeps, so one huge event does not hold its memory.
const KEPT: usize = 1 << 20;

/// Reads the events of one response body.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    /// The format; `None` if it is not known yet.
    pub format: Option<Format>,
    /// The bytes of the incomplete line.
    line: Vec<u8>,
    /// The complete lines of the incomplete event, each with its `\n`, without comments.
    block: String,
    /// Whether the last byte was a CR, to which a following LF belongs.
    after_cr: bool,
    /// The number of complete lines. Only the first line may begin with a byte-order mark.
    lines: usize,
    /// The number (counted from 1) of the first line that is not UTF-8, and its first invalid byte.
    pub not_utf8: Option<(usize, u8)>,
    /// The values of `retry:` lines, each once.
    retry: Vec<Box<str>>,
    /// The names of events, which the events share.
    names: HashSet<Arc<str>>,
}

impl Capture {
    /// Creates a capture that detects the format from the first line: JSON lines if it begins with `{` or `[`, otherwise
    /// server-sent events. The content type cannot tell, since services send either format under any content type.
    pub fn new() -> Capture {
        Capture::default()
    }

    /// Creates a capture for a known format, such as the JSON lines of a command that first prints a line of prose.
    pub fn with_format(format: Format) -> Capture {
        Capture { format: Some(format), ..Capture::default() }
    }

    /// Returns the times, in milliseconds, after which clients are told to connect again; empty if they are told none.
    pub fn retry(&self) -> String {
        self.retry.join(", ")
    }

    /// Returns the number of buffered bytes of an incomplete event.
    pub fn held(&self) -> usize {
        self.line.len() + self.block.len()
    }

    /// Adds the next bytes of the body. Returns the events that they complete.
    pub fn push(&mut self, mut bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        if self.after_cr && !bytes.is_empty() {
            self.after_cr = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) {
            self.line.extend_from_slice(&bytes[..end]);
            self.take_line(&mut events);
            let rest = &bytes[end + 1..];
            let cr = bytes[end] == b'\r';
            self.after_cr = cr && rest.is_empty();
            bytes = if cr { rest.strip_prefix(b"\n").unwrap_or(rest) } else { rest };
        }
        self.line.extend_from_slice(bytes);
        events
    }

    /// Ends the body. Returns the last JSON line, which needs no line ending, or the unterminated tail.
    pub fn finish(&mut self) -> Vec<Event> {
        let bytes = std::mem::take(&mut self.line);
        let line = self.text_of(&bytes);
        let tail = std::mem::take(&mut self.block) + &line;
        if tail.trim().is_empty() {
            return Vec::new();
        }
        let payload = match self.format_told_by(&tail) {
            Format::Sse => Payload::Tail(tail.trim_end_matches('\n').into()),
            Format::JsonLines if Json::parse(tail.as_bytes()).is_ok() => Payload::Data(tail.into()),
            Format::JsonLines => Payload::Tail(tail.into()),
        };
        vec![unnamed(payload)]
    }

    /// Processes the line whose bytes are complete.
    fn take_line(&mut self, events: &mut Vec<Event>) {
        let mut bytes = std::mem::take(&mut self.line);
        let line = self.text_of(&bytes);
        self.lines += 1;
        // Leading blank lines do not show the format, and have no meaning in either.
        if self.format.is_some() || !line.trim().is_empty() {
            match self.format_told_by(&line) {
                Format::Sse => events.extend(self.take_sse_line(&line)),
                Format::JsonLines if line.trim().is_empty() => {}
                Format::JsonLines => events.push(unnamed(Payload::Data(line.into()))),
            }
        }
        bytes.clear();
        bytes.shrink_to(KEPT);
        self.line = bytes;
    }

    fn take_sse_line(&mut self, line: &str) -> Option<Event> {
        if line.is_empty() {
            let event = self.parse_block();
            self.block.clear();
            self.block.shrink_to(KEPT);
            return event;
        }
        if let Some(comment) = line.strip_prefix(':') {
            return Some(unnamed(Payload::Comment(comment.strip_prefix(' ').unwrap_or(comment).into())));
        }
        self.block.push_str(line);
        self.block.push('\n');
        None
    }

    /// Returns the event of a block of lines, or `None` if the block has neither data nor a name nor an id.
    fn parse_block(&mut self) -> Option<Event> {
        let fields = BlockFields::of(&self.block);
        // Clients take a number, and nothing else.
        let retry = fields.retry.filter(|retry| !retry.is_empty() && retry.bytes().all(|c| c.is_ascii_digit()));
        if let Some(retry) = retry.filter(|retry| self.retry.iter().all(|known| **known != **retry))
            && self.retry.len() < RETRIES
        {
            self.retry.push(retry.into());
        }
        if fields.event.is_none() && !fields.id && !fields.data {
            return None;
        }
        // The crate panics at a byte-order mark in its first chunk, so it gets an empty line first. It drops events without
        // data, so such a block gets an empty data line.
        let filler = if fields.data { None } else { Some("data\n") };
        let lines = once("\n").chain(self.block.split_inclusive('\n')).chain(filler).chain(once("\n"));
        let mut parsed = EventStream::new(stream::iter(lines.map(Ok::<_, Infallible>)));
        let parsed = parsed.next().now_or_never()??.ok()?;
        // An empty `event` line removes the name of an earlier one.
        let is_named = fields.event.is_some_and(|value| !matches!(value, "" | " "));
        let name = is_named.then(|| shared(&mut self.names, &parsed.event));
        let payload = if fields.data { Payload::Data(parsed.data.into()) } else { Payload::Empty };
        Some(Event { name, id: fields.id.then(|| parsed.id.into()), payload })
    }

    /// Returns the text of a line. Bytes that are not UTF-8 become U+FFFD, as in a browser.
    fn text_of<'a>(&mut self, line: &'a [u8]) -> Cow<'a, str> {
        let mark = if self.lines > 0 { None } else { line.strip_prefix(b"\xef\xbb\xbf") };
        let line = mark.unwrap_or(line);
        let text = String::from_utf8_lossy(line);
        if let (Cow::Owned(_), None) = (&text, self.not_utf8) {
            let wrong = std::str::from_utf8(line).err().and_then(|error| line.get(error.valid_up_to()));
            self.not_utf8 = wrong.map(|byte| (self.lines + 1, *byte));
        }
        text
    }

    fn format_told_by(&mut self, text: &str) -> Format {
        let is_json = text.trim_start().starts_with(['{', '[']);
        *self.format.get_or_insert(if is_json { Format::JsonLines } else { Format::Sse })
    }
}

fn unnamed(payload: Payload) -> Event {
    Event { name: None, id: None, payload }
}

fn shared(names: &mut HashSet<Arc<str>>, name: &str) -> Arc<str> {
    let name = names.get(name).cloned().unwrap_or_else(|| name.into());
    names.insert(name.clone());
    name
}

/// Which fields a block has. The crate's events do not show this, since it fills in defaults for missing fields.
#[derive(Default)]
struct BlockFields<'a> {
    /// The value of the last `event` line.
    event: Option<&'a str>,
    id: bool,
    data: bool,
    /// The value of the last `retry` line.
    retry: Option<&'a str>,
}

impl BlockFields<'_> {
    fn of(block: &str) -> BlockFields<'_> {
        let mut fields = BlockFields::default();
        for line in block.lines() {
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            match field {
                "event" => fields.event = Some(value),
                "id" => fields.id |= !value.contains('\0'),
                "data" => fields.data = true,
                "retry" => fields.retry = Some(value.strip_prefix(' ').unwrap_or(value)),
                _ => {}
            }
        }
        fields
    }
}

#[cfg(test)]
mod tests;
