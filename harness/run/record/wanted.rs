//! Which scenarios to record: those with a name, those with a text in their name, or all.

use crate::report::terminal;
use crate::run::project::Project;
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};
use retake_scenario::{Broken, FixtureRef, Scenario, is_name, name_of};

/// The scenarios that the words name; with `all`, every one. A word is a scenario's whole name, otherwise a part of names. If a
/// word or `all` chooses several, they are printed before anything is paid, each fixture is recorded only once, and scenarios
/// that call no model are left out.
/// Fails if a word matches no scenario, with the nearest name; or if a chosen scenario cannot be read.
pub(in crate::run) fn wanted<'a>(
    project: &'a Project,
    words: &[String],
    all: bool,
    doing: &str,
) -> Result<Vec<&'a Scenario>> {
    let mut chosen = Vec::new();
    if all {
        chosen = of_each_fixture(&holding(project, "")?, doing);
    }
    for word in words {
        chosen.extend(match &holding(project, word)?[..] {
            [] => return Err(none_is_called(project, word)),
            [only] => vec![*only],
            several => of_each_fixture(several, doing),
        });
    }
    let mut seen = Vec::new();
    chosen.retain(|scenario| !seen.contains(&&scenario.name) && (seen.push(&scenario.name), true).1);
    Ok(chosen)
}

/// Whether a word names a scenario: by its whole name if one is called so, and otherwise by a part of it.
pub(in crate::run) fn is_named(project: &Project, found: &Result<Scenario, Broken>, word: &str) -> bool {
    let is_called = project.discovered.scenarios.iter().any(|found| name_of(found) == word);
    if is_called { name_of(found) == word } else { name_of(found).contains(word) }
}

/// The scenarios that a word names.
fn holding<'a>(project: &'a Project, text: &str) -> Result<Vec<&'a Scenario>> {
    let named = project.discovered.scenarios.iter().filter(|found| is_named(project, found, text));
    named.map(|found| found.as_ref().map_err(|broken| broken.error.clone())).collect()
}

/// One scenario for each fixture: the one with the fixture's name, otherwise the first. The others replay its recording. Prints which
/// they are.
fn of_each_fixture<'a>(scenarios: &[&'a Scenario], doing: &str) -> Vec<&'a Scenario> {
    let fixture = |scenario: &'a Scenario| match &scenario.fixture {
        FixtureRef::Named(name) if scenario.tools.is_none() => Some(name),
        _ => None,
    };
    let (chosen, others): (Vec<&Scenario>, Vec<_>) = scenarios.iter().partition(|scenario| {
        let Some(name) = fixture(scenario) else { return false };
        let mut of_fixture = scenarios.iter().filter(|other| fixture(other) == Some(name));
        let recorder = of_fixture.clone().find(|other| other.name == *name).or_else(|| of_fixture.next());
        recorder.is_some_and(|recorder| recorder.name == scenario.name)
    });
    let names = |of: &[&Scenario]| of.iter().map(|scenario| scenario.name.as_str()).collect::<Vec<_>>().join(", ");
    let others = (!others.is_empty()).then(|| format!("without a recording of their own: {}", names(&others)));
    let some = (!chosen.is_empty()).then(|| format!("{doing} {}: {}", chosen.len(), names(&chosen)));
    terminal::note(some.into_iter().chain(others).collect::<Vec<_>>().join("; "));
    chosen
}

fn none_is_called(project: &Project, word: &str) -> Error {
    let error = Error::new(format!("no scenario is called `{word}`"));
    let known = project.discovered.sound().map(|scenario| scenario.name.as_str());
    let create = format!("to create it: {RETAKE} new {word}");
    if is_name(word) { error.suggest_or(word, known, create) } else { error.suggest(word, known) }
}
