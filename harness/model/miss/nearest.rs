//! The recorded turn that is most like a call.

use super::words::common_ends;
use crate::fixture::Fixture;
use crate::json::{Json, Layout};
use crate::key::Rules;
use crate::model::lookup::Lookup;

/// The turn that is most like a call.
pub(super) struct Nearest {
    /// Its index in the fixture.
    pub(super) turn: usize,
    /// Its canonical conversation.
    pub(super) conversation: Vec<Json>,
}

/// The recorded turn that is most like a call; none where the fixture keeps no conversation.
pub(super) fn nearest(lookup: &Lookup, fixture: &Fixture, rules: &Rules, served: &[bool]) -> Option<Nearest> {
    let mut best: Option<(Nearness, Nearest)> = None;
    let called = &lookup.conversation;
    for (index, turn) in fixture.table.turns().iter().enumerate() {
        let Some(conversation) = fixture.conversation(index, rules) else { continue };
        let common = conversation.iter().zip(called).filter(|(a, b)| a == b).count();
        let nearness = Nearness {
            common: 1000 * common / conversation.len().max(called.len()).max(1),
            same_caller: lookup.caller.is_some() && turn.caller == lookup.caller,
            same_length: usize::MAX - conversation.len().abs_diff(called.len()),
            alike: alike(&conversation, called),
            not_served: !served[index],
        };
        if best.as_ref().is_none_or(|(other, _)| nearness > *other) {
            best = Some((nearness, Nearest { turn: index, conversation }));
        }
    }
    best.map(|(_, nearest)| nearest)
}

/// How near a turn is to a call; the greatest is the nearest. Fields in order of their weight.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Nearness {
    /// Messages in common, place by place, in thousandths of the longer conversation.
    common: usize,
    same_caller: bool,
    /// The less the lengths differ, the more.
    same_length: usize,
    /// Characters in common where the two part.
    alike: usize,
    not_served: bool,
}

/// How many characters the first differing messages share at both ends.
fn alike(recorded: &[Json], called: &[Json]) -> usize {
    let Some((a, b)) = recorded.iter().zip(called).find(|(a, b)| a != b) else { return 0 };
    let (a, b) = (a.print(Layout::Python), b.print(Layout::Python));
    let (prefix, suffix) = common_ends(&a, &b);
    prefix + suffix
}
