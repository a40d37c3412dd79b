//! The registry of the process: each miss and each served turn, with the scenario that it belongs to.
//!
//! A system may turn a model's error into a friendly message and go on. So the verdict of a run cannot depend on what the system
//! says; it depends on this registry.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::account::Account;
use super::miss::Miss;
use retake_base::lock::Mutex;

/// How many misses of one replay are explained in full. Nobody reads more.
pub(super) const EXPLAINED: usize = 16;

/// One running scenario or one replay model. Its calls are registered under this scope.
#[derive(Clone, Debug)]
pub struct Scope {
    id: u64,
    /// The scenario's name.
    pub name: Arc<str>,
}

impl Scope {
    /// Makes a new scope. Two scopes with the same name are still different.
    pub fn new(name: &str) -> Scope {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Scope { id: NEXT.fetch_add(1, Ordering::Relaxed), name: name.into() }
    }

    /// The misses of this scope, in the order in which they came.
    pub fn misses(&self) -> Vec<Arc<Miss>> {
        let registry = REGISTRY.lock();
        registry.misses.entries.iter().filter(|entry| entry.scope == self.id).map(|entry| entry.miss.clone()).collect()
    }

    /// The turns that were served in this scope, in the order in which they were.
    pub fn served(&self) -> Vec<usize> {
        let of_this = |entry: &&ServedTurn| Arc::ptr_eq(&entry.scenario, &self.name);
        REGISTRY.lock().served.entries.iter().filter(of_this).map(|entry| entry.turn).collect()
    }

    /// Returns the misses of this scope and marks them as judged. A miss that comes later is [`unjudged`].
    pub fn judge(&self) -> Vec<Arc<Miss>> {
        let mut registry = REGISTRY.lock();
        let own = registry.misses.entries.iter_mut().filter(|entry| entry.scope == self.id);
        own.for_each(|entry| entry.judged = true);
        drop(registry);
        self.misses()
    }

    /// Adds a miss to the registry.
    pub fn add_miss(&self, miss: Arc<Miss>) {
        let mut registry = REGISTRY.lock();
        let limit = registry.limit;
        // Only the first misses are explained in full.
        registry.misses.push(RegisteredMiss { scope: self.id, miss, judged: false }, limit, EXPLAINED, |_, _| true);
    }

    pub(super) fn add_served(&self, turn: usize) {
        let mut registry = REGISTRY.lock();
        let limit = registry.limit;
        registry.served.push(ServedTurn { scenario: self.name.clone(), turn }, limit, 0, |_, _| true);
    }
}

/// A turn that answered a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServedTurn {
    /// The scenario in which it was served.
    pub scenario: Arc<str>,
    /// Its index in the scenario's fixture.
    pub turn: usize,
}

struct RegisteredMiss {
    scope: u64,
    miss: Arc<Miss>,
    judged: bool,
}

struct Registry {
    misses: Account<RegisteredMiss>,
    served: Account<ServedTurn>,
    /// How many misses and served turns are kept.
    limit: usize,
}

static REGISTRY: Mutex<Registry> =
    Mutex::new(Registry { misses: Account::new(), served: Account::new(), limit: usize::MAX });

/// All misses of the process, of any scenario, in the order in which they came.
pub fn misses() -> Vec<Arc<Miss>> {
    REGISTRY.lock().misses.entries.iter().map(|entry| entry.miss.clone()).collect()
}

/// The misses that no verdict has counted, because they came after the verdict of their scenario.
pub fn unjudged() -> Vec<Arc<Miss>> {
    REGISTRY.lock().misses.entries.iter().filter(|entry| !entry.judged).map(|entry| entry.miss.clone()).collect()
}

/// All served turns of the process, in the order in which they were served.
pub fn served() -> Vec<ServedTurn> {
    REGISTRY.lock().served.entries.clone()
}

/// Forgets all misses and served turns of the process.
pub fn reset() {
    let mut registry = REGISTRY.lock();
    (registry.misses, registry.served) = (Account::new(), Account::new());
}

/// Keeps only the last misses and served turns of the process from now on, for a server that runs for long.
pub fn keep_the_last(limit: usize) {
    REGISTRY.lock().limit = limit;
}

/// How many served turns and misses were not kept.
pub fn forgotten() -> (usize, usize) {
    let registry = REGISTRY.lock();
    (registry.served.forgotten, registry.misses.forgotten)
}
