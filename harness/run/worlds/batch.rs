//! Worlds that run one after another on a system of their own, and whether it is sick after them.

use std::collections::BTreeSet;
use std::time::Duration;

use super::plan::World;
use super::sent::{Place, WhatWasSent};
use super::stay::{Ended, PACING, Play, Seen, Setting};
use super::verdict::{Compared, Did, Verdict, quoted};
use crate::drive::EMPTY_STREAM;
use crate::run::trial;
use crate::system::{Egress, Running, StageTools};
use retake_base::error::{Error, Result};
use retake_base::text::counted;
use retake_core::events::Golden;
use retake_model::{Family, FaultKind, ServerOptions, Staged};
use retake_scenario::{Action, Panics, Step, Unused, Worlds};
use tokio::time::Instant;

/// The run without a fault, with which the others are compared.
#[derive(Debug)]
pub(super) struct Recording {
    pub(super) seen: Seen,
    pub(super) sent: WhatWasSent,
    /// Whether a second run on the same system sends the same, so that a sick system can be told.
    pub(super) repeats: bool,
    pub(super) noise: BTreeSet<Place>,
    /// How long the system took to start.
    pub(super) starting: Duration,
    pub(super) watched: std::sync::Arc<Staged>,
}

/// A world that was run.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub(super) world: World,
    pub(super) verdict: Verdict,
    /// What the service sent, as lines.
    pub(super) lines: Vec<String>,
}

impl Judged {
    /// Whether it fails until somebody accepts it.
    pub(super) fn fails(&self) -> bool {
        self.verdict.did.fails() || (self.world.is_invisible() && self.verdict.did != Did::Recovered)
    }
}

