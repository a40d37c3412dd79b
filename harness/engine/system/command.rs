//! A system that is a program in any language. It is started for a scenario and ended with it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::build::build;
use super::egress::Egress;
use super::folder::Folder;
use super::guardian::{Exit, Guarded, Order, Program};
use super::log::{Log, LogOf};
use super::ports::PortLease;
use super::values::StageValues;
use retake_base::error::{Error, Result};
use retake_base::lock::Mutex;
use retake_core::json::Json;
use retake_scenario::{CommandSpec, Context, Ready, SystemSpec, Template};

/// How long to wait for the end of a system that may be crashing: its connections close a moment before it ends.
const ENDING: Duration = Duration::from_millis(100);

/// What a system has before it is started: its port, and its folder.
#[derive(Debug)]
pub(super) struct Berth {
    pub name: String,
    pub port: PortLease,
    pub folder: Folder,
}

impl Berth {
    /// Fails if no port is free.
    async fn take(name: &str, spec: &CommandSpec) -> Result<Berth> {
        // If this process is killed from here on, its guardian removes the lock file of the port.
        super::folder::keep().await;
        let port = match spec.port {
            None => PortLease::take()?,
            Some(port) => {
                // This waits as long as another scenario uses the port.
                let leasing = tokio::task::spawn_blocking(move || PortLease::take_pinned(port));
                let leased = leasing.await.map_err(|_| Error::new("waiting for a port failed"))?;
                leased.map_err(|error: Error| error.while_doing(&format!("start system `{name}`")))?
            }
        };
        Ok(Berth { name: name.to_owned(), port, folder: Folder::new() })
    }
}

/// A running program that is a system.
#[derive(Debug)]
pub(super) struct CommandSystem {
    pub name: String,
    pub address: SocketAddr,
    pub folder: Folder,
    /// The program, and what it printed.
    life: Mutex<(Arc<Guarded>, Log)>,
    /// The guardian that keeps its folder, after its program was killed.
    keeper: Mutex<Option<Arc<Guarded>>>,
    again: Again,
    /// Released when the system is gone.
    _port: PortLease,
}

/// What is needed to start a program once more.
#[derive(Debug)]
struct Again {
    program: Program,
    ready: Ready,
    port: u16,
    egress: Egress,
}

impl Again {
    /// Starts the program, under a guardian that does what else the order says, and waits until it is ready. Returns its address with it.
    /// Fails with what it printed so far, if it was started at all.
    async fn start(
        &self,
        order: Order,
        deadline: Option<Instant>,
    ) -> Result<(Guarded, Log, SocketAddr), (Error, Option<Log>)> {
        let Again { program, ready, port, egress } = self;
        let log = Log::new(if let Ready::Line { regex, .. } = ready { Some(regex.clone()) } else { None });
        let order = Order { program: Some(program.clone()), ..order };
        let printed = log.clone();
        let output = move |bytes: &[u8]| printed.push(bytes);
        let guarded = order.start(Some(egress), output).await.map_err(|error| (error, None))?;
        match super::ready::ready(ready, *port, &guarded, &log, deadline).await {
            Ok(address) => Ok((guarded, log, address)),
            Err(error) => {
                guarded.end().await;
                Err((error, Some(log)))
            }
        }
    }
}

