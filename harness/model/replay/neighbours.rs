//! What a replay knows of other scenarios that use the same model server.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use super::Replay;
use crate::registry::Scope;
use retake_base::lock::Mutex;
use retake_core::key::Hash;

/// What a replay knows of other scenarios that use the same server.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    roots: OnceLock<Option<BTreeSet<Hash>>>,
    /// The replays that linger, and may have made a call that it answered.
    beside: Mutex<Vec<Arc<Replay>>>,
    suspected: Mutex<Vec<Scope>>,
}

impl Replay {
    /// The first messages of its conversations; `None` if they are not known.
    pub fn roots(&self) -> Option<&BTreeSet<Hash>> {
        self.neighbours.roots.get_or_init(|| self.fixture().roots(self.rules())).as_ref()
    }

    /// Says which replays linger whose conversations begin as its own call does.
    pub(crate) fn is_beside(&self, others: Vec<Arc<Replay>>) {
        *self.neighbours.beside.lock() = others;
    }

    pub(crate) fn suspect(&self, scope: Scope) {
        self.neighbours.suspected.lock().push(scope);
    }

    /// After a miss: whether it is this scenario's own is not known where others linger that begin so too.
    pub(crate) fn suspects_those_beside(&self) {
        let beside = self.neighbours.beside.lock().clone();
        for replay in beside.iter().map(|replay| &**replay).chain((!beside.is_empty()).then_some(self)) {
            replay.suspect(self.scope().clone());
        }
    }

    /// The scopes of misses that may belong to this scenario or to others that used the same server meanwhile.
    pub fn suspected(&self) -> Vec<Scope> {
        self.neighbours.suspected.lock().clone()
    }
}
