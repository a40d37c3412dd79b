//! One run of a scenario on a system that runs already, with a fault or without.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

use super::batch::Recording;
use super::judge::Left;
use super::places::{Spot, World};
use super::sent::{WhatWasSent, said_by_body, says_error};
use super::verdict::told;
use crate::run::declared_secrets;
use crate::run::golden::Committed;
use crate::run::project::Project;
use retake_base::error::{Error, Result};
use retake_core::events::{Calls, Captured, Event, Golden, Known, Recorded, Shaped};
use retake_core::secrets::Fired;
use retake_engine::drive::{Away, Driven, Driver, GivingUp, StepData, Underway, milliseconds};
use retake_engine::system::{Running, Stage};
use retake_engine::tools::{CallOfTool, ToolFault, ToolWorld};
use retake_model::{
    CallOutcome, CallSeen, Fault, FaultKind, ModelServer, Pacing, Replay, RunLog, Scope, Staged, Stages,
};
use retake_scenario::{Scenario, Step, Worlds};
use retake_wire::fixture::Fixture;

/// How long no call has to come after the fault until a service has given up: retries come at once.
const QUIET: Duration = Duration::from_millis(250);
/// In how many pieces silence is measured: a program that has no core for a while sees no silence.
const PIECES: u32 = 10;
/// All steps of a run.
pub(super) const ALL: Range<usize> = 0..usize::MAX;
/// From where answers are counted that go into no golden.
const BESIDE: usize = 1 << 20;

/// What all runs of a scenario's worlds share.
pub(super) struct Setting<'a> {
    pub(super) project: &'a Project,
    pub(super) scenario: &'a Scenario,
    pub(super) fixture: Arc<Fixture>,
    /// The committed golden, which names what is pinned.
    pub(super) committed: Option<Arc<Committed>>,
    /// What the scenario says of its worlds.
    pub(super) of: &'a Worlds,
    /// How many systems may start at once: what waits needs no core, but what starts does.
    pub(super) starts: Semaphore,
}

/// How a run ended: when all steps were taken, at one that failed, not in time, or with a call that came too often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Well,
    Failed,
    Late,
    Storm,
}

/// One run.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) ended: Ended,
    pub(super) driven: Driven,
    pub(super) steps: Vec<StepData>,
    /// The golden; empty if no step goes into one.
    pub(super) golden: Golden,
    pub(super) began: Instant,
    pub(super) took: Duration,
    /// Whether each turn was asked for.
    pub(super) all_served: bool,
    /// What was asked that was never recorded and got no answer.
    pub(super) left: Option<Left>,
    /// The value that a step waited for in vain.
    pub(super) stuck: Option<String>,
    /// The streams of steps, by the index of the step.
    pub(super) streams: BTreeMap<usize, Vec<Event>>,
    pub(super) calls: Vec<CallCame>,
    /// When each call of a tool came to its double, in milliseconds.
    pub(super) tools: Vec<(CallOfTool, f64)>,
    /// The calls of tools that acted.
    pub(super) acted: Vec<CallOfTool>,
    /// Why the system did not start again after it was killed.
    pub(super) lost: Option<Error>,
}

/// A call that came: when, when it was answered, and when it had its last text, in milliseconds; and the turn that it got.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallCame {
    pub(super) came: f64,
    pub(super) answered: f64,
    whole: f64,
    pub(super) turn: Option<usize>,
}

/// A replay for one run, with what is staged for its calls.
pub(super) struct Play<'a> {
    setting: &'a Setting<'a>,
    pub(super) staged: Arc<Staged>,
    pub(super) replay: Arc<Replay>,
    /// When a step stops to wait for what does not come.
    gives_up: Option<GivingUp>,
    /// What the client does.
    pub(super) away: Option<Away>,
    /// What becomes of calls of tools.
    pub(super) tools: Arc<ToolWorld>,
}

