//! A system that all scenarios of a process share: one that Retake starts once, or one that somebody else started. It outlives each
//! of them, and so does its model server, whose address it was told only once. Each scenario lays its own fixture into that model
//! server. Which scenarios may use it at the same time is decided by their turns to run (`run::slots`).

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use super::command::{CommandSystem, start_with_needed, stop_all};
use super::egress::Egress;
use super::log::LogOf;
use super::ports::Lock;
use super::values::StageValues;
use retake_base::error::{Error, Result};
use retake_base::lock::Mutex;
use retake_core::json::Json;
use retake_core::key::Rules;
use retake_model::{CallerRules, Mode, ModelServer, Pacing, Replay, Scope, Seat, ServerOptions, threads};
use retake_scenario::SystemSpec;

/// The shared systems of this process, by name.
#[derive(Debug, Default)]
pub struct SharedSystems(Mutex<HashMap<String, SharedSlot>>);

/// A shared system. It is empty until the first scenario needs it.
type SharedSlot = Arc<Mutex<Option<Result<Arc<SharedSystem>>>>>;

impl SharedSystems {
    /// Runs `play` with a system. The first scenario starts it. A system that is `attached` is left when no scenario uses it, so
    /// that other processes can use it.
    /// Fails if the system could not be started, or if `play` fails.
    pub(super) fn play<T>(
        &self,
        name: &str,
        attached: bool,
        start: impl FnOnce() -> Result<SharedSystem>,
        play: impl FnOnce(Arc<SharedSystem>) -> Result<T>,
    ) -> Result<T> {
        let slot = {
            let mut slots = self.0.lock();
            slots.entry(name.to_owned()).or_default().clone()
        };
        let locked = || slot.lock();
        let shared = locked().get_or_insert_with(|| start().map(Arc::new)).clone();
        let played = shared.and_then(|shared| {
            let played = play(shared.clone());
            let mut slot = locked();
            // Scenarios that linger keep a system that was spoilt, while the next scenario starts another one.
            if shared.spoilt.load(Ordering::Relaxed)
                && slot.as_ref().is_some_and(|it| it.as_ref().is_ok_and(|it| Arc::ptr_eq(it, &shared)))
            {
                *slot = None;
            }
            drop(shared);
            played
        });
        let mut slot = locked();
        let unused = |system: &Result<Arc<SharedSystem>>| system.as_ref().map_or(true, |it| Arc::strong_count(it) == 1);
        if attached && slot.as_ref().is_some_and(unused) {
            *slot = None;
        }
        played
    }

    pub(super) fn end(&self) {
        self.0.lock().clear();
    }
}

/// What a shared system is started from.
#[derive(Clone, Debug)]
pub(super) struct SharedSpec {
    pub name: String,
    pub suite: BTreeMap<String, SystemSpec>,
    pub root: PathBuf,
    pub rules: Arc<Rules>,
    pub callers: CallerRules,
    pub secrets: Json,
    /// Watches what its programs try to reach.
    pub egress: Egress,
    /// The address and the key of the model server, if the system is already running.
    pub attached: Option<(SocketAddr, String)>,
}

/// A system and its model server, on a thread of their own.
#[derive(Debug)]
pub(super) struct SharedSystem {
    pub(super) model: Arc<ModelServer>,
    /// The systems that it needs, then the system itself.
    pub(super) systems: Arc<Vec<CommandSystem>>,
    pub(super) egress: Egress,
    rules: Arc<Rules>,
    spoilt: AtomicBool,
    /// Keeps other processes from an attached system.
    _alone: Option<Lock>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl SharedSystem {
    /// Starts the system. This blocks the thread until it is ready.
    /// Fails if it cannot be started.
    pub(super) fn start(spec: SharedSpec, alone: Option<Lock>) -> Result<SharedSystem> {
        let (rules, egress) = (spec.rules.clone(), spec.egress.clone());
        let (sender, started) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let name = format!("system {}", spec.name);
        let run = move || {
            threads::this_is_own();
            let ran = threads::runtime().and_then(|runtime| {
                runtime.block_on(async {
                    let (model, systems) = start(&spec).await?;
                    let _ = sender.send(Ok((model, systems.clone())));
                    let _ = stopped.await;
                    stop_all(&systems).await;
                    Ok(())
                })
            });
            ran.err().into_iter().for_each(|error| drop(sender.send(Err(error))));
        };
        let thread = std::thread::Builder::new().name(name).spawn(run);
        let thread = thread.map_err(|e| Error::new(format!("failed to start a thread for a shared system: {e}")))?;
        let (model, systems) = started.recv().map_err(|_| Error::new("the thread of a shared system ended"))??;
        let (spoilt, stop, thread) = (AtomicBool::new(false), Some(stop), Some(thread));
        Ok(SharedSystem { model, systems, egress, rules, spoilt, _alone: alone, stop, thread })
    }

    /// Lays a scenario's fixture into the model server.
    /// Fails if the system has ended since the last scenario.
    pub(super) fn lay_in(&self, mode: Mode, pacing: Pacing) -> Result<Seat> {
        if let Some(ended) = self.systems.iter().find_map(CommandSystem::ended) {
            let error = Error::new(format!("{ended}, before this scenario"));
            return Err(error.help("it is shared: see the scenario before this one"));
        }
        self.model.lay_in(mode, pacing);
        Ok(self.model.seat())
    }

    /// Lets a scenario linger, while the next one may begin.
    pub(super) fn linger(&self, seat: &Seat) {
        self.model.linger(seat, idle(&self.rules));
    }

    /// Takes the fixture out again. A call that comes after this belongs to no scenario, and is a miss. If the scenario
    /// `failed`, the system may still be working on it, and its calls could not be told from those of the next scenario; so the
    /// next one gets a new system.
    pub(super) fn take_out(&self, seat: &Seat, failed: bool) {
        self.model.leave(seat, idle(&self.rules));
        self.spoilt.fetch_or(failed, Ordering::Relaxed);
    }

    /// Returns the logs of the systems, for a failure to quote.
    pub(super) async fn evidence(&self) -> Vec<LogOf> {
        let mut evidence = Vec::with_capacity(self.systems.len());
        for system in self.systems.iter().rev() {
            evidence.push(system.evidence().await);
        }
        evidence
    }
}

impl Drop for SharedSystem {
    fn drop(&mut self) {
        drop(self.stop.take());
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

async fn start(spec: &SharedSpec) -> Result<(Arc<ModelServer>, Arc<Vec<CommandSystem>>)> {
    let (address, key) = spec.attached.clone().unzip();
    let options = ServerOptions { callers: spec.callers.clone(), address, key, ..ServerOptions::default() };
    let model = Arc::new(ModelServer::start(idle(&spec.rules), options).await?);
    if spec.attached.is_some() {
        return Ok((model, Arc::default()));
    }
    spec.egress.prepare().await;
    let values = StageValues::of_run(&spec.name, &spec.root, &model, spec.secrets.clone()).watched_by(&spec.egress);
    let systems = Arc::new(start_with_needed(&spec.name, &spec.suite, &spec.root, &values, None, |_| {}).await?);
    Ok((model, systems))
}

/// Returns the mode of the model server while no scenario runs: every call is a miss.
fn idle(rules: &Arc<Rules>) -> Mode {
    Mode::Replay(Arc::new(Replay::none(rules.clone(), Scope::new("(between scenarios)"))))
}
