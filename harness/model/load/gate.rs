//! The limits on calls, and the calls under way.

use std::collections::VecDeque;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Load;
use retake_base::lock::Mutex;
use retake_wire::{Api, Limited, Quota};

/// How many calls are answered within a time. It holds for each such time, whenever it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    calls: usize,
    within: Duration,
}

impl FromStr for Rate {
    type Err = String;

    /// Reads `100/s`, `600/min` or `1000/h`.
    fn from_str(text: &str) -> Result<Rate, String> {
        let wrong = || {
            format!("`{text}` is not a rate: write calls per second, minute or hour, as in 100/s, 600/min or 1000/h")
        };
        let (calls, unit) = text.split_once('/').ok_or_else(wrong)?;
        let seconds = match unit.trim() {
            "s" => 1,
            "m" | "min" => 60,
            "h" => 3600,
            _ => return Err(wrong()),
        };
        let calls = calls.trim().parse().ok().filter(|calls| (1..=MOST).contains(calls)).ok_or_else(wrong)?;
        Ok(Rate { calls, within: Duration::from_secs(seconds) })
    }
}

/// The highest rate: the time of each call within it is remembered.
const MOST: usize = 1_000_000;

/// How long a call that exceeds the limit of calls at once is asked to wait. Nobody knows when another call ends.
const A_WHILE: Duration = Duration::from_secs(1);

/// The limits, and how far they are used up.
#[derive(Debug)]
pub(super) struct Gate {
    pub(super) at_once: Option<usize>,
    pub(super) rate: Option<Rate>,
    entered: Mutex<Entered>,
}

#[derive(Debug, Default)]
struct Entered {
    under_way: usize,
    /// When the calls came that still count for the rate.
    times: VecDeque<Instant>,
}

impl Gate {
    pub(super) fn new(at_once: Option<usize>, rate: Option<Rate>) -> Gate {
        Gate { at_once, rate, entered: Mutex::default() }
    }

    /// Lets a call in. Returns how far the rate is used up with it, if there is one.
    /// The limit that the call exceeds.
    pub(super) fn enter(&self, now: Instant) -> Result<Option<Quota>, Quota> {
        let mut entered = self.entered.lock();
        let used = entered.under_way;
        if let Some(limit) = self.at_once.filter(|limit| used >= *limit) {
            return Err(Quota { of: Limited::AtOnce, limit, used, free_in: A_WHILE, whole_in: A_WHILE });
        }
        let mut quota = None;
        if let Some(rate) = self.rate {
            let before = entered.counts(rate, now);
            if !before.free_in.is_zero() {
                return Err(before);
            }
            entered.times.push_back(now);
            quota = Some(Quota { used: before.used + 1, whole_in: rate.within, ..before });
        }
        entered.under_way += 1;
        Ok(quota)
    }

    fn leave(&self) {
        let mut entered = self.entered.lock();
        entered.under_way = entered.under_way.saturating_sub(1);
    }

    /// How many calls are under way.
    pub(super) fn in_flight(&self) -> usize {
        self.entered.lock().under_way
    }

    /// Forgets which calls used up the rate.
    pub(super) fn reset(&self) {
        self.entered.lock().times.clear();
    }
}

impl Entered {
    /// How far a rate is used up.
    fn counts(&mut self, rate: Rate, now: Instant) -> Quota {
        let left = |time: &Instant| (*time + rate.within).saturating_duration_since(now);
        while self.times.front().is_some_and(|time| left(time).is_zero()) {
            self.times.pop_front();
        }
        let used = self.times.len();
        let free_in = if used < rate.calls { None } else { self.times.front().map(left) };
        Quota {
            of: Limited::Within(rate.within),
            limit: rate.calls,
            used,
            free_in: free_in.unwrap_or_default(),
            whole_in: self.times.back().map(left).unwrap_or_default(),
        }
    }
}

/// A call that was let in. It is under way until this is dropped.
#[derive(Debug)]
pub(crate) struct Pass {
    pub(super) load: Arc<Load>,
    pub(super) api: Api,
    /// How far the rate is used up with this call.
    pub(super) quota: Option<Quota>,
    pub(super) ended: bool,
}

impl Pass {
    /// Counts the call as one that a turn answers.
    pub(crate) fn served(&self) {
        self.load.metrics.lock().of(self.api).served += 1;
    }

    /// Counts the call as a miss, and ends it.
    pub(crate) fn missed(self) {
        self.load.refused(self.api);
        self.end();
    }

    /// Ends the call: its whole answer was handed over.
    pub(super) fn end(mut self) {
        self.ended = true;
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.load.gate.leave();
        if !self.ended {
            self.load.metrics.lock().left += 1;
        }
    }
}

#[cfg(test)]
mod tests;