impl<'a> Play<'a> {
    /// A run without any fault. With `holds`, answers are held back for a moment.
    pub(super) fn unfaulted(setting: &'a Setting<'a>, holds: bool) -> Play<'a> {
        Play::of(setting, Staged::of(Stages::Watched(holds), u32::MAX), false)
    }

    fn of(setting: &'a Setting<'a>, staged: Staged, repeats: bool) -> Play<'a> {
        let (scope, staged) = (Scope::new(&setting.scenario.name), Arc::new(staged));
        let clock = setting.project.systems.clock(setting.scenario, Pacing::None, Some(&setting.fixture));
        let replay = Replay::new(setting.fixture.clone(), setting.project.rules.clone(), scope);
        let mut replay = replay.by(clock).with_repeat(repeats);
        (replay.staged, replay.keeps.calls) = (Some(staged.clone()), true);
        let replay = Arc::new(replay);
        let tools = Arc::new(ToolWorld::of(replay.scope(), false, None));
        Play { setting, staged, replay, gives_up: None, away: None, tools }
    }

    /// The run of a world, in which a fault of the model is met `times` times. Steps stop to wait when an answer says something in error
    /// words that were not recorded; or when nothing happens, before the whole run counts as one in which nothing does.
    pub(super) fn in_world(setting: &'a Setting<'a>, world: &World, recording: &Recording, times: u32) -> Play<'a> {
        let (kind, turn, recorded) = (world.fault.kind, Some(world.turn), &recording.seen);
        let kills = kind == FaultKind::Kill;
        let (step, event) = if let Some(Spot::Event { step, event }) = world.spot { (step, event) } else { (0, 0) };
        let (meets, asked, due) = match &world.spot {
            None if world.order.is_empty() => (Stages::Faulty(Some((turn, world.fault)), times), 0, None),
            None => (Stages::Ordered(world.order.clone()), 0, None),
            Some(Spot::Event { .. }) if !kills => {
                let (held, asked, due) = recorded.held_at(step, event);
                (Stages::Gated(held), asked, due)
            }
            Some(Spot::Call { within }) => {
                // Only calls were held in the recorded run.
                let due = recorded.due_at(world.turn).filter(|_| within.is_none());
                let stops = if within.is_some() { FaultKind::Stall } else { FaultKind::Hang };
                (Stages::Faulty(Some((turn, Fault { after: *within, ..stops.whole() })), 1), 0, due)
            }
            Some(_) => (Stages::Watched(false), 0, None),
        };
        // What was asked before may be asked again: after a kill, or by a service that begins anew because of a fault.
        let mut play = Play::of(setting, Staged::of(meets, setting.of.calls), world.side() != "client");
        if world.side() != "client" {
            let (told, mut fault) = (play.staged.clone(), None);
            if let Some(Spot::Tool { call, acted, .. }) = &world.spot {
                fault = Some(ToolFault { call: call.clone(), kind, acts: *acted, told });
            }
            play.tools = Arc::new(ToolWorld::of(play.replay.scope(), true, fault));
        }
        if matches!(world.side(), "process" | "client") {
            // As long as no call came after another in the recorded run.
            let pause = longest(recorded.calls.iter().map(|call| call.came).collect());
            let without = if kills { QUIET } else { QUIET + pause };
            let (back, gate, seen) = (setting.of.back.clone(), play.staged.gate.clone(), Arc::default());
            play.away = Some(Away { does: kind, step, event, asked, due, quiet: without, back, gate, seen });
        }
        let known: BTreeSet<_> = recording.sent.words.keys().cloned().collect();
        let (more, golden) = (setting.project.discovered.suite.error_words.clone(), setting.scenario.golden.clone());
        let says_failed = move |answer: &Captured| {
            let words = WhatWasSent::of([(0, answer)], &golden, &str::to_owned).words;
            words.keys().any(|word| !known.contains(word) && says_error(&word.1, &more))
        };
        let staged = play.staged.clone();
        let met = Arc::new(move || staged.is_after_fault());
        let quiet = recording.limit_of(world) * 3 / 4;
        Play { gives_up: Some(GivingUp { says_failed: Arc::new(says_failed), met, quiet }), ..play }
    }

    /// Kills the system when the run has come to the place for that, and starts it again. Never ends if that is not what happens.
    /// Fails if it does not get ready again.
    pub(super) async fn kills(&self, running: &Running, limit: Duration) -> Result<()> {
        let Some(Away { gate, due, .. }) = self.away_from(true) else { return std::future::pending().await };
        tokio::select! { () = self.staged.met() => {} () = gate.due() => self.staged.meets() }
        // What was sent before is on its way to the client; nothing else comes, since the call is held.
        gate.has(0, *due).await;
        gate.late_if(self.staged.target().is_some() && running.model.activity().in_flight() == 0);
        gate.acts();
        let restarted = running.restart(Instant::now() + limit).await;
        running.heard_by(gate);
        gate.opens();
        restarted
    }

    /// What the client does if the system is killed, or if it is not.
    fn away_from(&self, kills: bool) -> Option<&Away> {
        self.away.as_ref().filter(|away| (away.does == FaultKind::Kill) == kills)
    }

    /// Runs the scenario once. Fails if a template cannot be rendered.
    pub(super) async fn run(&self, stage: &Stage, model: &ModelServer, cap: Duration) -> Result<Seen> {
        let (setting, scenario, activity) = (self.setting, &self.setting.scenario, model.activity());
        self.replay.on_stage(&stage.places());
        let began = Instant::now();
        let underway = Underway::since(began).in_world(self.gives_up.clone(), self.away.clone());
        // What counts is how long nothing happens: on a busy machine everything takes longer, and things happen all the same.
        let progress = || (activity.mark(), underway.steps().len(), underway.event_count());
        let idle = async |pieces| {
            let (mut before, mut silent) = (progress(), 0);
            while silent < pieces && began.elapsed() <= scenario.options.timeout {
                sleep(cap / PIECES).await;
                silent = if progress() == before { silent + 1 } else { 0 };
                before = progress();
            }
        };
        // A step that waits in vain stops before, as `gives_up` says: after a kill, its wait begins when the system has started again.
        let pieces = if self.away_from(false).is_some() { PIECES * 3 / 2 } else { PIECES * 2 };
        let drive = async {
            stage.make_folder_of(scenario)?;
            let context = scenario.resolve_vars(&stage.context(Some(self.replay.fixture())))?;
            let (root, calls) = (&setting.project.root, activity.clone());
            let mut driver = Driver::new(scenario, stage, root, context, underway.clone(), calls, None);
            let mut hears = driver.drive().await;
            let over = async {
                while hears {
                    self.settle(scenario, model).await;
                    hears = driver.hear().await;
                }
                activity.settled(Duration::ZERO, || true).await;
            };
            // Whoever was told how it went knows all, whatever call the service leaves open.
            tokio::select! { () = over => {} () = idle(pieces * 3 / 4), if self.away.is_none() => {} }
            if let Some(away) = &self.away {
                // The run of a client that left goes on, and is not to be taken for the next one.
                self.away_from(false).iter().for_each(|away| away.gate.opens());
                let mut before = None;
                while before.replace(activity.mark()) != Some(activity.mark()) {
                    activity.settled(away.quiet + QUIET * 3, || self.replay.all_served()).await;
                    away.gate.silent(QUIET).await;
                }
            }
            let run = driver.finish(scenario.options.settle.min(QUIET * 2)).await;
            Ok::<_, Error>((if run.failure.is_none() { Ended::Well } else { Ended::Failed }, run))
        };
        let (ended, driven) = tokio::select! {
            driven = drive => driven?,
            () = self.staged.storm() => (Ended::Storm, Driven::default()),
            () = idle(pieces) => (Ended::Late, Driven::default()),
        };
        // What was asked after a fault is no miss, and what was asked before it is judged here.
        let missed = self.replay.scope().judge();
        let log = self.replay.log();
        let left = (log.unanswered || !missed.is_empty()).then(|| Left::of(&log, &missed, setting.normalize(&driven)));
        let at = |time: Instant| milliseconds(time.saturating_duration_since(began));
        let call = |call: &CallSeen| {
            let turn = if let CallOutcome::Turn(turn, _) = call.outcome { Some(turn) } else { None };
            let whole = turn.and_then(|turn| self.staged.went(turn)).unwrap_or(call.answered);
            CallCame { came: at(call.came), answered: at(call.answered), whole: at(whole), turn }
        };
        Ok(Seen {
            ended,
            golden: setting.golden(&driven, &log),
            driven,
            steps: underway.steps(),
            began,
            took: began.elapsed(),
            all_served: self.replay.all_served(),
            left,
            stuck: underway.stuck(),
            streams: underway.streams(),
            calls: log.calls.iter().map(call).collect(),
            tools: self.tools.came().into_iter().map(|(call, time)| (call, at(time))).collect(),
            acted: self.tools.acted(),
            lost: None,
        })
    }

    /// Waits for the fault if it is still to come, then until the service has given up or served all turns.
    async fn settle(&self, scenario: &Scenario, model: &ModelServer) {
        let activity = model.activity();
        let served = || self.replay.all_served();
        if let Some(Away { gate, .. }) = self.away_from(true) {
            let is_over = || gate.acted().is_some() || (served() && !self.staged.is_after_fault());
            activity.settled(scenario.options.settle, is_over).await;
            gate.back_again().await;
            return activity.settled(scenario.options.settle, served).await;
        }
        let has_met = || self.staged.target().is_some_and(|turn| self.staged.arrivals(turn) > 0);
        activity.settled(scenario.options.settle, || served() || has_met()).await;
        if has_met() {
            activity.settled(scenario.options.settle.min(QUIET), served).await;
        }
    }
}

