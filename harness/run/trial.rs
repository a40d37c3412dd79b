//! Playing one run of a scenario: on a stage of its own, from its first step until it has settled, and lingered.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::cause::CauseKind;
use crate::drive::{Driven, Driver, LiveTurns, SoFar, StepTaken, Underway};
use crate::error::{Error, Result};
use crate::fixture::{Fixture, ToolExchanges};
use crate::key::Rules;
use crate::model::{
    CallFlaw, CallSeen, DriftOf, GoingOn, HeardCall, Miss, MissedCall, Mode, Pacing, Replay, Scope, ServerOptions,
};
use crate::run::declared_secrets;
use crate::run::project::Project;
use crate::scenario::{Delays, Panics, Scenario, ToolsFrom};
use crate::secrets::Scrub;
use crate::system::{Ended, LogOf, Running, StageTools};
use crate::text::counted;
use crate::tools::{Asked, Doubles, Given, ToolsMode};

/// What came of playing a scenario on a stage.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) driven: Driven,
    /// When it began, and the steps that were begun.
    pub(crate) began: Instant,
    pub(crate) steps: Vec<StepTaken>,
    /// What differs between the calls and the recorded ones beside their keys, with the turn.
    pub(crate) drift: Vec<(usize, DriftOf)>,
    /// What was wrong with the calls by themselves.
    pub(crate) flaws: Vec<CallFlaw>,
    /// By what the system itself went wrong: it crashed, or panicked.
    pub(crate) fault: Option<(CauseKind, Error)>,
    /// What systems printed.
    pub(crate) systems: Vec<LogOf>,
    /// What came of the doubles of its tool servers.
    pub(crate) tools: Asked,
}

/// What a replay showed.
#[derive(Debug)]
pub(crate) struct Replayed {
    pub(super) played: Played,
    pub(super) misses: Vec<Arc<Miss>>,
    /// The calls that missed, as far as they were read.
    pub(super) missed_calls: Vec<MissedCall>,
    /// Whether one of them had no answer, so that what comes after it may follow from that.
    pub(super) unanswered: bool,
    pub(super) unused: Vec<usize>,
    /// The turn that was served last, and the number of the call that had it.
    pub(super) left_after: Option<(usize, usize)>,
    /// What the calls said, where the project wants to know.
    pub(super) heard: Vec<HeardCall>,
    /// The calls as they came.
    pub(super) calls: Vec<CallSeen>,
    pub(super) fixture: Option<Arc<Fixture>>,
    /// The key rules by which it was replayed.
    pub(super) rules: Arc<Rules>,
    /// What its golden loses.
    pub(super) secrets: Scrub,
    /// The text for its golden, once it was asked for.
    pub(super) own_golden: OnceLock<Option<String>>,
}

/// How a replay is played.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct How {
    /// How its answers are held back.
    pub(crate) pacing: Pacing,
    /// What calls that miss get.
    pub(crate) going_on: GoingOn,
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
    How { pacing, going_on }: How,
) -> Result<Replayed> {
    let scope = Scope::new(&scenario.name);
    let replay = match &fixture {
        Some(fixture) => Replay::new(fixture.clone(), rules.clone(), scope.clone())
            .with_delays(scenario.delays == Delays::Recorded)
            .hearing(project.hears_calls),
        None => Replay::none(rules.clone(), scope.clone()),
    };
    let replay = replay.remembering_calls();
    let replay = Arc::new(replay.going_on(going_on));
    let options = ServerOptions { callers: project.callers.clone(), pacing, ..ServerOptions::default() };
    let mode = Mode::Replay(replay.clone());
    let all_served = || replay.all_served();
    let played = play(project, scenario, fixture.as_deref(), mode, options, all_served, None)?;
    // The system is gone by now, and its last calls are answered. Should a part of it live on and call again, the end of
    // the run will tell.
    Ok(Replayed {
        played,
        misses: scope.judge(),
        missed_calls: replay.missed_calls(),
        unanswered: replay.left_unanswered(),
        left_after: replay.last_served(),
        unused: replay.unused(),
        heard: replay.heard(),
        calls: replay.calls_seen(),
        fixture,
        rules: rules.clone(),
        secrets: declared_secrets::of_goldens(&project.open),
        own_golden: OnceLock::new(),
    })
}