impl Setting<'_> {
    /// Calls `stay` with a running system.
    fn on_a_system<T>(
        &self,
        play: &Play,
        fresh: bool,
        stay: impl AsyncFnOnce(&Running, Duration) -> Result<(T, bool)>,
    ) -> Result<(T, Option<String>)> {
        let Setting { project, scenario, fixture, .. } = self;
        project.systems.play(scenario, fresh, |launch| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|e| Error::new(format!("failed to start a runtime: {e}")))?;
            let staying = async {
                let began = Instant::now();
                let (mode, callers) = (play.mode(), project.callers.clone());
                let egress = Egress::new(scenario, true);
                let doubles = trial::doubles(project, scenario, Some(fixture), &mode, PACING, &egress).await?;
                let tools = doubles.as_ref().map(|it| StageTools { context: it.context(), names: it.names() });
                let options = ServerOptions { callers, pacing: PACING, ..ServerOptions::default() };
                let running =
                    Running::start(began + scenario.timeout, launch, mode, options, tools.unwrap_or_default(), egress)
                        .await;
                let running = running.map_err(|error| error.in_file(&scenario.file))?;
                let stayed = stay(&running, began.elapsed()).await;
                let failed = stayed.as_ref().map_or(true, |(_, failed)| *failed);
                let ended = running.end(failed).await;
                if let Some(doubles) = doubles {
                    doubles.end().await;
                }
                play.scope().judge();
                let panicked = !ended.panics.is_empty() && scenario.panics == Panics::Fail;
                let crash = ended.crash.map(|crash| crash.what().rsplit(": ").next().unwrap_or_default().to_owned());
                Ok((stayed?.0, crash.or_else(|| panicked.then(|| "it panicked".to_owned()))))
            };
            let stayed = runtime.block_on(async {
                tokio::select! {
                    biased;
                    () = project.interrupted() => Err(Error::new("interrupted")),
                    stayed = staying => stayed,
                }
            });
            runtime.shutdown_background();
            stayed
        })
    }

    /// Runs the scenario without a fault, twice on the same system.
    /// Fails if it is red, apart from its golden.
    pub(super) fn record(&self, worlds: &Worlds) -> Result<Recording> {
        let orders = worlds.kinds.iter().any(|kind| kind.family() == Family::Order);
        let limit = self.scenario.timeout;
        let play = Play::of(self, Staged::watched(orders), None);
        let ((seen, again, starting), crash) = self.on_a_system(&play, false, async |running, starting| {
            let seen = play.run(self, &running.stage, &running.model, limit).await?;
            let again = Play::of(self, Staged::watched(false), None);
            running.model.lay_in(again.mode(), PACING);
            let again = again.run(self, &running.stage.another_run(), &running.model, limit).await?;
            let failed = seen.ended != Ended::Well;
            Ok(((seen, again, starting), failed))
        })?;
        let unused = !seen.all_served && self.scenario.unused == Unused::Fail;
        let red = seen.ended != Ended::Well || seen.left.is_some() || unused || crash.is_some();
        if red {
            let why = seen.driven.failure.as_ref().map(|(_, error)| error.what().to_owned());
            let why = why.or(crash).unwrap_or_else(|| "a call of the model has no turn, or a turn no call".to_owned());
            let error = Error::new(format!("the recorded run is red without any fault: {why}"));
            return Err(error.help(format!("first see to that: retake test {}", self.scenario.name)));
        }
        let (sent, after) = (self.sent(&seen, None), self.sent(&again, None));
        let differs = |place: &&Place| sent.texts.get(*place) != after.texts.get(*place);
        let noise = sent.texts.keys().chain(after.texts.keys()).filter(differs).cloned().collect();
        let repeats = again.ended == Ended::Well && again.left.is_none() && again.golden == seen.golden;
        Ok(Recording { seen, sent, repeats, noise, starting, watched: play.staged })
    }

    /// Runs worlds one after another on one system. Stops after one that fails or leaves the system sick, so there may be fewer
    /// results than worlds, but at least one. With `fresh`, the system is started for them even if scenarios share it.
    /// Fails if the system cannot be started.
    pub(super) fn batch(
        &self,
        worlds: &[World],
        of: &Worlds,
        recording: &Recording,
        cap: Duration,
        fresh: bool,
    ) -> Result<Vec<Judged>> {
        let Some(first) = worlds.first() else { return Ok(Vec::new()) };
        let first_play = self.play(first, of);
        let (mut judged, crash) = self.on_a_system(&first_play, fresh, async |running, _| {
            let mut judged: Vec<Judged> = Vec::new();
            for (at, world) in worlds.iter().enumerate() {
                let own;
                let (play, stage) = if at == 0 {
                    (&first_play, running.stage.clone())
                } else {
                    own = self.play(world, of);
                    running.model.lay_in(own.mode(), PACING);
                    (&own, running.stage.another_run())
                };
                let seen = play.run(self, &stage, &running.model, cap).await?;
                let verdict = self.judge(world, play, &seen, recording, of);
                let lines = if verdict.did == Did::Recovered { Vec::new() } else { seen.lines(self) };
                judged.push(Judged { world: world.clone(), verdict, lines });
                let ended = judged.last().is_some_and(|last| last.verdict.did.fails());
                let next = worlds.get(at + 1).map(|next| next.fault.kind.family());
                let last_of_family = next != Some(world.fault.kind.family());
                let can_tell =
                    recording.repeats && !world.is_invisible() && !matches!(seen.ended, Ended::Late | Ended::Storm);
                if can_tell && (last_of_family || ended) {
                    let play = Play::of(self, Staged::watched(false), None);
                    running.model.lay_in(play.mode(), PACING);
                    let again = play.run(self, &running.stage.another_run(), &running.model, cap).await?;
                    if let (Some(why), Some(last)) = (sickness(&again, recording), judged.last_mut()) {
                        last.verdict = Verdict::new(Did::Sick, format!("afterwards the recorded run {why}"));
                        return Ok((judged, true));
                    }
                }
                if ended {
                    break;
                }
            }
            let failed = judged.last().is_some_and(|last| last.verdict.did.fails());
            Ok((judged, failed))
        })?;
        if let (Some(crash), Some(last)) = (crash, judged.last_mut()) {
            last.verdict = Verdict::new(Did::Crashed, crash);
        }
        Ok(judged)
    }

    /// Whether one of the scenario's streams has a last event, so that its client notices a stream that lacks it.
    fn waits_for_an_event(&self) -> bool {
        let mut parts = self.scenario.steps.iter().flat_map(Step::parts);
        parts.any(|part| match &part.action {
            Action::Request(request) => request.stream().is_some_and(|stream| stream.last.is_some()),
            _ => false,
        })
    }

    fn play(&self, world: &World, of: &Worlds) -> Play {
        if world.order.is_empty() {
            let staged = Staged::faulty(Some(world.turn), world.fault, of.times, of.calls);
            Play::of(self, staged, Some(world.turn))
        } else {
            Play::of(self, Staged::ordered(world.order.clone()), None)
        }
    }

    fn judge(&self, world: &World, play: &Play, seen: &Seen, recording: &Recording, of: &Worlds) -> Verdict {
        let is_equal = seen.golden == recording.seen.golden;
        let came = usize::try_from(play.staged.arrivals(world.turn).came).unwrap_or_default();
        match seen.ended {
            Ended::Storm => {
                return Verdict::new(Did::Storm, format!("more than {}", counted(of.calls as usize, "call")));
            }
            Ended::Late => return Verdict::new(Did::Hung, hung(world.fault.kind)),
            Ended::Well if is_equal && seen.left.is_none() => {
                let attempts =
                    if world.is_invisible() { String::new() } else { format!("in {}", counted(came, "attempt")) };
                return Verdict::new(Did::Recovered, attempts);
            }
            Ended::Well | Ended::Failed => {}
        }
        // What it asked in a later step follows from what it said in an earlier one, which is judged then.
        let (met, left) = play.staged.times();
        let later = met.zip(left).map(|(met, left)| (seen.steps_before(met), seen.steps_before(left)));
        let until = later.filter(|(met, left)| left > met).map(|(_, left)| left - 1);
        let (now, recorded) = match until {
            None => (self.sent(seen, None), &recording.sent),
            Some(_) => (self.sent(seen, until), &self.sent(&recording.seen, until)),
        };
        let same = until.is_some() && now.texts == recorded.texts && now.words == recorded.words;
        if let Some(asked) = seen.left.as_ref().filter(|_| until.is_none() || same) {
            return Verdict::new(Did::WentOn, format!("asked {}", quoted(asked)));
        }
        if until.is_none()
            && let Some(status) = seen.failed_status()
        {
            return Verdict::new(Did::Reported, format!("status {status}"));
        }
        // To a client that waits for no last event, a stream that ends well with nothing in it is a whole answer.
        let failure = seen.driven.failure.as_ref();
        let is_empty =
            failure.is_some_and(|(_, error)| error.what().contains(EMPTY_STREAM)) && !self.waits_for_an_event();
        if until.is_none() && seen.ended == Ended::Failed && seen.driven.broken.is_none() && !is_empty {
            return Verdict::new(Did::Reported, "the answer breaks off");
        }
        let compared = Compared {
            recorded,
            now: &now,
            status: seen.status(),
            noise: &recording.noise,
            error_words: &self.project.discovered.suite.error_words,
            changed: changed(&recording.seen.golden, &seen.golden),
        };
        compared.verdict()
    }
}

