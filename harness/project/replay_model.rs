//! Fixtures replayed without a runner: a model for plain tests, of a fixture, a URL and a key; and a replay without HTTP.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::open_project::OpenProject;
use crate::error::Result;
use crate::fixture::Fixture;
use crate::model::{Miss, Mode, ModelServer, Replay, Scope, ServerOptions, Urls};
use crate::report::notes;
use crate::scenario::Delays;
use crate::scenario::{Drift, Level};
use crate::secrets::shown;

/// A model server that replays one fixture, for tests that start their system themselves.
///
/// Keys, callers and the weight of drift are those of the project that the fixture lies in: of the nearest folder upwards that
/// holds `scenarios/`, as its `suite.toml` says. [`ReplayModel::of`] can name another one.
///
/// # Example
/// ```no_run
/// # async fn test() -> retake::Result<()> {
/// let model = retake::ReplayModel::start("fixtures/greeting.json").await?;
/// let (base_url, key) = (model.urls().openai, model.key());
/// // … start the system with these two, talk to it …
/// model.verify();
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct ReplayModel {
    replay: Arc<Replay>,
    server: ModelServer,
    weight: Drift,
}

/// A [`ReplayModel`] before it is started.
#[derive(Clone, Debug)]
pub struct ReplayModelBuilder {
    fixture: PathBuf,
    root: Option<PathBuf>,
    repeat: bool,
}

impl ReplayModelBuilder {
    /// Names the project: the folder that holds `scenarios/`.
    #[must_use]
    pub fn root(mut self, root: impl Into<PathBuf>) -> ReplayModelBuilder {
        self.root = Some(root.into());
        self
    }

    /// Serves turns again and again, for load tests: those of a conversation that were all served begin with the first.
    #[must_use]
    pub fn repeat(mut self) -> ReplayModelBuilder {
        self.repeat = true;
        self
    }

    /// Starts the server on the current tokio runtime; it stops when the model is dropped.
    ///
    /// # Errors
    /// As [`ReplayModel::start`].
    pub async fn start(self) -> Result<ReplayModel> {
        let (replay, project) = self.opened()?;
        let replay = Arc::new(replay);
        let options = ServerOptions { callers: project.callers, ..ServerOptions::default() };
        let server = ModelServer::start(Mode::Replay(replay.clone()), options).await?;
        Ok(ReplayModel { replay, server, weight: project.drift })
    }

    /// The same without HTTP, for an agent in the process.
    ///
    /// # Errors
    /// As [`Replay::open`].
    pub fn replay(self) -> Result<Replay> {
        self.opened().map(|(replay, _)| replay)
    }

    fn opened(self) -> Result<(Replay, OpenProject)> {
        let project = OpenProject::of_fixture(&self.fixture, self.root.as_deref())?;
        let fixture = Arc::new(Fixture::read(&self.fixture, &project.rules)?);
        let name = self.fixture.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let replay = Replay::new(fixture, project.rules.clone(), Scope::new(&name));
        let replay = replay.with_delays(project.delays == Delays::Recorded).with_repeat(self.repeat);
        Ok((replay, project))
    }
}

impl ReplayModel {
    /// A model of a fixture file, to be started.
    #[must_use]
    pub fn of(fixture: impl Into<PathBuf>) -> ReplayModelBuilder {
        ReplayModelBuilder { fixture: fixture.into(), root: None, repeat: false }
    }

    /// Starts a server for a fixture file on the current tokio runtime; it stops when this is dropped.
    ///
    /// # Errors
    /// Where the fixture cannot be read (see [`Fixture::read`](crate::fixture::Fixture::read)), the `suite.toml` of its
    /// project is wrong, or no port is free.
    pub async fn start(fixture: impl AsRef<Path>) -> Result<ReplayModel> {
        ReplayModel::of(fixture.as_ref()).start().await
    }

    /// The base URLs for the providers' SDKs.
    #[must_use]
    pub fn urls(&self) -> Urls {
        self.server.urls()
    }

    /// The key that calls have to bring.
    #[must_use]
    pub fn key(&self) -> &str {
        self.server.key()
    }

    /// The misses of this model so far.
    #[must_use]
    pub fn misses(&self) -> Vec<Arc<Miss>> {
        self.replay.scope().misses()
    }

    /// The turns that no call asked for so far.
    #[must_use]
    pub fn unused(&self) -> Vec<usize> {
        self.replay.unused()
    }

    /// Fails the test if a call missed, or differed where the suite says `drift = { … = "fail" }`.
    ///
    /// # Panics
    /// With the explanation of each miss, and a line for each check that differs.
    pub fn verify(&self) {
        let mut wrong: Vec<String> = self.misses().iter().map(ToString::to_string).collect();
        let drift = self.server.drift();
        let failing = drift.iter().filter(|(_, drift)| self.weight.of(drift.check) == Level::Fail);
        wrong.extend(notes(Some(self.replay.fixture()), failing, &[]));
        let wrong: Vec<String> = wrong.iter().map(|text| shown(text)).collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

impl Replay {
    /// Replays a fixture file by the key rules of the project that it lies in, under the file's name. Another project is
    /// named by [`ReplayModel::of`] and [`ReplayModelBuilder::root`].
    ///
    /// # Errors
    /// As [`Fixture::read`](crate::fixture::Fixture::read), and where the `suite.toml` of its project is wrong.
    pub fn open(path: &Path) -> Result<Replay> {
        ReplayModel::of(path).replay()
    }
}
