//! What day it is, by each clock that a system may have.

use time::{Date, OffsetDateTime, UtcOffset};
use tz::TimeZone;

use retake_core::days::Days;
use retake_wire::fixture::Minute;

/// The clocks of a system: the machine's local one, UTC, and the one of a time zone that the suite gives it.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// The day that the system takes as today, if it is not today's.
    pub day: Option<Date>,
    /// The value of `TZ` that the system is given.
    pub zone: Option<String>,
}

impl Clock {
    /// The days of a recording and of now.
    pub(super) fn days(&self, recorded: Minute) -> Days {
        let (then, now) = (recorded.time(), OffsetDateTime::now_utc());
        let at = |zone: Option<TimeZone>, time: OffsetDateTime| time.to_offset(zone.and_then(|zone| offset(&zone, time)).unwrap_or(UtcOffset::UTC)).date();
        let zone = || self.zone.as_deref().and_then(|zone| TimeZone::from_posix_tz(zone).ok());
        let clocks = [
            (then.date(), at(TimeZone::local().ok(), now)),
            (at(None, then), at(None, now)),
            (at(zone(), then), at(zone(), now)),
        ];
        let moved = |(recorded, now): (Date, Date)| (recorded, self.day.unwrap_or(now));
        Days::new(clocks.into_iter().map(moved))
    }
}

/// Returns how far a zone is from UTC at a time.
fn offset(zone: &TimeZone, time: OffsetDateTime) -> Option<UtcOffset> {
    let local = zone.find_local_time_type(time.unix_timestamp()).ok()?;
    UtcOffset::from_whole_seconds(local.ut_offset()).ok()
}
