//! Looks for fixtures and goldens without a scenario, committed or proposed, and for unknown names in the suite's `unused`.

use std::collections::BTreeSet;
use std::path::Path;

use super::project::Project;
use super::unused_names;
use super::verdict::has_golden;
use crate::report::Failure;
use retake_base::error::Result;
use retake_base::text::counted;
use retake_scenario::FixtureRef;

pub(super) const NAME: &str = crate::report::NO_ORPHANS;

/// Looks for files without a scenario. This compares names of files only, so it also works if not all scenarios run.
/// Fails if there are such files; the failure lists them with the command that removes them.
pub(super) fn check(project: &Project) -> Result<(), Failure> {
    let scenarios = || project.discovered.scenarios.iter();
    let broken: BTreeSet<&str> = scenarios().filter_map(|s| s.as_ref().err()).map(|b| b.name.as_str()).collect();
    // The files of a broken scenario are not known, so files that begin with its name are left alone.
    let of_broken = |name: &str| broken.iter().any(|b| name == *b || name.starts_with(&format!("{b}.")));
    let (mut fixtures, mut goldens) = (BTreeSet::new(), BTreeSet::new());
    for scenario in project.discovered.sound() {
        if let FixtureRef::Named(name) = &scenario.fixture {
            fixtures.insert(name.as_str());
        }
        if has_golden(scenario) {
            goldens.insert(scenario.golden_name.as_str());
        }
    }
    let look = |folder: &str, ending: &str, owned: &BTreeSet<&str>| -> Result<Vec<String>> {
        let mut orphans: Vec<String> = Vec::new();
        for name in retake_base::files::names(&project.root.join(folder), ending)? {
            if !owned.contains(name.as_str()) && !of_broken(&name) {
                orphans.push(Path::new(folder).join(format!("{name}{ending}")).display().to_string());
            }
        }
        Ok(orphans)
    };
    let worlds = project.discovered.sound().filter(|scenario| scenario.worlds.is_some());
    let worlds: BTreeSet<&str> = worlds.map(|scenario| scenario.name.as_str()).collect();
    let committed = [
        look("fixtures", ".json", &fixtures)?,
        look("goldens", ".snap", &goldens)?,
        look("goldens/worlds", ".snap", &worlds)?,
    ]
    .concat();
    // git usually ignores proposed files, so `rm` removes them.
    let proposed = [
        look("fixtures", ".json.new", &fixtures)?,
        look("goldens", ".snap.new", &goldens)?,
        look("goldens/worlds", ".snap.new", &worlds)?,
    ]
    .concat();
    if committed.is_empty() && proposed.is_empty() {
        return Ok(unused_names::check_suite(project)?);
    }
    let lines: Vec<String> = committed.iter().chain(&proposed).map(|file| format!("  {file}")).collect();
    let removing = [("git rm", &committed), ("rm", &proposed)];
    let removing = removing.into_iter().filter(|(_, files)| !files.is_empty());
    let removing: Vec<String> = removing.map(|(remove, files)| format!("{remove} {}", files.join(" "))).collect();
    Err(Failure::new(format!("orphans: {} without a scenario", counted(lines.len(), "file")))
        .evidence(lines.join("\n"))
        .resolve("if nothing needs them", removing.join("\n    ")))
}
