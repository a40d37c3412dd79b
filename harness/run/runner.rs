//! The runner: a `main` that finds the scenarios and runs each as a trial.
//!
//! `cargo test`, `cargo nextest run` and `retake test` run the same trials with the same names, since all of them run
//! this. Under nextest each trial is a process of its own, so misses are checked in each trial and once more at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};

use crate::error::{Error, Result};
use crate::model::{self, Pacing};
use crate::report::{Failure, terminal, unified};
use crate::run::commands::Commands;
use crate::run::declared_secrets;
use crate::run::golden::{self, Assert, Compared, Goldens, Policy};
use crate::run::project::Project;
use crate::run::proof::prove;
use crate::run::trial;
use crate::scenario::{Broken, FixtureRef, Scenario};
use crate::secrets::{self, shown};
use crate::system::{IntoRouter, RouterFactory, Stage};
use crate::text::{counted, nearest};

/// The runner's `main` for a project whose systems are Rust routers.
///
/// ```ignore
/// retake::suite! {
///     router "agent" => |stage| async move { my_agent::router(stage.workdir(), &stage.model().openai, stage.key()) }
/// }
/// ```
/// Each closure gets the [`Stage`] and gives, asynchronously, an axum router or a `Result` with one; for other tower
/// services see [`service`](crate::service).
#[macro_export]
macro_rules! suite {
    ($(router $name:literal => $make:expr),* $(,)?) => {
        fn main() -> ::std::process::ExitCode {
            $crate::Suite::new(env!("CARGO_MANIFEST_DIR"), $crate::assert_golden!())
                $(.router($name, $make))*
                .main()
        }
    };
}

/// The variable that hands an action of the command over to the runner, and the one that names its scenarios.
pub(crate) const ACTION: &str = "RETAKE_ACTION";
#[cfg(any(feature = "cli", feature = "record"))]
pub(crate) const ACTION_NAMES: &str = "RETAKE_ACTION_NAMES";

/// What a runner does with a project.
#[derive(Debug)]
pub(crate) enum Action {
    /// Runs trials, with libtest's arguments.
    Test(Vec<String>),
    /// Records scenarios by name.
    #[cfg(feature = "record")]
    Record(Vec<String>, RecordOptions),
}

/// How scenarios are recorded.
#[cfg(feature = "record")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecordOptions {
    /// Answers what equals a recorded call from the recording.
    pub(crate) resume: bool,
    /// Writes what does not stand its proof, with a mark.
    pub(crate) accept_unstable: bool,
}

#[cfg(feature = "record")]
impl RecordOptions {
    const WORDS: [&str; 2] = ["--resume", "--accept-unstable"];

    /// The action and the options, as a runner is told of them: one that does not know an option then refuses it.
    #[cfg(feature = "cli")]
    pub(crate) fn to_action(self) -> String {
        let set = [self.resume, self.accept_unstable];
        let words = Self::WORDS.into_iter().zip(set).filter(|(_, set)| *set).map(|(word, _)| word);
        std::iter::once("record").chain(words).collect::<Vec<_>>().join(" ")
    }

    fn of_action(action: &str) -> Option<RecordOptions> {
        let mut words = action.split(' ');
        let mut options = (words.next() == Some("record")).then(RecordOptions::default)?;
        for word in words {
            match Self::WORDS.iter().position(|known| *known == word)? {
                0 => options.resume = true,
                _ => options.accept_unstable = true,
            }
        }
        Some(options)
    }
}

/// The scenarios of a project and the systems that they drive.
pub struct Suite {
    root: PathBuf,
    assert: Assert,
    routers: BTreeMap<String, RouterFactory>,
    commands: Commands,
    update: bool,
}

impl std::fmt::Debug for Suite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Suite").field("root", &self.root).field("routers", &self.routers.keys()).finish_non_exhaustive()
    }
}

