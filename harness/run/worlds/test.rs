//! What users run: the trial `NAME::worlds`, which compares the table of a scenario's worlds with its golden, and `retake worlds`, which prints
//! the worlds of some scenarios and writes no golden.

use std::process::ExitCode;

use super::batch::Judged;
use super::matrix::{self, Matrix};
use super::places::World;
use super::verdict::Did;
use super::{TRIAL, table};
use crate::report::{Failure, RunAction, WorldData, WorldsData, table as columns, terminal, unified};
use crate::run::action::WorldsOptions;
use crate::run::data::golden_data;
use crate::run::golden::Compared;
use crate::run::policy::Policy;
use crate::run::project::Project;
use retake_base::cause::{Cause, CauseKind};
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};
use retake_base::text::counted;
use retake_model::{Fault, FaultKind};
use retake_scenario::{FixtureRef, Scenario, Worlds};

/// The most worlds that the first line of a failure names.
const NAMED: usize = 3;

/// The name of the trial.
pub(in crate::run) fn name_of(scenario: &str) -> String {
    format!("{scenario}{TRIAL}")
}

/// Whether a scenario calls a model, and what its client gets can be compared. What a page shows cannot.
fn can_have_worlds(scenario: &Scenario) -> bool {
    scenario.tools.is_none() && scenario.fixture != FixtureRef::None && !scenario.needs_browser()
}

/// The worlds that a scenario asks for, if it can have any.
pub(in crate::run) fn has_worlds(scenario: &Scenario) -> Option<&Worlds> {
    scenario.options.worlds.as_ref().filter(|_| can_have_worlds(scenario))
}

/// Runs the worlds of a scenario, and compares what the service did with the committed table.
/// Fails if the table differs, if there is none, or if the worlds cannot be run.
pub(in crate::run) fn test(project: &Project, scenario: &Scenario) -> Result<(), Failure> {
    let name = name_of(&scenario.name);
    let action = if project.goldens.policy == Policy::Overwrite { RunAction::Update } else { RunAction::Test };
    project.runs.begin(&name, scenario.file.clone(), action);
    let goldens = project.goldens.of_worlds();
    let before = goldens.text(&scenario.name);
    let ran = all(project, scenario);
    let failed = |error: &Error| Failure::from(error.clone());
    let result = ran.as_ref().map_err(failed).and_then(|matrix| tested(project, scenario, matrix));
    let text = ran.as_ref().ok().map(table::print);
    project.runs.with(&name, |run| {
        run.worlds = ran.as_ref().ok().map(data);
        run.golden = text.map(|text| golden_data(project.shown(&goldens.file(&scenario.name)), before, Some(text)));
    });
    project.runs.end(&name, result.as_ref().err());
    result
}

/// Runs all worlds that a scenario asks for.
fn all(project: &Project, scenario: &Scenario) -> Result<Matrix> {
    let worlds = has_worlds(scenario).ok_or_else(|| Error::new("the scenario has no worlds"))?;
    matrix::run(project, scenario, worlds, None, |_| true, true)
}

