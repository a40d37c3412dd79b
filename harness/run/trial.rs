//! One run of a scenario and its verdict: misses, then unused turns, then the golden.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::drive::{Driven, Driver, Progress, SoFar};
use crate::error::{Error, Result};
use crate::events::golden;
use crate::fixture::Fixture;
use crate::json::{Json, Layout};
use crate::key::{Check, Rules};
use crate::model::{DriftOf, Miss, MissedCall, Mode, Pacing, ProtocolFlaw, Replay, Scope, ServerOptions};
use crate::report::{Failure, notes, unified};
use crate::run::commands::record_command;
use crate::run::declared_secrets;
use crate::run::project::Project;
use crate::scenario::{Level, Scenario, Step, Unused};
use crate::secrets::{Fired, Scrub};
use crate::system::Running;

/// How many misses a failure shows.
const SHOWN_MISSES: usize = 5;

/// What one run of a scenario showed.
#[derive(Debug)]
pub(crate) struct Played {
    driven: Driven,
    misses: Vec<Arc<Miss>>,
    unused: Vec<usize>,
    drift: Vec<(usize, DriftOf)>,
    flaws: Vec<ProtocolFlaw>,
    fixture: Option<Arc<Fixture>>,
    /// The key rules by which it was replayed.
    rules: Arc<Rules>,
    /// What its golden loses.
    secrets: Scrub,
    missed: Vec<MissedCall>,
    /// What a failure quotes of systems: the ends of their logs.
    systems: Vec<String>,
}

/// What came of driving a scenario on a stage.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) driven: Driven,
    pub(crate) drift: Vec<(usize, DriftOf)>,
    /// What was wrong with the calls by themselves.
    pub(crate) flaws: Vec<ProtocolFlaw>,
    /// What a failure quotes of systems.
    pub(crate) systems: Vec<String>,
}

/// Plays a scenario against a fixture on a runtime of its own.
///
/// # Errors
/// Where there is no stage to be had: the system does not start, a template cannot be rendered.
pub(crate) fn replay(
    project: &Project,
    scenario: &Scenario,
    fixture: Option<Arc<Fixture>>,
    rules: &Arc<Rules>,
    pacing: Pacing,
) -> Result<Played> {
    let scope = Scope::new(&scenario.name);
    let replay = Arc::new(match &fixture {
        Some(fixture) => Replay::new(fixture.clone(), rules.clone(), scope.clone()),
        None => Replay::none(rules.clone(), scope.clone()),
    });
    let options = ServerOptions { callers: project.callers.clone(), pacing, ..ServerOptions::default() };
    let mode = Mode::Replay(replay.clone());
    let all_served = || replay.all_served();
    let Run { driven, drift, flaws, systems } = play(project, scenario, fixture.as_deref(), mode, options, all_served)?;
    // The system is gone by now. Should a part of it live on and call again, the end of the run will tell.
    Ok(Played {
        driven,
        misses: scope.judge(),
        unused: replay.unused(),
        drift,
        flaws,
        fixture,
        rules: rules.clone(),
        secrets: declared_secrets::of_goldens(&project.discovered),
        missed: replay.missed_calls(),
        systems,
    })
}

/// Sets up a stage, drives the scenario on it and takes the stage down again.
pub(crate) fn play(
    project: &Project,
    scenario: &Scenario,
    fixture: Option<&Fixture>,
    mode: Mode,
    options: ServerOptions,
    all_served: impl Fn() -> bool,
) -> Result<Run> {
    // The second run of a proof has a process of its own, where the first may share one.
    let fresh = matches!(options.pacing, Pacing::Shaken);
    project.systems.play(scenario, fresh, |launch| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|e| Error::new(format!("failed to start a runtime: {e}")))?;
        let played = runtime.block_on(async {
            let deadline = Instant::now() + scenario.timeout;
            let starting = Running::start(deadline, launch, mode, options).await;
            let running = starting.map_err(|error| error.in_file(&scenario.file))?;
            let driven = drive(scenario, fixture, &running, &project.root, deadline, all_served).await;
            let (drift, flaws) = (running.model.drift(), running.model.flaws());
            let failed = driven.as_ref().map_or(true, |driven| driven.failure.is_some());
            let systems = running.end(failed).await;
            Ok(Run { driven: driven?, drift, flaws, systems })
        });
        runtime.shutdown_background();
        played
    })
}

