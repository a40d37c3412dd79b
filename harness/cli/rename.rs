use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use regex::{Captures, Regex};

use retake::__private::report::{Runs, terminal};
use retake::__private::run::{WaitingKind, may_write_fixtures};
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};
use retake_base::files;
use retake_scenario::{Discovered, SCENARIOS, discover, is_name, no_name};

/// Give a scenario another name: its folder, its fixtures, its goldens, and the scenarios that replay its fixtures
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  retake rename write_read_file notes\n\n\
    A scenario with cases is renamed with all of them. Nothing is recorded again.")]
pub(super) struct Rename {
    /// The scenario's folder
    old: String,
    /// Its new name: a-z, 0-9, `.`, `_` and `-`
    new: String,
}

impl Rename {
    pub(super) fn run(&self) -> Result<ExitCode> {
        may_write_fixtures("renaming")?;
        let Rename { old, new } = self;
        if !is_name(new) || new == "none" || new == "_shared" {
            return Err(no_name(new, "scenario"));
        }
        let root = super::project::root()?;
        let discovered = discover(&root)?;
        let folder = |name: &str| Path::new(SCENARIOS).join(name);
        let of_folder = |name: &str| discovered.sound().filter(|found| found.dir == folder(name)).collect::<Vec<_>>();
        let trials = of_folder(old);
        if trials.is_empty() {
            let broken = discovered.scenarios.iter().filter_map(|found| found.as_ref().err());
            if let Some(broken) = broken.into_iter().find(|broken| broken.name == *old) {
                return Err(broken.error.clone());
            }
            let error = Error::new(format!("there is no scenario `{old}`"));
            let folders: Vec<&str> = discovered.sound().filter_map(|found| found.dir.file_name()?.to_str()).collect();
            return Err(error.suggest_or(old, folders, format!("`{RETAKE} list` lists them")));
        }
        // The names of its trials: the folder's own, or one for each case. Fixtures, goldens and run data have these names.
        let renamed = |name: &str| format!("{new}{}", name.strip_prefix(old.as_str()).unwrap_or_default());
        let names = trials.iter().map(|trial| (trial.name.clone(), renamed(&trial.name)));
        let names: Vec<(String, String)> = names.collect();
        let mut moves = vec![(folder(old), folder(new))];
        for (old, new) in &names {
            let committed = WaitingKind::ALL.map(WaitingKind::place);
            let waiting = committed.map(|(folder, ending)| (folder, format!("{ending}.new")));
            let committed = committed.map(|(folder, ending)| (folder, ending.to_owned()));
            let journal = [("fixtures/.journal", ".jsonl".to_owned())];
            for (folder, ending) in committed.into_iter().chain(waiting).chain(journal) {
                let file = |name: &str| Path::new(folder).join(format!("{name}{ending}"));
                if root.join(file(old)).exists() {
                    moves.push((file(old), file(new)));
                }
            }
        }
        if let Some((_, taken)) = moves.iter().find(|(_, to)| root.join(to).symlink_metadata().is_ok()) {
            return Err(Error::new("this name is taken: the file or folder already exists").in_file(taken));
        }
        let mut edits = self.edits(&root, &discovered, &names)?;
        for (from, to) in &moves {
            std::fs::rename(root.join(from), root.join(to)).map_err(|error| files::failed("rename", from, &error))?;
            terminal::out(format!("  {} -> {}", from.display(), to.display()));
        }
        for (old, new) in &names {
            edits.extend(headers(&root, old, new, &self.new)?);
            Runs::of(&root).forget(old);
        }
        for (file, text) in edits {
            let file = match file.strip_prefix(folder(old)) {
                Ok(inside) => folder(new).join(inside),
                Err(_) => file,
            };
            files::write_whole(&root.join(&file), text.as_bytes())?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The scenarios that name a renamed fixture, with their new texts.
    fn edits(&self, root: &Path, found: &Discovered, names: &[(String, String)]) -> Result<Vec<(PathBuf, String)>> {
        let pattern = format!(r#"(?m)(\bfixture\s*=\s*)(["'])({}[a-z0-9._-]*)(["'])"#, regex::escape(&self.old));
        let pattern = Regex::new(&pattern).map_err(|error| Error::new(error.to_string()))?;
        let mut edits: Vec<(PathBuf, String)> = Vec::new();
        for scenario in found.sound() {
            if edits.iter().any(|(file, _)| *file == scenario.file) {
                continue;
            }
            let text = String::from_utf8_lossy(&files::read(&root.join(&scenario.file))?).into_owned();
            let renamed = pattern.replace_all(&text, |found: &Captures<'_>| {
                match names.iter().find(|(old, _)| *old == found[3]) {
                    Some((_, new)) => format!("{}{}{new}{}", &found[1], &found[2], &found[4]),
                    None => found[0].to_owned(),
                }
            });
            if renamed != text {
                terminal::out(format!("  {}: fixture = …", scenario.file.display()));
                edits.push((scenario.file.clone(), renamed.into_owned()));
            }
        }
        Ok(edits)
    }
}

/// The files that say what they belong to, with their new texts: goldens name the scenario's file, fixtures the scenario.
fn headers(root: &Path, old: &str, new: &str, folder: &str) -> Result<Vec<(PathBuf, String)>> {
    let mut texts = Vec::new();
    for kind in WaitingKind::ALL {
        let (pattern, with) = match kind {
            WaitingKind::Fixture => {
                (format!(r#"(?m)^(  "scenario": )"{}""#, regex::escape(old)), format!("${{1}}\"{new}\""))
            }
            WaitingKind::Golden | WaitingKind::Values | WaitingKind::Worlds => (
                r"(?m)\A(---\n(?:[^-\n].*\n)*?input_file: )scenarios/[^/\n]+/".to_owned(),
                format!("${{1}}scenarios/{folder}/"),
            ),
        };
        let pattern = Regex::new(&pattern).map_err(|error| Error::new(error.to_string()))?;
        let (place, ending) = kind.place();
        for file in [ending.to_owned(), format!("{ending}.new")] {
            let file = Path::new(place).join(format!("{new}{file}"));
            if !root.join(&file).is_file() {
                continue;
            }
            let text = String::from_utf8_lossy(&files::read(&root.join(&file))?).into_owned();
            let renamed = pattern.replace(&text, with.as_str());
            if renamed != text {
                texts.push((file, renamed.into_owned()));
            }
        }
    }
    Ok(texts)
}
