//! Turns that another API than a call's recorded, where the call cannot have the key that they have: its API does not carry
//! all that counts there.

use std::collections::{BTreeSet, HashMap};

use super::lookup::Lookup;
use crate::fixture::{Fixture, Turn};
use crate::key::{Hash, Rules, plain_conversation};
use crate::wire::Api;

/// The recorded conversations by what of them every API carries.
#[derive(Debug)]
pub(super) struct OtherWires {
    /// By the hash of what every API carries: the API, and the hash of the whole.
    recorded: HashMap<Hash, BTreeSet<(Api, Hash)>>,
    /// Who has turns over which API.
    callers: BTreeSet<(Api, Option<String>)>,
}

impl OtherWires {
    /// Reads all conversations of a fixture; those of which it keeps hashes only stay out.
    pub(super) fn of(fixture: &Fixture, rules: &Rules) -> OtherWires {
        let mut recorded: HashMap<_, BTreeSet<_>> = HashMap::new();
        let of = |turn: &Turn| Some((turn.wire.as_ref()?.api, turn.caller.clone()));
        let callers = fixture.table.turns().iter().filter_map(of).collect();
        for (index, turn) in fixture.table.turns().iter().enumerate() {
            let (Some(wire), Some(conversation)) = (&turn.wire, fixture.conversation(index, rules)) else { continue };
            let plain = rules.conversation_hash(&plain_conversation(&conversation));
            recorded.entry(plain).or_default().insert((wire.api, turn.key.conversation_hash));
        }
        OtherWires { recorded, callers }
    }

    /// The hash of the one conversation that an API other than the call's recorded as what the call says. `None` where
    /// there is none, or more than one, and where the caller has turns over the call's own API: then it is one of those that
    /// is missing.
    pub(super) fn conversation(&self, api: Api, lookup: &Lookup, rules: &Rules) -> Option<Hash> {
        if lookup.caller.is_some() && self.callers.contains(&(api, lookup.caller.clone())) {
            return None;
        }
        let recorded = self.recorded.get(&rules.conversation_hash(&plain_conversation(&lookup.conversation)))?;
        let others: BTreeSet<Hash> = recorded.iter().filter(|(of, _)| *of != api).map(|(_, hash)| *hash).collect();
        others.first().copied().filter(|_| others.len() == 1)
    }
}
