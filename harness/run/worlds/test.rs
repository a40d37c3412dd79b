//! The trial `NAME::worlds`: the table of a scenario's worlds, compared with its golden.

use std::path::PathBuf;

use super::batch::Judged;
use super::matrix::{self, Matrix};
use super::verdict::Did;
use super::{TRIAL, table};
use crate::report::{Failure, RunAction, WorldData, WorldsData, unified};
use crate::run::data::golden_data;
use crate::run::golden::Compared;
use crate::run::policy::Policy;
use crate::run::project::Project;
use retake_base::cause::{Cause, CauseKind};
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};
use retake_base::text::counted;
use retake_scenario::{FixtureRef, Scenario, Worlds};

/// The most worlds that the first line of a failure names.
const NAMED: usize = 3;

/// The name of the trial.
pub(in crate::run) fn name_of(scenario: &str) -> String {
    format!("{scenario}{TRIAL}")
}

/// Whether a scenario calls a model, and what its client gets can be compared. What a page shows cannot.
pub(super) fn can_have_worlds(scenario: &Scenario) -> bool {
    scenario.tools.is_none() && scenario.fixture != FixtureRef::None && !scenario.needs_browser()
}

/// The worlds that a scenario asks for, if it can have any.
pub(in crate::run) fn has_worlds(scenario: &Scenario) -> Option<&Worlds> {
    scenario.worlds.as_ref().filter(|_| can_have_worlds(scenario))
}

/// Runs the worlds of a scenario, and compares what the service did with the committed table.
/// Fails if the table differs, if there is none, or if the worlds cannot be run.
pub(in crate::run) fn test(project: &Project, scenario: &Scenario) -> Result<(), Failure> {
    let name = name_of(&scenario.name);
    let action = if project.goldens.policy() == Policy::Overwrite { RunAction::Update } else { RunAction::Test };
    project.runs.begin(&name, scenario.file.clone(), action);
    let goldens = project.goldens.of_worlds();
    let before = goldens.text(&scenario.name);
    let ran = has_worlds(scenario)
        .ok_or_else(|| Error::new("the scenario has no worlds"))
        .and_then(|worlds| matrix::run(project, scenario, worlds, None, |_| true, true));
    let result = match &ran {
        Ok(matrix) => tested(project, scenario, matrix),
        Err(error) => Err(Failure::from(error.clone())),
    };
    let text = ran.as_ref().ok().map(table::print);
    let shown = |file: PathBuf| file.strip_prefix(&project.root).map_or_else(|_| file.clone(), ToOwned::to_owned);
    project.runs.with(&name, |run| {
        run.worlds = ran.as_ref().ok().map(data);
        run.golden = text.map(|text| golden_data(shown(goldens.file(&scenario.name)), before, Some(text)));
    });
    project.runs.end(&name, result.as_ref().err());
    result
}

/// What is kept of the worlds for reports.
pub(super) fn data(matrix: &Matrix) -> WorldsData {
    let world = |judged: &Judged| WorldData {
        turn: if judged.world.spot.is_some() { 0 } else { judged.world.turn + 1 },
        caller: judged.caller.clone(),
        world: judged.world.id(),
        fault: judged.world.said(),
        verdict: judged.verdict.did.word().to_owned(),
        why: judged.verdict.why.clone(),
        fails: judged.fails(),
        sent: judged.lines.clone(),
    };
    WorldsData { recorded: matrix.lines.clone(), worlds: matrix.judged.iter().map(world).collect() }
}

fn tested(project: &Project, scenario: &Scenario, matrix: &Matrix) -> Result<(), Failure> {
    let (goldens, text) = (project.goldens.of_worlds(), table::print(matrix));
    if goldens.policy() == Policy::Overwrite {
        return written(project, scenario, &text);
    }
    let committed = goldens.text(&scenario.name);
    let held = committed.and_then(|committed| table::holds(&committed, matrix));
    match goldens.compare(&scenario.name, &text, &scenario.file, held.is_some())? {
        Compared::Same | Compared::FormatOnly => {
            let committed = goldens.text(&scenario.name).unwrap_or_default();
            let new = table::not_accepted(matrix, &committed).iter().filter(|judged| judged.fails()).count();
            let accepted = matrix.judged.iter().filter(|judged| judged.fails()).count() - new;
            let note = format!("worlds: {} accepted as failing", counted(accepted, "line"));
            let more = held.filter(|more| *more > 0).map(|more| {
                let update = project.commands.update(&name_of(&scenario.name));
                let lines = counted(more, "line");
                format!("worlds: {lines} not in the table, which was written before, {new} of them failing: {update}")
            });
            project.note(&name_of(&scenario.name), (accepted > 0).then_some(note).into_iter().chain(more));
            Ok(())
        }
        Compared::New => {
            let file = goldens.file(&scenario.name);
            let what = format!("the worlds have none, {} does not exist", goldens.shown(&file).display());
            Err(red(project, scenario, matrix, "", Cause::new(CauseKind::GoldenMissing, what))
                .evidence(format!("it would contain:\n{}", unified("", &text))))
        }
        Compared::Differs(committed) => {
            let what = "the service does something else in its worlds than its table says";
            Err(red(project, scenario, matrix, &committed, Cause::new(CauseKind::Other, what))
                .evidence(format!("- golden, + this run\n{}", table::difference(&committed, &text))))
        }
    }
}

