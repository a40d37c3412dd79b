//! Runs a scenario once, on a stage of its own: from its first step until it has settled and lingered.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::run::commands::record_command;
use crate::run::declared_secrets;
use crate::run::golden::Committed;
#[cfg(feature = "browser")]
use crate::run::policy::Policy;
use crate::run::project::Project;
use crate::run::slots::Claim;
use retake_base::cause::CauseKind;
use retake_base::error::{Error, Result};
use retake_base::text::{counted, nth_turn};
use retake_core::cost::CallerCost;
use retake_core::events::{Golden, Passed, Passing, Recorded, ShortIds};
use retake_core::key::Rules;
use retake_core::secrets::Scrub;
use retake_engine::drive::{Driven, Driver, LiveTurns, SoFar, StepData, Underway};
use retake_engine::system::{Egress, EgressData, Ended, LogOf, Running, StageTools};
use retake_engine::tools::{Asked, Doubles, Exchanges, Given, ToolsMode};
use retake_model::{
    Branch, CallFlaw, Clock, DriftOf, GoingOn, Hold, Keeps, Miss, Mode, Pacing, Replay, RunLog, Scope, ServerOptions,
};
use retake_scenario::{Action, Defaults, Delays, ForkTools, Panics, Scenario, Step, ToolsFrom};
use retake_wire::fixture::{Fixture, Turn};

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
    /// Where ids stand that have no form, as other replays have shown.
    pub(super) short_ids: Option<Arc<ShortIds>>,
    /// For each response, the turns of which a part came before they ended; `None` if that was not asked.
    pub(super) early: Option<Vec<Vec<usize>>>,
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
    /// Whether other scenarios may use the same system while this one lingers, and the other way round.
    pub in_company: bool,
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
    How { pacing, going_on, in_company, asked }: How<'_>,
) -> Result<Replayed> {
    let (scope, clock) = (Scope::new(&scenario.name), project.systems.clock(scenario, pacing));
    let replay = match &fixture {
        Some(fixture) => {
            let replay = Replay::new(fixture.clone(), rules.clone(), scope.clone());
            replay.by(clock.clone()).with_delays(scenario.delays == Delays::Recorded)
        }
        None => Replay::none(rules.clone(), scope.clone()),
    };
    let keeps =
        Keeps { calls: true, messages: project.hears_calls, bodies: project.keeps_calls || scenario.cost.is_some() };
    let committed = project.goldens.compared(&scenario.golden_name);
    let hold = hold(project, scenario, committed.as_deref(), fixture.as_deref(), asked);
    // A client that gets a mark may get it in the piece that is waited for.
    let has_mark = fixture.as_ref().is_some_and(|fixture| fixture.mark.is_some());
    let hold = hold.filter(|_| going_on == GoingOn::Never && !has_mark);
    let replay = Arc::new(replay.keeping(keeps).going_on(going_on).with_hold(hold.clone()));
    let options = ServerOptions { callers: project.callers.clone(), pacing, ..ServerOptions::default() };
    let mode = Mode::Replay(replay.clone());
    let all_served = || replay.all_served();
    let fresh = is_fresh(fixture.as_deref(), pacing);
    project.slots.take(&scenario.name, claim(project, scenario, fresh, in_company));
    let played = play(project, scenario, fixture.as_deref(), mode, options, all_served, None)?;
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
        early: hold.map(|hold| hold.early()),
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
        let golden =
            &committed.filter(|committed| committed.golden.early().iter().any(|turns| !turns.is_empty()))?.golden;
        let turns = fixture?.table.turns().iter();
        Some(Passing::known(golden, &Recorded::of(turns.map(|turn| &turn.output)), &scenario.golden))
    };
    let passing = asked.cloned().or_else(said).filter(|passing| !passing.is_empty())?;
    // The rest of the time is for the rest of the run.
    Some(Hold::new(passing, scenario.timeout / 2, project.in_vain.clone()))
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
    let replay = |in_company| replay(project, scenario, fixture.cloned(), rules, How { in_company, ..How::default() });
    let replayed = replay(true);
    let (suspected, fault) = match &replayed {
        Err(error) => (Vec::new(), Some(error)),
        Ok(replayed) => (replayed.suspected.clone(), replayed.played.fault.as_ref().map(|(_, fault)| fault)),
    };
    let crashed = fault.filter(|_| project.systems.shares(scenario));
    let crashed = crashed.map(|error| format!("{}, while others could use it too", error.what()));
    if suspected.is_empty() && crashed.is_none() {
        return replayed.map(|replayed| (replayed, None));
    }
    let alone = replay(false)?;
    if !alone.misses.is_empty() {
        for scope in suspected {
            scope.judge();
        }
    }
    Ok((alone, crashed))
}

