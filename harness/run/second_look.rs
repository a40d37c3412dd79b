//! Examines a failed run: compares it with its golden, and if calls missed, replays it with answers to these calls.

use super::advice::Tried;
use super::failing::{Comparison, Failing};
use super::project::Project;
use super::trial::{self, How, Replayed};
use crate::report::Failure;
use retake_base::cause::CauseKind;
use retake_core::events::changes_until_break;
use retake_model::{GoingOn, MissReason};
use retake_scenario::{Scenario, ToolsFrom};

/// The full failure of a run, with its advice. `of_golden` is the failure of its golden, used if nothing else is found.
pub(super) fn failure(project: &Project, scenario: &Scenario, run: &Replayed, of_golden: Option<Failure>) -> Failure {
    let mut second = second(project, scenario, run);
    if let Some(second) = &mut second {
        second.measure(project, scenario, None, false);
    }
    let judged = second.as_ref().unwrap_or(run);
    let committed = project.goldens.compared(&scenario.golden_name);
    let golden = committed.and_then(|committed| judged.sides(scenario, &committed)).map(|sides| {
        let changes = match judged.events_of_failed_step() {
            None => sides.changes(),
            Some(mut came) => {
                came.retain(|name| !scenario.golden.ignores(name));
                changes_until_break(&sides.was, &sides.is, &came)
            }
        };
        Comparison { sides, changes }
    });
    // Show the output of the second replay if it had no miss: after a miss, the system mostly prints its consequences.
    let logged = second.as_ref().filter(|second| !second.log.unanswered).unwrap_or(run);
    let log = project.keep_logs(&scenario.name, &logged.played.systems);
    let failing = Failing { golden, logs: &logged.played.systems, log, ..Failing::of(run, second.as_ref(), scenario) };
    project.note_calls(scenario, run, |miss| failing.explained(miss));
    let of_golden = of_golden.filter(|_| !failing.differs_from_golden());
    let failure = of_golden.unwrap_or_else(|| failing.failure());
    let (again, unused) = (may_play_again(project, scenario, run), &failing.findings.unused);
    Tried { project, scenario, run, second: second.as_ref(), unused, again }.resolved(failure)
}

/// The second replay, if a call missed that may belong to a turn.
fn second(project: &Project, scenario: &Scenario, run: &Replayed) -> Option<Replayed> {
    use MissReason::{AllServed, Ambiguous, NotRecorded, OtherCaller, RequestNotRecorded};
    // A request to a tool that missed cannot be answered in a second replay.
    let meant = run.misses.first().is_some_and(|miss| {
        matches!(
            miss.reason,
            NotRecorded | RequestNotRecorded { .. } | OtherCaller { .. } | Ambiguous { .. } | AllServed { .. }
        )
    });
    let keeps = run.fixture.as_ref().is_some_and(|fixture| fixture.keeps_conversations());
    if !meant || !keeps || !may_play_again(project, scenario, run) {
        return None;
    }
    let play = |going_on| {
        let how = How { going_on, ..How::default() };
        trial::replay(project, scenario, run.fixture.clone(), &run.rules, how).ok()
    };
    let second = play(GoingOn::Meant)?;
    let is_whole = |run: &Replayed| run.log.unused.is_empty() && run.played.error().is_none() && !run.log.unanswered;
    if is_whole(&second) || run.misses.first().is_none_or(|miss| miss.reason != NotRecorded) {
        return Some(second);
    }
    // The call may be an additional one, for which the answer of its nearest turn made no sense. Try any other text.
    Some(play(GoingOn::Aside).filter(is_whole).unwrap_or(second))
}

/// Whether the scenario may be replayed again to find out more. Not after a timeout, which would cost the same time again, and
/// not if the system is attached or uses live tools, where each run may have lasting effects.
pub(super) fn may_play_again(project: &Project, scenario: &Scenario, run: &Replayed) -> bool {
    let driven = &run.played.driven;
    let late = !driven.gave_up && matches!(&driven.failure, Some((CauseKind::TimeUp, _)));
    !late && !project.systems.is_attached(scenario) && scenario.tools_from != ToolsFrom::Live
}
