//! What day it is, by each clock that a system may have.

use time::{Date, OffsetDateTime, UtcOffset};
use tz::TimeZone;

use retake_core::days::Days;
use retake_wire::fixture::{Fixture, Minute};

/// The clocks of a system: the machine's local one, UTC, and the one of a time zone that the suite gives it.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// The day that the system is told, if that is not today.
    pub day: Option<Date>,
    /// Another day that it is told in the second run of a proof. A system that does not honour it says today.
    pub other_day: Option<Date>,
    /// The value of `TZ` that the system is given.
    pub zone: Option<String>,
}

impl Clock {
    /// The days of a recording and of now: none if the fixture keeps no day.
    pub(super) fn days(&self, fixture: &Fixture) -> Days {
        let Some(then) = fixture.recorded.map(Minute::time) else { return Days::default() };
        let now = OffsetDateTime::now_utc();
        let here = |zone: Option<TimeZone>, time: OffsetDateTime| {
            let offset = zone.and_then(|zone| offset(&zone, time)).unwrap_or(UtcOffset::UTC);
            time.to_offset(offset).date()
        };
        let zone = || self.zone.as_deref().and_then(|zone| TimeZone::from_posix_tz(zone).ok());
        let recorded = [then.date(), here(None, then), here(zone(), then)];
        let now = [here(TimeZone::local().ok(), now), here(None, now), here(zone(), now)];
        let told = |now: Date| self.day.unwrap_or(now);
        let other =
            self.other_day.into_iter().flat_map(|day| recorded.into_iter().map(move |recorded| (recorded, day)));
        Days::new(recorded.into_iter().zip(now.map(told)).chain(other))
    }
}

/// Returns how far a zone is from UTC at a time.
fn offset(zone: &TimeZone, time: OffsetDateTime) -> Option<UtcOffset> {
    let local = zone.find_local_time_type(time.unix_timestamp()).ok()?;
    UtcOffset::from_whole_seconds(local.ut_offset()).ok()
}
