//! Runs a scenario once, on a stage of its own: from its first step until it has settled and lingered.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::time::Instant;

use crate::run::declared_secrets;
use crate::run::golden::Committed;
#[cfg(feature = "browser")]
use crate::run::policy::Policy;
use crate::run::project::Project;
use crate::run::slots::Claim;
use crate::run::stay::Stay;
use retake_base::cause::CauseKind;
use retake_base::error::{Error, Result};
use retake_core::cost::CallerCost;
use retake_core::events::{Golden, IdPlaces, Passed, Passing, Recorded};
use retake_core::key::Rules;
use retake_core::secrets::Scrub;
use retake_engine::drive::{Driven, LiveTurns, StepData, Underway};
use retake_engine::system::{Egress, EgressData, Ended, Launch, LogOf, Running};
use retake_engine::tools::{Asked, Doubles, Given, ToolsMode};
use retake_model::{
    Branch, CallFlaw, Clock, DriftOf, GoingOn, Hold, Keeps, Miss, Mode, Pacing, Replay, RunLog, Scope, ServerOptions,
};
use retake_scenario::{Delays, ForkTools, Panics, Scenario, ToolsFrom};
use retake_wire::fixture::Fixture;

/// The result of running a scenario on a stage.
#[derive(Debug)]
pub(super) struct Played {
    pub driven: Driven,
    pub began: Instant,
    pub steps: Vec<StepData>,
    /// The checks that differ between a call and its recorded turn, with the index of the turn.
    pub drift: Vec<(usize, DriftOf)>,
    pub flaws: Vec<CallFlaw>,
    /// The crash or panic of the system, if any.
    pub fault: Option<(CauseKind, Error)>,
    pub systems: Vec<LogOf>,
    /// The requests to the doubles of tool servers.
    pub tools: Asked,
    /// What its programs tried to reach besides the stage's servers.
    pub egress: Option<EgressData>,
    /// Whether its router asked for the day, and was told another one.
    pub other_day: bool,
}

/// The result of a replay.
#[derive(Debug)]
pub(crate) struct Replayed {
    pub(super) played: Played,
    pub(super) misses: Vec<Arc<Miss>>,
    /// What happened to the calls.
    pub(super) log: RunLog,
    pub(super) fixture: Option<Arc<Fixture>>,
    /// The key rules of the replay.
    pub(super) rules: Arc<Rules>,
    /// What is removed from its golden.
    pub(super) secrets: Arc<Scrub>,
    /// The committed golden, which names the places that are pinned; `None` if they are found out anew, because the golden is
    /// to be written.
    pub(super) committed: Option<Arc<Committed>>,
    /// Misses of calls that belong to this scenario or to others that used the same system meanwhile.
    pub(super) suspected: Vec<Scope>,
    /// The clock by which its system tells the day.
    pub(super) clock: Clock,
    /// Whether the service says the user's name, as a replay with another one has shown.
    pub(super) user_varies: bool,
    /// Which words of the model it passes on, as a replay with a mark in them has shown.
    pub(super) passed: Option<Passed>,
    /// Whether other replays show which numbers and texts vary, so that its golden holds the others.
    pub(super) has_others: bool,
    /// Where texts are ids, or are none, in spite of their form, as other replays have shown.
    pub(super) id_places: Option<Arc<IdPlaces>>,
    /// For each response, the turns of which a part came before they ended; `None` if that was not asked.
    pub(super) early: Option<Vec<Vec<usize>>>,
    /// The same if the run broke off because an answer was held back.
    pub(super) early_if_broken: Option<Vec<Vec<usize>>>,
    /// What its calls cost, where that was measured. Otherwise it is as it was.
    pub(super) cost: Option<Vec<CallerCost>>,
    /// Its golden, computed at its first use.
    pub(super) own_golden: OnceLock<Option<Golden>>,
}

/// How to replay a scenario.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct How<'a> {
    /// How to delay its answers.
    pub pacing: Pacing,
    /// How to answer calls that miss.
    pub going_on: GoingOn,
    /// Who else may use a system that scenarios share.
    pub used: Use,
    /// What is asked about how answers are passed on. Otherwise what the committed golden says has to come.
    pub asked: Option<&'a Passing>,
}