/// The failure of a table, which names the worlds that fail and are not accepted.
fn red(project: &Project, scenario: &Scenario, matrix: &Matrix, committed: &str, otherwise: Cause) -> Failure {
    let new = table::not_accepted(matrix, committed);
    let failing: Vec<&Judged> = new.iter().copied().filter(|judged| judged.fails()).collect();
    let cause = |judged: &Judged| {
        let (did, why) = (judged.verdict.did, &judged.verdict.why);
        let seen = if did.fails() { String::new() } else { ", although no service should notice it".to_owned() };
        Cause::new(CauseKind::Other, format!("{} in the world {}: {why}{seen}", did.word(), judged.world.id()))
    };
    // One of each kind.
    let mut causes: Vec<Cause> = of_each_kind(&failing).iter().take(NAMED).map(|(first, _)| cause(first)).collect();
    if causes.is_empty() {
        causes.push(otherwise);
    }
    let more = failing.len().saturating_sub(causes.len());
    let failure = Failure::of(causes);
    let failure = if more > 0 { failure.evidence(format!("and {}", counted(more, "more world"))) } else { failure };
    let told = failing.first().or_else(|| new.iter().find(|it| it.verdict.did != Did::Recovered));
    let shows = |judged: &&Judged| ("to see what the service sent, beside the recorded run", explain(scenario, judged));
    let failure = told.map(shows).into_iter().fold(failure, |failure, (why, how)| failure.resolve(why, how));
    failure
        .resolve("if that is what it does today, to write it down", project.commands.update(&name_of(&scenario.name)))
}

/// The first of the worlds with each fault and verdict, each with how many others there are.
pub(super) fn of_each_kind<'a>(worlds: &[&'a Judged]) -> Vec<(&'a Judged, usize)> {
    let mut all: Vec<(&Judged, usize)> = Vec::new();
    let kind = |judged: &Judged| (judged.world.fault.kind, judged.verdict.did);
    for judged in worlds {
        match all.iter_mut().find(|(first, _)| kind(first) == kind(judged)) {
            Some((_, others)) => *others += 1,
            None => all.push((judged, 0)),
        }
    }
    all
}

/// The command that shows a world.
pub(super) fn explain(scenario: &Scenario, judged: &Judged) -> String {
    format!("{RETAKE} explain {} --world {}", scenario.name, judged.world.id())
}

/// Writes the table if a second run of all worlds has the same.
fn written(project: &Project, scenario: &Scenario, text: &str) -> Result<(), Failure> {
    let again = again(project, scenario)?;
    if again != text {
        return Err(unstable("two runs of the worlds differ, so the table is not written", text, &again));
    }
    let compared = project.goldens.of_worlds().compare(&scenario.name, text, &scenario.file, false)?;
    project.note(&name_of(&scenario.name), vec![format!("table of worlds {}", compared.change())]);
    Ok(())
}

/// The table of a run of all worlds.
fn again(project: &Project, scenario: &Scenario) -> Result<String> {
    let worlds = has_worlds(scenario).cloned().unwrap_or_default();
    Ok(table::print(&matrix::run(project, scenario, &worlds, None, |_| true, true)?))
}

fn unstable(what: &str, before: &str, now: &str) -> Failure {
    let failure = Failure::of(vec![Cause::new(CauseKind::Unstable, what)]);
    failure.evidence(format!("- before, + this run\n{}", unified(before, now)))
}

/// Writes the table that waits for a decision, if the service still does what it says.
/// Fails if the service does something else.
pub(in crate::run) fn accept(project: &Project, scenario: &Scenario) -> Result<(), Failure> {
    let goldens = project.goldens.of_worlds();
    let proposed = goldens.proposed(&scenario.name)?.unwrap_or_default();
    let text = again(project, scenario)?;
    if proposed.trim_end() != text.trim_end() {
        goldens.propose(&scenario.name, &text, &scenario.file);
        return Err(unstable("the table that waited is not what the service does now", &proposed, &text)
            .resolve("the new table waits in its place; to look at it", format!("{RETAKE} review")));
    }
    goldens.compare(&scenario.name, &text, &scenario.file, false)?;
    Ok(())
}