impl CommandSystem {
    /// Starts the program and waits until it is ready. The context has the values of the stage, except for `port` and
    /// `workdir`, which each system has for itself.
    /// Fails if it cannot be started, ends, or is not ready in time. The error quotes the end of its log.
    async fn start(
        Berth { name, port, folder }: Berth,
        spec: &CommandSpec,
        root: &Path,
        context: &Context,
        values: &StageValues,
        deadline: Option<Instant>,
    ) -> Result<CommandSystem> {
        let failed = |error: Error| error.while_doing(&format!("start system `{name}`"));
        let StageValues { today, egress, .. } = values;
        egress.own(port.port);
        let mut context = context.clone();
        context.insert("port", u64::from(port.port));
        context.insert("workdir", folder.work.display().to_string());
        let text = |template: &Template| template.render_text(&context);
        let command: Vec<String> = spec.command.iter().map(text).collect::<Result<_>>()?;
        let env = spec.env.iter().map(|(name, value)| Ok((name.clone(), text(value)?))).collect::<Result<Vec<_>>>()?;
        let files = spec.files.iter().map(|(file, value)| Ok((folder.work.join(file), text(value)?)));
        let files = files.collect::<Result<_>>()?;
        let cwd = spec.cwd.as_ref().map(text).transpose()?;
        let cwd = match cwd.as_deref().map(Path::new) {
            // The guardian creates this folder.
            Some(own) if folder.all().iter().any(|of_stage| of_stage == own) => own.to_owned(),
            _ => working_folder(root, cwd.as_deref())?,
        };
        let (name_of_program, beside) = (command.first().cloned().unwrap_or_default(), cwd.clone());
        let copied = spec.copied.then(|| (cwd.clone(), folder.work.clone()));
        let cwd = if spec.copied { folder.work.clone() } else { cwd };
        let order = Order { folders: folder.all(), copied, files, program: None };
        let program = Program { command, cwd, env: folder.environment(env, today), ..Program::default() };
        let again = Again { program, ready: spec.ready.clone(), port: port.port, egress: egress.clone() };
        match again.start(order, deadline).await {
            Ok((guarded, log, address)) => {
                log.write_to(&folder.root.join("system.log"));
                let life = Mutex::new((Arc::new(guarded), log));
                Ok(CommandSystem { name, address, folder, life, keeper: Mutex::default(), again, _port: port })
            }
            Err((error, None)) => Err(failed(error)),
            Err((error, Some(log))) => {
                let error =
                    error.of(&format!("system `{name}`")).because(Some(format!("system `{name}` does not start")));
                Err(not_started(error, &log, &name_of_program, &beside))
            }
        }
    }

    /// Kills the program with all that it started, and starts it again in the same folder, on the same port.
    /// Fails if it does not get ready again.
    pub(super) async fn restart(&self, deadline: Instant) -> Result<()> {
        let (before, _) = self.life.lock().clone();
        before.kill().await;
        self.keeper.lock().get_or_insert(before);
        let (guarded, log, _) = self.again.start(Order::default(), Some(deadline)).await.map_err(|(error, _)| error)?;
        log.write_to(&self.folder.root.join("system.log"));
        *self.life.lock() = (Arc::new(guarded), log);
        Ok(())
    }

    fn guarded(&self) -> Arc<Guarded> {
        self.life.lock().0.clone()
    }

    /// The process of its guardian.
    pub(super) fn guardian(&self) -> u32 {
        self.guarded().pid
    }

    /// Says how the system ended, if it did before it was stopped.
    pub(super) fn ended(&self) -> Option<String> {
        self.guarded().exit().map(|exit| format!("system `{}` {}", self.name, exit.said()))
    }

    /// Waits until no process of the system is left.
    pub(super) async fn none_left(&self) {
        self.guarded().none_left().await;
    }

    /// Returns the error of a system that exited before it was stopped, with another exit code than 0.
    pub(super) fn crashed(&self) -> Option<Error> {
        let exit = self.guarded().exit().filter(|exit| *exit != Exit::Code(0))?;
        let what = format!("crash: system `{}` {} during the scenario", self.name, exit.said());
        Some(Error::new(what).help("a service that exits early must exit with code 0"))
    }

    /// Ends the system and all processes that it started. Returns its log for a failure to quote.
    pub(super) async fn stop(&self) -> LogOf {
        self.guarded().end().await;
        let keeper = self.keeper.lock().take();
        if let Some(keeper) = keeper {
            keeper.end().await;
        }
        self.log()
    }

    fn log(&self) -> LogOf {
        let (name, log) = (self.name.clone(), self.life.lock().1.clone());
        let (tail, whole) = (log.tail(), log.whole());
        let log = if tail.is_empty() {
            format!("system `{name}` printed nothing")
        } else {
            format!("the last lines of system `{name}`'s log:\n{}", log_lines(&tail))
        };
        let quoted = self.ended().map_or_else(|| log.clone(), |ended| format!("{ended}\n{log}"));
        LogOf { system: name, quoted, whole }
    }