impl Setting<'_> {
    fn golden(&self, driven: &Driven, log: &RunLog) -> Golden {
        let committed = self.committed.as_deref().filter(|committed| !committed.is_older());
        let known = Known {
            recorded: Recorded::of(log.answers(&self.fixture)),
            calls: Calls::of(log.answers(&self.fixture)),
            committed: committed.map(|committed| &committed.golden),
            ..Known::default()
        };
        let normalize = self.normalize(driven);
        let captured = driven.captured.iter().filter(|capture| !capture.delivery.is_beside).cloned();
        Shaped::of(&captured.collect::<Vec<_>>(), &self.scenario.golden, &known, &normalize).golden
    }

    /// What a run sent in these steps.
    pub(super) fn sent(&self, seen: &Seen, steps: Range<usize>) -> WhatWasSent {
        let Driven { captured, beside, broken, .. } = &seen.driven;
        let parts = |until: usize| {
            let steps = self.scenario.steps.iter().take(until).flat_map(Step::parts);
            steps.filter(|part| part.golden).count()
        };
        let parts =
            if steps.end == ALL.end { parts(steps.start)..ALL.end } else { parts(steps.start)..parts(steps.end) };
        let of_golden = || captured.iter().filter(|capture| !capture.delivery.is_beside).enumerate();
        let broken = broken.clone().or_else(|| seen.broken_stream()).filter(|_| steps.end == ALL.end);
        let broken = broken.iter().map(|broken| (of_golden().count(), broken));
        let of_golden = of_golden().filter(|(part, _)| parts.contains(part)).chain(broken);
        // Answers that go into no golden are told apart by their steps.
        let beside = beside.iter().filter(|(step, _)| steps.contains(step));
        let beside = beside.map(|(step, capture)| (BESIDE + step, capture));
        WhatWasSent::of(of_golden.chain(beside), &self.scenario.golden, &self.normalize(&seen.driven))
    }

    /// Replaces what differs from run to run. What is quoted stands in a golden.
    pub(super) fn normalize<'a>(&'a self, driven: &'a Driven) -> impl Fn(&str) -> String + use<'a> {
        let secrets = declared_secrets::of_goldens(&self.project.open);
        move |text: &str| {
            let text = driven.names.apply(text, &self.project.rules.normalizer);
            secrets.text(&text, &mut Fired::new()).into_owned()
        }
    }
}

