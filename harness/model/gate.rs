//! Holds answers back until a client of the stage has done what it does in a world: left, or come back. So when it does that is no
//! question of time.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use crate::hold::{HELD, HeldPiece, Until};
use retake_base::lock::Mutex;
use retake_wire::{Api, Body, Response, last_text};

/// If nothing happens for this time after the client has come again, what it waits for comes only after the rest of the answer.
const QUIET: Duration = Duration::from_secs(1);
/// If nothing happens for this time, what was recorded before the rest of an answer does not come before it.
const PATIENCE: Duration = Duration::from_secs(3);
/// Who gives up an answer that is held for longer does so because of that: if nothing is slow, it is let go before.
const PROMPT: Duration = Duration::from_millis(500);
/// In how many pieces silence is measured. At the end of each, who is to be heard is looked at; where that is not possible, so many more
/// pieces take longer on a busy machine, as the service does. A system that works all the time is not waited for longer than that.
const PIECES: [u32; 2] = [10, 100];

/// What a client of a world has done so far. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<watch::Sender<State>>, Arc<Mutex<Option<Heard>>>);

/// Where what a system does is heard: on the runtimes of its client and of the model server. And by what is seen whether a process of its
/// runs or wants a core, which is no silence; `None` where that cannot be seen.
#[derive(Clone, Debug)]
struct Heard([Handle; 2], Vec<u32>, fn(u32) -> Option<bool>);

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// When the system last sent or asked something.
    heard: Option<Instant>,
    /// How many steps the client has begun, and how many events have come to it.
    came: usize,
    /// How many calls came whose answers are held.
    asked: usize,
    /// When the client did what it does.
    acted: Option<Instant>,
    /// Whether the place was reached at which a system is to be killed.
    is_due: bool,
    is_open: bool,
    /// Whether a call no longer waited for its answer before the client did what it does, or before the answer was let go.
    is_late: bool,
}

/// An answer while it is held, and from when on it is too late. If this is dropped before, its call was given up.
struct Held<'a>(&'a Gate, Instant);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.late_if(Instant::now() >= self.1);
    }
}

impl Gate {
    /// Says whose silence counts: that of these processes and those below them, of which `works` says whether one wants a core, and which are
    /// heard on these runtimes.
    pub fn hears(&self, on: [Handle; 2], processes: Vec<u32>, works: fn(u32) -> Option<bool>) {
        *self.1.lock() = Some(Heard(on, processes, works)).filter(|Heard(_, all, _)| !all.is_empty());
    }

    /// Notes that so many events came to the client, or that it has begun a step.
    pub fn came(&self, more: usize) {
        self.0.send_modify(|state| (state.heard, state.came) = (Some(Instant::now()), state.came + more));
    }

    /// Notes that the client has left, or come a second time. Answers are still held.
    pub fn acts(&self) {
        self.came(0);
        self.0.send_modify(|state| state.acted = state.heard);
    }

    /// Waits until so many calls have come whose answers are held, and the client has so many steps and events; or all that comes until
    /// nothing happens any more, for a moment if it is not known how many these are.
    pub async fn has(&self, asked: usize, came: Option<usize>) {
        let quiet = if came.is_some() { PATIENCE * 2 / 3 } else { QUIET / 4 };
        self.until(|_| quiet, |state| state.asked >= asked && came.is_some_and(|came| state.came >= came)).await;
    }

    /// Waits until nothing happens for a moment, but not as long as a service may wait for its answer. A call that is given up meanwhile
    /// was held for too long.
    pub(crate) async fn moment(&self) {
        let (held, _) = (Held(self, Instant::now()), timeout(PROMPT, self.silent(HELD)).await);
        std::mem::forget(held);
    }

    /// Waits until nothing happens for this time.
    pub async fn silent(&self, quiet: Duration) {
        self.until(|_| quiet, |_| false).await;
    }

    /// Holds nothing any more.
    pub fn opens(&self) {
        self.0.send_modify(|state| state.is_open = true);
    }

    /// When the client did what it does.
    pub fn acted(&self) -> Option<Instant> {
        self.0.borrow().acted
    }

    /// Notes that the client has come to the place at which the system is to be killed.
    pub fn is_due(&self) {
        self.0.send_modify(|state| state.is_due = true);
    }

    /// Waits until then.
    pub async fn due(&self) {
        let _ = self.0.subscribe().wait_for(|state| state.is_due).await;
    }

    /// Notes whether what was to happen comes too late.
    pub fn late_if(&self, is_late: bool) {
        self.0.send_modify(|state| state.is_late |= is_late);
    }

    /// Whether it did.
    pub fn was_late(&self) -> bool {
        self.0.borrow().is_late
    }

    /// Waits until the gate is open, however long that takes, if the system was killed.
    pub async fn back_again(&self) {
        if self.acted().is_some() {
            self.opened().await;
        }
    }

    /// Waits until the gate is open, however long that takes.
    pub async fn opened(&self) {
        let _ = self.0.subscribe().wait_for(|state| state.is_open).await;
    }

    /// Returns the piece of an answer that is held back. An answer in one piece is held here, and one of which the client needs nothing to
    /// do what it does.
    pub(crate) async fn piece(&self, api: Api, response: &Response, whole: bool) -> Option<HeldPiece> {
        self.0.send_modify(|state| (state.heard, state.asked) = (Some(Instant::now()), state.asked + 1));
        let (Body::Frames(frames), false) = (&response.body, whole) else {
            self.until_open().await;
            return None;
        };
        Some(HeldPiece { nth: last_text(api, frames).unwrap_or_default(), until: Until::Open(self.clone()) })
    }

    pub(crate) async fn until_open(&self) {
        let held = Held(self, Instant::now() + PROMPT);
        self.until(|state| if state.acted.is_some() { QUIET } else { PATIENCE }, |state| state.is_open).await;
        std::mem::forget(held);
    }

    async fn until(&self, quiet: impl Fn(&State) -> Duration, is_so: impl Fn(&State) -> bool) {
        let (mut state, known) = (self.0.subscribe(), self.1.lock().clone());
        let known = known.filter(|Heard(_, all, works)| all.iter().all(|it| works(*it).is_some()));
        let pieces = PIECES[usize::from(known.is_none())];
        let (mut heard, mut counts) = (None, [0; 2]);
        loop {
            let now = *state.borrow_and_update();
            if heard.replace(now.heard) != Some(now.heard) {
                counts = [0; 2];
            }
            if is_so(&now) || counts[0] == pieces || counts[1] == PIECES[1] {
                return;
            }
            if timeout(quiet(&now) / pieces, state.changed()).await.is_err() {
                let is_busy = known.iter().any(|Heard(_, all, works)| all.iter().any(|it| works(*it) == Some(true)));
                // What has come to this process is heard.
                for runtime in known.iter().flat_map(|Heard(runtimes, ..)| runtimes) {
                    let _ = runtime.spawn(async {}).await;
                }
                counts[usize::from(is_busy)] += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests;
