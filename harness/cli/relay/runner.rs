//! The runner that records. It is another process, whose environment has no provider's key: the relay in this one has them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus};

use super::providers::{self, Upstreams};
use super::start::Running;
use crate::handover;
use retake::__private::project::OpenProject;
use retake::__private::report::terminal;
use retake::__private::run::{Action, Signals};
use retake_base::error::{Error, Result};
use retake_model::Relay;

/// Carries out an action that reaches providers.
/// Fails if an address of a provider is wrong, or the runner cannot be started.
pub(crate) fn act(root: PathBuf, action: Action) -> Result<ExitCode> {
    if Relay::from_env().is_some() {
        // This process is the runner of a project that has none of its own.
        return handover::suite(root, false).act(action);
    }
    let status = reaching_providers(&root, &action)?;
    if let (None, Action::Record(names, options)) = (status.code(), &action) {
        terminal::error(format!("the runner that recorded was ended: {status}"));
        let resumed = if options.all { "--all".to_owned() } else { names.join(" ") };
        terminal::note(format!("to continue from what was recorded:\n    retake record {resumed} --resume"));
    }
    Ok(handover::exit_code(status.code().unwrap_or(1)))
}

/// Hands an action over to the runner of a project, whose calls reach their providers through a relay in this process: the
/// project's own runner, or this command started again with the same arguments, which then finds the relay in its environment.
fn reaching_providers(root: &Path, action: &Action) -> Result<ExitStatus> {
    // What is wrong with the suite, the runner says.
    let declared = OpenProject::at(root).map_or_else(|_| BTreeSet::new(), |project| project.declared);
    let upstreams = Upstreams::from_env()?;
    upstreams.of_clients().into_iter().for_each(terminal::note);
    let relay = Running::start(upstreams, &declared, true)?;
    let mut command = if handover::has_runner(root) {
        handover::command(root, action)
    } else {
        let failed = |e: std::io::Error| Error::new(format!("failed to start this program again: {e}"));
        let mut again = Command::new(std::env::current_exe().map_err(failed)?);
        again.args(std::env::args_os().skip(1));
        again
    };
    for name in providers::variables() {
        command.env_remove(name);
    }
    command.envs(relay.relay.variables());
    let failed = |e: std::io::Error| Error::new(format!("failed to wait for the runner: {e}"));
    let runtime = retake_model::threads::runtime()?;
    // From here on a signal does not end this process before its runner, which is handed it. With Ctrl-C it gets it itself, too.
    let mut signals = runtime.block_on(async { Signals::listen() })?;
    let child = handover::spawned(&mut command)?;
    let id = child.id();
    let (done, ended) = tokio::sync::oneshot::channel();
    let wait = move |mut child: Child| drop(done.send(child.wait()));
    std::thread::Builder::new().name("runner".to_owned()).spawn(move || wait(child)).map_err(failed)?;
    runtime.block_on(async {
        let mut ended = std::pin::pin!(ended);
        loop {
            tokio::select! {
                status = &mut ended => return status.map_err(|_| failed(std::io::ErrorKind::Other.into()))?.map_err(failed),
                code = signals.wait() => if !relay.end_runner(code) { end(id) },
            }
        }
    })
}

/// Ends a runner that does not hear the relay yet: cargo may still be building it.
#[cfg(unix)]
fn end(id: u32) {
    let id = i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(id) = id {
        let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
    }
}

#[cfg(not(unix))]
fn end(_: u32) {}