/// Sets up a stage, drives the scenario on it and takes the stage down again. Once its steps are done, it waits for the
/// calls that are still to come, unless `all_served` says that none are. While recording, `turns` gives those so far.
///
/// # Errors
/// As [`replay`].
pub(crate) fn play(
    project: &Project,
    scenario: &Scenario,
    fixture: Option<&Fixture>,
    mode: Mode,
    options: ServerOptions,
    all_served: impl Fn() -> bool,
    turns: Option<&LiveTurns<'_>>,
) -> Result<Played> {
    // The second run of a proof has a process of its own, where the first may share one.
    let fresh = matches!(options.pacing, Pacing::Shaken);
    project.slots.take(&scenario.name, project.systems.alone(scenario));
    let played = project.systems.play(scenario, fresh, |launch| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|e| Error::new(format!("failed to start a runtime: {e}")))?;
        let played = runtime.block_on(async {
            let limit = limit_of(scenario, &mode);
            let (began, underway) = (Instant::now(), Underway::default());
            let deadline = began + limit.0;
            let doubles = doubles(project, scenario, fixture, &mode, options.pacing).await?;
            let given =
                doubles.as_ref().map(|doubles| StageTools { context: doubles.context(), names: doubles.names() });
            let starting = Running::start(deadline, launch, mode, options, given.unwrap_or_default()).await;
            let running = starting.map_err(|error| error.in_file(&scenario.file))?;
            let stay =
                Stay { project, scenario, on_commands: launch.on_commands(), deadline, limit, underway: &underway };
            let driven = stay.drive(fixture, &running, all_served, turns).await;
            let failed = driven.as_ref().map_or(true, |driven| driven.failure.is_some());
            let ended = running.end(failed).await;
            let tools = match doubles {
                Some(doubles) => doubles.end().await,
                None => Asked::default(),
            };
            Ok(Played::of(driven?, ended, tools, scenario, (began, underway.steps())))
        });
        runtime.shutdown_background();
        played
    });
    project.slots.leave(&scenario.name);
    played
}

impl Played {
    /// What a driven scenario showed, with what is known of its stage when it had ended.
    fn of(
        driven: Driven,
        ended: Ended,
        tools: Asked,
        scenario: &Scenario,
        (began, steps): (Instant, Vec<StepTaken>),
    ) -> Played {
        let Ended { logs, crash, panics, drift, flaws } = ended;
        let panics = panics.into_iter().filter(|_| scenario.panics == Panics::Fail);
        let system = scenario.system.as_deref().unwrap_or_default();
        let panicked = panics.reduce(|all, panic| format!("{all}\n{panic}")).map(|panics| {
            let (first, rest) = panics.split_once('\n').unwrap_or((&panics, ""));
            let failure = Error::new(format!("panic: system `{system}` panicked at {first}"));
            let failure = if rest.is_empty() { failure } else { failure.help(rest) };
            failure.help("if it catches them, and that is the point: panics = \"allow\"")
        });
        let fault = crash.map(|crash| (CauseKind::Crash, crash));
        let fault = fault.or_else(|| panicked.map(|panicked| (CauseKind::Panic, panicked)));
        Played { driven, began, steps, drift, flaws, fault, systems: logs, tools }
    }

    /// Why it did not go well, beside its model calls: what the system went wrong by, then the step that failed.
    pub(crate) fn error(&self) -> Option<&Error> {
        self.fault.as_ref().or(self.driven.failure.as_ref()).map(|(_, error)| error)
    }
}

/// Starts the doubles of the tool servers that the scenario uses, where it uses any.
async fn doubles(
    project: &Project,
    scenario: &Scenario,
    fixture: Option<&Fixture>,
    mode: &Mode,
    pacing: Pacing,
) -> Result<Option<Doubles>> {
    let none = ToolExchanges::new();
    let suite = &project.discovered.suite;
    let used = suite.tools_of(scenario);
    Doubles::start(Given {
        suite,
        used: &used,
        pacing,
        root: &project.root,
        fixture: fixture.map_or(Path::new("none"), |fixture| &fixture.path),
        recorded: fixture.map_or(&none, |fixture| &fixture.tools),
        mode: match (mode, scenario.tools_from) {
            (Mode::Replay(replay), ToolsFrom::Recorded) => ToolsMode::Replay(replay.scope().clone()),
            (Mode::Replay(_), ToolsFrom::Live) => ToolsMode::Live,
            #[cfg(feature = "record")]
            (Mode::Record(_), _) => ToolsMode::Record,
        },
        secrets: &declared_secrets::real_values(&project.open),
        normalizer: &project.rules.normalizer,
        scrub: project.open.secrets()?.scrub().clone(),
    })
    .await
}

