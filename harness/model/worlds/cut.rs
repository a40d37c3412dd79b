//! Faults of an answer on its way: a stream or a body that breaks off, stops, or carries something that is no answer.

use axum::body::Bytes;

use super::{End, Fault, FaultKind, Sent, in_stream};
use retake_wire::{Api, Body, Frames, Response};

/// The places of the frames with data: comments and empty lines are not counted.
pub(super) fn data_frames(frames: &Frames) -> Vec<usize> {
    let holds =
        |frame: &str| frame.trim_start().starts_with('{') || frame.lines().any(|line| line.starts_with("data:"));
    frames.iter().enumerate().filter(|(_, frame)| holds(frame)).map(|(at, _)| at).collect()
}

/// Breaks a response, or returns `None` if it cannot break in this way.
pub(super) fn cut(fault: Fault, api: Api, response: &Response) -> Option<Sent> {
    match &response.body {
        Body::Frames(frames) => cut_stream(fault, api, response, frames),
        _ => cut_body(fault.kind, response),
    }
}

fn cut_stream(fault: Fault, api: Api, response: &Response, frames: &Frames) -> Option<Sent> {
    let places = data_frames(frames);
    let after = fault.after.unwrap_or(places.len() / 2).min(places.len());
    // With fewer frames nothing would be sent, or nothing would be missing.
    if after == 0 || after == places.len() {
        return None;
    }
    let mut pieces: Vec<Bytes> = frames.bytes().collect();
    let (last, next) = (places[after - 1], places[after]);
    let end = match fault.kind {
        FaultKind::Garbage => {
            let frame = frames.iter().nth(next)?;
            pieces[next] = as_sent(garbage(frame));
            End::Whole
        }
        FaultKind::ErrorEvent => {
            pieces.truncate(last + 1);
            pieces.push(as_sent(in_stream(api, pieces.len())));
            End::Whole
        }
        kind => {
            pieces.truncate(last + 1);
            match kind {
                FaultKind::CutDirty => End::Broken,
                FaultKind::Stall => End::Open,
                _ => End::Whole,
            }
        }
    };
    Some(Sent { end, ..Sent::in_pieces(response, pieces) })
}

fn as_sent(frame: String) -> Bytes {
    retake_wire::encoded(&frame).map_or_else(|| frame.into(), Bytes::from)
}

/// A body that is no stream: it can lack its end, or be no JSON.
fn cut_body(kind: FaultKind, response: &Response) -> Option<Sent> {
    let whole = Bytes::from(response.bytes());
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
