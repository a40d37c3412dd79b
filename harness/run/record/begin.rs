//! What a recording begins with: its files, the secrets, and what it is served from where it goes on from another one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Result;
use crate::fixture::{Fixture, JournalLock, call_log, journal_of};
use crate::model::{Cost, Resume, merged};
use crate::report::{Failure, terminal};
use crate::run::commands::record_command;
use crate::run::declared_secrets;
use crate::run::project::Project;
use crate::scenario::Scenario;
use crate::secrets::{Scrub, Secrets};
use crate::text::counted;

/// A recording of one scenario, and where it goes.
pub(super) struct Recording<'a> {
    pub(super) project: &'a Project,
    pub(super) scenario: &'a Scenario,
    /// The fixture's file, and how it is shown: from the project's folder.
    pub(super) file: PathBuf,
    pub(super) shown: PathBuf,
    pub(super) journal_file: PathBuf,
    /// The fixture that is replaced, where it can be read.
    pub(super) old: Option<Arc<Fixture>>,
    /// Two recordings of one name would write into one journal.
    _lock: JournalLock,
}

/// A recording whose journal is begun.
pub(super) struct Begun<'a> {
    pub(super) recording: Recording<'a>,
    pub(super) secrets: Secrets,
    pub(super) journal: call_log::CallLog,
    /// What calls are served from that equal a recorded one.
    pub(super) resume: Option<Arc<Resume>>,
}

/// Begins the journal, and says what is to be expected. With `resume` a journal that the recording goes on from stays in
/// the file.
///
/// # Errors
/// Where the scenario has no fixture to record, a secret is not set, or the journal cannot be read or written.
pub(super) fn begin<'a>(project: &'a Project, scenario: &'a Scenario, resume: bool) -> Result<Begun<'a>, Failure> {
    let Some(file) = project.fixtures.file(scenario) else {
        return Err(Failure::new(format!("{} says fixture = \"none\"", scenario.file.display())));
    };
    let old = file.exists().then(|| project.fixtures.of(scenario)).transpose().map(Option::flatten);
    declared_secrets::check(&project.discovered, scenario)?;
    let secrets = project.open.secrets()?;
    let (shown, journal_file) = (shown(project, &file).to_owned(), journal_of(&file));
    let lock = JournalLock::take(&journal_file)?;
    let mut recording = Recording { project, scenario, file, shown, journal_file, old: None, _lock: lock };
    let (journal, resume) = if resume {
        let (journal, resume) = recording.resume(&old, secrets.scrub())?;
        (journal, Some(resume))
    } else {
        (recording.start(&old)?, None)
    };
    recording.old = old.ok().flatten();
    Ok(Begun { recording, secrets, journal, resume })
}

impl Recording<'_> {
    /// From the start.
    fn start(&self, old: &Result<Option<Arc<Fixture>>>) -> Result<call_log::CallLog> {
        if let Ok(Some(old)) = old {
            let cost = Cost::of_fixture(old, &self.project.rules);
            let name = &self.scenario.name;
            terminal::note(format!("{name}: {cost} are to be expected, as in {}", old.path.display()));
        }
        call_log::CallLog::create(&self.journal_file)
    }

    /// From what the journal and the old fixture hold.
    fn resume(&self, old: &Result<Option<Arc<Fixture>>>, scrub: &Scrub) -> Result<(call_log::CallLog, Arc<Resume>)> {
        let (name, rules) = (&self.scenario.name, &self.project.rules);
        let shown = shown(self.project, &self.journal_file);
        let mut calls = call_log::LoggedCalls::default();
        if self.journal_file.exists() {
            calls = call_log::read(&self.journal_file, shown, scrub)
                .map_err(|e| e.help(format!("to record from the start: {}", record_command(name))))?;
            calls.torn.iter().for_each(|torn| terminal::note(format!("warning: {torn}")));
        }
        // What became a fixture is served from the fixture, where that can still be read: it may be newer.
        if calls.recorded && matches!(old, Ok(Some(_))) {
            calls = call_log::LoggedCalls::default();
        }
        if let Err(error) = old {
            terminal::note(format!("warning: the old fixture is not used: {error}"));
        }
        let turns = merged(calls.turns(rules), rules);
        let old = old.as_ref().ok().and_then(Option::as_deref);
        let resume = Resume::new(&turns, old, rules.clone());
        let mut from: Vec<String> = Vec::new();
        if !turns.is_empty() {
            from.push(format!("{} recorded in {}", counted(turns.len(), "call"), shown.display()));
        }
        from.extend(old.map(|old| format!("{} in {}", counted(old.table.turns().len(), "turn"), old.path.display())));
        let cost = resume.expected();
        terminal::note(if from.is_empty() {
            format!("{name}: nothing is recorded yet, so each call goes to the provider")
        } else {
            let from = from.join(", ");
            format!("{name}: {cost} are to be expected, less what equals a recorded call: {from}")
        });
        let entries: Vec<call_log::LoggedCall> = turns.into_iter().map(|(_, entry)| entry).collect();
        let journal = if entries.is_empty() {
            call_log::CallLog::create(&self.journal_file)?
        } else {
            call_log::CallLog::resume(&self.journal_file, &entries)?
        };
        Ok((journal, Arc::new(resume)))
    }
}

/// A file as messages show it: from the project's folder.
fn shown<'a>(project: &Project, file: &'a Path) -> &'a Path {
    file.strip_prefix(&project.root).unwrap_or(file)
}
