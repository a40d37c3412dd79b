//! Goldens: the committed insta snapshots of scenarios. The only module that names insta.
//!
//! insta reads its environment once and prints to stdout, where a test runner's own output stands, so it is kept silent
//! and the comparison's result is read back from it. Its `source:` must name the user's file and no path of a machine, so
//! the assertion expands there: [`assert_golden!`](crate::assert_golden) is what `suite!` passes in.

use std::cell::Cell;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files;

#[doc(hidden)]
pub use insta as __insta;

/// The assertion of one golden by name and text, as it expands in the user's file.
pub type Assert = fn(name: &str, text: &str);

/// The assertion, expanded where this stands.
#[doc(hidden)]
#[macro_export]
macro_rules! assert_golden {
    () => {
        |name: &str, text: &str| $crate::golden::__insta::assert_snapshot!(name, text)
    };
}

/// What may be written in this run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// A golden that differs is left as it is, with the new text beside it for `cargo insta review`.
    Check,
    /// Nothing is written: `CI` is set.
    CheckOnly,
    /// Goldens are written, after their proof.
    Update,
}

/// The environment that insta has to see from the start of the process.
#[must_use]
pub fn environment(policy: Policy, root: &Path) -> [(&'static str, OsString); 4] {
    let update = match policy {
        Policy::Check => "new",
        Policy::CheckOnly => "no",
        Policy::Update => "always",
    };
    [
        ("INSTA_UPDATE", update.into()),
        ("INSTA_OUTPUT", "none".into()),
        ("INSTA_FORCE_PASS", "0".into()),
        // Also saves insta a call of `cargo metadata`.
        ("INSTA_WORKSPACE_ROOT", root.into()),
    ]
}

/// How a scenario's text compares with its golden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    /// It is the golden's.
    Same,
    /// There is no golden yet.
    New,
    /// It is not; this is what the golden holds.
    Differs(String),
}

/// The goldens of a project.
#[derive(Clone, Debug)]
pub struct Goldens {
    folder: PathBuf,
    policy: Policy,
    assert: Assert,
}

thread_local! {
    static SILENT: Cell<bool> = const { Cell::new(false) };
}

/// Keeps the panic of a failed comparison off stderr: it is reported as a failure with its diff.
pub fn silence_comparisons() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !SILENT.get() {
            report(panic);
        }
    }));
}

impl Goldens {
    /// The goldens in a folder.
    #[must_use]
    pub fn new(folder: PathBuf, policy: Policy, assert: Assert) -> Goldens {
        Goldens { folder, policy, assert }
    }

    /// The file of a golden.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.snap"))
    }

    /// The names of all goldens there are, sorted.
    ///
    /// # Errors
    /// Where the folder cannot be read.
    pub fn names(&self) -> Result<Vec<String>> {
        files::names(&self.folder, ".snap")
    }

    /// Compares a text with its golden; writes what the policy allows. `input` is the scenario's file, which the golden
    /// names.
    ///
    /// # Errors
    /// Where the golden is there and cannot be read, or was to be written and could not.
    pub fn compare(&self, name: &str, text: &str, input: &Path) -> Result<Compared> {
        let file = self.file(name);
        let committed = Self::committed(&file)?;
        let mut settings = __insta::Settings::clone_current();
        settings.set_snapshot_path(&self.folder);
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.set_input_file(input);
        SILENT.set(true);
        let equal = catch_unwind(AssertUnwindSafe(|| settings.bind(|| (self.assert)(name, text)))).is_ok();
        SILENT.set(false);
        let pending = self.folder.join(format!("{name}.snap.new"));
        match self.policy {
            Policy::Update => {
                files::remove(&pending)?;
                let written = Self::committed(&file)?;
                if !equal || written.is_none() {
                    return Err(Error::new("the golden could not be written").in_file(&file));
                }
                Ok(match committed {
                    None => Compared::New,
                    Some(old) if Some(&old) == written.as_ref() => Compared::Same,
                    Some(old) => Compared::Differs(old),
                })
            }
            _ if equal => {
                if self.policy == Policy::Check {
                    files::remove(&pending)?;
                }
                Ok(Compared::Same)
            }
            _ => Ok(committed.map_or(Compared::New, Compared::Differs)),
        }
    }

    fn committed(file: &Path) -> Result<Option<String>> {
        if !file.exists() {
            return Ok(None);
        }
        // Read first for the error that names the file in words of ours; insta's parser tells the rest.
        files::read(file)?;
        let snapshot = __insta::Snapshot::from_file(file)
            .map_err(|e| Error::new(format!("not a snapshot of insta's: {e}")).in_file(file))?;
        let text = snapshot.as_text().ok_or_else(|| Error::new("a binary snapshot, expected text").in_file(file))?;
        Ok(Some(text.to_string()))
    }
}
