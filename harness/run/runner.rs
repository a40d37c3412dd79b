//! The runner: a `main` that carries out one action on a project's scenarios.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use super::action::Action;
use super::commands::Commands;
use super::golden::Goldens;
use super::policy::Policy;
use super::project::Project;
use super::{accept, audit, check, fork, record, test, worlds};
use crate::report::terminal;
use retake_base::error::{Error, Result};
use retake_core::secrets;
use retake_engine::system;
use retake_engine::system::{IntoRouter, RouterFactory, Stage};
use retake_model::{Relay, threads};

/// The runner's `main` for a project whose systems are Rust routers.
///
/// ```ignore
/// retake::suite! {
///     router "agent" => |stage| async move { my_agent::router(stage.workdir(), &stage.model().openai, stage.key()) }
/// }
/// ```
/// Each closure takes the [`Stage`] and returns a future of an axum router, or of a `Result` with one. For other tower
/// services see [`service`](crate::service).
#[macro_export]
macro_rules! suite {
    ($(router $name:literal => $make:expr),* $(,)?) => {
        fn main() -> ::std::process::ExitCode {
            $crate::Suite::new(env!("CARGO_MANIFEST_DIR"))
                $(.router($name, $make))*
                .main()
        }

        // Without a harness the compiler drops this function. With one it would drop the `main` above, and the test would be
        // green without having run a scenario.
        #[test]
        fn scenarios_have_no_harness() {
            ::core::compile_error!(
                "retake::suite! has a `main` of its own, which cargo's test harness would replace, so no scenario would run. \
                 Add to Cargo.toml, below [[test]] and name = \"scenarios\":\n\n    harness = false\n"
            );
        }
    };
}

/// The scenarios of a project and the systems that they drive.
pub struct Suite {
    root: PathBuf,
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
    /// The suite of the project in a folder. The environment variable `RETAKE_ROOT` overrides the folder.
    pub fn new(root: impl Into<PathBuf>) -> Suite {
        Suite { root: root.into(), routers: BTreeMap::new(), commands: Commands::CargoTest, update: false }
    }

    /// Registers an in-process system.
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

    /// Marks this runner as the `retake` command itself, and sets whether it rewrites goldens.
    pub fn of_command(self, update: bool) -> Suite {
        Suite { commands: Commands::Retake, update, ..self }
    }

    /// Runs the scenarios that the command line and the environment ask for, with libtest's options and exit codes.
    pub fn main(self) -> ExitCode {
        if let Some(done) = system::take_over().or_else(retake_engine::tools::take_over) {
            return done;
        }
        self.run(Action::asked_for(std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect()))
    }

    /// Carries out an action on the project. Prints an error, and returns exit code 2, if the project or the action is wrong.
    pub fn run(self, action: Result<Action>) -> ExitCode {
        let code = action.and_then(|action| self.act(action)).unwrap_or_else(|error| {
            terminal::error(error);
            ExitCode::from(2)
        });
        if terminal::has_lost() { ExitCode::from(2) } else { code }
    }

    /// Carries out an action on the project, in the project's folder.
    ///
    /// # Errors
    /// If the project or the action is wrong. Failures of scenarios are printed and only change the exit code.
    pub fn act(self, action: Action) -> Result<ExitCode> {
        let root = self.folder()?;
        let policy = if action.only_reads() {
            Policy::Verify
        } else {
            // What is accepted is written even if no update was asked for.
            Policy::of_run(action.records(), self.update || matches!(action, Action::Accept(_)))?
        };
        // Whatever a Rust system reads is in the project's folder, as with cargo.
        std::env::set_current_dir(&root).map_err(|e| retake_base::files::failed("open", &root, &e))?;
        system::hear_panics();
        threads::this_is_own();
        let project = Arc::new(self.open(&root, policy, &action)?);
        secrets::hide(project.scrub.clone().unwrap_or_default());
        let is_live = action.is_live();
        let done = match action {
            Action::Test(wanted) => test::run(&project, &wanted),
            Action::Audit(names, options) => audit::run(&project, &names, options),
            Action::Worlds(names, options) => {
                let wanted = audit::wanted(&project, &names)?;
                let sound = wanted.iter().map(|found| found.as_ref().map_err(|broken| broken.error.clone()));
                worlds::run(&project, &sound.collect::<Result<Vec<_>>>()?, &options)
            }
            Action::Accept(names) => accept::run(&project, &names),
            Action::Record(names, options) => record::run(&project, &names, options),
            Action::Check(names, options) => check::run(&project, &names, options),
            Action::Fork(name, options) => fork::run(&project, &name, &options),
            Action::AcceptFork(id) => fork::accept(&project, &id),
        };
        // The others end it themselves, before they print what came of it.
        if is_live {
            project.end();
        }
        done
    }

    /// The project's folder: `RETAKE_ROOT` if it is set, otherwise the one that was passed to [`Suite::new`].
    fn folder(&self) -> Result<PathBuf> {
        let named = std::env::var_os(ROOT).filter(|root| !root.is_empty());
        let folder = named.map_or_else(|| self.root.clone(), PathBuf::from);
        let root = folder.canonicalize().map_err(|e| retake_base::files::failed("open", &folder, &e))?;
        if !root.is_dir() {
            return Err(Error::new("expected the project's folder, found a file").in_file(&folder));
        }
        Ok(root)
    }

    fn open(self, root: &Path, policy: Policy, action: &Action) -> Result<Project> {
        let only = if let Action::Test(wanted) = action { wanted.only_some() } else { None };
        let goldens = Goldens::new(root.join("goldens"), policy);
        let mut project = Project::open(root, self.routers, goldens, self.commands, only.as_ref(), action.is_live())?;
        if action.is_live() {
            project.interrupt = super::interrupt::Interrupt::listen(Relay::from_env().as_ref())?;
        }
        project.hears_calls = matches!(action, Action::Audit(..));
        project.keeps_calls = matches!(action, Action::Check(..));
        Ok(project)
    }
}

/// The environment variable that names the project's folder, instead of the one in which the runner was built.
const ROOT: &str = "RETAKE_ROOT";