impl Seen {
    /// Why a step failed.
    pub(super) fn failure(&self) -> Option<String> {
        self.driven.failure.as_ref().map(|(_, error)| error.what().to_owned())
    }

    /// The status of the step that failed, if it says that something is wrong, also with what its answer said.
    pub(super) fn failed_status(&self) -> Option<(u16, String)> {
        let step = self.steps.last().filter(|_| self.ended == Ended::Failed)?;
        let status = step.status.as_ref()?.parse().ok().filter(|status| *status >= 400)?;
        let (_, error) = self.driven.failure.as_ref()?;
        let answer = error.hints().iter().find_map(|hint| hint.strip_prefix("the answer was: "));
        Some((status, told(&format!("status {status}"), answer.and_then(said_by_body).as_deref())))
    }

    /// What came of the stream that failed, if anything did.
    pub(super) fn broken_stream(&self) -> Option<Captured> {
        let failed = self.steps.len().checked_sub(1).filter(|_| self.ended == Ended::Failed)?;
        let events = self.streams.get(&failed).filter(|events| events.iter().any(Event::is_real))?;
        Some(Captured::stream("", events.clone()))
    }

    /// A time in milliseconds since the beginning.
    pub(super) fn at(&self, time: Instant) -> f64 {
        milliseconds(time.saturating_duration_since(self.began))
    }

