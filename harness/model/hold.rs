//! Holds the end of an answer back until a client of the stage has received a part of it. So whether a service passes on what it has is
//! not a question of time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::gate::Gate;
use retake_base::lock::Mutex;
use retake_core::events::{Event, Passing, Patience};
use retake_wire::{Api, Body, Response, last_text};

/// How long nothing happens until a part of an answer is not expected any more, if nobody knows whether it comes.
const QUIET: Duration = Duration::from_secs(2);

/// How long nothing happens while an answer is held back to see what comes without it: other calls, or events to the client.
pub(super) const HELD: Duration = Duration::from_millis(150);
/// When the last text of each turn's answer went that was held for that.
pub(super) type Went = Arc<Mutex<BTreeMap<usize, Instant>>>;

/// What clients are to receive before answers end, in one run. Clones share it.
#[derive(Clone, Debug)]
pub struct Hold(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    state: Mutex<State>,
    /// Any number of answers may wait for this.
    changed: Notify,
    /// How long a part is awaited that is known to come.
    limit: Duration,
    in_vain: InVain,
}

/// Whether a part that is known to come was awaited in vain, in any of several runs. Then it is clear that something is wrong, and others
/// need not wait as long. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct InVain(Arc<AtomicBool>);

#[derive(Debug)]
struct State {
    passing: Passing,
    /// How many streams clients of the stage read.
    open: usize,
    /// When the system last sent or asked something.
    heard: Instant,
    /// Whether nothing is awaited any more: a part that is known to come did not, or a call has missed.
    is_lost: bool,
}

/// The piece of an answer that is held back.
pub(super) struct HeldPiece {
    /// Its index.
    pub(super) nth: usize,
    pub(super) until: Until,
}

pub(super) enum Until {
    /// A client has received a part of what comes before it.
    PassedOn(usize, Hold),
    /// A client has done what it does in a world.
    Open(Gate),
    /// What the system does without the last text of a turn has been seen.
    Seen(Gate, Went, usize),
}

impl HeldPiece {
    pub(super) async fn until_it_may_go(self) {
        match self.until {
            Until::PassedOn(turn, hold) => hold.until_passed_on(turn).await,
            Until::Open(gate) => gate.until_open().await,
            Until::Seen(gate, went, turn) => {
                gate.moment().await;
                went.lock().insert(turn, Instant::now());
            }
        }
    }
}

/// A stream that a client of the stage reads; it ends when this is dropped.
#[derive(Debug)]
pub struct Reading(Option<Hold>);

impl Hold {
    /// Nothing has come yet. A part that is known to come is awaited for the time `limit`.
    pub fn new(passing: Passing, limit: Duration, in_vain: InVain) -> Hold {
        let state = State { passing, open: 0, heard: Instant::now(), is_lost: false };
        Hold(Arc::new(Inner { state: Mutex::new(state), changed: Notify::new(), limit, in_vain }))
    }

    /// Notes that a client begins to read a stream, before it asks for it.
    pub fn reading(hold: Option<&Hold>) -> Reading {
        if let Some(hold) = hold {
            hold.0.state.lock().open += 1;
        }
        Reading(hold.cloned())
    }

    /// Notes an event that a client received. One that only shows that the system is alive is not new.
    pub fn came(&self, event: &Event, is_new: bool) {
        let mut state = self.0.state.lock();
        state.passing.take(event);
        if is_new {
            state.heard = Instant::now();
        }
        drop(state);
        self.0.changed.notify_waiters();
    }

    /// Notes that a turn, counted from 1, says another text in this run than in the recording.
    pub(super) fn says(&self, turn: usize, text: &str) {
        self.0.state.lock().passing.says(turn, text);
    }

    /// Notes that the system asked something.
    pub(super) fn asked(&self) {
        self.0.state.lock().heard = Instant::now();
    }

    /// For each response of the golden, the turns of which a part came before they ended. Of answers that were held back when a run `broke`
    /// off, none did.
    pub fn early(&self, broke: bool) -> Vec<Vec<usize>> {
        self.0.state.lock().passing.came(broke)
    }

    /// Says that nothing is to come any more: a call has missed.
    pub(super) fn gives_up(&self) {
        self.0.state.lock().is_lost = true;
        self.0.changed.notify_waiters();
    }

    /// Returns the last piece of an answer that has text, if it is to be held back. `turn` is counted from 1.
    pub(super) fn piece(&self, turn: usize, api: Api, response: &Response) -> Option<HeldPiece> {
        let Body::Frames(frames) = &response.body else { return None };
        let mut state = self.0.state.lock();
        state.passing.patience(turn)?;
        let nth = last_text(api, frames)?;
        state.passing.begins(turn);
        Some(HeldPiece { nth, until: Until::PassedOn(turn, self.clone()) })
    }

    /// Waits until a part of a turn's answer has come, or cannot come any more.
    async fn until_passed_on(&self, turn: usize) {
        let began = Instant::now();
        loop {
            let mut changed = std::pin::pin!(self.0.changed.notified());
            // From here on, no notification is missed.
            changed.as_mut().enable();
            let due = {
                let mut state = self.0.state.lock();
                let patience = state.passing.patience(turn);
                let is_hopeless = state.open == 0 || state.is_lost;
                let due = match patience.filter(|_| !is_hopeless) {
                    // What nobody can receive is neither found nor missed.
                    None => return state.passing.ends(turn, false),
                    Some(Patience::UntilItComes) if !self.0.in_vain.0.load(Ordering::Relaxed) => began + self.0.limit,
                    Some(_) => state.heard.max(began) + QUIET,
                };
                if due <= Instant::now() {
                    if patience == Some(Patience::UntilItComes) {
                        state.is_lost = true;
                        self.0.in_vain.0.store(true, Ordering::Relaxed);
                    }
                    return state.passing.ends(turn, true);
                }
                due
            };
            let _ = timeout_at(due, changed).await;
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        if let Some(hold) = &self.0 {
            let mut state = hold.0.state.lock();
            state.open = state.open.saturating_sub(1);
            drop(state);
            hold.0.changed.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests;
