//! The day that systems should take as today, and their clock.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::machine;
use time::{Date, Duration, Month, OffsetDateTime};

use retake_model::{Clock, Pacing};
use retake_scenario::Template;
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
    moved: bool,
    /// Whether the clock is moved to it.
    has_clock: bool,
}

impl Today {
    /// The runner's day, or today's in UTC.
    pub(crate) fn real() -> Today {
        let date = told().unwrap_or_else(|| OffsetDateTime::now_utc().date());
        Today { date: date.to_string(), ..Today::default() }
    }

    /// Another day than today, for the second run of a proof, with the clock if that can be moved.
    pub(super) fn other(has_clock: bool) -> Today {
        Today { date: (OffsetDateTime::now_utc() + AWAY).date().to_string(), moved: true, has_clock }
    }

    /// The variables that tell a program the day, its machine and its user, and move its clock where that can be done. Timers go on as they are.
    pub(super) fn variables(&self) -> impl Iterator<Item = (&'static str, String)> + use<> {
        let library = faketime().filter(|_| self.has_clock);
        let moves = library.map(|library| {
            // What it shares with other processes would stay behind if it is killed. Versions up to 0.9.10 always share. With its fix for
            // timers, which nobody moves here, the threads of a JVM never sleep.
            let set = ["DONT_FAKE_MONOTONIC", "NO_FAKE_STAT", "FAKETIME_DISABLE_SHM"].map(|name| (name, "1".into()));
            let (away, fix) = (format!("+{}", AWAY.whole_seconds()), ("FAKETIME_FORCE_MONOTONIC_FIX", "0".into()));
            [("LD_PRELOAD", library.display().to_string()), ("FAKETIME", away), fix].into_iter().chain(set)
        });
        let told = machine::variables(self.moved).into_iter().chain([(DATE_VARIABLE, self.date.clone())]);
        told.chain(moves.into_iter().flatten())
    }
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
pub(super) fn clock(env: Option<&BTreeMap<String, Template>>, pacing: Pacing) -> Clock {
    let given = |name: &str| env?.get(name).map(Template::source).filter(|text| !text.contains("{{"));
    let day = given(DATE_VARIABLE).and_then(parsed).or_else(told);
    let away = matches!(pacing, Pacing::Shaken).then_some(AWAY);
    Clock { day, away, zone: given("TZ").map(str::to_owned) }
}

/// The minute that it is, on the day that is today.
pub fn minute() -> Minute {
    clock(None, Pacing::None).minute()
}

fn told() -> Option<Date> {
    parsed(&std::env::var(DATE_VARIABLE).ok()?)
}

fn parsed(text: &str) -> Option<Date> {
    let mut parts = text.splitn(3, '-');
    let (year, month, day) =
        (parts.next()?.parse().ok()?, parts.next()?.parse::<u8>().ok()?, parts.next()?.parse().ok()?);
    Date::from_calendar_date(year, Month::try_from(month).ok()?, day).ok()
}

#[cfg(test)]
mod tests;
