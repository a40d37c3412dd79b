//! Finds the processes below this one, including those that have moved to a process group or session of their own.
//!
//! A guardian is the subreaper of its system: a process that loses its parent becomes a child of the guardian. So the tree of
//! processes below the guardian contains everything that the system has started.

use rustix::process::{Pid, Signal, getpgid, kill_process};

/// Returns all processes below this one, parents first.
#[cfg(target_os = "linux")]
pub(in crate::system) fn all() -> Vec<Pid> {
    let mut found = Vec::new();
    let mut next = children_of("self");
    while let Some(pid) = next.pop() {
        found.push(pid);
        next.extend(children_of(&pid.as_raw_nonzero().to_string()));
    }
    found
}

/// Returns none: other platforms have neither a subreaper nor a list of a process's children. There, only the process group is
/// ended.
#[cfg(not(target_os = "linux"))]
pub(super) fn all() -> Vec<Pid> {
    Vec::new()
}

/// Returns the children of all threads of a process. A process that is gone has none.
#[cfg(target_os = "linux")]
fn children_of(process: &str) -> Vec<Pid> {
    let mut children = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten() {
        let list = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        children.extend(list.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)));
    }
    children
}

/// Sends a signal to all processes outside the group. The group gets its own signal.
pub(super) fn signal_outside(group: Pid, signal: Signal) {
    for pid in all() {
        if getpgid(Some(pid)).is_ok_and(|of| of != group) {
            let _ = kill_process(pid, signal);
        }
    }
}