/// What is kept of the worlds for reports.
fn data(matrix: &Matrix) -> WorldsData {
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
    if goldens.policy == Policy::Overwrite {
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
fn of_each_kind<'a>(worlds: &[&'a Judged]) -> Vec<(&'a Judged, usize)> {
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
fn explain(scenario: &Scenario, judged: &Judged) -> String {
    format!("{RETAKE} explain {} --world {}", scenario.name, judged.world.id())
}

/// Writes the table if a second run of all worlds has the same.
fn written(project: &Project, scenario: &Scenario, text: &str) -> Result<(), Failure> {
    let again = table::print(&all(project, scenario)?);
    if again != text {
        return Err(unstable("two runs of the worlds differ, so the table is not written", text, &again));
    }
    let compared = project.goldens.of_worlds().compare(&scenario.name, text, &scenario.file, false)?;
    project.note(&name_of(&scenario.name), vec![format!("table of worlds {}", compared.change())]);
    Ok(())
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
    let text = table::print(&all(project, scenario)?);
    if proposed.trim_end() != text.trim_end() {
        goldens.propose(&scenario.name, &text, &scenario.file);
        return Err(unstable("the table that waited is not what the service does now", &proposed, &text)
            .resolve("the new table waits in its place; to look at it", format!("{RETAKE} review")));
    }
    goldens.compare(&scenario.name, &text, &scenario.file, false)?;
    Ok(())
}

/// Runs worlds. The exit code is 1 if one fails that the committed table does not have.
/// Fails if a name is unknown, or the worlds of a scenario cannot be run.
pub(in crate::run) fn run(project: &Project, wanted: &[&Scenario], options: &WorldsOptions) -> Result<ExitCode> {
    let (mut ran, mut failed, mut told, mut failing) = (0, 0, Vec::new(), Vec::new());
    for scenario in wanted {
        if !can_have_worlds(scenario) {
            if !options.json {
                terminal::note(format!("{}: it has no worlds: it calls no model, or opens pages", scenario.name));
            }
            continue;
        }
        let worlds = worlds_of(scenario, options)?;
        let name = name_of(&scenario.name);
        project.runs.begin(&name, scenario.file.clone(), RunAction::Test);
        let is = |of: &World, name: &str| FaultKind::of_word(name).is_some() || WorldData::is_named(&of.id(), name);
        let only = |world: &World| {
            options.turn.is_none_or(|turn| world.spot.is_none() && world.turn + 1 == turn)
                && options.world.as_deref().is_none_or(|name| is(world, name))
        };
        let matrix = matrix::run(project, scenario, &worlds, options.jobs, only, !options.json)
            .map_err(|error| error.while_doing(&format!("run the worlds of {}", scenario.name)))?;
        ran += matrix.judged.len();
        let data = data(&matrix);
        project.runs.with(&name, |run| run.worlds = Some(data.clone()));
        project.runs.end(&name, None);
        let (lines, new) = compared(project, scenario, &matrix);
        failed += new.len();
        failing.extend(of_each_kind(&new).into_iter().map(|(first, others)| {
            let others = if others > 0 { format!(", and {others} like it") } else { String::new() };
            let did = first.verdict.did.word();
            format!("{did}{others}: {}", explain(scenario, first))
        }));
        if options.json {
            let notes = table::notes(&matrix);
            told.push(serde_json::json!({ "name": scenario.name, "worlds": data.worlds, "notes": notes }));
        } else {
            terminal::out(format!("{}:\n{}", scenario.name, lines.join("\n")));
        }
    }
    project.end();
    if ran == 0 {
        let error = Error::new("no turn of these scenarios can meet such a fault");
        return Err(error.help(format!("{RETAKE} worlds NAME runs the usual ones")));
    }
    if options.json {
        let all = serde_json::json!({ "format": "retake-worlds/1", "scenarios": told });
        terminal::out(serde_json::to_string_pretty(&all).unwrap_or_default());
    } else {
        let none = "none fails that is not accepted";
        let said = if failed == 0 { none.to_owned() } else { format!("{failed} not accepted") };
        terminal::out(format!("\n{}, {said}", counted(ran, "world")));
        failing.iter().for_each(terminal::out);
    }
    Ok(ExitCode::from(u8::from(failed > 0)))
}

/// The faults that a user asks for: those of `--world` and `--side`, or the scenario's own, or the usual ones.
fn worlds_of(scenario: &Scenario, options: &WorldsOptions) -> Result<Worlds> {
    let own = scenario.options.worlds.clone().unwrap_or_default();
    let kinds = if let Some(name) = &options.world { kinds_of(name)? } else { own.kinds };
    let kinds = match options.side.as_deref() {
        None => kinds,
        Some(side) if side != "model" && options.world.is_none() => FaultKind::of_word(side).unwrap_or_default(),
        Some(side) => kinds.into_iter().filter(|kind| kind.side() == side).collect(),
    };
    Ok(Worlds { kinds, ..own })
}

/// The kinds of faults that a word means, or the kind of a world that it names.
fn kinds_of(name: &str) -> Result<Vec<FaultKind>> {
    let of_side = || {
        let (side, kind) = name.split_once('/')?;
        FaultKind::of_word(kind.split('/').next()?).filter(|kinds| kinds[0].side() == side && side != "model")
    };
    let kinds = FaultKind::of_word(name).or_else(of_side);
    kinds.or_else(|| Some(vec![Fault::of_turn(name)?.1.kind])).ok_or_else(|| {
        let error = Error::new(format!("`{name}` is neither a world nor a family of worlds"));
        error.suggest_or(name, FaultKind::words(), format!("there are {}", FaultKind::words().join(", ")))
    })
}

/// The lines of the worlds, marked where they fail and are not accepted, and those.
fn compared<'a>(project: &Project, scenario: &Scenario, matrix: &'a Matrix) -> (Vec<String>, Vec<&'a Judged>) {
    let committed = project.goldens.of_worlds().text(&scenario.name).unwrap_or_default();
    let mut new = table::not_accepted(matrix, &committed);
    new.retain(|judged| judged.fails());
    let rows = table::lines(matrix, |judged| new.contains(&judged)).into_iter().map(|line| {
        let [place, fault, did, why] = line.cells();
        [format!("{} {place}", if line.marked { '!' } else { ' ' }), fault, did, why]
    });
    let lines = columns(&rows.collect::<Vec<_>>());
    let notes = table::notes(matrix).into_iter().map(|note| format!("  {note}"));
    (lines.into_iter().chain(notes).collect(), new)
}
