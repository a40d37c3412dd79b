use std::process::ExitCode;

use clap::Args;

use crate::view::{Diff, columns, cost_table, explained};
use retake::__private::report::{RunResult, Runs, WorldData, printed, terminal};
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};

/// Explain a scenario's last run: each call, the turn it got, and why each call missed
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  retake explain write_read_file\n\n\
    Every runner (cargo test, cargo nextest run, retake test) writes what happened\n\
    to .retake/runs/NAME.json. Times are milliseconds since the run began.\n\n\
    With --json: what that file contains, which is documented by a JSON schema in\n\
    harness/guide/schema/run.schema.json of Retake's sources.\n\n\
    Exit code 0 if the last run passed, 1 if it failed.")]
pub(super) struct Explain {
    /// The scenario [default: each one whose last run failed]
    name: Option<String>,
    /// What the service sent in a world of the scenario, beside the recorded run: turn1/cut-clean
    #[arg(long, value_name = "WORLD", requires = "name")]
    world: Option<String>,
    /// What the model calls of the last run cost, by caller, and where what a provider's cache can keep of them ends
    #[arg(long)]
    cost: bool,
    /// Print the log of the run and its explanation as JSON: an object with NAME, a list without
    #[arg(long)]
    json: bool,
}

impl Explain {
    pub(super) fn run(&self) -> Result<ExitCode> {
        let runs = Runs::of(&super::project::root()?);
        if let (Some(name), Some(world)) = (&self.name, &self.world) {
            return explain_world(name, world, &runs);
        }
        let told = if let Some(name) = &self.name {
            vec![runs.read(name)?.ok_or_else(|| no_run(name, &runs))?]
        } else {
            let all = runs.all()?;
            if all.is_empty() {
                return Err(Error::new("no scenario has run here yet").help(format!("to run them: {RETAKE} test")));
            }
            all.into_iter().filter(|run| run.result == RunResult::Failed).collect()
        };
        let failed = told.iter().any(|run| run.result == RunResult::Failed);
        if self.json {
            let texts: Vec<String> = told.iter().map(printed).collect::<Result<_>>()?;
            match &texts[..] {
                [one] if self.name.is_some() => terminal::out(one),
                all => terminal::out(format!("[{}]", all.join(","))),
            }
            return Ok(ExitCode::from(u8::from(failed)));
        }
        let width = columns::width();
        let told_of = if self.cost { cost_table } else { explained };
        let texts: Vec<String> = told.iter().map(|run| told_of(run, width)).collect();
        if texts.is_empty() {
            terminal::out(format!("the last run of each scenario passed; to see one of them: {RETAKE} explain NAME"));
        } else {
            terminal::out(texts.join("\n\n\n"));
        }
        Ok(ExitCode::from(u8::from(failed)))
    }
}

/// Shows the worlds with this name, of the last time that they were run.
fn explain_world(name: &str, world: &str, runs: &Runs) -> Result<ExitCode> {
    let again = format!("{RETAKE} worlds {name}");
    let run = runs.read(&format!("{name}::worlds"))?;
    let data = run.and_then(|run| run.worlds).ok_or_else(|| {
        Error::new(format!("no run of the worlds of `{name}` was found here")).help(format!("to run them: {again}"))
    })?;
    let named: Vec<&WorldData> = data.worlds.iter().filter(|known| WorldData::is_named(&known.world, world)).collect();
    if named.is_empty() {
        let error = Error::new(format!("the last run of the worlds of `{name}` has none called `{world}`"));
        let known = data.worlds.iter().map(|world| world.world.as_str());
        return Err(error.suggest_or(world, known, format!("to see all: {again}")));
    }
    let width = columns::width();
    for world in &named {
        terminal::out(head(world, width));
        if world.sent.is_empty() {
            terminal::out("  the service sent what was recorded");
        } else {
            terminal::out("  the recorded run on the left, this world on the right\n");
            Diff::side_by_side(&data.recorded.join("\n"), &world.sent.join("\n"), width).print();
        }
    }
    Ok(ExitCode::from(u8::from(named.iter().any(|world| world.fails))))
}

fn no_run(name: &str, runs: &Runs) -> Error {
    let known = runs.all().unwrap_or_default();
    let error = Error::new(format!("no run of a scenario `{name}` was found here"));
    error.suggest_or(name, known.iter().map(|run| run.scenario.as_str()), format!("to run it: {RETAKE} test {name}"))
}

/// The head of a world: its name, what the service did, and what says so.
fn head(world: &WorldData, width: usize) -> String {
    let WorldData { turn, caller, fault, verdict, why, world: id, .. } = world;
    let caller = caller.as_ref().map(|caller| format!(" {caller}")).unwrap_or_default();
    let place =
        if *turn == 0 { id.split('/').next().unwrap_or_default().to_owned() } else { format!("turn {turn}{caller}") };
    columns::ruled(format!("{place}, {fault}: {verdict}  {why}").trim_end(), width)
}
