//! A run that failed, looked at once more: with its golden, and where calls missed, with these answered.

use super::advice::Tried;
use super::failing::{Failing, Golden};
use super::policy::Policy;
use super::project::Project;
use super::trial::{self, How, Replayed};
use crate::cause::CauseKind;
use crate::events::{changes, changes_until_break};
use crate::model::{GoingOn, MissReason};
use crate::report::Failure;
use crate::scenario::{Scenario, ToolsFrom};

/// Why a run failed, with all that is known of it and what resolves it. `first` is what was found at first sight.
pub(super) fn failure(project: &Project, scenario: &Scenario, run: &Replayed, first: Failure) -> Failure {
    let second = second(project, scenario, run);
    let judged = second.as_ref().unwrap_or(run);
    // One that is written anew is not looked at.
    let compared = project.goldens.policy() != Policy::Overwrite;
    let text = if compared { judged.own_golden(scenario).cloned() } else { None };
    let golden = text.and_then(|text| {
        let committed = project.goldens.text(&scenario.golden_name)?;
        let changes = match judged.came_of_what_broke() {
            None => changes(&committed, &text),
            Some(mut came) => {
                came.retain(|name| !scenario.golden.ignores(name));
                changes_until_break(&committed, &text, &came)
            }
        };
        Some(Golden { committed, text, changes })
    });
    let seen = golden.as_ref().is_some_and(|golden| !golden.changes.is_empty()) || !run.findings(scenario).is_none();
    // After a miss, what a system prints of it follows from that.
    let told = second.as_ref().filter(|second| !second.unanswered).unwrap_or(run);
    let log = project.keep_logs(&scenario.name, &told.played.systems);
    let failing = Failing { run, scenario, second: second.as_ref(), golden, logs: &told.played.systems, log };
    let failure = if seen { failing.failure() } else { first };
    let again = may_play_again(project, scenario, run);
    Tried { project, scenario, run, second: second.as_ref(), again }.resolved(failure)
}

/// The second replay, where calls missed that may have been meant for a turn.
fn second(project: &Project, scenario: &Scenario, run: &Replayed) -> Option<Replayed> {
    // What was asked of a tool is not got over.
    let meant = run.misses.first().is_some_and(|miss| {
        matches!(
            miss.reason,
            MissReason::NotRecorded
                | MissReason::RequestNotRecorded { .. }
                | MissReason::OtherCaller { .. }
                | MissReason::Ambiguous { .. }
                | MissReason::AllServed { .. }
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
    let is_whole = |run: &Replayed| run.unused.is_empty() && run.played.error().is_none() && !run.unanswered;
    if is_whole(&second) || run.misses.first().is_none_or(|miss| miss.reason != MissReason::NotRecorded) {
        return Some(second);
    }
    // A call that is one more than was recorded may have had an answer that the service can do nothing with.
    Some(play(GoingOn::Aside).filter(is_whole).unwrap_or(second))
}

/// Whether the scenario may be played again for more to be known: it takes its time, and what is attached, or calls live
/// tools, may do more each time.
fn may_play_again(project: &Project, scenario: &Scenario, run: &Replayed) -> bool {
    let late = matches!(&run.played.driven.failure, Some((CauseKind::TimeUp, _)));
    !late && !project.systems.is_attached(scenario) && scenario.tools_from != ToolsFrom::Live
}
