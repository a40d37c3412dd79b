//! The one error type: what went wrong, where, and the command that resolves it.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::text::readable;

/// `Result` with Retake's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Something a person has to mend: a file that is wrong, a system that does not start, a provider out of reach.
///
/// It prints as `FILE:LINE:COLUMN: what`, with the help on lines of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Parts>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    what: String,
    file: Option<PathBuf>,
    place: Option<Place>,
    help: Vec<String>,
}

/// A 1-based line and column (in characters) of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl Place {
    /// The place of a byte offset.
    #[must_use]
    pub fn of(text: &str, offset: usize) -> Place {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = memchr::memrchr(b'\n', before.as_bytes()).map_or(0, |i| i + 1);
        Place {
            line: memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl Error {
    /// An error with its first line: what was found and what was expected, a lower-case fragment.
    pub fn new(what: impl Into<String>) -> Error {
        Error(Box::new(Parts { what: what.into(), file: None, place: None, help: Vec::new() }))
    }

    /// Names the file, where no file is named yet.
    #[must_use]
    pub fn in_file(mut self, file: &Path) -> Error {
        self.0.file.get_or_insert_with(|| file.to_owned());
        self
    }

    /// Names the place in the file.
    #[must_use]
    pub fn at(mut self, place: Place) -> Error {
        self.0.place = Some(place);
        self
    }

    /// Names file and place, where the error names no place of its own.
    #[must_use]
    pub(crate) fn else_at(self, file: &Path, place: Place) -> Error {
        if self.0.place.is_some() { self.in_file(file) } else { self.in_file(file).at(place) }
    }

    /// Adds a line of help: the nearest right name, or the command that resolves it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Error {
        self.0.help.push(help.into());
        self
    }

    /// Puts what was being done before the first line: `failed to X: what`.
    #[must_use]
    pub fn while_doing(mut self, doing: &str) -> Error {
        self.0.what = format!("failed to {doing}: {}", self.0.what);
        self
    }

    /// Puts what the first line is about before it: `X what`.
    #[must_use]
    pub(crate) fn of(mut self, subject: &str) -> Error {
        self.0.what = format!("{subject} {}", self.0.what);
        self
    }

    /// The first line without its place.
    #[must_use]
    pub fn what(&self) -> &str {
        &self.0.what
    }

    /// The first line: place and what.
    #[must_use]
    pub(crate) fn first_line(&self) -> String {
        let bare = Error(Box::new(Parts { help: Vec::new(), ..(*self.0).clone() }));
        bare.to_string()
    }

    /// The lines of help.
    pub(crate) fn hints(&self) -> &[String] {
        &self.0.help
    }

    /// The file at fault, where there is one.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.0.file.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = &*self.0;
        if let Some(file) = &parts.file {
            write!(f, "{}", file.display())?;
            if let Some(Place { line, column }) = parts.place {
                write!(f, ":{line}:{column}")?;
            }
            write!(f, ": ")?;
        }
        write!(f, "{}", readable(&parts.what))?;
        parts.help.iter().try_for_each(|help| write!(f, "\n  {}", readable(help)))
    }
}

impl std::error::Error for Error {}

/// The error about a merge conflict that was left in a text, where there is one.
pub(crate) fn conflict(text: &str) -> Option<Error> {
    let line = |marker: &str| text.lines().position(|line| line.starts_with(marker));
    let (begins, ends) = (line("<<<<<<< ")?, line(">>>>>>> ")?);
    let error = Error::new("a merge conflict is left in this file: the line begins with `<<<<<<<`");
    let error = error.at(Place { line: begins + 1, column: 1 });
    (begins < ends)
        .then(|| error.help(format!("keep one of its sides, and remove the markers down to line {}", ends + 1)))
}

#[cfg(test)]
mod tests;
