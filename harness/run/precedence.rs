//! What follows from what in a run that failed, as tables. What follows from a cause is evidence and no cause of its own. Pure.

use retake_base::cause::{Cause, CauseClass, CauseKind as Kind};

/// Findings that follow from a cause: the finding, and one of the causes that it follows from.
const FOLLOWS: [(Kind, From); 3] = [
    // Another caller has another prompt.
    (Kind::Check, From::Kind(Kind::Caller)),
    // The check of results says again which results have the ids of other calls.
    (Kind::Check, From::Kind(Kind::ToolCallId)),
    // A call that missed would have led to requests to tools.
    (Kind::ToolUnused, From::Class(CauseClass::Miss)),
];

#[derive(Clone, Copy, Debug)]
enum From {
    Kind(Kind),
    Class(CauseClass),
}

/// Changes of the golden that are named beside other causes: those of these kinds, or of any kind, if all causes are of those. A
/// change that has no row here follows from any cause.
const NAMED_BESIDE: [(&[Kind], Causes); 5] = [
    // The status and the names of events do not depend on what the model says.
    (&[Kind::EventRenamed, Kind::Status, Kind::ContentType], Causes::NotPlain),
    // Other words of the same answer do not change shapes, orders or numbers of events. But events have the results of tools.
    (&[Kind::EventShape, Kind::EventOrder], Causes::Only(&[Kind::MessageText, Kind::Caller, Kind::Check])),
    (
        &[Kind::EventMissing, Kind::EventExtra],
        Causes::Only(&[Kind::MessageText, Kind::ToolResult, Kind::Caller, Kind::Check]),
    ),
    // A caller that stops asking causes fewer events, and no others.
    (&[Kind::EventShape], Causes::OnlyIfMore(&[Kind::CallerSilent, Kind::MessageText, Kind::Caller, Kind::Check])),
    // A check that differs changes nothing that a recorded answer leads to.
    (&[], Causes::OneCheck),
];

#[derive(Clone, Copy, Debug)]
enum Causes {
    NotPlain,
    Only(&'static [Kind]),
    /// The same for a change that does not only remove something.
    OnlyIfMore(&'static [Kind]),
    OneCheck,
}

pub(super) fn follows(finding: Kind, causes: &[Cause]) -> bool {
    let is_from = |from: From| {
        causes.iter().any(|cause| match from {
            From::Kind(kind) => cause.kind == kind,
            From::Class(class) => cause.kind.class() == class,
        })
    };
    FOLLOWS.iter().any(|(of, from)| *of == finding && is_from(*from))
}

/// Whether a change of the golden is named beside these causes.
pub(super) fn is_named(change: Kind, is_less: bool, causes: &[Cause]) -> bool {
    let all = |kinds: &[Kind]| causes.iter().all(|cause| kinds.contains(&cause.kind));
    NAMED_BESIDE.iter().any(|(changes, named_beside)| {
        (changes.is_empty() || changes.contains(&change))
            && match named_beside {
                Causes::NotPlain => causes.iter().all(|cause| cause.kind.class() != CauseClass::Plain),
                Causes::Only(kinds) => all(kinds),
                Causes::OnlyIfMore(kinds) => !is_less && all(kinds),
                Causes::OneCheck => causes.len() == 1 && all(&[Kind::Check]),
            }
    })
}

#[cfg(test)]
mod tests;
