//! Worlds: the ways in which a model can fail. A world is a turn of the recording, and a fault that the turn's call meets before it
//! gets the recorded answer. All other calls are answered as they always are.
//!
//! | file | contents |
//! |---|---|
//! | `fault` | the faults, by name and family |
//! | `sent` | what is sent instead of a response, and how it ends |
//! | `errors` | the errors of providers: status, headers, body, and in a stream |
//! | `cut` | faults of an answer on its way: a stream or a body that breaks |
//! | `meaning` | answers that are complete, but not what was asked for |
//! | `framing` | the same answer in other pieces |
//! | `staged` | the faults that a replay's calls meet, and how often they came |
//! | `order` | answers of calls that are under way together, in another order |
//! | `meet` | the place where a call meets its fault |

mod cut;
mod errors;
mod fault;
mod framing;
mod meaning;
mod meet;
mod order;
mod sent;
mod staged;

pub use fault::{Family, Fault, FaultKind};
pub(super) use meet::{Meeting, meet};
pub use staged::{Arrivals, Staged};

use cut::cut;
use errors::{in_stream, refused};
use framing::framed;
use meaning::meant;
use sent::{End, Sent};

use retake_wire::fixture::Turn;
use retake_wire::{Api, Body, Call, Response};

/// What a fault makes of the response to a call, or `None` if this response cannot fail in that way.
fn faulted(fault: Fault, turn: &Turn, call: &Call, api: Api, response: &Response) -> Option<Sent> {
    match fault.kind.family() {
        Family::Transport => match fault.kind {
            FaultKind::RateLimit
            | FaultKind::Exhausted
            | FaultKind::Overloaded
            | FaultKind::Error500
            | FaultKind::ContextOverflow
            | FaultKind::Unauthorized
            | FaultKind::ModelGone => Some(refused(fault.kind, api, call)),
            FaultKind::Reset => Some(Sent::nothing(End::BeforeHead)),
            FaultKind::Hang => Some(Sent::nothing(End::Hang)),
            FaultKind::Empty => Some(Sent { content_type: response.content_type.clone(), ..Sent::nothing(End::Whole) }),
            _ => cut(fault, api, response),
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
        Body::Frames(frames) => cut::data_frames(frames).len(),
        _ => 0,
    };
    let faults = FaultKind::ALL.into_iter().flat_map(|kind| kind.places(frames));
    faults.filter(|fault| faulted(*fault, turn, call, api, response).is_some()).collect()
}

#[cfg(test)]
mod tests;
