//! Worlds that run one after another on a system of their own, and whether it is sick after them.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use super::judge::Case;
use super::places::World;
use super::sent::WhatWasSent;
use super::stay::{ALL, Ended, Play, Seen, Setting};
use super::verdict::{Did, Noise, Verdict};
use crate::run::trial;
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};
use retake_engine::system::Running;
use retake_engine::tools::Doubles;
use retake_model::{Family, FaultKind, Mode, Pacing, ServerOptions, Staged};
use retake_scenario::{Panics, Unused};
use tokio::time::Instant;

/// How long a stream that stops is waited for, whatever the recorded run takes.
pub(super) const STALLED: Duration = Duration::from_secs(4);
/// After how long a world counts as hung at least, and after how many times as long as the recorded run.
const LEAST: Duration = Duration::from_secs(5);
const TIMES: u32 = 10;

/// The run without a fault, with which the others are compared.
#[derive(Debug)]
pub(super) struct Recording {
    pub(super) seen: Seen,
    pub(super) sent: WhatWasSent,
    /// Why a sick system cannot be told: what a second run on the same system does without any fault.
    pub(super) unlike: Option<&'static str>,
    /// Whether worlds can share a system: a second run on it sends the same, but for what differs on a fresh one.
    pub(super) can_share: bool,
    pub(super) noise: Noise,
    /// How long the system took to start.
    pub(super) starting: Duration,
    pub(super) watched: Arc<Staged>,
    /// How long nothing happens until a world counts as hung.
    pub(super) cap: Duration,
}

impl Recording {
    /// The same in this world.
    pub(super) fn limit_of(&self, world: &World) -> Duration {
        match world.fault.kind {
            FaultKind::Stall | FaultKind::ToolTimeout => self.cap.min(STALLED),
            // Nothing happens while it starts again, which can take longer on a busy machine.
            FaultKind::Kill => self.cap + self.starting * 3,
            // Where no model fails, nobody waits before they try again.
            _ if world.side() == "client" => self.cap.min((self.seen.longest_silence() * TIMES).max(LEAST)),
            _ => self.cap,
        }
    }
}

/// A world that was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Judged {
    pub(super) world: World,
    /// Whose turn it is, if it is the model that fails.
    pub(super) caller: Option<String>,
    pub(super) verdict: Verdict,
    /// How often the call came that met the fault.
    pub(super) attempts: usize,
    /// What the service sent, as lines.
    pub(super) lines: Vec<String>,
    /// Whether it was the only one on a system of its own.
    pub(super) alone: bool,
    /// Whether a call had been given up because the kill, or the client, came too late.
    pub(super) late: bool,
}

impl Judged {
    /// Whether it fails until somebody accepts it.
    pub(super) fn fails(&self) -> bool {
        self.verdict.did.fails() || (self.world.is_invisible() && self.verdict.did != Did::Recovered)
    }
}

/// A running system, and the doubles of its tools.
struct OnSystem<'a> {
    setting: &'a Setting<'a>,
    running: &'a Running,
    doubles: Option<&'a Doubles>,
    /// How long it took to start.
    starting: Duration,
}

impl OnSystem<'_> {
    /// Runs the scenario with what is laid in already, or once more with something else.
    async fn run(&self, play: &Play<'_>, is_first: bool, cap: Duration) -> Result<Seen> {
        let OnSystem { setting, running, doubles, .. } = self;
        if let Some(doubles) = doubles {
            doubles.lay_in(play.tools.clone(), !is_first);
        }
        let stage = if is_first {
            running.stage.clone()
        } else {
            running.model.lay_in(Mode::Replay(play.replay.clone()), Pacing::None);
            running.stage.another_run()
        };
        running.heard_by(&play.staged.gate);
        let mut run = pin!(play.run(&stage, &running.model, cap));
        let restarted = tokio::select! {
            biased;
            seen = &mut run => return seen,
            restarted = play.kills(running, setting.scenario.options.timeout) => restarted,
        };
        let mut seen = run.await?;
        seen.lost = restarted.err();
        Ok(seen)
    }
}

