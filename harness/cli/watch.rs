//! `retake test --watch`: runs again what a saved file concerns. Each run is a command of its own; between two runs, this waits for
//! a file or for a key, whichever comes first.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{PipeReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, SystemTime};

use ignore::WalkBuilder;
use notify_debouncer_mini::notify::{self, RecommendedWatcher, RecursiveMode};
use notify_debouncer_mini::{DebounceEventResult, Debouncer, new_debouncer};
use rustix::event::{PollFd, PollFlags, poll};

use super::offer;
use retake::__private::report::{RunData, RunResult, Runs, terminal};
use retake::__private::run::Wanted;
use retake_base::error::{Error, Result};
use retake_base::text::counted;
use retake_scenario::{Discovered, FixtureRef, SCENARIOS, Scenario, Suite, SystemSpec, discover, name_of, needs};

/// For how long files have to rest before what they concern runs: an editor saves in several steps.
const RESTS: Duration = Duration::from_millis(50);
/// Folders of what is installed or built, where git does not ignore them.
const LEFT_OUT: [&str; 4] = ["node_modules", "target", "venv", "__pycache__"];

/// Runs the scenarios that match the filters, and again whenever a file changes that concerns them, until `q` is pressed.
/// `options` are those of each run, and `runner` libtest's.
/// Fails if files cannot be watched or a run cannot be started.
pub(super) fn watch(root: &Path, filters: &[String], options: &[String], runner: &[String]) -> Result<ExitCode> {
    let mut watched = Watched::new(root)?;
    let wanted = Wanted::of_scenarios(filters.to_vec(), runner.to_vec());
    let run = |names: &[String], exactly: &[&str]| {
        let before = ["test", "--no-offer"].map(str::to_owned);
        let after = exactly.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>();
        own(root, &[&before, options, names, &["--".to_owned()], runner, &after].concat())
    };
    run(filters, &[])?;
    loop {
        let mut ran: Vec<RunData> = Runs::of(root).all()?;
        ran.retain(|run| run.result == RunResult::Failed && wanted.wants(&run.scenario));
        let (update, record) = offer::advised(&ran);
        let keys = [(!record.is_empty()).then_some("[r]ecord"), (!update.is_empty()).then_some("[u]pdate")];
        let keys: Vec<&str> = keys.into_iter().flatten().chain(["re[v]iew", "[a]ll again", "[q]uit"]).collect();
        let next = watched.next(|files| {
            terminal::ask(format!("\nwatching {}, {}: ", counted(files, "file"), keys.join(", ")));
        })?;
        match next {
            Next::Key('r') => record.iter().try_for_each(|advice| offer::run(root, &advice.command))?,
            Next::Key('u') => update.iter().try_for_each(|advice| offer::run(root, &advice.command))?,
            Next::Key('v') => own(root, &["review".to_owned()])?,
            Next::Key('a') => run(filters, &[])?,
            // Ctrl-C and Ctrl-D are keys like others.
            Next::Key('q' | '\x03' | '\x04') => return Ok(ExitCode::SUCCESS),
            Next::Key(_) => {}
            Next::Saved(files) => {
                // Without names, the run tells what is wrong with the suite.
                let names = concerned(root, &files);
                let wants = |name: &String| wanted.wants(name);
                let names = names.map(|names| names.into_iter().filter(wants).collect::<Vec<_>>());
                if names.as_ref().is_none_or(|names| !names.is_empty()) {
                    let shown: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
                    terminal::note(format!("saved: {}", shown.join(", ")));
                }
                let Some(names) = names else {
                    run(filters, &[])?;
                    continue;
                };
                let has_failed = |name: &String| ran.iter().any(|run| run.scenario == *name);
                let (first, then): (Vec<String>, Vec<String>) = names.into_iter().partition(has_failed);
                for names in [first, then].iter().filter(|names| !names.is_empty()) {
                    run(names, &["--exact"])?;
                }
            }
        }
    }
}

/// Runs this very program.
fn own(root: &Path, args: &[String]) -> Result<()> {
    let failed = |e: std::io::Error| Error::new(format!("failed to start `retake {}`: {e}", args.join(" ")));
    let program = std::env::current_exe().map_err(failed)?;
    Command::new(program).args(args).current_dir(root).status().map(|_| ()).map_err(failed)
}

/// The scenarios that these files concern, by name. `None` if the suite cannot be read, which a run tells.
fn concerned(root: &Path, files: &[PathBuf]) -> Option<BTreeSet<String>> {
    let Discovered { suite, scenarios } = discover(root).ok()?;
    let is_in = |file: &Path, it: &Result<Scenario, _>| it.as_ref().is_ok_and(|it| file.starts_with(&it.dir));
    let concerns = |file: &PathBuf, it: &Result<Scenario, _>| match it {
        // The suite, and files that scenarios share.
        _ if file.starts_with(SCENARIOS) && !scenarios.iter().any(|it| is_in(file, it)) => true,
        Ok(scenario) => is_in(file, it) || concerns(file, scenario, &suite),
        // What is wrong with it may be mended.
        Err(_) => true,
    };
    let concerned = scenarios.iter().filter(|it| files.iter().any(|file| concerns(file, it)));
    Some(concerned.map(|it| name_of(it).to_owned()).collect())
}

