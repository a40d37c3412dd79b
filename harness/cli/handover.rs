//! Hands an action over to the runner of a Rust project: `cargo test --test scenarios`.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, ExitCode};

use super::relay::for_https;
use retake_base::error::{Error, Result};

/// Whether the project has a runner of its own, in which Rust routers are registered.
pub(super) fn has_runner(root: &Path) -> bool {
    root.join("tests/scenarios.rs").is_file() && root.join("Cargo.toml").is_file()
}

/// Runs `cargo test --test scenarios` with these arguments and environment variables. A failed test (exit code 101) becomes 1;
/// 2 (a wrong file) stays 2.
pub(super) fn run(
    root: &Path,
    args: &[String],
    variables: impl IntoIterator<Item = (&'static str, impl AsRef<OsStr>)>,
) -> Result<ExitCode> {
    let mut command = command(root, args, variables);
    // Its systems and tools may be at `https:` addresses, which this command reaches for it.
    command.envs(for_https()?.variables());
    let failed = |e: std::io::Error| Error::new(format!("failed to wait for the runner: {e}"));
    let status = spawned(&mut command)?.wait().map_err(failed)?;
    Ok(exit_code(status.code().unwrap_or(1)))
}

/// Returns the command that [`run`] runs.
pub(super) fn command(
    root: &Path,
    args: &[String],
    variables: impl IntoIterator<Item = (&'static str, impl AsRef<OsStr>)>,
) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).args(["test", "--quiet", "--test", "scenarios", "--"]).args(args);
    command.envs(variables);
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
    match of_runner {
        0 => ExitCode::SUCCESS,
        2 => ExitCode::from(2),
        // A signal ended the recording.
        130 => ExitCode::from(130),
        143 => ExitCode::from(143),
        _ => ExitCode::from(1),
    }
}
