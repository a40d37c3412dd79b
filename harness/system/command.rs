//! A system that is a program of any language: started for a scenario, and gone with it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

use super::build::build;
use super::folder::Folder;
use super::guardian::{Exit, Guard, Guarded};
use super::log::{Log, LogOf};
use super::ports::PortLease;
use crate::error::{Error, Result};
use crate::json::Json;
use crate::scenario::{CommandSpec, Context, Ready, SystemSpec, Template};

/// How long the connections of a system that crashed are gone before it is.
const ENDING: Duration = Duration::from_millis(100);

/// A running program that serves.
#[derive(Debug)]
pub(crate) struct CommandSystem {
    pub(crate) name: String,
    pub(crate) address: SocketAddr,
    pub(crate) folder: Folder,
    guarded: Guarded,
    log: Log,
    /// Given back when the system is gone.
    _port: PortLease,
}

impl CommandSystem {
    /// Starts the program and waits until it is ready. The context has the values of the stage, but for `port` and
    /// `workdir`, which are this system's own. `date` is the day that the system is to take for today.
    ///
    /// # Errors
    /// Where it cannot be started, or ends, or is not ready in time: with the tail of its log.
    pub(crate) async fn start(
        name: &str,
        spec: &CommandSpec,
        root: &Path,
        context: &Context,
        date: &str,
        deadline: Option<Instant>,
    ) -> Result<CommandSystem> {
        let failed = |error: Error| error.while_doing(&format!("start system `{name}`"));
        // Should this process be killed from here on, there is somebody to give the port back.
        super::folder::keep().await;
        let port = match spec.port {
            None => PortLease::take()?,
            Some(port) => {
                // It may take as long as another scenario plays on it.
                let leasing = tokio::task::spawn_blocking(move || PortLease::take_pinned(port));
                leasing.await.map_err(|_| Error::new("the wait for a port broke off"))?.map_err(failed)?
            }
        };
        let folder = Folder::new();
        let mut context = context.clone();
        context.insert("port", u64::from(port.port()));
        context.insert("workdir", folder.work.display().to_string());
        let text = |template: &Template| template.render_text(&context);
        let command: Vec<String> = spec.command.iter().map(text).collect::<Result<_>>()?;
        let env = spec.env.iter().map(|(name, value)| Ok((name.clone(), text(value)?))).collect::<Result<Vec<_>>>()?;
        let files = spec.files.iter().map(|(file, value)| Ok((folder.work.join(file), text(value)?)));
        let files = files.collect::<Result<_>>()?;
        let cwd = spec.cwd.as_ref().map(text).transpose()?;
        let cwd = match cwd.as_deref().map(Path::new) {
            // The guardian makes it.
            Some(own) if folder.all().iter().any(|of_stage| of_stage == own) => own.to_owned(),
            _ => working_folder(root, cwd.as_deref())?,
        };
        let awaited = if let Ready::Line { regex, .. } = &spec.ready { Some(regex.clone()) } else { None };
        let log = Log::new(awaited);
        let mut guard = Guard::default().folders(folder.all()).files(files);
        let mut runs_in = cwd;
        if spec.copied {
            guard = guard.copied(std::mem::replace(&mut runs_in, folder.work.clone()), folder.work.clone());
        }
        let guard = guard.program(command, runs_in, folder.environment(env, date), None);
        let printed = log.clone();
        let guarded = guard.start(move |bytes| printed.push(bytes)).await.map_err(failed)?;
        log.write_to(&folder.root.join("system.log"));
        match super::ready::ready(&spec.ready, port.port(), &guarded, &log, deadline).await {
            Ok(address) => Ok(CommandSystem { name: name.to_owned(), address, folder, guarded, log, _port: port }),
            Err(error) => {
                guarded.end().await;
                let error = error.of(&format!("system `{name}`"));
                let tail = log.tail();
                Err(match &tail[..] {
                    [] => error,
                    tail => error.help("the last lines of its log:").help(log_lines(tail).trim_start()),
                })
            }
        }
    }

    /// How it ended, where it did so by itself.
    pub(crate) fn ended(&self) -> Option<String> {
        self.guarded.exit().map(|exit| format!("system `{}` ended by itself: {exit}", self.name))
    }

