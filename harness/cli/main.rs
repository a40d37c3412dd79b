//! The `retake` command, with one file for each subcommand.
//!
//! `command` lists the subcommands, and `project` finds the folder and the files that they work on.

mod accept;
mod adopt;
mod audit;
mod check;
mod command;
mod companion;
mod completions;
mod doctor;
mod explain;
mod fork;
mod formats;
mod handover;
mod import;
mod import_traces;
mod init;
mod key;
mod list;
mod man;
mod new;
mod offer;
mod project;
mod proxy;
mod prune;
mod record;
mod reject;
mod relay;
mod rename;
mod report;
mod review;
mod schemas;
mod scripted;
mod serve;
mod shape;
mod show;
mod test;
mod tools;
mod view;
#[cfg(unix)]
mod watch;
mod worlds;

use std::process::ExitCode;

fn main() -> ExitCode {
    command::run()
}
