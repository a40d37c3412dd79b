//! AWS's event stream (`application/vnd.amazon.eventstream`), in which Bedrock streams: messages of bytes with lengths, headers and
//! checksums. They are held as texts in the form of SSE frames, with the headers as comments, and become the same bytes when they are
//! sent:
//!
//! ```text
//! :event-type contentBlockDelta
//! data: {"contentBlockIndex":0,"delta":{"text":"Hi"},"p":"abc"}
//! ```
//!
//! A message of `InvokeModel` has the event of the model's maker in base64, and a padding. Both are held in plain text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use retake_core::json::Json;

/// The content type of the streams.
pub(crate) const EVENTS: &str = "application/vnd.amazon.eventstream";
/// The headers with which a message begins. A frame that begins with one of them is a message.
const FIRST: [&str; 5] = [":event-type ", ":exception-type ", ":message-type ", ":content-type ", ":error-code "];
/// The lengths of a message and of its headers, and their checksum.
const PRELUDE: usize = 12;
/// The largest message, in bytes: AWS's own clients refuse larger ones.
const LARGEST: usize = 25 << 20;
/// The type of a header that is a text.
const TEXT: u8 = 7;

/// The messages of a stream up to the first that is damaged, and what is wrong with that one.
pub(crate) struct Damaged {
    pub(crate) whole: Vec<String>,
    pub(crate) what: String,
}

/// Whether bytes begin as a stream does.
pub(crate) fn is_stream(bytes: &[u8]) -> bool {
    bytes.len() > PRELUDE && number(bytes, 8) == Some(crc32fast::hash(&bytes[..8]))
}

/// Reads the messages of a stream.
/// An error says which message is damaged, and how.
pub(crate) fn read(mut bytes: &[u8]) -> Result<Vec<String>, Damaged> {
    let mut whole = Vec::new();
    while !bytes.is_empty() {
        match message(bytes) {
            Ok((text, length)) => {
                whole.push(text);
                bytes = &bytes[length..];
            }
            Err(what) => {
                let what = format!("message {} of the event stream {what}", whole.len() + 1);
                return Err(Damaged { whole, what });
            }
        }
    }
    Ok(whole)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Reads the first message. Returns it with its length.
fn message(bytes: &[u8]) -> Result<(String, usize), String> {
    let broken_off = || "is incomplete: the stream ends in it".to_owned();
    let field = |at| number(bytes, at).ok_or_else(broken_off);
    let (total, of_headers, found) = (field(0)? as usize, field(4)? as usize, field(8)?);
    let computed = crc32fast::hash(&bytes[..8]);
    if found != computed {
        return Err(format!("has damaged lengths: their checksum is {found:08x}, expected {computed:08x}"));
    }
    if !(PRELUDE + 4..=LARGEST).contains(&total) || of_headers > total - PRELUDE - 4 {
        return Err(format!("has lengths that cannot be: {total} bytes, of which {of_headers} of headers"));
    }
    let bytes = bytes.get(..total).ok_or_else(broken_off)?;
    let (found, computed) = (number(bytes, total - 4).unwrap_or_default(), crc32fast::hash(&bytes[..total - 4]));
    if found != computed {
        return Err(format!("is damaged: its checksum is {found:08x}, expected {computed:08x}"));
    }
    let (headers, payload) = bytes[PRELUDE..total - 4].split_at(of_headers);
    let headers = headers_of(headers).ok_or("has headers that are no texts")?;
    told(&headers)?;
    let text = std::str::from_utf8(payload).ok().map(|data| text(&headers, data));
    let text = text.filter(|text| encoded(text).is_some_and(|again| again == bytes));
    Ok((text.ok_or("has headers or data that are no texts of one line")?, total))
}

/// Fails if the headers do not tell what a message is. Clients take such a message for none, or for the end of the stream.
fn told(headers: &[(String, String)]) -> Result<(), String> {
    let value = |name: &str| headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str());
    let kind = match value(":message-type").ok_or("has no header `:message-type`")? {
        "event" => ":event-type",
        "exception" => ":exception-type",
        "error" => ":error-code",
        other => return Err(format!("is of the type `{other}`, expected `event`, `exception` or `error`")),
    };
    value(kind).map(drop).ok_or_else(|| format!("has no header `{kind}`"))
}

