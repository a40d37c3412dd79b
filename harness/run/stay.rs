//! What happens on a stage: the steps of a scenario, until nothing more is expected of its system, and why nothing more came.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::run::commands::record_command;
use crate::run::project::Project;
use retake_base::cause::CauseKind;
use retake_base::error::{Error, Result};
use retake_base::text::{counted, nth_turn};
use retake_engine::drive::{Driven, Driver, LiveTurns, SoFar, StepData, Underway};
use retake_engine::system::Running;
use retake_model::Replay;
use retake_scenario::{Action, Defaults, Scenario, Step};
use retake_wire::fixture::{Fixture, Turn};

/// How long a page stays open beyond `settle` while it is recorded: it may ask a model some time after it was left alone.
const PAGE_STAYS: Duration = Duration::from_secs(10);

/// A scenario on its stage, with its deadline.
pub(super) struct Stay<'a> {
    pub(super) project: &'a Project,
    pub(super) scenario: &'a Scenario,
    pub(super) on_commands: bool,
    /// When its steps have to be done; lingering does not count.
    pub(super) deadline: Instant,
    /// The timeout, and the name of the field that sets it.
    pub(super) limit: (Duration, &'static str),
    pub(super) underway: &'a Underway,
    pub(super) replay: Option<Arc<Replay>>,
    #[cfg(feature = "browser")]
    pub(super) baselines: retake_engine::browser::Baselines,
}

/// What leads where a client has left, and the system does not mind.
const HELD: &str = "the service goes on with a model call that it cancelled while it was recorded: it is held open";
const ONLY_THEN: &str = "if it learns that only by sending: delays = \"recorded\", and record without --resume";

impl Stay<'_> {
    /// Performs the steps, settles, lingers and closes the captures.
    pub(super) async fn drive(
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
                activity.settled(scenario.options.settle, &all_served).await;
                if driver.hear().await {
                    activity.settled(scenario.options.settle, &all_served).await;
                }
            }
            Ok::<_, Error>((driver, went_well))
        };
        // Where calls have missed, a step has failed, or an event is new, what did not come yet need not come at all.
        let quiet = scenario.options.settle.max(Defaults::default().settle);
        let is_held = |step: &Step| step.golden || matches!(&step.action, Action::Request(of) if of.stream().is_none());
        let all_held = self.replay.is_some() && scenario.steps.iter().flat_map(Step::parts).all(is_held);
        let committed = OnceLock::new();
        let has_missed = || {
            let read = || project.goldens.compared(&scenario.golden_name).filter(|_| all_held);
            let differs = || committed.get_or_init(read).as_ref().is_some_and(|of| underway.differs_from(&of.golden));
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
        let later = if stays { activity.later(scenario.options.settle, PAGE_STAYS).await } else { None };
        let _place = if went_well { self.linger(running).await } else { None };
        let finishing = async {
            activity.settled(Duration::ZERO, || true).await;
            driver.finish(scenario.options.settle).await
        };
        let finished = timeout_at(deadline + settled.elapsed(), finishing).await;
        let mut ended = Driven { later, ..finished.unwrap_or_else(|_| self.late(running, None)) };
        // A client that is gone now may have been what the service waited for. After a miss nothing is waited for.
        let is_sound = ended.failure.is_none() && !self.replay.as_ref().is_some_and(|replay| replay.has_missed());
        if is_sound && timeout_at(deadline + settled.elapsed(), activity.all_left()).await.is_err() {
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
        if self.scenario.options.linger.is_zero() {
            return None;
        }
        let lingering = async {
            if self.project.slots.passes_on(&self.scenario.name) {
                running.linger();
            }
            let place = self.project.slots.linger(&self.scenario.name, self.on_commands).await;
            tokio::time::sleep(self.scenario.options.linger).await;
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
        let late = format!("{lacks}: {step} was under way, {events} had come{last}, {calls} in flight");
        let (limit, field) = self.limit;
        let why = match quiet {
            Some(quiet) => {
                format!("it was not waited for longer, since nothing was sent for {quiet:?} after what failed before")
            }
            None => format!(
                "the scenario took longer than {limit:?}: if the service is right but slow, raise `{field}` in scenario.toml"
            ),
        };
        let steps = self.underway.steps();
        let leaves = |of: &Step| matches!(&of.action, Action::Request(of) if of.stream().is_some_and(|of| of.cancel));
        let has_left = |(of, step): (&Step, &StepData)| step.took_ms.is_some() && leaves(of);
        let waited = match running.activity().held() > 0 {
            true if self.scenario.steps.iter().zip(&steps).any(has_left) => Error::new(HELD).help(late).help(ONLY_THEN),
            true => Error::new(late).help(why).help(HELD),
            false => Error::new(late).help(why),
        };
        let waited = waited.in_file(&self.scenario.file);
        let (kind, failure) = match self.underway.failure() {
            Some(failed) => (CauseKind::Step, waited.hints().iter().fold(failed.help(waited.what()), Error::help)),
            None => (CauseKind::TimeUp, waited),
        };
        Driven { failure: Some((kind, failure)), gave_up: quiet.is_some(), ..Driven::default() }
    }
}
