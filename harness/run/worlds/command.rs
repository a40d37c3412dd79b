//! `retake worlds`: runs the worlds of some scenarios and prints what the service does in them. It writes no golden.

use std::process::ExitCode;

use super::batch::Judged;
use super::matrix::{self, Matrix};
use super::places::World;
use super::{table, test};
use crate::report::{RunAction, WorldData, table as columns, terminal};
use crate::run::action::WorldsOptions;
use crate::run::project::Project;
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};
use retake_base::text::counted;
use retake_model::{Fault, FaultKind};
use retake_scenario::{Scenario, Worlds};

/// Runs worlds. The exit code is 1 if one fails that the committed table does not have.
/// Fails if a name is unknown, or the worlds of a scenario cannot be run.
pub(in crate::run) fn run(project: &Project, wanted: &[&Scenario], options: &WorldsOptions) -> Result<ExitCode> {
    let (mut failed, mut told, mut failing) = (0, Vec::new(), Vec::new());
    let mut ran = 0;
    for scenario in wanted {
        if !test::can_have_worlds(scenario) {
            if !options.json {
                terminal::note(format!("{}: it has no worlds: it calls no model, or opens pages", scenario.name));
            }
            continue;
        }
        let worlds = worlds_of(scenario, options)?;
        let name = test::name_of(&scenario.name);
        project.runs.begin(&name, scenario.file.clone(), RunAction::Test);
        let only = |world: &World| {
            options.turn.is_none_or(|turn| world.spot.is_none() && world.turn + 1 == turn)
                && options
                    .world
                    .as_deref()
                    .is_none_or(|name| FaultKind::of_word(name).is_some() || WorldData::is_named(&world.id(), name))
        };
        let matrix = matrix::run(project, scenario, &worlds, options.jobs, only, !options.json)
            .map_err(|error| error.while_doing(&format!("run the worlds of {}", scenario.name)))?;
        ran += matrix.judged.len();
        let data = test::data(&matrix);
        project.runs.with(&name, |run| run.worlds = Some(data.clone()));
        project.runs.end(&name, None);
        let (lines, new) = compared(project, scenario, &matrix);
        failed += new.len();
        failing.extend(test::of_each_kind(&new).into_iter().map(|(first, others)| {
            let others = if others > 0 { format!(", and {others} like it") } else { String::new() };
            let did = first.verdict.did.word();
            format!("{did}{others}: {}", test::explain(scenario, first))
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
        return Err(Error::new("no turn of these scenarios can meet such a fault")
            .help(format!("{RETAKE} worlds NAME runs the usual ones")));
    }
    if options.json {
        let all = serde_json::json!({ "format": "retake-worlds/1", "scenarios": told });
        terminal::out(serde_json::to_string_pretty(&all).unwrap_or_default());
    } else {
        let failed =
            if failed == 0 { "none fails that is not accepted".to_owned() } else { format!("{failed} not accepted") };
        terminal::out(format!("\n{}, {failed}", counted(ran, "world")));
        failing.iter().for_each(terminal::out);
    }
    Ok(ExitCode::from(u8::from(failed > 0)))
}

/// The faults that a user asks for: those of `--world` and `--side`, or the scenario's own, or the usual ones.
fn worlds_of(scenario: &Scenario, options: &WorldsOptions) -> Result<Worlds> {
    let own = scenario.worlds.clone().unwrap_or_default();
    let kinds = match &options.world {
        None => own.kinds,
        Some(name) => kinds_of(name)?,
    };
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
