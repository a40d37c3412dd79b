//! Why a call missed, line by line: what fits, or the nearest turn and the difference.

use super::caller_rule;
use super::messages::outline;
use super::nearest::{Nearest, nearest};
use super::parting::parting;
use super::reason::MissReason;
use super::words::change;
use crate::fixture::Fixture;
use crate::key::{Rules, plain_conversation};
use crate::model::lookup::Lookup;

/// What is found out about a miss.
pub(in crate::model) struct Explanation {
    /// For people, line by line.
    pub(in crate::model) lines: Vec<String>,
    /// The turn that the call may have been meant for, where no turn has its conversation.
    pub(in crate::model) nearest: Option<usize>,
}

/// Looks into a miss. `served` tells of each turn whether a call has had it.
pub(in crate::model) fn explain(
    reason: &MissReason,
    lookup: &Lookup,
    fixture: &Fixture,
    rules: &Rules,
    served: &[bool],
) -> Explanation {
    let messages = lookup.conversation.len();
    let mut lines = vec![format!("messages   {messages} in the key: {}", outline(&lookup.conversation))];
    lines.extend(lookup.flaws.iter().map(|(kind, what)| format!("{:<10} {what}", kind.to_string())));
    let mut found = None;
    match reason {
        MissReason::Ambiguous { .. } => {
            let group = fixture.table.of_conversation(rules.conversation_hash(&lookup.conversation));
            let turns = group.map(|group| group.turns.as_slice()).unwrap_or_default();
            lines.extend(caller_rule::lines(turns, lookup.checks.as_ref().map(|checks| &checks.texts), fixture));
        }
        MissReason::OtherCaller { .. } => lines.push(
            "to fix     if the caller was renamed on purpose, record again, or add the new name to [aliases] in \
             scenarios/suite.toml"
                .to_owned(),
        ),
        MissReason::AllServed { .. } => lines.push(format!(
            "to fix     the system asks more often than when it was recorded, {} of {} turns are still open",
            open(served),
            served.len()
        )),
        _ => {
            found = nearest(lookup, fixture, rules, served);
            lines.extend(lines_on(found.as_ref(), lookup, fixture, served));
        }
    }
    Explanation { lines, nearest: found.map(|nearest| nearest.turn) }
}

/// How many turns are not served.
fn open(served: &[bool]) -> usize {
    served.iter().filter(|served| !**served).count()
}

/// The lines on the nearest turn, or why none is known.
fn lines_on(nearest: Option<&Nearest>, lookup: &Lookup, fixture: &Fixture, served: &[bool]) -> Vec<String> {
    let turns = fixture.table.turns();
    if turns.is_empty() {
        return vec![format!("nearest    none: {} holds no turn", fixture.path.display())];
    }
    let Some(Nearest { turn: index, conversation }) = nearest else {
        return vec![format!(
            "nearest    not known: {} keeps hashes and no conversations; {} of its {} turns are still open",
            fixture.path.display(),
            open(served),
            turns.len()
        )];
    };
    let turn = &turns[*index];
    let state = if served[*index] { "served before" } else { "not yet served" };
    let caller = turn.caller.as_deref().unwrap_or("(no caller)");
    let mut lines = vec![format!("nearest    {}, by `{caller}`, {state}", fixture.place_of(*index))];
    let over_another_wire = turn.wire.as_ref().is_some_and(|wire| lookup.api.is_some_and(|api| api != wire.api));
    if lookup.conversation.is_empty() && conversation.is_empty() {
        let recorded = turn.checks.and_then(|checks| fixture.texts.get(&checks.prompt)).map_or("", |text| text);
        let now = lookup.checks.as_ref().map_or("", |checks| &checks.texts.prompt);
        let what = change(recorded, now);
        lines.push(format!("they part  in the system prompt, which alone tells such calls apart: {what}"));
        return lines;
    }
    lines.extend(if over_another_wire {
        parting(&plain_conversation(conversation), &plain_conversation(&lookup.conversation))
    } else {
        parting(conversation, &lookup.conversation)
    });
    lines
}
