//! The `retake` command, one file a subcommand.

mod handover;
mod import;
mod init;
mod key;
mod new;
#[cfg(feature = "record")]
mod proxy;
#[cfg(feature = "record")]
mod record;
mod serve;
mod shape;
mod test;
mod tools;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::{Error, Result};
use crate::report::terminal;
use crate::run::runner::Suite;

/// Record an agent service's model calls once; replay them for ever against the real service.
#[derive(Debug, Parser)]
#[command(name = "retake", version, about, max_term_width = 80, disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Init),
    New(new::New),
    #[cfg(feature = "record")]
    Record(record::Record),
    #[cfg(feature = "record")]
    Proxy(proxy::Proxy),
    Test(test::Test),
    Tools(tools::Tools),
    Serve(serve::Serve),
    Import(import::Import),
    Key(key::KeyOf),
    Shape(shape::Shape),
}

/// Runs the command. Exit codes: 0 fine, 1 the check failed, 2 the usage or a file is wrong.
#[must_use]
pub fn main() -> ExitCode {
    if let Some(done) = crate::system::take_over() {
        return done;
    }
    let done = match Arguments::parse().command {
        Command::Init(init) => init.run(),
        Command::New(new) => new.run(),
        #[cfg(feature = "record")]
        Command::Record(record) => record.run(),
        #[cfg(feature = "record")]
        Command::Proxy(proxy) => proxy.run(),
        Command::Test(test) => test.run(),
        Command::Tools(tools) => tools.run(),
        Command::Serve(serve) => serve.run(),
        Command::Import(import) => import.run(),
        Command::Key(key) => key.run(),
        Command::Shape(shape) => shape.run(),
    };
    done.unwrap_or_else(|error| {
        terminal::error(error);
        ExitCode::from(2)
    })
}

/// The project's folder: `RETAKE_ROOT`, else the nearest folder upwards that holds `scenarios/`, else this one.
fn root() -> Result<PathBuf> {
    if let Some(root) = std::env::var_os("RETAKE_ROOT").filter(|root| !root.is_empty()) {
        return Ok(PathBuf::from(root));
    }
    let here = std::env::current_dir().map_err(|e| Error::new(format!("failed to find the current folder: {e}")))?;
    Ok(here.ancestors().find(|folder| folder.join("scenarios").is_dir()).unwrap_or(&here).to_owned())
}

/// The runner of a project whose systems are commands and URLs. Goldens name the file in which this stands.
fn suite(root: PathBuf, update: bool) -> Suite {
    Suite::new(root, crate::assert_golden!()).of_command(update)
}

/// A file's bytes, or those of standard input where no file is named.
fn input(file: Option<&Path>) -> Result<Vec<u8>> {
    if let Some(file) = file {
        crate::files::read(file)
    } else {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        read.map_err(|e| Error::new(format!("failed to read standard input: {e}")))?;
        Ok(bytes)
    }
}
