//! All worlds of a scenario, in parallel on systems of their own.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::thread::available_parallelism;
use std::time::Duration;

use super::batch::{Judged, Recording, STALLED};
use super::places::World;
use super::stay::Setting;
use super::verdict::Did;
use crate::report::terminal;
use crate::run::audit::in_parallel;
use crate::run::project::Project;
use retake_base::error::{Error, Result};
use retake_base::text::counted;
use retake_model::{Family, FaultKind};
use retake_scenario::{Scenario, Worlds};
use tokio::sync::Semaphore;

/// A system that takes longer to start runs several worlds.
const SLOW: Duration = Duration::from_secs(1);
/// How many worlds run at the same time on each core: most of them wait.
const ON_A_CORE: usize = 6;

/// The worlds of a scenario, with what the service did in each.
pub(super) struct Matrix {
    /// What the service sent in the recorded run.
    pub(super) lines: Vec<String>,
    pub(super) judged: Vec<Judged>,
    /// How many worlds there are, if they are more than were run.
    pub(super) found: Option<usize>,
    /// Why a sick system could not be told: what the recorded run does when it is repeated.
    pub(super) unlike: Option<&'static str>,
    /// The worlds that have no verdict, since no call met their fault.
    pub(super) unmet: Vec<World>,
    /// The sides that cannot fail, each with the reason.
    pub(super) left_out: Vec<String>,
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
    scenario.options.linger = Duration::ZERO;
    let scenario = &scenario;
    let committed = project.goldens.golden(&scenario.golden_name).ok().flatten();
    let one_by_one = project.systems.alone(scenario, false).is_some();
    let cores = available_parallelism().map_or(2, std::num::NonZero::get);
    let few = if one_by_one { 1 } else { cores * 2 };
    let setting = Setting { project, scenario, fixture, committed, of: worlds, starts: Semaphore::new(few) };
    let no_process = setting.can_fail("process", setting.cannot_be_killed().as_deref())?;
    let recording = setting.record()?;
    let no_doubles = "no call of a tool was recorded for which there is a double (of an MCP server)";
    let no_doubles = recording.seen.tools.is_empty().then_some(no_doubles);
    let left_out = no_process.into_iter().chain(setting.can_fail("tools", no_doubles)?).collect();
    let (wanted, found) = setting.worlds(&recording, only);
    let is_slow = recording.starting > SLOW;
    let usual = if is_slow { cores } else { cores * ON_A_CORE };
    let threads = if one_by_one { 1 } else { jobs.unwrap_or(usual) };
    let shares = recording.can_share && (one_by_one || is_slow);
    // A system that is killed is its world's own, and one that waits in vain ends what shares it.
    let mut places: Places = wanted.iter().cloned().enumerate().collect();
    places.sort_by_key(|(_, world)| waits(world));
    let (killed, others): (Places, Places) = places.into_iter().partition(|(_, world)| world.side() == "process");
    let at_once = if shares { others.len().div_ceil(threads.max(1)).max(1) } else { 1 };
    let batches: Vec<Places> =
        others.chunks(at_once).map(<[_]>::to_vec).chain(killed.into_iter().map(|place| vec![place])).collect();
    if says {
        // What waits needs no core; a system that starts does.
        let waiting: Duration = wanted.iter().filter(|world| waits(world)).map(|_| STALLED).sum();
        let starting: Duration = batches.iter().map(|_| recording.starting).sum();
        let working = wanted.iter().map(|_| recording.seen.took).sum::<Duration>() + starting;
        let on = |time: Duration, threads: usize| time / u32::try_from(threads.max(1)).unwrap_or(u32::MAX);
        let about = on(working, threads.min(cores)) + on(waiting, threads);
        // What hangs runs once more with less beside it.
        let hung: Duration = wanted.iter().map(|world| recording.limit_of(world)).sum();
        let most = about + on(hung, threads) + on(hung + working, few);
        let (worlds, about, most) = (counted(wanted.len(), "world"), about.as_secs(), most.as_secs());
        terminal::note(format!("{}: {worlds}, about {about} s, {most} s if the service hangs in each", scenario.name));
    }
    let mut judged = setting.all(&recording, &batches, threads)?;
    // What has no verdict, or fails, on a system that others share is run on its own. A busy machine can make a service look as if it hung,
    // so such worlds run once more, with less beside them, and what came too late three times; with no answer at all, it is not the machine.
    let doubted = |it: &Judged| (!it.alone && (it.fails() || asks_again(it))) || (may_be_slow(it) && !waits(&it.world));
    for round in 0..3 {
        let again = |it: &Judged| it.late || (round == 0 && doubted(it));
        let again = judged.iter().filter(|(_, it)| it.as_ref().map_or(round == 0, again));
        let again: Vec<Places> = again.map(|(at, _)| vec![(*at, wanted[*at].clone())]).collect();
        judged.extend(setting.all(&recording, &again, few)?);
    }
    let too_late = |it: &Judged| it.late && it.world.side() == "process";
    let unmet = judged.iter().filter(|(_, judged)| judged.as_ref().is_none_or(too_late));
    let unmet = unmet.map(|(at, _)| wanted[*at].clone()).collect();
    let judged = judged.into_values().flatten().filter(|it| !too_late(it)).collect();
    Ok(Matrix { lines: recording.seen.lines(&setting), judged, found, unlike: recording.unlike, unmet, left_out })
}

