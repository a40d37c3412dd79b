//! The proof that stands before each file that is written: two replays must agree, the second in another work folder, on
//! other ports, and with its answers shaken in time.

use std::sync::Arc;

use crate::fixture::Fixture;
use crate::model::Delays;
use crate::project::Project;
use crate::report::{Failure, terminal, unified};
use crate::scenario::Scenario;
use crate::trial;

/// Replays a scenario twice and gives the text for its golden, where it has one.
///
/// # Errors
/// Why one of the runs failed, or the lines in which they differ.
pub(crate) fn prove(
    project: &Project,
    scenario: &Scenario,
    fixture: Option<&Arc<Fixture>>,
) -> Result<Option<String>, Failure> {
    let replay = |delays| {
        let played = trial::replay(project, scenario, fixture.cloned(), delays)?;
        project.note(&scenario.name, played.notes(scenario));
        played.verdict(scenario, project)
    };
    let first = replay(Delays::None)?;
    if project.is_attached(scenario) {
        terminal::note(format!("{}: its system is attached, so one replay has to do in place of two", scenario.name));
        return Ok(first);
    }
    let second = replay(Delays::Shaken)?;
    if first == second {
        return Ok(first);
    }
    let (first, second) = (first.unwrap_or_default(), second.unwrap_or_default());
    let name = &scenario.name;
    let mut failure =
        Failure::new(format!("unstable: two replays of scenario `{name}` differ, so nothing was written"))
            .evidence(format!("these lines vary from run to run:\n{}", unified(&first, &second)));
    if project.is_shared(scenario) {
        let why = "the first one had the shared system, which may know of earlier scenarios, \
                   the second one a process of its own";
        failure = failure.evidence(why);
    }
    Err(failure
        .resolve("if order or number may vary", "unordered = [\"EVENT\"] or collapse = [\"EVENT\"] under [golden]")
        .resolve("if a value may", "a [[normalize]] rule in scenarios/suite.toml"))
}
