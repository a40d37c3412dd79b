//! The day that systems should take as today, and their clock.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use super::launch::PlayedOn;
use super::machine;
use time::{Date, Duration, Month, OffsetDateTime};

use retake_base::error::{Error, Result};
use retake_model::{Clock, Mode, Pacing};
use retake_scenario::{ClockFrom, Template};
use retake_wire::fixture::Minute;

/// The environment variable that tells a system the date, such as `2027-12-26`. Where the runner has it, its systems get it.
pub const DATE_VARIABLE: &str = "RETAKE_DATE";

/// The environment variable that names the library which moves a program's clock, or is `off`.
const CLOCK_VARIABLE: &str = "RETAKE_FAKETIME";

/// How far away the other day is: so far that day, month, year, day of the week, the half of the day and the minute all differ.
const AWAY: Duration = Duration::minutes((400 * 24 + 12) * 60 + 7);

/// The day that programs are told, and whether their clock is moved to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Today {
    pub(super) date: String,
    /// Whether it is another day, for another user.
    pub(super) moved: bool,
    /// How far the clock is moved from Retake's own.
    clock: Duration,
    /// Whether a router asked for the day.
    pub(super) asked: Arc<AtomicBool>,
}

impl Today {
    /// The runner's day, or today's in UTC.
    pub(crate) fn real() -> Today {
        let date = told().unwrap_or_else(|| OffsetDateTime::now_utc().date());
        Today { date: date.to_string(), ..Today::default() }
    }

    /// The minute at which the clock of a stage starts, if that is the one of its recording. What records has the machine's clock, and so
    /// has a scenario without a recording.
    /// Fails if the clock cannot be moved, or the fixture does not say when it was recorded.
    pub(super) fn recorded(clock: ClockFrom, on: &PlayedOn<'_>, mode: &Mode) -> Result<Option<Minute>> {
        if clock == ClockFrom::Midday {
            return Ok(Some(midday()));
        }
        let fixture = mode.fixture().filter(|of| clock == ClockFrom::Recorded && !of.table.turns().is_empty());
        let Some(fixture) = fixture else { return Ok(None) };
        let error = |why: &str| Error::new(format!("clock = \"recorded\": {why}"));
        match on {
            PlayedOn::Router(..) => return Err(error("a router in the test's own process has no clock of its own")),
            PlayedOn::Shared(..) => return Err(error("a system with `shared` has one clock for all scenarios")),
            PlayedOn::Url(..) => return Err(error("nobody can set the clock of a system that somebody else started")),
            PlayedOn::Nothing | PlayedOn::Command { .. } => {}
        }
        if faketime().is_none() {
            let help =
                format!("Debian: apt install faketime; {CLOCK_VARIABLE} names the library if it is in another place");
            return Err(error("this machine has no libfaketime, which sets it").help(help));
        }
        let unknown = || {
            let what = format!("{} does not say when it was recorded", fixture.path.display());
            error(&what)
                .help("write \"recorded\": \"2026-11-25T14:03+01:00\" next to its \"format\", or record it again")
        };
        fixture.recorded.map(Some).ok_or_else(unknown)
    }

    /// The day for a run. The second run of a proof, which is the shaken one, has another user and another day, and another clock unless
    /// it `keeps_clock`. A clock that was recorded is the one of each run.
    pub(super) fn of_run(pacing: Pacing, keeps_clock: bool, recorded: Option<Minute>) -> Today {
        let (now, moved) = (OffsetDateTime::now_utc(), matches!(pacing, Pacing::Shaken));
        let told = |away: Duration| (now + away).date().to_string();
        // The shaken run begins within the same minute, at another second.
        let later = if moved { Duration::seconds(31) } else { Duration::ZERO };
        let (date, clock) = match recorded.map(|minute| minute.time() - now + later) {
            Some(away) => (told(away), away),
            None if moved => (told(AWAY), if keeps_clock { Duration::ZERO } else { AWAY }),
            None => return Today::real(),
        };
        Today { date, moved, clock, ..Today::default() }
    }

