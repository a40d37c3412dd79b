//! A project in a temporary folder, and programs that are started on it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::mutation::Mutation;
use crate::systems;

/// The project's own scenarios, sorted.
pub(crate) const SCENARIOS: [&str; 6] =
    ["long_history", "parallel_tools", "several_turns", "suggestions", "two_callers", "write_read_file"];

/// A suite whose system is a command, for the `retake` command: it has no router of its own.
pub(crate) const COMMAND_SUITE: &str =
    "[systems.agent]\ncommand = [\"agent\", \"{{ port }}\"]\nready = { http = \"/health\" }\n";

/// A project of its own.
pub(crate) struct Tree(TempDir);

impl Tree {
    /// No scenario yet.
    pub(crate) fn empty() -> Tree {
        Tree(tempfile::Builder::new().prefix("it-").tempdir().unwrap())
    }

    /// Some of the project's own scenarios, with their fixtures and goldens.
    pub(crate) fn of(scenarios: &[&str]) -> Tree {
        let tree = Tree::empty();
        // These agents call no model after their stream's end, so that a verdict need not wait for two seconds.
        tree.write("scenarios/suite.toml", "settle = \"100ms\"\n");
        for name in scenarios {
            for file in [
                format!("scenarios/{name}/scenario.toml"),
                format!("fixtures/{name}.json"),
                format!("goldens/{name}.snap"),
            ] {
                tree.write(&file, &project(&file));
            }
        }
        tree
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
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

    pub(crate) fn remove(&self, file: &str) {
        std::fs::remove_file(self.path(file)).unwrap();
    }

    /// Puts one text in place of another, which has to be there exactly once.
    #[track_caller]
    pub(crate) fn replace(&self, file: &str, from: &str, to: &str) {
        let text = self.read(file);
        assert_eq!(text.matches(from).count(), 1, "{from:?} in {file}");
        self.write(file, &text.replace(from, to));
    }

    /// Every file with its text.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.0.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(self.0.path()).unwrap().to_string_lossy().into_owned();
                    files.insert(name, String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned());
                }
            }
        }
        files
    }

    /// The runner of this project, for one of the [`systems`].
    pub(crate) fn runner(&self, system: &str) -> Program {
        let runner = Program::new(&std::env::current_exe().unwrap());
        runner.env(systems::RUNNER, system).env("RETAKE_ROOT", self.0.path())
    }

    /// The runner with a gateway whose event streams are changed on their way out.
    pub(crate) fn mutated(&self, mutation: &Mutation) -> Program {
        self.runner("gateway").env(systems::MUTATION, mutation.to_env())
    }

    /// The `retake` command, in this folder.
    pub(crate) fn retake(&self) -> Program {
        retake().in_folder(self.0.path())
    }
}

/// The `retake` command.
pub(crate) fn retake() -> Program {
    Program::new(Path::new(env!("CARGO_BIN_EXE_retake")))
}

/// The text of one of the project's own files.
#[track_caller]
pub(crate) fn project(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{file}: {e}"))
}

/// A program about to be started, with none of the variables that would change what it does: no `CI`, nothing of
/// insta's, of Retake's or of a provider's.
pub(crate) struct Program {
    command: Command,
    input: Vec<u8>,
}

impl Program {
    fn new(program: &Path) -> Program {
        let mut command = Command::new(program);
        let foreign = |name: &str| {
            ["CI", "UPDATE_GOLDEN"].contains(&name)
                || ["INSTA_", "RETAKE_", "OPENAI_", "ANTHROPIC_", "GEMINI_", "GOOGLE_", "OLLAMA_"]
                    .iter()
                    .any(|prefix| name.starts_with(prefix))
        };
        for (name, _) in std::env::vars_os().filter(|(name, _)| foreign(&name.to_string_lossy())) {
            command.env_remove(name);
        }
        Program { command, input: Vec::new() }
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Program {
        self.command.arg(arg);
        self
    }

    pub(crate) fn args(mut self, args: &[&str]) -> Program {
        self.command.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Program {
        self.command.env(name, value);
        self
    }

    pub(crate) fn in_folder(mut self, folder: &Path) -> Program {
        self.command.current_dir(folder);
        self
    }

    #[cfg(unix)]
    pub(crate) fn by_user(mut self, id: u32) -> Program {
        use std::os::unix::process::CommandExt as _;
        self.command.uid(id).gid(id);
        self
    }

    /// Whether it can be started at all.
    #[cfg(unix)]
    pub(crate) fn starts(mut self) -> bool {
        self.command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    }

    pub(crate) fn input(mut self, input: impl Into<Vec<u8>>) -> Program {
        self.input = input.into();
        self
    }

    /// The command itself, for a program that does not end by itself.
    pub(crate) fn into_command(self) -> Command {
        self.command
    }

    pub(crate) fn run(mut self) -> Ran {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap();
        let (mut stdin, input) = (child.stdin.take().unwrap(), self.input);
        // A program that does not read its input closes the pipe: that is its right.
        let writing = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writing.join().unwrap();
        Ran {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// A program that has ended.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, Some(code), "exit code of a program that said:\n{}", self.all());
        self
    }

    /// Each text is in what was printed, and in this order.
    #[track_caller]
    pub(crate) fn says<S: AsRef<str>>(self, texts: &[S]) -> Ran {
        let all = self.all();
        let mut from = 0;
        for text in texts {
            let text = text.as_ref();
            match all[from..].find(text) {
                Some(at) => from += at + text.len(),
                None if all.contains(text) => panic!("{text:?} comes too early in:\n{all}"),
                None => panic!("{text:?} is not in:\n{all}"),
            }
        }
        self
    }

    #[track_caller]
    pub(crate) fn never_says(self, text: &str) -> Ran {
        assert!(!self.all().contains(text), "{text:?} is in:\n{}", self.all());
        self
    }

    /// The lines of the diff of a golden that differ.
    pub(crate) fn diff(&self) -> Vec<&str> {
        let lines = self.stdout.lines().skip_while(|line| *line != "- golden, + this run").skip(1);
        let lines = lines.take_while(|line| !line.starts_with("if "));
        lines.filter(|line| line.starts_with("- ") || line.starts_with("+ ")).collect()
    }

    /// What was said of a trial that failed.
    #[track_caller]
    pub(crate) fn failure(&self, name: &str) -> &str {
        let begins = format!("\n---- {name} ----\n");
        let (_, told) =
            self.stdout.split_once(&begins).unwrap_or_else(|| panic!("{name} did not fail:\n{}", self.all()));
        let end = ["\n\n---- ", "\n\n\nfailures:"].iter().filter_map(|end| told.find(end)).min();
        told[..end.unwrap_or(told.len())].trim_end_matches('\n')
    }

    /// What became of each trial.
    pub(crate) fn trials(&self) -> BTreeMap<&str, &str> {
        let line = |line: &'_ str| line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... ")).is_some();
        let lines = self.stdout.lines().filter(|l| line(l));
        lines.filter_map(|l| l["test ".len()..].split_once(" ... ")).map(|(n, r)| (n.trim(), r.trim())).collect()
    }

    #[track_caller]
    pub(crate) fn trials_are(self, wanted: &[(&str, &str)]) -> Ran {
        assert_eq!(self.trials(), wanted.iter().copied().collect::<BTreeMap<_, _>>(), "{}", self.all());
        self
    }

    fn all(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}
