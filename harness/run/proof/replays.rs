//! Two replays that must agree.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::diagnosis;
use super::tried::{Tried, checked};
use crate::fixture::Fixture;
use crate::key::{Check, Rules};
use crate::model::Pacing;
use crate::report::{Failure, terminal};
use crate::run::project::Project;
use crate::run::second_look;
use crate::run::trial::{self, How, Replayed};
use crate::scenario::Scenario;

/// A scenario that is to be proven.
pub(crate) struct Proof<'a> {
    pub(crate) project: &'a Project,
    pub(crate) scenario: &'a Scenario,
    pub(crate) fixture: Option<&'a Arc<Fixture>>,
    /// Whether the fixture was recorded just now: then whatever differs varies from run to run.
    pub(crate) of_recording: bool,
}

/// Why a pair of replays is not proof.
pub(super) enum Disagreement {
    /// A replay failed.
    Failed { replayed: Box<Replayed>, failure: Failure, first: bool },
    /// Both passed, with other texts for the golden.
    Differ { first: Box<Replayed>, second: Box<Replayed>, texts: [String; 2] },
    /// A replay could not take place.
    NoStage(Failure),
}

impl Proof<'_> {
    /// Replays a fixture twice by these rules, the second time on another stage and with its answers shaken in time. Gives
    /// the text for the golden, where the scenario has one.
    pub(super) fn replays(
        &self,
        fixture: Option<&Arc<Fixture>>,
        rules: &Arc<Rules>,
    ) -> Result<Option<String>, Disagreement> {
        let Proof { project, scenario, .. } = *self;
        let replay = |pacing| {
            let first = matches!(pacing, Pacing::None);
            let replayed = trial::replay(project, scenario, fixture.cloned(), rules, How { pacing, ..How::default() });
            let replayed = replayed.map_err(|error| Disagreement::NoStage(error.into()))?;
            project.note_replay(scenario, &replayed);
            if self.of_recording && first && Arc::ptr_eq(rules, &project.rules) {
                self.note_drift(&replayed, rules);
            }
            if Arc::ptr_eq(rules, &project.rules) {
                project.note(&scenario.name, replayed.notes(scenario));
            }
            match replayed.verdict(scenario) {
                Ok(golden) => Ok((replayed, golden)),
                Err(failure) => {
                    // The system differs from the one that was recorded: the failure says so, and what to do.
                    let failure = if first && !self.of_recording {
                        second_look::failure(project, scenario, &replayed, failure)
                    } else {
                        failure
                    };
                    Err(Disagreement::Failed { replayed: Box::new(replayed), failure, first })
                }
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
        Err(Disagreement::Differ { first: Box::new(first), second: Box::new(second), texts })
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
            let found = diagnosis::of_check(drift.check, &drift.recorded, &drift.called);
            let causes: Vec<&str> = found.iter().map(|variation| variation.cause.as_str()).collect();
            terminal::note(format!(
                "{name}: warning: the {} of turns[{turn}] varies from run to run: {}",
                drift.check,
                causes.join(", ")
            ));
            let mends = diagnosis::rules_of(&found);
            let apply = |text: &str| checked(drift.check, text, &mends);
            let fixture = self.fixture.map(AsRef::as_ref);
            let tried = Tried::new(fixture, rules);
            if apply(&drift.recorded) == apply(&drift.called) && tried.keep_calls_apart(&mends) {
                for rule in mends {
                    terminal::note(format!("\n{}\n", rule.toml()));
                }
            }
        }
    }
}

/// Waits until clocks that tell seconds go on: neither replay takes place in the recording's second, nor in the other's.
fn await_next_second() {
    let into = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.subsec_millis());
    std::thread::sleep(Duration::from_millis(u64::from(1005 - into)));
}
