//! The fixtures of a project's scenarios.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::commands::record_command;
use retake_base::error::{Error, Result};
use retake_base::files;
use retake_base::lock::Mutex;
use retake_base::text::nearest;
use retake_core::key::{Rules, Varying};
use retake_scenario::{Discovered, FixtureRef, Scenario, is_name};
use retake_wire::fixture::{FORMAT, Fixture};

/// The fixtures of a project. Each is read when it is first needed.
pub struct Fixtures {
    root: PathBuf,
    rules: Arc<Rules>,
    read: Mutex<HashMap<PathBuf, Result<Arc<Fixture>>>>,
}

impl Fixtures {
    /// The fixtures of the project in a folder.
    pub fn new(root: PathBuf, rules: Arc<Rules>) -> Fixtures {
        Fixtures { root, rules, read: Mutex::default() }
    }

    /// The fixture file of a scenario; `None` if it has no fixture.
    pub fn file(&self, scenario: &Scenario) -> Option<PathBuf> {
        match &scenario.fixture {
            FixtureRef::None => None,
            FixtureRef::Named(name) => Some(self.root.join("fixtures").join(format!("{name}.json"))),
        }
    }

    /// The fixture of a scenario, read once for all scenarios that share it.
    ///
    /// # Errors
    /// If it cannot be read, or if it is missing, with the command that records it.
    pub fn of(&self, scenario: &Scenario) -> Result<Option<Arc<Fixture>>> {
        let Some(file) = self.file(scenario) else { return Ok(None) };
        let shown = file.strip_prefix(&self.root).unwrap_or(&file);
        if file.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            return Err(self.no_fixture(scenario, shown));
        }
        let mut fixtures = self.read.lock();
        let read = || {
            files::inside(&self.root, shown)?;
            let bytes = files::read_as(shown, &file)?;
            Fixture::parse(shown, &bytes, &self.rules).map(Arc::new)
        };
        let fixture = fixtures.entry(file.clone()).or_insert_with(read).clone();
        fixture.map(Some).map_err(|error| {
            let again = format!("to record it again: {}", record_command(&scenario.name));
            error.help(if file.is_file() { again } else { format!("remove it; {again}") })
        })
    }

    /// A note for the user if the file says that it was recorded for a scenario with a different fixture, so it was copied or
    /// renamed by hand.
    pub fn named_otherwise(scenario: &Scenario, fixture: &Fixture, all: &Discovered) -> Option<String> {
        let named = fixture.notes.get("scenario")?.as_str()?;
        let stem = fixture.path.file_stem()?.to_str()?;
        let shares = |other: &Scenario| other.name == named && other.fixture == scenario.fixture;
        let fits = named == stem || all.scenarios.iter().flatten().any(shares);
        (!fits).then(|| format!("{} says that it was recorded for scenario `{named}`", fixture.path.display()))
    }

    /// Writes a fixture of an older format in the newest one. One without conversations stays as it is, since deer-flow's own files
    /// hold more than is read. Values of its checks that vary are marked. Returns a note for the user, if it was written.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_anew(&self, fixture: &Fixture, varying: &[Varying]) -> Result<Option<String>> {
        let varies = !varying.is_empty() && fixture.joined.is_empty();
        let text = if varies { fixture.clone().with_varying(varying).print() } else { fixture.print() };
        let file = self.root.join(&fixture.path);
        let is_due = (fixture.is_old || varies) && fixture.keeps_conversations();
        if !is_due || files::read(&file)? == text.as_bytes() {
            return Ok(None);
        }
        files::write_whole(&file, text.as_bytes())?;
        let what = if varies { "with the values marked that vary from run to run" } else { "which says the same" };
        Ok(Some(format!("{}: written as {FORMAT}, {what}", fixture.path.display())))
    }

    fn no_fixture(&self, scenario: &Scenario, file: &Path) -> Error {
        // It names the fixture alone: all scenarios that share it fail for the same cause.
        let error = Error::new(format!("the scenario has no fixture: {} does not exist", file.display()));
        let there = files::names(&self.root.join("fixtures"), ".json").unwrap_or_default();
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let wanted = format!("{stem}.json");
        let all = files::names(&self.root.join("fixtures"), "").unwrap_or_default();
        let near = nearest(&stem, there.iter().map(String::as_str).filter(|name| is_name(name)));
        let error = match (all.iter().find(|name| name.eq_ignore_ascii_case(&wanted)), near) {
            (Some(same), _) => error.help(format!("is fixtures/{same} meant to be {}?", file.display())),
            (None, Some(near)) => error.help(format!("did you mean fixture = \"{near}\"?")),
            (None, None) => error,
        };
        error
            .help(format!("to record it: {}", record_command(&scenario.name)))
            .help("or, if the scenario calls no model: fixture = \"none\"")
    }
}
