//! Whether model calls are under way, and when the last one came: what a scenario's settling waits for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// The calls of one model server. Cloning shares it.
#[derive(Clone, Debug)]
pub struct Activity(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Clone, Copy, Debug)]
struct State {
    in_flight: usize,
    /// When the last call ended that left none under way.
    last: Instant,
}

impl Default for Activity {
    fn default() -> Activity {
        let state = Mutex::new(State { in_flight: 0, last: Instant::now() });
        Activity(Arc::new(Shared { state, changed: Notify::new() }))
    }
}

/// A call under way; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct InFlight(Activity);

impl Activity {
    pub(super) fn begin(&self) -> InFlight {
        self.state_mut().in_flight += 1;
        InFlight(self.clone())
    }

    /// How many calls are under way.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.state().in_flight
    }

    /// Waits until no call is under way, and either `all_served` says that none is to come, or none has come for
    /// `settle`.
    pub async fn settled(&self, settle: Duration, all_served: impl Fn() -> bool) {
        let quiet_from = Instant::now();
        loop {
            let changed = self.0.changed.notified();
            let State { in_flight, last } = self.state();
            if in_flight > 0 {
                changed.await;
                continue;
            }
            let deadline = last.max(quiet_from) + settle;
            if all_served() || Instant::now() >= deadline {
                return;
            }
            let _ = tokio::time::timeout_at(deadline, changed).await;
        }
    }

    fn state(&self) -> State {
        *self.state_mut()
    }

    fn state_mut(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut state = self.0.state_mut();
        state.in_flight = state.in_flight.saturating_sub(1);
        if state.in_flight == 0 {
            state.last = Instant::now();
            drop(state);
            // A permit is kept where nobody waits yet; there is one waiter, the stage.
            self.0.0.changed.notify_one();
        }
    }
}
