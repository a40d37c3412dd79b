//! Times of spans, as exports and lists write them.

use std::sync::LazyLock;

use regex::Regex;
use time::{Date, Month, OffsetDateTime};

static WRITTEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9})\d*)?)?\s*(?:Z|([+-])(\d\d):?(\d\d))?$")
        .ok()
});

/// Nanoseconds since 1970 of a time such as `2025-08-01T13:56:54.163Z`; `None` if the text is none.
pub(super) fn nanoseconds(text: &str) -> Option<u64> {
    let parts = WRITTEN.as_ref()?.captures(text.trim())?;
    let number = |group: usize| parts.get(group).map_or(Some(0), |part| part.as_str().parse::<i64>().ok());
    let whole = |group: usize| u8::try_from(number(group)?).ok();
    let year = i32::try_from(number(1)?).ok()?;
    let day = Date::from_calendar_date(year, Month::try_from(whole(2)?).ok()?, whole(3)?).ok()?;
    let sign = if parts.get(8).is_some_and(|sign| sign.as_str() == "-") { -1 } else { 1 };
    let offset = (number(9)? * 60 + number(10)?) * sign;
    let seconds =
        (number(4)? * 60 + number(5)? - offset) * 60 + number(6)? + day.midnight().assume_utc().unix_timestamp();
    let fraction = format!("{:0<9}", parts.get(7).map_or("", |part| part.as_str()));
    u64::try_from(seconds).ok()?.checked_mul(1_000_000_000)?.checked_add(fraction.parse().ok()?)
}

/// A time to the second, in UTC: `2025-08-01 13:56:54`.
pub(super) fn shown(nanoseconds: u64) -> String {
    let time = OffsetDateTime::from_unix_timestamp_nanos(nanoseconds.into()).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let (hour, minute, second) = time.to_hms();
    format!("{} {hour:02}:{minute:02}:{second:02}", time.date())
}
