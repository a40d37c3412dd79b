//! All worlds of a scenario, in parallel on systems of their own.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;
use std::time::Duration;

use super::batch::Judged;
use super::plan::{World, plan};
use super::stay::Setting;
use crate::report::terminal;
use crate::run::project::Project;
use retake_base::error::{Error, Result};
use retake_scenario::{Scenario, Worlds};

/// A system that takes longer to start runs several worlds.
const SLOW: Duration = Duration::from_secs(1);
/// The least time until a world counts as hung, and how many times as long as the recorded run that is.
const LEAST: Duration = Duration::from_secs(5);
const TIMES: u32 = 10;
/// How many worlds run at the same time on each core: most of them wait.
const ON_A_CORE: usize = 6;

/// The worlds of a scenario, with what the service did in each.
pub(super) struct Matrix {
    /// What the service sent in the recorded run.
    pub(super) lines: Vec<String>,
    pub(super) judged: Vec<Judged>,
    /// How many worlds there are, if they are more than were run.
    pub(super) found: Option<usize>,
    /// Whether a sick system could not be told, since the recorded run differs when it is repeated.
    pub(super) repeats: bool,
}

/// Runs the worlds of a scenario that are wanted.
///
/// # Errors
/// If the recorded run is red, or a system cannot be started.
pub(super) fn run(
    project: &Project,
    scenario: &Scenario,
    worlds: &Worlds,
    jobs: Option<usize>,
    only: impl Fn(&World) -> bool,
    says: bool,
) -> Result<Matrix> {
    let fixture = project.fixtures.of(scenario)?;
    let fixture = fixture.ok_or_else(|| Error::new("the scenario calls no model, so it has no worlds"))?;
    // Late calls are waited for in other ways here, and only by what they change.
    let mut scenario = scenario.clone();
    scenario.linger = Duration::ZERO;
    let scenario = &scenario;
    let committed = project.goldens.text(&scenario.golden_name);
    let setting = Setting { project, scenario, fixture, committed };
    let recording = setting.record(worlds)?;
    let (wanted, found) = plan(worlds, &recording.watched.possible(), &recording.watched.together(), only);
    let cap = (recording.seen.took * TIMES).max(LEAST);
    let one_by_one = project.systems.alone(scenario).is_some();
    let cores = available_parallelism().map_or(2, std::num::NonZero::get);
    let threads = if one_by_one { 1 } else { jobs.unwrap_or(cores * ON_A_CORE) };
    let threads = if recording.starting > SLOW && jobs.is_none() { threads.min(cores) } else { threads };
    let at_once =
        if one_by_one || recording.starting > SLOW { wanted.len().div_ceil(threads.max(1)).max(1) } else { 1 };
    let queue: Mutex<VecDeque<Vec<(usize, World)>>> =
        Mutex::new(wanted.iter().cloned().enumerate().collect::<Vec<_>>().chunks(at_once).map(<[_]>::to_vec).collect());
    let done: Mutex<Vec<(usize, Judged)>> = Mutex::default();
    let (count, all) = (AtomicUsize::new(0), wanted.len());
    let work = || -> Result<()> {
        while let Some(batch) = { locked(&queue).pop_front() } {
            let worlds_of: Vec<World> = batch.iter().map(|(_, world)| world.clone()).collect();
            let judged = setting.batch(&worlds_of, worlds, &recording, cap)?;
            let rest = batch[judged.len()..].to_vec();
            if !rest.is_empty() {
                locked(&queue).push_back(rest);
            }
            for ((at, world), judged) in batch.iter().zip(judged) {
                // What was found on a system that several worlds share is confirmed on a fresh one.
                let judged = if judged.fails() && worlds_of.len() > 1 {
                    setting.batch(std::slice::from_ref(world), worlds, &recording, cap)?.pop().unwrap_or(judged)
                } else {
                    judged
                };
                locked(&done).push((*at, judged));
                let now = count.fetch_add(1, Ordering::Relaxed) + 1;
                if says && now.is_multiple_of(PROGRESS) {
                    terminal::note(format!("{}: {now} of {all} worlds", scenario.name));
                }
            }
        }
        Ok(())
    };
    let failed: Mutex<Option<Error>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, all.max(1)) {
            scope.spawn(|| {
                if let Err(error) = work() {
                    locked(&queue).clear();
                    locked(&failed).get_or_insert(error);
                }
            });
        }
    });
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let mut judged = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    judged.sort_by_key(|(at, _)| *at);
    let judged = judged.into_iter().map(|(_, judged)| judged).collect();
    let (lines, repeats) = (recording.seen.lines(&setting), recording.repeats);
    Ok(Matrix { lines, judged, found, repeats })
}

/// After how many worlds a line says how far it is.
const PROGRESS: usize = 50;

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The fixture's callers by turn.
pub(super) fn callers(project: &Project, scenario: &Scenario) -> Vec<Option<String>> {
    let fixture: Option<Arc<_>> = project.fixtures.of(scenario).ok().flatten();
    fixture.iter().flat_map(|fixture| fixture.table.turns()).map(|turn| turn.caller.clone()).collect()
}
