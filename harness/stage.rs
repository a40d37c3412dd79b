//! The stage: all that one running scenario owns, gone when it ends.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use tempfile::TempDir;
use tokio::runtime::{Builder, Handle};

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
    replays: bool,
    system: InProcess,
    workdir: TempDir,
}

/// The thread that serves the models of all stages. It outlives each of them: a call that comes after its scenario's
/// verdict must find a server to be a miss, where a refused connection would go unseen.
static MODELS: LazyLock<Result<Handle>> = LazyLock::new(|| {
    let start = || {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let serve = move || runtime.block_on(std::future::pending::<()>());
        std::thread::Builder::new().name("models".to_owned()).spawn(serve).map(|_| handle)
    };
    start().map_err(|e: std::io::Error| Error::new(format!("failed to start a thread for model servers: {e}")))
});

/// The model servers of stages that have ended, the last ones: each holds a port.
static ENDED: Mutex<VecDeque<ModelServer>> = Mutex::new(VecDeque::new());
const ENDED_KEPT: usize = 64;

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
        let replays = matches!(mode, Mode::Replay(_));
        let models = MODELS.as_ref().map_err(Clone::clone)?;
        let model = models.spawn(ModelServer::start(mode, options)).await;
        let model = model.map_err(|e| Error::new(format!("the model server did not start: {e}")))??;
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
        Ok(Running { stage, model, replays, system, workdir })
    }

    /// Ends the system, then removes the folder. A replaying model server stays for calls that come late; a recording
    /// one ends, since what comes late is in no fixture.
    pub(crate) async fn end(self) {
        self.system.stop().await;
        if self.replays {
            let mut ended = ENDED.lock().unwrap_or_else(PoisonError::into_inner);
            ended.push_back(self.model);
            if ended.len() > ENDED_KEPT {
                ended.pop_front();
            }
        }
        // A system that is still blocked may hold files; the folder is in the system's temporary folder anyway.
        drop(self.workdir);
    }
}
