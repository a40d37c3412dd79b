//! The project that a subcommand works on.

use std::fmt::Display;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::Args;

use retake::__private::project::{OpenProject, folder_of};
use retake::__private::report::terminal;
use retake::__private::run::{Goldens, Policy};
use retake_base::error::{Error, Result};
use retake_scenario::is_name;

/// The option that names the project, for subcommands that work on a fixture.
#[derive(Clone, Debug, Args)]
pub(super) struct ProjectOption {
    /// The project whose suite sets the rules of keys, callers and secrets [default: the one that contains the fixture]
    #[arg(long, value_name = "FOLDER")]
    root: Option<PathBuf>,
}

impl ProjectOption {
    /// The project of a fixture: the one that `--root` or `RETAKE_ROOT` names, otherwise the one that contains the fixture.
    pub(super) fn open(&self, fixture: &Path) -> Result<OpenProject> {
        OpenProject::of_fixture(fixture, self.named().as_deref())
    }

    /// The project of several fixtures that are served as one table; without any, as [`ProjectOption::open_here`].
    /// Fails if no project is named and the fixtures are in different ones.
    pub(super) fn open_for_all(&self, fixtures: &[PathBuf]) -> Result<OpenProject> {
        let [first, others @ ..] = fixtures else { return self.open_here() };
        let other = || others.iter().find(|other| folder_of(other) != folder_of(first));
        if let (None, Some(other)) = (self.named(), other()) {
            let (first, other) = (first.display(), other.display());
            return Err(Error::new(format!("{first} and {other} are in different projects, so their keys may differ"))
                .help("name the project whose suite applies to both: --root FOLDER"));
        }
        self.open(first)
    }

    /// The project that is named, otherwise the one that contains the current folder.
    pub(super) fn open_here(&self) -> Result<OpenProject> {
        self.open(&self.folder()?.join("fixtures/none.json"))
    }

    /// The file of a fixture that is given as a path or as a name. A name is looked up in `fixtures/` of the current folder,
    /// then of the project.
    /// Fails if there is no such fixture.
    pub(super) fn fixture_file(&self, named: &Path) -> Result<PathBuf> {
        let is_json = named.extension().is_some_and(|extension| extension == "json");
        if is_json || !named.to_str().is_some_and(is_name) || named.is_file() {
            return Ok(named.to_owned());
        }
        let folder = self.folder()?.join("fixtures");
        let file = |folder: &Path| folder.join(format!("{}.json", named.display()));
        let mut files = [Path::new("fixtures"), &folder].map(file).into_iter();
        files.find(|file| file.is_file()).ok_or_else(|| {
            let (wanted, shown) = (named.to_string_lossy(), folder.display());
            let known = retake_base::files::names(&folder, ".json").unwrap_or_default();
            let what = format!("there is no fixture `{wanted}`: neither a file of that name nor {shown}/{wanted}.json");
            Error::new(what).suggest(&wanted, known.iter().map(String::as_str))
        })
    }

    /// The folder of the project that is named, otherwise of the one that contains the current folder.
    pub(super) fn folder(&self) -> Result<PathBuf> {
        self.root.clone().map_or_else(root, Ok)
    }

    fn named(&self) -> Option<PathBuf> {
        self.root.clone().or_else(of_environment)
    }
}

/// The project's folder: `RETAKE_ROOT` if it is set, otherwise the nearest folder upwards that contains `scenarios/`, otherwise
/// the current folder.
pub(super) fn root() -> Result<PathBuf> {
    if let Some(root) = of_environment() {
        return Ok(root);
    }
    let here = std::env::current_dir().map_err(|e| Error::new(format!("failed to find the current folder: {e}")))?;
    Ok(here.ancestors().find(|folder| folder.join("scenarios").is_dir()).unwrap_or(&here).to_owned())
}

fn of_environment() -> Option<PathBuf> {
    std::env::var_os("RETAKE_ROOT").filter(|root| !root.is_empty()).map(PathBuf::from)
}

/// The goldens of a project, for reading only.
pub(super) fn goldens(root: &Path) -> Goldens {
    Goldens::new(root.join("goldens"), Policy::Verify)
}

/// Whether a person can be asked: input and output are a terminal, and this is no CI job.
pub(super) fn is_interactive() -> bool {
    use std::io::{IsTerminal as _, stdin, stdout};
    stdin().is_terminal() && stdout().is_terminal() && !retake_base::env::in_ci()
}

/// Reads a file, or standard input if no file is given.
pub(super) fn input(file: Option<&Path>) -> Result<Vec<u8>> {
    if let Some(file) = file {
        retake_base::files::read(file)
    } else {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        read.map_err(|e| Error::new(format!("failed to read standard input: {e}")))?;
        Ok(bytes)
    }
}

/// Notes each of these lines, after a word that says what they are.
pub(super) fn note_each(word: &str, lines: impl IntoIterator<Item = impl Display>) {
    for line in lines {
        terminal::note(format!("{word}: {line}"));
    }
}
