//! Worlds: the ways in which a model can fail. A world is a turn of the recording, and a fault that the turn's call meets before it
//! gets the recorded answer. All other calls are answered as they always are.

mod errors;
mod fault;
mod meaning;
mod meet;
mod pieces;
mod sent;
mod staged;

pub use fault::{Family, Fault, FaultKind};
pub(super) use meet::meet;
pub use staged::{Staged, Stages};

use errors::{in_stream, refused};
use meaning::meant;
use pieces::{cut, data_frames, framed};
use sent::End;
pub(super) use sent::Sent;

use retake_wire::fixture::Turn;
use retake_wire::{Api, Body, Call, Response};

/// What a fault makes of the response to a call, or `None` if this response cannot fail in that way.
fn faulted(fault: Fault, turn: &Turn, call: &Call, api: Api, response: &Response) -> Option<Sent> {
    match fault.kind.family() {
        Family::Transport => match fault.kind {
            FaultKind::Reset => Some(Sent::nothing(End::BeforeHead)),
            FaultKind::Hang => Some(Sent::nothing(End::Hang)),
            FaultKind::Empty => Some(Sent { content_type: response.content_type.clone(), ..Sent::nothing(End::Whole) }),
            kind if kind.breaks() => cut(fault, api, response),
            kind => Some(refused(kind, api, call)),
        },
        Family::Meaning => meant(fault.kind, turn, call).map(|response| Sent::of(&response)),
        Family::Framing => framed(fault, turn, api, response),
        // Orders are of several calls, and the other sides fail elsewhere.
        Family::Order | Family::Client | Family::Process | Family::Tools => None,
    }
}

/// The faults that a response can have, each at each of its places.
pub fn possible(turn: &Turn, call: &Call, api: Api, response: &Response) -> Vec<Fault> {
    let frames = match &response.body {
        Body::Frames(frames) => data_frames(frames).len(),
        _ => 0,
    };
    let faults = FaultKind::ALL.into_iter().flat_map(|kind| kind.places(frames));
    faults.filter(|fault| faulted(*fault, turn, call, api, response).is_some()).collect()
}

#[cfg(test)]
mod tests;