    /// How it ended, where it did so by itself and not well.
    pub(crate) fn crashed(&self) -> Option<Error> {
        let exit = self.guarded.exit().filter(|exit| *exit != Exit::Code(0))?;
        let what = format!("crash: system `{}` ended by itself before its scenario was over: {exit}", self.name);
        Some(Error::new(what).help("a system that ends by itself has to end with exit code 0"))
    }

    /// Ends it with all that it started, and tells what a failure quotes of it.
    pub(crate) async fn stop(&self) -> LogOf {
        self.guarded.end().await;
        log_of(&self.name, self.ended(), &self.log)
    }

    /// Waits a moment for the end of a system whose scenario failed: that may be because it is just ending by itself.
    pub(crate) async fn may_be_ending(&self) {
        let _ = tokio::time::timeout(ENDING, self.guarded.exited()).await;
    }

    /// What a failure quotes of a system that goes on running.
    pub(crate) async fn evidence(&self) -> LogOf {
        if self.guarded.exit().is_some() {
            // What it printed last is then read.
            self.guarded.end().await;
        }
        log_of(&self.name, self.ended(), &self.log)
    }
}

/// Starts a system after those that it needs; it is the last one of the list.
///
/// # Errors
/// Where one of them cannot be started. Those before it are then gone.
pub(crate) async fn start_with_needed(
    name: &str,
    suite: &BTreeMap<String, SystemSpec>,
    root: &Path,
    context: &Context,
    date: &str,
    deadline: Option<Instant>,
) -> Result<Vec<CommandSystem>> {
    let mut running: Vec<CommandSystem> = Vec::new();
    for name in in_order(name, suite) {
        let Some(SystemSpec::Command(spec)) = suite.get(name) else { continue };
        let mut context = context.clone();
        let urls =
            running.iter().map(|system| (system.name.as_str(), Json::from(format!("http://{}", system.address))));
        context.insert("systems", Json::object(urls));
        match CommandSystem::start(name, spec, root, &context, date, deadline).await {
            Ok(system) => running.push(system),
            Err(error) => {
                stop_all(&running).await;
                return Err(error);
            }
        }
    }
    Ok(running)
}

/// Builds a system and those that it needs, as far as they are to be built.
///
/// # Errors
/// Where a build fails.
pub(super) async fn build_with_needed(name: &str, suite: &BTreeMap<String, SystemSpec>, root: &Path) -> Result<()> {
    for name in in_order(name, suite) {
        if let Some(SystemSpec::Command(spec)) = suite.get(name) {
            build(name, spec, root).await?;
        }
    }
    Ok(())
}

/// Ends systems, those that need others first. Gives what a failure quotes of each.
pub(crate) async fn stop_all(systems: &[CommandSystem]) -> Vec<LogOf> {
    let mut evidence = Vec::with_capacity(systems.len());
    for system in systems.iter().rev() {
        evidence.push(system.stop().await);
    }
    evidence
}

/// A system behind all that it needs. The suite has checked that there is no circle.
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

/// The folder in which a program runs.
///
/// # Errors
/// Where it is not there.
pub(crate) fn working_folder(root: &Path, cwd: Option<&str>) -> Result<PathBuf> {
    let folder = cwd.map_or_else(|| root.to_owned(), |cwd| root.join(cwd));
    if folder.is_dir() {
        return Ok(folder);
    }
    Err(Error::new(format!("there is no folder `{}`", cwd.unwrap_or_default())))
}

fn log_of(name: &str, ended: Option<String>, log: &Log) -> LogOf {
    let (tail, whole) = (log.tail(), log.whole());
    let log = if tail.is_empty() {
        format!("system `{name}` printed nothing")
    } else {
        format!("the last lines of system `{name}`'s log:\n{}", log_lines(&tail))
    };
    let quoted = ended.map_or_else(|| log.clone(), |ended| format!("{ended}\n{log}"));
    LogOf { system: name.to_owned(), quoted, whole }
}

fn log_lines(lines: &[String]) -> String {
    lines.iter().map(|line| format!("  | {line}")).collect::<Vec<_>>().join("\n")
}
