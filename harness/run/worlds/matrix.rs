//! All worlds of a scenario, in parallel on systems of their own.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;
use std::time::Duration;

use super::batch::{Judged, Recording};
use super::plan::{World, plan};
use super::stay::Setting;
use super::verdict::Did;
use crate::report::terminal;
use crate::run::project::Project;
use retake_base::error::{Error, Result};
use retake_base::lock::Mutex;
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
/// Fails if the recorded run is red, or a system cannot be started.
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
    let committed = project.goldens.golden(&scenario.golden_name).ok().flatten();
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
    let batches: Vec<Batch> =
        wanted.iter().cloned().enumerate().collect::<Vec<_>>().chunks(at_once).map(<[_]>::to_vec).collect();
    let runs = Runs { setting: &setting, worlds, recording: &recording, cap };
    let (count, all) = (AtomicUsize::new(0), wanted.len());
    let tell = || {
        let now = count.fetch_add(1, Ordering::Relaxed) + 1;
        if says && now.is_multiple_of(PROGRESS) {
            terminal::note(format!("{}: {now} of {all} worlds", scenario.name));
        }
    };
    let mut judged = runs.all(batches, threads, &tell)?;
    // A busy machine can make a service look as if it hung, so such worlds run once more, with less beside them.
    let is_late = |judged: &Judged| matches!(judged.verdict.did, Did::Hung | Did::Sick);
    let late =
        judged.iter().filter(|(_, judged)| is_late(judged)).map(|(at, judged)| vec![(*at, judged.world.clone())]);
    let again = runs.all(late.collect(), if one_by_one { 1 } else { cores }, &|| ())?;
    judged.retain(|(at, _)| !again.iter().any(|(other, _)| other == at));
    judged.extend(again);
    judged.sort_by_key(|(at, _)| *at);
    let judged = judged.into_iter().map(|(_, judged)| judged).collect();
    let (lines, repeats) = (recording.seen.lines(&setting), recording.repeats);
    Ok(Matrix { lines, judged, found, repeats })
}

/// Worlds that run one after another, each with its place in the table.
type Batch = Vec<(usize, World)>;

struct Runs<'a> {
    setting: &'a Setting<'a>,
    worlds: &'a Worlds,
    recording: &'a Recording,
    cap: Duration,
}

impl Runs<'_> {
    /// Runs all batches, on this many threads.
    fn all(&self, batches: Vec<Batch>, threads: usize, tell: &(dyn Fn() + Sync)) -> Result<Vec<(usize, Judged)>> {
        let threads = threads.clamp(1, batches.len().max(1));
        let queue: Mutex<VecDeque<Batch>> = Mutex::new(batches.into());
        let done: Mutex<Vec<(usize, Judged)>> = Mutex::default();
        let failed: Mutex<Option<Error>> = Mutex::default();
        let work = || {
            while let Some(batch) = { queue.lock().pop_front() } {
                match self.batch(&batch) {
                    Ok(judged) => {
                        let rest = batch[judged.len()..].to_vec();
                        if !rest.is_empty() {
                            queue.lock().push_back(rest);
                        }
                        for _ in &judged {
                            tell();
                        }
                        done.lock().extend(batch.iter().map(|(at, _)| *at).zip(judged));
                    }
                    Err(error) => {
                        queue.lock().clear();
                        failed.lock().get_or_insert(error);
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(work);
            }
        });
        match failed.into_inner() {
            Some(error) => Err(error),
            None => Ok(done.into_inner()),
        }
    }

    /// Runs worlds on one system. What is found on a system that several worlds share is confirmed on a fresh one.
    fn batch(&self, batch: &Batch) -> Result<Vec<Judged>> {
        let on_one = |worlds: &[World], fresh| self.setting.batch(worlds, self.worlds, self.recording, self.cap, fresh);
        let worlds: Vec<World> = batch.iter().map(|(_, world)| world.clone()).collect();
        let mut judged = on_one(&worlds, false)?;
        if worlds.len() > 1 {
            for judged in judged.iter_mut().filter(|judged| judged.fails()) {
                if let Some(alone) = on_one(std::slice::from_ref(&judged.world), true)?.pop() {
                    *judged = alone;
                }
            }
        }
        Ok(judged)
    }
}

/// After how many worlds a line says how far it is.
const PROGRESS: usize = 50;

/// The fixture's callers by turn.
pub(super) fn callers(project: &Project, scenario: &Scenario) -> Vec<Option<String>> {
    let fixture: Option<Arc<_>> = project.fixtures.of(scenario).ok().flatten();
    fixture.iter().flat_map(|fixture| fixture.table.turns()).map(|turn| turn.caller.clone()).collect()
}
