//! A response body, as it comes, becomes events.
//!
//! Server-sent events are parsed by `eventsource-stream`. A capture cuts the stream into blocks, each up to its blank
//! line, and hands the crate one block at a time, line by line, because of how the crate goes about it (0.2.3):
//!
//! - It copies the rest of its buffer for each line it takes, and reads its buffer anew for each chunk that comes. One
//!   chunk of many lines costs the square of its size, and so does one long line in many chunks: a line of 4 MB takes
//!   2.7 s in chunks of 8 KB. A line a chunk is linear for both: a line of 10 MB takes 0.07 s.
//! - It panics at a byte-order mark in front, and after a byte that is not UTF-8 it says nothing more. It gets neither.
//! - Comments, events without data and an unterminated tail vanish in it. They are seen here, on the way.
//!
//! As events are read from whole lines only, the boundaries of chunks cannot change them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::convert::Infallible;
use std::iter::once;
use std::sync::Arc;

use eventsource_stream::EventStream;
use futures_util::{FutureExt, StreamExt, stream};

use super::event::{Event, Payload};
use crate::json::Json;

/// The two forms of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Server-sent events: blocks of `field: value` lines.
    Sse,
    /// One JSON text a line.
    JsonLines,
}

/// How large a buffer may stay, in bytes: one event of many megabytes is no reason to keep them.
const KEPT: usize = 1 << 20;

/// Reads the events of one response body.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    format: Option<Format>,
    /// The bytes of the line that is not complete yet.
    line: Vec<u8>,
    /// The complete lines of the event that is not, each with its `\n`; comments left out.
    block: String,
    /// The last byte was a CR, so a LF would belong to it.
    after_cr: bool,
    /// How many lines are complete. From the first on a byte-order mark would be none.
    lines: usize,
    /// The first line that is not UTF-8, from 1, and its first wrong byte.
    not_utf8: Option<(usize, u8)>,
    /// The names of events, to be shared.
    names: HashSet<Arc<str>>,
}

impl Capture {
    /// A capture of a body whose format its first line tells: JSON lines where that begins with `{` or `[`, else
    /// server-sent events. Services send either under any content type.
    #[must_use]
    pub fn new() -> Capture {
        Capture::default()
    }

    /// A capture of a body in a known format, such as the JSON lines of a command that logs a line of prose first.
    #[must_use]
    pub fn with_format(format: Format) -> Capture {
        Capture { format: Some(format), ..Capture::default() }
    }

    /// The format, once it is known.
    #[must_use]
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// The first line that was not UTF-8, from 1, and its first wrong byte.
    #[must_use]
    pub fn not_utf8(&self) -> Option<(usize, u8)> {
        self.not_utf8
    }

    /// How many bytes are held of an event that is not complete yet.
    #[must_use]
    pub fn held(&self) -> usize {
        self.line.len() + self.block.len()
    }

    /// Takes the next bytes of the body. Returns the events that they complete.
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

    /// Ends the body. Returns the last JSON line, which needs no line end, or the unterminated tail.
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

    /// Takes the line whose bytes are complete.
    fn take_line(&mut self, events: &mut Vec<Event>) {
        let mut bytes = std::mem::take(&mut self.line);
        let line = self.text_of(&bytes);
        self.lines += 1;
        // Blank lines in front tell no format, and mean nothing in either.
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

    /// The event of a block of lines. None where the block has neither data nor a name nor an id.
    fn parse_block(&mut self) -> Option<Event> {
        let fields = BlockFields::of(&self.block);
        if fields.event.is_none() && !fields.id && !fields.data {
            return None;
        }
        // The crate looks for a byte-order mark in its first chunk, and panics if there is one: an empty line goes first.
        // It drops an event without data, name and all: such a block is given an empty data line.
        let filler = if fields.data { None } else { Some("data\n") };
        let lines = once("\n").chain(self.block.split_inclusive('\n')).chain(filler).chain(once("\n"));
        let mut parsed = EventStream::new(stream::iter(lines.map(Ok::<_, Infallible>)));
        let parsed = parsed.next().now_or_never()??.ok()?;
        let name = fields.is_named().then(|| shared(&mut self.names, &parsed.event));
        let payload = if fields.data { Payload::Data(parsed.data.into()) } else { Payload::Empty };
        Some(Event { name, id: fields.id.then(|| parsed.id.into()), payload })
    }

    /// The text of a line. What is not UTF-8 in it becomes U+FFFD, as in a browser.
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
        *self.format.get_or_insert(if text.trim_start().starts_with(['{', '[']) {
            Format::JsonLines
        } else {
            Format::Sse
        })
    }
}

fn unnamed(payload: Payload) -> Event {
    Event { name: None, id: None, payload }
}

/// A name as it is shared by the events that have it.
fn shared(names: &mut HashSet<Arc<str>>, name: &str) -> Arc<str> {
    if let Some(known) = names.get(name) {
        return known.clone();
    }
    let name: Arc<str> = name.into();
    names.insert(name.clone());
    name
}

/// Which fields a block has. The crate fills in what is absent, so its events do not tell.
#[derive(Default)]
struct BlockFields<'a> {
    /// The value of the last `event` line.
    event: Option<&'a str>,
    id: bool,
    data: bool,
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
                _ => {}
            }
        }
        fields
    }

    /// Whether the block has a name. An empty `event` line takes away one that came before it.
    fn is_named(&self) -> bool {
        self.event.is_some_and(|value| !matches!(value, "" | " "))
    }
}

#[cfg(test)]
mod tests;
