//! Finds the suite and every scenario below a root. A broken scenario does not hide the others.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::name::{SCENARIOS, SHARED, is_name, nearest_name, no_name};
use super::read::{self, ScenarioFile};
use super::scenario::{Broken, Scenario};
use super::source::{Source, unreadable};
use super::suite::Suite;
use super::system::needs;
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};
use retake_base::files;
use retake_base::text::{listed, nearest, printed, visible};

const SUITE: &str = "suite.toml";
const SCENARIO: &str = "scenario.toml";

/// The suite and the scenarios below a root.
#[derive(Clone, Debug)]
pub struct Discovered {
    /// What all scenarios share.
    pub suite: Suite,
    /// The scenarios and the broken entries of the folder, sorted by name.
    pub scenarios: Vec<Result<Scenario, Broken>>,
}

/// Reads `scenarios/` below a root.
/// Fails if there is no scenario at all, or `suite.toml` is wrong. A broken scenario is an entry of the result instead.
pub fn discover(root: &Path) -> Result<Discovered> {
    discover_where(root, |_| true)
}

/// Reads only `suite.toml`, since a recording can be replayed without any scenario. A missing file counts as an empty one.
/// Fails if the file is wrong.
pub fn suite_of(root: &Path) -> Result<Suite> {
    read::suite::read(root, &below(&[SUITE]))
}

/// Reads only the folders that can contain a wanted scenario, since reading all of them would take longer than a run. `holds` says
/// whether a folder can, given its name and whether it may have cases. If the names that were found are not `enough`, all are read.
/// As [`discover`].
pub fn discover_some(
    root: &Path,
    holds: impl Fn(&str, &dyn Fn() -> bool) -> bool,
    enough: impl Fn(&[&str]) -> bool,
) -> Result<Discovered> {
    let may_have_cases = |folder: &str| {
        let text = std::fs::read(root.join(SCENARIOS).join(folder).join(SCENARIO)).unwrap_or_default();
        memchr::memmem::find(&text, b"case").is_some()
    };
    let some = discover_where(root, |folder| holds(folder, &|| may_have_cases(folder)));
    let is_enough = |some: &Discovered| enough(&some.scenarios.iter().map(name_of).collect::<Vec<_>>());
    some.ok().filter(is_enough).map_or_else(|| discover(root), Ok)
}

/// Returns the name of a scenario, or of a broken entry.
pub fn name_of(found: &Result<Scenario, Broken>) -> &str {
    match found {
        Ok(scenario) => &scenario.name,
        Err(broken) => &broken.name,
    }
}

fn discover_where(root: &Path, wanted: impl Fn(&str) -> bool) -> Result<Discovered> {
    let entries = match std::fs::read_dir(root.join(SCENARIOS)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let error = Error::new("there is no folder `scenarios`");
            return Err(error.help(format!("`{RETAKE} init` writes a first one")));
        }
        Err(error) => return Err(unreadable(&root.join(SCENARIOS), &error).in_file(Path::new(SCENARIOS))),
    };
    let suite = suite_of(root)?;
    let mut scenarios = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| unreadable(&root.join(SCENARIOS), &error).in_file(Path::new(SCENARIOS)))?;
        let name = entry.file_name();
        let shown = name.to_string_lossy();
        let is_scenario = name != OsStr::new(SUITE) && !is_shared(&entry.path(), &shown);
        if is_scenario && !is_left_over(&entry.path(), &shown) && wanted(&shown) {
            // A line break in a name would break the lines of reports.
            let shown = printed(&visible(&shown)).replace('\n', "\\n").replace('\t', "\\t");
            let broken = |error| vec![Err(Broken { name: shown.clone(), error })];
            scenarios.extend(entries_of(root, &name, &shown, &suite).unwrap_or_else(broken));
        }
    }
    if scenarios.is_empty() {
        return Err(Error::new("there is no scenario in `scenarios`").help(format!("`{RETAKE} new NAME` writes one")));
    }
    let mut discovered = Discovered { suite, scenarios };
    discovered.refuse_clashes();
    Ok(discovered)
}

/// Whether this is the folder of inputs that scenarios share. If it contains a scenario, that would never run, so it is reported
/// like a scenario's folder.
fn is_shared(path: &Path, name: &str) -> bool {
    name == SHARED && path.is_dir() && !path.join(SCENARIO).exists()
}

