//! Who plays when. As many scenarios play at a time as `--test-threads` says, in their order. One that lingers gives its slot
//! to the next and stays in the house, which has few places: whoever finds none keeps the slot until there is one.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Thread;

use tokio::sync::{Semaphore, SemaphorePermit};

/// How many routers linger at once, where the open files of this process allow it.
const ROUTERS: usize = 256;
/// How many commands do.
const COMMANDS: usize = 8;
/// The open files of a scenario that lingers on a router, of which two runtimes have most: 10, as measured.
const FILES_EACH: u64 = 12;
/// The open files of all else: of those that play, and of the servers that are kept.
const FILES_OF_OTHERS: u64 = 256;

/// The slots of a run, and the places of its house.
#[derive(Debug)]
pub(crate) struct Slots {
    state: Mutex<State>,
    routers: Semaphore,
    commands: Semaphore,
    places: usize,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// Those that are still to play, by name, and the system that each has to itself meanwhile.
    waiting: BTreeMap<String, Option<String>>,
    /// The threads of those that wait for their turn.
    parked: HashMap<String, Thread>,
    playing: HashMap<String, Playing>,
}

/// A scenario that has a stage.
#[derive(Debug)]
struct Playing {
    has_slot: bool,
    alone_on: Option<String>,
}

/// A scenario's trial: when this is dropped, nothing waits for it any more.
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
    /// One slot, which is what recording needs.
    pub(crate) fn new() -> Slots {
        let (waiting, parked, playing) = (BTreeMap::new(), HashMap::new(), HashMap::new());
        let state = Mutex::new(State { free: 1, waiting, parked, playing });
        let routers = routers();
        let (places, routers, commands) = (routers + COMMANDS, Semaphore::new(routers), Semaphore::new(COMMANDS));
        Slots { state, routers, commands, places }
    }

    /// Opens slots for these scenarios, each with the system that it has to itself. They are played in the order of their
    /// names, in which whoever runs them has to come for them. Gives how many threads all of it can use.
    pub(super) fn open(&self, slots: usize, scenarios: BTreeMap<String, Option<String>>) -> usize {
        let all = scenarios.len();
        self.change(|state| (state.free, state.waiting) = (slots.max(1), scenarios));
        (slots.max(1) + self.places).min(all.max(1))
    }

    /// Waits for a scenario's turn. It has its slot until it lingers.
    pub(super) fn turn<'a>(&'a self, name: &'a str, alone_on: Option<&str>) -> Turn<'a> {
        self.take(name, alone_on);
        Turn { slots: self, name }
    }

    /// Waits for a slot, unless the scenario has one. This blocks the thread.
    pub(super) fn take(&self, name: &str, alone_on: Option<&str>) {
        let mut state = self.state();
        if state.playing.get(name).is_some_and(|playing| playing.has_slot) {
            return;
        }
        state.waiting.insert(name.to_owned(), alone_on.map(str::to_owned));
        state.parked.insert(name.to_owned(), std::thread::current());
        while !state.has_turn(name) {
            drop(state);
            std::thread::park();
            state = self.state();
        }
        state.parked.remove(name);
        state.waiting.remove(name);
        state.free -= 1;
        let playing = Playing { has_slot: true, alone_on: alone_on.map(str::to_owned) };
        state.playing.insert(name.to_owned(), playing);
        state.wake();
    }

    /// Gives a scenario a place to linger at, and its slot to the next. The system that it has to itself stays its own.
    pub(super) async fn linger(&self, name: &str, on_commands: bool) -> Option<SemaphorePermit<'_>> {
        let house = if on_commands { &self.commands } else { &self.routers };
        let place = house.acquire().await.ok();
        self.change(|state| state.give_slot(name));
        place
    }

    /// Gives up all that a scenario has: its stage is gone.
    pub(super) fn leave(&self, name: &str) {
        self.change(|state| state.leave(name));
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state();
        change(&mut state);
        state.wake();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whether a scenario is the first one that could play.
    fn has_turn(&self, name: &str) -> bool {
        self.free > 0 && self.next() == Some(name)
    }

    fn next(&self) -> Option<&str> {
        let is_free = |system: &Option<String>| {
            system.is_none() || self.playing.values().all(|playing| playing.alone_on != *system)
        };
        self.waiting.iter().find(|(_, alone_on)| is_free(alone_on)).map(|(name, _)| name.as_str())
    }

    /// Wakes the one whose turn it is, where it waits already.
    fn wake(&self) {
        if let Some(thread) = self.next().filter(|_| self.free > 0).and_then(|name| self.parked.get(name)) {
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

/// How many routers may linger at once: fewer where this process may open few files, which is raised as far as anybody may.
#[cfg(unix)]
fn routers() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let wanted = ROUTERS as u64 * FILES_EACH + FILES_OF_OTHERS;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_some_and(|current| current < wanted) {
        let current = Some(maximum.map_or(wanted, |maximum| maximum.min(wanted)));
        // Where it cannot be raised, fewer have to do.
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
