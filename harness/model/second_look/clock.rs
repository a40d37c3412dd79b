//! What day it is, by each clock that a system may have.

use time::{Date, Duration, OffsetDateTime, UtcOffset};
use tz::TimeZone;

use retake_core::days::Days;
use retake_wire::fixture::Minute;

use crate::record::clock;

/// The clocks of a system: the machine's local one, UTC, and the one of a time zone that the suite gives it.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// The day that the system is told, if that is not today.
    pub day: Option<Date>,
    /// How far its clock is moved in the second run of a proof, and the day that it is told. A system that does not honour it says
    /// today.
    pub away: Option<Duration>,
    /// The minute at which its clock starts, if that is the one of the recording.
    pub recorded: Option<Minute>,
    /// The value of `TZ` that the system is given.
    pub zone: Option<String>,
}

impl Clock {
    /// How far its zone is from UTC.
    pub fn zone(&self) -> Option<UtcOffset> {
        let zone = self.zone.as_deref().map_or_else(TimeZone::local, TimeZone::from_posix_tz);
        offset(&zone.ok()?, OffsetDateTime::now_utc())
    }

    /// The minute that it is on the machine's local clock, on the day that the system is told.
    pub fn minute(&self) -> Minute {
        let now = self.recorded.unwrap_or_else(clock::now);
        self.day.map_or(now, |day| Minute::of(now.time().replace_date(day)))
    }

    /// The days of what was written at a time and of now.
    pub fn days(&self, written: Minute) -> Days {
        let then = written.time();
        let now = self.recorded.map_or_else(OffsetDateTime::now_utc, Minute::time);
        let here = |zone: Option<TimeZone>, time: OffsetDateTime| {
            let offset = zone.and_then(|zone| offset(&zone, time)).unwrap_or(UtcOffset::UTC);
            time.to_offset(offset).date()
        };
        let zone = || self.zone.as_deref().and_then(|zone| TimeZone::from_posix_tz(zone).ok());
        let recorded = [then.date(), here(None, then), here(zone(), then)];
        let by_each = |now: OffsetDateTime| [here(TimeZone::local().ok(), now), here(None, now), here(zone(), now)];
        let told = |now: Date| self.day.unwrap_or(now);
        // A moved clock has another day in each zone; what is told is that of UTC.
        let moved = self.away.into_iter().flat_map(|away| {
            let days = by_each(now + away);
            recorded.into_iter().zip(days).chain(recorded.map(|recorded| (recorded, days[1])))
        });
        Days::new(recorded.into_iter().zip(by_each(now).map(told)).chain(moved))
    }
}

/// Returns how far a zone is from UTC at a time.
fn offset(zone: &TimeZone, time: OffsetDateTime) -> Option<UtcOffset> {
    let local = zone.find_local_time_type(time.unix_timestamp()).ok()?;
    UtcOffset::from_whole_seconds(local.ut_offset()).ok()
}