/// Whether an editor or a file manager left this entry behind.
fn is_left_over(path: &Path, name: &str) -> bool {
    let of_editor = name.ends_with('~') || (name.starts_with('#') && name.ends_with('#'));
    let of_manager = ["Thumbs.db", "desktop.ini"].contains(&name);
    name.starts_with('.') || ((of_editor || of_manager) && !path.is_dir())
}

/// Returns a path below `scenarios`, relative to the root.
fn below(parts: &[&str]) -> PathBuf {
    PathBuf::from([&[SCENARIOS], parts].concat().join("/"))
}

fn entries_of(root: &Path, name: &OsStr, shown: &str, suite: &Suite) -> Result<Vec<Result<Scenario, Broken>>> {
    let dir = below(&[shown]);
    let path = root.join(SCENARIOS).join(name);
    if let Some(link) = files::broken_link(&path) {
        let error = Error::new(format!("expected the folder of a scenario, found {link}")).in_file(&dir);
        return Err(error.help("point the link at a folder, or remove it"));
    }
    if !path.is_dir() {
        let error = Error::new("this file belongs to no scenario").in_file(&dir);
        let error = error.suggest(shown, [SUITE]);
        return Err(error.help("`scenarios` contains `suite.toml`, and a folder for each scenario"));
    }
    if !is_name(shown) {
        let error = no_name(shown, "scenario").in_file(&dir);
        let near = nearest_name(shown).filter(|near| !root.join(SCENARIOS).join(near).exists());
        return Err(near
            .into_iter()
            .fold(error, |e, near| e.help(format!("rename the folder, for example to `{near}`"))));
    }
    if shown == SHARED {
        let error =
            Error::new(format!("`{SHARED}` contains inputs of several scenarios, and is not a scenario itself"));
        return Err(error.in_file(&dir).help(format!("move its {SCENARIO} into a folder of its own")));
    }
    if shown == "none" {
        let error = Error::new("`none` cannot be the name of a scenario").in_file(&dir);
        return Err(error.help("fixture = \"none\" says that no model is called"));
    }
    let file = below(&[shown, SCENARIO]);
    if root.join(&file).symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
        return Err(no_scenario_file(root, &dir, &file));
    }
    let source = Source::read(root, &file)?;
    Ok(read::scenario::read(shown, ScenarioFile { source: &source, root, dir: &dir, list: None }, suite))
}

/// Returns the error about a folder without a `scenario.toml`.
fn no_scenario_file(root: &Path, dir: &Path, file: &Path) -> Error {
    let error = Error::new(format!("this folder lacks its {SCENARIO}")).in_file(dir);
    let inside: Vec<_> = std::fs::read_dir(root.join(dir)).into_iter().flatten().flatten().collect();
    if inside.iter().any(|entry| entry.path().join(SCENARIO).exists()) {
        return error.help("scenarios are not nested: each one is a folder right below `scenarios`");
    }
    let names: Vec<String> = inside.iter().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    match nearest(SCENARIO, names.iter().map(String::as_str)) {
        Some(near) => error.help(format!("is `{near}` meant to be {}?", file.display())),
        None => error.help(format!("add {}, or remove the folder", file.display())),
    }
}

impl Discovered {
    /// Returns the scenarios that can run.
    pub fn sound(&self) -> impl Iterator<Item = &Scenario> {
        self.scenarios.iter().filter_map(|scenario| scenario.as_ref().ok())
    }

