//! The day that systems should take as today.

use std::collections::BTreeMap;

use time::{Date, Duration, Month, OffsetDateTime};

use retake_model::{Clock, Pacing};
use retake_scenario::Template;

/// The environment variable that tells a system the date, such as `2027-12-26`. Where the runner has it, its systems get it.
pub(crate) const DATE_VARIABLE: &str = "RETAKE_DATE";

/// How far away the other day is: so far that day, month, year and day of the week all differ.
const AWAY: Duration = Duration::days(400);

/// Returns the date that programs are told: the runner's, or today's in UTC.
pub(super) fn today() -> String {
    told().unwrap_or_else(|| OffsetDateTime::now_utc().date()).to_string()
}

/// Returns another date than today's, for the second run of a proof.
pub(super) fn other_day() -> String {
    (OffsetDateTime::now_utc().date() + AWAY).to_string()
}

/// The clock of a system, as far as its environment tells.
pub(super) fn clock(env: Option<&BTreeMap<String, Template>>, pacing: Pacing) -> Clock {
    let given = |name: &str| env?.get(name).map(Template::source).filter(|text| !text.contains("{{"));
    let day = given(DATE_VARIABLE).and_then(parsed).or_else(told);
    let other = matches!(pacing, Pacing::Shaken).then(other_day);
    Clock { day, other_day: other.and_then(|day| parsed(&day)), zone: given("TZ").map(str::to_owned) }
}

fn told() -> Option<Date> {
    parsed(&std::env::var(DATE_VARIABLE).ok()?)
}

fn parsed(text: &str) -> Option<Date> {
    let mut parts = text.splitn(3, '-');
    let (year, month, day) =
        (parts.next()?.parse().ok()?, parts.next()?.parse::<u8>().ok()?, parts.next()?.parse().ok()?);
    Date::from_calendar_date(year, Month::try_from(month).ok()?, day).ok()
}

#[cfg(test)]
mod tests;
