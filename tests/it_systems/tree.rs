//! Projects in temporary folders, and the `retake` command on them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::system;

/// A project without a Rust runner: its systems are commands and URLs.
pub(crate) struct Tree {
    root: TempDir,
    /// The temporary folder of all that runs on it.
    pub(crate) temp: PathBuf,
}

/// The environment of the system: what it needs to call the model.
pub(crate) const MODEL: &str =
    r#"PORT = "{{ port }}", OPENAI_BASE_URL = "{{ model.openai }}", OPENAI_API_KEY = "{{ model.key }}""#;

/// A system in `suite.toml`, with more of its environment and more fields.
pub(crate) fn system(name: &str, env: &str, fields: &str) -> String {
    let command = system::command();
    let sep = if env.is_empty() { "" } else { ", " };
    format!("[systems.{name}]\ncommand = {command}\nenv = {{ {MODEL}{sep}{env} }}\n{fields}\n")
}

/// How the system is ready.
pub(crate) const READY: &str = r#"ready = { http = "/health" }"#;

/// A scenario that asks once.
pub(crate) const CHAT: &str = r#"
[[step]]
post = "/chat"
json = { message = "hello" }
stream = { last = "end" }
"#;

impl Tree {
    pub(crate) fn new(suite: &str) -> Tree {
        let root = tempfile::tempdir().unwrap();
        let temp = root.path().join("temp");
        fs::create_dir(&temp).unwrap();
        let tree = Tree { root, temp };
        tree.write("scenarios/suite.toml", suite);
        tree
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.root().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn scenario(&self, name: &str, text: &str) {
        self.write(&format!("scenarios/{name}/scenario.toml"), text);
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.root().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
    }

    /// `retake` on the tree, with an environment of its own.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retake"));
        command.args(args).current_dir(self.root()).env_remove("CI").env("TMPDIR", &self.temp);
        command.env("A_SECRET_OF_THE_CALLER", "s3cret").env_remove("RETAKE_ROOT").stdin(Stdio::null());
        command
    }

    pub(crate) fn retake(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().unwrap())
    }

    /// Records scenarios from a provider of the test's own.
    pub(crate) fn record(&self, names: &[&str]) -> Ran {
        self.record_with(names, &[])
    }

    /// As [`Tree::record`], with variables in the runner's environment.
    pub(crate) fn record_with(&self, names: &[&str], variables: &[(&str, &str)]) -> Ran {
        let upstream = format!("http://{}/v1", crate::provider::start());
        let args: Vec<&str> = ["record"].iter().chain(names).copied().collect();
        let mut command = self.command(&args);
        command.env("RETAKE_UPSTREAM_OPENAI", upstream).envs(variables.iter().copied());
        Ran::of(command.output().unwrap())
    }

    /// Every file below the root with its text.
    pub(crate) fn files(&self) -> Vec<(PathBuf, String)> {
        let (mut files, mut folders) = (Vec::new(), vec![self.root().to_owned()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                    files.push((path, text));
                }
            }
        }
        files
    }

    /// What is in the temporary folder now.
    pub(crate) fn there(&self) -> Vec<String> {
        let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        fs::read_dir(&self.temp).unwrap().map(name).collect()
    }

    /// What is left in the temporary folder for good: a guardian has three seconds to clear up.
    pub(crate) fn left(&self) -> Vec<String> {
        let deadline = Instant::now() + Duration::from_secs(3);
        while !self.there().is_empty() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        self.there()
    }
}

/// What a command printed, and its exit code.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) text: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Ran {
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        Ran { code: output.status.code(), text }
    }

    #[track_caller]
    pub(crate) fn green(&self) {
        assert_eq!(self.code, Some(0), "{}", self.text);
    }

    /// It failed, and says all of these.
    #[track_caller]
    pub(crate) fn red(&self, says: &[&str]) {
        assert_eq!(self.code, Some(1), "{}", self.text);
        self.says(says);
    }

    #[track_caller]
    pub(crate) fn says(&self, says: &[&str]) {
        for said in says {
            assert!(self.text.contains(said), "does not say {said:?}:\n{}", self.text);
        }
    }
}
