//! Times of spans, as exports and lists write them.

use std::sync::LazyLock;

use regex::Regex;

static WRITTEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9})\d*)?)?\s*(?:Z|([+-])(\d\d):?(\d\d))?$")
        .ok()
});

/// Nanoseconds since 1970 of a time such as `2025-08-01T13:56:54.163Z`; `None` if the text is none.
pub(super) fn nanoseconds(text: &str) -> Option<u64> {
    let parts = WRITTEN.as_ref()?.captures(text.trim())?;
    let number = |group: usize| parts.get(group).map_or(Some(0), |part| part.as_str().parse::<i64>().ok());
    let (hours, minutes) = (number(4)?, number(5)?);
    let offset =
        (number(9)? * 60 + number(10)?) * if parts.get(8).is_some_and(|sign| sign.as_str() == "-") { -1 } else { 1 };
    let seconds = ((days(number(1)?, number(2)?, number(3)?) * 24 + hours) * 60 + minutes - offset) * 60 + number(6)?;
    let fraction = format!("{:0<9}", parts.get(7).map_or("", |part| part.as_str()));
    u64::try_from(seconds).ok()?.checked_mul(1_000_000_000)?.checked_add(fraction.parse().ok()?)
}

/// A time to the second, in UTC: `2025-08-01 13:56:54`.
pub(super) fn shown(nanoseconds: u64) -> String {
    let seconds = nanoseconds / 1_000_000_000;
    let (day, second) = (i64::try_from(seconds / 86_400).unwrap_or_default(), seconds % 86_400);
    // Howard Hinnant's `civil_from_days`, for days since 1970.
    let shifted = day + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let (day, month) = (of_year - (153 * shifted_month + 2) / 5 + 1, (shifted_month + 2) % 12 + 1);
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
}

/// Days since 1970 of a date.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}