impl Replayed {
    /// Has it make its golden at the places that another golden names.
    pub(super) fn compare_with(&mut self, committed: Arc<Committed>) {
        (self.committed, self.own_golden) = (Some(committed), OnceLock::new());
    }

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
            short_ids: None,
            early: None,
            cost: None,
            own_golden: OnceLock::new(),
        }
    }
}

/// What a scenario needs for itself, where a system that is shared is started `fresh` or not. With `in_company`, other scenarios may
/// use the same system while it lingers.
pub(super) fn claim(project: &Project, scenario: &Scenario, fresh: bool, in_company: bool) -> Option<Claim> {
    let system = project.systems.alone(scenario, fresh)?.to_owned();
    Some(Claim { system, passes_on: in_company && project.systems.shares(scenario) })
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
    project.slots.take(&scenario.name, claim(project, scenario, fresh, false));
    let played = project.systems.play(scenario, fresh, |launch| {
        let runtime = retake_model::threads::runtime()?;
        let model = mode.clone();
        let playing = async {
            let limit = limit_of(scenario, &mode);
            let replay = if let Mode::Replay(replay) = &mode { Some(replay.clone()) } else { None };
            let began = Instant::now();
            let underway = Underway::since(began);
            let underway = if let Some(replay) = &replay { underway.telling(replay) } else { underway };
            let deadline = began + limit.0;
            let egress = Egress::new(scenario, matches!(mode, Mode::Replay(_)));
            let doubles = doubles(project, scenario, fixture, &mode, options.pacing, &egress).await?;
            let given =
                doubles.as_ref().map(|doubles| StageTools { context: doubles.context(), names: doubles.names() });
            #[cfg(feature = "browser")]
            let baselines =
                baselines(project, &mode, options.pacing, fixture.is_some_and(|fixture| fixture.mark.is_some()));
            let starting = Running::start(deadline, launch, mode, options, given.unwrap_or_default(), egress).await;
            let running = starting.map_err(|error| error.in_file(&scenario.file))?;
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
            let tools = match doubles {
                Some(doubles) => doubles.end().await,
                None => Asked::default(),
            };
            let mut driven = driven?;
            if let Some((CauseKind::TimeUp, late)) = &mut driven.failure {
                let waits = |line: &String| {
                    format!("{line}, which did not answer: agents have to answer or decline such requests")
                };
                *late = tools.unanswered.iter().map(waits).fold(late.clone(), Error::help);
            }
            Ok(Played::of(driven, ended, tools, scenario, (began, underway.steps())))
        };
        // An interrupted run is dropped: the guardians end its systems.
        let interrupted = async {
            project.interrupted().await;
            model.ends();
        };
        let played = runtime.block_on(async {
            tokio::select! {
                biased;
                () = interrupted => Err(Error::new("interrupted")),
                played = playing => played,
            }
        });
        runtime.shutdown_background();
        played
    });
    project.slots.leave(&scenario.name);
    played
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
        let Ended { logs, crash, panics, drift, flaws, egress } = ended;
        let panics = panics.into_iter().filter(|_| scenario.panics == Panics::Fail);
        let system = scenario.system.as_deref().unwrap_or_default();
        let panicked = panics.reduce(|all, panic| format!("{all}\n{panic}")).map(|panics| {
            let (first, rest) = panics.split_once('\n').unwrap_or((&panics, ""));
            let failure = Error::new(format!("panic: system `{system}` panicked at {first}"));
            let failure = if rest.is_empty() { failure } else { failure.help(rest) };
            failure.help("if the system is meant to catch panics: panics = \"allow\"")
        });
        let fault = crash.map(|crash| (CauseKind::Crash, crash));
        let fault = fault.or_else(|| panicked.map(|panicked| (CauseKind::Panic, panicked)));
        Played { driven, began, steps, drift, flaws, fault, systems: logs, tools, egress }
    }

    /// Why the run failed apart from its model calls: a crash or panic of the system, otherwise the step that failed.
    pub(super) fn error(&self) -> Option<&Error> {
        self.fault.as_ref().or(self.driven.failure.as_ref()).map(|(_, error)| error)
    }
}

