//! The replays that must agree: two, or five if events may come in another order.

use retake_base::text::nth_turn;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use super::agreement::{Agreed, Dated, Disagreement, FIVE, Lacking, TWO};
use super::diagnosis;
use super::told::{as_agreed, has_moved};
use super::tried::{Tried, normalizer};
use crate::report::{Failure, terminal};
use crate::run::golden::Committed;
use crate::run::project::Project;
use crate::run::second_look;
use crate::run::trial::{self, How, Replayed};
use retake_base::error::Result;
use retake_core::events::{Golden, Passing, deeper_name};
use retake_core::key::{Check, Rules, Varying, check_with_rules, text_as_varying};
use retake_model::{DriftOf, Pacing};
use retake_scenario::{Drift, Level, Scenario};
use retake_wire::fixture::Fixture;

/// A scenario to prove.
pub(crate) struct Proof<'a> {
    pub project: &'a Project,
    pub scenario: &'a Scenario,
    pub fixture: Option<&'a Arc<Fixture>>,
    /// Whether the fixture was recorded just now, so that any difference means that something varies from run to run.
    pub of_recording: bool,
}

impl Proof<'_> {
    /// Replays a fixture with these rules, from the second time on on other stages and with random delays.
    pub(super) fn replays(&self, fixture: Option<&Arc<Fixture>>, rules: &Arc<Rules>) -> Result<Agreed, Disagreement> {
        let Proof { project, scenario, .. } = *self;
        let without_varying = self.without_varying_checks();
        let replay = |how: How<'_>, golden: Option<&Arc<Committed>>| {
            let first = !matches!(how.pacing, Pacing::Shaken);
            let replayed = if first {
                trial::replay_in_company(project, scenario, fixture, rules)
            } else {
                trial::replay(project, scenario, fixture.cloned(), rules, how).map(|replayed| (replayed, None))
            };
            let (mut replayed, crash) = replayed.map_err(|error| Disagreement::NoStage(error.into()))?;
            project.note_flaky(&scenario.name, crash.into_iter().collect());
            // One replay asks this for all.
            let early = replayed.early.take();
            replayed.committed = golden.cloned();
            project.note_replay(scenario, &replayed);
            if self.of_recording && first && Arc::ptr_eq(rules, &project.rules) {
                self.note_drift(&replayed, rules, |check| !check.may_vary());
            }
            // What another day and another clock change is not the user's.
            if first && Arc::ptr_eq(rules, &project.rules) {
                project.note(&scenario.name, replayed.notes(scenario));
            }
            match replayed.verdict(&without_varying) {
                Ok(golden) => Ok((replayed, golden, early)),
                Err(failure) => Err(self.failed(replayed, failure, first)),
            }
        };
        let writes_anew = self.writes_anew();
        writes_anew.then(await_next_second);
        let (mut first, mut golden, _) = replay(How::default(), None)?;
        let marked;
        (golden, marked) = self.with_derived(&mut first, golden, fixture, rules);
        if project.systems.is_attached(scenario) {
            return self.once(first, golden, rules);
        }
        (writes_anew || scenario.options.cost.is_some()).then(await_next_second);
        let replays = if first.may_come_in_another_order(scenario) { FIVE } else { TWO };
        let (mut runs, mut goldens) = (Vec::new(), vec![golden.clone().unwrap_or_default()]);
        let pinned = golden.clone().map(Committed::now);
        let passing = golden.as_ref().map(|golden| self.passing(&first, golden));
        let mut early = Vec::new();
        while 1 + runs.len() < replays {
            // What the first golden pins has to be the same in the others.
            let asked = passing.as_ref().filter(|_| runs.is_empty());
            let how = || How { pacing: Pacing::Shaken, asked, ..How::default() };
            let (run, again, found) = match replay(how(), pinned.as_ref()) {
                Err(disagreement) if disagreement.is_of_system() && project.systems.keep_clock(scenario) => {
                    let by_own_clock = replay(how(), pinned.as_ref())?;
                    let (name, why) = (&scenario.name, disagreement.headline());
                    terminal::note(format!(
                        "{name}: untested: another hour, since its system fails where libfaketime moves its clock: {why}"
                    ));
                    by_own_clock
                }
                done => done?,
            };
            early.extend(found.into_iter().flatten());
            // A system that honours the date says another day there.
            goldens.push(run.moved_to(&first, &scenario.golden, rules, &goldens[0], again.unwrap_or_default()));
            runs.push(run);
        }
        if let Some((told, all)) = self.with_id_places(&mut first, &mut runs, marked.as_ref(), rules) {
            (golden, goldens) = (Some(told), all);
        }
        Golden::agree_on_what_varies(&mut goldens.iter_mut().collect::<Vec<_>>(), scenario.golden.detail);
        if goldens.iter().any(|again| *again != goldens[0]) {
            let (of_first, others) = self.without_user(&mut first, &mut runs, rules);
            if others.iter().all(|again| *again == others[0]) {
                (golden, goldens) = (of_first, others);
            }
        }
        let agreed = goldens.remove(0);
        let Some(again) = goldens.into_iter().find(|again| *again != agreed) else {
            if Arc::ptr_eq(rules, &project.rules) {
                self.note_event_name(&first);
                self.note_clock(&first, &runs);
            }
            let exact = |golden| self.told_exactly(golden, &first, (&runs, marked.as_ref()));
            let (golden, is_lost) = golden.map(|golden| exact(as_agreed(golden, &agreed, &early))).unzip();
            let golden = golden.map(|golden| self.with_known_headers(golden));
            let golden = self.with_cost(golden, &mut first, runs.first());
            (first.early, first.own_golden) = (Some(early), OnceLock::new());
            let older = first.older_sides(project, scenario, golden.as_ref());
            let has_moved = self.has_moved(&first, &runs);
            let (dates_stay, lacking) = of_tools(&first, &runs, has_moved);
            let unmoved = if has_moved { Vec::new() } else { self.unmoved(first.played.driven.sent.clone()) };
            // What other replays ask the model otherwise; and all days of which nobody knows whether they move.
            let varying: Vec<_> = runs.iter().flat_map(|run| varying(&first, run)).chain(unmoved).collect();
            // What varies on the day of the recording is no other day's.
            let at_once: Vec<Varying> = first.played.drift.iter().flat_map(of_drift).collect();
            let is_of_day = |of: &Varying| of.check == Check::Dates && !at_once.contains(of);
            if is_lost.unwrap_or_default() || has_moved && varying.iter().any(is_of_day) {
                self.note_other_distances();
            }
            let first = self.without_varying(first, &varying, rules)?;
            return Ok(Agreed { golden, run: Box::new(first), older, replays, varying, dates_stay, lacking });
        };
        runs.insert(0, first);
        Err(Disagreement::Differ { runs, goldens: Box::new([agreed, again]) })
    }

    /// The scenario without the checks that may vary: what differs in them is judged when it is known whether they vary.
    pub(super) fn without_varying_checks(&self) -> Scenario {
        let mut scenario = self.scenario.clone();
        let [settings, extra, results] = [Some(Level::Ignore); 3];
        scenario.options.drift = Drift { settings, extra, results, ..scenario.options.drift };
        scenario
    }

    /// The proof of a scenario whose system is attached.
    fn once(&self, mut first: Replayed, golden: Option<Golden>, rules: &Arc<Rules>) -> Result<Agreed, Disagreement> {
        let Proof { project, scenario, .. } = *self;
        terminal::note(format!("{}: its system is attached, so the proof is one replay instead of two", scenario.name));
        let golden = golden.map(|golden| self.with_known_headers(golden));
        let older = first.older_sides(project, scenario, golden.as_ref());
        let since = first.played.drift.iter().filter(|_| self.of_recording);
        let unmoved = self.unmoved(first.played.driven.sent.clone());
        let varying: Vec<Varying> = since.flat_map(of_drift).chain(unmoved).collect();
        let golden = self.with_cost(golden, &mut first, None);
        let (dates_stay, lacking) = of_tools(&first, &[], false);
        let run = Box::new(self.without_varying(first, &varying, rules)?);
        Ok(Agreed { golden, run, older, replays: TWO, varying, dates_stay, lacking })
    }

    /// Whether there is no golden yet, or a new recording, so that times are told as they move.
    pub(super) fn writes_anew(&self) -> bool {
        self.of_recording || self.project.goldens.golden(&self.scenario.golden_name).ok().flatten().is_none()
    }

    /// What is asked about how a scenario's answers are passed on.
    fn passing(&self, first: &Replayed, golden: &Golden) -> Passing {
        let Proof { project, scenario, .. } = *self;
        let committed = project.goldens.golden(&scenario.golden_name).ok().flatten();
        let known = committed.as_ref().map(|known| &known.golden);
        Passing::asked(golden, known, &first.known().recorded, &scenario.golden)
    }

    /// Measures what the calls of a replay cost, beside those of another, and warns of what varies.
    fn with_cost(&self, mut golden: Option<Golden>, run: &mut Replayed, again: Option<&Replayed>) -> Option<Golden> {
        run.measure(self.project, self.scenario, again, self.of_recording);
        for varying in run.cost.iter().flatten().filter(|cost| cost.varies) {
            terminal::note(format!("{}: warning: {}", self.scenario.name, varying.words));
        }
        golden.as_mut()?.cost = run.cost.clone().unwrap_or_default();
        golden
    }

    /// A replay that failed.
    fn failed(&self, replayed: Replayed, failure: Failure, first: bool) -> Disagreement {
        // Here the system has changed since the recording: explain the failure as in a test.
        let failure = if first && !self.of_recording {
            second_look::failure(self.project, self.scenario, &replayed, None)
        } else {
            failure
        };
        Disagreement::Failed { replayed: Box::new(replayed), failure, first }
    }

    /// Returns a replay without the drift that is nothing but values that vary.
    /// Fails if what is left fails.
    fn without_varying(
        &self,
        mut replayed: Replayed,
        varying: &[Varying],
        rules: &Arc<Rules>,
    ) -> Result<Replayed, Disagreement> {
        let Proof { project, scenario, .. } = *self;
        if self.of_recording {
            replayed.played.tools.lacking.clear();
        }
        replayed.played.drift.retain(|(turn, drift)| {
            let marked = Varying::marked(varying, *turn, drift.check, &drift.recorded);
            marked.is_none_or(|marked| text_as_varying(&marked, &drift.called) != Some(marked))
        });
        if Arc::ptr_eq(rules, &project.rules) {
            project.note(&scenario.name, replayed.notes(scenario));
            if self.of_recording {
                self.note_drift(&replayed, rules, Check::may_vary);
            }
        }
        let Err(failure) = replayed.verdict(scenario) else { return Ok(replayed) };
        Err(self.failed(replayed, failure, true))
    }

    /// Says that a system did not take another clock.
    fn note_clock(&self, first: &Replayed, runs: &[Replayed]) {
        let (systems, Scenario { name, .. }) = (&self.project.systems, self.scenario);
        let was_moved = systems.moves_clock(self.scenario) && !systems.keeps_clock(self.scenario);
        if self.of_recording && was_moved && first.year().is_some() && !has_moved(first, runs) {
            terminal::note(format!(
                "{name}: untested: another hour or day, since its system does not take the clock of libfaketime. Days and times that only \
                 it tells are not compared, unless it takes the day from RETAKE_DATE (such as 2027-12-26) and sends its header `Date` by it"
            ));
        }
    }

    /// Proposes where events that are all called the same say what they are.
    fn note_event_name(&self, replayed: &Replayed) {
        let Scenario { name, golden, file, .. } = self.scenario;
        if let Some(pointer) = deeper_name(&replayed.played.driven.captured, golden) {
            terminal::note(format!(
                "{name}: all events of a stream have the same name; to tell them apart in the golden, add under [golden] in {}: \
                 event_name = {pointer:?}",
                file.display()
            ));
        }
    }

    /// Warns about checks that vary: they would be drift in each later replay, and the recording could not be resumed.
    fn note_drift(&self, replayed: &Replayed, rules: &Rules, of: impl Fn(Check) -> bool) {
        let name = &self.scenario.name;
        let mut noted: Vec<(Check, &str)> = Vec::new();
        for (turn, drift) in &replayed.played.drift {
            if !of(drift.check) || noted.contains(&(drift.check, &drift.recorded)) {
                continue;
            }
            noted.push((drift.check, &drift.recorded));
            let found = diagnosis::of_check(drift.check, &drift.recorded, &drift.called);
            let causes: Vec<&str> = found.iter().map(|variation| variation.cause.as_str()).collect();
            let (check, turn, causes) = (drift.check, nth_turn(*turn), causes.join(", "));
            terminal::note(format!("{name}: warning: the {check} of {turn} varies from run to run: {causes}"));
            let mends = diagnosis::rules_of(&found);
            let apply = |text: &str| check_with_rules(drift.check, text, &normalizer(&mends));
            let fixture = self.fixture.map(AsRef::as_ref);
            let tried = Tried::new(self.project, fixture, rules);
            let fit = tried.keys(&mends).len() == tried.distinct && mends.iter().all(|rule| tried.fits(&[], rule));
            if apply(&drift.recorded) == apply(&drift.called) && fit {
                for rule in mends {
                    terminal::note(format!("\n{}\n", rule.toml()));
                }
            }
        }
    }
}

