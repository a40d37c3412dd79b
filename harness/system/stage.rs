//! The stage: all that one running scenario owns, gone when it ends.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use tokio::time::{Instant, timeout_at};

use crate::error::{Error, Result};
use crate::fixture::Fixture;
use crate::json::Json;
use crate::model::{Mode, ModelServer, Pacing, ServerOptions, Urls, kept};
use crate::run::project::{Launch, Project};
use crate::run::proof;
use crate::scenario::{Context, UrlSpec};
use crate::system::{self, CommandSystem, Folder, InProcess, SharedSystem};

/// What a system is told of the stage that it is started on. Cloning it is cheap.
#[derive(Clone, Debug)]
pub struct Stage(Arc<Values>);

/// The values of one stage.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    run: String,
    system: String,
    /// The project's folder.
    root: PathBuf,
    folder: Option<Folder>,
    /// Where the system is reached, where there is one.
    base: Option<Base>,
    model: Urls,
    key: String,
    /// Other addresses and folders and what goldens call them.
    others: Vec<(String, String)>,
    /// What templates take as `{{ secret.NAME }}`.
    secrets: Json,
    date: String,
}

#[derive(Clone, Debug)]
struct Base {
    url: String,
    address: SocketAddr,
}

impl Base {
    fn of(address: SocketAddr) -> Base {
        Base { url: format!("http://{address}"), address }
    }
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

    /// The system's own folder, empty at first and gone at the end.
    #[must_use]
    pub fn workdir(&self) -> &Path {
        self.0.folder.as_ref().map_or(Path::new(""), |folder| &folder.work)
    }

    /// Where the system is reached.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.0.base.as_ref().map_or_else(|| (Ipv4Addr::LOCALHOST, 0).into(), |base| base.address)
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

    /// The value of an environment variable that the suite declares as a secret: the real one while recording, and what
    /// fixtures hold in its place, `<NAME>`, in replay. `None` where `secrets` of `suite.toml` does not list it.
    #[must_use]
    pub fn secret(&self, name: &str) -> Option<&str> {
        self.0.secrets.str_of(name)
    }

    /// The day that the system is to take for today, as `2027-12-26`: the day that it is, in UTC, but for the second run
    /// of a proof.
    ///
    /// That one has a day of its own, so that a date in a tool result is seen before it breaks a replay tomorrow. A system
    /// that is a command finds it in its environment, as `RETAKE_DATE`.
    #[must_use]
    pub fn date(&self) -> &str {
        &self.0.date
    }

    /// The system's base URL, without a slash at its end.
    pub(crate) fn url(&self) -> Option<&str> {
        self.0.base.as_ref().map(|base| base.url.as_str())
    }

    pub(crate) fn folder(&self) -> Option<&Folder> {
        self.0.folder.as_ref()
    }

    /// The values that templates may use, under their reserved names.
    pub(crate) fn context(&self, fixture: Option<&Fixture>) -> Context {
        self.0.context(fixture)
    }

    /// The stage's own values and what goldens call them, for what must not differ from run to run.
    pub(crate) fn names(&self) -> Vec<(String, String)> {
        let Values { run, root, folder, base, model, key, others, .. } = &*self.0;
        let model_address = model.url.trim_start_matches("http://").to_owned();
        let model_port = model_address.rsplit(':').next().unwrap_or_default();
        let mut names = others.clone();
        let mut name = |value: String, name: &str| names.push((value, name.to_owned()));
        name(format!("localhost:{model_port}"), "<model>");
        name(model_address, "<model>");
        name(key.clone(), "<key>");
        name(run.clone(), "<run>");
        if let Some(base) = base {
            name(base.address.to_string(), "<system>");
            name(format!("localhost:{}", base.address.port()), "<system>");
        }
        // A root of one name, `/app`, may be a part of other texts.
        if root.components().count() > 2 {
            name(root.display().to_string(), "<root>");
        }
        folder.iter().flat_map(folder_names).for_each(|(value, of)| name(value, of));
        names
    }
}

