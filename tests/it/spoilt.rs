//! Files that are laid in a project spoilt, and what the run then has to say: of each one thing, of the others nothing.

#[cfg(unix)]
use std::path::Path;

use crate::discovery::{asking, greeting};
use crate::tree::{Ran, Tree};

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

#[cfg(unix)]
#[expect(clippy::print_stderr, reason = "a check that was left out is said")]
pub(crate) fn skipped(path: &Path) {
    eprintln!("skipped: who runs this needs no permission for {}, as root", path.display());
}

/// Makes a file unreadable, unless nothing is unreadable to who runs this: root.
#[cfg(unix)]
pub(crate) fn forbid(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o000)).unwrap();
    let forbidden = std::fs::read(path).is_err();
    if !forbidden {
        skipped(path);
    }
    forbidden
}

/// A project with the green scenario `greeting`, and copies of it of other names.
pub(crate) fn copies(names: &[&str]) -> Tree {
    let tree = greeting();
    let [fixture, golden] = ["fixtures/greeting.json", "goldens/greeting.snap"].map(|file| tree.read(file));
    for name in names {
        tree.write(&format!("scenarios/{name}/scenario.toml"), &asking("Hello"));
        tree.write(&format!("fixtures/{name}.json"), &fixture);
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
