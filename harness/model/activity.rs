//! Whether model calls are under way, and when the last one ended. A scenario settles by this.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use retake_base::lock::Mutex;

/// The calls of one model server. Clones share the same state.
#[derive(Clone, Debug)]
pub struct Activity(Arc<ActivityState>);

#[derive(Debug)]
struct ActivityState {
    calls: Mutex<CallsUnderWay>,
    changed: Notify,
    /// Any number of tasks may wait for this.
    answered: Notify,
    /// Answers that are held open wait for this.
    more: Notify,
    /// Whether answers come at other times than they did.
    is_shaken: bool,
}

/// How long after a piece the next one comes of an answer that was left while it was recorded.
const MORE: Duration = Duration::from_millis(100);

#[derive(Clone, Debug)]
struct CallsUnderWay {
    in_flight: usize,
    /// How many calls have begun.
    begun: usize,
    /// Answers that are held open, because their clients left early when they were recorded, and have not left yet now.
    held: usize,
    /// The last time at which no call was under way any more.
    last: Instant,
    /// The longest time without a call after which one came; counted anew by [`Activity::later`].
    pause: Duration,
    /// How many calls of each caller were answered.
    answered: BTreeMap<String, usize>,
}

impl Default for Activity {
    fn default() -> Activity {
        Activity::new(false)
    }
}

/// A call under way; it ends when this is dropped.
#[derive(Debug)]
pub struct InFlight(Activity);

impl Activity {
    pub(super) fn new(is_shaken: bool) -> Activity {
        let (last, pause) = (Instant::now(), Duration::ZERO);
        let calls = CallsUnderWay { in_flight: 0, begun: 0, held: 0, last, pause, answered: BTreeMap::new() };
        let (changed, answered, more) = (Notify::new(), Notify::new(), Notify::new());
        Activity(Arc::new(ActivityState { calls: Mutex::new(calls), changed, answered, more, is_shaken }))
    }

    pub(super) fn begin(&self) -> InFlight {
        let mut calls = self.0.calls.lock();
        if calls.in_flight == 0 {
            calls.pause = calls.pause.max(calls.last.elapsed());
        }
        calls.in_flight += 1;
        calls.begun += 1;
        drop(calls);
        InFlight(self.clone())
    }

    /// How many calls are under way.
    pub fn in_flight(&self) -> usize {
        self.0.calls.lock().in_flight
    }

    /// When the last call ended, if none is under way.
    pub fn quiet_since(&self) -> Option<Instant> {
        let calls = self.0.calls.lock();
        (calls.in_flight == 0).then_some(calls.last)
    }

    /// Returns a value that is another one after a call began or ended.
    pub fn mark(&self) -> (usize, usize) {
        let calls = self.0.calls.lock();
        (calls.begun, calls.in_flight)
    }

    /// How many answers are held open after their last frame, because their clients left there when they were recorded.
    pub fn held(&self) -> usize {
        self.0.calls.lock().held
    }

    /// Waits until none of these answers is left. Meanwhile more comes of each of them, as it did while it was recorded: a client may look
    /// whether it is to go on only when something comes.
    pub async fn all_left(&self) {
        while self.held() > 0 {
            self.0.more.notify_waiters();
            let _ = tokio::time::timeout(MORE, self.0.changed.notified()).await;
        }
    }

    /// Waits until no call is under way, and either `all_served` returns true or no call has come for the time `settle`.
    pub async fn settled(&self, settle: Duration, all_served: impl Fn() -> bool) {
        let quiet_from = Instant::now();
        loop {
            let changed = self.0.changed.notified();
            let Some(last) = self.quiet_since() else {
                changed.await;
                continue;
            };
            let deadline = last.max(quiet_from) + settle;
            if all_served() || Instant::now() >= deadline {
                return;
            }
            let _ = tokio::time::timeout_at(deadline, changed).await;
        }
    }

    /// Before the `step` of a run whose answers come at other times: waits until calls in the background have ended, if they soon do. The
    /// recording, or another replay, may have taken the step while they were under way.
    pub async fn calm(&self, step: usize) {
        if self.0.is_shaken && step > 0 {
            let _ = tokio::time::timeout(3 * MORE, self.settled(MORE / 2, || false)).await;
        }
    }

    /// Waits for this time after calls have [`settled`](Activity::settled). Returns the longest time without a call after which one came
    /// meanwhile.
    pub async fn later(&self, settle: Duration, wait: Duration) -> Option<Duration> {
        let now = Instant::now();
        {
            let mut calls = self.0.calls.lock();
            calls.last = calls.last.max(now.checked_sub(settle).unwrap_or(now));
            calls.pause = Duration::ZERO;
        }
        tokio::time::sleep(wait).await;
        Some(self.0.calls.lock().pause).filter(|pause| !pause.is_zero())
    }

    /// Notes that a call of this caller was answered.
    pub(super) fn answered(&self, caller: Option<&str>) {
        if let Some(caller) = caller {
            *self.0.calls.lock().answered.entry(caller.to_owned()).or_default() += 1;
            self.0.answered.notify_waiters();
        }
    }

    /// How many calls of a caller were answered so far.
    pub fn answered_to(&self, caller: &str) -> usize {
        self.0.calls.lock().answered.get(caller).copied().unwrap_or_default()
    }

    /// Waits until more than `more_than` calls of a caller were answered.
    pub async fn answers(&self, caller: &str, more_than: usize) {
        loop {
            let mut more = std::pin::pin!(self.0.answered.notified());
            // From here on, no notification is missed.
            more.as_mut().enable();
            if self.answered_to(caller) > more_than {
                return;
            }
            more.await;
        }
    }
}

/// An answer that is held open until its client leaves. It does not count as a call under way.
#[derive(Debug)]
pub(super) struct Held(Activity);

impl InFlight {
    /// Ends the call, but keeps its answer open.
    pub(super) fn hold(self) -> Held {
        self.0.0.calls.lock().held += 1;
        Held(self.0.clone())
    }
}

impl Held {
    /// Waits until more of the answer is to come.
    pub(super) async fn more(&self) {
        self.0.0.more.notified().await;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut calls = self.0.0.calls.lock();
        calls.held = calls.held.saturating_sub(1);
        drop(calls);
        self.0.0.changed.notify_one();
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut calls = self.0.0.calls.lock();
        calls.in_flight = calls.in_flight.saturating_sub(1);
        if calls.in_flight == 0 {
            calls.last = Instant::now();
            drop(calls);
            // Only the stage waits for this, and `notify_one` keeps a permit if it does not wait yet.
            self.0.0.changed.notify_one();
        }
    }
}