impl Suite {
    /// The suite of the project in a folder. `RETAKE_ROOT` names another one.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>, assert: Assert) -> Suite {
        let root = std::env::var_os("RETAKE_ROOT").filter(|root| !root.is_empty()).map_or(root.into(), PathBuf::from);
        Suite { root, assert, routers: BTreeMap::new(), commands: Commands::CargoTest, update: false }
    }

    /// Registers an in-process system.
    #[must_use]
    pub fn router<M, F>(mut self, name: &str, make: M) -> Suite
    where
        M: Fn(Stage) -> F + Send + Sync + 'static,
        F: Future<Output: IntoRouter> + Send + 'static,
    {
        let factory: RouterFactory = Arc::new(move |stage| {
            let future = make(stage);
            Box::pin(async move { future.await.into_router() })
        });
        self.routers.insert(name.to_owned(), factory);
        self
    }

    /// Says that the runner is the `retake` command itself, and whether it was told to write goldens.
    #[cfg(feature = "cli")]
    pub(crate) fn of_command(mut self, update: bool) -> Suite {
        self.commands = Commands::Retake;
        self.update = update;
        self
    }

    /// Runs what the command line and the environment ask for, as libtest would.
    #[must_use]
    pub fn main(self) -> ExitCode {
        if let Some(done) = crate::system::take_over() {
            return done;
        }
        self.run(std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect())
    }

    pub(crate) fn run(self, args: Vec<String>) -> ExitCode {
        match self.try_run(args) {
            Ok(code) => code,
            Err(error) => {
                terminal::error(error);
                ExitCode::from(2)
            }
        }
    }

    fn try_run(self, args: Vec<String>) -> Result<ExitCode> {
        let Ok(action) = std::env::var(ACTION) else { return self.act(&Action::Test(args)) };
        #[cfg(feature = "record")]
        if let Some(options) = RecordOptions::of_action(&action) {
            let names = std::env::var(ACTION_NAMES).unwrap_or_default();
            let names = names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
            return self.act(&Action::Record(names, options));
        }
        Err(Error::new(format!("{ACTION}={action:?}: this runner cannot do that"))
            .help("the `retake` command and the `retake` library differ in version, or a feature is off"))
    }

    /// Does one thing with the project. The program may start anew for it, with the same arguments.
    pub(crate) fn act(self, action: &Action) -> Result<ExitCode> {
        let root = self.root.canonicalize().map_err(|e| crate::files::failed("open", &self.root, &e))?;
        if !root.is_dir() {
            return Err(Error::new("expected the project's folder, found a file").in_file(&self.root));
        }
        let policy = policy(!matches!(action, Action::Test(_)), self.update)?;
        let wanted = golden::environment(policy, &root);
        if wanted.iter().any(|(name, value)| std::env::var_os(name).as_deref() != Some(OsStr::new(value))) {
            return again(&root, &wanted);
        }
        golden::silence_comparisons();
        let only = match action {
            Action::Test(args) => only_trial(args),
            #[cfg(feature = "record")]
            Action::Record(..) => None,
        };
        let goldens = Goldens::new(root.join("goldens"), policy, self.assert);
        let records = !matches!(action, Action::Test(_));
        let project = Project::open(&root, self.routers, goldens, self.commands, only.as_deref(), records)?;
        secrets::hide(declared_secrets::of_project(&project.discovered).unwrap_or_default().scrub().clone());
        let project = Arc::new(project);
        match action {
            Action::Test(args) => {
                let args = arguments(args);
                project.check_filter(&args)?;
                Ok(run_trials(&project, policy, &args))
            }
            #[cfg(feature = "record")]
            Action::Record(names, options) => {
                let code = crate::run::record::record(&project, names, *options);
                project.systems.end();
                code
            }
        }
    }
}

/// Whether a variable says yes.
pub(crate) fn is_set(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| !matches!(value.to_lowercase().as_str(), "" | "0" | "false" | "no"))
}

/// The trial that checks what belongs to no scenario.
const NO_ORPHANS: &str = "retake::no_orphans";

fn arguments(args: &[String]) -> Arguments {
    Arguments::from_iter(std::iter::once("scenarios".to_owned()).chain(args.iter().cloned()))
}

