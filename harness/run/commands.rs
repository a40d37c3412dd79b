//! The commands that resolve a failure.

use retake_base::env::RETAKE;

/// The form of these commands, which depends on the project's runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Commands {
    /// The runner is a test of the user's crate.
    CargoTest,
    /// The runner is the `retake` command.
    Retake,
}

impl Commands {
    /// The command that rewrites all goldens.
    pub(crate) fn update_all(self) -> String {
        match self {
            Commands::CargoTest => "UPDATE_GOLDEN=1 cargo test --test scenarios".to_owned(),
            Commands::Retake => format!("{RETAKE} test --update"),
        }
    }

    /// The command that rewrites a scenario's golden.
    pub(crate) fn update(self, name: &str) -> String {
        match self {
            Commands::CargoTest => format!("UPDATE_GOLDEN=1 cargo test --test scenarios {name}"),
            Commands::Retake => format!("{RETAKE} test {name} --update"),
        }
    }
}

/// The command that records a scenario: the same in every project.
pub(crate) fn record_command(name: &str) -> String {
    format!("{RETAKE} record {name}")
}

/// The command that shows a scenario's last run: the same in every project.
pub(crate) fn explain_command(name: &str) -> String {
    format!("{RETAKE} explain {name}")
}

/// The command that computes the keys of a fixture anew.
pub(crate) fn key_command(fixture: &std::path::Path) -> String {
    format!("{RETAKE} key --write {}", fixture.display())
}
