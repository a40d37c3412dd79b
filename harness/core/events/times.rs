//! The form of a point in time: what a client parses, as opposed to when it was. A time that lost its zone, or is now a number,
//! breaks clients, although its value differs in every run anyway.

use std::fmt::Write as _;

use time::format_description::well_known::{Iso8601, Rfc2822, Rfc3339};
use time::{Date, OffsetDateTime, UtcOffset};

use super::captured::Captured;
use super::notation::is_time;
use crate::json::Json;

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
    let mut rest = Rest(text.as_bytes());
    let date = rest.digits(4) && rest.takes(b"-") && rest.digits(2) && rest.takes(b"-") && rest.digits(2);
    let mut form = date.then(|| DATE.to_owned())?;
    if rest.0.is_empty() {
        return Some(form);
    }
    form.push(if rest.takes(b"T") { 'T' } else { rest.takes(b" ").then_some(' ')? });
    let clock = rest.digits(2) && rest.takes(b":") && rest.digits(2) && rest.takes(b":") && rest.digits(2);
    form.push_str(clock.then_some("hh:mm:ss")?);
    if rest.takes(b".") {
        let digits = rest.0.iter().take_while(|c| c.is_ascii_digit()).count();
        form.push_str((digits > 0 && rest.digits(digits)).then_some(".f")?);
    }
    if rest.takes(b"Z") {
        form.push('Z');
    } else if rest.takes(b"+") || rest.takes(b"-") {
        rest.digits(2).then_some(())?;
        let _ = write!(form, "+hh{}mm", if rest.takes(b":") { ":" } else { "" });
        rest.digits(2).then_some(())?;
    }
    rest.0.is_empty().then_some(form)
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

/// When an answer was given by the clock of the system that gave it, if it says so: RFC 9110, section 6.6.1.
pub fn answered(capture: &Captured) -> Option<OffsetDateTime> {
    let mut dates = capture.delivery.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("date"));
    OffsetDateTime::parse(&dates.next()?.1, &Rfc2822).ok()
}

/// How far away a date is, if that depends on the zone of the system: there is another day than in UTC.
pub(super) const IN_SOME_ZONE: &str = " + ?";

/// How far ahead of the time at which it was told a point in time with a zone is, or a date, or how far back: ` + 14 d`. `told` is in the
/// zone of the system.
pub(super) fn away(value: &Json, told: OffsetDateTime) -> Option<String> {
    let date = value.as_str().filter(|text| text.len() == DATE.len());
    if let Some(date) = date.and_then(|date| Date::parse(date, &Iso8601::DATE).ok()) {
        let days = (date - told.date()).whole_days();
        let is_one = told.date() == told.to_offset(UtcOffset::UTC).date();
        return if is_one { distance(days, "d") } else { Some(IN_SOME_ZONE.to_owned()) };
    }
    let at = match (value, of_number(value)) {
        (Json::Str(text), _) => OffsetDateTime::parse(&text.replacen(' ', "T", 1), &Rfc3339).ok()?.unix_timestamp(),
        (Json::Int(number), Some("time in s")) => *number,
        (Json::Int(number), Some("time in ms")) => number / 1000,
        _ => return None,
    };
    let seconds = at - told.unix_timestamp();
    let minutes = (seconds + 30).div_euclid(60);
    let (count, unit) = match minutes.abs() {
        ..AWAY => return None,
        days if days % 1440 == 0 => (days / 1440, "d"),
        hours if hours % 60 == 0 => (hours / 60, "h"),
        minutes => (minutes, "min"),
    };
    distance(if minutes < 0 { -count } else { count }, unit)
}

fn distance(count: i64, unit: &str) -> Option<String> {
    (count != 0).then(|| format!(" {} {} {unit}", if count < 0 { '-' } else { '+' }, count.abs()))
}

/// The form of a point in time as a golden has it, and how far away that is.
pub(super) fn parts(time: &str) -> (&str, &str) {
    let end = [" + ", " - "].iter().filter_map(|sign| time.find(sign)).min();
    time.split_at(end.unwrap_or(time.len()))
}

/// The rest of a text that is being parsed.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn takes(&mut self, what: &[u8]) -> bool {
        let rest = self.0.strip_prefix(what);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn digits(&mut self, count: usize) -> bool {
        let found = self.0.get(..count).is_some_and(|digits| digits.iter().all(u8::is_ascii_digit));
        self.0 = if found { &self.0[count..] } else { self.0 };
        found
    }
}

#[cfg(test)]
mod tests;
