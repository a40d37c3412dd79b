//! A running stage: how it is set up for each kind of system, and taken down.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::future::join_all;
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout_at};

use super::command::{Berth, CommandSystem, start_with_needed, stop_all};
use super::date::Today;
use super::egress::{Egress, EgressData};
use super::folder::Folder;
use super::guardian::works;
use super::launch::{Launch, PlayedOn};
use super::log::LogOf;
use super::router::{self, InProcess};
use super::shared::SharedSystem;
use super::stage::Stage;
use super::url;
use super::values::{Base, StageTools, StageValues};
use retake_base::error::{Error, Result};
use retake_model::{Activity, CallFlaw, DriftOf, Gate, Mode, ModelServer, Seat, ServerOptions, kept};

/// A stage with its model server and its system running.
#[derive(Debug)]
pub struct Running {
    /// What the system and the steps share.
    pub stage: Stage,
    /// The model server of the stage.
    pub model: Arc<ModelServer>,
    /// The scenario's place in the model server.
    seat: Seat,
    to_end: ToEnd,
}

/// What is known about a stage after its end.
#[derive(Debug, Default)]
pub struct Ended {
    /// What each program printed.
    pub logs: Vec<LogOf>,
    /// How the system ended, if it did so by itself.
    pub crash: Option<Error>,
    /// The messages of a router's panics, each with its place.
    pub panics: Vec<String>,
    /// Whether a router asked for the day, and was told another one.
    pub other_day: bool,
    /// The differences between calls and recorded calls of the same key, each with the number of the turn.
    pub drift: Vec<(usize, DriftOf)>,
    /// Flaws of single calls, such as a tool result without its call.
    pub flaws: Vec<CallFlaw>,
    /// What the programs tried to reach besides the stage's servers.
    pub egress: Option<EgressData>,
}

/// What the end of a stage has to end.
#[derive(Debug)]
enum ToEnd {
    /// No system.
    None,
    InProcess(InProcess),
    Commands(Vec<CommandSystem>),
    /// A shared or attached system, which goes on running.
    Shared(Arc<SharedSystem>),
}

impl ToEnd {
    /// The programs that were started for it.
    fn systems(&self) -> &[CommandSystem] {
        match self {
            ToEnd::Commands(systems) => systems,
            ToEnd::Shared(shared) => &shared.systems,
            ToEnd::None | ToEnd::InProcess(_) => &[],
        }
    }
}

impl Running {
    /// Sets up a stage on the current runtime: folder, model server and system. Its tools are already running. `egress` watches what
    /// its programs reach.
    /// Fails if one of the three cannot be set up.
    pub async fn start(
        deadline: Instant,
        launch: &Launch<'_>,
        mode: Mode,
        options: ServerOptions,
        tools: StageTools,
        egress: Egress,
    ) -> Result<Running> {
        egress.prepare().await;
        let Launch { root, secrets, on, keeps_clock, clock } = launch;
        let recorded = Today::recorded(*clock, on, &mode)?;
        let secrets = secrets.given_to(on, &mode).clone();
        let (pacing, told) = (options.pacing, mode.clone());
        let today = Today::of_run(pacing, *keeps_clock, recorded);
        let of_run = |name: &str, model: &ModelServer, egress: &Egress| {
            StageValues { tools, ..StageValues::of_run(name, root, model, secrets) }.watched_by(egress)
        };
        let (stage, model, seat, to_end) = match on {
            PlayedOn::Nothing => {
                let model = kept::start(mode, options).await?;
                let folder = Some(Folder::of_stage());
                let values = StageValues { folder, today, ..of_run("", &model, &egress) };
                told.on_stage(&values.places(&[]));
                (Stage::of(values), model.clone(), model.seat(), ToEnd::None)
            }
            PlayedOn::Router(name, factory) => {
                let model = kept::start(mode, options).await?;
                let folder = Folder::of_stage();
                let (listener, address) = router::listen()?;
                egress.own(address.port());
                egress.cannot_be_told("its system is a router in the test's own process");
                let values = StageValues { today, folder: Some(folder.clone()), ..of_run(name, &model, &egress) };
                let values = values.with_base(Base::of(address));
                told.on_stage(&values.places(&[]));
                let stage = Stage::of(values);
                let starting = InProcess::start(Arc::clone(factory), stage.clone(), listener);
                let starting = timeout_at(deadline, starting).await;
                let late = |_| Error::new(format!("system `{name}` was not ready when the scenario's time was up"));
                let system = starting.map_err(late)?.map_err(|error| folder.remove().unwrap_or(error))?;
                (stage, model.clone(), model.seat(), ToEnd::InProcess(system))
            }
            PlayedOn::Command { name, all, suite } => {
                let model = kept::start(mode, options).await?;
                let values = StageValues { today, ..of_run(name, &model, &egress) };
                let told = |berths: &[Berth]| told.on_stage(&values.places(berths));
                let systems = start_with_needed(all, suite, root, &values, Some(deadline), told).await?;
                let stage = Stage::of(values.with_systems(&systems));
                (stage, model.clone(), model.seat(), ToEnd::Commands(systems))
            }
            PlayedOn::Shared(name, shared) | PlayedOn::Url(name, _, shared) => {
                let values = if let PlayedOn::Url(_, spec, _) = on {
                    let base = url::attach(name, spec).await?;
                    egress.cannot_be_told("its system was started by somebody else");
                    let folder = Some(Folder::of_stage());
                    StageValues { folder, ..of_run(name, &shared.model, &egress) }.with_base(base)
                } else {
                    of_run(name, &shared.model, &shared.egress).with_systems(&shared.systems)
                };
                told.on_stage(&values.places(&[]));
                let seat = shared.lay_in(mode, pacing)?;
                (Stage::of(values), shared.model.clone(), seat, ToEnd::Shared(shared.clone()))
            }
        };
        Ok(Running { stage, model, seat, to_end })
    }