/// Starts the doubles of the tool servers that the scenario uses; `None` if it uses none.
pub(super) async fn doubles(
    project: &Project,
    scenario: &Scenario,
    fixture: Option<&Fixture>,
    mode: &Mode,
    pacing: Pacing,
    egress: &Egress,
) -> Result<Option<Doubles>> {
    let recorded: Option<Arc<dyn Exchanges>> = match mode {
        Mode::Replay(replay) => Some(replay.clone()),
        Mode::Record(paid) => paid.branch().cloned().map(|branch| -> Arc<dyn Exchanges> { branch }),
    };
    let suite = &project.discovered.suite;
    let used = suite.tools_of(scenario);
    Doubles::start(Given {
        suite,
        used: &used,
        pacing,
        root: &project.root,
        fixture: fixture.map_or(Path::new("none"), |fixture| &fixture.path),
        recorded,
        mode: match (mode, scenario.tools_from) {
            (Mode::Replay(replay), ToolsFrom::Recorded) => ToolsMode::Replay(replay.scope().clone()),
            (Mode::Replay(_), ToolsFrom::Live) => ToolsMode::Live,
            (Mode::Record(by), _) => {
                let of = |branch: &Branch| if branch.only_tools() { ForkTools::Recorded } else { suite.fork_tools };
                by.branch().map_or(ToolsMode::Record, |branch| ToolsMode::Fork(branch.clone(), of(branch)))
            }
        },
        secrets: &declared_secrets::real_values(&project.open),
        normalizer: &project.rules.normalizer,
        scrub: project.scrub.as_ref().map_err(Clone::clone)?,
        egress,
    })
    .await
}

/// How long a page stays open beyond `settle` while it is recorded: it may ask a model some time after it was left alone.
const PAGE_STAYS: Duration = Duration::from_secs(10);

/// A scenario on its stage, with its deadline.
struct Stay<'a> {
    project: &'a Project,
    scenario: &'a Scenario,
    on_commands: bool,
    /// When its steps have to be done; lingering does not count.
    deadline: Instant,
    /// The timeout, and the name of the field that sets it.
    limit: (Duration, &'static str),
    underway: &'a Underway,
    replay: Option<Arc<Replay>>,
    #[cfg(feature = "browser")]
    baselines: retake_engine::browser::Baselines,
}

/// What becomes of the screenshots of a run. If goldens are written, the first replay of the proof proposes them, and the second one
/// has to show the same.
#[cfg(feature = "browser")]
fn baselines(project: &Project, mode: &Mode, pacing: Pacing, is_marked: bool) -> retake_engine::browser::Baselines {
    use retake_engine::browser::Baselines;
    match (mode, project.goldens.policy(), pacing) {
        (Mode::Record(_), ..) => Baselines::Ignore,
        _ if is_marked => Baselines::Ignore,
        (_, Policy::Overwrite, Pacing::Shaken) => Baselines::CompareRenewed,
        (_, Policy::Overwrite, _) => Baselines::Renew,
        _ => Baselines::Compare,
    }
}