/// Returns the values of a check that differ between the recording and a replay.
fn of_drift((turn, drift): &(usize, DriftOf)) -> Vec<Varying> {
    Varying::between(*turn, drift.check, &drift.recorded, &drift.called)
}

/// Returns the values of checks that differ between two replays.
fn varying(one: &Replayed, other: &Replayed) -> Vec<Varying> {
    let of_drift = |(turn, drift): &(usize, DriftOf)| {
        let text = |run: &Replayed| {
            let of_turn = run.played.drift.iter().find(|(of, it)| of == turn && it.check == drift.check);
            of_turn.map_or(&drift.recorded, |(_, drift)| &drift.called).clone()
        };
        Varying::between(*turn, drift.check, &text(one), &text(other))
    };
    one.played.drift.iter().chain(&other.played.drift).flat_map(of_drift).collect()
}

/// Returns the requests to tools whose days stayed or moved where the clock `has_moved`, or only moved where a router asked for its day,
/// since it may tell others by the clock; and the headers of requests that not all replays sent.
fn of_tools(one: &Replayed, others: &[Replayed], has_moved: bool) -> (Vec<Dated>, Vec<Lacking>) {
    let dated = others.iter().map(|run| run.played.tools.dates_stay.clone()).reduce(|all, run| &all & &run);
    let lacking = others.iter().chain([one]).flat_map(|run| run.played.tools.lacking.clone());
    let is_told = others.iter().any(|run| run.played.other_day);
    let is_known = |(_, stays): &Dated| has_moved || is_told && !stays;
    (dated.into_iter().flatten().filter(is_known).collect(), lacking.collect())
}

/// Waits for the next second, so that the recording and the two replays all happen in different seconds. Otherwise a clock that
/// shows only seconds could look constant.
pub(crate) fn await_next_second() {
    let into = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.subsec_millis());
    std::thread::sleep(Duration::from_millis(u64::from(1005 - into)));
}
