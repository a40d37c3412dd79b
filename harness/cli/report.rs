use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use clap::{Args, Subcommand};

use crate::view::{ReportForm, report};
use retake::__private::report::{RunData, RunResult, Runs, terminal};
use retake::__private::run::keep_times;
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};
use retake_base::files;
use retake_base::text::counted;
use retake_scenario::discover;

/// Write a report of the last runs: an HTML page, JUnit XML, or a summary for GitHub
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:\n  retake report\n  retake report --form junit --out junit.xml\n  \
    retake report merge shard-1 shard-2 --form markdown >> \"$GITHUB_STEP_SUMMARY\"\n\n\
    A report covers the last run of each scenario, by any runner, as .retake/runs has it. The page is one file, \
    .retake/report.html, and needs no network; on a terminal it is opened in the browser. JUnit and markdown go to \
    standard output unless --out names a file.")]
pub(super) struct Report {
    #[command(flatten)]
    written: Written,
    #[command(subcommand)]
    merge: Option<Merge>,
}

#[derive(Debug, Subcommand)]
enum Merge {
    /// Take in the runs of other CI jobs, then write a report of all
    #[command(after_help = "Example:\n  retake report merge shard-1 shard-2 --form junit --out junit.xml\n\n\
        Each folder is what a job kept: its .retake, .retake/runs, or a folder that\n\
        contains .retake. If a scenario has several runs, the latest one counts.")]
    Merge {
        /// The folders that the other jobs kept
        #[arg(required = true)]
        folder: Vec<PathBuf>,
        #[command(flatten)]
        written: Written,
    },
}

/// The options that say what to write, and where.
#[derive(Debug, Args)]
struct Written {
    /// The report's form
    #[arg(long, value_enum, default_value_t = ReportForm::Html)]
    form: ReportForm,
    /// The file to write [default: .retake/report.html for the page, standard output for the others]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Do not open the page
    #[arg(long)]
    no_open: bool,
}

impl Report {
    pub(super) fn run(self) -> Result<ExitCode> {
        let root = super::project::root()?;
        let runs = Runs::of(&root);
        let written = match self.merge {
            None => self.written,
            Some(Merge::Merge { folder, written }) => {
                take_in(&runs, &folder)?;
                keep_times(&root)?;
                check_shards(&root, &runs)?;
                written
            }
        };
        let all = runs.all()?;
        if all.is_empty() {
            return Err(Error::new("no scenario has run here yet").help(format!("to run them: {RETAKE} test")));
        }
        let opens = !written.no_open && written.out.is_none();
        if let Some(file) = write(&root, &all, written.form, written.out)? {
            terminal::out(file.display());
            if opens {
                open(&file);
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Writes a report to a file, or to standard output. Returns the file, or `None` for standard output.
pub(super) fn write(root: &Path, runs: &[RunData], form: ReportForm, out: Option<PathBuf>) -> Result<Option<PathBuf>> {
    let text = match form {
        ReportForm::Html => report(&with_pictures(root, runs), form)?,
        _ => report(runs, form)?,
    };
    let file = match (out, form) {
        (Some(file), _) => file,
        (None, ReportForm::Html) => files::run_folder(root, "report.html")?,
        (None, _) => {
            terminal::out(text.trim_end());
            return Ok(None);
        }
    };
    files::write_whole(&file, text.as_bytes())?;
    Ok(Some(file))
}

/// The most bytes of pictures on a page.
const PICTURES: u64 = 12 << 20;

/// The runs with their pictures in place of the pictures' files, since the page is a single file. Failed runs come first; what is
/// too much is left out.
fn with_pictures(root: &Path, runs: &[RunData]) -> Vec<RunData> {
    let mut runs = runs.to_vec();
    let mut left = PICTURES;
    let mut sorted: Vec<&mut RunData> = runs.iter_mut().collect();
    sorted.sort_by_key(|run| run.result != RunResult::Failed);
    for act in sorted.into_iter().flat_map(|run| &mut run.steps).flat_map(|step| &mut step.acts) {
        let Some(bytes) = act.picture.take().and_then(|file| picture(root, &file, left)) else { continue };
        left = left.saturating_sub(bytes.len() as u64);
        act.picture = Some(format!("data:image/jpeg;base64,{}", BASE64_STANDARD.encode(bytes)).into());
    }
    runs
}

/// A picture that a run took of a page, if it has at most `most` bytes. Data of another job may name any file, so only pictures in
/// the folder of such are read.
fn picture(root: &Path, file: &Path, most: u64) -> Option<Vec<u8>> {
    let is_of_a_page = file.starts_with(Path::new(files::RUN_FOLDER).join("browser"));
    let bytes = is_of_a_page.then(|| files::read_inside(root, file, most).ok()).flatten()??;
    bytes.starts_with(JPEG).then_some(bytes)
}

/// How each picture in JPEG begins.
const JPEG: &[u8] = b"\xff\xd8\xff";

/// Opens a page in the browser if standard output is a terminal. Errors are ignored: the page's path has been printed.
pub(super) fn open(file: &Path) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    if std::io::stdout().is_terminal() {
        let mut command = Command::new(program);
        let _ = command.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    }
}

/// Checks that the jobs together ran each scenario, if each of them ran a part: jobs with different times divide differently.
fn check_shards(root: &Path, runs: &Runs) -> Result<()> {
    let all = runs.all()?;
    if all.iter().all(|run| run.shard.is_none()) {
        return Ok(());
    }
    let discovered = discover(root)?;
    let is_run = |name: &str| all.iter().any(|run| run.scenario == name);
    let left = discovered.sound().filter(|scenario| scenario.skip.is_none() && !is_run(&scenario.name));
    let left: Vec<&str> = left.map(|scenario| scenario.name.as_str()).collect();
    if left.is_empty() {
        return Ok(());
    }
    let error = Error::new(format!("no job ran {}", left.join(", ")));
    Err(error
        .help("is the folder of each job named, and did each of them get to its end?")
        .help("all jobs have to divide by the same times: give them the same .retake/shard-times, or none"))
}

/// Copies the runs that other jobs left into this project, and prints how many there were.
fn take_in(runs: &Runs, folders: &[PathBuf]) -> Result<()> {
    for folder in folders {
        let others = Runs::of_other_jobs(folder)?;
        let failed = others.iter().filter(|run| run.result == RunResult::Failed).count();
        for other in &others {
            // Times are texts in UTC, so they sort by time.
            if runs.read(&other.scenario)?.is_none_or(|own| own.started <= other.started) {
                runs.write(other)?;
            }
        }
        terminal::note(format!("{}: {}, {failed} failed", folder.display(), counted(others.len(), "run")));
    }
    Ok(())
}
