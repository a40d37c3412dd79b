//! Files that are laid in a project spoilt, and what the run then has to say: of each one thing, of the others nothing.

#[cfg(unix)]
use std::path::Path;

use crate::runner::discovery::{asking, greeting};
#[cfg(unix)]
use crate::support::program::Program;
use crate::support::program::Ran;
use crate::support::tree::Tree;

/// The smallest scenario: no model, no golden.
pub(crate) const SILENT: &str = "fixture = \"none\"\n[[step]]\npost = \"/silent\"\n";

/// A file as it should be, changed by a mistake, and what is said of it behind its name.
pub(crate) type Mistake = (&'static str, fn(&str) -> Vec<u8>, &'static str);

pub(crate) fn write_bytes(tree: &Tree, file: &str, bytes: &[u8]) {
    tree.write(file, "");
    std::fs::write(tree.path(file), bytes).unwrap();
}

#[cfg(unix)]
pub(crate) fn link(tree: &Tree, file: &str, target: &str) {
    let path = tree.path(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(target, path).unwrap();
}

/// Makes a named pipe, which nobody writes into.
#[cfg(unix)]
pub(crate) fn pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Takes every permission from a file or folder.
#[cfg(unix)]
pub(crate) fn forbid(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o000)).unwrap();
}

/// The user `nobody`, in numbers.
#[cfg(unix)]
const NOBODY: u32 = 65534;

/// The runner as somebody who needs permission. Root needs none, so the project is given to nobody, who runs it then; and
/// where nobody cannot start this program, in a checkout that is root's own, that is said and the check left out.
#[cfg(unix)]
#[expect(clippy::print_stderr, reason = "a check that was left out is said")]
pub(crate) fn in_need(tree: &Tree) -> Option<Program> {
    use std::os::unix::fs::{MetadataExt as _, lchown};
    // A new file is that of who runs this.
    if tempfile::tempfile().unwrap().metadata().unwrap().uid() != 0 {
        return Some(tree.runner("oddities"));
    }
    let runner = tree.runner("oddities").by_user(NOBODY);
    if !tree.runner("oddities").by_user(NOBODY).arg("--help").starts() {
        eprintln!(
            "skipped: what needs permission: this runs as root, and nobody else can start {:?}",
            std::env::current_exe()
        );
        return None;
    }
    let mut paths = vec![tree.path("")];
    while let Some(path) = paths.pop() {
        lchown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
        if path.symlink_metadata().unwrap().is_dir() {
            paths.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    Some(runner)
}

/// A project with the green scenario `greeting`, and copies of it of other names.
pub(crate) fn copies(names: &[&str]) -> Tree {
    let tree = greeting();
    let [fixture, golden] = ["fixtures/greeting.json", "goldens/greeting.snap"].map(|file| tree.read(file));
    for name in names {
        tree.write(&format!("scenarios/{name}/scenario.toml"), &asking("Hello"));
        let own = fixture.replace("\"scenario\": \"greeting\"", &format!("\"scenario\": \"{name}\""));
        tree.write(&format!("fixtures/{name}.json"), &own);
        tree.write(&format!("goldens/{name}.snap"), &golden);
    }
    tree
}

/// Each of the named scenarios fails, and every other trial is green.
#[track_caller]
pub(crate) fn only_these_fail(run: &Ran, names: &[&str]) {
    for (trial, result) in run.trials() {
        let wanted = if names.contains(&trial) { "FAILED" } else { "ok" };
        assert_eq!(result, wanted, "{trial}: {}", run.stdout);
    }
    assert_eq!(run.trials().values().filter(|result| **result == "FAILED").count(), names.len(), "{}", run.stdout);
    assert_eq!(run.trials()["greeting"], "ok");
}
