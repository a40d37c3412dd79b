//! Two replays that must agree, and the report of what varies where they do not.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::date::tools_with_today;
use super::diagnosis::{self, Diagnosis, Finding, Tried};
use super::vary::{Mend, Rule, compare};
use crate::fixture::Fixture;
use crate::key::{Check, Rules};
use crate::model::Pacing;
use crate::report::{Failure, terminal, unified};
use crate::run::commands::record_command;
use crate::run::project::Project;
use crate::run::trial::{self, Replayed};
use crate::scenario::Scenario;
use crate::system::DATE_VARIABLE;

/// How often rules are tried in replays: each may bring the next thing to light that varies.
const ROUNDS: usize = 5;
/// How many places a report shows.
const SHOWN: usize = 5;

/// A scenario that is to be proven.
pub(crate) struct Proof<'a> {
    pub(crate) project: &'a Project,
    pub(crate) scenario: &'a Scenario,
    pub(crate) fixture: Option<&'a Arc<Fixture>>,
    /// Whether the fixture was recorded just now: then whatever differs varies from run to run.
    pub(crate) of_recording: bool,
}

/// Two replays do not agree, or one of them failed.
#[derive(Debug)]
#[cfg_attr(not(feature = "record"), expect(dead_code, reason = "only a recording can be accepted as it is"))]
pub(crate) struct Unproven {
    pub(crate) failure: Failure,
    /// What varies: a line each, without values. Empty where something else failed.
    pub(crate) why: Vec<String>,
    /// The text for the golden, where no call missed.
    pub(crate) golden: Option<String>,
}

/// Why a pair of replays is no proof.
enum Flaw {
    Failed { replayed: Box<Replayed>, failure: Failure, first: bool },
    Differ { first: Box<Replayed>, second: Box<Replayed>, texts: [String; 2] },
    NoStage(Failure),
}

/// Replays a scenario twice and gives the text for its golden, where it has one.
///
/// # Errors
/// Why one of the runs failed, or what varies between them.
pub(crate) fn prove(
    project: &Project,
    scenario: &Scenario,
    fixture: Option<&Arc<Fixture>>,
) -> Result<Option<String>, Failure> {
    let proof = Proof { project, scenario, fixture, of_recording: false };
    proof.run().map_err(|unproven| unproven.failure)
}

