//! Recording scenarios, in four stages: begin the journal, drive the scenario with the real provider, prove that the recording
//! replays, and only then write its files.

mod begin;
mod commit;
mod drive;
mod prove;
mod wanted;

use std::path::Path;
use std::process::ExitCode;

use super::action::RecordOptions;
use super::project::Project;
use crate::report::{Failure, RunAction, terminal};
use begin::{Begin, begin};
use retake_base::error::Result;
use retake_model::Upstreams;
use retake_scenario::Scenario;
pub(super) use wanted::wanted;

/// Records scenarios one after another: those with these names or parts of names, or all. The exit code is 0 if all of them were
/// recorded, otherwise 1; after a signal, that of the signal.
///
/// # Errors
/// If a name matches no scenario, or no provider is configured.
pub(super) fn run(project: &Project, names: &[String], options: RecordOptions) -> Result<ExitCode> {
    let code = record_all(project, names, options);
    project.end();
    code
}

fn record_all(project: &Project, names: &[String], options: RecordOptions) -> Result<ExitCode> {
    let scenarios = wanted(project, names, options.all, "recording")?;
    let upstreams = Upstreams::from_env()?;
    let mut code = ExitCode::SUCCESS;
    for scenario in scenarios {
        if let Err(failure) = record(project, scenario, &upstreams, options) {
            terminal::error(format!("{}: not recorded: {failure}\n", scenario.name));
            code = ExitCode::from(1);
        }
        if let Some(signal) = project.interrupt.code() {
            code = ExitCode::from(signal);
            break;
        }
    }
    project.print_notes();
    Ok(code)
}

/// Makes the calls of another journal the recording of a scenario, with the tool exchanges of a fixture, if the recording passes
/// its proof.
pub(super) fn accepted(project: &Project, scenario: &Scenario, journal: &Path, tools: &Path) -> ExitCode {
    let accepted = project.logged(scenario, RunAction::Record, || {
        begin(project, scenario, Begin::With(journal))?.driven(tools)?.prove(false)?.commit(false)
    });
    project.print_notes();
    accepted.map_or_else(
        |failure| {
            terminal::error(format!("{}: not accepted: {failure}\n", scenario.name));
            ExitCode::from(1)
        },
        |()| ExitCode::SUCCESS,
    )
}

fn record(
    project: &Project,
    scenario: &Scenario,
    upstreams: &Upstreams,
    options: RecordOptions,
) -> Result<(), Failure> {
    project.logged(scenario, RunAction::Record, || {
        begin(project, scenario, if options.resume { Begin::Resume } else { Begin::Anew })?
            .drive(upstreams)?
            .prove(options.accept_unstable)?
            .commit(options.propose)
    })
}