/// Runs a scenario against a fixture, on an async runtime of its own.
/// Fails if the stage cannot be set up: the system does not start, or a template cannot be rendered.
pub(super) fn replay(
    project: &Project,
    scenario: &Scenario,
    fixture: Option<Arc<Fixture>>,
    rules: &Arc<Rules>,
    How { pacing, going_on, used, asked }: How<'_>,
) -> Result<Replayed> {
    let (scope, clock) = (Scope::new(&scenario.name), project.systems.clock(scenario, pacing, fixture.as_deref()));
    let mut replay = match &fixture {
        Some(fixture) => Replay::new(fixture.clone(), rules.clone(), scope.clone()).by(clock.clone()),
        None => Replay::none(rules.clone(), scope.clone()),
    };
    replay.delays = scenario.options.delays == Delays::Recorded;
    replay.keeps = Keeps {
        calls: true,
        messages: project.hears_calls,
        bodies: project.keeps_calls || scenario.options.cost.is_some(),
    };
    let committed = project.goldens.compared(&scenario.golden_name);
    let hold = hold(project, scenario, committed.as_deref(), fixture.as_deref(), asked);
    // A client that gets a mark may get it in the piece that is waited for.
    let has_mark = fixture.as_ref().is_some_and(|fixture| fixture.mark.is_some());
    let hold = hold.filter(|_| going_on == GoingOn::Never && !has_mark);
    (replay.going_on, replay.hold) = (going_on, hold.clone());
    let replay = Arc::new(replay);
    let options = ServerOptions { callers: project.open.callers.clone(), pacing, ..ServerOptions::default() };
    let mode = Mode::Replay(replay.clone());
    let all_served = || replay.all_served();
    let used = if is_fresh(fixture.as_deref(), pacing) { Use::Fresh } else { used };
    project.slots.take(&scenario.name, claim(project, scenario, used));
    let mut played = play(project, scenario, fixture.as_deref(), mode, options, all_served, None)?;
    if let Some(fixture) = fixture.as_ref().filter(|_| !played.tools.ids.is_empty()) {
        played.note_other_ids(&fixture.tools, scenario, rules);
    }
    // The system has ended by now, and its last calls are answered. If a part of it lives on and calls again, the end of the
    // whole run reports that; and so it does if a run of this scenario alone does not show whose call missed.
    let suspected = replay.suspected();
    Ok(Replayed {
        misses: if suspected.is_empty() { scope.judge() } else { scope.misses() },
        log: replay.log(),
        rules: rules.clone(),
        committed,
        suspected,
        clock,
        early_if_broken: hold.as_ref().map(|hold| hold.early(true)),
        early: hold.map(|hold| hold.early(false)),
        ..Replayed::of(project, played, fixture.map(|_| replay.fixture().clone()))
    })
}

/// What holds the ends of answers back until clients have received a part of them; `None` if nothing does: nobody knows who calls a
/// system that is attached, and a page shows what it has when it likes to.
fn hold(
    project: &Project,
    scenario: &Scenario,
    committed: Option<&Committed>,
    fixture: Option<&Fixture>,
    asked: Option<&Passing>,
) -> Option<Hold> {
    if project.systems.is_attached(scenario) || scenario.needs_browser() {
        return None;
    }
    let said = || {
        let golden = &committed.filter(|of| of.golden.early().iter().any(|turns| !turns.is_empty()))?.golden;
        let turns = fixture?.table.turns().iter();
        Some(Passing::known(golden, &Recorded::of(turns.map(|turn| &turn.output)), &scenario.golden))
    };
    let passing = asked.cloned().or_else(said).filter(|passing| !passing.is_empty())?;
    // The rest of the time is for the rest of the run.
    Some(Hold::new(passing, scenario.options.timeout / 2, project.in_vain.clone()))
}

/// Replays a scenario while others may use the same system. If a call came that may belong to one of them, or the system crashed, it
/// is replayed again, alone on it, and responsible for all that happens. Returns the crash of the first run, too.
/// Fails like [`replay`].
pub(super) fn replay_in_company(
    project: &Project,
    scenario: &Scenario,
    fixture: Option<&Arc<Fixture>>,
    rules: &Arc<Rules>,
) -> Result<(Replayed, Option<String>)> {
    let replay = |used| replay(project, scenario, fixture.cloned(), rules, How { used, ..How::default() });
    let replayed = replay(Use::InCompany);
    let (suspected, fault) = match &replayed {
        Err(error) => (Vec::new(), Some(error)),
        Ok(replayed) => (replayed.suspected.clone(), replayed.played.fault.as_ref().map(|(_, fault)| fault)),
    };
    let crashed = fault.filter(|_| project.systems.shares(scenario));
    let crashed = crashed.map(|error| format!("{}, while others could use it too", error.what()));
    if suspected.is_empty() && crashed.is_none() {
        return replayed.map(|replayed| (replayed, None));
    }
    let alone = replay(Use::Alone)?;
    if !alone.misses.is_empty() {
        for scope in suspected {
            scope.judge();
        }
    }
    Ok((alone, crashed))
}

