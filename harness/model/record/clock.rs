//! The machine's local clock.

use retake_wire::fixture::Minute;
use time::{OffsetDateTime, UtcOffset};
use tz::TimeZone;

/// The minute that it is, by the local clock; by UTC's, if the machine has no other.
pub(crate) fn now() -> Minute {
    let now = OffsetDateTime::now_utc();
    let local = TimeZone::local().ok();
    let offset = local.as_ref().and_then(|zone| {
        let local = zone.find_local_time_type(now.unix_timestamp()).ok()?;
        // An offset of seconds belongs to the years before 1900.
        UtcOffset::from_whole_seconds(local.ut_offset() / 60 * 60).ok()
    });
    Minute::of(now.to_offset(offset.unwrap_or(UtcOffset::UTC)))
}
