//! The folder of a fork, `.retake/forks/NAME-1`: its table in `fork.json`, and for each run a journal and a fixture.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::report::{FORK_FORMAT, ForkData, ForkRow, as_json, terminal};
use crate::run::action::ForkOptions;
use crate::run::project::Project;
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};
use retake_base::files;
use retake_base::lock::Mutex;
use retake_core::json::Layout;
use retake_core::key::Hash;
use retake_core::secrets::{Fired, Secrets};
use retake_scenario::Scenario;
use retake_wire::fixture::{Fixture, JournalLock};

/// The folder of a fork that runs.
pub(super) struct Folder {
    pub(super) id: String,
    pub(super) path: PathBuf,
    data: Mutex<ForkData>,
    /// Keeps a second command from continuing the same fork.
    _lock: JournalLock,
}

impl Folder {
    /// Opens the folder of the same fork, if it was interrupted, and otherwise a new one.
    pub(super) fn open(
        project: &Project,
        scenario: &Scenario,
        fixture: &Fixture,
        from: usize,
        options: &ForkOptions,
        secrets: &Secrets,
        recorded: ForkRow,
    ) -> Result<Folder> {
        let forks = files::run_folder(&project.root, "forks")?;
        // How the table is printed makes no other fork.
        let asked = ForkOptions { json: false, ..options.clone() };
        let mut asked = as_json(&asked)?;
        // A prompt may hold anything.
        secrets.scrub().json(&mut asked, &mut Fired::new());
        let asked = serde_json::from_str(&asked.print(Layout::Compact)).map_err(|e| Error::new(e.to_string()))?;
        let new = ForkData {
            format: FORK_FORMAT.to_owned(),
            scenario: scenario.name.clone(),
            fixture: Hash::of(fixture.print().as_bytes()).to_string(),
            from,
            asked,
            times: options.times,
            recorded,
            runs: BTreeMap::new(),
        };
        for number in 1.. {
            let id = format!("{}-{number}", scenario.name);
            let path = forks.join(&id);
            let file = path.join("fork.json");
            let earlier = file.is_file().then(|| read(&file)).transpose()?;
            let same = |of: &ForkData| of.fixture == new.fixture && of.asked == new.asked && of.runs.len() < of.times;
            if earlier.as_ref().is_some_and(|old| !same(old)) {
                continue;
            }
            // Another command may be at work here.
            let Ok(lock) = JournalLock::take(&path.join("fork.jsonl")) else { continue };
            if earlier.is_some() {
                terminal::note(format!("{id}: continues; answers that were paid for are not asked for again"));
            }
            let folder = Folder { id, path, data: Mutex::new(earlier.unwrap_or(new)), _lock: lock };
            folder.write()?;
            return Ok(folder);
        }
        Err(Error::new("there are too many forks").help(format!("to remove them: {RETAKE} fork sweep")))
    }

    /// The table so far.
    pub(super) fn data(&self) -> ForkData {
        self.data.lock().clone()
    }

    /// Notes a run that has ended.
    pub(super) fn note(&self, number: usize, row: ForkRow) -> Result<()> {
        self.data.lock().runs.insert(number, row);
        self.write()
    }

    fn write(&self) -> Result<()> {
        let data = self.data.lock();
        let file = self.path.join("fork.json");
        let text = serde_json::to_string_pretty(&*data).map_err(|e| Error::new(e.to_string()).in_file(&file))?;
        files::write_whole(&file, (text + "\n").as_bytes())
    }
}

/// Reads the table of a fork.
pub(super) fn read(file: &std::path::Path) -> Result<ForkData> {
    let bytes = files::read(file)?;
    serde_json::from_slice(&bytes).map_err(|e| {
        Error::new(format!("not a fork: {e}")).in_file(file).help(format!("to remove all forks: {RETAKE} fork sweep"))
    })
}
