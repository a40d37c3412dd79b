//! The runner: a `main` that does one thing with a project's scenarios.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use super::accept;
use super::action::Action;
use super::commands::Commands;
use super::golden::{self, Assert, Goldens};
use super::policy::Policy;
use super::project::Project;
#[cfg(feature = "record")]
use super::record;
use super::{audit, restart, test};
use crate::error::{Error, Result};
use crate::report::terminal;
use crate::secrets;
use crate::system::{self, IntoRouter, RouterFactory, Stage};

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

        // Without a harness the compiler drops this; with one it would drop the `main`, run no scenario and be green.
        #[test]
        fn scenarios_have_no_harness() {
            ::core::compile_error!(
                "retake::suite! has a `main` of its own, which the test harness of cargo takes the place of: no scenario would run. \
                 Add to Cargo.toml, below [[test]] and name = \"scenarios\":\n\n    harness = false\n"
            );
        }
    };
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
        Suite { root: root.into(), assert, routers: BTreeMap::new(), commands: Commands::CargoTest, update: false }
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
        if let Some(done) = system::take_over().or_else(crate::tools::take_over) {
            return done;
        }
        self.run(Action::asked_for(std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect()))
    }

    /// Does one thing with the project, and says what is wrong with it or with what is asked.
    pub(crate) fn run(self, action: Result<Action>) -> ExitCode {
        action.and_then(|action| self.act(action)).unwrap_or_else(|error| {
            terminal::error(error);
            ExitCode::from(2)
        })
    }

    /// Does one thing with the project. The program may start anew for it, with the same arguments.
    ///
    /// # Errors
    /// Where the project or what is asked of it is wrong; what a scenario fails by is printed.
    pub(crate) fn act(self, action: Action) -> Result<ExitCode> {
        let root = self.folder()?;
        let policy = if action.only_reads() {
            Policy::Verify
        } else {
            Policy::of_run(action.records(), self.update || action.accepts())?
        };
        if let Some(code) = restart::with_environment(&root, &golden::environment(policy, &root))? {
            return Ok(code);
        }
        golden::silence_comparisons();
        system::hear_panics();
        let project = Arc::new(self.open(&root, policy, &action)?);
        secrets::hide(project.open.secrets().unwrap_or_default().scrub().clone());
        match action {
            Action::Test(wanted) => test::run(&project, &wanted),
            Action::Audit(names, options) => audit::run(&project, &names, options),
            Action::Accept(names) => accept::run(&project, &names),
            #[cfg(feature = "record")]
            Action::Record(names, options) => record::run(&project, &names, options),
        }
    }

    /// The project's folder: `RETAKE_ROOT`, else the one that the suite was made with.
    fn folder(&self) -> Result<PathBuf> {
        let folder = restart::root().unwrap_or_else(|| self.root.clone());
        let root = folder.canonicalize().map_err(|e| crate::files::failed("open", &folder, &e))?;
        if !root.is_dir() {
            return Err(Error::new("expected the project's folder, found a file").in_file(&folder));
        }
        Ok(root)
    }

    fn open(self, root: &Path, policy: Policy, action: &Action) -> Result<Project> {
        let only = match action {
            Action::Test(wanted) => wanted.only_one(),
            Action::Audit(..) | Action::Accept(_) => None,
            #[cfg(feature = "record")]
            Action::Record(..) => None,
        };
        let goldens = Goldens::new(root.join("goldens"), policy, self.assert);
        let mut project = Project::open(root, self.routers, goldens, self.commands, only.as_deref(), action.records())?;
        project.hears_calls = matches!(action, Action::Audit(..));
        Ok(project)
    }
}