/// Whether a busy machine may have made a service look like this.
fn may_be_slow(it: &Judged) -> bool {
    match it.verdict.did {
        Did::PaidTwice => it.world.is_invisible(),
        did => matches!(did, Did::Hung | Did::Sick | Did::NeverEnds),
    }
}

/// Whether a service that waits for what does not come is waited for.
fn waits(world: &World) -> bool {
    matches!(world.fault.kind, FaultKind::Hang | FaultKind::Stall | FaultKind::ToolTimeout)
}

/// Worlds that run one after another, each with its place in the table.
type Places = Vec<(usize, World)>;

impl Setting<'_> {
    /// Runs all batches, on this many threads. A world whose fault was not met has no verdict, and no world of a batch has one whose system
    /// was not the same afterwards.
    fn all(&self, of: &Recording, batches: &[Places], threads: usize) -> Result<BTreeMap<usize, Option<Judged>>> {
        let failed = OnceLock::new();
        let judged = in_parallel(batches, threads, |batch| {
            // What fails once ends all.
            if failed.get().is_some() {
                return Vec::new();
            }
            self.judged(of, batch).unwrap_or_else(|error| {
                let _ = failed.set(error);
                Vec::new()
            })
        });
        failed.into_inner().map_or_else(|| Ok(judged.into_iter().flatten().collect()), Err)
    }

    /// Runs worlds on one system: a single one on a fresh system.
    fn judged(&self, of: &Recording, batch: &Places) -> Result<Vec<(usize, Option<Judged>)>> {
        if let [(at, world)] = &**batch {
            return Ok(vec![(*at, self.alone(of, world)?)]);
        }
        let (places, worlds): (Vec<usize>, Vec<World>) = batch.iter().cloned().unzip();
        let judged = self.batch(&worlds, of, self.of.times)?.unwrap_or_default().into_iter().map(Some);
        Ok(places.into_iter().zip(judged.chain(std::iter::repeat_with(|| None))).collect())
    }

    /// Runs a world on a fresh system. A service that asked again until it got an answer that made sense may ask for ever if none comes:
    /// that is tried, too.
    fn alone(&self, of: &Recording, world: &World) -> Result<Option<Judged>> {
        let of_one = std::slice::from_ref(world);
        let once = |times| Ok::<_, Error>(self.batch(of_one, of, times)?.and_then(|mut judged| judged.pop()));
        let judged = once(self.of.times)?;
        if judged.as_ref().is_some_and(asks_again)
            && let Some(mut stayed) = once(u32::MAX)?.filter(|stayed| stayed.verdict.did == Did::Storm)
        {
            stayed.verdict.why += " while the answers stay like that";
            return Ok(Some(stayed));
        }
        Ok(judged)
    }
}

/// Whether a service asked again, because an answer made no sense to it.
fn asks_again(judged: &Judged) -> bool {
    let is_of_meaning = judged.world.fault.kind.family() == Family::Meaning;
    is_of_meaning && judged.verdict.did == Did::Recovered && judged.attempts > 1
}
