//! An answer in other pieces: a stream or a body that breaks off, stops, or carries something that is no answer; or all of it, which a
//! client that reads HTTP and SSE as they are defined does not notice.

use axum::body::Bytes;

use super::{End, Fault, FaultKind, Sent, in_stream};
use crate::load::Draws;
use retake_wire::fixture::Turn;
use retake_wire::{Api, Body, Frames, Response};

/// How much of a body is sent byte by byte: what parsers confuse is at the beginning of streams as well as later.
const BY_BYTES: usize = 8 << 10;
/// The length of the longest piece with seeded ends.
const LONGEST: u64 = 97;

/// The places of the frames with data: comments and empty lines are not counted.
pub(super) fn data_frames(frames: &Frames) -> Vec<usize> {
    let holds = |of: &str| of.trim_start().starts_with('{') || of.lines().any(|line| line.starts_with("data:"));
    frames.iter().enumerate().filter(|(_, frame)| holds(frame)).map(|(at, _)| at).collect()
}

/// Breaks a response, or returns `None` if it cannot break in this way.
pub(super) fn cut(fault: Fault, api: Api, response: &Response) -> Option<Sent> {
    let Body::Frames(frames) = &response.body else { return cut_body(fault.kind, response) };
    let places = data_frames(frames);
    let after = fault.after.unwrap_or(places.len() / 2).min(places.len());
    // With fewer frames nothing would be sent, or nothing would be missing.
    if after == 0 || after == places.len() {
        return None;
    }
    let mut pieces: Vec<Bytes> = frames.bytes().collect();
    if fault.kind == FaultKind::Garbage {
        let next = places[after];
        pieces[next] = as_sent(garbage(frames.iter().nth(next)?));
        return Some(Sent::in_pieces(response, pieces));
    }
    pieces.truncate(places[after - 1] + 1);
    let end = match fault.kind {
        FaultKind::CutDirty => End::Broken,
        FaultKind::Stall => End::Open,
        _ => End::Whole,
    };
    if fault.kind == FaultKind::ErrorEvent {
        pieces.push(as_sent(in_stream(api, pieces.len())));
    }
    Some(Sent { end, ..Sent::in_pieces(response, pieces) })
}

fn as_sent(frame: String) -> Bytes {
    retake_wire::encoded(&frame).map_or_else(|| frame.into(), Bytes::from)
}

/// A body that is no stream: it can lack its end, or be no JSON.
fn cut_body(kind: FaultKind, response: &Response) -> Option<Sent> {
    let whole = response.bytes();
    let half = whole.slice(..whole.len() / 2);
    if half.is_empty() || response.status >= 300 {
        return None;
    }
    match kind {
        FaultKind::CutDirty => {
            Some(Sent { length: Some(whole.len()), end: End::Broken, ..Sent::in_pieces(response, vec![half]) })
        }
        FaultKind::Garbage if !matches!(response.body, Body::Binary(_)) => Some(Sent::in_pieces(response, vec![half])),
        _ => None,
    }
}

/// A frame whose data is cut in half, so that it is no JSON.
fn garbage(frame: &str) -> String {
    let end = if frame.ends_with("\n\n") { "\n\n" } else { "\n" };
    let text = frame.trim_end();
    // `[DONE]` is no JSON in the first place; half of any JSON object is none either.
    let from = text.find(['{', '[']).unwrap_or_default();
    let mut cut = from + (text.len() - from) / 2;
    while !text.is_char_boundary(cut) {
        cut -= 1;
    }
    format!("{}{end}", text[..cut].trim_end())
}

/// Returns a response in other pieces, or `None` if it has only one form of this kind.
pub(super) fn framed(fault: Fault, turn: &Turn, api: Api, response: &Response) -> Option<Sent> {
    let whole = response.bytes();
    if whole.len() < 2 || response.is_open() {
        return None;
    }
    let is_sse = !matches!(api, Api::Ollama | Api::Bedrock | Api::BedrockInvoke | Api::Declared(_) | Api::Opaque);
    let pieces = match (fault.kind, &response.body) {
        // `framing-seeded/2` has other pieces than `framing-seeded/1`.
        (FaultKind::FramingSeeded, _) => {
            let seed = format!("{}{:?}", turn.key.input_hash, fault.after);
            at(&whole, seeded(&seed, whole.len()))
        }
        (FaultKind::FramingBytes, _) => at(&whole, (1..whole.len().min(BY_BYTES)).collect()),
        (FaultKind::FramingInside, _) => at(&whole, Some(inside(&whole)).filter(|ends| !ends.is_empty())?),
        (FaultKind::FramingWhole, Body::Frames(_)) => vec![whole],
        (FaultKind::FramingCrlf, Body::Frames(frames)) if is_sse && !whole.contains(&b'\r') => {
            frames.iter().map(|frame| Bytes::from(frame.replace('\n', "\r\n"))).collect()
        }
        (FaultKind::FramingBetween, Body::Frames(frames)) => {
            let more = match api {
                Api::Anthropic => "event: ping\ndata: {\"type\": \"ping\"}\n\n",
                // OpenRouter sends these while the model behind it is silent.
                Api::OpenAiChat => ": OPENROUTER PROCESSING\n\n",
                // Google's clients read nothing of the kind.
                _ => return None,
            };
            // After each frame but the last: nothing comes after the end.
            let last = data_frames(frames).last().copied().unwrap_or_default();
            let more = |at| (at < last).then_some(Bytes::from_static(more.as_bytes()));
            frames.bytes().enumerate().flat_map(|(at, frame)| std::iter::once(frame).chain(more(at))).collect()
        }
        _ => return None,
    };
    Some(Sent { length: None, ..Sent::in_pieces(response, pieces) })
}

/// Cuts a body at these places.
fn at(whole: &Bytes, ends: Vec<usize>) -> Vec<Bytes> {
    let mut from = 0;
    let ends = ends.into_iter().chain([whole.len()]);
    let pieces: Vec<Bytes> = ends.map(|to| whole.slice(std::mem::replace(&mut from, to)..to)).collect();
    debug_assert!(pieces.concat() == whole[..] && pieces.iter().all(|piece| !piece.is_empty()));
    pieces
}

/// The places inside of characters of several bytes, and between the line ends of an event.
fn inside(whole: &[u8]) -> Vec<usize> {
    let continues = |byte: u8| byte & 0b1100_0000 == 0b1000_0000;
    let is_end = |byte: u8| matches!(byte, b'\n' | b'\r');
    (1..whole.len()).filter(|at| continues(whole[*at]) || (is_end(whole[at - 1]) && is_end(whole[*at]))).collect()
}

/// Places that differ from turn to turn, and are the same in each run.
fn seeded(seed: &str, len: usize) -> Vec<usize> {
    let mut draws = Draws(seed.bytes().fold(0, |all: u64, byte| all.rotate_left(7) ^ u64::from(byte)));
    let mut next = |place: &usize| Some(place + 1 + usize::try_from(draws.word() % LONGEST).unwrap_or_default());
    std::iter::successors(next(&0), next).take_while(|place| *place < len).collect()
}
