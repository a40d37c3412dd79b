//! What follows from what in a run that failed. What follows from a cause is evidence and no cause of its own. Pure.

use crate::cause::{Cause, CauseClass, CauseKind as Kind};

/// Whether a finding follows from one of these causes.
pub fn follows(finding: Kind, causes: &[Cause]) -> bool {
    causes.iter().any(|cause| match finding {
        // Another caller has another prompt, and the check of results says again which results have the ids of other calls.
        Kind::Check => matches!(cause.kind, Kind::Caller | Kind::ToolCallId),
        // A call that missed would have led to requests to tools.
        Kind::ToolUnused => cause.kind.class() == CauseClass::Miss,
        _ => false,
    })
}

/// Whether a change of the golden is named beside these causes. Otherwise it follows from them.
pub fn is_named(change: Kind, is_less: bool, causes: &[Cause]) -> bool {
    let all = |kinds: &[Kind]| causes.iter().all(|cause| kinds.contains(&cause.kind));
    let is_named = match change {
        // The status and the names of events do not depend on what the model says.
        Kind::EventRenamed | Kind::Status | Kind::ContentType => {
            causes.iter().all(|cause| cause.kind.class() != CauseClass::Plain)
        }
        // A caller that stops asking causes fewer events, and no others.
        Kind::EventShape if !is_less => all(&[Kind::CallerSilent, Kind::MessageText, Kind::Caller, Kind::Check]),
        // Other words of the same answer do not change shapes, orders or numbers of events. But events have the results of tools.
        Kind::EventShape | Kind::EventOrder => all(&[Kind::MessageText, Kind::Caller, Kind::Check]),
        Kind::EventMissing | Kind::EventExtra => all(&[Kind::MessageText, Kind::ToolResult, Kind::Caller, Kind::Check]),
        _ => false,
    };
    // A check that differs changes nothing that a recorded answer leads to.
    is_named || (causes.len() == 1 && all(&[Kind::Check]))
}

#[cfg(test)]
mod tests;
