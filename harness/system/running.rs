//! A stage that runs: how one is set up for each kind of system, and taken down.

use std::sync::Arc;

use tempfile::TempDir;
use tokio::time::{Instant, timeout_at};

use super::command::{CommandSystem, start_with_needed, stop_all};
use super::folder::Folder;
use super::launch::{Launch, PlayedOn};
use super::router::{self, InProcess};
use super::shared::SharedSystem;
use super::stage::Stage;
use super::url;
use super::values::{Base, StageTools, StageValues};
use crate::error::{Error, Result};
use crate::model::{Mode, ModelServer, ServerOptions, kept};

/// A stage with its model server and its system running.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) stage: Stage,
    pub(crate) model: Arc<ModelServer>,
    to_end: ToEnd,
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

    /// Ends the system, then removes the folder; the model server stays for calls that come late. Gives what a failure
    /// quotes of systems.
    pub(crate) async fn end(self, failed: bool) -> Vec<String> {
        match self.to_end {
            ToEnd::Attached(folder) => drop(folder),
            ToEnd::None(folder) => {
                kept::keep(self.model);
                drop(folder);
            }
            ToEnd::InProcess(system, folder) => {
                system.stop().await;
                kept::keep(self.model);
                // A system that is still blocked may hold files; the folder is in the temporary folder anyway.
                drop(folder);
            }
            ToEnd::Commands(systems) => {
                let evidence = stop_all(&systems, failed).await;
                kept::keep(self.model);
                return evidence;
            }
            ToEnd::Shared(shared) => {
                shared.take_out(failed);
                return shared.evidence(failed).await;
            }
        }
        Vec::new()
    }
}
