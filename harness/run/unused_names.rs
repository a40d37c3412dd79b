//! Names in `unused` that name nobody: a typing mistake there would allow nothing, without a word.

use super::project::Project;
use crate::error::{Error, Result};
use crate::fixture::Fixture;
use crate::scenario::{Scenario, Unused};
use crate::text::nearest;

/// Checks the names that a scenario has of its own. Those of the suite hold for all: see [`check_suite`].
///
/// # Errors
/// The name that is neither a caller of the fixture nor of a `[[callers]]` rule, with the nearest one.
pub(super) fn check(project: &Project, scenario: &Scenario, fixture: Option<&Fixture>) -> Result<()> {
    if scenario.unused == project.discovered.suite.defaults.unused {
        return Ok(());
    }
    named(project, &scenario.unused, fixture.as_slice()).map_err(|error| error.in_file(&scenario.file))
}

/// Checks the names that the suite has, against the fixtures of all its scenarios.
///
/// # Errors
/// As [`check`].
pub(super) fn check_suite(project: &Project) -> Result<()> {
    let suite = &project.discovered.suite;
    if !matches!(suite.defaults.unused, Unused::Callers(_)) {
        return Ok(());
    }
    let fixtures: Result<Vec<_>> = project.discovered.sound().map(|scenario| project.fixtures.of(scenario)).collect();
    // What a broken scenario or fixture holds cannot be known, and it is told by its own trial.
    let (Ok(fixtures), true) = (fixtures, project.discovered.scenarios.iter().all(Result::is_ok)) else {
        return Ok(());
    };
    let fixtures: Vec<&Fixture> = fixtures.iter().flatten().map(|fixture| &**fixture).collect();
    named(project, &suite.defaults.unused, &fixtures).map_err(|error| error.in_file(&suite.path))
}

fn named(project: &Project, unused: &Unused, fixtures: &[&Fixture]) -> Result<()> {
    let Unused::Callers(names) = unused else { return Ok(()) };
    let of_turns = fixtures.iter().flat_map(|fixture| fixture.table.turns()).filter_map(|turn| turn.caller.as_deref());
    let of_rules = project.discovered.suite.callers.iter().map(|rule| rule.name.as_str());
    let known: Vec<&str> = of_turns.chain(of_rules).collect();
    let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) else { return Ok(()) };
    let error = Error::new(format!("`unused` names `{name}`, which is the caller of no recorded turn and of no rule"));
    Err(match nearest(name, known.iter().copied()) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error.help("remove the name, or add the [[callers]] rule that gives it to scenarios/suite.toml"),
    })
}