async fn drive(
    scenario: &Scenario,
    fixture: Option<&Fixture>,
    running: &Running,
    root: &Path,
    deadline: Instant,
    all_served: impl Fn() -> bool,
) -> Result<Driven> {
    let progress = Progress::default();
    let driving = async {
        let context = scenario.resolve_vars(&running.stage.context(fixture))?;
        let mut driver = Driver::new(scenario, &running.stage, root, context, progress.clone());
        if driver.drive().await {
            running.model.activity().settled(scenario.settle, all_served).await;
        }
        Ok::<_, Error>(driver.finish(scenario.settle).await)
    };
    timeout_at(deadline, driving).await.unwrap_or_else(|_| {
        let SoFar { step, events, note } = progress.so_far();
        let calls = running.model.activity().in_flight();
        let note = note.map(|note| format!(", {note}")).unwrap_or_default();
        let what = format!("{step} was under way, {events} events had come, {calls} model calls were in flight{note}");
        let failure = out_of_time(scenario.timeout, &what).in_file(&scenario.file);
        Ok(Driven { failure: Some(failure), ..Driven::default() })
    })
}

fn out_of_time(limit: Duration, what: &str) -> Error {
    Error::new(format!("the scenario's time is up after {limit:?}: {what}"))
        .help("raise `timeout` in scenario.toml if the system is slow and right")
}

impl Played {
    /// The text for the golden (`None` where no step goes into it), or why the run failed before that mattered.
    pub(crate) fn verdict(&self, scenario: &Scenario) -> Result<Option<String>, Failure> {
        self.judge(scenario).map_err(|failure| self.quoting_systems(failure))
    }

    /// What a person should know of the run, red or green: a line each.
    pub(crate) fn notes(&self, scenario: &Scenario) -> Vec<String> {
        let noted = self.drift.iter().filter(|(_, drift)| level(scenario, drift) == Level::Note);
        notes(self.fixture.as_deref(), noted, &self.flaws)
    }

    /// A failure with the ends of the systems' logs behind its own evidence.
    pub(crate) fn quoting_systems(&self, failure: Failure) -> Failure {
        self.systems.iter().fold(failure, Failure::evidence)
    }

    /// The calls that missed, as far as they were read.
    pub(crate) fn missed_calls(&self) -> &[MissedCall] {
        &self.missed
    }

    /// What differs between the calls and the recorded ones beside their keys, with the turn.
    pub(crate) fn drift(&self) -> &[(usize, DriftOf)] {
        &self.drift
    }

    /// What this run calls a value of its own that is in a text at a place.
    pub(crate) fn name_of(&self, text: &str) -> Option<&str> {
        self.driven.names.name_of(text)
    }

    /// Why this run shows that the scenario is not the same twice: a line each, without values. Empty where it failed
    /// for another reason.
    pub(crate) fn instability(&self, scenario: &Scenario) -> Vec<String> {
        let mut why: Vec<String> = self.misses.iter().map(|miss| miss.headline()).collect();
        if why.is_empty() && self.driven.failure.is_none() {
            let caller = |index: &usize| {
                let turn = self.fixture.as_ref().and_then(|fixture| fixture.table.turns().get(*index));
                turn.and_then(|turn| turn.caller.clone()).unwrap_or_else(|| "unknown".to_owned())
            };
            let unused = self.unexpected_unused(&scenario.unused);
            why.extend(
                unused.iter().map(|index| format!("turns[{index}] of `{}` was not asked for again", caller(index))),
            );
        }
        why
    }

    fn judge(&self, scenario: &Scenario) -> Result<Option<String>, Failure> {
        if let Some(first) = self.misses.first() {
            return Err(self.missed(first, scenario));
        }
        if let Some(error) = &self.driven.failure {
            return Err(Failure::new(error.to_string()));
        }
        let unused = self.unexpected_unused(&scenario.unused);
        if !unused.is_empty() {
            return Err(self.unused(&unused, scenario));
        }
        if let Some(failure) = self.drifted(scenario) {
            return Err(failure);
        }
        Ok(self.golden_text(scenario, &self.rules))
    }

    fn missed(&self, first: &Miss, scenario: &Scenario) -> Failure {
        let mut failure = Failure::new(first.headline()).evidence(first.details());
        for miss in self.misses.iter().take(SHOWN_MISSES).skip(1) {
            failure = failure.evidence(miss.to_string());
        }
        if self.misses.len() > SHOWN_MISSES {
            failure = failure.evidence(format!("… and {} more misses", self.misses.len() - SHOWN_MISSES));
        }
        if let Some(error) = &self.driven.failure {
            failure = failure.evidence(format!("after that: {error}"));
        }
        failure.resolve("if the change is meant", record_command(&scenario.name))
    }

