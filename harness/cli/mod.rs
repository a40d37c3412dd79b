//! The `retake` command, with one file for each subcommand.
//!
//! `command` lists the subcommands, `project` finds the folder that they work on, and `input` reads a file or standard
//! input.

mod accept;
mod audit;
mod command;
mod companion;
mod completions;
mod doctor;
mod explain;
mod handover;
mod import;
mod init;
mod input;
mod key;
mod list;
mod man;
mod new;
mod project;
mod proxy;
mod record;
mod reject;
mod report;
mod review;
mod schemas;
mod serve;
mod shape;
mod show;
mod test;
mod tools;

use std::path::{Path, PathBuf};

pub use command::main;

use retake::__private::run::golden::Goldens;
use retake::__private::run::policy::Policy;
use retake::__private::run::runner::Suite;

/// The runner of a project whose systems are commands and URLs.
///
/// Do not move this function: insta writes the file that calls `assert_golden!` into the head of each golden, and the
/// goldens that users have committed name this one.
fn suite(root: PathBuf, update: bool) -> Suite {
    Suite::new(root, crate::assert_golden!()).of_command(update)
}

/// The goldens of a project, for reading only.
fn goldens(root: &Path) -> Goldens {
    Goldens::new(root.join("goldens"), Policy::Verify, crate::assert_golden!())
}
