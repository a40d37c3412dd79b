//! A run that failed, looked at once more: with its golden, and where calls missed, with these answered.

use super::advice;
use super::failing::{Failing, Golden};
use super::policy::Policy;
use super::project::Project;
use super::trial::{self, How, Replayed};
use crate::cause::CauseKind;
use crate::events::changes;
use crate::model::MissReason;
use crate::report::Failure;
use crate::scenario::{Scenario, ToolsFrom};

/// Why a run failed, with all that is known of it and what resolves it. `first` is what was found at first sight.
pub(super) fn failure(project: &Project, scenario: &Scenario, run: &Replayed, first: Failure) -> Failure {
    let second = second(project, scenario, run);
    let judged = second.as_ref().unwrap_or(run);
    // One that is written anew is not looked at.
    let compared = project.goldens.policy() != Policy::Overwrite;
    let text = if compared { judged.golden_text(scenario, &judged.rules) } else { None };
    let golden = text.and_then(|text| {
        let committed = project.goldens.text(&scenario.golden_name)?;
        let changes = changes(&committed, &text);
        Some(Golden { committed, text, changes })
    });
    let seen = golden.as_ref().is_some_and(|golden| !golden.changes.is_empty()) || !run.findings(scenario).is_none();
    let failing = Failing { run, scenario, second: second.as_ref(), golden };
    let failure = if seen { failing.failure() } else { first };
    advice::resolved(project, scenario, run, failure)
}

/// The second replay, where calls missed that may have been meant for a turn.
fn second(project: &Project, scenario: &Scenario, run: &Replayed) -> Option<Replayed> {
    let late = matches!(&run.played.driven.failure, Some((CauseKind::TimeUp, _)));
    // What is attached, and what calls live tools, may do more each time.
    let has_effects = project.systems.is_attached(scenario) || scenario.tools_from == ToolsFrom::Live;
    let meant = run.misses.iter().any(|miss| {
        matches!(
            miss.reason,
            MissReason::NotRecorded
                | MissReason::RequestNotRecorded { .. }
                | MissReason::OtherCaller { .. }
                | MissReason::Ambiguous { .. }
                | MissReason::AllServed { .. }
        )
    });
    if late || has_effects || !meant || run.fixture.is_none() {
        return None;
    }
    let how = How { goes_on: true, ..How::default() };
    trial::replay(project, scenario, run.fixture.clone(), &run.rules, how).ok()
}
