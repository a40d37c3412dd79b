//! What a call that missed gets if the replay goes on in spite of the miss. Such a replay shows how the run would continue after
//! the first change. Pure.

use super::miss::MissReason;
use retake_core::key::Key;
use retake_wire::fixture::{Fixture, Turn};

/// What a call that misses gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GoingOn {
    /// No answer: the replay does not go on.
    #[default]
    Never,
    /// The answer of the turn that the call resembles most, if that turn was not served yet. The turn is taken.
    Meant,
    /// Any text answer, without taking its turn: as if the call came in addition to the recorded ones.
    Aside,
}

/// Returns the turn that a call gets after it missed: the turn that it resembles most, or a turn with the same conversation if
/// only the caller differs. A turn that was served is given again if that can end a loop. `served` says for each turn whether
/// it was served.
pub(super) fn meant_turn(
    fixture: &Fixture,
    reason: &MissReason,
    nearest: Option<usize>,
    key: Option<Key>,
    served: &[bool],
) -> Option<usize> {
    let open = |turn: &usize| !served[*turn];
    match reason {
        MissReason::NotRecorded | MissReason::RequestNotRecorded { .. } => nearest.filter(open),
        MissReason::AllServed { .. } if nearest.is_some() => nearest.filter(open),
        MissReason::AllServed { turns, .. } => {
            turns.last().copied().filter(|turn| fixture.table.turns()[*turn].output.tool_calls().is_empty())
        }
        MissReason::OtherCaller { .. } | MissReason::Ambiguous { .. } => {
            let group = fixture.table.of_conversation(key?.conversation_hash)?;
            group.turns.iter().copied().find(open)
        }
        _ => None,
    }
}

/// Returns the last turn whose answer is text without tool calls, which a service can accept as the answer to any call.
pub(super) fn any_text(fixture: &Fixture) -> Option<usize> {
    let is_text = |turn: &Turn| {
        turn.output.tool_calls().is_empty()
            && !turn.output.text().is_empty()
            && !turn.output.is_untold()
            && turn.wire.as_ref().is_none_or(|wire| wire.api.is_spoken())
    };
    fixture.table.turns().iter().rposition(is_text)
}
