//! Hands an action over to the runner of a Rust project: `cargo test --test scenarios`.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, ExitCode};

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
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(&cargo);
    command.current_dir(root).args(["test", "--quiet", "--test", "scenarios", "--"]).args(args);
    command.envs(variables);
    let status = command.status().map_err(|e| {
        Error::new(format!("failed to start {}: {e}", cargo.display()))
            .help("this project has a runner of its own, tests/scenarios.rs, which cargo builds")
    })?;
    Ok(match status.code() {
        Some(0) => ExitCode::SUCCESS,
        Some(2) => ExitCode::from(2),
        _ => ExitCode::from(1),
    })
}