impl Replayed {
    /// A run, as if it had been a replay of this recording in which nothing was asked.
    pub(super) fn of(project: &Project, played: Played, fixture: Option<Arc<Fixture>>) -> Replayed {
        Replayed {
            played,
            misses: Vec::new(),
            log: RunLog::default(),
            fixture,
            rules: project.rules.clone(),
            secrets: project.golden_scrub.clone(),
            committed: None,
            suspected: Vec::new(),
            clock: Clock::default(),
            user_varies: false,
            passed: None,
            has_others: false,
            id_places: None,
            early: None,
            early_if_broken: None,
            cost: None,
            own_golden: OnceLock::new(),
        }
    }
}

/// How a run uses a system that scenarios share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Use {
    #[default]
    Alone,
    /// Others may use it while the scenario lingers.
    InCompany,
    /// It is started for this run.
    Fresh,
}

/// What a scenario needs for itself.
pub(super) fn claim(project: &Project, scenario: &Scenario, used: Use) -> Option<Claim> {
    let system = project.systems.alone(scenario, used == Use::Fresh)?.to_owned();
    Some(Claim { system, passes_on: used == Use::InCompany && project.systems.shares(scenario) })
}

/// Whether a run gets a process of its own, even if scenarios share their system's: the second replay of a proof, and one with marks.
fn is_fresh(fixture: Option<&Fixture>, pacing: Pacing) -> bool {
    matches!(pacing, Pacing::Shaken) || fixture.is_some_and(|fixture| fixture.mark.is_some())
}

/// Sets up a stage, drives the scenario on it, and takes the stage down again. After the last step it waits for further calls,
/// unless `all_served` returns true. While recording, `turns` returns the turns so far.
/// As [`replay`].
pub(super) fn play(
    project: &Project,
    scenario: &Scenario,
    fixture: Option<&Fixture>,
    mode: Mode,
    options: ServerOptions,
    all_served: impl Fn() -> bool,
    turns: Option<&LiveTurns<'_>>,
) -> Result<Played> {
    let fresh = is_fresh(fixture, options.pacing);
    project.slots.take(&scenario.name, claim(project, scenario, if fresh { Use::Fresh } else { Use::Alone }));
    let played = project.systems.play(scenario, fresh, |launch| {
        let model = mode.clone();
        let playing = async {
            let limit = limit_of(scenario, &mode);
            let replay = if let Mode::Replay(replay) = &mode { Some(replay.clone()) } else { None };
            let began = Instant::now();
            let underway = Underway::since(began);
            let underway = if let Some(replay) = &replay { underway.telling(replay) } else { underway };
            let deadline = began + limit.0;
            #[cfg(feature = "browser")]
            let baselines = baselines(project, &mode, options.pacing, fixture.is_some_and(|of| of.mark.is_some()));
            let starting = started(project, scenario, fixture, launch, deadline, mode, options);
            let (running, doubles) = starting.await?;
            let stay = Stay {
                project,
                scenario,
                on_commands: launch.on_commands(),
                deadline,
                limit,
                underway: &underway,
                replay,
                #[cfg(feature = "browser")]
                baselines,
            };
            let driven = stay.drive(fixture, &running, all_served, turns).await;
            let failed = driven.as_ref().map_or(true, |driven| driven.failure.is_some());
            model.ends();
            let ended = running.end(failed).await;
            let tools = if let Some(doubles) = doubles { doubles.end().await } else { Asked::default() };
            let mut driven = driven?;
            if let Some((CauseKind::TimeUp, late)) = &mut driven.failure {
                let why = "which did not answer: agents have to answer or decline such requests";
                let waits = |line: &String| format!("{line}, {why}");
                *late = tools.unanswered.iter().map(waits).fold(late.clone(), Error::help);
            }
            Ok(Played::of(driven, ended, tools, scenario, (began, underway.steps())))
        };
        until_interrupted(project, playing, || model.ends())
    });
    project.slots.leave(&scenario.name);
    played
}

/// Runs something on a runtime of its own. What is interrupted is dropped: the guardians end its systems.
pub(super) fn until_interrupted<T>(
    project: &Project,
    running: impl Future<Output = Result<T>>,
    interrupted: impl FnOnce(),
) -> Result<T> {
    let runtime = retake_model::threads::runtime()?;
    let done = runtime.block_on(async {
        tokio::select! {
            biased;
            () = project.interrupt.came() => {
                interrupted();
                Err(Error::new("interrupted"))
            }
            done = running => done,
        }
    });
    runtime.shutdown_background();
    done
}

