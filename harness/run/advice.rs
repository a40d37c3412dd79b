//! What resolves a failure. Each piece of advice was tried, or is the command that accepts the change.

use super::commands::record_command;
use super::policy::Policy;
use super::project::Project;
use super::trial::Replayed;
use crate::cause::{CauseClass, CauseKind};
use crate::report::Failure;
use crate::scenario::Scenario;

/// A failure with what resolves it.
pub(super) fn resolved(project: &Project, scenario: &Scenario, run: &Replayed, failure: Failure) -> Failure {
    let name = &scenario.name;
    let kinds: Vec<CauseKind> = failure.causes.iter().map(|cause| cause.kind).collect();
    let class = |class: CauseClass| kinds.iter().any(|kind| kind.class() == class);
    let mut failure = failure;
    if kinds.iter().any(|kind| is_recorded_anew(*kind)) {
        let resume = if equals_in_part(run) { " --resume" } else { "" };
        failure = failure.resolve("if the change is meant", format!("{}{resume}", record_command(name)));
    } else if class(CauseClass::Golden) {
        failure = failure.resolve("if the change is meant", project.commands.update(name));
        if project.goldens.policy() == Policy::Propose {
            failure = failure.resolve("to look at it first", "cargo insta review");
        }
    }
    failure
}

/// Whether a change of this kind, where it is meant, is accepted by another recording.
fn is_recorded_anew(kind: CauseKind) -> bool {
    let is_asked = matches!(kind.class(), CauseClass::Miss | CauseClass::Unused | CauseClass::Drift);
    is_asked
        && !matches!(
            kind,
            CauseKind::WrongKey
                | CauseKind::WrongUrl
                | CauseKind::Unreadable
                | CauseKind::CallerUnknown
                | CauseKind::NoModelExpected
        )
}

/// Whether another recording can be served from this one in part: a turn was asked for, with checks that are as recorded.
fn equals_in_part(run: &Replayed) -> bool {
    let Some(fixture) = run.fixture.as_ref().filter(|fixture| fixture.keeps_conversations()) else { return false };
    let drifted = |turn: &usize| run.played.drift.iter().any(|(of, _)| of == turn);
    (0..fixture.table.turns().len()).any(|turn| !run.unused.contains(&turn) && !drifted(&turn))
}