/// The scenario that this process is for, where nextest started it: it starts one for each. Elsewhere all are read, so that
/// the summary counts them.
fn only_trial(args: &[String]) -> Option<String> {
    std::env::var_os("NEXTEST")?;
    let Arguments { filter, exact: true, list: false, .. } = arguments(args) else { return None };
    filter.filter(|name| name != NO_ORPHANS)
}

impl Project {
    /// Refuses a filter of the command that fits nothing: nothing would be tested, and green. (One of `cargo test` is for
    /// all test programs of a crate.)
    fn check_filter(&self, args: &Arguments) -> Result<()> {
        let Some(filter) = args.filter.as_deref().filter(|_| self.commands != Commands::CargoTest) else {
            return Ok(());
        };
        let names = self.discovered.scenarios.iter().map(|found| match found {
            Ok(scenario) => scenario.name.as_str(),
            Err(broken) => broken.name.as_str(),
        });
        let names: Vec<&str> = names.chain([NO_ORPHANS]).collect();
        if names.iter().any(|name| if args.exact { *name == filter } else { name.contains(filter) }) {
            return Ok(());
        }
        let what = if args.exact { "is called" } else { "has in its name" };
        let error = Error::new(format!("no scenario {what} `{filter}`"));
        Err(nearest(filter, names).into_iter().fold(error, |error, near| error.help(format!("did you mean `{near}`?"))))
    }
}

/// What this run may write.
fn policy(writes_fixtures: bool, update: bool) -> Result<Policy> {
    let (ci, update) = (is_set("CI"), update || is_set("UPDATE_GOLDEN"));
    match (ci, update || writes_fixtures) {
        (true, true) => {
            let what = if writes_fixtures { "recording" } else { "updating goldens" };
            Err(Error::new(format!("{what} with CI set: goldens and fixtures are never written in CI"))
                .help("run it on your own machine and commit what it wrote; if this is your machine, unset CI"))
        }
        (false, true) => Ok(Policy::Update),
        (true, false) => Ok(Policy::CheckOnly),
        (false, false) => Ok(Policy::Check),
    }
}

/// Starts this program anew with more variables: insta reads its environment once, and setting it here would be unsafe.
/// In the project's folder, where cargo starts it too: from any other one insta would write the way from the project to
/// the runner's source into goldens, over folders of this machine.
fn again(root: &Path, environment: &[(&'static str, std::ffi::OsString)]) -> Result<ExitCode> {
    let failed = |e: std::io::Error| Error::new(format!("failed to start this program again: {e}"));
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    command.args(std::env::args_os().skip(1)).envs(environment.iter().map(|(name, value)| (name, value)));
    command.current_dir(root).env("RETAKE_ROOT", root);
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        Err(failed(command.exec()))
    }
    #[cfg(not(unix))]
    {
        let status = command.status().map_err(failed)?;
        Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(101)))
    }
}

fn run_trials(project: &Arc<Project>, policy: Policy, args: &Arguments) -> ExitCode {
    let mut trials: Vec<Trial> = Vec::new();
    for found in &project.discovered.scenarios {
        let project = project.clone();
        trials.push(match found {
            Ok(scenario) => {
                let scenario = scenario.clone();
                Trial::test(scenario.name.clone(), move || test(&project, &scenario, policy))
            }
            Err(Broken { name, error }) => {
                let error = error.to_string();
                Trial::test(name.clone(), move || Err(Failed::from(error)))
            }
        });
    }
    let all = project.clone();
    trials.push(Trial::test(NO_ORPHANS, move || orphans(&all).map_err(|f| Failed::from(f.to_string()))));
    let conclusion = libtest_mimic::run(args, trials);
    project.systems.end();
    project.print_notes();
    let late = model::unjudged();
    if !late.is_empty() {
        for miss in &late {
            terminal::note(format!("\n{miss}"));
        }
        terminal::error(format!("{} came after the scenario's verdict, and missed", counted(late.len(), "model call")));
        return ExitCode::from(101);
    }
    conclusion.exit_code()
}

