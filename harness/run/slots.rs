//! Which scenario runs when. `--test-threads` sets the number of slots, so how many scenarios run at the same time, in the order
//! of their names. A scenario that lingers passes its slot to the next one, and its system too: where it is not clear whose call came,
//! each of them runs again alone. The places for lingering are limited too: a scenario that finds none keeps its slot until one is free.

use std::collections::{BTreeMap, HashMap};
use std::thread::Thread;

use retake_base::lock::Mutex;
use retake_model::threads;
use tokio::sync::{Semaphore, SemaphorePermit};

/// How many scenarios on routers linger at the same time, if this process may open enough files.
const ROUTERS: usize = 256;
/// How many scenarios on commands linger at the same time.
const COMMANDS: usize = 8;
/// The open files of a scenario that lingers on a router. Measured: 10, most of them of its two runtimes.
const FILES_EACH: u64 = 12;
/// The open files of everything else: of scenarios that run, and of model servers that are kept for late calls.
const FILES_OF_OTHERS: u64 = 256;

/// What a scenario needs for itself.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub system: String,
    /// Whether it passes on the system when it lingers, to another one that does so too.
    pub passes_on: bool,
}

/// The slots of a run, and its places for lingering.
#[derive(Debug)]
pub(super) struct Slots {
    state: Mutex<State>,
    routers: Semaphore,
    commands: Semaphore,
    places: usize,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// Whether each scenario keeps its slot until it is judged.
    until_judged: bool,
    /// The scenarios that have not run yet, by name, with the system that each needs for itself.
    waiting: BTreeMap<String, Option<Claim>>,
    /// The threads of scenarios that wait for their turn.
    parked: HashMap<String, Thread>,
    playing: HashMap<String, Playing>,
}

/// A scenario that has a stage.
#[derive(Debug)]
struct Playing {
    has_slot: bool,
    lingers: bool,
    alone_on: Option<Claim>,
}

/// A scenario's turn to run. Dropping it gives up the slot, and other scenarios stop waiting for this one.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    slots: &'a Slots,
    name: &'a str,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.slots.change(|state| {
            state.waiting.remove(self.name);
            state.leave(self.name);
        });
    }
}

impl Slots {
    /// One slot, as recording needs it.
    pub(super) fn new() -> Slots {
        let (waiting, parked, playing) = (BTreeMap::new(), HashMap::new(), HashMap::new());
        let state = Mutex::new(State { free: 1, until_judged: false, waiting, parked, playing });
        let routers = routers();
        let (places, routers, commands) = (routers + COMMANDS, Semaphore::new(routers), Semaphore::new(COMMANDS));
        Slots { state, routers, commands, places }
    }

    /// Opens slots for these scenarios, each with the system that it needs for itself. They run in the order of their names, so
    /// their threads have to ask for them in that order. With `until_judged`, each keeps its slot until its turn is over, so that the
    /// next one knows how it ended. Returns how many threads can be in use at the same time.
    pub(super) fn open(&self, slots: usize, scenarios: BTreeMap<String, Option<Claim>>, until_judged: bool) -> usize {
        let all = scenarios.len();
        self.change(|state| {
            (state.free, state.waiting, state.until_judged) = (slots.max(1), scenarios, until_judged);
        });
        (slots.max(1) + self.places).min(all.max(1))
    }

    /// Waits for a scenario's turn. The scenario keeps its slot until it lingers.
    pub(super) fn turn<'a>(&'a self, name: &'a str, alone_on: Option<Claim>) -> Turn<'a> {
        self.take(name, alone_on);
        Turn { slots: self, name }
    }

    /// Waits for a slot, unless the scenario has one. Blocks the thread.
    pub(super) fn take(&self, name: &str, alone_on: Option<Claim>) {
        threads::this_is_own();
        let mut state = self.state.lock();
        if state.playing.get(name).is_some_and(|playing| playing.has_slot) {
            return;
        }
        state.waiting.insert(name.to_owned(), alone_on.clone());
        state.parked.insert(name.to_owned(), std::thread::current());
        while state.next() != Some(name) {
            drop(state);
            std::thread::park();
            state = self.state.lock();
        }
        state.parked.remove(name);
        state.waiting.remove(name);
        state.free -= 1;
        state.playing.insert(name.to_owned(), Playing { has_slot: true, lingers: false, alone_on });
        state.wake();
    }

    /// Waits for a place to linger, then passes the scenario's slot to the next one.
    pub(super) async fn linger(&self, name: &str, on_commands: bool) -> Option<SemaphorePermit<'_>> {
        let places = if on_commands { &self.commands } else { &self.routers };
        let place = places.acquire().await.ok();
        self.change(|state| {
            if let Some(playing) = state.playing.get_mut(name) {
                playing.lingers = true;
            }
            if !state.until_judged {
                state.give_slot(name);
            }
        });
        place
    }

    /// Whether a scenario passes on its system when it lingers.
    pub(super) fn passes_on(&self, name: &str) -> bool {
        let state = self.state.lock();
        state.playing.get(name).and_then(|playing| playing.alone_on.as_ref()).is_some_and(|claim| claim.passes_on)
    }

    /// Gives up a scenario's slot and system, once its stage is gone.
    pub(super) fn leave(&self, name: &str) {
        self.change(|state| {
            if !state.until_judged {
                state.leave(name);
            }
        });
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state.lock();
        change(&mut state);
        state.wake();
    }
}

impl State {
    /// The first scenario that can run, if a slot is free.
    fn next(&self) -> Option<&str> {
        let is_free = |claim: &Option<Claim>| {
            let Some(claim) = claim else { return true };
            let others = self.playing.values().filter_map(|of| Some((of.lingers, of.alone_on.as_ref()?)));
            let mut of_system = others.filter(|(_, other)| other.system == claim.system);
            of_system.all(|(lingers, other)| lingers && other.passes_on && claim.passes_on)
        };
        let first = self.waiting.iter().find(|(_, alone_on)| is_free(alone_on)).filter(|_| self.free > 0);
        first.map(|(name, _)| name.as_str())
    }

    /// Wakes the thread of the scenario whose turn it is, if it waits already.
    fn wake(&self) {
        if let Some(thread) = self.next().and_then(|name| self.parked.get(name)) {
            thread.unpark();
        }
    }

    fn give_slot(&mut self, name: &str) {
        if let Some(playing) = self.playing.get_mut(name)
            && std::mem::take(&mut playing.has_slot)
        {
            self.free += 1;
        }
    }

    fn leave(&mut self, name: &str) {
        self.give_slot(name);
        self.playing.remove(name);
    }
}

/// How many scenarios on routers may linger at the same time. First raises this process's limit of open files as far as allowed;
/// a lower limit leaves room for fewer.
#[cfg(unix)]
fn routers() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let wanted = ROUTERS as u64 * FILES_EACH + FILES_OF_OTHERS;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_some_and(|current| current < wanted) {
        let current = Some(maximum.map_or(wanted, |maximum| maximum.min(wanted)));
        // Ignore errors: the limit that is read below counts.
        let _ = setrlimit(Resource::Nofile, Rlimit { current, maximum });
    }
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let places = files.saturating_sub(FILES_OF_OTHERS) / FILES_EACH;
    usize::try_from(places).unwrap_or(ROUTERS).clamp(1, ROUTERS)
}

#[cfg(not(unix))]
fn routers() -> usize {
    ROUTERS
}

#[cfg(test)]
mod tests;
