//! Lines for the terminal. A person who closed the pipe wants no more of them: a failed write is no error.
//!
//! Terminals end in logs of CI and in issues, so what is said of a run has lost its secrets.

use std::fmt::Display;
use std::io::Write as _;

use crate::secrets::shown;

/// A line of what was asked for, on stdout, as it is.
pub fn out(line: impl Display) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// A line about what is going on, on stderr.
pub fn note(line: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{}", shown(&line.to_string()));
}

/// An error on stderr.
pub fn error(error: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "error: {}", shown(&error.to_string()));
}
