//! The days that are compared: by each clock, those around the day of the recording and those around the day of the run.

use time::{Date, Duration};

/// How many days before and after its own a text may tell.
const AROUND: u8 = 7;
/// How many days are compared.
pub(super) const COMPARED: usize = 2 * AROUND as usize + 1;
/// The index of the day itself.
pub(super) const TODAY: usize = AROUND as usize;

/// Days that follow each other: a week before a day, the day, and a week after it.
pub(super) type Fortnight = [Date; COMPARED];

/// The days of one clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    pub(super) recorded: Fortnight,
    pub(super) called: Fortnight,
}

impl Clock {
    /// The same clock on another day of the recording, and on no day beside it.
    pub(super) fn on(&self, recorded: Date) -> Option<Clock> {
        let called = recorded.checked_add(self.called[TODAY] - self.recorded[TODAY])?;
        Some(Clock { recorded: [recorded; COMPARED], called: [called; COMPARED] })
    }
}

/// The day of a recording and the day of a run, by each clock by which they differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Days {
    pub(super) clocks: Vec<Clock>,
}

/// Clocks by which texts are equal. One clock has to do for a whole conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks(pub(super) u8);

impl Clocks {
    /// Any clock, and also none: nothing had to be moved.
    pub const ANY: Clocks = Clocks(u8::MAX);
    /// No clock.
    pub const NONE: Clocks = Clocks(0);

    /// The clocks that are among both.
    pub fn and(self, other: Clocks) -> Clocks {
        Clocks(self.0 & other.0)
    }

    /// Whether there is none.
    pub fn is_none(self) -> bool {
        self.0 == 0
    }
}

impl Days {
    /// The days of a recording and of a run by some clocks, of which the first eight count. A clock by which both are one day moves
    /// nothing.
    pub fn new(clocks: impl IntoIterator<Item = (Date, Date)>) -> Days {
        let mut days = Days::default();
        for (recorded, called) in clocks {
            let (Some(recorded_days), Some(called_days)) = (around(recorded), around(called)) else { continue };
            let clock = Clock { recorded: recorded_days, called: called_days };
            if recorded != called && !days.clocks.contains(&clock) && days.clocks.len() < 8 {
                days.clocks.push(clock);
            }
        }
        days
    }

    /// The days by each of these clocks alone.
    pub fn by_each_clock(&self) -> impl Iterator<Item = Days> + '_ {
        self.clocks.iter().map(|clock| Days { clocks: vec![clock.clone()] })
    }

    /// Whether nothing can have moved.
    pub fn is_empty(&self) -> bool {
        self.clocks.is_empty()
    }
}

/// Returns a day with those around it; `None` at the ends of the calendar.
pub(super) fn around(day: Date) -> Option<Fortnight> {
    let mut all = [day.checked_sub(Duration::days(AROUND.into()))?; COMPARED];
    for index in 1..COMPARED {
        all[index] = all[index - 1].next_day()?;
    }
    Some(all)
}
