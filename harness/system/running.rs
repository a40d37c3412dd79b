//! A stage that runs: how one is set up for each kind of system, and taken down.

use std::sync::Arc;

use futures_util::future::join_all;
use tempfile::TempDir;
use tokio::time::{Instant, timeout_at};

use super::command::{CommandSystem, start_with_needed, stop_all};
use super::folder::Folder;
use super::launch::{Launch, PlayedOn};
use super::log::LogOf;
use super::router::{self, InProcess};
use super::shared::SharedSystem;
use super::stage::Stage;
use super::url;
use super::values::{Base, StageTools, StageValues};
use crate::error::{Error, Result};
use crate::model::{CallFlaw, DriftOf, Mode, ModelServer, ServerOptions, kept};

/// A stage with its model server and its system running.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) stage: Stage,
    pub(crate) model: Arc<ModelServer>,
    to_end: ToEnd,
}

/// What is known of a stage when it has ended.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    /// What systems printed.
    pub(crate) logs: Vec<LogOf>,
    /// Which system ended by itself, and not well.
    pub(crate) crash: Option<Error>,
    /// What a router panicked by, each with its place.
    pub(crate) panics: Vec<String>,
    /// What differs between the calls and the recorded ones beside their keys, with the turn.
    pub(crate) drift: Vec<(usize, DriftOf)>,
    /// What was wrong with the calls by themselves.
    pub(crate) flaws: Vec<CallFlaw>,
}

/// What a stage has to end.
#[derive(Debug)]
enum ToEnd {
    /// Nothing beside the folder.
    None(TempDir),
    /// Somebody else's.
    Attached(TempDir),
    InProcess(InProcess, TempDir),
    Commands(Vec<CommandSystem>),
    Shared(Arc<SharedSystem>),
}

impl Running {
    /// Sets up a stage on the current runtime: folder, model server, system. Its tools run already.
    ///
    /// # Errors
    /// Where one of the three cannot be had.
    pub(crate) async fn start(
        deadline: Instant,
        launch: &Launch<'_>,
        mode: Mode,
        options: ServerOptions,
        tools: StageTools,
    ) -> Result<Running> {
        let Launch { root, secrets, on } = launch;
        let secrets = secrets.given_to(on, &mode).clone();
        let pacing = options.pacing;
        match on {
            PlayedOn::Nothing => {
                let model = kept::start(mode, options).await?;
                let (folder, handle) = Folder::make().await?;
                let values = StageValues::of_run("", root, &model, secrets)
                    .with_tools(tools)
                    .on_day_of(pacing)
                    .with_folder(folder);
                Ok(Running::on(values, model, ToEnd::None(handle)))
            }
            PlayedOn::Router(name, factory) => {
                let model = kept::start(mode, options).await?;
                let (folder, handle) = Folder::make().await?;
                let (listener, address) = router::listen()?;
                let values = StageValues::of_run(name, root, &model, secrets)
                    .with_tools(tools)
                    .on_day_of(pacing)
                    .with_folder(folder)
                    .with_base(Base::of(address));
                let stage = Stage::of(values);
                let starting =
                    timeout_at(deadline, InProcess::start(Arc::clone(factory), stage.clone(), listener)).await;
                let late = |_| Error::new(format!("system `{name}` was not ready when the scenario's time was up"));
                let system = starting.map_err(late)??;
                Ok(Running { stage, model, to_end: ToEnd::InProcess(system, handle) })
            }
            PlayedOn::Command { name, all, suite } => {
                let model = kept::start(mode, options).await?;
                let values = StageValues::of_run(name, root, &model, secrets).with_tools(tools).on_day_of(pacing);
                let (context, date) = (values.context(None), values.date.clone());
                let starting = start_with_needed(all, suite, root, &context, &date, Some(deadline));
                let systems = starting.await?;
                Ok(Running::on(values.with_systems(&systems), model, ToEnd::Commands(systems)))
            }
            PlayedOn::Shared(name, shared) => {
                shared.lay_in(mode, options.pacing)?;
                let model = shared.model();
                let values =
                    StageValues::of_run(name, root, &model, secrets).with_tools(tools).with_systems(shared.systems());
                Ok(Running::on(values, model, ToEnd::Shared(shared.clone())))
            }
            PlayedOn::Url(name, spec) => {
                let (base, key) = url::attach(name, spec).await?;
                // Its address is needed again by the next scenario, so it ends with this one's runtime.
                let options = ServerOptions { address: Some(spec.model.addr), key: Some(key), ..options };
                let model = Arc::new(ModelServer::start(mode, options).await?);
                let (folder, handle) = Folder::make().await?;
                let values = StageValues::of_run(name, root, &model, secrets)
                    .with_tools(tools)
                    .with_folder(folder)
                    .with_base(base);
                Ok(Running::on(values, model, ToEnd::Attached(handle)))
            }
        }
    }

    fn on(values: StageValues, model: Arc<ModelServer>, to_end: ToEnd) -> Running {
        Running { stage: Stage::of(values), model, to_end }
    }

    /// Ends the system, then removes the folder; the model server stays for what the system asks while it ends, and for
    /// calls that come late. Where the scenario `failed`, that may be because the system is just ending by itself.
    pub(crate) async fn end(self, failed: bool) -> Ended {
        let Running { model, to_end, .. } = self;
        let mut ended = Ended::default();
        let systems = match &to_end {
            ToEnd::Commands(systems) => &systems[..],
            ToEnd::Shared(shared) => shared.systems(),
            ToEnd::None(_) | ToEnd::Attached(_) | ToEnd::InProcess(..) => &[],
        };
        if failed {
            join_all(systems.iter().map(CommandSystem::may_be_ending)).await;
        }
        ended.crash = systems.iter().find_map(CommandSystem::crashed);
        // Its address is needed again.
        let attached = matches!(to_end, ToEnd::Attached(_));
        let folder = match to_end {
            ToEnd::None(folder) | ToEnd::Attached(folder) => Some(folder),
            ToEnd::InProcess(system, folder) => {
                ended.panics = system.stop().await;
                Some(folder)
            }
            ToEnd::Commands(systems) => {
                ended.logs = stop_all(&systems).await;
                None
            }
            ToEnd::Shared(shared) => {
                ended.take_note_of(&model).await;
                let failed = failed || ended.crash.is_some();
                shared.take_out(failed);
                ended.logs = shared.evidence().await;
                return ended;
            }
        };
        ended.take_note_of(&model).await;
        if !attached {
            kept::keep(model);
        }
        // A system that is still blocked may hold files; the folder is in the temporary folder anyway.
        drop(folder);
        ended
    }
}

impl Ended {
    /// Takes note of the calls that the model server got, once it has answered them all.
    async fn take_note_of(&mut self, model: &ModelServer) {
        model.caught_up().await;
        (self.drift, self.flaws) = (model.drift(), model.flaws());
    }
}
