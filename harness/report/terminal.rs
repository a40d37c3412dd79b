//! Printing lines. That whoever reads the output has closed the pipe is no error. A result that cannot be written is one.
//!
//! Output ends up in CI logs and in bug reports, so secrets are removed from notes and errors.

use std::fmt::Display;
use std::io::{ErrorKind, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use retake_core::secrets::shown;

static LOST: AtomicBool = AtomicBool::new(false);

/// Prints a line of the result to standard output, unchanged.
pub fn out(line: impl Display) {
    let written = writeln!(std::io::stdout().lock(), "{line}");
    let failed = written.err().filter(|failed| failed.kind() != ErrorKind::BrokenPipe);
    if let (Some(failed), false) = (&failed, LOST.load(Ordering::Relaxed)) {
        LOST.store(true, Ordering::Relaxed);
        error(format!("cannot write to standard output: {failed}"));
    }
}

/// Whether a line of the result could not be written, for example because the disk is full.
pub fn has_lost() -> bool {
    LOST.load(Ordering::Relaxed)
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
