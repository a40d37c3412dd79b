//! The day that systems are to take for today.

use time::{Duration, OffsetDateTime};

/// The variable that tells a system which day it is: `2027-12-26`.
pub(crate) const DATE_VARIABLE: &str = "RETAKE_DATE";

/// How far the other day is: another day, month, year and day of the week.
const AWAY: Duration = Duration::days(400);

/// Today, in UTC.
pub(super) fn today() -> String {
    OffsetDateTime::now_utc().date().to_string()
}

/// A day that is not today's, as the second run of a proof is told it.
pub(super) fn other_day() -> String {
    (OffsetDateTime::now_utc().date() + AWAY).to_string()
}

#[cfg(test)]
mod tests;