fn test(project: &Project, scenario: &Scenario, policy: Policy) -> Result<(), Failed> {
    let run = || {
        let fixture = project.fixtures.of(scenario)?;
        if let Some(fixture) = fixture.as_ref().filter(|fixture| !fixture.unstable.is_empty()) {
            let (name, file) = (&scenario.name, fixture.path.display());
            let why = fixture.unstable.join("\n  ");
            terminal::note(format!("{name}: {file} was written without a proof, since this varied:\n  {why}"));
        }
        if policy == Policy::Update {
            let text = prove(project, scenario, fixture.as_ref())?;
            return text.map_or(Ok(()), |text| compare(project, scenario, &text, policy));
        }
        let played = trial::replay(project, scenario, fixture, &project.rules, Pacing::None)?;
        project.note(&scenario.name, played.notes(scenario));
        let text = played.verdict(scenario)?;
        let compared = text.map_or(Ok(()), |text| compare(project, scenario, &text, policy));
        compared.map_err(|failure| played.quoting_systems(failure))
    };
    run().map_err(|failure: Failure| Failed::from(shown(&failure.to_string())))
}

fn compare(project: &Project, scenario: &Scenario, text: &str, policy: Policy) -> Result<(), Failure> {
    let file = project.goldens.file(&scenario.golden_name);
    let update = project.commands.update(&scenario.name);
    let compared = project.goldens.compare(&scenario.golden_name, text, &scenario.file);
    let compared = compared.map_err(|error| {
        let case = if file.is_file() { "to write it anew" } else { "once it is removed" };
        Failure::from(error).resolve(case, update.clone())
    })?;
    let file = project.goldens.shown(&file).display();
    let review = |failure: Failure| match policy {
        Policy::Check => failure.resolve("to look at it first", "cargo insta review"),
        _ => failure,
    };
    match compared {
        _ if policy == Policy::Update => Ok(()),
        Compared::Same => Ok(()),
        Compared::New => Err(review(
            Failure::new(format!("golden: scenario `{}` has none, {file} is not there", scenario.name))
                .evidence(format!("it would hold:\n{}", unified("", text)))
                .resolve("if this is what the service should send", update),
        )),
        Compared::Differs(golden) => Err(review(
            Failure::new(format!("golden: the events of scenario `{}` are not those of {file}", scenario.name))
                .evidence(format!("- golden, + this run\n{}", unified(&golden, text)))
                .resolve("if the change is meant", update),
        )),
    }
}

/// Fixtures and goldens that belong to no scenario. Statically, so that a filtered run condemns nothing.
fn orphans(project: &Project) -> Result<(), Failure> {
    let scenarios = || project.discovered.scenarios.iter();
    let broken: BTreeSet<&str> = scenarios().filter_map(|s| s.as_ref().err()).map(|b| b.name.as_str()).collect();
    // What a broken scenario owns cannot be known: files that begin with its name are left alone.
    let of_broken = |name: &str| broken.iter().any(|b| name == *b || name.starts_with(&format!("{b}.")));
    let (mut fixtures, mut goldens) = (BTreeSet::new(), BTreeSet::new());
    for scenario in project.discovered.sound() {
        if let FixtureRef::Named(name) = &scenario.fixture {
            fixtures.insert(name.as_str());
        }
        if trial::has_golden(scenario) {
            goldens.insert(scenario.golden_name.as_str());
        }
    }
    let mut orphans = Vec::new();
    let mut look = |folder: &str, ending: &str, owned: &BTreeSet<&str>| -> Result<()> {
        for name in crate::files::names(&project.root.join(folder), ending)? {
            if !owned.contains(name.as_str()) && !of_broken(&name) {
                orphans.push(format!("  {}", Path::new(folder).join(format!("{name}{ending}")).display()));
            }
        }
        Ok(())
    };
    look("fixtures", ".json", &fixtures)?;
    look("goldens", ".snap", &goldens)?;
    if orphans.is_empty() {
        return Ok(());
    }
    let files: Vec<&str> = orphans.iter().map(|line| line.trim()).collect();
    Err(Failure::new(format!("orphans: {} without a scenario", counted(orphans.len(), "file")))
        .evidence(orphans.join("\n"))
        .resolve("if nothing needs them", format!("git rm {}", files.join(" "))))
}