    /// The variables that tell a program the day, its machine and its user, and move its clock where that can be done. Timers go on as they are.
    pub(super) fn variables(&self) -> impl Iterator<Item = (&'static str, String)> + use<> {
        // With its fraction: around midnight, a program that is a part of a second behind has another day.
        let away = self.clock + own_clock();
        let moves = faketime().filter(|_| !away.is_zero()).map(|library| {
            // What it shares with other processes would stay behind if it is killed. Versions up to 0.9.10 always share. With its fix for
            // timers, which nobody moves here, the threads of a JVM never sleep.
            let set = ["DONT_FAKE_MONOTONIC", "NO_FAKE_STAT", "FAKETIME_DISABLE_SHM"].map(|name| (name, "1".into()));
            let (away, fix) = (format!("{:+}", away.as_seconds_f64()), ("FAKETIME_FORCE_MONOTONIC_FIX", "0".into()));
            [("LD_PRELOAD", library.display().to_string()), ("FAKETIME", away), fix].into_iter().chain(set)
        });
        let told = machine::variables(self.moved).into_iter().chain([(DATE_VARIABLE, self.date.clone())]);
        told.chain(moves.into_iter().flatten())
    }
}

/// How far Retake's own clock is moved, where it runs under libfaketime: its programs tell the time as it does.
fn own_clock() -> Duration {
    #[cfg(target_os = "linux")]
    {
        // Asked of the system itself, past what stands before the C library.
        let real = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
        let real = OffsetDateTime::UNIX_EPOCH + Duration::new(real.tv_sec, real.tv_nsec.try_into().unwrap_or_default());
        let away = OffsetDateTime::now_utc() - real;
        // The two are asked one after the other.
        if away.abs() < Duration::SECOND { Duration::ZERO } else { away }
    }
    #[cfg(not(target_os = "linux"))]
    Duration::ZERO
}

/// The library that moves a program's clock, if this machine has it: `libfaketime`, <https://github.com/wolfcw/libfaketime>.
pub(super) fn faketime() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || {
        if let Some(named) = std::env::var_os(CLOCK_VARIABLE) {
            return Some(PathBuf::from(named)).filter(|path| path.is_file());
        }
        let below = |folder: &str| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let folders = below("/usr/lib").chain(["/usr/lib", "/usr/lib64", "/usr/local/lib"].map(PathBuf::from));
        let mut libraries = folders.map(|folder| folder.join("faketime/libfaketimeMT.so.1"));
        libraries.find(|path| path.is_file())
    };
    FOUND.get_or_init(find).as_deref()
}

/// The clock of a system, as far as its environment tells.
pub(super) fn clock(env: Option<&BTreeMap<String, Template>>, pacing: Pacing, recorded: Option<Minute>) -> Clock {
    let given = |name: &str| env?.get(name).map(Template::source).filter(|text| !text.contains("{{"));
    let day = given(DATE_VARIABLE).and_then(parsed).or_else(|| told().filter(|_| recorded.is_none()));
    let away = matches!(pacing, Pacing::Shaken).then_some(AWAY).filter(|_| recorded.is_none());
    let began = recorded.is_none().then(OffsetDateTime::now_utc);
    Clock { day, away, recorded, began, zone: given("TZ").map(str::to_owned), named: Vec::new() }
}

/// A minute of today at which nearly all time zones have this day.
pub(super) fn midday() -> Minute {
    Minute::of(OffsetDateTime::now_utc().date().midnight().assume_utc() + Duration::minutes(10 * 60 + 30))
}

/// The minute that it is, on the day that is today.
pub fn minute() -> Minute {
    clock(None, Pacing::None, None).minute()
}

fn told() -> Option<Date> {
    parsed(&std::env::var(DATE_VARIABLE).ok()?)
}

fn parsed(text: &str) -> Option<Date> {
    let mut parts = text.splitn(3, '-');
    let (year, month) = (parts.next()?.parse().ok()?, parts.next()?.parse::<u8>().ok()?);
    Date::from_calendar_date(year, Month::try_from(month).ok()?, parts.next()?.parse().ok()?).ok()
}

#[cfg(test)]
mod tests;
