//! The place where a call meets its fault, before a turn is taken for it.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body as HttpBody;
use axum::http::{HeaderMap, Response as HttpResponse};

use super::staged::{Staged, StagedKind};
use super::{Fault, faulted, possible};
use crate::activity::{Activity, InFlight};
use crate::hold::HELD;
use crate::lookup::Lookup;
use crate::replay::Replay;
use crate::served::Served;
use retake_core::json::Json;
use retake_wire::{Api, Call};

/// The header in which a call asks for a fault.
const HEADER: &str = "x-retake-world";
/// If a call is not repeated within this time after its fault, its caller has given up.
const GIVEN_UP: Duration = Duration::from_millis(300);

/// A call that may meet a fault.
pub(crate) struct Meeting<'a> {
    pub(crate) replay: &'a Replay,
    pub(crate) staged: &'a Arc<Staged>,
    pub(crate) activity: &'a Activity,
    pub(crate) call: &'a Call,
    pub(crate) request: &'a Json,
    pub(crate) lookup: &'a Lookup,
    pub(crate) headers: &'a HeaderMap,
    /// The provider, whose errors the call understands.
    pub(crate) provider: Api,
}

/// Returns what a call gets if it meets a fault, otherwise the token of the call: then it is answered as usual.
pub(crate) async fn meet(meeting: Meeting<'_>, in_flight: InFlight) -> Result<HttpResponse<HttpBody>, InFlight> {
    let Meeting { replay, staged, activity, call, request, lookup, headers, provider } = meeting;
    if staged.gate().is_some() {
        return Err(in_flight);
    }
    let Some((index, is_open)) = replay.next_turn(lookup, Some(request)) else { return Err(in_flight) };
    let served = Served::plain(replay.fixture().clone(), index);
    let response = served.response_to(call);
    let (fault, times) = match &staged.kind {
        StagedKind::Watched { holds } => {
            if let Ok(response) = &response {
                staged.note_possible(index, || possible(served.turn(), call, provider, response));
            }
            if *holds {
                staged.hold(index, HELD).await;
            }
            return Err(in_flight);
        }
        StagedKind::Ordered(order) => {
            staged.turn_of(index, order).await;
            return Err(in_flight);
        }
        StagedKind::Faulty { of, times } => match of.or_else(|| asked(headers)) {
            Some((turn, fault)) if turn.is_none_or(|turn| turn == index) => (fault, *times),
            _ => return Err(in_flight),
        },
        StagedKind::Gated(..) => return Err(in_flight),
    };
    let Some(sent) = response.ok().and_then(|response| faulted(fault, served.turn(), call, provider, &response)) else {
        return Err(in_flight);
    };
    if !staged.count(index, fault, if is_open { times } else { 0 }) {
        return Err(in_flight);
    }
    // A step that waits for this call goes on if the call is not made again.
    let came = staged.arrivals(index).came;
    let (staged, activity) = (staged.clone(), activity.clone());
    let caller = lookup.caller.clone().or_else(|| served.turn().caller.clone());
    tokio::spawn(async move {
        tokio::time::sleep(GIVEN_UP).await;
        if staged.arrivals(index).came == came {
            activity.answered(caller.as_deref());
        }
    });
    Ok(sent.answer(in_flight).await)
}

fn asked(headers: &HeaderMap) -> Option<(Option<usize>, Fault)> {
    Fault::of_turn(headers.get(HEADER)?.to_str().ok()?.trim())
}