/// What would end a world in which the service waits.
fn hung(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Hang => "waits for an answer: a timeout of the model's client would end it (SDKs have 600 s)",
        FaultKind::Stall => "waits for the rest: a read timeout of the model's client would end it (SDKs have 600 s)",
        _ => "does not end",
    }
}

/// Why a system is sick: the recorded run on it is no longer what it was.
fn sickness(again: &Seen, recording: &Recording) -> Option<String> {
    match again.ended {
        Ended::Late | Ended::Storm => Some("does not end".to_owned()),
        Ended::Failed => {
            let status = again.failed_status().map(|status| format!(" with status {status}")).unwrap_or_default();
            Some(format!("fails at step {}{status}", again.steps.len()))
        }
        Ended::Well if again.left.is_some() => Some("asks the model something else".to_owned()),
        Ended::Well if again.golden != recording.seen.golden => Some("sends something else".to_owned()),
        Ended::Well => None,
    }
}

/// The first line of a golden that another one lacks, or has in addition.
fn changed(recorded: &Golden, now: &Golden) -> Option<String> {
    let (recorded, now) = (&recorded.to_string(), &now.to_string());
    let lacks = |a: &str, b: &str, sign: char| {
        let lines: BTreeSet<&str> = b.lines().collect();
        a.lines().find(|line| !lines.contains(line)).map(|line| format!("{sign} {}", line.trim()))
    };
    lacks(now, recorded, '+').or_else(|| lacks(recorded, now, '-'))
}