fn folder_names(folder: &Folder) -> [(String, &'static str); 4] {
    [(&folder.work, "<workdir>"), (&folder.home, "<home>"), (&folder.temp, "<tmp>"), (&folder.root, "<stage>")]
        .map(|(path, name)| (path.display().to_string(), name))
}

impl Values {
    /// The values of a new run, before it has a system.
    pub(crate) fn of_run(system: &str, root: &Path, model: &ModelServer, secrets: Json) -> Values {
        Values {
            run: uuid::Uuid::new_v4().simple().to_string()[..12].to_owned(),
            system: system.to_owned(),
            root: root.to_owned(),
            folder: None,
            base: None,
            model: model.urls(),
            key: model.key().to_owned(),
            others: Vec::new(),
            secrets,
            date: proof::today(),
        }
    }

    /// With the day that a run at such a pace takes place on.
    fn on_day_of(mut self, pacing: Pacing) -> Values {
        if matches!(pacing, Pacing::Shaken) {
            self.date = proof::other_day();
        }
        self
    }

    fn with_folder(mut self, folder: Folder) -> Values {
        self.folder = Some(folder);
        self
    }

    fn with_base(mut self, base: Base) -> Values {
        self.base = Some(base);
        self
    }

    /// The last of these systems is the one that is driven.
    fn with_systems(mut self, systems: &[CommandSystem]) -> Values {
        let Some((driven, needed)) = systems.split_last() else { return self };
        for system in needed {
            self.others.push((system.address.to_string(), format!("<{}>", system.name)));
            self.others.push((format!("localhost:{}", system.address.port()), format!("<{}>", system.name)));
            let folder = folder_names(&system.folder).into_iter();
            self.others.extend(folder.map(|(path, name)| (path, name.to_owned())));
        }
        self.with_folder(driven.folder.clone()).with_base(Base::of(driven.address))
    }

    pub(crate) fn context(&self, fixture: Option<&Fixture>) -> Context {
        let Values { run, root, folder, base, model, key, secrets, .. } = self;
        let mut context = Context::new();
        context.insert("run", run.as_str());
        context.insert("root", root.display().to_string());
        context.insert("secret", secrets.clone());
        if let Some(base) = base {
            context.insert("port", u64::from(base.address.port()));
        }
        if let Some(folder) = folder {
            context.insert("workdir", folder.work.display().to_string());
        }
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
}

/// A stage with its model server and its system running.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) stage: Stage,
    pub(crate) model: Arc<ModelServer>,
    system: System,
}

/// What a stage has to end.
#[derive(Debug)]
enum System {
    /// Nothing beside the folder.
    None(TempDir),
    /// Somebody else's.
    Attached(TempDir),
    InProcess(InProcess, TempDir),
    Commands(Vec<CommandSystem>),
    Shared(Arc<SharedSystem>),
}

impl Running {
    /// Sets up a stage on the current runtime: folder, model server, system.
    ///
    /// # Errors
    /// Where one of the three cannot be had.
    pub(crate) async fn start(
        deadline: Instant,
        launch: &Launch,
        project: &Project,
        mode: Mode,
        options: ServerOptions,
    ) -> Result<Running> {
        // A system that scenarios share was given what the process that started it needs.
        let real = !matches!(mode, Mode::Replay(_)) || (project.records && matches!(launch, Launch::Shared(..)));
        let secrets = project.secret_values(real);
        let pacing = options.pacing;
        match launch {
            Launch::Nothing => {
                let model = kept::start(mode, options).await?;
                let (folder, handle) = Folder::make().await?;
                let values = Values::of_run("", &project.root, &model, secrets).on_day_of(pacing).with_folder(folder);
                Ok(Running::on(values, model, System::None(handle)))
            }
            Launch::Router(name, factory) => {
                let model = kept::start(mode, options).await?;
                let (folder, handle) = Folder::make().await?;
                let (listener, address) = system::listen()?;
                let values = Values::of_run(name, &project.root, &model, secrets)
                    .on_day_of(pacing)
                    .with_folder(folder)
                    .with_base(Base::of(address));
                let stage = Stage(Arc::new(values));
                let starting = timeout_at(deadline, InProcess::start(factory.clone(), stage.clone(), listener)).await;
                let late = |_| Error::new(format!("system `{name}` was not ready when the scenario's time was up"));
                let system = starting.map_err(late)??;
                Ok(Running { stage, model, system: System::InProcess(system, handle) })
            }
            Launch::Command(name) => {
                let model = kept::start(mode, options).await?;
                let values = Values::of_run(name, &project.root, &model, secrets).on_day_of(pacing);
                let suite = &project.discovered.suite.systems;
                let (context, date) = (values.context(None), values.date.clone());
                let starting = system::start_with_needed(name, suite, &project.root, &context, &date, Some(deadline));
                let systems = starting.await?;
                Ok(Running::on(values.with_systems(&systems), model, System::Commands(systems)))
            }
            Launch::Shared(name, shared) => {
                shared.lay_in(mode, options.pacing)?;
                let model = shared.model();
                let values = Values::of_run(name, &project.root, &model, secrets).with_systems(shared.systems());
                Ok(Running::on(values, model, System::Shared(shared.clone())))
            }
            Launch::Url(name, spec) => {
                let (base, key) = attach(name, spec).await?;
                // Its address is needed again by the next scenario, so it ends with this one's runtime.
                let options = ServerOptions { address: Some(spec.model.addr), key: Some(key), ..options };
                let model = Arc::new(ModelServer::start(mode, options).await?);
                let (folder, handle) = Folder::make().await?;
                let values = Values::of_run(name, &project.root, &model, secrets).with_folder(folder).with_base(base);
                Ok(Running::on(values, model, System::Attached(handle)))
            }
        }
    }

    fn on(values: Values, model: Arc<ModelServer>, system: System) -> Running {
        Running { stage: Stage(Arc::new(values)), model, system }
    }

    /// Ends the system, then removes the folder; the model server stays for calls that come late. Gives what a failure
    /// quotes of systems.
    pub(crate) async fn end(self, failed: bool) -> Vec<String> {
        match self.system {
            System::Attached(folder) => drop(folder),
            System::None(folder) => {
                kept::keep(self.model);
                drop(folder);
            }
            System::InProcess(system, folder) => {
                system.stop().await;
                kept::keep(self.model);
                // A system that is still blocked may hold files; the folder is in the temporary folder anyway.
                drop(folder);
            }
            System::Commands(systems) => {
                let evidence = system::stop_all(&systems, failed).await;
                kept::keep(self.model);
                return evidence;
            }
            System::Shared(shared) => {
                shared.take_out(failed);
                return shared.evidence(failed).await;
            }
        }
        Vec::new()
    }
}

/// Looks whether an attached system is there, and how it calls the model.
async fn attach(name: &str, spec: &UrlSpec) -> Result<(Base, String)> {
    let UrlSpec { url, model } = spec;
    let key = std::env::var(&model.key_env).ok().filter(|key| !key.is_empty()).ok_or_else(|| {
        Error::new(format!(
            "{} is not set: it holds the key that system `{name}` sends with its model calls",
            model.key_env
        ))
        .help("set it to the value that the system was started with")
    })?;
    let addresses = url.socket_addrs(|| None).unwrap_or_default();
    let mut refused = "no loopback address belongs to it".to_owned();
    for address in addresses.into_iter().filter(|address| address.ip().is_loopback()) {
        match tokio::net::TcpStream::connect(address).await {
            Ok(_) => return Ok((Base { url: url.as_str().trim_end_matches('/').to_owned(), address }, key)),
            Err(e) => refused = e.to_string(),
        }
    }
    let error = Error::new(format!("system `{name}` cannot be reached at {url}: {refused}"));
    Err(error.help("it is attached, not started: start it first"))
}
