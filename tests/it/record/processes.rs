//! The processes of a recording: the command, the runner that it starts, and the systems that the runner starts.

use std::process::Command;
use std::time::{Duration, Instant};

/// Returns the processes that a process has started and that still run.
pub(crate) fn children_of(process: u32) -> Vec<u32> {
    let listed = Command::new("ps").args(["-A", "-o", "pid=,ppid="]).output().unwrap();
    let lines = String::from_utf8_lossy(&listed.stdout).into_owned();
    let pair = |line: &str| {
        let mut numbers = line.split_whitespace().map(|number| number.parse::<u32>().unwrap());
        Some((numbers.next()?, numbers.next()?))
    };
    lines.lines().filter_map(pair).filter(|(_, parent)| *parent == process).map(|(child, _)| child).collect()
}

/// Whether a process ends, or is only waiting for somebody to ask how it ended. It gets half a minute.
pub(crate) fn is_gone(process: u32) -> bool {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let listed = Command::new("ps").args(["-o", "stat=", "-p", &process.to_string()]).output().unwrap();
        let state = String::from_utf8_lossy(&listed.stdout).trim().to_owned();
        if state.is_empty() || state.starts_with('Z') {
            return true;
        }
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Returns a process and all that came from it.
#[cfg(target_os = "linux")]
pub(crate) fn all_of(process: u32) -> Vec<u32> {
    let stat = |id: u32| std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    // The name, in parentheses, may have spaces in it.
    let parent = |id: u32| stat(id).rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse::<u32>().ok());
    let listed = std::fs::read_dir("/proc").unwrap().flatten();
    let ids: Vec<u32> = listed.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    let pairs: Vec<(u32, u32)> = ids.into_iter().filter_map(|id| Some((id, parent(id)?))).collect();
    let mut all = vec![process];
    let mut at = 0;
    while at < all.len() {
        let of = all[at];
        all.extend(pairs.iter().filter(|(_, parent)| *parent == of).map(|(id, _)| *id));
        at += 1;
    }
    all
}

/// Returns the environment of a process; empty if it has ended.
#[cfg(target_os = "linux")]
pub(crate) fn environment_of(process: u32) -> Vec<String> {
    let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    let variables = environment.split(|byte| *byte == 0).filter(|variable| !variable.is_empty());
    variables.map(|variable| String::from_utf8_lossy(variable).into_owned()).collect()
}

/// Returns the addresses at the other ends of a process's sockets; of an unconnected one, its own address.
#[cfg(target_os = "linux")]
pub(crate) fn sockets_of(process: u32) -> Vec<std::net::SocketAddr> {
    let held = std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let inode = |path: std::path::PathBuf| {
        let link = std::fs::read_link(path).ok()?;
        Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
    };
    let held: std::collections::BTreeSet<String> = held.filter_map(|entry| inode(entry.path())).collect();
    let mut found = Vec::new();
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let table = std::fs::read_to_string(format!("/proc/{process}/net/{table}")).unwrap_or_default();
        for line in table.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            if fields.get(9).is_some_and(|inode| held.contains(*inode)) {
                let (own, other) = (address(fields[1]), address(fields[2]));
                found.push(if other.port() == 0 { own } else { other });
            }
        }
    }
    found
}

/// Reads an address as the kernel prints it: words in the order of this machine's bytes, in hexadecimal.
#[cfg(target_os = "linux")]
fn address(text: &str) -> std::net::SocketAddr {
    let (ip, port) = text.split_once(':').unwrap();
    let words =
        ip.as_bytes().chunks(8).map(|word| u32::from_str_radix(std::str::from_utf8(word).unwrap(), 16).unwrap());
    let bytes: Vec<u8> = words.flat_map(u32::to_ne_bytes).collect();
    let ip = match <[u8; 4]>::try_from(&*bytes) {
        Ok(four) => std::net::IpAddr::from(four),
        Err(_) => std::net::Ipv6Addr::from(<[u8; 16]>::try_from(&*bytes).unwrap()).to_canonical(),
    };
    (ip, u16::from_str_radix(port, 16).unwrap()).into()
}
