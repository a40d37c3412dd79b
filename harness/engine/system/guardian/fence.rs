//! Decides what a program and all that it starts may reach, and tells what they try. On Linux a filter of system calls asks; elsewhere
//! nothing does.

use std::io;
use std::process::{Child, Command};

#[cfg(target_os = "linux")]
use super::filter::filter;
use super::order::{Fence, Message};
use super::process::tell;

/// Starts a program behind its fence, if that is possible here, and tells whether it is.
/// Fails if the program cannot be started.
#[cfg(target_os = "linux")]
pub(super) fn spawn(command: Command, fence: &Fence) -> io::Result<Child> {
    let (child, listener) = retake_egress::spawn(command, &|from| filter(fence.refuses, from))?;
    let unproven = match listener {
        Ok(listener) => {
            let mut gate = linux::Gate::new(fence);
            std::thread::spawn(move || listener.attend(|attempt| gate.judge(attempt)));
            None
        }
        Err(reason) => Some(reason.to_string()),
    };
    tell(&Message::Fenced(unproven));
    Ok(child)
}

/// Whether a program can be started behind a fence.
/// Fails with the reason if not.
#[cfg(target_os = "linux")]
pub(in crate::system) fn is_possible() -> io::Result<()> {
    retake_egress::is_possible(&|from| filter(false, from))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn spawn(mut command: Command, _: &Fence) -> io::Result<Child> {
    tell(&Message::Fenced(Some("only Linux can tell".to_owned())));
    command.spawn()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;
    use std::fs;
    use std::net::{SocketAddr, ToSocketAddrs as _};
    use std::path::Path;

    use retake_egress::{Answer, Attempt, Target};

    use super::super::order::{Fence, Message, Reached, now};
    use super::super::process::{below, listeners, sockets_of, tell};

    /// Where names are looked up.
    const RESOLVERS: &str = "/etc/resolv.conf";
    const DNS: u16 = 53;

    /// What may be reached.
    pub(super) struct Gate {
        refuses: bool,
        allowed: Vec<SocketAddr>,
        own: Vec<u16>,
        /// Of the other ports of this machine: whether a process of the program listens there, since somebody was found who does.
        inside: BTreeMap<u16, bool>,
    }

    impl Gate {
        pub(super) fn new(fence: &Fence) -> Gate {
            let mut allowed = Vec::new();
            for one in &fence.allow {
                if let Ok(address) = one.parse() {
                    allowed.push(address);
                    continue;
                }
                // A name that may be reached may be looked up, here and by the program.
                allowed.extend(one.to_socket_addrs().into_iter().flatten());
                let resolvers = fs::read_to_string(RESOLVERS).unwrap_or_default();
                let resolver =
                    |line: &str| Some(SocketAddr::new(line.strip_prefix("nameserver")?.trim().parse().ok()?, DNS));
                allowed.extend(resolvers.lines().filter_map(resolver));
            }
            Gate { refuses: fence.refuses, allowed, own: fence.own.clone(), inside: BTreeMap::new() }
        }

        pub(super) fn judge(&mut self, attempt: &Attempt) -> Answer {
            let (to, port) = match attempt.to {
                Target::Address(to) if self.allowed.contains(&to) => return Answer::Passes,
                // To no address in particular is to this machine.
                Target::Address(to) if to.ip().is_loopback() || to.ip().is_unspecified() => {
                    if self.own.contains(&to.port()) || !self.is_of_others(attempt.pid, to.port()) {
                        return Answer::Passes;
                    }
                    (to.to_string(), Some(to.port()))
                }
                Target::Address(to) => (to.to_string(), None),
                Target::Family(family) => (format!("an address of family {family}"), None),
                Target::Unreadable => ("an address that it does not let be read".to_owned(), None),
            };
            let refused = self.refuses && port.is_none();
            tell(&Message::Reached(Reached { process: called(attempt.pid), to, port, refused, at: now() }));
            if refused { Answer::Refused } else { Answer::Passes }
        }

        /// Whether only processes that the program did not start listen at a port. Where nobody listens, nothing is reached: a program
        /// asks there for its own server, until that listens.
        fn is_of_others(&mut self, asking: u32, port: u16) -> bool {
            if let Some(inside) = self.inside.get(&port) {
                return !inside;
            }
            let listeners = ["tcp", "tcp6", "udp", "udp6"].into_iter().flat_map(|kind| listeners(asking, kind));
            let sockets: Vec<String> = listeners.filter(|(at, _)| *at == port).map(|(_, socket)| socket).collect();
            if sockets.is_empty() {
                return false;
            }
            let inside = below("self")
                .into_iter()
                .any(|pid| sockets_of(pid.as_raw_nonzero()).iter().any(|it| sockets.contains(it)));
            self.inside.insert(port, inside);
            !inside
        }
    }

    /// Returns how a process was called, as a person would say it: the program and its script, without folders, or the program alone
    /// if its script is an argument. Empty if it is gone.
    fn called(pid: u32) -> String {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let mut words = line.split(|byte| *byte == 0).filter(|word| !word.is_empty()).map(String::from_utf8_lossy);
        let name = |word: &str| {
            Path::new(word).file_name().map_or_else(|| word.to_owned(), |name| name.to_string_lossy().into_owned())
        };
        let program = words.next().map(|word| name(&word)).unwrap_or_default();
        match words.find(|word| !word.starts_with('-')) {
            Some(script) if !script.contains(char::is_whitespace) => format!("{program} {}", name(&script)),
            _ => program,
        }
    }
}
