//! The processes below this one, whatever group or session they made for themselves.
//!
//! A guardian is its system's subreaper: whoever loses its parent becomes a child of the guardian. So the tree below
//! it holds everything that the system ever started.

use rustix::process::{Pid, Signal, getpgid, kill_process};

/// All processes below this one, parents first.
#[cfg(target_os = "linux")]
pub(super) fn all() -> Vec<Pid> {
    let mut found = Vec::new();
    let mut next = children_of("self");
    while let Some(pid) = next.pop() {
        found.push(pid);
        next.extend(children_of(&pid.as_raw_nonzero().to_string()));
    }
    found
}

/// None: other systems neither have a subreaper nor tell whose child a process is. There the group is all that is
/// ended.
#[cfg(not(target_os = "linux"))]
pub(super) fn all() -> Vec<Pid> {
    Vec::new()
}

/// The children of all threads of a process. One that is gone has none.
#[cfg(target_os = "linux")]
fn children_of(process: &str) -> Vec<Pid> {
    let mut children = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten() {
        let list = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        children.extend(list.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)));
    }
    children
}

/// Sends a signal to all that are not in the group, which gets its own.
pub(super) fn signal_outside(group: Pid, signal: Signal) {
    for pid in all() {
        if getpgid(Some(pid)).is_ok_and(|of| of != group) {
            let _ = kill_process(pid, signal);
        }
    }
}
