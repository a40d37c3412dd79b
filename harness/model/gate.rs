//! Holds answers back until a client of the stage has done what it does in a world: left, or come back. So when it does that is no
//! question of time.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use crate::hold::HeldPiece;
use retake_wire::{Api, Body, Response, last_text};

/// If nothing happens for this time after the client has come again, what it waits for comes only after the rest of the answer.
const QUIET: Duration = Duration::from_secs(1);
/// If nothing happens for this time, what was recorded before the rest of an answer does not come before it.
const PATIENCE: Duration = Duration::from_secs(3);
/// In how many pieces silence is measured: a program that has no core for a while hears nothing, which is no silence. The busier the
/// machine, the later each piece ends, and so many take as much longer as the service does.
const PIECES: u32 = 100;

/// What a client of a world has done so far. Clones share it.
#[derive(Clone, Debug)]
pub struct Gate(Arc<watch::Sender<State>>);

#[derive(Clone, Copy, Debug)]
struct State {
    /// When the system last sent or asked something.
    heard: Instant,
    /// How many steps the client has begun, and how many events have come to it.
    came: usize,
    /// How many calls came whose answers are held.
    asked: usize,
    /// When the client did what it does.
    acted: Option<Instant>,
    /// Whether the place was reached at which a system is to be killed.
    is_due: bool,
    is_open: bool,
}

impl Default for Gate {
    fn default() -> Gate {
        Gate(Arc::new(watch::Sender::new(State {
            heard: Instant::now(),
            came: 0,
            asked: 0,
            acted: None,
            is_due: false,
            is_open: false,
        })))
    }
}

impl Gate {
    /// Notes that so many events came to the client, or that it has begun a step.
    pub fn came(&self, more: usize) {
        self.0.send_modify(|state| (state.heard, state.came) = (Instant::now(), state.came + more));
    }

    /// Notes that the client has left, or come a second time. Answers are still held.
    pub fn acts(&self) {
        self.came(0);
        self.0.send_modify(|state| state.acted = Some(state.heard));
    }

    /// Waits until so many calls have come whose answers are held, and the client has so many steps and events; or all that comes until
    /// nothing happens any more, for a moment if it is not known how many these are.
    pub async fn has(&self, asked: usize, came: Option<usize>) {
        let quiet = if came.is_some() { PATIENCE * 2 / 3 } else { QUIET / 4 };
        self.until(|_| quiet, |state| state.asked >= asked && came.is_some_and(|came| state.came >= came)).await;
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
        self.0.send_modify(|state| (state.heard, state.asked) = (Instant::now(), state.asked + 1));
        let frames = match &response.body {
            Body::Frames(frames) if !whole => frames,
            _ => {
                self.until_open().await;
                return None;
            }
        };
        Some(HeldPiece::behind(last_text(api, frames).unwrap_or_default(), self.clone()))
    }

    pub(crate) async fn until_open(&self) {
        self.until(|state| if state.acted.is_some() { QUIET } else { PATIENCE }, |state| state.is_open).await;
    }

    async fn until(&self, quiet: impl Fn(&State) -> Duration, is_so: impl Fn(&State) -> bool) {
        let mut state = self.0.subscribe();
        let (mut heard, mut silent) = (None, 0);
        loop {
            let now = *state.borrow_and_update();
            silent = if heard.replace(now.heard) == Some(now.heard) { silent } else { 0 };
            if is_so(&now) || silent == PIECES {
                return;
            }
            silent += u32::from(timeout(quiet(&now) / PIECES, state.changed()).await.is_err());
        }
    }
}
