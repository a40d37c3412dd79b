//! Replays a fixture without the runner: over HTTP, as a model server with a URL and a key, or in the process.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::open_project::OpenProject;
use super::replay::Replay;
use crate::report::{note_lines, notes};
use retake_base::error::Result;
use retake_core::secrets::shown;
use retake_model::{Miss, Mode, ModelServer, Scope, ServerOptions, Urls, places_here};
use retake_scenario::{Delays, Drift, Level};
use retake_wire::fixture::Fixture;

/// A model server that replays one fixture, for tests that start their system themselves.
///
/// The rules for keys, callers and drift come from the `suite.toml` of the project that contains the fixture, which is the
/// nearest ancestor folder with `scenarios/` in it. [`ReplayModel::of`] and [`ReplayModelBuilder::root`] can name another
/// project.
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
    replay: Arc<retake_model::Replay>,
    server: ModelServer,
    weight: Drift,
}

/// Builds a [`ReplayModel`]; created by [`ReplayModel::of`].
#[derive(Clone, Debug)]
pub struct ReplayModelBuilder {
    fixture: PathBuf,
    root: Option<PathBuf>,
    repeat: bool,
}

impl ReplayModelBuilder {
    /// Sets the folder of the project, which is the one that contains `scenarios/`.
    pub fn root(self, root: impl Into<PathBuf>) -> ReplayModelBuilder {
        ReplayModelBuilder { root: Some(root.into()), ..self }
    }

    /// Serves turns repeatedly, for load tests: when all turns of a conversation were served, the first is served again.
    pub fn repeat(self) -> ReplayModelBuilder {
        ReplayModelBuilder { repeat: true, ..self }
    }

    /// Starts the server on the current tokio runtime. It stops when the [`ReplayModel`] is dropped.
    ///
    /// # Errors
    /// As [`ReplayModel::start`].
    pub async fn start(self) -> Result<ReplayModel> {
        let (replay, project) = self.opened()?;
        let replay = Arc::new(replay);
        let options = ServerOptions { callers: project.callers, ..ServerOptions::default() };
        let server = ModelServer::start(Mode::Replay(replay.clone()), options).await?;
        replay.on_stage(&places_here(Some(&server)));
        Ok(ReplayModel { replay, server, weight: project.drift })
    }

    /// Opens the fixture for replay without HTTP, to an agent in the same process.
    ///
    /// # Errors
    /// As [`Replay::open`].
    pub fn replay(self) -> Result<Replay> {
        let (replay, _) = self.opened()?;
        replay.on_stage(&places_here(None));
        Ok(Replay(replay))
    }

    fn opened(self) -> Result<(retake_model::Replay, OpenProject)> {
        let project = OpenProject::of_fixture(&self.fixture, self.root.as_deref())?;
        let fixture = Arc::new(Fixture::read(&self.fixture, &project.rules)?);
        let name = self.fixture.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let mut replay = retake_model::Replay::new(fixture, project.rules.clone(), Scope::new(&name));
        replay.delays = project.delays == Delays::Recorded;
        Ok((replay.with_repeat(self.repeat), project))
    }
}

impl ReplayModel {
    /// Returns a builder for the model of a fixture file.
    pub fn of(fixture: impl Into<PathBuf>) -> ReplayModelBuilder {
        ReplayModelBuilder { fixture: fixture.into(), root: None, repeat: false }
    }

    /// Starts a server for a fixture file on the current tokio runtime. It stops when the returned value is dropped.
    ///
    /// # Errors
    /// If the fixture cannot be read, the `suite.toml` of its project is
    /// wrong, or no port is free.
    pub async fn start(fixture: impl AsRef<Path>) -> Result<ReplayModel> {
        ReplayModel::of(fixture.as_ref()).start().await
    }

    /// Returns the base URLs for the providers' SDKs.
    pub fn urls(&self) -> Urls {
        self.server.urls()
    }

    /// Returns the API key that calls have to send.
    pub fn key(&self) -> &str {
        self.server.key()
    }

    /// Returns the misses of this model so far.
    pub fn misses(&self) -> Vec<Arc<Miss>> {
        self.replay.scope().misses()
    }

    /// Returns the indices of the turns that no call has asked for so far.
    pub fn unused(&self) -> Vec<usize> {
        self.replay.unused()
    }

    /// Fails the test if a call missed, or if a check differs for which the suite says `drift = { … = "fail" }`.
    ///
    /// # Panics
    /// If there is such a miss or difference. The message explains each miss, and has a line for each check that differs.
    pub fn verify(&self) {
        let mut wrong: Vec<String> = self.misses().iter().map(ToString::to_string).collect();
        let drift = self.server.seat().drift();
        let failing = drift.iter().filter(|(_, drift)| self.weight.of(drift.check) == Level::Fail);
        wrong.extend(note_lines(&notes(Some(self.replay.fixture()), failing, &[])));
        let wrong: Vec<String> = wrong.iter().map(|text| shown(text)).collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
