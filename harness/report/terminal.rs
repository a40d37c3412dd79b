//! Lines for the terminal. A person who closed the pipe wants no more of them: a failed write is not an error.
//!
//! Terminals end in logs of CI and in issues, so what is said of a run has lost its secrets.

use std::fmt::Display;
#[cfg(feature = "cli")]
use std::io::IsTerminal as _;
use std::io::Write as _;

use crate::secrets::shown;

/// A line of what was asked for, on stdout, as it is.
pub fn out(line: impl Display) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// A question on stdout; the answer is typed behind it.
#[cfg(feature = "cli")]
pub fn ask(question: impl Display) {
    let mut out = std::io::stdout().lock();
    let _ = write!(out, "{question}").and_then(|()| out.flush());
}

/// A diff on stdout, coloured where that is a terminal and `NO_COLOR` is not set.
#[cfg(feature = "cli")]
pub(crate) fn diff(diff: &super::Diff) {
    let coloured = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty());
    diff.lines(coloured).for_each(out);
}

/// A line about what is going on, on stderr.
pub fn note(line: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{}", shown(&line.to_string()));
}

/// An error on stderr.
pub fn error(error: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "error: {}", shown(&error.to_string()));
}