    /// The longest time for which nothing was asked, answered or sent.
    pub(super) fn longest_silence(&self) -> Duration {
        let of_calls = self.calls.iter().flat_map(|call| [call.came, call.answered]);
        let events = self.steps.iter().flat_map(|step| &step.events).map(|event| event.at_ms);
        longest(of_calls.chain(events).chain([0.0, milliseconds(self.took)]).collect())
    }

    /// When the call of a turn was answered.
    pub(super) fn answered(&self, turn: usize) -> Option<f64> {
        Some(self.calls.iter().find(|call| call.turn == Some(turn))?.answered)
    }

    /// How many steps the client had begun at this time.
    pub(super) fn begun_by(&self, time: f64) -> usize {
        self.steps.iter().filter(|step| step.at_ms <= time).count()
    }

    pub(super) fn events_by(&self, time: f64) -> usize {
        self.steps.iter().flat_map(|step| &step.events).filter(|event| event.at_ms <= time).count()
    }

    /// How many steps and events the client has had by this time; `None` if not all events are known.
    fn came_by(&self, begun: usize, time: f64) -> Option<usize> {
        self.steps.iter().all(|step| step.more_events == 0).then(|| begun + self.events_by(time))
    }

    /// The same, before the call of a turn was answered.
    fn due_at(&self, turn: usize) -> Option<usize> {
        let time = self.answered(turn)?;
        self.came_by(self.begun_by(time), time)
    }

    /// The turns whose answers are held until the client has done what it does at an event of a step, all of each or its last text: those
    /// that were not whole when it came; and how many of their calls, and how many steps and events, have come when the service does nothing
    /// more, since the first of them is held or the step has ended.
    fn held_at(&self, step: usize, number: usize) -> (BTreeMap<usize, bool>, usize, Option<usize>) {
        let at = self.steps.get(step).and_then(|step| step.events.get(number - 1)).map_or(0.0, |event| event.at_ms);
        let held = || self.calls.iter().filter(|call| call.whole > at);
        let first = held().map(|call| if call.answered > at { call.answered } else { call.whole });
        let until = first.fold(self.steps.get(step + 1).map_or(f64::INFINITY, |next| next.at_ms), f64::min);
        let asked = held().filter(|call| call.came <= until).count();
        let turns = held().filter_map(|call| Some((call.turn?, call.answered > at)));
        (turns.collect(), asked, self.came_by(step + 1, until))
    }

    /// The first turn whose answer it had when the place of the fault was met, as that shows, and that it asked for again after it was
    /// killed; or that it asked for twice then.
    pub(super) fn paid_twice(&self, met: Instant, killed: Instant) -> Option<usize> {
        let (met, killed) = (self.at(met), self.at(killed));
        let turns: BTreeSet<usize> = self.calls.iter().filter_map(|call| call.turn).collect();
        turns.into_iter().find(|turn| {
            let of_turn = || self.calls.iter().filter(|call| call.turn == Some(*turn));
            let after = of_turn().filter(|call| call.came >= killed).count();
            after > 1 || (after > 0 && of_turn().any(|call| call.answered <= met))
        })
    }

    /// The events of the run as lines, with the beginning of each payload.
    pub(super) fn lines(&self, setting: &Setting<'_>) -> Vec<String> {
        let normalize = setting.normalize(&self.driven);
        let of_step = |step: &StepData| {
            let status = step.status.as_ref().map(|status| format!("  {status}")).unwrap_or_default();
            let head = normalize(&format!("{}{status}", step.title));
            let events = step.events.iter().map(|event| normalize(&format!("  {}  {}", event.name, event.payload)));
            let failure = step.failure.iter().map(|why| normalize(&format!("  {why}")));
            [vec![head], events.collect(), failure.collect()].concat()
        };
        self.steps.iter().flat_map(of_step).collect()
    }
}

/// The longest time between two of these, in milliseconds.
fn longest(mut times: Vec<f64>) -> Duration {
    times.sort_by(f64::total_cmp);
    let pauses = times.windows(2).map(|pair| pair[1] - pair[0]);
    Duration::try_from_secs_f64(pauses.fold(0.0, f64::max) / 1e3).unwrap_or_default()
}
