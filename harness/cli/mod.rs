//! The `retake` command: `command` is the table, with one file a subcommand. `here` is the project that it stands in,
//! `handover` starts a Rust project's own runner, `ready` is what a server says and what ends it.

mod command;
mod handover;
mod here;
mod import;
mod init;
mod key;
mod new;
#[cfg(feature = "record")]
mod proxy;
mod ready;
#[cfg(feature = "record")]
mod record;
mod serve;
mod shape;
mod test;

pub use command::main;

use std::path::PathBuf;

use crate::run::runner::Suite;

/// The runner of a project whose systems are commands and URLs. Goldens name the file in which this stands.
fn suite(root: PathBuf, update: bool) -> Suite {
    Suite::new(root, crate::assert_golden!()).of_command(update)
}
