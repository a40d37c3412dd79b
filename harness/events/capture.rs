//! A response body, as it comes, becomes events.
//!
//! Server-sent events are parsed by `eventsource-stream`. A capture cuts the stream into blocks, each up to its blank
//! line, and hands the crate one block at a time, line by line, because of how the crate goes about it (0.2.3):
//!
//! - It copies the rest of its buffer for each line it takes, and reads its buffer anew for each chunk that comes. One
//!   chunk of many lines costs the square of its size, and so does one long line in many chunks: a line of 4 MB takes
//!   2.7 s in chunks of 8 KB. A line a chunk is linear for both: a line of 10 MB takes 0.07 s.
//! - It panics at a byte-order mark in front, and after a byte that is no UTF-8 it says nothing more. It gets neither.
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
    /// The first line that is no UTF-8, from 1, and its first wrong byte.
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

    /// The first line that was no UTF-8, from 1, and its first wrong byte.
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
        let seen = Seen::of(&self.block);
        if seen.event.is_none() && !seen.id && !seen.data {
            return None;
        }
        // The crate looks for a byte-order mark in its first chunk, and panics if there is one: an empty line goes first.
        // It drops an event without data, name and all: such a block is given an empty data line.
        let filler = if seen.data { None } else { Some("data\n") };
        let lines = once("\n").chain(self.block.split_inclusive('\n')).chain(filler).chain(once("\n"));
        let mut parsed = EventStream::new(stream::iter(lines.map(Ok::<_, Infallible>)));
        let parsed = parsed.next().now_or_never()??.ok()?;
        let name = seen.is_named().then(|| shared(&mut self.names, &parsed.event));
        let payload = if seen.data { Payload::Data(parsed.data.into()) } else { Payload::Empty };
        Some(Event { name, id: seen.id.then(|| parsed.id.into()), payload })
    }

    /// The text of a line. What is no UTF-8 in it becomes U+FFFD, as in a browser.
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
struct Seen<'a> {
    /// The value of the last `event` line.
    event: Option<&'a str>,
    id: bool,
    data: bool,
}