impl Proof<'_> {
    /// Replays twice. Where the two do not agree, finds out what varies and which rules would mend it.
    ///
    /// # Errors
    /// The report, and what a mark in the fixture would say.
    pub(crate) fn run(&self) -> Result<Option<String>, Box<Unproven>> {
        match self.replays(self.fixture, &self.project.rules) {
            Ok(golden) => {
                self.note_what_is_untested();
                Ok(golden)
            }
            Err(flaw) => Err(Box::new(self.report(flaw))),
        }
    }

    fn replays(&self, fixture: Option<&Arc<Fixture>>, rules: &Arc<Rules>) -> Result<Option<String>, Flaw> {
        let Proof { project, scenario, .. } = *self;
        let replay = |pacing| {
            let first = matches!(pacing, Pacing::None);
            let replayed = trial::replay(project, scenario, fixture.cloned(), rules, pacing);
            let replayed = replayed.map_err(|error| Flaw::NoStage(error.into()))?;
            if self.of_recording && first && Arc::ptr_eq(rules, &project.rules) {
                self.note_drift(&replayed, rules);
            }
            if Arc::ptr_eq(rules, &project.rules) {
                project.note(&scenario.name, replayed.notes(scenario));
            }
            match replayed.verdict(scenario) {
                Ok(golden) => Ok((replayed, golden)),
                Err(failure) => Err(Flaw::Failed { replayed: Box::new(replayed), failure, first }),
            }
        };
        if self.of_recording {
            await_next_second();
        }
        let (first, golden) = replay(Pacing::None)?;
        if project.systems.is_attached(scenario) {
            let name = &scenario.name;
            terminal::note(format!("{name}: its system is attached, so one replay has to do in place of two"));
            return Ok(golden);
        }
        if self.of_recording {
            await_next_second();
        }
        let (second, again) = replay(Pacing::Shaken)?;
        if golden == again {
            return Ok(golden);
        }
        let texts = [golden, again].map(Option::unwrap_or_default);
        Err(Flaw::Differ { first: Box::new(first), second: Box::new(second), texts })
    }

    fn report(&self, flaw: Flaw) -> Unproven {
        let name = &self.scenario.name;
        let (replayed, failure, golden) = match &flaw {
            Flaw::NoStage(failure) => return failed(failure.clone()),
            // The system differs from the one that was recorded: the failure says so, and what to do.
            Flaw::Failed { failure, first: true, .. } if !self.of_recording => return failed(failure.clone()),
            Flaw::Failed { replayed, failure, .. } => (Some(replayed), failure.clone(), None),
            Flaw::Differ { first, texts: [one, other], .. } => {
                let headline = format!("unstable: two replays of scenario `{name}` differ, so nothing was written");
                let lines = format!("these lines vary from run to run:\n{}", unified(one, other));
                (None, Failure::new(headline).evidence(lines), first.golden_text(self.scenario, &self.project.rules))
            }
        };
        let why = match replayed {
            Some(replayed) => replayed.instability(self.scenario),
            None => vec!["the events that the service sends".to_owned()],
        };
        // What to do about another recording is no help: the next one would vary as well.
        let again = record_command(name);
        let mut failure = failure;
        failure.resolve.retain(|(_, command)| *command != again);
        if why.is_empty() {
            return failed(failure);
        }
        let found = self.look_into(flaw);
        let mut unproven = Unproven { failure, why, golden };
        if !found.findings.is_empty() {
            unproven.why = found.findings.iter().map(|finding| finding.short.clone()).collect();
            unproven.failure = shown(name, &found, unproven.failure);
        }
        unproven.failure = self.resolved(unproven.failure, &found);
        unproven
    }

    /// Finds rules, and tries them in replays of the recording as it would have been with them, until nothing varies any
    /// more or nothing mends it.
    fn look_into(&self, flaw: Flaw) -> Found {
        let mut found = Found::default();
        let mut fixture = self.fixture.cloned();
        let mut rules = self.project.rules.clone();
        let mut flaw = Some(flaw);
        for _ in 0..ROUNDS {
            let Some(here) = flaw.take() else { break };
            let tried = Tried::new(fixture.as_deref(), &rules);
            let diagnosis = match (&here, &fixture) {
                (Flaw::Failed { replayed, .. }, Some(fixture)) => diagnosis::of_misses(replayed, fixture, &tried),
                (Flaw::Differ { first, second, .. }, _) => diagnosis::of_goldens(first, second, self.scenario, &tried),
                _ => Diagnosis::default(),
            };
            if diagnosis.rules.is_empty() {
                found.findings.extend(diagnosis.findings);
                found.left = true;
                return found;
            }
            // What else missed may have been a consequence: the next round tells.
            found.findings.extend(diagnosis.findings.into_iter().filter(|finding| finding.mended));
            let new = Arc::new(diagnosis::with(&rules, &diagnosis.rules));
            if let Some(old) = &fixture {
                let Some(with_rules) = diagnosis::rekeyed(old, &rules, &diagnosis.rules) else { return found };
                fixture = Some(with_rules);
            }
            rules = new;
            found.rules.extend(diagnosis.rules);
            match self.replays(fixture.as_ref(), &rules) {
                Ok(_) => {
                    found.agrees = true;
                    return found;
                }
                Err(next) => flaw = Some(next),
            }
        }
        found.left = true;
        found
    }

    fn resolved(&self, mut failure: Failure, found: &Found) -> Failure {
        let name = &self.scenario.name;
        let Found { findings, rules, agrees, left } = found;
        if findings.iter().any(|finding| finding.reordered) {
            let what = "no rule can mend an order: let the tool or the system sort what it returns".to_owned();
            failure = failure.resolve("for the same items in another order", what);
        }
        // Of the calls all were answered: it is the golden that varies.
        let of_golden = findings.is_empty() && failure.headline.starts_with("unstable");
        if of_golden {
            failure = failure.resolve(
                "if order or number may vary",
                "unordered = [\"EVENT\"] or collapse = [\"EVENT\"] under [golden]",
            );
            failure = failure.resolve("if a value may", "a [[normalize]] rule in scenarios/suite.toml");
        }
        if !rules.is_empty() {
            if *agrees {
                failure = failure.evidence("tried: with the rules below, two replays agree");
            } else if *left {
                failure = failure.evidence(
                    "the rules below make the calls above equal to the recorded ones; what is left is not mended by a rule",
                );
            }
            let rules: Vec<String> = rules.iter().map(Rule::toml).collect();
            let text = rules.join("\n\n").replace('\n', "\n    ").replace("\n    \n", "\n\n");
            failure = failure.resolve("if it may vary, add to scenarios/suite.toml", text);
            let again = if self.of_recording || !of_golden {
                format!("{} --resume", record_command(name))
            } else {
                self.project.commands.update(name)
            };
            failure = failure.resolve("and then, without paying again", again);
        }
        if self.project.systems.is_shared(self.scenario) {
            let why = "the first replay had the shared system, which may know of earlier scenarios, \
                       the second one a process of its own";
            failure = failure.evidence(why);
        }
        if self.of_recording {
            let anyway = format!("{} --resume --accept-unstable", record_command(name));
            failure = failure.resolve("to write it all the same, marked as unstable", anyway);
        }
        failure
    }

    /// A prompt that varies is drift in each replay from now on, and keeps a recording from being resumed.
    fn note_drift(&self, replayed: &Replayed, rules: &Rules) {
        let name = &self.scenario.name;
        let mut noted: Vec<(Check, &str)> = Vec::new();
        for (turn, drift) in &replayed.played.drift {
            if noted.contains(&(drift.check, &drift.recorded)) {
                continue;
            }
            noted.push((drift.check, &drift.recorded));
            let found = compare(&drift.recorded, &drift.called, true, &|_| true);
            let causes: Vec<&str> = found.iter().map(|variation| variation.cause.as_str()).collect();
            terminal::note(format!(
                "{name}: warning: the {} of turns[{turn}] varies from run to run: {}",
                drift.check,
                causes.join(", ")
            ));
            let mends: Vec<&Rule> =
                found.iter().filter_map(|v| if let Mend::Rule(rule) = &v.mend { Some(rule) } else { None }).collect();
            let apply = |text: &str| mends.iter().fold(text.to_owned(), |text, rule| rule.apply(&text));
            let fixture = self.fixture.map(AsRef::as_ref);
            let tried = Tried::new(fixture, rules);
            if apply(&drift.recorded) == apply(&drift.called) && tried.keep_calls_apart(&mends) {
                for rule in mends {
                    terminal::note(format!("\n{}\n", rule.toml()));
                }
            }
        }
    }

    fn note_what_is_untested(&self) {
        let (Some(fixture), true) = (self.fixture, self.of_recording) else { return };
        for tool in tools_with_today(fixture, &self.project.rules) {
            terminal::note(format!(
                "{}: untested: a result of the tool `{tool}` holds today's date, and the system does not honour {DATE_VARIABLE}, \
                 so no other day was tried",
                self.scenario.name
            ));
        }
    }
}

