//! Turns that were recorded over a different API than the call's. A call cannot always have their key, because its API may not
//! carry everything that is part of the key.

use std::collections::{BTreeSet, HashMap};

use super::lookup::Lookup;
use retake_core::key::{Hash, Rules, plain_conversation};
use retake_wire::Api;
use retake_wire::fixture::{Fixture, Turn};

/// The recorded conversations, indexed by the part of them that every API carries.
#[derive(Debug)]
pub(super) struct OtherWires {
    /// From the hash of the part that every API carries to the API and the hash of the whole conversation.
    recorded: HashMap<Hash, BTreeSet<(Api, Hash)>>,
    /// For each API, the callers that have turns recorded over it.
    callers: BTreeSet<(Api, Option<String>)>,
}

impl OtherWires {
    /// Reads all conversations of a fixture. Turns of which it keeps only hashes are left out.
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

    /// Returns the hash of the one conversation that was recorded over a different API and says the same as the call. `None` if
    /// there is none or more than one. Also `None` if the caller has turns over the call's own API, because then one of those
    /// should answer.
    pub(super) fn conversation(&self, api: Api, lookup: &Lookup, rules: &Rules) -> Option<Hash> {
        if lookup.caller.is_some() && self.callers.contains(&(api, lookup.caller.clone())) {
            return None;
        }
        let recorded = self.recorded.get(&rules.conversation_hash(&plain_conversation(&lookup.conversation)))?;
        let others: BTreeSet<Hash> = recorded.iter().filter(|(of, _)| *of != api).map(|(_, hash)| *hash).collect();
        others.first().copied().filter(|_| others.len() == 1)
    }
}
