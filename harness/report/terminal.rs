//! Printing lines. That whoever reads the output has closed the pipe is no error. A result that cannot be written is one.
//!
//! Names, texts of models and lines of logs come from elsewhere, so what is printed is shown and not executed. Output ends up in CI
//! logs and in bug reports, so secrets are removed from notes and errors.

use std::fmt::Display;
use std::io::{ErrorKind, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use retake_base::text::printed;
use retake_core::secrets::shown;

static LOST: AtomicBool = AtomicBool::new(false);

/// Prints a line of the result to standard output.
pub fn out(line: impl Display) {
    pass(format!("{}\n", printed(&line.to_string())).as_bytes());
}

/// Prints a line of the result in a colour, which is a number of a terminal.
pub fn in_colour(colour: &str, line: impl Display) {
    pass(format!("{}\n", coloured(colour, &line.to_string())).as_bytes());
}

/// A line in a colour.
pub fn coloured(colour: &str, line: &str) -> String {
    format!("\u{1b}[{colour}m{}\u{1b}[0m", printed(line))
}

/// Writes a part of the result to standard output, unchanged.
pub(super) fn pass(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(bytes).and_then(|()| out.flush());
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
    let _ = write!(out, "{}", printed(&question.to_string())).and_then(|()| out.flush());
}

/// Prints a note to standard error.
pub fn note(line: impl Display) {
    say(&printed(&shown(&line.to_string())));
}

/// Prints an error to standard error.
pub fn error(error: impl Display) {
    say(&printed(&shown(&format!("error: {error}"))));
}

/// Prints an error that says itself that it is one to standard error.
pub fn complaint(error: impl Display) {
    say(printed(&shown(&error.to_string())).trim_end());
}

/// Prints a command to the CI system that reads the output.
pub fn command(command: impl Display) {
    say(&shown(&command.to_string()));
}

fn say(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
