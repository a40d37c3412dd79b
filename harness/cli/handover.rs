//! Hands an action over to the runner of a Rust project: `cargo test --test scenarios`.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode};

use super::relay::for_https;
use retake::__private::run::Action;
use retake::Suite;
use retake_base::error::{Error, Result};

/// Whether the project has a runner of its own, in which Rust routers are registered.
pub(super) fn has_runner(root: &Path) -> bool {
    root.join("tests/scenarios.rs").is_file() && root.join("Cargo.toml").is_file()
}

/// The runner of a project whose systems are commands and URLs.
pub(super) fn suite(root: PathBuf, update: bool) -> Suite {
    Suite::new(root).of_command(update)
}

/// Carries out an action in the runner of a Rust project, otherwise in this process.
pub(super) fn act(root: PathBuf, action: Action) -> Result<ExitCode> {
    if has_runner(&root) { run(command(&root, &action)) } else { suite(root, false).act(action) }
}

/// Runs a runner. A failed test (exit code 101) becomes 1; 2 (a wrong file) stays 2.
pub(super) fn run(mut command: Command) -> Result<ExitCode> {
    // Its systems and tools may be at `https:` addresses, which this command reaches for it.
    command.envs(for_https()?.variables());
    let failed = |e: std::io::Error| Error::new(format!("failed to wait for the runner: {e}"));
    let status = spawned(&mut command)?.wait().map_err(failed)?;
    Ok(exit_code(status.code().unwrap_or(1)))
}

/// Returns the command that has the runner of a Rust project carry out an action. Its arguments are libtest's.
pub(super) fn command(root: &Path, action: &Action) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).args(["test", "--quiet", "--test", "scenarios", "--"]).envs([action.variable()]);
    command
}

/// Starts a runner.
pub(super) fn spawned(command: &mut Command) -> Result<Child> {
    let program = command.get_program().to_owned();
    command.spawn().map_err(|e| {
        Error::new(format!("failed to start {}: {e}", program.display()))
            .help("this project has a runner of its own, tests/scenarios.rs, which cargo builds")
    })
}

pub(super) fn exit_code(of_runner: i32) -> ExitCode {
    // With 130 and 143, a signal ended the recording.
    let told = u8::try_from(of_runner).ok().filter(|code| matches!(code, 0 | 2 | 130 | 143));
    ExitCode::from(told.unwrap_or(1))
}
