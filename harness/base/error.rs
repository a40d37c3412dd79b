//! The library's only error type: what went wrong, where, and how to resolve it.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::text::{nearest, readable};

/// `Result` with Retake's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A problem that a person has to fix: a wrong file, a system that does not start, a provider that cannot be reached.
///
/// It prints as `FILE:LINE:COLUMN: what`, followed by the lines of help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Parts>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    what: String,
    file: Option<PathBuf>,
    place: Option<Place>,
    help: Vec<String>,
    root: Option<String>,
}

/// A position in a text: line and column, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
}

impl Place {
    /// Returns the position of a byte offset.
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
    /// Creates an error from its first line: a lower-case fragment that says what was found and what was expected.
    pub fn new(what: impl Into<String>) -> Error {
        Error(Box::new(Parts { what: what.into(), file: None, place: None, help: Vec::new(), root: None }))
    }

    /// Sets the file, unless the error already names one.
    #[must_use]
    pub fn in_file(mut self, file: &Path) -> Error {
        self.0.file.get_or_insert_with(|| file.to_owned());
        self
    }

    /// Sets the position in the file.
    #[must_use]
    pub fn at(mut self, place: Place) -> Error {
        self.0.place = Some(place);
        self
    }

    /// Moves the position down by a number of lines, which stand above the text that it is in.
    #[must_use]
    pub fn below(mut self, lines: usize) -> Error {
        self.0.place = self.0.place.map(|place| Place { line: place.line + lines, ..place });
        self
    }

    /// Sets the file and the position, unless the error already has a position.
    #[must_use]
    pub fn else_at(self, file: &Path, place: Place) -> Error {
        if self.0.place.is_some() { self.in_file(file) } else { self.in_file(file).at(place) }
    }

    /// Adds a line of help: the name that was probably meant, or the command that resolves the problem.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Error {
        self.0.help.push(help.into());
        self
    }

    /// Adds the known name that was most likely meant by this one, if any is similar enough.
    #[must_use]
    pub fn suggest<'a>(self, name: &str, known: impl IntoIterator<Item = &'a str>) -> Error {
        match nearest(name, known) {
            Some(near) => self.help(format!("did you mean `{near}`?")),
            None => self,
        }
    }

    /// The same, with another line of help if no known name is similar.
    #[must_use]
    pub fn suggest_or<'a>(self, name: &str, known: impl IntoIterator<Item = &'a str>, otherwise: String) -> Error {
        let help = nearest(name, known).map_or(otherwise, |near| format!("did you mean `{near}`?"));
        self.help(help)
    }

    /// Says which action failed, before the first line: `failed to X: what`.
    #[must_use]
    pub fn while_doing(mut self, doing: &str) -> Error {
        self.0.what = format!("failed to {doing}: {}", self.0.what);
        self
    }

    /// Puts a subject before the first line: `X what`.
    #[must_use]
    pub fn of(mut self, subject: &str) -> Error {
        self.0.what = format!("{subject} {}", self.0.what);
        self
    }

    /// Says what went wrong behind it, in words that other errors have in common with it.
    #[must_use]
    pub fn because(mut self, root: Option<String>) -> Error {
        self.0.root = root;
        self
    }

    /// The first line, without file and position.
    pub fn what(&self) -> &str {
        &self.0.what
    }

    /// The first line, with file and position.
    pub fn first_line(&self) -> String {
        let bare = Error(Box::new(Parts { help: Vec::new(), ..(*self.0).clone() }));
        bare.to_string()
    }

    /// What went wrong behind it.
    pub fn root(&self) -> Option<&str> {
        self.0.root.as_deref()
    }

    /// The lines of help.
    pub fn hints(&self) -> &[String] {
        &self.0.help
    }

    /// The file that is wrong, if the error is about a file.
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

/// Returns an error about a merge conflict that was left in a text; `None` if there is none.
pub fn conflict(text: &str) -> Option<Error> {
    let line = |marker: &str| text.lines().position(|line| line.starts_with(marker));
    let (begins, ends) = (line("<<<<<<< ")?, line(">>>>>>> ")?);
    let error = Error::new("a merge conflict is left in this file: the line begins with `<<<<<<<`");
    let error = error.at(Place { line: begins + 1, column: 1 });
    (begins < ends)
        .then(|| error.help(format!("keep one of its sides, and remove the markers down to line {}", ends + 1)))
}

#[cfg(test)]
mod tests;
