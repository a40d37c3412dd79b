//! A project in a temporary folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::program::{Program, retake};

/// The project's own scenarios, sorted, except those with pages.
pub(crate) const SCENARIOS: [&str; 15] = [
    "busy_model",
    "delete",
    "failing_tool",
    "history",
    "long_history",
    "memory",
    "model_down",
    "parallel_tools",
    "reconnect",
    "refused",
    "several_turns",
    "suggestions",
    "two_callers",
    "whole_run",
    "write_read_file",
];

/// A suite whose system is a command, because the `retake` command itself has no router.
pub(crate) const COMMAND_SUITE: &str =
    "[systems.agent]\ncommand = [\"agent\", \"{{ port }}\"]\nready = { http = \"/health\" }\n";

/// The variable that makes this test program a runner. Its value is the name of the runner's system.
pub(crate) const RUNNER: &str = "RETAKE_IT_RUNNER";

/// The files of a project with a runner of its own.
const RUNNER_FILES: [&str; 2] = ["Cargo.toml", "tests/scenarios.rs"];

/// A project with its own root and temporary folder.
pub(crate) struct Tree {
    root: TempDir,
    /// The temporary folder (`TMPDIR`) of the commands that run in the project.
    temp: TempDir,
}

impl Tree {
    /// Creates a project without scenarios.
    pub(crate) fn empty() -> Tree {
        let folder = || tempfile::Builder::new().prefix("it-").tempdir().unwrap();
        Tree { root: folder(), temp: folder() }
    }

    /// Creates a project with the same files.
    pub(crate) fn copy(&self) -> Tree {
        let copy = Tree::empty();
        copied(self.root.path(), copy.root.path());
        copy
    }

    /// Creates a project that an earlier version of Retake wrote.
    pub(crate) fn carried(version: &str) -> Tree {
        let tree = Tree::empty();
        copied(&repository().join("tests/it/data/carried").join(version), tree.root.path());
        tree
    }

    /// Creates a project without scenarios, but with this `suite.toml`.
    pub(crate) fn with_suite(suite: &str) -> Tree {
        let tree = Tree::empty();
        // Few agents of these tests call the model after the end of their stream, so few recordings need to wait for that.
        let settle = if suite.contains("settle") { "" } else { "settle = \"100ms\"\n" };
        tree.write("scenarios/suite.toml", &format!("{settle}{suite}"));
        tree
    }

    /// Creates a project with some of Retake's own scenarios, their fixtures and their goldens.
    pub(crate) fn of(scenarios: &[&str]) -> Tree {
        let tree = Tree::empty();
        // These agents call no model after the end of their stream, so the default wait of two seconds is not needed.
        tree.write("scenarios/suite.toml", "settle = \"100ms\"\n");
        for name in scenarios {
            let scenario = format!("scenarios/{name}/scenario.toml");
            tree.write(&scenario, &standalone(name));
            tree.write(&format!("goldens/{name}.snap"), &plain(&project(&format!("goldens/{name}.snap"))));
            let fixture = format!("fixtures/{name}.json");
            // This scenario calls no model.
            if *name != "refused" {
                tree.write(&fixture, &project(&fixture));
            }
        }
        tree
    }

    /// The same with the suite of these scenarios, and with goldens that hold all that it asks for.
    pub(crate) fn with_own_suite(scenarios: &[&str]) -> Tree {
        let tree = Tree::of(scenarios);
        tree.write("scenarios/suite.toml", &project("scenarios/suite.toml"));
        for name in scenarios {
            let scenario = format!("scenarios/{name}/scenario.toml");
            tree.write(&scenario, &project(&scenario));
            let [golden, values] = ["goldens", "fixtures"].map(|folder| format!("{folder}/{name}.snap"));
            tree.write(&golden, &project(&golden));
            if repository().join(&values).is_file() {
                tree.write(&values, &project(&values));
            }
        }
        tree
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.root().join(file)
    }

    pub(crate) fn has(&self, file: &str) -> bool {
        self.path(file).exists()
    }

    #[track_caller]
    pub(crate) fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Writes a scenario's `scenario.toml`.
    pub(crate) fn scenario(&self, name: &str, text: &str) {
        self.write(&format!("scenarios/{name}/scenario.toml"), text);
    }

    pub(crate) fn remove(&self, file: &str) {
        std::fs::remove_file(self.path(file)).unwrap();
    }

    /// Replaces a text, which has to occur exactly once.
    #[track_caller]
    pub(crate) fn replace(&self, file: &str, from: &str, to: &str) {
        let text = self.read(file);
        assert_eq!(text.matches(from).count(), 1, "{from:?} in {file}");
        self.write(file, &text.replace(from, to));
    }

