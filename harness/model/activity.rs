//! Whether model calls are under way, and when the last one came: what a scenario's settling waits for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// The calls of one model server. Cloning shares it.
#[derive(Clone, Debug)]
pub struct Activity(Arc<ActivityState>);

#[derive(Debug)]
struct ActivityState {
    calls: Mutex<CallsUnderWay>,
    changed: Notify,
}

#[derive(Clone, Copy, Debug)]
struct CallsUnderWay {
    in_flight: usize,
    /// When the last call ended that left none under way.
    last: Instant,
}

impl Default for Activity {
    fn default() -> Activity {
        let calls = Mutex::new(CallsUnderWay { in_flight: 0, last: Instant::now() });
        Activity(Arc::new(ActivityState { calls, changed: Notify::new() }))
    }
}

/// A call under way; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct InFlight(Activity);

impl Activity {
    pub(super) fn begin(&self) -> InFlight {
        self.calls().in_flight += 1;
        InFlight(self.clone())
    }

    /// How many calls are under way.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.calls().in_flight
    }

    /// Waits until no call is under way, and either `all_served` says that none is to come, or none has come for
    /// `settle`.
    pub async fn settled(&self, settle: Duration, all_served: impl Fn() -> bool) {
        let quiet_from = Instant::now();
        loop {
            let changed = self.0.changed.notified();
            let CallsUnderWay { in_flight, last } = *self.calls();
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

    fn calls(&self) -> MutexGuard<'_, CallsUnderWay> {
        self.0.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut calls = self.0.calls();
        calls.in_flight = calls.in_flight.saturating_sub(1);
        if calls.in_flight == 0 {
            calls.last = Instant::now();
            drop(calls);
            // A permit is kept where nobody waits yet; there is one waiter, the stage.
            self.0.0.changed.notify_one();
        }
    }
}