/// Whether a golden, a fixture or a file of a service is one of this scenario.
fn concerns(file: &Path, scenario: &Scenario, suite: &Suite) -> bool {
    let stem = || file.file_stem().unwrap_or_default().to_string_lossy();
    if file.starts_with("goldens") {
        return file.extension().is_some_and(|of| of == "snap") && stem() == scenario.golden_name;
    }
    if file.starts_with("fixtures") {
        return matches!(&scenario.fixture, FixtureRef::Named(name) if *name == stem());
    }
    if file.starts_with(SCENARIOS) {
        return false;
    }
    let own = scenario.system.as_deref().or(suite.system.as_deref());
    let used: Vec<&str> = own.into_iter().chain(scenario.other_systems()).collect();
    let mut systems = suite.systems.iter().filter(|(name, _)| {
        // A suite with one system names none.
        used.is_empty() || used.iter().any(|used| used == name || needs(&suite.systems, used, name))
    });
    // A router is a part of the project, and so may be what a command without a folder runs.
    let folder = |spec: &SystemSpec| match spec {
        SystemSpec::Command(spec) => spec.cwd.as_ref().map(|cwd| cwd.source().to_owned()),
        SystemSpec::Url(_) => None,
    };
    let has = |spec| folder(spec).is_none_or(|folder| folder.contains("{{") || file.starts_with(&folder));
    suite.systems.is_empty() || systems.any(|(_, spec)| has(spec))
}

/// What comes first.
enum Next {
    /// Files, relative to the root.
    Saved(Vec<PathBuf>),
    Key(char),
}

/// The files of a project that git does not ignore.
struct Watched {
    root: PathBuf,
    files: BTreeMap<PathBuf, SystemTime>,
    folders: BTreeSet<PathBuf>,
    debouncer: Debouncer<RecommendedWatcher>,
    /// Has a byte for each time that files came to rest.
    rested: PipeReader,
}

impl Watched {
    fn new(root: &Path) -> Result<Watched> {
        let (rested, mut wakes) = std::io::pipe().map_err(unwatched)?;
        let wake = move |_: DebounceEventResult| drop(wakes.write(b"."));
        let debouncer = new_debouncer(RESTS, wake).map_err(unwatched)?;
        let (root, files, folders) = (root.to_owned(), BTreeMap::new(), BTreeSet::new());
        let mut watched = Watched { root, files, folders, debouncer, rested };
        watched.look()?;
        Ok(watched)
    }

    /// Looks at all files, watches new folders, and returns the files that were saved, added or removed since the last time.
    fn look(&mut self) -> Result<Vec<PathBuf>> {
        let mut files = BTreeMap::new();
        let is_project = |entry: &ignore::DirEntry| !LEFT_OUT.iter().any(|name| entry.file_name() == *name);
        let walk = WalkBuilder::new(&self.root).require_git(false).filter_entry(is_project).build();
        for entry in walk.filter_map(Result::ok) {
            let is_folder = entry.file_type().is_some_and(|of| of.is_dir());
            if is_folder && !self.folders.contains(entry.path()) {
                let watcher = self.debouncer.watcher();
                notify::Watcher::watch(watcher, entry.path(), RecursiveMode::NonRecursive).map_err(unwatched)?;
                self.folders.insert(entry.path().to_owned());
            }
            if let Ok(path) = entry.path().strip_prefix(&self.root).map(Path::to_owned)
                && let Some(saved) = entry.metadata().ok().and_then(|of| of.modified().ok()).filter(|_| !is_folder)
            {
                files.insert(path, saved);
            }
        }
        let before = std::mem::replace(&mut self.files, files);
        let added = self.files.iter().filter(|(path, saved)| before.get(*path) != Some(saved));
        let removed = before.keys().filter(|path| !self.files.contains_key(*path));
        Ok(added.map(|(path, _)| path).chain(removed).cloned().collect())
    }

    /// Waits for saved files, or for a key. Asks for one, with the number of files, unless something was saved before.
    fn next(&mut self, ask: impl Fn(usize)) -> Result<Next> {
        let saved = self.look()?;
        if !saved.is_empty() {
            return Ok(Next::Saved(saved));
        }
        ask(self.files.len());
        let next = self.wait();
        terminal::out("");
        next
    }

    fn wait(&mut self) -> Result<Next> {
        loop {
            let input = std::io::stdin();
            let came = offer::key_by_key(false, || {
                let mut waits = [PollFd::new(&input, PollFlags::IN), PollFd::new(&self.rested, PollFlags::IN)];
                poll(&mut waits, None).ok()?;
                let mut byte = [b'q'];
                if waits[0].revents().is_empty() {
                    return Some(None);
                }
                rustix::io::read(&input, &mut byte).ok().map(|_| Some(char::from(byte[0])))
            });
            match came.flatten() {
                Some(None) => drop(self.rested.read(&mut [0; 64]).map_err(unwatched)?),
                key => return Ok(Next::Key(key.flatten().unwrap_or('q'))),
            }
            let saved = self.look()?;
            if !saved.is_empty() {
                return Ok(Next::Saved(saved));
            }
        }
    }
}

fn unwatched(error: impl std::fmt::Display) -> Error {
    Error::new(format!("failed to watch the project's files: {error}"))
}

#[cfg(test)]
mod tests;
