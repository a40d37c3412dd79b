//! Days that moved between a recording and a run (KEY.md, section 7). Pure.
//!
//! A service that says the date to the model asks something else on each day. The recording has a day, and the run has one: two
//! texts say the same if they differ only where the recorded one tells a day from a week before to a week after its own, or a whole date,
//! and the called one tells, in the same rendering, the day as far from its own. Nothing else is ever made equal, and what is equal is never
//! looked at.
//!
//! | file | contents |
//! |---|---|
//! | `calendar` | the days that are compared |
//! | `names` | names of weekdays and months, and the words for week, in many languages |
//! | `part` | one part of a rendering: a name, a number, a week |
//! | `rendering` | which parts together are a day |
//! | `walk` | two texts walked together |
//! | `whole` | the whole dates that a text may tell |

mod calendar;
mod names;
mod part;
mod rendering;
mod walk;
mod whole;

pub use calendar::{Clocks, Days};
pub(crate) use walk::is_of_word;
pub use walk::{Which, tells, times_told, with_weekdays};

#[cfg(test)]
mod tests;
