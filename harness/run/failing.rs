//! Builds the failure of a run: its causes, each before its consequences, and the evidence.
//!
//! The consequences of a miss hide other differences from the recording. A run with misses is therefore replayed a second time,
//! in which calls that miss get an answer too. Whatever is still wrong then is a cause of its own.

use retake_core::key::attributed;
use std::path::PathBuf;

use super::findings::Findings;
use super::trial::Replayed;
use super::verdict::{SHOWN, Sides};
use crate::report::{Evidence, Failure};
use retake_base::cause::{Cause, CauseClass, CauseKind};
use retake_base::error::Error;
use retake_base::line::{Line, lines_of};
use retake_base::precedence;
use retake_base::text::{counted, listed, nth_turn};
use retake_core::events::Change;
use retake_engine::system::LogOf;
use retake_model::{CallFlaw, Difference, FlawKind, Miss, MissedCall, answer_in_short};
use retake_scenario::Scenario;

/// The most causes on the first line.
const NAMED: usize = 3;

/// A run that failed, with all that is known about it. Its failure is a function of this, computed once, after the run.
pub(super) struct Failing<'a> {
    pub(super) run: &'a Replayed,
    /// A second replay in which calls that miss are answered: see [`retake_model::GoingOn`].
    pub(super) second: Option<&'a Replayed>,
    /// What is wrong with the run.
    pub(super) findings: Findings<'a>,
    /// What is wrong with the second replay.
    pub(super) findings_of_second: Option<Findings<'a>>,
    /// The comparison with the committed golden, if there is one.
    pub(super) golden: Option<Comparison>,
    /// The output of the systems.
    pub(super) logs: &'a [LogOf],
    /// The file with the whole output.
    pub(super) log: Option<PathBuf>,
}

/// A committed golden compared with a run.
pub(super) struct Comparison {
    pub(super) sides: Sides,
    /// The differences.
    pub(super) changes: Vec<Change>,
}

