//! Recording scenarios, in four stages: begin the journal, drive the scenario with the real provider, prove that the recording
//! replays, and only then write its files.

mod begin;
mod commit;
mod drive;
mod prove;
mod wanted;

use std::process::ExitCode;

use super::action::RecordOptions;
use super::project::Project;
use crate::report::{Failure, RunAction, terminal};
use begin::begin;
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

fn record(
    project: &Project,
    scenario: &Scenario,
    upstreams: &Upstreams,
    options: RecordOptions,
) -> Result<(), Failure> {
    project.logged(scenario, RunAction::Record, || {
        begin(project, scenario, options.resume)?
            .drive(upstreams)?
            .prove(options.accept_unstable)?
            .commit(options.propose)
    })
}
