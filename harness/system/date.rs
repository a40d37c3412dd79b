//! The day that systems should take as today.

use time::{Duration, OffsetDateTime};

/// The environment variable that tells a system the date, such as `2027-12-26`.
pub(crate) const DATE_VARIABLE: &str = "RETAKE_DATE";

/// How far away the other day is: so far that day, month, year and day of the week all differ.
const AWAY: Duration = Duration::days(400);

/// Returns today's date, in UTC.
pub(super) fn today() -> String {
    OffsetDateTime::now_utc().date().to_string()
}

/// Returns another date than today's, for the second run of a proof.
pub(super) fn other_day() -> String {
    (OffsetDateTime::now_utc().date() + AWAY).to_string()
}

#[cfg(test)]
mod tests;