fn headers_of(mut bytes: &[u8]) -> Option<Vec<(String, String)>> {
    let mut headers = Vec::new();
    let mut take = |length: usize| {
        let (taken, rest) = bytes.split_at_checked(length)?;
        bytes = rest;
        Some(taken.to_vec())
    };
    while let Some(length) = take(1) {
        let name = String::from_utf8(take(length[0].into())?).ok()?;
        if take(1)? != [TEXT] {
            return None;
        }
        let length = u16::from_be_bytes(take(2)?.try_into().ok()?);
        headers.push((name, String::from_utf8(take(length.into())?).ok()?));
    }
    Some(headers)
}

/// The headers that follow the first one in each message of AWS's.
fn usual(first: &str) -> Vec<(String, String)> {
    let kind = if first == ":exception-type" { "exception" } else { "event" };
    [(":content-type", "application/json"), (":message-type", kind)].map(|(a, b)| (a.to_owned(), b.to_owned())).into()
}

fn text(headers: &[(String, String)], data: &str) -> String {
    let is_usual = headers.split_first().is_some_and(|((name, _), rest)| rest == usual(name));
    let shown = if is_usual { &headers[..1] } else { headers };
    let mut text: String = shown.iter().flat_map(|(name, value)| [name, " ", value, "\n"]).collect();
    let inner = || {
        let outer = Json::parse(data.as_bytes()).ok()?;
        let inner = String::from_utf8(STANDARD.decode(outer.str_of("bytes")?).ok()?).ok()?;
        let padding = outer.str_of("p").map(|p| format!(":p {p}\n")).unwrap_or_default();
        let held = format!("{text}{padding}data: {inner}\n\n");
        let again = encoded(&held).filter(|_| !inner.contains('\n'))?;
        (payload_of(&again) == data.as_bytes()).then_some(held)
    };
    let held = text.starts_with(CHUNK).then(inner).flatten();
    held.unwrap_or_else(|| {
        text.push_str(&["data: ", data, "\n\n"].concat());
        text
    })
}

/// How a message of `InvokeModel` begins.
const CHUNK: &str = ":event-type chunk\n";

fn payload_of(message: &[u8]) -> &[u8] {
    let headers = number(message, 4).unwrap_or_default() as usize;
    message.get(PRELUDE + headers..message.len() - 4).unwrap_or_default()
}

/// Returns the bytes of a frame that is a message; `None` if it is none.
pub fn encoded(frame: &str) -> Option<Vec<u8>> {
    if !FIRST.iter().any(|first| frame.starts_with(first)) {
        return None;
    }
    let (head, data) = frame.split_once("data: ").unwrap_or((frame.trim_end_matches('\n'), ""));
    let data = data.strip_suffix("\n\n").unwrap_or(data);
    let lines = head.lines().filter_map(|line| line.split_once(' '));
    let (padding, mut headers): (Vec<_>, Vec<_>) =
        lines.map(|(name, value)| (name.to_owned(), value.to_owned())).partition(|(name, _)| name == ":p");
    if headers.len() == 1 {
        headers.extend(usual(&headers[0].0));
    }
    let is_plain = frame.starts_with(CHUNK) && !data.starts_with("{\"bytes\":\"");
    let payload = if is_plain {
        let padding = padding.first().map(|(_, p)| format!(",\"p\":\"{p}\"")).unwrap_or_default();
        format!("{{\"bytes\":\"{}\"{padding}}}", STANDARD.encode(data))
    } else {
        data.to_owned()
    };
    let mut of_headers = Vec::new();
    for (name, value) in headers {
        of_headers.push(u8::try_from(name.len()).ok()?);
        of_headers.extend(name.bytes().chain([TEXT]).chain(u16::try_from(value.len()).ok()?.to_be_bytes()));
        of_headers.extend(value.bytes());
    }
    let total = PRELUDE + of_headers.len() + payload.len() + 4;
    let mut bytes: Vec<u8> =
        [total, of_headers.len()].iter().flat_map(|n| (u32::try_from(*n).unwrap_or(0)).to_be_bytes()).collect();
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    bytes.extend(of_headers.into_iter().chain(payload.bytes()));
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    Some(bytes)
}

/// Returns a message with an event.
pub(crate) fn frame(kind: &str, data: &str) -> String {
    format!(":event-type {kind}\ndata: {data}\n\n")
}

/// Returns the kind of a message, and whether it reports an error.
pub(crate) fn kind(frame: &str) -> Option<(&str, bool)> {
    let line = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name));
    let failed = || line(":exception-type ").or_else(|| line(":error-code ")).map(|kind| (kind, true));
    line(":event-type ").map(|kind| (kind, false)).or_else(failed)
}

#[cfg(test)]
mod tests;