    /// Checks that each scenario's system is in the suite or among the `registered` ones of the runner. For a scenario that
    /// names no system, it fills in the suite's default, or the only system. A scenario without a known system becomes
    /// [`Broken`].
    /// Fails if a system is both registered and in the suite, if the default does not exist, or if there is no system at all.
    pub fn check_systems(&mut self, registered: &[&str]) -> Result<()> {
        let mut known: Vec<&str> = registered.to_vec();
        for name in self.suite.systems.keys() {
            if known.contains(&name.as_str()) {
                let error = Error::new(format!("the system `{name}` is registered in tests/scenarios.rs too"));
                return Err(error.in_file(&self.suite.path));
            }
            known.push(name);
        }
        known.sort_unstable();
        let needed = |entry: &Result<Scenario, Broken>| entry.as_ref().is_ok_and(Scenario::needs_system);
        if known.is_empty() && self.scenarios.iter().any(needed) {
            let error = Error::new("there is no system to test");
            return Err(error.help(format!(
                "describe it in {} as [systems.NAME], or register a router in tests/scenarios.rs",
                self.suite.path.display()
            )));
        }
        let unknown = |name: &str| {
            Error::new(format!("there is no system `{name}`"))
                .suggest(name, known.iter().copied())
                .help(format!("known here: {}", listed(&known)))
        };
        let default = match (&self.suite.system, &known[..]) {
            (Some(name), _) if known.contains(&name.as_str()) => Some(name.clone()),
            (Some(name), _) => {
                return Err(self
                    .suite
                    .system_place
                    .into_iter()
                    .fold(unknown(name), Error::at)
                    .in_file(&self.suite.path));
            }
            (None, [only]) => Some((*only).to_owned()),
            (None, _) => None,
        };
        for entry in &mut self.scenarios {
            let Ok(scenario) = entry else { continue };
            let error = match (&scenario.system, &default) {
                (None, _) if !scenario.needs_system() => continue,
                (None, Some(default)) => {
                    scenario.system = Some(default.clone());
                    continue;
                }
                (None, None) => Error::new("this scenario does not say which system it is for").help(format!(
                    "add system = \"…\", one of {}; in {} it applies to all scenarios",
                    listed(&known),
                    self.suite.path.display()
                )),
                (Some(name), _) if known.contains(&name.as_str()) => continue,
                (Some(name), _) => unknown(name),
            };
            let error = scenario.system_place.into_iter().fold(error, Error::at).in_file(&scenario.file);
            *entry = Err(Broken { name: scenario.name.clone(), error });
        }
        self.check_others();
        Ok(())
    }

    /// Checks that the other systems that a scenario uses are started with its own: those that this one needs, or one that needs it
    /// and is started with it.
    fn check_others(&mut self) {
        let systems = &self.suite.systems;
        for entry in &mut self.scenarios {
            let Ok(scenario) = entry else { continue };
            let own = scenario.system.clone().unwrap_or_default();
            let all = scenario.other_systems().find(|other| needs(systems, other, &own)).unwrap_or(&own);
            let is_started = |other: &str| other == all || needs(systems, all, other);
            let Some(other) = scenario.other_systems().find(|other| !is_started(other)).map(str::to_owned) else {
                continue;
            };
            let error = if systems.contains_key(&other) {
                let what =
                    format!("this scenario uses the system `{other}`, which is not started with its own, `{own}`");
                Error::new(what).help(format!("[systems.{other}] needs = [\"{own}\"] starts both"))
            } else {
                let known = systems.keys().map(String::as_str);
                Error::new(format!("this scenario uses the system `{other}`, but suite.toml describes no system"))
                    .suggest(&other, known)
            };
            *entry = Err(Broken { name: scenario.name.clone(), error: error.in_file(&scenario.file) });
        }
    }

    /// Sorts by name. If two trials have the same name, neither runs.
    fn refuse_clashes(&mut self) {
        let mut by_name: BTreeMap<String, Vec<Result<Scenario, Broken>>> = BTreeMap::new();
        for entry in self.scenarios.drain(..) {
            by_name.entry(name_of(&entry).to_owned()).or_default().push(entry);
        }
        for (name, entries) in by_name {
            if entries.len() < 2 {
                self.scenarios.extend(entries);
                continue;
            }
            let file = |entry: &Result<Scenario, Broken>| match entry {
                Ok(scenario) => scenario.file.display().to_string(),
                Err(broken) => broken.error.file().unwrap_or(Path::new(SCENARIOS)).display().to_string(),
            };
            let mut files: Vec<String> = entries.iter().map(file).collect();
            files.sort();
            let error = Error::new(format!("two scenarios have the name `{name}`"))
                .help(format!("they are in {}", files.join(" and ")))
                .help("a case `b` of the folder `a` is called `a.b`: rename the case or the folder");
            self.scenarios.push(Err(Broken { name, error }));
        }
    }
}
