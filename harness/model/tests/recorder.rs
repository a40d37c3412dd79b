//! A recorder for tests, and fake providers for it.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use tempfile::TempDir;

use crate::*;
use retake_core::key::Rules;
use retake_core::secrets::{Secrets, Suspects};
use retake_wire::fixture::call_log::{self, CallLog, FixtureOfLog};

/// A recorder, and the journal that it writes.
pub(super) struct Recording {
    pub(super) server: ModelServer,
    pub(super) recorder: Arc<Recorder>,
    pub(super) journal: PathBuf,
    _folder: TempDir,
}

impl Recording {
    pub(super) async fn of(relay: Relay, errors: bool, environment: &[(&str, &str)]) -> Recording {
        Recording::with(relay, errors, environment, ServerOptions::default()).await
    }

    pub(super) async fn with(
        relay: Relay,
        errors: bool,
        environment: &[(&str, &str)],
        server: ServerOptions,
    ) -> Recording {
        // Delays are left out, because they differ in every recording.
        Recording::started(relay, errors, environment, server, false).await
    }

    /// Starts a recording that keeps the delays of frames.
    pub(super) async fn keeping_delays(relay: Relay) -> Recording {
        Recording::started(relay, false, &[], ServerOptions::default(), true).await
    }

    async fn started(
        relay: Relay,
        errors: bool,
        environment: &[(&str, &str)],
        server: ServerOptions,
        delays: bool,
    ) -> Recording {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("j.jsonl");
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let secrets = Secrets::new(["STRIPE"], environment, Suspects::default()).unwrap();
        let options = RecorderOptions { secrets, errors, delays, watch: Arc::new(|_| ()), resume: None };
        let recorder = Recorder::new(relay, CallLog::create(&journal).unwrap(), options);
        let recorder = Arc::new(recorder);
        let server = ModelServer::start(Mode::Record(recorder.clone()), server).await.unwrap();
        Recording { server, recorder, journal, _folder: folder }
    }

    pub(super) fn made(&self) -> FixtureOfLog {
        call_log::to_fixture(
            None,
            &self.journal,
            "f.json".as_ref(),
            std::collections::BTreeMap::new(),
            &Rules::default(),
            &retake_core::secrets::Scrub::known(),
        )
        .unwrap()
    }

    pub(super) fn journal(&self) -> String {
        std::fs::read_to_string(&self.journal).unwrap()
    }

    /// Waits until no call is under way.
    pub(super) async fn settled(&self) {
        self.server.activity().settled(std::time::Duration::ZERO, || true).await;
    }
}

/// Starts a fake provider behind a fake relay, which has one path for each provider.
pub(super) async fn provider(router: Router) -> Relay {
    let providers = ["openai", "anthropic", "gemini", "ollama", "bedrock"];
    let nested = |all: Router, name: &str| all.nest(&format!("/{name}"), router.clone());
    let router = providers.into_iter().fold(Router::new(), nested);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    Relay::new(address, "of-the-relay".to_owned(), providers.map(str::to_owned).into(), Vec::new()).unwrap()
}

pub(super) fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}
