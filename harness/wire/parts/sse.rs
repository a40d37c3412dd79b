//! Reads the data of recorded SSE frames, and writes frames. The names, ids and retry times of events are not read here; the
//! module `events` does that.

use std::borrow::Cow;

use super::fields::WireError;
use retake_core::json::Json;

/// Calls `on` with the data of each event of a frame; several `data:` lines are joined by newlines.
///
/// Accepts comments, other fields, all three kinds of line ending, a leading byte order mark, and a last event without its
/// blank line. A client would drop such an event, but recording tools often strip the blank line.
pub(crate) fn each_data<E>(frame: &str, mut on: impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
    let mut data: Option<String> = None;
    let frame = frame.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    for line in frame.split(['\n', '\r']) {
        if line.is_empty() {
            data.take().map_or(Ok(()), |data| on(&data))?;
        } else if let Some(value) = line.strip_prefix("data:") {
            let value = value.strip_prefix(' ').unwrap_or(value);
            match &mut data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => data = Some(value.to_owned()),
            }
        }
    }
    data.map_or(Ok(()), |data| on(&data))
}

/// Calls `on` with the JSON data of each event of a frame. Skips empty data, `null`, and `[DONE]`, which some services append to any
/// stream.
pub(crate) fn each_json(frame: &str, mut on: impl FnMut(Json) -> Result<(), WireError>) -> Result<(), WireError> {
    each_data(frame, |data| match data.trim() {
        "" | "[DONE]" | "null" => Ok(()),
        data => on(Json::parse_request(data.as_bytes()).map_err(|error| WireError::new(format!("data: {error}")))?),
    })
}

/// Returns the frames of a stream with whole characters. A server that cuts texts by UTF-16 units sends the halves of a character in two
/// frames; the first half moves there where the second one begins a string.
pub(crate) fn whole_characters<'a>(frames: impl IntoIterator<Item = &'a str>) -> Vec<Cow<'a, str>> {
    let mut frames: Vec<Cow<'a, str>> = frames.into_iter().map(Cow::Borrowed).collect();
    for second in 1..frames.len() {
        while let Some(to) = half(&frames[second], b"cdef", |before, _| before.ends_with('"')) {
            let first_half = |frame: &str| half(frame, b"89ab", |_, after| after.starts_with('"'));
            let found = (0..second).rev().find_map(|first| Some((first, first_half(&frames[first])?)));
            let Some((first, from)) = found else { break };
            let escape: String = frames[first].to_mut().drain(from..from + ESCAPE).collect();
            frames[second].to_mut().insert_str(to, &escape);
        }
    }
    frames
}

/// The length of an escape: `\ud83d`.
const ESCAPE: usize = 6;

/// Finds the escape of half a character whose third digit is one of these, by the texts before and after it.
fn half(frame: &str, third: &[u8], is: impl Fn(&str, &str) -> bool) -> Option<usize> {
    frame.match_indices("\\u").map(|(at, _)| at).find(|at| {
        let (before, rest) = frame.split_at(*at);
        let escape = rest.get(..ESCAPE).unwrap_or_default().as_bytes();
        let is_half = matches!(escape, [_, _, b'd' | b'D', digit, ..] if third.contains(&digit.to_ascii_lowercase()));
        let escaped = before.len() - before.trim_end_matches('\\').len();
        is_half && escaped % 2 == 0 && is(before, &rest[ESCAPE..])
    })
}

/// Cuts the text of a stream into frames, each with the blank line that ends it. Joined, the frames are the text again.
pub fn split_frames(text: &str) -> Vec<String> {
    let mut frames = Vec::new();
    let mut frame = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end =
            rest.find(['\n', '\r']).map_or(rest.len(), |at| at + if rest[at..].starts_with("\r\n") { 2 } else { 1 });
        let (line, after) = rest.split_at(end);
        frame.push_str(line);
        rest = after;
        if line.trim_end_matches(['\n', '\r']).is_empty() && line.len() < frame.len() {
            frames.push(std::mem::take(&mut frame));
        }
    }
    if !frame.is_empty() {
        frames.push(frame);
    }
    frames
}

/// Returns a frame of one event without a name.
pub(crate) fn frame(data: &str) -> String {
    format!("data: {data}\n\n")
}

pub(crate) fn named_frame(name: &str, data: &str) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

#[cfg(test)]
mod tests;
