//! The same answer in other pieces. A client that reads HTTP and SSE as they are defined does not notice.

use axum::body::Bytes;

use super::{Fault, FaultKind, Sent, cut};
use retake_wire::fixture::Turn;
use retake_wire::{Api, Body, Response};

/// How much of a body is sent byte by byte: what parsers confuse is at the beginning of streams as well as later.
const BY_BYTES: usize = 8 << 10;
/// The length of the longest piece with seeded ends.
const LONGEST: u64 = 97;

/// Returns a response in other pieces, or `None` if it has only one form of this kind.
pub(super) fn framed(fault: Fault, turn: &Turn, api: Api, response: &Response) -> Option<Sent> {
    let whole = Bytes::from(response.bytes());
    if whole.len() < 2 || response.is_open() {
        return None;
    }
    let pieces = match (fault.kind, &response.body) {
        // `framing-seeded/2` has other pieces than `framing-seeded/1`.
        (FaultKind::FramingSeeded, _) => {
            let seed = format!("{}{:?}", turn.key.input_hash, fault.after);
            at(&whole, seeded(&seed, whole.len()))
        }
        (FaultKind::FramingBytes, _) => at(&whole, (1..whole.len().min(BY_BYTES)).collect()),
        (FaultKind::FramingInside, _) => {
            let ends = inside(&whole);
            if ends.is_empty() {
                return None;
            }
            at(&whole, ends)
        }
        (FaultKind::FramingWhole, Body::Frames(_)) => vec![whole],
        (FaultKind::FramingCrlf, Body::Frames(frames)) if is_sse(api) && !whole.contains(&b'\r') => {
            frames.iter().map(|frame| Bytes::from(frame.replace('\n', "\r\n"))).collect()
        }
        (FaultKind::FramingBetween, Body::Frames(frames)) => {
            let more = between(api)?;
            let data = cut::data_frames(frames);
            let frames = frames.bytes().enumerate();
            // After each frame but the last: nothing comes after the end.
            let last = data.last().copied().unwrap_or_default();
            frames
                .flat_map(|(at, frame)| {
                    let more = (at < last).then(|| Bytes::from_static(more.as_bytes()));
                    std::iter::once(frame).chain(more)
                })
                .collect()
        }
        _ => return None,
    };
    Some(Sent { length: None, ..Sent::in_pieces(response, pieces) })
}

fn is_sse(api: Api) -> bool {
    !matches!(api, Api::Ollama | Api::Declared(_) | Api::Opaque)
}

/// What a provider sends between the frames of its streams. Google's clients read nothing of the kind, and get none.
fn between(api: Api) -> Option<&'static str> {
    match api {
        Api::Anthropic => Some("event: ping\ndata: {\"type\": \"ping\"}\n\n"),
        // OpenRouter sends these while the model behind it is silent.
        Api::OpenAiChat => Some(": OPENROUTER PROCESSING\n\n"),
        Api::OpenAiResponses | Api::Gemini | Api::Ollama | Api::Declared(_) | Api::Opaque => None,
    }
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
    let mut state = seed
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mut place = 0;
    std::iter::from_fn(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        place += 1 + usize::try_from(state % LONGEST).unwrap_or_default();
        Some(place)
    })
    .take_while(|place| *place < len)
    .collect()
}
