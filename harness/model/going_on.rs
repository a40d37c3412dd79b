//! What a call that missed gets, where a replay goes on all the same: to learn what the run would have been without the first
//! change. Pure.

use super::miss::MissReason;
use crate::fixture::{Fixture, Turn};
use crate::key::Key;
use crate::wire::Api;

/// What a call that misses gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum GoingOn {
    /// No answer: it is a miss.
    #[default]
    Never,
    /// The answer of the turn that it is most like, where that is still to be served, and takes it.
    Meant,
    /// An answer that says something, and takes no turn: as if the call were one more than recorded.
    Aside,
}

/// The turn that a call gets that missed: the one that it is most like, of the same conversation where only the caller is
/// another one. A turn that was served is given again where it ends a loop. `served` says of each turn whether it was.
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

/// A turn that answers by text alone: what a service can take for any answer.
pub(super) fn any_text(fixture: &Fixture) -> Option<usize> {
    let is_text = |turn: &Turn| {
        turn.output.tool_calls().is_empty()
            && !turn.output.text().is_empty()
            && turn.wire.as_ref().is_none_or(|wire| wire.api != Api::Opaque)
    };
    fixture.table.turns().iter().rposition(is_text)
}
