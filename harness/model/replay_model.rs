//! A replay model for plain tests: a fixture, a URL and a key.

use std::path::Path;
use std::sync::Arc;

use super::miss::Miss;
use super::replay::Replay;
use super::server::{ModelServer, ServerOptions, Urls};
use super::session::Mode;
use crate::error::Result;
use crate::secrets::shown;

/// A model server that replays one fixture, for tests that start their system themselves.
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
}

impl ReplayModel {
    /// Starts a server for a fixture file on the current tokio runtime; it stops when this is dropped.
    ///
    /// # Errors
    /// Where the fixture cannot be read (see [`Fixture::read`](crate::fixture::Fixture::read)) or no port is free.
    pub async fn start(fixture: impl AsRef<Path>) -> Result<ReplayModel> {
        let replay = Arc::new(Replay::open(fixture.as_ref())?);
        let server = ModelServer::start(Mode::Replay(replay.clone()), ServerOptions::default()).await?;
        Ok(ReplayModel { replay, server })
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

    /// Fails the test if a call missed.
    ///
    /// # Panics
    /// With the explanation of each miss.
    pub fn verify(&self) {
        let misses = self.misses();
        let misses: Vec<String> = misses.iter().map(|miss| shown(&miss.to_string())).collect();
        assert!(misses.is_empty(), "{}", misses.join("\n"));
    }
}