    /// Waits a moment for the end of a system whose scenario failed. The system may be crashing, which would explain the
    /// failure.
    pub(super) async fn may_be_ending(&self) {
        let _ = tokio::time::timeout(ENDING, self.guarded().exited()).await;
    }

    /// Returns the log of a system that goes on running, for a failure to quote.
    pub(super) async fn evidence(&self) -> LogOf {
        if self.guarded().exit().is_some() {
            // This also reads the rest of its output.
            self.guarded().end().await;
        }
        self.log()
    }
}

/// Starts a system after those that it needs. It is the last one of the returned list.
/// `told` gets the ports and folders that they will have. Fails if one of them cannot be started. Those before it are ended then.
pub(super) async fn start_with_needed(
    name: &str,
    suite: &BTreeMap<String, SystemSpec>,
    root: &Path,
    values: &StageValues,
    deadline: Option<Instant>,
    told: impl FnOnce(&[Berth]),
) -> Result<Vec<CommandSystem>> {
    let mut running: Vec<CommandSystem> = Vec::new();
    let spec_of = |name: &str| if let Some(SystemSpec::Command(spec)) = suite.get(name) { Some(spec) } else { None };
    let mut berths = Vec::new();
    for (name, spec) in in_order(name, suite).into_iter().filter_map(|name| Some((name, spec_of(name)?))) {
        berths.push(Berth::take(name, spec).await?);
    }
    told(&berths);
    for berth in berths {
        let Some(spec) = spec_of(&berth.name) else { continue };
        let mut context = values.context(None);
        let urls = running.iter().map(|of| (of.name.as_str(), Json::from(format!("http://{}", of.address))));
        context.insert("systems", Json::object(urls));
        match CommandSystem::start(berth, spec, root, &context, values, deadline).await {
            Ok(system) => running.push(system),
            Err(error) => {
                stop_all(&running).await;
                return Err(error);
            }
        }
    }
    Ok(running)
}

/// Builds a system and those that it needs, as far as they have a `build` command.
/// Fails if a build fails.
pub(super) async fn build_with_needed(name: &str, suite: &BTreeMap<String, SystemSpec>, root: &Path) -> Result<()> {
    for name in in_order(name, suite) {
        let Some(SystemSpec::Command(spec)) = suite.get(name) else { continue };
        build(name, spec, root).await?;
    }
    Ok(())
}

/// Ends systems, each before those that it needs. Returns their logs for a failure to quote.
pub(super) async fn stop_all(systems: &[CommandSystem]) -> Vec<LogOf> {
    let mut evidence = Vec::with_capacity(systems.len());
    for system in systems.iter().rev() {
        evidence.push(system.stop().await);
    }
    evidence
}

/// Lists a system after all those that it needs. Reading the suite has ruled out circles.
fn in_order<'a>(name: &'a str, suite: &'a BTreeMap<String, SystemSpec>) -> Vec<&'a str> {
    let mut order: Vec<&str> = Vec::new();
    if let Some(SystemSpec::Command(spec)) = suite.get(name) {
        for needed in spec.needs.iter().flat_map(|needed| in_order(needed, suite)) {
            if !order.contains(&needed) {
                order.push(needed);
            }
        }
    }
    order.push(name);
    order
}

/// Adds the end of the log to the error of a program that did not start, and what may be the reason.
pub(super) fn not_started(error: Error, log: &Log, program: &str, folder: &Path) -> Error {
    let tail = log.tail();
    let error = super::start_hints::hint(&tail, program, folder).into_iter().fold(error, Error::help);
    match &tail[..] {
        [] => error,
        tail => error.help(format!("the last lines of its log:\n{}", log_lines(tail))),
    }
}

/// Returns the folder in which a program runs.
/// Fails if it does not exist.
pub(crate) fn working_folder(root: &Path, cwd: Option<&str>) -> Result<PathBuf> {
    let folder = cwd.map_or_else(|| root.to_owned(), |cwd| root.join(cwd));
    if folder.is_dir() {
        return Ok(folder);
    }
    Err(Error::new(format!("there is no folder `{}`", cwd.unwrap_or_default())))
}

fn log_lines(lines: &[String]) -> String {
    lines.iter().map(|line| format!("  | {line}")).collect::<Vec<_>>().join("\n")
}