impl<'a> Failing<'a> {
    /// A run, and a second replay of it if there is one. The golden and the output may be added.
    pub(super) fn of(run: &'a Replayed, second: Option<&'a Replayed>, scenario: &Scenario) -> Failing<'a> {
        let (findings, findings_of_second) = (run.findings(scenario), second.map(|second| second.findings(scenario)));
        Failing { run, second, findings, findings_of_second, golden: None, logs: &run.played.systems, log: None }
    }

    /// The failure, without advice: each finding is a cause, or evidence if it follows from the causes before it.
    pub(super) fn failure(&self) -> Failure {
        let Failing { findings, second, .. } = self;
        let later = self.findings_of_second.as_ref().unwrap_or(findings);
        let mut failure = Failure::of(Vec::new());
        let follows = findings.misses && second.is_some() && later.fault.is_none();
        add_error(findings.fault, !follows, "after the miss", &mut failure);
        let (let_in, step) = if findings.let_in { (findings.step, None) } else { (None, findings.step) };
        add_error(let_in, failure.causes.is_empty(), "after that", &mut failure);
        let causes = failure.causes.len();
        self.add_misses(&mut failure);
        if findings.let_in {
            failure.causes.truncate(causes);
        }
        let compared = self.golden.as_ref().map(|golden| &golden.sides.was);
        let committed = compared.or(self.run.committed.as_ref().map(|committed| &committed.golden));
        let refusal = |of: &CallFlaw| Cause::new(CauseKind::WrongKey, format!("the model server refused {}", of.what));
        failure.causes.extend(self.refused().filter(|_| !findings.misses).map(refusal));
        let error_event = second.unwrap_or(self.run).error_event(committed).filter(|_| !self.is_after_a_miss());
        // What the model answered last may be an error, which the service bore when it was recorded.
        let turns = || self.run.fixture.as_ref().map(|fixture| fixture.table.turns());
        let status = || Some(turns()?.get(self.run.log.left_after?.0)?.wire.as_ref()?.response.status);
        let error = status().filter(|status| *status >= 400);
        let after_error = |mut cause: Cause| {
            cause.what.extend(error.map(|status| format!(", after status {status} of the model")));
            cause
        };
        if only_misses(&failure) {
            failure.causes.extend(error_event.map(after_error));
        }
        // Next to a miss, a step that failed counts only if it also fails in the second replay.
        let again = second.is_some_and(|second| !second.played.driven.gave_up)
            && later.step.is_some()
            && later.fault.is_none()
            && failure.causes.len() < 2;
        let of_its_own = only_misses(&failure) && (failure.causes.is_empty() || again);
        // What was different before a step failed may be why it did.
        let before = of_its_own && failure.causes.is_empty() && step.is_some() && self.differs_from_golden();
        if before && self.run.left_within_a_step(&findings.unused) {
            self.add_unused(later, &mut failure);
        }
        if before {
            self.add_golden(&mut failure);
        }
        let leads = of_its_own && (!before || failure.causes.is_empty());
        add_error(step, leads, "after that", &mut failure);
        if leads && step.is_some() {
            let failed = failure.causes.pop();
            failure.causes.extend(failed.map(after_error));
        }
        if !before || failure.causes.iter().all(|cause| cause.kind != CauseKind::StoppedAsking) {
            self.add_unused(later, &mut failure);
        }
        for other in &findings.others {
            let stands = |cause: &&Cause| !precedence::follows(cause.kind, &failure.causes);
            let causes = other.causes.iter().filter(stands).cloned().collect();
            failure.add(Failure { causes, ..other.clone() });
        }
        // What a tool said in the end is what it said once, then.
        if failure.causes.iter().any(|cause| cause.kind == CauseKind::ToolResult) {
            failure.causes.splice(0..0, self.run.gave_up_a_tool());
        }
        // If the golden differs, a name without an event is not misspelt: the event is gone.
        if let Some(nothing) = &findings.names_nothing {
            if self.differs_from_golden() {
                failure.evidence.push(format!("and then {}", nothing.headline()).into());
                failure.evidence.extend(nothing.evidence.iter().cloned());
            } else {
                failure.add(nothing.clone());
            }
        }
        if !before {
            self.add_golden(&mut failure);
        }
        if failure.causes.is_empty() {
            failure.causes.extend(self.run.misses.iter().take(1).flat_map(|miss| miss.causes.clone()));
        }
        let more = failure.causes.len().saturating_sub(NAMED);
        if more > 0 {
            failure.causes.truncate(NAMED);
            failure = failure.evidence(format!("and {}", counted(more, "more cause")));
        }
        self.add_logs(&mut failure);
        failure
    }

    /// Whether something changed between the committed golden and this run.
    pub(super) fn differs_from_golden(&self) -> bool {
        self.golden.as_ref().is_some_and(|golden| !golden.changes.is_empty())
    }

    /// Adds the differences of the calls that missed, without repetitions and consequences of earlier differences.
    fn add_misses(&self, failure: &mut Failure) {
        // Each call that missed, and how often a client repeated it.
        let mut calls: Vec<(&Miss, usize)> = Vec::new();
        for miss in &self.run.misses {
            match calls.iter_mut().find(|(known, _)| is_same(known, miss)) {
                Some((_, times)) => *times += 1,
                None => calls.push((miss, 1)),
            }
        }
        let Some(((first, times), others)) = calls.split_first() else { return };
        let second = self.second.map(|second| second.log.missed.as_slice()).unwrap_or_default();
        let unasked = self.second.map(Replayed::answers_not_asked_for).unwrap_or_default();
        let mut found: Vec<&Difference> = Vec::new();
        let mut more = Vec::new();
        for (index, call) in second.iter().enumerate() {
            for difference in &call.differences {
                let is_told = found.iter().any(|earlier| difference.follows_from(earlier));
                if is_told || unasked.iter().any(|answer| difference.lacks(answer)) {
                    continue;
                }
                found.push(difference);
                if index > 0 {
                    more.push(format!("  {}", difference.cause.what).into());
                    more.extend(difference.lines.iter().skip(1).map(|line| line.clone().indented(2)));
                }
            }
        }
        let explained = self.explained(first);
        if second.is_empty() || (found.is_empty() && unasked.is_empty()) {
            failure.causes.extend(explained.causes.iter().cloned());
        } else {
            failure.causes.extend(found.into_iter().map(|difference| difference.cause.clone()));
        }
        failure.evidence.push(Evidence::Calls { lines: details(&explained, *times) });
        if !more.is_empty() {
            failure.evidence.push(Evidence::Calls { lines: more });
        }
        // If a tool answered differently, that is why the agent asked differently.
        if !self.run.played.tools.drift.is_empty() {
            let drift = self.run.played.tools.drift.join("\n            ");
            failure.evidence.push(format!("because of: {drift}").into());
        }
        self.add_other_misses(others, failure);
    }

    /// Whether what happened in the run may follow from a miss: no second replay answered all calls that missed.
    fn is_after_a_miss(&self) -> bool {
        self.refused().is_some() || self.findings.misses && self.second.is_none_or(|second| second.log.unanswered)
    }

    /// The first call that was refused, as one that brought no key.
    fn refused(&self) -> Option<&CallFlaw> {
        self.run.played.flaws.iter().find(|flaw| flaw.kind == FlawKind::Refused)
    }

    /// A miss with its best explanation: that of the second replay, otherwise that of the run itself.
    pub(super) fn explained(&self, miss: &Miss) -> Miss {
        let is_it = |call: &&MissedCall| {
            call.lookup.via == miss.via && call.lookup.caller == miss.caller && Some(call.key) == miss.key
        };
        let later = self.second.iter().flat_map(|second| &second.log.missed);
        let call = later.chain(&self.run.log.missed).find(is_it);
        call.map_or_else(|| miss.clone(), |call| call.explained(miss))
    }

    /// Adds the other calls that missed: a block for each, or a single line if they follow from the first miss.
    fn add_other_misses(&self, others: &[(&Miss, usize)], failure: &mut Failure) {
        if self.second.is_some() && !others.is_empty() {
            let callers: Vec<&str> = others.iter().take(SHOWN).filter_map(|(of, _)| of.caller.as_deref()).collect();
            let by = if callers.is_empty() { String::new() } else { format!(": by {}", listed(&callers)) };
            let calls = counted(others.len(), "more call");
            failure.evidence.push(format!("after that {calls} missed as a consequence{by}").into());
            return;
        }
        for (miss, times) in others.iter().take(SHOWN - 1) {
            let explained = self.explained(miss);
            let mut lines = lines_of(&explained.headline());
            lines.extend(details(&explained, *times));
            failure.evidence.push(Evidence::Calls { lines });
        }
        if others.len() >= SHOWN {
            let more = counted(others.len() + 1 - SHOWN, "more call");
            failure.evidence.push(format!("… and {more} that missed").into());
        }
    }

    /// Adds the turns that no call asked for, and after which call the run left the recording.
    fn add_unused(&self, later: &Findings<'_>, failure: &mut Failure) {
        let misses = self.findings.misses;
        let (run, unused) = match self.second {
            Some(second) if misses => (second, &later.unused),
            _ => (self.run, &self.findings.unused),
        };
        // One that a missed call resembles most was asked for, in other words.
        let is_nearest = |turn: &usize| self.run.log.missed.iter().any(|of| of.nearest == Some(*turn));
        let unused: Vec<usize> = unused.iter().copied().filter(|turn| !is_nearest(turn)).collect();
        let Some(fixture) = run.fixture.as_ref().filter(|_| !unused.is_empty()) else { return };
        let all_found = run.log.missed.iter().all(|of| of.nearest.is_some()) || !run.answers_not_asked_for().is_empty();
        let next_to_misses = misses && !self.is_after_a_miss() && all_found && later.step.is_none();
        if failure.causes.is_empty() || next_to_misses && only_misses(failure) {
            failure.causes.extend(run.unused_cause(&unused));
        } else if misses && self.second.is_none() {
            return;
        }
        let mut lines: Vec<String> = Vec::new();
        if let Some((turn, call)) = run.log.left_after {
            let answer = answer_in_short(&fixture.table.turns()[turn]);
            lines.push(format!("  the run left the recording after call {call}: {} ({answer})", nth_turn(turn)));
        }
        lines.extend(unused.iter().take(SHOWN).map(|index| {
            let turn = &fixture.table.turns()[*index];
            let by = attributed(", by", turn.caller.as_deref());
            format!("  not asked: {}{by}: {}", fixture.place_of(*index), answer_in_short(turn))
        }));
        if unused.len() > SHOWN {
            lines.push(format!("  … and {} more", unused.len() - SHOWN));
        }
        failure.evidence.push(lines.join("\n").into());
    }

    /// Adds the differences from the golden: as a cause if nothing else can have led to them, otherwise as evidence.
    fn add_golden(&self, failure: &mut Failure) {
        let Some(golden) = &self.golden else { return };
        // Events that come after an error, or are missing there, are its consequence.
        let is_after = failure.causes.iter().any(|cause| cause.kind == CauseKind::ErrorEvent);
        let before = |of: &&Change| !is_after || matches!(of.kind(), CauseKind::Status | CauseKind::ContentType);
        let changes: Vec<&Change> = golden.changes.iter().filter(before).collect();
        if changes.is_empty() {
            return;
        }
        // The consequences of a miss that stayed unanswered say nothing, and neither do those of a model that is out of reach.
        let unreached =
            self.run.log.calls.is_empty() && failure.causes.iter().any(|cause| cause.kind == CauseKind::StoppedAsking);
        if unreached || self.is_after_a_miss() {
            return;
        }
        let alone = failure.causes.is_empty();
        let is_named = |change: &&Change| precedence::is_named(change.kind(), change.is_less, &failure.causes);
        let own: Vec<&Change> = changes.iter().copied().filter(|change| alone || is_named(change)).collect();
        let only_evidence = own.is_empty();
        failure.causes.extend(own.into_iter().map(Change::cause));
        let words: Vec<String> = changes.iter().map(|change| format!("  {}", change.words())).collect();
        let words =
            if alone && words.len() == 1 { String::new() } else { words[..words.len().min(SHOWN)].join("\n") + "\n" };
        // After an early end, a diff would show everything that did not come.
        if is_after || self.second.unwrap_or(self.run).events_of_failed_step().is_some() {
            let title = if alone { "the golden differs:\n" } else { "before that the golden differs too:\n" };
            let told = (!words.is_empty()).then(|| format!("{title}{}", words.trim_end()).into());
            return failure.evidence.extend(told);
        }
        let title = if only_evidence { "the golden differs too:\n" } else { "" };
        let diff = golden.sides.diff();
        failure.evidence.push(Evidence::diff(format!("{title}{words}- golden, + this run"), diff));
    }

    /// Adds the output of the systems, if the causes alone do not explain the failure.
    fn add_logs(&self, failure: &mut Failure) {
        use CauseKind::{CallerSilent, Crash, ErrorEvent, Step, StoppedAsking, TimeUp};
        let tells = |it: &Cause| !matches!(it.kind, Crash | TimeUp | Step | ErrorEvent | StoppedAsking | CallerSilent);
        if failure.causes.iter().all(tells) {
            return;
        }
        // Leave out what the model server answered to a miss: the failure shows the miss already.
        let is_new = |line: &&str| !["replay_miss", "replay miss:"].iter().any(|mark| line.contains(mark));
        let quoted = |log: &LogOf| log.quoted.lines().filter(is_new).collect::<Vec<_>>().join("\n");
        failure.evidence.extend(self.logs.iter().map(quoted).map(|text| Evidence::Log { text }));
        failure.evidence.extend(self.log.iter().map(|file| format!("the whole log: {}", file.display()).into()));
    }
}

/// Adds an error: as a cause, or as evidence of what came after the cause.
fn add_error(found: Option<&(CauseKind, Error)>, is_cause: bool, after: &str, failure: &mut Failure) {
    match found {
        Some((kind, error)) if is_cause => {
            failure.causes.push(Cause::of(*kind, error));
            failure.hints.extend(error.hints().iter().cloned());
        }
        Some((_, error)) => failure.evidence.push(format!("{after}: {error}").into()),
        None => {}
    }
}

fn only_misses(failure: &Failure) -> bool {
    failure.causes.iter().all(|cause| cause.kind.class() == CauseClass::Miss)
}

/// Whether two misses are of the same call, which a client repeated.
fn is_same(a: &Miss, b: &Miss) -> bool {
    a.via == b.via && a.caller == b.caller && a.key == b.key && (a.key.is_some() || a.reason == b.reason)
}

fn details(miss: &Miss, times: usize) -> Vec<Line> {
    let mut lines = miss.detail_lines();
    if times > 1 {
        lines.push(format!("  again      the same call came {times} times").into());
    }
    lines
}