impl Stay<'_> {
    /// Performs the steps, settles, lingers and closes the captures.
    async fn drive(
        &self,
        fixture: Option<&Fixture>,
        running: &Running,
        all_served: impl Fn() -> bool,
        turns: Option<&LiveTurns<'_>>,
    ) -> Result<Driven> {
        let Stay { project, scenario, deadline, underway, .. } = *self;
        let activity = running.activity();
        let driving = async {
            running.stage.make_folder_of(scenario)?;
            let here = self.replay.as_ref().map(|replay| &**replay.fixture());
            let mut given = running.stage.context(here.filter(|_| fixture.is_some()).or(fixture));
            if let Some(turns) = turns {
                given.insert("turn", turns());
            }
            let context = scenario.resolve_vars(&given)?;
            let calls = activity.clone();
            let driver = Driver::new(scenario, &running.stage, &project.root, context, underway.clone(), calls, turns);
            #[cfg(feature = "browser")]
            let driver = driver.with_baselines(self.baselines);
            let mut driver = driver;
            let went_well = driver.drive().await;
            if went_well {
                activity.settled(scenario.settle, &all_served).await;
                if driver.hear().await {
                    activity.settled(scenario.settle, &all_served).await;
                }
            }
            Ok::<_, Error>((driver, went_well))
        };
        // Where calls have missed, a step has failed, or an event is new, what did not come yet need not come at all.
        let quiet = scenario.settle.max(Defaults::default().settle);
        let is_held = |step: &Step| step.golden || matches!(&step.action, Action::Request(of) if of.stream().is_none());
        let all_held = self.replay.is_some() && scenario.steps.iter().flat_map(Step::parts).all(is_held);
        let committed = OnceLock::new();
        let has_missed = || {
            let read = || project.goldens.compared(&scenario.golden_name).filter(|_| all_held);
            let differs =
                || committed.get_or_init(read).as_ref().is_some_and(|known| underway.differs_from(&known.golden));
            self.replay.as_ref().is_some_and(|replay| replay.has_missed()) || differs()
        };
        let outcome = tokio::select! {
            biased;
            driven = timeout_at(deadline, driving) => driven.ok(),
            () = underway.waits_in_vain(quiet, has_missed) => return Ok(self.late(running, Some(quiet))),
        };
        let Some(outcome) = outcome else { return Ok(self.late(running, None)) };
        let (driver, went_well) = outcome?;
        let settled = Instant::now();
        let stays = went_well && turns.is_some() && scenario.needs_browser();
        let later = if stays { activity.later(scenario.settle, PAGE_STAYS).await } else { None };
        let _place = if went_well { self.linger(running).await } else { None };
        let finishing = async {
            activity.settled(Duration::ZERO, || true).await;
            driver.finish(scenario.settle).await
        };
        let finished = timeout_at(deadline + settled.elapsed(), finishing).await;
        let mut ended = Driven { later, ..finished.unwrap_or_else(|_| self.late(running, None)) };
        // A client that is gone now may have been what the service waited for.
        if ended.failure.is_none() && timeout_at(deadline + settled.elapsed(), activity.all_left()).await.is_err() {
            ended.failure = Some((CauseKind::TimeUp, self.reads_on(fixture)));
        }
        Ok(ended)
    }

    /// A run in which the service did not hang up on a model call as it did while it was recorded.
    fn reads_on(&self, fixture: Option<&Fixture>) -> Error {
        let turns = fixture.iter().flat_map(|fixture| fixture.table.turns()).enumerate();
        let is_open = |turn: &Turn| turn.wire.as_ref().is_some_and(|wire| wire.response.is_open());
        let open = turns.filter(|(_, turn)| is_open(turn)).map(|(index, _)| nth_turn(index));
        let which = open.collect::<Vec<_>>().join(" or ");
        let what = format!("the service goes on with a model call that it cancelled while it was recorded: {which}");
        let again = record_command(&self.scenario.name);
        let help = format!("the end of that answer was not recorded; if the service may wait for it: {again}");
        Error::new(what).in_file(&self.scenario.file).help(help)
    }

    /// Waits for calls that the system makes during or after its last event, while other scenarios run.
    async fn linger(&self, running: &Running) -> Option<impl Drop> {
        if self.scenario.linger.is_zero() {
            return None;
        }
        let lingering = async {
            if self.project.slots.passes_on(&self.scenario.name) {
                running.linger();
            }
            let place = self.project.slots.linger(&self.scenario.name, self.on_commands).await;
            tokio::time::sleep(self.scenario.linger).await;
            place
        };
        tokio::select! {
            biased;
            () = running.nothing_left() => None,
            place = lingering => place,
        }
    }

    /// The end of a run that waits: because its time was up, or because nothing was sent for a time after a miss or a failed step.
    fn late(&self, running: &Running, quiet: Option<Duration>) -> Driven {
        let (step, SoFar { lacks, events, last }) = self.underway.so_far();
        let calls = running.activity().in_flight();
        let lacks = lacks.unwrap_or_else(|| "it did not end".to_owned());
        let last = last.map(|last| format!(" (the last was `{last}`)")).unwrap_or_default();
        let (events, calls) = (counted(events, "event"), counted(calls, "model call"));
        let waited = Error::new(format!("{lacks}: {step} was under way, {events} had come{last}, {calls} in flight"));
        let (limit, field) = self.limit;
        let waited = waited.in_file(&self.scenario.file).help(match quiet {
            Some(quiet) => format!("it was not waited for longer, since nothing was sent for {quiet:?} after what failed before"),
            None => format!(
                "the scenario took longer than {limit:?}: if the service is right but slow, raise `{field}` in scenario.toml"
            ),
        });
        let (kind, mut failure) = match self.underway.failure() {
            Some(failed) => (CauseKind::Step, waited.hints().iter().fold(failed.help(waited.what()), Error::help)),
            None => (CauseKind::TimeUp, waited),
        };
        if running.activity().held() > 0 {
            let held = "a model answer is held open: while recording, the system hung up there, and now it has not";
            failure = failure.help(held);
        }
        Driven { failure: Some((kind, failure)), gave_up: quiet.is_some(), ..Driven::default() }
    }
}

/// The timeout of a run, and the field of `scenario.toml` that sets it. Recording can have a timeout of its own, since providers
/// are slow.
fn limit_of(scenario: &Scenario, mode: &Mode) -> (Duration, &'static str) {
    match (mode, scenario.record_timeout) {
        (Mode::Record(_), Some(limit)) => (limit, "record.timeout"),
        _ => (scenario.timeout, "timeout"),
    }
}