    /// The calls of this scenario.
    pub fn activity(&self) -> &Activity {
        self.seat.activity()
    }

    /// Kills the system, but not those that it needs, and starts it again in the same folder, on the same port.
    /// Fails if it is no program that was started for this stage, or does not get ready again.
    pub async fn restart(&self, deadline: Instant) -> Result<()> {
        match &self.to_end {
            ToEnd::Commands(systems) if !systems.is_empty() => systems[systems.len() - 1].restart(deadline).await,
            _ => Err(Error::new("only a system with a `command` can be killed and started again")),
        }
    }

    /// Lets a gate know when the system is silent, whose client is on this runtime.
    pub fn heard_by(&self, gate: &Gate) {
        let guardians = self.to_end.systems().iter().map(CommandSystem::guardian).collect();
        if let Ok(models) = kept::outliving() {
            gate.hears([Handle::current(), models.clone()], guardians, works);
        }
    }

    /// Waits until nothing is left that could still call the model, as far as that can be seen: no system, no process of one, or no
    /// task of one in this process.
    pub async fn nothing_left(&self) {
        match &self.to_end {
            ToEnd::None => {}
            ToEnd::Commands(systems) => drop(join_all(systems.iter().map(CommandSystem::none_left)).await),
            ToEnd::InProcess(system) => system.nothing_left().await,
            ToEnd::Shared(_) => std::future::pending().await,
        }
    }

    /// Lets other scenarios use a shared system from now on. Late calls of this scenario are still its own.
    pub fn linger(&self) {
        if let ToEnd::Shared(shared) = &self.to_end {
            shared.linger(&self.seat);
        }
    }

    /// Ends the system, then removes the folder. The model server stays, for calls that the system makes while it ends and for
    /// other late calls. If the scenario `failed`, this waits a moment first, because the system may be crashing.
    pub async fn end(self, failed: bool) -> Ended {
        let Running { stage, model, seat, to_end } = self;
        let mut ended = Ended::default();
        let systems = to_end.systems();
        if failed {
            join_all(systems.iter().map(CommandSystem::may_be_ending)).await;
        }
        ended.crash = systems.iter().find_map(CommandSystem::crashed);
        let shared = match to_end {
            ToEnd::None => None,
            ToEnd::InProcess(system) => {
                ended.panics = system.stop().await;
                ended.other_day = stage.today().moved && stage.today().asked.load(Ordering::Relaxed);
                None
            }
            ToEnd::Commands(systems) => {
                ended.logs = stop_all(&systems).await;
                None
            }
            ToEnd::Shared(shared) => Some(shared),
        };
        ended.take_note_of(&model, &seat).await;
        ended.egress = stage.egress().take();
        let Some(shared) = shared else {
            kept::keep(model);
            ended.crash = ended.crash.or_else(|| stage.folder()?.remove());
            return ended;
        };
        // One that somebody else started has no systems of its own.
        let is_own = !shared.systems.is_empty();
        shared.take_out(&seat, is_own && (failed || ended.crash.is_some()));
        if is_own {
            ended.logs = shared.evidence().await;
        } else {
            ended.crash = stage.folder().and_then(Folder::remove);
        }
        ended
    }
}

impl Ended {
    /// Collects drift and flaws from the model server, once it has answered all calls.
    async fn take_note_of(&mut self, model: &ModelServer, seat: &Seat) {
        model.caught_up(seat).await;
        (self.drift, self.flaws) = (seat.drift(), seat.flaws());
    }
}