impl Seen<'_> {
    fn of(block: &str) -> Seen<'_> {
        let mut seen = Seen::default();
        for line in block.lines() {
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            match field {
                "event" => seen.event = Some(value),
                "id" => seen.id |= !value.contains('\0'),
                "data" => seen.data = true,
                _ => {}
            }
        }
        seen
    }

    /// Whether the block has a name. An empty `event` line takes away one that came before it.
    fn is_named(&self) -> bool {
        self.event.is_some_and(|value| !matches!(value, "" | " "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn capture<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Event> {
        let mut capture = Capture::new();
        let mut events: Vec<Event> = chunks.into_iter().flat_map(|chunk| capture.push(chunk)).collect();
        events.extend(capture.finish());
        assert_eq!(capture.finish(), []);
        events
    }

    /// The events as short text: `name#id payload`.
    fn read(body: &[u8]) -> Vec<String> {
        let print = |event: Event| {
            let id = event.id.as_ref().map(|id| format!("#{id}")).unwrap_or_default();
            let name = event.name.as_deref().unwrap_or_default();
            let payload = match (event.json(), &event.payload) {
                (Some(json), _) => format!("Json({json:?})"),
                (None, Payload::Data(text)) => format!("Text({text:?})"),
                (None, other) => format!("{other:?}"),
            };
            format!("{name}{id} {payload}")
        };
        capture([body]).into_iter().map(print).collect()
    }

    #[test]
    fn names_ids_and_data_are_read() {
        let body = b"event: metadata\nid: 17-0\ndata: 1\n\ndata: 2\n\nevent: message\ndata:  x\ndata\ndata:y\n\n";
        assert_eq!(read(body), ["metadata#17-0 Json(Int(1))", " Json(Int(2))", r#"message Text(" x\n\ny")"#]);
    }

    #[test]
    fn what_the_crate_drops_is_seen_in_its_place() {
        let body =
            b": hi\n\nevent: ping\n\ndata: 1\n:beat\ndata: 2\n\nid: 9\n\nretry: 3\n\ndata:\n\nevent\n\nevent: b\ndata: {";
        assert_eq!(
            read(body),
            [
                r#" Comment("hi")"#,
                "ping Empty",
                r#" Comment("beat")"#,
                r#" Text("1\n2")"#,
                "#9 Empty",
                r#" Text("")"#,
                " Empty",
                r#" Tail("event: b\ndata: {")"#
            ]
        );
    }

    #[test]
    fn an_empty_name_is_none_and_a_zero_makes_no_id() {
        assert_eq!(read(b"event: a\nevent:\nid: \0\ndata: 1\n\n"), [" Json(Int(1))"]);
        assert_eq!(read(b"id\ndata: 1\n\n"), ["# Json(Int(1))"]);
    }

    #[test]
    fn each_line_end_ends_a_line() {
        let body = "\u{feff}event: a\ndata: 1\n\n: c\ndata: 2\n\n";
        for end in ["\n", "\r", "\r\n"] {
            let body = body.replace('\n', end);
            assert_eq!(read(body.as_bytes()), ["a Json(Int(1))", r#" Comment("c")"#, " Json(Int(2))"], "{end:?}");
        }
    }

    #[test]
    fn an_event_comes_with_the_byte_that_completes_it() {
        let mut capture = Capture::new();
        assert_eq!(capture.push(b"data: 1\r\n"), []);
        assert_eq!(capture.push(b"\r").len(), 1);
        assert_eq!(capture.push(b"\ndata: 2\n\n").len(), 1);
        assert_eq!(capture.finish(), []);
    }

    #[test]
    fn marks_and_bytes_that_are_no_utf8_do_no_harm() {
        assert_eq!(read(b"\xef\xbb\xbf\xef\xbb\xbfdata: 1\n\n\xef\xbb\xbfdata: 2\n\n"), Vec::<String>::new());
        assert_eq!(read(b"data: a\xff\xe2\x82\n\ndata: 1\n\n"), [" Text(\"a\u{fffd}\u{fffd}\")", " Json(Int(1))"]);
        assert_eq!(read(b"\xef\xbb"), [" Tail(\"\u{fffd}\")"]);
    }

    #[test]
    fn json_lines_are_told_by_their_content() {
        assert_eq!(
            read(b"\n \r\n{\"a\": 1}\r\n\n[2]\nprose\n3"),
            [r#" Json(Object({"a": Int(1)}))"#, " Json(Array([Int(2)]))", r#" Text("prose")"#, " Json(Int(3))"]
        );
        assert_eq!(read(b"\xef\xbb\xbf{\"a\""), [r#" Tail("{\"a\"")"#]);
        let mut lines = Capture::with_format(Format::JsonLines);
        assert_eq!(lines.push(b"warning: old\n{}\n").len(), 2);
    }

    #[test]
    fn nothing_gives_nothing() {
        for body in ["", "\n", " \n\n ", "\u{feff}", "retry: 1\n\n"] {
            assert_eq!(read(body.as_bytes()), Vec::<String>::new(), "{body:?}");
        }
    }

    /// One long line, many lines in one event, many events: each would take minutes where reading was quadratic.
    #[test]
    fn time_is_linear() {
        let line = format!("data: \"{}\"\n\n", "x".repeat(4_000_000));
        let lines = format!("{}\n", "data: 1234567\n".repeat(100_000));
        let events = "event: a\ndata: {}\n\n".repeat(50_000);
        let start = std::time::Instant::now();
        for (body, count) in [(line, 1), (lines, 1), (events, 50_000)] {
            assert_eq!(capture([body.as_bytes()]).len(), count);
            assert_eq!(capture(body.as_bytes().chunks(1000)).len(), count);
        }
        assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    }

    /// Bytes that look like a stream, line ends and odd bytes included.
    fn body() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            6 => prop::sample::select(vec!["\n", "\r", "\r\n", "\n\n", "data", "data: ", ":", " ", "é", "{\"a\": 1}"]),
            3 => prop::sample::select(vec!["event: a", "event", "id: 7", "retry: 1", "[", "{", "}", "\u{feff}", "\0"]),
        ];
        let piece = prop_oneof![
            9 => piece.prop_map(|text| text.as_bytes().to_vec()),
            1 => prop::collection::vec(any::<u8>(), 0..4),
        ];
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn chunks_change_nothing(body in body(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
            let whole = capture([&body[..]]);
            prop_assert_eq!(&capture(body.chunks(1)), &whole);
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
            cuts.extend([0, body.len()]);
            cuts.sort_unstable();
            prop_assert_eq!(&capture(cuts.windows(2).map(|cut| &body[cut[0]..cut[1]])), &whole);
        }

        #[test]
        fn data_is_what_the_crate_alone_reads(body in body()) {
            // A line end of its own keeps a mark or a bracket from being the first byte, and a CR from being the last.
            let text = format!("x\n{}\n", String::from_utf8_lossy(&body));
            let mut alone = EventStream::new(stream::iter([Ok::<_, Infallible>(text.as_bytes())]));
            let mut expected = Vec::new();
            while let Some(Some(Ok(event))) = alone.next().now_or_never() {
                expected.push((event.event.into(), Payload::Data(event.data.into())));
            }
            let mut events = capture([text.as_bytes()]);
            events.retain(|event| matches!(event.payload, Payload::Data(_)));
            let found = events.into_iter().map(|e| (e.name.unwrap_or("message".into()), e.payload));
            prop_assert_eq!(found.collect::<Vec<_>>(), expected);
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
            capture([&bytes[..]]);
        }
    }
}