impl Played {
    /// Combines the driver's result with what the stage knows at its end.
    fn of(
        driven: Driven,
        ended: Ended,
        tools: Asked,
        scenario: &Scenario,
        (began, steps): (Instant, Vec<StepData>),
    ) -> Played {
        let Ended { logs, crash, panics, other_day, drift, flaws, egress } = ended;
        let panics = panics.into_iter().filter(|_| scenario.options.panics == Panics::Fail);
        let system = scenario.system.as_deref().unwrap_or_default();
        let panicked = panics.reduce(|all, panic| format!("{all}\n{panic}")).map(|panics| {
            let (first, rest) = panics.split_once('\n').unwrap_or((&panics, ""));
            let failure = Error::new(format!("panic: system `{system}` panicked at {first}"));
            let failure = if rest.is_empty() { failure } else { failure.help(rest) };
            failure.help("if the system is meant to catch panics: panics = \"allow\"")
        });
        let fault = crash.map(|crash| (CauseKind::Crash, crash));
        let fault = fault.or_else(|| panicked.map(|panicked| (CauseKind::Panic, panicked)));
        Played { driven, began, steps, drift, flaws, fault, systems: logs, tools, egress, other_day }
    }

    /// Why the run failed apart from its model calls: a crash or panic of the system, otherwise the step that failed.
    pub(super) fn error(&self) -> Option<&Error> {
        self.fault.as_ref().or(self.driven.failure.as_ref()).map(|(_, error)| error)
    }
}

/// Starts a stage: the doubles of the tool servers that the scenario uses, if it uses any, and what it is played on.
/// As [`replay`].
pub(super) async fn started(
    project: &Project,
    scenario: &Scenario,
    fixture: Option<&Fixture>,
    launch: &Launch<'_>,
    deadline: Instant,
    mode: Mode,
    options: ServerOptions,
) -> Result<(Running, Option<Doubles>)> {
    let egress = Egress::new(scenario, matches!(mode, Mode::Replay(_)));
    let recorded = match &mode {
        Mode::Replay(replay) => Some(replay.clone()),
        Mode::Record(paid) => paid.branch.as_ref().map(|branch| branch.prefix.clone()),
    };
    let suite = &project.discovered.suite;
    let (used, secrets) = (suite.tools_of(scenario), declared_secrets::real_values(&project.open));
    let doubles = Doubles::start(Given {
        suite,
        used: &used,
        pacing: options.pacing,
        root: &project.root,
        fixture: fixture.map_or(Path::new("none"), |fixture| &fixture.path),
        recorded,
        mode: match (&mode, scenario.tools_from) {
            (Mode::Replay(replay), ToolsFrom::Recorded) => ToolsMode::Replay(replay.scope().clone()),
            (Mode::Replay(_), ToolsFrom::Live) => ToolsMode::Live,
            (Mode::Record(by), _) => {
                let of = |branch: &Branch| if branch.only_tools { ForkTools::Recorded } else { suite.fork_tools };
                by.branch.as_ref().map_or(ToolsMode::Record, |branch| ToolsMode::Fork(branch.clone(), of(branch)))
            }
        },
        secrets: &secrets,
        normalizer: &project.rules.normalizer,
        scrub: project.scrub.as_ref().map_err(Clone::clone)?,
        egress: &egress,
    });
    let doubles = doubles.await?;
    let tools = doubles.as_ref().map(Doubles::on_stage).unwrap_or_default();
    let running = Running::start(deadline, launch, mode, options, tools, egress).await;
    Ok((running.map_err(|error| error.in_file(&scenario.file))?, doubles))
}

/// What becomes of the screenshots of a run. If goldens are written, the first replay of the proof proposes them, and the second one
/// has to show the same.
#[cfg(feature = "browser")]
fn baselines(project: &Project, mode: &Mode, pacing: Pacing, is_marked: bool) -> retake_engine::browser::Baselines {
    use retake_engine::browser::Baselines;
    match (mode, project.goldens.policy, pacing) {
        (Mode::Record(_), ..) => Baselines::Ignore,
        _ if is_marked => Baselines::Ignore,
        (_, Policy::Overwrite, Pacing::Shaken) => Baselines::CompareRenewed,
        (_, Policy::Overwrite, _) => Baselines::Renew,
        _ => Baselines::Compare,
    }
}

/// The timeout of a run, and the field of `scenario.toml` that sets it. Recording can have a timeout of its own, since providers
/// are slow.
fn limit_of(scenario: &Scenario, mode: &Mode) -> (Duration, &'static str) {
    match (mode, scenario.record_timeout) {
        (Mode::Record(_), Some(limit)) => (limit, "record.timeout"),
        _ => (scenario.options.timeout, "timeout"),
    }
}
