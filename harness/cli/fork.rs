use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::handover;
use super::relay::runner;
use retake::__private::report::terminal;
use retake::__private::run::{Action, ForkOptions};
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};
use retake_base::files;
use retake_base::text::counted;

/// Run a scenario as recorded up to a turn, and from there with the real provider: another model, another prompt
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(
    after_help = "Examples:\n  OPENAI_API_KEY=… retake fork write_read_file --from 2 --model gpt-x --times 3\n  \
        retake fork write_read_file --from lead_agent:2 --prompt-file brief.txt\n  \
        retake show --fork write_read_file-1.1\n  retake fork accept write_read_file-1.1\n  retake fork sweep\n\n\
        A table compares the recording with each run: calls, tokens, cost by [prices] in suite.toml, finish reason, \
        golden, the suite's `verify`, and tools in order. Tools answer as recorded while their arguments are \
        recorded; after that a run ends, unless the suite says fork = { tools = \"live\" }.\n\n\
        Nothing of the recording is changed. If the command is interrupted, the same command continues, and pays for \
        no answer twice.\n\n\
        Exit code 1 if a run did not reach its end, or `verify` did not find it good."
)]
pub(super) struct Fork {
    /// The scenario
    #[arg(required = true)]
    name: Option<String>,
    /// The first turn that the provider answers: its number in `retake show`, or a caller with its own count from 1, as in
    /// lead_agent:2
    #[arg(long, value_name = "TURN", required = true)]
    from: Option<String>,
    /// The model to ask instead, for one caller or for all
    #[arg(long, value_name = "[CALLER=]MODEL", value_parser = of_caller)]
    model: Vec<(Option<String>, String)>,
    /// A file with the system prompt to send instead, for one caller or for all
    #[arg(long, value_name = "[CALLER=]FILE", value_parser = of_caller)]
    prompt_file: Vec<(Option<String>, String)>,
    /// A field of requests to set, as in temperature=0; its path has dots
    #[arg(long, value_name = "FIELD=VALUE", value_parser = setting)]
    set: Vec<(String, String)>,
    /// How many runs to make, side by side
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=100))]
    times: u16,
    /// Print JSON, in the format retake-fork/1
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    then: Option<Then>,
}

#[derive(Debug, Subcommand)]
enum Then {
    /// Make a run the recording of its scenario, after two replays of it that agree
    Accept {
        /// The run, as the table names it: write_read_file-1.1
        id: String,
    },
    /// Remove forks
    Sweep {
        /// The forks to remove, as write_read_file-1 [default: all]
        id: Vec<String>,
    },
}

impl Fork {
    pub(super) fn run(self) -> Result<ExitCode> {
        let root = super::project::root()?;
        match self.then {
            Some(Then::Sweep { id }) => return sweep(&root, &id),
            Some(Then::Accept { id }) => return handover::act(root, Action::AcceptFork(id)),
            None => {}
        }
        let text = |(caller, file): (Option<String>, String)| {
            let bytes = files::read(Path::new(&file))?;
            let text = String::from_utf8(bytes).map_err(|_| Error::new("not UTF-8").in_file(Path::new(&file)))?;
            Ok((caller, text))
        };
        let name = self.name.unwrap_or_default();
        let options = ForkOptions {
            from: self.from.unwrap_or_default(),
            models: self.model,
            prompts: self.prompt_file.into_iter().map(text).collect::<Result<_>>()?,
            settings: self.set,
            times: self.times.into(),
            json: self.json,
        };
        runner::act(root, Action::Fork(vec![name], options))
    }
}

/// The fixture of a run, `NAME-1.2`, and the file of its fork.
pub(super) fn files_of(root: &Path, id: &str) -> Result<(PathBuf, PathBuf)> {
    let forks = forks(root)?;
    let (fork, number) = match id.rsplit_once('.').filter(|_| !forks.join(id).is_dir()) {
        Some((fork, number)) => (fork, number),
        None => (id, "1"),
    };
    let (run, fork) = (forks.join(fork).join(format!("{number}.json")), forks.join(fork).join("fork.json"));
    if number.parse::<usize>().is_ok() && run.is_file() {
        return Ok((run, fork));
    }
    Err(Error::new(format!("there is no finished run `{id}`"))
        .help(format!("`{RETAKE} fork` prints the ids in its table")))
}

fn forks(root: &Path) -> Result<PathBuf> {
    let forks = Path::new(files::RUN_FOLDER).join("forks");
    files::inside(root, &forks).map(|()| root.join(forks))
}

fn sweep(root: &Path, ids: &[String]) -> Result<ExitCode> {
    let forks = forks(root)?;
    let entries = std::fs::read_dir(&forks).into_iter().flatten().flatten().filter(|entry| entry.path().is_dir());
    let mut found: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    if let Some(unknown) = ids.iter().find(|id| !found.contains(id)) {
        return Err(Error::new(format!("there is no fork `{unknown}`")));
    }
    found.retain(|id| ids.is_empty() || ids.contains(id));
    for id in &found {
        let folder = forks.join(id);
        std::fs::remove_dir_all(&folder).map_err(|e| files::failed("remove", &folder, &e))?;
    }
    terminal::note(format!("{} removed", counted(found.len(), "fork")));
    Ok(ExitCode::SUCCESS)
}

/// Splits `CALLER=VALUE`; without `=` the value is for all callers.
fn of_caller(text: &str) -> Result<(Option<String>, String), String> {
    let (caller, value) = text.split_once('=').map_or((None, text), |(caller, value)| (Some(caller), value));
    if value.is_empty() || caller == Some("") {
        return Err("expected VALUE, or CALLER=VALUE".to_owned());
    }
    Ok((caller.map(str::to_owned), value.to_owned()))
}

fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((field, value)) if !field.is_empty() => Ok((field.to_owned(), value.to_owned())),
        _ => Err("expected FIELD=VALUE, as in temperature=0".to_owned()),
    }
}
