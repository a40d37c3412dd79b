//! The place where a call meets its fault, before a turn is taken for it.

use std::time::Duration;

use super::{Fault, Sent, Stages, faulted, possible};
use crate::activity::Activity;
use crate::http::Incoming;
use crate::lookup::Lookup;
use crate::replay::Replay;
use crate::served::Served;
use retake_core::json::Json;
use retake_wire::Call;

/// The header in which a call asks for a fault.
const HEADER: &str = "x-retake-world";
/// If a call is not repeated within this time after its fault, its caller has given up.
const GIVEN_UP: Duration = Duration::from_millis(300);

/// Returns what a call gets if it meets a fault; otherwise it is answered as usual.
pub(crate) async fn meet(
    replay: &Replay,
    activity: &Activity,
    incoming: &Incoming,
    call: &Call,
    request: &Json,
    lookup: &Lookup,
) -> Option<Sent> {
    let staged = replay.staged.as_ref()?;
    let (index, is_open) = replay.next_turn(lookup, Some(request))?;
    let served = Served::plain(replay.fixture().clone(), index);
    let (response, provider) = (served.response_to(call).ok(), incoming.provider());
    let (of, times) = match &staged.kind {
        Stages::Watched(holds) => {
            if let Some(response) = &response {
                staged.note_possible(index, || possible(served.turn(), call, provider, response));
            }
            if *holds {
                staged.hold(index).await;
            }
            return None;
        }
        Stages::Ordered(order) => {
            staged.turn_of(index, order).await;
            return None;
        }
        Stages::Gated(..) => return None,
        Stages::Faulty(of, times) => {
            let asked = || Fault::of_turn(incoming.headers.get(HEADER)?.to_str().ok()?.trim());
            (of.or_else(asked), *times)
        }
    };
    let (_, fault) = of.filter(|(turn, _)| turn.is_none_or(|turn| turn == index))?;
    let sent = faulted(fault, served.turn(), call, provider, &*response?)?;
    if !staged.count(index, fault, times, is_open) {
        return None;
    }
    // A step that waits for this call goes on if the call is not made again.
    let came = staged.arrivals(index);
    let (staged, activity) = (staged.clone(), activity.clone());
    let caller = lookup.caller.clone().or_else(|| served.turn().caller.clone());
    tokio::spawn(async move {
        tokio::time::sleep(GIVEN_UP).await;
        if staged.arrivals(index) == came {
            activity.answered(caller.as_deref());
        }
    });
    Some(sent)
}
