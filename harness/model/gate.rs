//! Holds answers back until a client of the stage has done what it does in a world: left, or come back. So when it does that is no
//! question of time.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::hold::HeldPiece;
use retake_wire::{Api, Body, Response, last_text};

/// If nothing happens for this time, what the client waits for comes only after the rest of the answer.
const QUIET: Duration = Duration::from_secs(1);

/// What a client of a world has done so far. Clones share it.
#[derive(Clone, Debug)]
pub struct Gate(Arc<watch::Sender<State>>);

#[derive(Clone, Copy, Debug)]
struct State {
    /// When the system last sent or asked something.
    heard: Instant,
    /// When the client did what it does.
    acted: Option<Instant>,
    /// Whether the place was reached at which a system is to be killed.
    is_due: bool,
    is_open: bool,
}

impl Default for Gate {
    fn default() -> Gate {
        Gate(Arc::new(watch::Sender::new(State { heard: Instant::now(), acted: None, is_due: false, is_open: false })))
    }
}

impl Gate {
    /// Notes that the system sent something.
    pub fn heard(&self) {
        self.0.send_modify(|state| state.heard = Instant::now());
    }

    /// Notes that the client has left, or come a second time. Answers are still held.
    pub fn acts(&self) {
        self.heard();
        self.0.send_modify(|state| state.acted = Some(state.heard));
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

    /// Waits until the system has sent nothing to its client for this time, while the model holds its answer.
    pub async fn silent(&self, time: Duration) {
        while self.0.borrow().heard.elapsed() < time {
            let due = self.0.borrow().heard + time;
            tokio::time::sleep_until(due).await;
        }
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

    /// Returns the piece of an answer that is held back. An answer in one piece is held here.
    pub(crate) async fn piece(&self, api: Api, response: &Response) -> Option<HeldPiece> {
        self.heard();
        let Body::Frames(frames) = &response.body else {
            self.until_open().await;
            return None;
        };
        Some(HeldPiece::behind(last_text(api, frames).unwrap_or_default(), self.clone()))
    }

    pub(crate) async fn until_open(&self) {
        let mut state = self.0.subscribe();
        loop {
            let State { heard, is_open, .. } = *state.borrow_and_update();
            let due = heard + QUIET;
            if is_open || due <= Instant::now() {
                return;
            }
            let _ = timeout_at(due, state.changed()).await;
        }
    }
}