/// What was found in all rounds.
#[derive(Default)]
struct Found {
    findings: Vec<Finding>,
    rules: Vec<Rule>,
    /// Two replays with the rules agree.
    agrees: bool,
    /// Something varies that no rule was found for.
    left: bool,
}

/// Waits until clocks that tell seconds go on: neither replay takes place in the recording's second, nor in the other's.
fn await_next_second() {
    let into = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.subsec_millis());
    std::thread::sleep(Duration::from_millis(u64::from(1005 - into)));
}

fn failed(failure: Failure) -> Unproven {
    Unproven { failure, why: Vec::new(), golden: None }
}

/// The failure of calls that vary: each with its place and both values.
fn shown(name: &str, found: &Found, missed: Failure) -> Failure {
    let headline =
        format!("unstable: what scenario `{name}` asks the model varies from run to run, so nothing was written");
    let mut failure = Failure::new(headline);
    for finding in found.findings.iter().take(SHOWN) {
        let Finding { place, lines: (recorded, replayed), causes, .. } = finding;
        let mut lines: Vec<String> = place.iter().map(|line| format!("  {line}")).collect();
        lines.push(format!("  recorded  {recorded}"));
        lines.push(format!("  replayed  {replayed}"));
        lines.push(format!("  it is     {}", causes.join(", ")));
        failure = failure.evidence(lines.join("\n"));
    }
    if found.findings.len() > SHOWN {
        failure = failure.evidence(format!("… and {} more places", found.findings.len() - SHOWN));
    }
    Failure { resolve: missed.resolve, ..failure }
}
