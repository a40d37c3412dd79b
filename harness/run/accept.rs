//! Accepting goldens and fixtures that wait for a decision. A waiting file replaces the committed one only after a proof: two
//! replays have to agree with each other, and with the file that the user looked at.

use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use super::golden::Committed;
use super::project::Project;
use super::proof::prove;
use super::verdict::{Sides, has_golden};
use super::waiting::{Waiting, WaitingKind, waiting_of};
use super::worlds::has_worlds;
use crate::report::{Evidence, Failure, RunAction, terminal};
use retake_base::cause::{Cause, CauseKind};
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};
use retake_base::files;
use retake_core::events::Golden;
use retake_scenario::{FixtureRef, Scenario};
use retake_wire::fixture::Fixture;

/// Accepts what waits for the named scenarios, or everything if no name is given. The exit code is 0 if all of it was accepted,
/// otherwise 1.
/// Fails if nothing waits under one of the names, or if a waiting file belongs to no scenario.
pub(super) fn run(project: &Project, names: &[String]) -> Result<ExitCode> {
    let waiting = waiting_of(&project.root, names)?;
    if waiting.is_empty() {
        terminal::note("nothing waits for a decision");
    }
    let mut of_scenarios: Vec<(&Scenario, Vec<&Waiting>)> = Vec::new();
    for waits in &waiting {
        let scenario = scenario_of(project, waits)?;
        match of_scenarios.iter_mut().find(|(other, _)| other.name == scenario.name) {
            Some((_, all)) => all.push(waits),
            None => of_scenarios.push((scenario, vec![waits])),
        }
    }
    let mut code = ExitCode::SUCCESS;
    for (scenario, waits) in of_scenarios {
        let name = &scenario.name;
        match project.logged(scenario, RunAction::Update, || accept(project, scenario, &waits)) {
            Ok(agree) => {
                let files: Vec<String> = waits.iter().map(|waits| waits.shown.display().to_string()).collect();
                terminal::note(format!("{name}: accepted, {agree}: {}", files.join(", ")));
            }
            Err(failure) => {
                terminal::error(format!("{name}: not accepted: {failure}\n"));
                code = ExitCode::from(1);
            }
        }
    }
    project.end();
    project.print_notes();
    Ok(code)
}

fn scenario_of<'a>(project: &'a Project, waits: &Waiting) -> Result<&'a Scenario> {
    let owns = |scenario: &&Scenario| match waits.kind {
        WaitingKind::Golden | WaitingKind::Values => scenario.golden_name == waits.name && has_golden(scenario),
        WaitingKind::Worlds => scenario.name == waits.name && has_worlds(scenario).is_some(),
        WaitingKind::Fixture => scenario.fixture == FixtureRef::Named(waits.name.clone()),
    };
    let own = project.discovered.sound().find(|scenario| owns(scenario) && scenario.name == waits.name);
    own.or_else(|| project.discovered.sound().find(owns)).ok_or_else(|| {
        let error = Error::new("it waits for a decision, but belongs to no scenario that can be read");
        error.in_file(&waits.shown).help(format!("to delete it: {RETAKE} reject {}", waits.name))
    })
}

/// Accepts what waits, and returns the result of its proof in words.
fn accept(project: &Project, scenario: &Scenario, waits: &[&Waiting]) -> Result<String, Failure> {
    if waits.iter().any(|waits| waits.kind == WaitingKind::Worlds) {
        super::worlds::accept(project, scenario)?;
        if waits.len() == 1 {
            return Ok("the service does what its table says".to_owned());
        }
    }
    let proposed_fixture = waits.iter().find(|waits| waits.kind == WaitingKind::Fixture);
    let fixture = match proposed_fixture {
        None => project.fixtures.of(scenario)?,
        Some(waits) => Some(Arc::new(Fixture::parse(&waits.shown, &files::read(&waits.file)?, &project.rules)?)),
    };
    let (goldens, name) = (&project.goldens, &scenario.golden_name);
    let looked_at = goldens.proposed_golden(name)?;
    let mut agreed = prove(project, scenario, fixture.as_ref())?;
    if let Some(golden) = &agreed.golden {
        let mut looked_at = looked_at.unwrap_or_else(|| Committed::now(Golden::default()));
        // A single run cannot tell which headers vary, and none but the proof asks how answers are passed on.
        let looked = &mut Arc::make_mut(&mut looked_at).golden;
        looked.keep_varying(golden);
        looked.add_early(golden);
        // What is written is found out anew, as by an update. It must not differ from what the user looked at, where that looks.
        (agreed.run.committed, agreed.run.own_golden) = (Some(looked_at.clone()), OnceLock::new());
        let own = agreed.run.own_golden(scenario).cloned().unwrap_or_default().with_headers_of(golden);
        let sides = agreed.run.sides_of(scenario, &looked_at, &own);
        if !sides.changes().is_empty() {
            goldens.by(agreed.run.clock.recorded).propose_golden(&scenario.golden_name, golden, &scenario.file);
            return Err(another(&scenario.name, &sides));
        }
        agreed.golden = Some(agreed.run.with_words(scenario, golden.clone()));
    }
    if let Some(waits) = proposed_fixture {
        files::write_whole(&project.root.join(&waits.shown), &files::read(&waits.file)?)?;
        waits.reject()?;
    }
    agreed.compared(project, scenario)?;
    Ok(agreed.in_words())
}

fn another(name: &str, sides: &Sides) -> Failure {
    let what = "the golden that waited is not what the service sends now";
    Failure::of(vec![Cause::new(CauseKind::Unstable, what)])
        .evidence(Evidence::diff("- golden, + this run", sides.diff()))
        .resolve("the new golden waits in its place; to look at it", format!("{RETAKE} review"))
        .resolve("and then", format!("{RETAKE} accept {name}"))
}
