//! The stage: all that one running scenario owns, gone when it ends.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use crate::error::{Error, Result};
use crate::fixture::Fixture;
use crate::json::Json;
use crate::model::{Mode, ModelServer, ServerOptions, Urls};
use crate::scenario::Context;
use crate::system::{InProcess, RouterFactory};

/// What a system is told of the stage that it is started on. Cloning it is cheap.
#[derive(Clone, Debug)]
pub struct Stage(Arc<Values>);

#[derive(Debug)]
struct Values {
    run: String,
    system: String,
    workdir: PathBuf,
    address: SocketAddr,
    model: Urls,
    key: String,
}

impl Stage {
    /// An id that no other run has: for accounts and the like, where a system keeps what it was told.
    #[must_use]
    pub fn run(&self) -> &str {
        &self.0.run
    }

    /// The name of the system in the suite.
    #[must_use]
    pub fn system(&self) -> &str {
        &self.0.system
    }

    /// The stage's own folder, empty at first and gone at the end.
    #[must_use]
    pub fn workdir(&self) -> &Path {
        &self.0.workdir
    }

    /// Where the system is reached.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.0.address
    }

    /// The model's base URLs, each in the form that the provider's official SDK expects.
    #[must_use]
    pub fn model(&self) -> &Urls {
        &self.0.model
    }

    /// The key that model calls have to bring.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.0.key
    }

    /// The values that templates may use, under their reserved names.
    pub(crate) fn context(&self, fixture: Option<&Fixture>) -> Context {
        let Values { run, workdir, address, model, key, .. } = &*self.0;
        let mut context = Context::new();
        context.insert("run", run.as_str());
        context.insert("port", Json::Int(i64::from(address.port())));
        context.insert("workdir", workdir.display().to_string());
        let urls = [
            ("url", &model.url),
            ("openai", &model.openai),
            ("anthropic", &model.anthropic),
            ("gemini", &model.gemini),
            ("ollama", &model.ollama),
            ("key", key),
        ];
        context.insert("model", Json::object(urls.map(|(name, url)| (name, Json::from(url.as_str())))));
        let note = |name: &str| fixture.and_then(|f| f.notes.get(name)).cloned().unwrap_or(Json::Null);
        context.insert("fixture", Json::object([("prompt", note("prompt")), ("context", note("context"))]));
        context
    }

    /// The stage's own values and what goldens call them, for what must not differ from run to run.
    pub(crate) fn names(&self) -> Vec<(String, String)> {
        let Values { run, workdir, address, model, key, .. } = &*self.0;
        let model_address = model.url.trim_start_matches("http://").to_owned();
        let model_port = model_address.rsplit(':').next().unwrap_or_default();
        [
            (workdir.display().to_string(), "<workdir>"),
            (address.to_string(), "<system>"),
            (format!("localhost:{}", address.port()), "<system>"),
            (format!("localhost:{model_port}"), "<model>"),
            (model_address, "<model>"),
            (key.clone(), "<key>"),
            (run.clone(), "<run>"),
        ]
        .map(|(value, name)| (value, name.to_owned()))
        .into()
    }
}

/// A stage with its model server and its system running.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) stage: Stage,
    pub(crate) model: ModelServer,
    system: InProcess,
    workdir: TempDir,
}

impl Running {
    /// Sets up a stage on the current runtime: folder, model server, system.
    ///
    /// # Errors
    /// Where one of the three cannot be had.
    pub(crate) async fn start(
        system: &str,
        factory: RouterFactory,
        mode: Mode,
        options: ServerOptions,
    ) -> Result<Running> {
        let workdir = tempfile::Builder::new().prefix("retake-").tempdir();
        let workdir = workdir.map_err(|e| Error::new(format!("failed to make a work folder: {e}")))?;
        // macOS's temporary folder is a link, and systems tell its target.
        let real = workdir.path().canonicalize().unwrap_or_else(|_| workdir.path().to_owned());
        let model = ModelServer::start(mode, options).await?;
        let (listener, address) = crate::system::listen()?;
        let stage = Stage(Arc::new(Values {
            run: uuid::Uuid::new_v4().simple().to_string()[..12].to_owned(),
            system: system.to_owned(),
            workdir: real,
            address,
            model: model.urls(),
            key: model.key().to_owned(),
        }));
        let system = InProcess::start(factory, stage.clone(), listener).await?;
        Ok(Running { stage, model, system, workdir })
    }

    /// Ends the system, then the model server, then removes the folder.
    pub(crate) async fn end(self) {
        self.system.stop().await;
        drop(self.model);
        // A system that is still blocked may hold files; the folder is in the system's temporary folder anyway.
        drop(self.workdir);
    }
}