    /// Returns every file with its text, except what runs leave in `.retake`.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.root().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.ends_with(".retake") || RUNNER_FILES.iter().any(|file| path == self.root().join(file)) {
                    continue;
                }
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(self.root()).unwrap().to_string_lossy().into_owned();
                    files.insert(name, String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned());
                }
            }
        }
        files
    }

    /// The temporary folder (`TMPDIR`) of the commands that run in the project.
    pub(crate) fn temp(&self) -> &Path {
        self.temp.path()
    }

    /// Returns the names of what is in the temporary folder now.
    pub(crate) fn there(&self) -> Vec<String> {
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        std::fs::read_dir(self.temp.path()).unwrap().map(name).collect()
    }

    /// Returns what stays in the temporary folder: a guardian has three seconds to clean up.
    pub(crate) fn left(&self) -> Vec<String> {
        let deadline = Instant::now() + Duration::from_secs(3);
        while !self.there().is_empty() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        self.there()
    }

    /// Returns this test program as the runner of this project, with one of the systems in `runner::routers`.
    pub(crate) fn runner(&self, system: &str) -> Program {
        Program::new(&std::env::current_exe().unwrap()).env(RUNNER, system).env("RETAKE_ROOT", self.root())
    }

    /// Returns the command that records scenarios of this project, as a user starts it: this test program is the `cargo` that it
    /// starts, and with that the runner. `action` is `record`, with options.
    pub(crate) fn recorder(&self, system: &str, action: &str, names: &str) -> Program {
        // By these files the command knows that a project has a runner.
        for file in RUNNER_FILES {
            self.write(file, "");
        }
        let names: Vec<&str> = names.split(',').filter(|name| !name.is_empty()).collect();
        let command =
            retake().args(&action.split(' ').collect::<Vec<_>>()).args(&names).env("RETAKE_ROOT", self.root());
        let command = command.env("TMPDIR", self.temp.path());
        command.env(RUNNER, system).env("CARGO", std::env::current_exe().unwrap())
    }

    /// Returns the `retake` command, to run in this project's root.
    pub(crate) fn retake(&self) -> Program {
        retake().in_folder(self.root()).env("TMPDIR", self.temp.path())
    }
}

/// Returns the root of Retake's own repository. This program belongs to the package in `harness/cli`.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// Returns a golden without the minute in which it was written.
pub(crate) fn undated(golden: &str) -> String {
    golden.split_inclusive('\n').filter(|line| !line.starts_with("  written: ")).collect()
}

/// Returns a golden without the turns of which a part came before they ended.
pub(crate) fn without_early(golden: &str) -> String {
    let line = |line: &str| line.split_once(", before turn ").map_or(line, |(line, _)| line).to_owned();
    golden.lines().map(|text| line(text) + "\n").collect()
}

/// Returns a golden without the parts for whose headers only the own suite asks, and without what comes before turns end: the gateway
/// of most tests sends a stream at once, to be able to change it.
fn plain(golden: &str) -> String {
    let (head, parts) =
        golden.split_once("---\nPOST").map(|(head, rest)| (format!("{head}---\n"), format!("POST{rest}"))).unwrap();
    // A part without events has no blank line.
    let parts: Vec<String> = parts
        .trim_end()
        .split("\n\n\n")
        .filter(|part| part.contains("\n\n"))
        .map(|part| without_early(part).trim_end().to_owned())
        .collect();
    format!("{head}{}\n", parts.join("\n\n\n"))
}

fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (from, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if from.is_dir() {
            copied(&from, &to);
        } else {
            std::fs::copy(from, to).unwrap();
        }
    }
}

/// Returns one of Retake's own scenarios with the shared steps of its suite written out, for a project with another suite.
pub(crate) fn standalone(name: &str) -> String {
    let scenario = project(&format!("scenarios/{name}/scenario.toml"));
    let suite = project("scenarios/suite.toml");
    let steps = |list: &str| {
        let (_, steps) = suite.split_once(&format!("[[steps.{list}]]\n")).unwrap();
        format!("[[step]]\n{}\n\n", steps.split_once("\n\n").unwrap().0)
    };
    let before: String = match scenario.split_once("\nbefore ") {
        None => ["login", "thread"].map(steps).concat(),
        Some((_, names)) if names.trim_start_matches([' ', '=']).starts_with("[]") => String::new(),
        Some(_) => steps("login"),
    };
    let (head, rest) = scenario.split_once("[[step]]").unwrap();
    let head: String = head.split_inclusive('\n').filter(|line| !line.starts_with("before ")).collect();
    format!("{head}{before}[[step]]{rest}")
}

/// Returns the text of one of Retake's own files.
#[track_caller]
pub(crate) fn project(file: &str) -> String {
    let path = repository().join(file);
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{file}: {e}"))
}
