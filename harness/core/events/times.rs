//! The form of a point in time: what a client parses, as opposed to when it was. A time that lost its zone, or is now a number,
//! breaks clients, although its value differs in every run anyway.

use std::sync::LazyLock;

use regex::Regex;
use time::format_description::well_known::{Iso8601, Rfc2822, Rfc3339};
use time::{Date, OffsetDateTime, UtcOffset};

use super::captured::Captured;
use super::notation::is_time;
use crate::json::Json;
use crate::key::normalize::regex;

/// How the form of a date begins. A golden contains this nowhere else.
pub(super) const DATE: &str = "yyyy-mm-dd";
/// How the form of a number begins.
pub(super) const NUMBER: &str = "time in ";

/// Returns the form of a value that is a point in time.
pub fn form(value: &Json) -> Option<String> {
    value.as_str().map_or_else(|| of_number(value).map(str::to_owned), of_text)
}

/// Returns the form of a text that is a date or a time as a whole: `yyyy-mm-ddThh:mm:ss.fZ`. The number of digits after the
/// point is left out, since some clocks drop zeros at the end.
pub(super) fn of_text(text: &str) -> Option<String> {
    static TIME: LazyLock<Regex> = LazyLock::new(|| {
        regex(r"(?-u)^\d{4}-\d{2}-\d{2}(?:([T ])\d{2}:\d{2}:\d{2}(\.\d+)?(?:(Z)|[+-]\d{2}(:?)\d{2})?)?$")
    });
    let parts = TIME.captures(text)?;
    let part = |nth, shown| if parts.get(nth).is_some() { shown } else { "" };
    let clock = parts.get(1).map(|between| format!("{}hh:mm:ss{}{}", between.as_str(), part(2, ".f"), part(3, "Z")));
    let zone = parts.get(4).map(|colon| format!("+hh{}mm", colon.as_str()));
    Some([Some(DATE.to_owned()), clock, zone].into_iter().flatten().collect())
}

/// Whether the same form with a fraction of the second `is_there`, too: clocks that drop zeros leave it out once in a while.
pub(super) fn drops_zeros(form: &str, is_there: &dyn Fn(&str) -> bool) -> bool {
    form.contains(":ss") && is_there(&form.replacen(":ss", ":ss.f", 1))
}

/// Returns the form of a number that is a point in time: `time in ms`.
pub(super) fn of_number(number: &Json) -> Option<&'static str> {
    let number = match number {
        #[expect(clippy::cast_precision_loss, reason = "only its size counts")]
        Json::Int(int) if is_time(number) => *int as f64,
        Json::Float(float) if is_time(number) => *float,
        _ => return None,
    };
    Some(match number {
        ..1e11 => "time in s",
        ..1e14 => "time in ms",
        ..1e17 => "time in µs",
        _ => "time in ns",
    })
}

/// The fewest minutes that a time lies ahead or back to say so: any other is now, as far as slow machines can tell.
const AWAY: i64 = 10;

/// The fewest minutes by which a time is not sure to be now where a golden is written: it may be the last full hour.
const SURE: i64 = 2;
/// What is said of a time that is when it was told.
pub(super) const NOW: &str = " now";

/// When an answer was given by the clock of the system that gave it, if it says so: RFC 9110, section 6.6.1.
pub fn answered(capture: &Captured) -> Option<OffsetDateTime> {
    let mut dates = capture.delivery.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("date"));
    OffsetDateTime::parse(&dates.next()?.1, &Rfc2822).ok()
}

/// How far away a date is, if that depends on the zone of the system: there is another day than in UTC.
pub(super) const IN_SOME_ZONE: &str = " + ?";

/// How far ahead of the time at which it was told a point in time with a zone is, or a date, or how far back: ` + 14 d`, or that it is
/// that time. `told` is in the zone of the system.
pub(super) fn away(value: &Json, told: OffsetDateTime, compared: bool) -> Option<String> {
    let date = value.as_str().filter(|text| text.len() == DATE.len());
    if let Some(date) = date.and_then(|date| Date::parse(date, &Iso8601::DATE).ok()) {
        let days = (date - told.date()).whole_days();
        let is_one = told.date() == told.to_offset(UtcOffset::UTC).date();
        let away = || distance(days, "d").unwrap_or_else(|| NOW.to_owned());
        return Some(if is_one { away() } else { IN_SOME_ZONE.to_owned() });
    }
    let at = match (value, of_number(value)) {
        (Json::Str(text), _) => OffsetDateTime::parse(&text.replacen(' ', "T", 1), &Rfc3339).ok()?.unix_timestamp(),
        (Json::Int(number), Some("time in s")) => *number,
        (Json::Int(number), Some("time in ms")) => number / 1000,
        _ => return None,
    };
    let minutes = ((at - told.unix_timestamp()) + 30).div_euclid(60);
    let (count, unit) = match minutes.abs() {
        ..AWAY => return (compared || minutes.abs() < SURE).then(|| NOW.to_owned()),
        days if days % 1440 == 0 => (days / 1440, "d"),
        hours if hours % 60 == 0 => (hours / 60, "h"),
        minutes => (minutes, "min"),
    };
    distance(if minutes < 0 { -count } else { count }, unit)
}

/// What is said of a time that is later than another one in its object, as when something was changed after it was made.
pub(super) const LATER: &str = " later than one beside it";
/// The shortest time in µs by which one is later where a golden is written: two clocks that are read at once may be apart, too.
const APART: i128 = 10_000;

/// Whether a point in time is later than the `earliest` beside it. In a run that is compared, any difference counts.
pub(super) fn is_later(value: &Json, earliest: i128, compared: bool) -> bool {
    instant(value).is_some_and(|at| at - earliest >= if compared { 1 } else { APART })
}

/// A point in time that is told to the millisecond or better, in µs.
pub(super) fn instant(value: &Json) -> Option<i128> {
    match (value, of_number(value)) {
        (Json::Str(text), _) => {
            let fraction = text.get(DATE.len() + "Thh:mm:ss".len()..)?.strip_prefix('.')?;
            let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
            let zone = if digits == fraction.len() { "Z" } else { "" };
            let at = OffsetDateTime::parse(&(text.replacen(' ', "T", 1) + zone), &Rfc3339).ok()?;
            (digits >= 3).then(|| at.unix_timestamp_nanos() / 1000)
        }
        #[expect(clippy::cast_possible_truncation, reason = "a time of this century")]
        (Json::Float(seconds), Some("time in s")) => Some((seconds * 1e6) as i128),
        (Json::Int(number), Some("time in ms")) => Some(i128::from(*number) * 1000),
        (Json::Int(number), Some("time in µs")) => Some(i128::from(*number)),
        (Json::Int(number), Some("time in ns")) => Some(i128::from(*number) / 1000),
        _ => None,
    }
}

fn distance(count: i64, unit: &str) -> Option<String> {
    (count != 0).then(|| format!(" {} {} {unit}", if count < 0 { '-' } else { '+' }, count.abs()))
}

/// The form of a point in time as a golden has it, and how far away that is.
pub(super) fn parts(time: &str) -> (&str, &str) {
    time.split_at([" + ", " - ", NOW, LATER].iter().filter_map(|sign| time.find(sign)).min().unwrap_or(time.len()))
}

#[cfg(test)]
mod tests;
