//! Starts a program once, before there is a suite, to see on which port it listens.

use std::net::SocketAddr;
use std::path::Path;

use super::command::not_started;
use super::date::Today;
use super::egress::{Egress, allowing};
use super::folder::Folder;
use super::guardian::{Guarded, Order, Program};
#[cfg(target_os = "linux")]
use super::guardian::{below, listeners, sockets_of};
use super::log::Log;
use super::ports::PortLease;
use super::ready::addresses;
use retake_base::error::{Error, Result};
use retake_scenario::Egress as Level;

/// What stands for the port in commands and variables.
const PORT: &str = "{{ port }}";

/// A program that was started to see what it does. Dropping it ends the program and everything that it started; [`Probe::end`]
/// also waits for that.
#[derive(Debug)]
pub struct Probe {
    program: String,
    folder: std::path::PathBuf,
    guarded: Guarded,
    log: Log,
    port: PortLease,
    egress: Egress,
}

impl Probe {
    /// Starts a program as a system is started: with these variables, `PATH`, and folders of its own as home and for temporary files.
    /// `{{ port }}` is a port that is free. What it tries to reach besides its `model` is told at its [end](Probe::end).
    ///
    /// # Errors
    /// If it cannot be started.
    pub async fn start(
        command: &[String],
        env: &[(String, String)],
        folder: &Path,
        model: SocketAddr,
    ) -> Result<Probe> {
        super::folder::keep().await;
        let (port, own, log) = (PortLease::take()?, Folder::new(), Log::new(None));
        let filled = |text: &str| text.replace(PORT, &port.port.to_string());
        let command: Vec<String> = command.iter().map(|word| filled(word)).collect();
        let env = env.iter().map(|(name, value)| (name.clone(), filled(value))).collect();
        let program = command.first().cloned().unwrap_or_default();
        let egress = Egress::of_level(Level::Note, &[], false);
        egress.own(port.port);
        egress.own(model.port());
        let env = own.environment(env, &Today::real());
        let started = Program { command, cwd: folder.to_owned(), env, ..Program::default() };
        let printed = log.clone();
        let order = Order { folders: own.all(), program: Some(started), ..Order::default() };
        let guarded = order.start(Some(&egress), move |bytes| printed.push(bytes)).await?;
        Ok(Probe { program, folder: folder.to_owned(), guarded, log, port, egress })
    }

    /// The port that the program was told to listen on.
    pub fn given(&self) -> u16 {
        self.port.port
    }

    /// The addresses on which the program and those that it started listen, the given port first. Where a machine does not list
    /// the sockets of its processes, only the given port is tried.
    pub fn listening(&self) -> Vec<SocketAddr> {
        let mut ports = listened();
        ports.retain(|port| *port != self.given());
        ports.insert(0, self.given());
        let reached = |address: &SocketAddr| std::net::TcpStream::connect(address).is_ok();
        ports.into_iter().filter_map(|port| addresses(port).into_iter().find(reached)).collect()
    }

    /// Says why the program is no service, if it has ended.
    pub fn ended(&self) -> Option<Error> {
        let exit = self.guarded.exit()?;
        Some(self.explained(Error::new(format!("it ended before it listened on a port: {exit}"))))
    }

    /// Adds what the program printed to an error, and what may help.
    pub fn explained(&self, error: Error) -> Error {
        not_started(error, &self.log, &self.program, &self.folder)
    }

    /// Ends the program, and waits until no process of it is left. Returns the addresses besides its model that it tried to reach.
    pub async fn end(self) -> Vec<String> {
        self.guarded.end().await;
        let told = self.egress.take();
        told.iter().flat_map(|told| allowing(&told.attempts)).map(str::to_owned).collect()
    }
}

/// The ports on which processes below this one listen, in order.
#[cfg(target_os = "linux")]
fn listened() -> Vec<u16> {
    let mut ports = Vec::new();
    for process in below("self").into_iter().map(rustix::process::Pid::as_raw_nonzero) {
        let sockets = sockets_of(process);
        for kind in ["tcp", "tcp6"] {
            let own = listeners(process, kind).into_iter().filter(|(_, socket)| sockets.contains(socket));
            ports.extend(own.map(|(port, _)| port));
        }
    }
    ports.sort_unstable();
    ports.dedup();
    ports
}

#[cfg(not(target_os = "linux"))]
fn listened() -> Vec<u16> {
    Vec::new()
}

/// Removes what the probes of this process shared, and waits until it is gone.
pub fn end_probes() {
    super::folder::remove_kept();
}
