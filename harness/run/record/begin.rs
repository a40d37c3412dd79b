//! The first stage of a recording: its files, its secrets, its journal, and the earlier recording that it resumes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::report::{Failure, terminal};
use crate::run::commands::record_command;
use crate::run::declared_secrets;
use crate::run::project::Project;
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};
use retake_base::text::counted;
use retake_core::secrets::{Scrub, Secrets};
use retake_model::{Cost, Resume, merged};
use retake_scenario::Scenario;
use retake_wire::fixture::{Fixture, JournalLock, call_log, journal_of};

/// A recording of one scenario, with its files.
pub(super) struct Recording<'a> {
    pub(super) project: &'a Project,
    pub(super) scenario: &'a Scenario,
    /// The fixture's file.
    pub(super) file: PathBuf,
    /// The same, relative to the project's folder, as messages show it.
    pub(super) shown: PathBuf,
    pub(super) journal_file: PathBuf,
    /// The fixture that will be replaced, if it can be read.
    pub(super) old: Option<Arc<Fixture>>,
    /// Keeps a second recording of the same name from writing to the same journal.
    _lock: JournalLock,
}

/// A recording whose journal is open.
pub(super) struct Begun<'a> {
    pub(super) recording: Recording<'a>,
    pub(super) secrets: Secrets,
    pub(super) journal: call_log::CallLog,
    /// The earlier recording that answers calls which match it, when resuming.
    pub(super) resume: Option<Arc<Resume>>,
}

/// What a recording begins with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Begin<'a> {
    /// An empty journal.
    Anew,
    /// The journal of a failed attempt, and the old fixture.
    Resume,
    /// The calls of another journal, after which none are made.
    With(&'a Path),
}

/// Opens the journal, and prints the expected cost. When resuming, the entries of an earlier journal are kept.
/// Fails if the scenario has no fixture to record, a secret is not set, or the journal cannot be read or written.
pub(super) fn begin<'a>(project: &'a Project, scenario: &'a Scenario, with: Begin<'_>) -> Result<Begun<'a>, Failure> {
    let Some(file) = project.fixtures.file(scenario) else {
        let file = scenario.file.display();
        let what = Failure::new(format!("there is nothing to record: {file} sets fixture = \"none\""));
        return Err(what.resolve("to write its golden", format!("{RETAKE} test {} --update", scenario.name)));
    };
    let old = file.exists().then(|| project.fixtures.of(scenario)).transpose().map(Option::flatten);
    declared_secrets::check(&project.discovered, scenario)?;
    let secrets = project.open.secrets()?;
    let (shown, journal_file) = (project.shown(&file), journal_of(&file));
    let lock = JournalLock::take(&journal_file)?;
    let mut recording = Recording { project, scenario, file, shown, journal_file, old: None, _lock: lock };
    let (journal, resume) = match with {
        Begin::Anew => (recording.start(&old)?, None),
        Begin::Resume => recording.resume(&old, secrets.scrub()).map(|(journal, resume)| (journal, Some(resume)))?,
        Begin::With(other) => {
            let journal = call_log::CallLog::create(&recording.journal_file)?;
            let calls = call_log::read(other, other, secrets.scrub())?.attempts.pop().unwrap_or_default();
            for (_, entry) in &calls {
                journal.append(entry).map_err(Error::new)?;
            }
            (journal, None)
        }
    };
    recording.old = old.ok().flatten();
    Ok(Begun { recording, secrets, journal, resume })
}

impl Recording<'_> {
    /// Starts with an empty journal.
    fn start(&self, old: &Result<Option<Arc<Fixture>>>) -> Result<call_log::CallLog> {
        if let Ok(Some(old)) = old {
            let cost = Cost::of_fixture(old, &self.project.rules);
            let name = &self.scenario.name;
            terminal::note(format!("{name}: expect {cost}, as in {}", old.path.display()));
        }
        call_log::CallLog::create(&self.journal_file)
    }

    fn resume(&self, old: &Result<Option<Arc<Fixture>>>, scrub: &Scrub) -> Result<(call_log::CallLog, Arc<Resume>)> {
        let (name, rules) = (&self.scenario.name, &self.project.rules);
        let shown = self.project.shown(&self.journal_file);
        let mut calls = call_log::LoggedCalls::default();
        if self.journal_file.exists() {
            calls = call_log::read(&self.journal_file, &shown, scrub)
                .map_err(|e| e.help(format!("to record from the start: {}", record_command(name))))?;
            calls.torn.iter().for_each(|torn| terminal::note(format!("warning: {torn}")));
        }
        // If the journal has become a fixture that can be read, resume from the fixture: it may be newer.
        if calls.recorded && matches!(old, Ok(Some(_))) {
            calls = call_log::LoggedCalls::default();
        }
        if let Err(error) = old {
            terminal::note(format!("warning: the old fixture is not used: {error}"));
        }
        let turns = merged(calls.turns(rules), rules);
        let old = old.as_ref().ok().and_then(Option::as_ref);
        let resume = Resume::new(&turns, old, rules.clone());
        let mut from: Vec<String> = Vec::new();
        if !turns.is_empty() {
            from.push(format!("{} recorded in {}", counted(turns.len(), "call"), shown.display()));
        }
        from.extend(old.map(|old| format!("{} in {}", counted(old.table.turns().len(), "turn"), old.path.display())));
        let cost = resume.expected;
        terminal::note(if from.is_empty() {
            format!("{name}: nothing is recorded yet, so each call goes to the provider")
        } else {
            let from = from.join(", ");
            format!("{name}: expect {cost}, less the calls that equal a recorded one: {from}")
        });
        let entries: Vec<call_log::LoggedCall> = turns.into_iter().map(|(_, entry)| entry).collect();
        Ok((call_log::CallLog::resume(&self.journal_file, &entries)?, Arc::new(resume)))
    }
}