/// How long a scenario may stay on its stage.
struct Stay<'a> {
    project: &'a Project,
    scenario: &'a Scenario,
    on_commands: bool,
    /// Until when its steps have to be done; lingering does not count.
    deadline: Instant,
    /// How long that was from the start, and the field that says so.
    limit: (Duration, &'static str),
    underway: &'a Underway,
}

impl Stay<'_> {
    /// Takes the steps, settles, lingers and closes the captures.
    async fn drive(
        &self,
        fixture: Option<&Fixture>,
        running: &Running,
        all_served: impl Fn() -> bool,
        turns: Option<&LiveTurns<'_>>,
    ) -> Result<Driven> {
        let Stay { project, scenario, deadline, underway, .. } = *self;
        let activity = running.model.activity();
        let driving = async {
            let mut given = running.stage.context(fixture);
            if let Some(turns) = turns {
                given.insert("turn", turns());
            }
            let context = scenario.resolve_vars(&given)?;
            let calls = activity.clone();
            let mut driver =
                Driver::new(scenario, &running.stage, &project.root, context, underway.clone(), calls, turns);
            let went_well = driver.drive().await;
            if went_well {
                activity.settled(scenario.settle, &all_served).await;
                if driver.hear().await {
                    activity.settled(scenario.settle, &all_served).await;
                }
            }
            Ok::<_, Error>((driver, went_well))
        };
        let Ok(outcome) = timeout_at(deadline, driving).await else { return Ok(self.late(running)) };
        let (driver, went_well) = outcome?;
        let settled = Instant::now();
        let _place = if went_well { self.linger().await } else { None };
        let finishing = async {
            activity.settled(Duration::ZERO, || true).await;
            driver.finish(scenario.settle).await
        };
        let finished = timeout_at(deadline + settled.elapsed(), finishing).await;
        Ok(finished.unwrap_or_else(|_| self.late(running)))
    }

    /// Stays for calls that the system makes as its last event goes out, or after that, while others play.
    async fn linger(&self) -> Option<impl Drop> {
        if self.scenario.linger.is_zero() {
            return None;
        }
        let place = self.project.slots.linger(&self.scenario.name, self.on_commands).await;
        tokio::time::sleep(self.scenario.linger).await;
        place
    }

    fn late(&self, running: &Running) -> Driven {
        let SoFar { step, awaited, events, last, note } = self.underway.so_far();
        let calls = running.model.activity().in_flight();
        let awaited = awaited.map(|awaited| format!(" and waited for {awaited}")).unwrap_or_default();
        let last = last.map(|last| format!(" (the last was `{last}`)")).unwrap_or_default();
        let note = note.map(|note| format!(", {note}")).unwrap_or_default();
        let (events, calls) = (counted(events, "event"), counted(calls, "model call"));
        let what = format!("{step} was under way{awaited}: {events} had come{last}, {calls} in flight{note}");
        let mut failure = out_of_time(self.limit, &what).in_file(&self.scenario.file);
        let held = running.model.activity().held();
        if held > 0 {
            let answers = if held == 1 { "a model answer is" } else { "model answers are" };
            failure = failure
                .help(format!("{answers} held open: the system left there when it was recorded, and has not left now"));
        }
        Driven { failure: Some((CauseKind::TimeUp, failure)), ..Driven::default() }
    }
}

/// How long a run may take, and the field of `scenario.toml` that says so: recording can have a limit of its own, since
/// providers take their time.
fn limit_of(scenario: &Scenario, mode: &Mode) -> (Duration, &'static str) {
    match (mode, scenario.record_timeout) {
        #[cfg(feature = "record")]
        (Mode::Record(_), Some(limit)) => (limit, "record.timeout"),
        _ => (scenario.timeout, "timeout"),
    }
}

fn out_of_time((limit, field): (Duration, &str), what: &str) -> Error {
    Error::new(format!("the scenario's time is up after {limit:?}: {what}"))
        .help(format!("raise `{field}` in scenario.toml if the system is slow and right"))
}