    fn unexpected_unused(&self, allowed: &Unused) -> Vec<usize> {
        let caller = |index: &usize| self.fixture.as_ref().and_then(|f| f.table.turns()[*index].caller.as_deref());
        let may_stay = |index: &usize| match allowed {
            Unused::Allow => true,
            Unused::Fail => false,
            Unused::Callers(callers) => caller(index).is_some_and(|caller| callers.iter().any(|c| c == caller)),
        };
        self.unused.iter().copied().filter(|index| !may_stay(index)).collect()
    }

    fn unused(&self, unused: &[usize], scenario: &Scenario) -> Failure {
        let Some(fixture) = &self.fixture else { return Failure::new("unused turns without a fixture") };
        let count = unused.len();
        let turns = if count == 1 { "turn was" } else { "turns were" };
        let mut failure =
            Failure::new(format!("unused: {count} recorded {turns} not asked for in scenario `{}`", scenario.name));
        let lines: Vec<String> = unused
            .iter()
            .take(SHOWN_MISSES)
            .map(|index| {
                let turn = &fixture.table.turns()[*index];
                let caller = turn.caller.as_deref().unwrap_or("(no caller)");
                format!("  {}, by `{caller}`: {}", fixture.place_of(*index), answer_in_short(turn))
            })
            .collect();
        failure = failure.evidence(lines.join("\n"));
        if count > SHOWN_MISSES {
            failure = failure.evidence(format!("… and {} more", count - SHOWN_MISSES));
        }
        failure.resolve("if the system is right not to ask", record_command(&scenario.name)).resolve(
            "if another scenario asks for them",
            format!("unused = [\"CALLER\"] in {}", scenario.file.display()),
        )
    }

    fn drifted(&self, scenario: &Scenario) -> Option<Failure> {
        let failing: Vec<_> = self.drift.iter().filter(|(_, drift)| level(scenario, drift) == Level::Fail).collect();
        let (turn, first) = failing.first()?;
        let fixture = self.fixture.as_ref()?;
        let headline = format!("drift: the {} of a model call is not the recorded one", first.check);
        let caller = fixture.table.turns()[*turn].caller.as_deref();
        let by = caller.map(|caller| format!(", by `{caller}`")).unwrap_or_default();
        let place = format!("  {}{by}, in scenario `{}`", fixture.place_of(*turn), scenario.name);
        // Tools and settings are one line of JSON each.
        let lines = |text: &str| match Json::parse(text.as_bytes()) {
            Ok(json) => json.print(Layout::Pretty),
            Err(_) => text.to_owned(),
        };
        let diff = unified(&lines(&first.recorded), &lines(&first.called));
        let failure = Failure::new(headline).evidence(format!("{place}\n{diff}"));
        Some(failure.resolve("if the change is meant", record_command(&scenario.name)))
    }

    /// What the golden of this run holds: the two parts for each capture, in step order.
    pub(crate) fn golden_text(&self, scenario: &Scenario, rules: &Rules) -> Option<String> {
        if !has_golden(scenario) {
            return None;
        }
        let normalize = |text: &str| self.driven.names.apply(text, &rules.normalizer);
        let text = golden(&self.driven.captured, &scenario.golden, &normalize);
        Some(self.secrets.text(&text, &mut Fired::new()).into_owned())
    }
}

/// What a scenario says to a check that differs.
fn level(scenario: &Scenario, drift: &DriftOf) -> Level {
    match drift.check {
        Check::Prompt => scenario.drift.prompt,
        Check::Tools => scenario.drift.tools,
        Check::Model => scenario.drift.model,
        Check::Settings => scenario.drift.settings,
    }
}

/// Whether any step of a scenario goes into its golden.
pub(crate) fn has_golden(scenario: &Scenario) -> bool {
    scenario.steps.iter().flat_map(Step::parts).any(|step| step.golden)
}

fn answer_in_short(turn: &crate::fixture::Turn) -> String {
    let calls: Vec<&str> = turn.output.tool_calls().iter().map(|call| call.name.as_str()).collect();
    let text = turn.output.text();
    let text: String = text.chars().take(60).collect();
    match (text.is_empty(), calls.is_empty()) {
        (_, true) => format!("answers {text:?}"),
        (true, false) => format!("calls {}", calls.join(", ")),
        (false, false) => format!("answers {text:?}, calls {}", calls.join(", ")),
    }
}
