//! Recording scenarios, in four stages: begin the journal, drive the scenario with the real provider
//! behind the command's relay, prove that the recording
//! replays, and only then write its files.

mod begin;
mod commit;
mod drive;
mod prove;
mod reach;
mod wanted;

use std::path::Path;
use std::process::ExitCode;

use super::action::RecordOptions;
use super::project::Project;
use crate::report::{Failure, RunAction, terminal};
use begin::{Begin, begin};
use retake_base::error::{Error, Result};
use retake_model::Relay;
use retake_scenario::Scenario;
pub(super) use wanted::wanted;

/// Records scenarios one after another: those with these names or parts of names, or all. The exit code is 0 if all of them were
/// recorded, otherwise 1; after a signal, that of the signal.
/// Fails if a name matches no scenario, or no provider is configured.
pub(super) fn run(project: &Project, names: &[String], options: RecordOptions) -> Result<ExitCode> {
    let code = record_all(project, names, options);
    project.end();
    code
}

fn record_all(project: &Project, names: &[String], options: RecordOptions) -> Result<ExitCode> {
    let scenarios = wanted(project, names, options.all, "recording")?;
    let relay = relay()?;
    let mut code = ExitCode::SUCCESS;
    for scenario in scenarios {
        if project.interrupt.code().is_some() {
            break;
        }
        if let Err(failure) = record(project, scenario, &relay, options) {
            terminal::error(format!("{}: not recorded: {failure}\n", scenario.name));
            code = ExitCode::from(1);
        }
    }
    if let Some(signal) = project.interrupt.code() {
        code = ExitCode::from(signal);
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

/// The relay of the command that started this runner.
/// Fails if no command did, or no provider is configured.
pub(super) fn relay() -> Result<Relay> {
    let relay = Relay::from_env().ok_or_else(|| {
        Error::new(
            "a runner reaches no provider: the relay of the command `retake` does, and it did not start this runner",
        )
        .help("to record: retake record NAME")
    })?;
    if relay.reaches().is_empty() {
        return Err(Error::new("recording needs a provider, but none is configured")
            .help("set OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY or OLLAMA_API_KEY for the provider itself")
            .help("or RETAKE_UPSTREAM_OPENAI for another address that speaks OpenAI's API: https://host/v1")
            .help("(RETAKE_UPSTREAM_ANTHROPIC, _GEMINI and _OLLAMA likewise)"));
    }
    Ok(relay)
}

fn record(project: &Project, scenario: &Scenario, relay: &Relay, options: RecordOptions) -> Result<(), Failure> {
    project.logged(scenario, RunAction::Record, || {
        let begun = begin(project, scenario, if options.resume { Begin::Resume } else { Begin::Anew })?;
        begun.reach(relay)?;
        begun.drive(relay)?.prove(options.accept_unstable)?.commit(options.propose)
    })
}
