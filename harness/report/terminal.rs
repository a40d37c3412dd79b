//! Lines for the terminal. A person who closed the pipe wants no more of them: a failed write is no error.

use std::fmt::Display;
use std::io::Write as _;

/// A line of what was asked for, on stdout.
pub fn out(line: impl Display) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// A line about what is going on, on stderr.
pub fn note(line: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// An error on stderr.
pub fn error(error: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "error: {error}");
}
