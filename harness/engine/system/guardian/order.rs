//! The messages between a runner and a guardian, each one line of JSON.

use std::fmt;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// The first argument that makes a runner's program a guardian.
pub(super) const MARK: &str = "retake-guardian";

/// The byte that a runner sends before it closes the pipe. A runner that was killed does not send it.
pub(super) const OVER: u8 = b'.';

/// The byte on which a guardian kills everything that it guards at once, and stays to keep the folders.
pub(super) const KILL: u8 = b'!';

/// What a guardian has to start, and to remove at the end. The runner sends it over the pipe and not as arguments: everybody on
/// the machine can read those, and the environment contains a key.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Order {
    /// Folders to create first, each accessible only to this user. The first one is removed at the end with everything in it.
    pub(crate) folders: Vec<PathBuf>,
    /// A folder to copy, and the folder of those above that gets the copy.
    pub(crate) copied: Option<(PathBuf, PathBuf)>,
    /// Files to write after that, with their texts.
    pub(crate) files: Vec<(PathBuf, String)>,
    /// The program to start. If absent, the guardian only keeps the folders.
    pub(crate) program: Option<Program>,
}

/// A program to start.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Program {
    pub(crate) command: Vec<String>,
    pub(crate) cwd: PathBuf,
    /// Its whole environment.
    pub(crate) env: Vec<(String, String)>,
    /// The file for its standard error. If absent, standard error goes where its output goes.
    pub(crate) errors: Option<PathBuf>,
    pub(crate) input: Input,
    /// What becomes of the addresses that it tries to reach. If absent, nobody looks.
    pub(crate) fence: Option<Fence>,
}

/// What becomes of the addresses that a program and all that it starts try to reach.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Fence {
    /// Whether addresses outside this machine are refused.
    pub(crate) refuses: bool,
    /// Names or addresses that may be reached, each with its port.
    pub(crate) allow: Vec<String>,
    /// The ports of this machine that may be reached without a word.
    pub(crate) own: Vec<u16>,
}

/// An attempt of a process to reach an address.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Reached {
    /// How the process was called.
    pub(crate) process: String,
    pub(crate) to: String,
    /// The port, if it is one of this machine.
    pub(crate) port: Option<u16>,
    pub(crate) refused: bool,
    /// When, in microseconds since 1970.
    pub(crate) at: u64,
}

/// What a program reads on its standard input.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) enum Input {
    /// Nothing.
    #[default]
    Closed,
    Text(String),
    /// A Unix socket, to which its output goes too.
    Socket(PathBuf),
}

/// A message from a guardian to its runner.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum Message {
    /// The folders exist and the program runs, in a process group of this id (0 without a program).
    Started(i32),
    /// The program could not be started, for this reason.
    Failed(String),
    /// The program itself has ended. Processes that it started may still run.
    Exited(Exit),
    /// No process that it started runs any more.
    NoneLeft,
    /// Whether a filter of system calls tells what it tries to reach, or why not.
    Fenced(Option<String>),
    Reached(Reached),
}

/// How a program ended.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) enum Exit {
    Code(i32),
    Signal(i32),
}

impl Exit {
    /// Says in words what happened, as the rest of a sentence about the program.
    pub(crate) fn said(self) -> String {
        match self {
            Exit::Code(code) => format!("exited with code {code}"),
            Exit::Signal(signal) => format!("was ended by signal {signal}"),
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Code(code) => write!(f, "exit code {code}"),
            Exit::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

/// The time in microseconds since 1970.
pub(crate) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_micros()).unwrap_or(u64::MAX)
}