impl Setting<'_> {
    /// Calls `stay` with a running system.
    fn on_a_system<T>(
        &self,
        play: &Play<'_>,
        fresh: bool,
        stay: impl AsyncFnOnce(OnSystem<'_>) -> Result<(T, bool)>,
    ) -> Result<(T, Option<String>)> {
        let Setting { project, scenario, fixture, .. } = self;
        project.systems.play(scenario, fresh, |launch| {
            let staying = async {
                let starts = self.starts.acquire().await;
                let began = Instant::now();
                let (mode, callers) = (Mode::Replay(play.replay.clone()), project.open.callers.clone());
                let (end, options) =
                    (began + scenario.options.timeout, ServerOptions { callers, ..ServerOptions::default() });
                let starting = trial::started(project, scenario, Some(fixture), launch, end, mode, options);
                let (running, doubles) = starting.await?;
                drop(starts);
                let (doubles_of, starting) = (doubles.as_ref(), began.elapsed());
                let stayed = stay(OnSystem { setting: self, running: &running, doubles: doubles_of, starting }).await;
                let failed = stayed.as_ref().map_or(true, |(_, failed)| *failed);
                let ended = running.end(failed).await;
                if let Some(doubles) = doubles {
                    doubles.end().await;
                }
                play.replay.scope().judge();
                let panicked = !ended.panics.is_empty() && scenario.options.panics == Panics::Fail;
                let crash = ended.crash.map(|crash| crash.what().rsplit(": ").next().unwrap_or_default().to_owned());
                Ok((stayed?.0, crash.or_else(|| panicked.then(|| "it panicked".to_owned()))))
            };
            trial::until_interrupted(project, staying, || {})
        })
    }

    /// Runs the scenario without a fault, twice on the same system. If the second run differs, a third one on a fresh system shows what
    /// differs from run to run.
    /// Fails if it is red, apart from its golden.
    pub(super) fn record(&self) -> Result<Recording> {
        // What comes while an answer is held is due before it.
        let waits = |it: &FaultKind| matches!(it.family(), Family::Order | Family::Client | Family::Process);
        let holds = if self.of.kinds.iter().any(waits) { 2 } else { 0 };
        let (mut seen, again, mut starting, mut watched) = self.unfaulted(holds, false)?;
        let (mut sent, after) = (self.sent(&seen, ALL), self.sent(&again, ALL));
        let on_same = Noise::between(&sent, &after);
        let is_same = again.ended == Ended::Well && again.golden == seen.golden;
        let unlike = match &again.left {
            Some(_) => Some("asks the model something else without any fault: state of one request is in the next"),
            // What it answers from what it has, it may have from the world before.
            None if again.all_served != seen.all_served => Some("asks the model less without any fault"),
            None => (!is_same).then_some("differs without any fault"),
        };
        let mut noise = on_same.clone();
        if unlike.is_some() || !on_same.is_within(&Noise::default()) {
            // A shared system may have had other scenarios before.
            if self.project.systems.shares(self.scenario) {
                (seen, _, starting, watched) = self.unfaulted(holds, true)?;
                sent = self.sent(&seen, ALL);
            }
            noise = Noise::between(&sent, &self.sent(&self.unfaulted(0, true)?.0, ALL));
        }
        // What differs on fresh systems alike is not remembered.
        let can_share = unlike.is_none() && on_same.is_within(&noise);
        let cap = (seen.took * TIMES).max(LEAST);
        Ok(Recording { seen, sent, unlike, can_share, noise, starting, watched, cap })
    }

    /// Two runs without a fault on one system. The first holds answers, at most `held` times if calls are given up. Fails if it is red.
    fn unfaulted(&self, held: usize, fresh: bool) -> Result<(Seen, Seen, Duration, Arc<Staged>)> {
        let limit = self.scenario.options.timeout;
        let play = Play::unfaulted(self, held > 0);
        let ((seen, again, starting), crash) = self.on_a_system(&play, fresh, async |on| {
            let seen = on.run(&play, true, limit).await?;
            let again = on.run(&Play::unfaulted(self, false), false, limit).await?;
            let failed = seen.ended != Ended::Well;
            Ok(((seen, again, on.starting), failed))
        })?;
        if held > 0 && play.staged.gate.was_late() {
            return self.unfaulted(held - 1, fresh);
        }
        let unused = !seen.all_served && self.scenario.options.unused == Unused::Fail;
        if seen.ended == Ended::Well && seen.left.is_none() && !unused && crash.is_none() {
            return Ok((seen, again, starting, play.staged));
        }
        let why = seen.failure().or(crash);
        let why = why.unwrap_or_else(|| "a call of the model has no turn, or a turn no call".to_owned());
        let error = Error::new(format!("the recorded run is red without any fault: {why}"));
        Err(error.help(format!("first see to that: {RETAKE} test {}", self.scenario.name)))
    }

    /// Runs worlds one after another on one system, each with a fault that is met `times` times. `None` if a fault was not met, or the
    /// system was not the same afterwards: whose verdicts these were is not known then. Of a single world, and of none else,
    /// it is clear in any case, if its fault was met. For it, the system is started even if scenarios share it.
    /// Fails if the system cannot be started.
    pub(super) fn batch(&self, worlds: &[World], recording: &Recording, times: u32) -> Result<Option<Vec<Judged>>> {
        let play = |world| Play::in_world(self, world, recording, times);
        let (first, alone) = (play(&worlds[0]), worlds.len() == 1);
        let (judged, crash) = self.on_a_system(&first, alone, async |on| {
            let mut judged: Vec<Judged> = Vec::new();
            let (mut is_told, mut is_busy) = (false, false);
            for (at, world) in worlds.iter().enumerate() {
                let own = (at > 0).then(|| play(world));
                let play = own.as_ref().unwrap_or(&first);
                let seen = on.run(play, at == 0, recording.limit_of(world)).await?;
                if world.order.is_empty() && !play.staged.is_after_fault() {
                    return Ok((None, false));
                }
                let attempts = play.staged.arrivals(world.turn);
                let verdict = Case { setting: self, world, attempts, play, seen: &seen, recording }.verdict();
                let lines = if verdict.did == Did::Recovered { Vec::new() } else { seen.lines(self) };
                is_told |= !world.is_invisible() && world.side() != "process";
                let turn = self.fixture.table.turns().get(world.turn).filter(|_| world.spot.is_none());
                let (world, caller) = (world.clone(), turn.and_then(|turn| turn.caller.clone()));
                let late = play.staged.gate.was_late();
                judged.push(Judged { world, caller, verdict, attempts, lines, alone, late });
                is_busy = matches!(seen.ended, Ended::Late | Ended::Storm);
                if is_busy && !alone {
                    return Ok((None, true));
                }
            }
            if is_told && !is_busy && recording.unlike.is_none() {
                let again = on.run(&Play::unfaulted(self, false), false, recording.cap).await?;
                if let Some(why) = sickness(&again, recording) {
                    let [last] = &mut *judged else { return Ok((None, true)) };
                    last.verdict = Did::Sick.since(format!("afterwards the recorded run {why}"));
                }
            }
            let failed = judged.last().is_some_and(|last| last.verdict.did.fails());
            Ok((Some(judged), failed))
        })?;
        let Some(crash) = crash else { return Ok(judged) };
        let crashed = |it| Judged { verdict: Did::Crashed.since(crash.clone()), ..it };
        Ok(judged.filter(|_| alone).map(|judged| judged.into_iter().map(crashed).collect()))
    }
}

/// Why a system is sick: the recorded run on it is no longer what it was.
fn sickness(again: &Seen, recording: &Recording) -> Option<String> {
    match again.ended {
        Ended::Late | Ended::Storm => Some("does not end".to_owned()),
        Ended::Failed => {
            let status = again.failed_status().map(|(status, _)| format!(" with status {status}")).unwrap_or_default();
            Some(format!("fails at step {}{status}", again.steps.len()))
        }
        Ended::Well if again.left.is_some() => Some("asks the model something else".to_owned()),
        Ended::Well if again.golden != recording.seen.golden => Some("sends something else".to_owned()),
        Ended::Well => None,
    }
}
