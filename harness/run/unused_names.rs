//! Looks for unknown callers in `unused` and `await`. Without this check, a typing mistake in `unused` would have no effect, and
//! one in `await` would make the step wait until the timeout.

use super::project::Project;
use retake_base::error::{Error, Result};
use retake_base::text::nearest;
use retake_scenario::{Scenario, Unused};
use retake_wire::fixture::Fixture;

/// Checks the callers in a scenario's own `unused`, and those that its steps wait for. For the suite's `unused`, see
/// [`check_suite`].
/// Fails if a name is neither a caller of the fixture nor of a `[[callers]]` rule, with the nearest one.
pub(super) fn check(project: &Project, scenario: &Scenario, fixture: Option<&Fixture>) -> Result<()> {
    let awaited = scenario.steps.iter().flat_map(|step| std::iter::once(step).chain(step.parts()));
    let awaited: Vec<String> = awaited.filter_map(|step| step.awaits.clone()).collect();
    named("await", project, &awaited, fixture.as_slice()).map_err(|error| error.in_file(&scenario.file))?;
    if scenario.unused == project.discovered.suite.defaults.unused {
        return Ok(());
    }
    let Unused::Callers(names) = &scenario.unused else { return Ok(()) };
    named("unused", project, names, fixture.as_slice()).map_err(|error| error.in_file(&scenario.file))
}

/// Checks the callers in the suite's `unused` against the fixtures of all its scenarios.
/// As [`check`].
pub(super) fn check_suite(project: &Project) -> Result<()> {
    let suite = &project.discovered.suite;
    let Unused::Callers(names) = &suite.defaults.unused else { return Ok(()) };
    let fixtures: Result<Vec<_>> = project.discovered.sound().map(|scenario| project.fixtures.of(scenario)).collect();
    // The callers of a broken scenario or fixture are not known. Its own trial reports it.
    let (Ok(fixtures), true) = (fixtures, project.discovered.scenarios.iter().all(Result::is_ok)) else {
        return Ok(());
    };
    let fixtures: Vec<&Fixture> = fixtures.iter().flatten().map(|fixture| &**fixture).collect();
    named("unused", project, names, &fixtures).map_err(|error| error.in_file(&suite.path))
}

fn named(option: &str, project: &Project, names: &[String], fixtures: &[&Fixture]) -> Result<()> {
    let of_turns = fixtures.iter().flat_map(|fixture| fixture.table.turns()).filter_map(|turn| turn.caller.as_deref());
    let of_rules = project.discovered.suite.callers.iter().map(|rule| rule.name.as_str());
    let known: Vec<&str> = of_turns.chain(of_rules).collect();
    let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) else { return Ok(()) };
    let error = Error::new(format!("`{option}` names `{name}`, which is not the caller of any recorded turn or rule"));
    Err(match nearest(name, known.iter().copied()) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error.help("remove the name, or add a [[callers]] rule with it to scenarios/suite.toml"),
    })
}
