//! Programs that tests start, and their results.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use retake::__private::run::Action;

/// Returns the `retake` command, not yet started.
pub(crate) fn retake() -> Program {
    Program::new(Path::new(env!("CARGO_BIN_EXE_retake")))
}

/// A program to start. Environment variables that would change what it does are removed: `CI`, `UPDATE_GOLDEN`, and those of
/// insta, GitHub, Retake and the providers.
pub(crate) struct Program {
    command: Command,
    input: Vec<u8>,
}

impl Program {
    pub(crate) fn new(program: &Path) -> Program {
        let mut command = Command::new(program);
        let foreign = |name: &str| {
            ["CI", "UPDATE_GOLDEN"].contains(&name)
                || ["INSTA_", "GITHUB_", "RETAKE_", "OPENAI_", "ANTHROPIC_", "GEMINI_", "GOOGLE_", "OLLAMA_"]
                    .iter()
                    .any(|prefix| name.starts_with(prefix))
        };
        for (name, _) in std::env::vars_os().filter(|(name, _)| foreign(&name.to_string_lossy())) {
            command.env_remove(name);
        }
        // Whether a machine can move clocks changes no test but those of that.
        command.env("RETAKE_FAKETIME", "off");
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

    /// Has a runner carry out an action, in the way that the command does.
    pub(crate) fn handed_over(mut self, action: &Action) -> Program {
        self.command.envs([action.variable()]);
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

    /// Whether the program can be started at all.
    #[cfg(unix)]
    pub(crate) fn starts(mut self) -> bool {
        self.command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    }

    pub(crate) fn input(mut self, input: impl Into<Vec<u8>>) -> Program {
        self.input = input.into();
        self
    }

    /// Returns the command itself, for a program that does not end by itself.
    pub(crate) fn into_command(self) -> Command {
        self.command
    }

    pub(crate) fn run(mut self) -> Ran {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap();
        let (mut stdin, input) = (child.stdin.take().unwrap(), self.input);
        // A program may end without reading its input; the write then fails, which is fine.
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
    /// Asserts that it passed.
    #[track_caller]
    pub(crate) fn green(&self) {
        assert_eq!(self.code, Some(0), "{}", self.all());
    }

    /// Asserts that it failed and printed each text, in any order.
    #[track_caller]
    pub(crate) fn red(&self, texts: &[&str]) {
        assert_eq!(self.code, Some(1), "{}", self.all());
        self.tells(texts);
    }

    /// Asserts that it printed each text, in any order.
    #[track_caller]
    pub(crate) fn tells(&self, texts: &[&str]) {
        let all = self.all();
        for text in texts {
            assert!(all.contains(text), "{text:?} is not in:\n{all}");
        }
    }

    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, Some(code), "exit code of a program that printed:\n{}", self.all());
        self
    }

    /// Asserts that it printed the texts in this order.
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

    /// Returns the lines that differ in the diff of a golden.
    pub(crate) fn diff(&self) -> Vec<&str> {
        let lines = self.stdout.lines().skip_while(|line| *line != "- golden, + this run").skip(1);
        let lines = lines.take_while(|line| !line.starts_with("if "));
        lines.filter(|line| line.starts_with("- ") || line.starts_with("+ ")).collect()
    }

    /// Returns what was printed about a trial that failed.
    #[track_caller]
    pub(crate) fn failure(&self, name: &str) -> &str {
        let begins = format!("\n---- {name} ----\n");
        let (_, told) =
            self.stdout.split_once(&begins).unwrap_or_else(|| panic!("{name} did not fail:\n{}", self.all()));
        let end = ["\n\n---- ", "\n\n\nfailures:"].iter().filter_map(|end| told.find(end)).min();
        let told = told[..end.unwrap_or(told.len())].trim_end_matches('\n');
        let other = told.strip_prefix("the same as `").and_then(|other| other.strip_suffix('`'));
        other.map_or(told, |other| self.failure(other))
    }

    /// Returns the result of each trial.
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

    /// Returns standard output, then standard error.
    pub(crate) fn all(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}
