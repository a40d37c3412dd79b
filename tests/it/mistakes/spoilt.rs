//! Projects with broken files: each broken file fails its own scenario, and no other.

#[cfg(unix)]
use std::path::Path;

use crate::runner::discovery::{asking, greeting};
#[cfg(unix)]
use crate::support::program::Program;
use crate::support::program::Ran;
use crate::support::tree::Tree;

/// The smallest scenario: it calls no model and has no golden.
pub(crate) const SILENT: &str = "fixture = \"none\"\n[[step]]\npost = \"/silent\"\n";

/// The name of a mistake, how it changes a good file, and the message after the file's name.
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

/// Creates a named pipe that nobody writes to.
#[cfg(unix)]
pub(crate) fn pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Removes every permission from a file or folder.
#[cfg(unix)]
pub(crate) fn forbid(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o000)).unwrap();
}

/// The id of the user `nobody`.
#[cfg(unix)]
const NOBODY: u32 = 65534;

/// Returns the runner as a user whose permissions are checked. Root's are not, so if the tests run as root, the project is given
/// to the user `nobody`, who runs it. Returns `None` and says so if that user cannot start this program.
#[cfg(unix)]
#[expect(clippy::print_stderr, reason = "it says that a check is skipped")]
pub(crate) fn without_permissions(tree: &Tree) -> Option<Program> {
    use std::os::unix::fs::{MetadataExt as _, lchown};
    // A new file belongs to the user who runs this test.
    if tempfile::tempfile().unwrap().metadata().unwrap().uid() != 0 {
        return Some(tree.runner("oddities"));
    }
    let runner = tree.runner("oddities").by_user(NOBODY);
    if !tree.runner("oddities").by_user(NOBODY).arg("--help").starts() {
        eprintln!(
            "skipped the checks of permissions: the tests run as root, and no other user can start {:?}",
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

/// Returns a project with the scenario `greeting`, which passes, and copies of it with these names.
pub(crate) fn copies(names: &[&str]) -> Tree {
    let tree = greeting();
    let [fixture, golden] = ["fixtures/greeting.json", "goldens/greeting.snap"].map(|file| tree.read(file));
    for name in names {
        tree.write(&format!("scenarios/{name}/scenario.toml"), &asking("Hello"));
        let own = fixture.replace("\"scenario\": \"greeting\"", &format!("\"scenario\": \"{name}\""));
        tree.write(&format!("fixtures/{name}.json"), &own);
        tree.write(&format!("goldens/{name}.snap"), &golden.replace("/greeting/", &format!("/{name}/")));
    }
    tree
}

/// Asserts that each of the named scenarios fails, and that every other trial passes.
#[track_caller]
pub(crate) fn only_these_fail(run: &Ran, names: &[&str]) {
    for (trial, result) in run.trials() {
        let wanted = if names.contains(&trial) { "FAILED" } else { "ok" };
        assert_eq!(result, wanted, "{trial}: {}", run.stdout);
    }
    assert_eq!(run.trials().values().filter(|result| **result == "FAILED").count(), names.len(), "{}", run.stdout);
    assert_eq!(run.trials()["greeting"], "ok");
}
