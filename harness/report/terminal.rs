//! Printing lines. A failed write is not an error: whoever reads the output has closed the pipe.
//!
//! Output ends up in CI logs and in bug reports, so secrets are removed from notes and errors.

use std::fmt::Display;
use std::io::Write as _;

use retake_core::secrets::shown;

/// Prints a line of the result to standard output, unchanged.
pub fn out(line: impl Display) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// Prints a question to standard output, without a line break after it.
pub fn ask(question: impl Display) {
    let mut out = std::io::stdout().lock();
    let _ = write!(out, "{question}").and_then(|()| out.flush());
}

/// Prints a note to standard error.
pub fn note(line: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{}", shown(&line.to_string()));
}

/// Prints an error to standard error.
pub fn error(error: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "error: {}", shown(&error.to_string()));
}
