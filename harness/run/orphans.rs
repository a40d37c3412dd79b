//! Looks for fixtures and goldens without a scenario, committed or proposed, and for unknown names in the suite's `unused`.

use std::collections::BTreeSet;

use super::project::Project;
use super::verdict::has_golden;
use super::waiting::{Waiting, WaitingKind, files_of};
use crate::report::Failure;
use retake_base::error::{Error, Result};
use retake_base::text::counted;
use retake_scenario::{FixtureRef, Scenario, Unused};
use retake_wire::fixture::Fixture;

pub(super) const NAME: &str = crate::report::NO_ORPHANS;

/// Looks for files without a scenario. This compares names of files only, so it also works if not all scenarios run.
/// Fails if there are such files; the failure lists them with the command that removes them.
pub(super) fn check(project: &Project) -> Result<(), Failure> {
    let scenarios = || project.discovered.scenarios.iter();
    let broken: BTreeSet<&str> = scenarios().filter_map(|s| s.as_ref().err()).map(|b| b.name.as_str()).collect();
    // The files of a broken scenario are not known, so files that begin with its name are left alone.
    let of_broken = |name: &str| broken.iter().any(|b| name == *b || name.starts_with(&format!("{b}.")));
    let (mut fixtures, mut goldens) = (BTreeSet::new(), BTreeSet::new());
    for scenario in project.discovered.sound() {
        if let FixtureRef::Named(name) = &scenario.fixture {
            fixtures.insert(name.as_str());
        }
        if has_golden(scenario) {
            goldens.insert(scenario.golden_name.as_str());
        }
    }
    let worlds = project.discovered.sound().filter(|scenario| scenario.options.worlds.is_some());
    let worlds: BTreeSet<&str> = worlds.map(|scenario| scenario.name.as_str()).collect();
    let is_owned = |it: &Waiting| match it.kind {
        WaitingKind::Fixture => fixtures.contains(&*it.name),
        WaitingKind::Golden | WaitingKind::Values => goldens.contains(&*it.name),
        WaitingKind::Worlds => worlds.contains(&*it.name),
    };
    let look = |new: &str| -> Result<Vec<String>> {
        let orphans = files_of(&project.root, new)?.into_iter().filter(|it| !is_owned(it) && !of_broken(&it.name));
        Ok(orphans.map(|it| project.shown(&it.file).display().to_string()).collect())
    };
    // git usually ignores proposed files, so `rm` removes them.
    let (committed, proposed) = (look("")?, look(".new")?);
    if committed.is_empty() && proposed.is_empty() {
        return Ok(check_suite(project)?);
    }
    let lines: Vec<String> = committed.iter().chain(&proposed).map(|file| format!("  {file}")).collect();
    let removing = [("git rm", &committed), ("rm", &proposed)];
    let removing = removing.into_iter().filter(|(_, files)| !files.is_empty());
    let removing: Vec<String> = removing.map(|(remove, files)| format!("{remove} {}", files.join(" "))).collect();
    Err(Failure::new(format!("orphans: {} without a scenario", counted(lines.len(), "file")))
        .evidence(lines.join("\n"))
        .resolve("if nothing needs them", removing.join("\n    ")))
}

/// Checks the callers in a scenario's own `unused`, and those that its steps wait for. For the suite's `unused`, see
/// [`check_suite`].
/// Fails if a name is neither a caller of the fixture nor of a `[[callers]]` rule, with the nearest one.
pub(super) fn check_callers(project: &Project, scenario: &Scenario, fixture: Option<&Fixture>) -> Result<()> {
    let awaited = scenario.steps.iter().flat_map(|step| std::iter::once(step).chain(step.parts()));
    let awaited: Vec<String> = awaited.filter_map(|step| step.awaits.clone()).collect();
    named("await", project, &awaited, fixture.as_slice()).map_err(|error| error.in_file(&scenario.file))?;
    if scenario.options.unused == project.discovered.suite.defaults.unused {
        return Ok(());
    }
    let Unused::Callers(names) = &scenario.options.unused else { return Ok(()) };
    named("unused", project, names, fixture.as_slice()).map_err(|error| error.in_file(&scenario.file))
}

/// Checks the callers in the suite's `unused` against the fixtures of all its scenarios.
fn check_suite(project: &Project) -> Result<()> {
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
    let otherwise = "remove the name, or add a [[callers]] rule with it to scenarios/suite.toml".to_owned();
    Err(error.suggest_or(name, known, otherwise))
}
