//! What day it is, by each clock that a system may have.

use time::{Date, Duration, OffsetDateTime, UtcOffset};
use tz::TimeZone;

use retake_core::days::{Days, tells, times_told, with_weekdays};
use retake_wire::fixture::Minute;

use crate::record::clock;

/// The clocks of a system: the machine's local one, UTC, and those of time zones that the suite gives it or the scenario names.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// The day that the system is told, if that is not today.
    pub day: Option<Date>,
    /// How far its clock is moved in the second run of a proof, and the day that it is told. A system that does not honour it says
    /// today.
    pub away: Option<Duration>,
    /// The minute at which its clock starts, if that is the one of the recording.
    pub recorded: Option<Minute>,
    /// When the run began: one that goes past midnight has two days.
    pub began: Option<OffsetDateTime>,
    /// The value of `TZ` that the system is given.
    pub zone: Option<String>,
    /// The zones that the scenario names, such as that of its user.
    pub named: Vec<String>,
}

impl Clock {
    /// The same clock, with the zones that a text names, such as `Asia/Tokyo`.
    pub fn with_zones_of(mut self, text: &str) -> Clock {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "/_+-".contains(c);
        let words = text.split(|c| !is_part(c)).filter(|word| word.contains('/') && !word.starts_with('/'));
        self.named.extend(words.filter(|word| TimeZone::from_posix_tz(word).is_ok()).map(str::to_owned));
        self.named.sort();
        self.named.dedup();
        self
    }

    /// How far the clocks are from UTC by which its system may tell the day: by zones, and when the run began and is over.
    pub fn zones(&self) -> Vec<UtcOffset> {
        let now = OffsetDateTime::now_utc();
        let named = self.zone.iter().chain(&self.named).map(|zone| TimeZone::from_posix_tz(zone));
        let zones = self.zone.is_none().then(TimeZone::local).into_iter().chain(named).flatten();
        let of_run = self.began.into_iter().flat_map(|began| [began - now, now - began]);
        let of_run = of_run.filter_map(|by| UtcOffset::from_whole_seconds(by.whole_seconds().try_into().ok()?).ok());
        zones.filter_map(|zone| offset(&zone, now)).chain(of_run).collect()
    }

    /// The minute that it is on the machine's local clock, on the day that the system is told.
    pub fn minute(&self) -> Minute {
        let now = self.recorded.unwrap_or_else(clock::now);
        self.day.map_or(now, |day| Minute::of(now.time().replace_date(day)))
    }

    /// The days of what was written at a time and of now, as far as they differ.
    pub fn days(&self, written: Minute) -> Days {
        Days::new(self.by_each(written))
    }

    /// Whether a text tells another day than today where the one of a recording told its own, by any clock: in all places, or in one that is
    /// all it says otherwise. One that it still tells stays, but not with a weekday that is none of today's.
    pub(crate) fn tells_another_day(&self, written: Minute, recorded: &str, called: &str) -> bool {
        let days = self.by_each(written);
        let mut told = days.iter().filter(|(then, _)| times_told(recorded, *then) > 0).peekable();
        let by_any = Days::new(days.iter().copied());
        if !by_any.equal(recorded, called).is_none() {
            return false;
        }
        let said = by_any.nearer(recorded, called);
        let is_lost = |(then, _): &(Date, Date)| {
            let near = (-7..=7).map(|by| *then + Duration::days(by));
            let mut others = near.filter(|it| days.iter().all(|(then, _)| then != it));
            times_told(&said, *then) < times_told(recorded, *then)
                && others.any(|other| !Days::new([(*then, other)]).equal(recorded, &said).is_none())
        };
        let in_all = |(then, now): &(Date, Date)| [then, now].into_iter().all(|day| times_told(called, *day) == 0);
        let has_other_weekday = |(then, _): &(Date, Date)| {
            let others = (1..7).map(|by| *then + Duration::days(by));
            let others = others.filter(|it| days.iter().all(|(_, now)| now.weekday() != it.weekday()));
            let said = with_weekdays(recorded, *then, &others.collect::<Vec<_>>());
            said.iter().any(|said| !by_any.equal(said, called).is_none())
        };
        told.peek().is_some()
            && (told.clone().any(|of| is_lost(of) || has_other_weekday(of))
                || told.all(in_all) && tells(called, self.minute().time().date(), 0))
    }

    /// The day on which something was written and the one of now, by each clock.
    pub fn by_each(&self, written: Minute) -> Vec<(Date, Date)> {
        let then = written.time();
        let now = self.recorded.map_or_else(OffsetDateTime::now_utc, Minute::time);
        let day = |zone: Option<&TimeZone>, time: OffsetDateTime| {
            let offset = zone.and_then(|zone| offset(zone, time)).unwrap_or(UtcOffset::UTC);
            time.to_offset(offset).date()
        };
        let local = TimeZone::local().ok();
        let named = self.zone.iter().chain(&self.named).filter_map(|zone| TimeZone::from_posix_tz(zone).ok());
        let zones: Vec<Option<TimeZone>> = std::iter::once(None).chain(named.map(Some)).collect();
        let by_each = |now: OffsetDateTime| {
            // The clock of the machine, there and here; that of the machine there, which may be the service's own; and those of zones.
            let there = [day(local.as_ref(), now), now.to_offset(then.offset()).date()].map(|now| (then.date(), now));
            let zones = zones.iter().map(|zone| (day(zone.as_ref(), then), day(zone.as_ref(), now)));
            there.into_iter().chain(zones).collect::<Vec<_>>()
        };
        let told = |(then, now): (Date, Date)| (then, self.day.unwrap_or(now));
        // A moved clock has another day in each zone; what is told is that of UTC.
        let moved = self.away.into_iter().flat_map(|away| {
            let of_utc = day(None, now + away);
            by_each(now + away).into_iter().flat_map(move |(then, now)| [(then, now), (then, of_utc)])
        });
        std::iter::once(now).chain(self.began).flat_map(by_each).map(told).chain(moved).collect()
    }
}

/// Returns how far a zone is from UTC at a time.
fn offset(zone: &TimeZone, time: OffsetDateTime) -> Option<UtcOffset> {
    let local = zone.find_local_time_type(time.unix_timestamp()).ok()?;
    UtcOffset::from_whole_seconds(local.ut_offset()).ok()
}
