//! Turns that another API than a call's recorded, where the call cannot have the key that they have: its API does not carry
//! all that counts there.

use std::collections::{BTreeSet, HashMap};

use crate::fixture::Fixture;
use crate::json::Json;
use crate::key::{Hash, Rules, plain_conversation};
use crate::wire::Api;

/// The recorded conversations by what of them every API carries.
#[derive(Debug)]
pub(super) struct OtherWires(HashMap<Hash, BTreeSet<(Api, Hash)>>);

impl OtherWires {
    /// Reads all conversations of a fixture; those of which it keeps hashes only stay out.
    pub(super) fn of(fixture: &Fixture, rules: &Rules) -> OtherWires {
        let mut recorded: HashMap<_, BTreeSet<_>> = HashMap::new();
        for (index, turn) in fixture.table.turns().iter().enumerate() {
            let (Some(wire), Some(conversation)) = (&turn.wire, fixture.conversation(index, rules)) else { continue };
            let plain = rules.conversation_hash(&plain_conversation(&conversation));
            recorded.entry(plain).or_default().insert((wire.api, turn.key.conversation_hash));
        }
        OtherWires(recorded)
    }

    /// The hash of the one conversation that an API other than the call's recorded as what the call says. `None` where
    /// there is none, or more than one.
    pub(super) fn conversation(&self, api: Api, called: &[Json], rules: &Rules) -> Option<Hash> {
        let recorded = self.0.get(&rules.conversation_hash(&plain_conversation(called)))?;
        let others: BTreeSet<Hash> = recorded.iter().filter(|(of, _)| *of != api).map(|(_, hash)| *hash).collect();
        others.first().copied().filter(|_| others.len() == 1)
    }
}
