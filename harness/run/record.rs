//! Recording scenarios: each is begun, driven with the provider behind the model server, proven to replay, and only then
//! committed to its files.

mod begin;
mod commit;
mod drive;
mod prove;

use std::process::ExitCode;

use super::action::RecordOptions;
use super::project::Project;
use crate::error::{Error, Result};
use crate::model::Upstreams;
use crate::report::{Failure, RunAction, terminal};
use crate::scenario::{Scenario, is_name};
use crate::text::nearest;
use begin::begin;

/// Records scenarios by name, one after another. The exit code is 0 where all were, 1 where one was not.
///
/// # Errors
/// Where a name is no scenario's, or no provider is configured.
pub(super) fn run(project: &Project, names: &[String], options: RecordOptions) -> Result<ExitCode> {
    let code = record_all(project, names, options);
    project.end();
    code
}

fn record_all(project: &Project, names: &[String], options: RecordOptions) -> Result<ExitCode> {
    let scenarios: Vec<&Scenario> = names.iter().map(|name| find(project, name)).collect::<Result<_>>()?;
    let upstreams = Upstreams::from_env()?;
    let mut code = ExitCode::SUCCESS;
    for scenario in scenarios {
        if let Err(failure) = record(project, scenario, &upstreams, options) {
            terminal::error(format!("{}: not recorded: {failure}\n", scenario.name));
            code = ExitCode::from(1);
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
        begin(project, scenario, options.resume)?.drive(upstreams)?.prove(options.accept_unstable)?.commit()
    })
}

fn find<'a>(project: &'a Project, name: &str) -> Result<&'a Scenario> {
    for found in &project.discovered.scenarios {
        match found {
            Ok(scenario) if scenario.name == name => return Ok(scenario),
            Err(broken) if broken.name == name => return Err(broken.error.clone()),
            _ => {}
        }
    }
    let error = Error::new(format!("no scenario is called `{name}`"));
    Err(match nearest(name, project.discovered.sound().map(|scenario| scenario.name.as_str())) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None if is_name(name) => error.help(format!("to make one: retake new {name}")),
        None => error,
    })
}
