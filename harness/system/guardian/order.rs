//! What a runner tells a guardian, and what the guardian tells back: one JSON text a line.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The first argument that makes a runner's program a guardian.
pub(super) const MARK: &str = "retake-guardian";

/// What a runner says when it lets go by itself, and was not killed.
pub(super) const OVER: u8 = b'.';

/// What a guardian starts and what it takes away at the end. It comes by the pipe and not by the arguments, which
/// everybody on the machine can read, as the environment holds a key.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Order {
    /// Folders to make first, each only for this user; the first is removed at the end with all that is in it.
    pub(super) folders: Vec<PathBuf>,
    /// A folder, and one of those above that gets a copy of it.
    pub(super) copied: Option<(PathBuf, PathBuf)>,
    /// Files to write then, with their texts.
    pub(super) files: Vec<(PathBuf, String)>,
    /// What to start; nothing where only the folders are to be kept.
    pub(super) program: Option<Program>,
}

/// A program, as it is started.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Program {
    /// Program and arguments.
    pub(super) command: Vec<String>,
    pub(super) cwd: PathBuf,
    /// Its whole environment.
    pub(super) env: Vec<(String, String)>,
    /// The file for its standard error; where absent, that goes where its output goes.
    pub(super) errors: Option<PathBuf>,
    pub(super) input: Input,
}

/// What a program reads on its standard input.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum Input {
    /// Nothing.
    Closed,
    /// A text, to its end.
    Text(String),
    /// What comes by a Unix socket; what it prints goes there too.
    Socket(PathBuf),
}

/// What a guardian tells.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum Told {
    /// The folders are there and the program runs, in a group of this id (0 without a program).
    Started { group: i32 },
    /// There is nothing to guard.
    Failed { reason: String },
    /// The program itself ended; others that it started may still run.
    Exited(Exit),
}

/// How a program ended.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) enum Exit {
    /// By itself.
    Code(i32),
    /// By a signal.
    Signal(i32),
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Code(code) => write!(f, "exit code {code}"),
            Exit::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}
