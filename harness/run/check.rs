//! Checking: replays scenarios, asks the provider each of their calls as well, and compares its answers with the recording. The
//! services get the recorded answers, so that all later calls stay on the recorded path. Nothing is written but reports.

use std::collections::BTreeMap;
use std::process::ExitCode;

use super::action::CheckOptions;
use super::commands::record_command;
use super::project::Project;
use super::record::{relay, wanted};
use super::trial::{self, How};
use crate::report::{CheckData, CheckResult, Failure, RunAction, check_json, check_text, terminal};
use retake_base::error::{Error, Result};
use retake_core::secrets::{Secrets, shown};
use retake_model::{Asker, Comparison, Cost, KeptCall, Limits, Relay};
use retake_scenario::Scenario;
use retake_wire::fixture::call_log::CallLog;

/// Checks the scenarios with these names or parts of names, or all. The exit code is 1 if the provider no longer answers as
/// recorded, otherwise 2 if something could not be checked, otherwise 0.
/// Fails if a name matches no scenario, or no provider is configured.
pub(super) fn run(project: &Project, names: &[String], options: CheckOptions) -> Result<ExitCode> {
    let mut scenarios = wanted(project, names, options.all, "checking")?;
    if let Some(most) = options.sample {
        scenarios = sample(project, &scenarios, most);
    }
    let relay = relay()?;
    let mut cost = Cost::default();
    for scenario in &scenarios {
        let Some(fixture) = project.fixtures.of(scenario).ok().flatten() else { continue };
        let Cost { calls, tokens } = Cost::of_fixture(&fixture, &project.rules);
        cost = Cost { calls: cost.calls + calls, tokens: cost.tokens + tokens };
    }
    terminal::note(format!("expect at most {cost}, as recorded"));
    let asking = Asking::begin(relay, project.open.secrets()?, options.limits)?;
    let (mut checks, mut worst) = (Vec::new(), CheckResult::Same);
    for scenario in scenarios {
        let mut check = CheckData::default();
        // What it found is in the text below.
        let _ = project.logged(scenario, RunAction::Check, || {
            check = checked(project, scenario, &asking).unwrap_or_else(|failure| {
                let why = failure.headline();
                CheckData::impossible(format!("the recording does not replay, so nothing was asked: {why}"))
            });
            project.note(&scenario.name, check.lines(false));
            project.runs.with(&scenario.name, |data| data.check = Some(check.clone()));
            check.failure(&record_command(&scenario.name)).map_or(Ok(()), Err)
        });
        worst = worst.max(check.result());
        checks.push((scenario.name.clone(), check));
    }
    project.end();
    project.summarize(|name| checks.iter().any(|(checked, _)| checked == name));
    let text = shown(&check_text(&checks, record_command));
    if options.json {
        terminal::note(text);
        terminal::out(check_json(&checks));
    } else {
        terminal::out(text);
    }
    Ok(ExitCode::from(worst.code()))
}

/// The scenarios that have a model of an API that fewer than `most` earlier ones have.
fn sample<'a>(project: &Project, scenarios: &[&'a Scenario], most: usize) -> Vec<&'a Scenario> {
    let mut seen: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let chosen = scenarios.iter().copied().filter(|scenario| {
        let Some(fixture) = project.fixtures.of(scenario).ok().flatten() else { return true };
        let of_turn = |turn: &retake_wire::fixture::Turn| {
            let api = turn.wire.as_ref().map_or("", |wire| wire.api.name());
            let model = turn.checks.and_then(|checks| fixture.texts.get(&checks.model)).map(ToString::to_string);
            (api, model.or_else(|| turn.output.model.clone()).unwrap_or_default())
        };
        let all: std::collections::BTreeSet<_> = fixture.table.turns().iter().map(of_turn).collect();
        let is_needed = all.iter().any(|pair| seen.get(pair).copied().unwrap_or_default() < most);
        if is_needed {
            for pair in all {
                *seen.entry(pair).or_default() += 1;
            }
        }
        is_needed
    });
    chosen.collect()
}

/// Replays a scenario, and asks the provider its calls.
fn checked(project: &Project, scenario: &Scenario, asking: &Asking) -> Result<CheckData, Failure> {
    let fixture = project.fixtures.of(scenario)?;
    let replayed = trial::replay(project, scenario, fixture, &project.rules, How::default())?;
    project.note_replay(scenario, &replayed);
    replayed.verdict(scenario)?;
    if replayed.log.kept.is_empty() {
        return Ok(CheckData::impossible("the scenario calls no model".to_owned()));
    }
    Ok(asking.ask(&replayed.log.kept)?)
}

/// What it takes to ask the provider.
#[derive(Debug)]
pub struct Asking {
    asker: Asker,
    /// Holds the recorder's journal, which nobody reads.
    _folder: tempfile::TempDir,
}

impl Asking {
    /// Prepares to ask these providers, within the limits.
    ///
    /// # Errors
    /// If no file can be written to the folder for temporary files.
    pub fn begin(relay: Relay, secrets: Secrets, limits: Limits) -> Result<Asking> {
        let failed = |e: std::io::Error| Error::new(format!("failed to create a temporary folder: {e}"));
        let folder = tempfile::tempdir().map_err(failed)?;
        let journal = CallLog::create(&folder.path().join("asked.jsonl"))?;
        Ok(Asking { asker: Asker::new(relay, journal, secrets, limits), _folder: folder })
    }

    /// Asks the provider these calls, one after another, and compares.
    ///
    /// # Errors
    /// If no async runtime can be started.
    pub fn ask(&self, calls: &[KeptCall]) -> Result<CheckData> {
        let runtime = retake_model::threads::runtime()?;
        let (mut comparison, before) = (Comparison::default(), self.asker.spent());
        for kept in calls {
            let today = runtime.block_on(self.asker.ask(kept));
            comparison.add(kept, today);
        }
        let (calls, tokens) = self.asker.spent();
        Ok(CheckData::of(&comparison, (calls - before.0, tokens - before.1)))
    }
}
