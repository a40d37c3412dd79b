//! What the machine and its user are called, as programs are told it.

use std::env::var;
use std::fs::read_to_string;
use std::process::Command;
use std::sync::LazyLock;

/// Returns what the machine calls its platform and its time zone, in words.
pub fn platform() -> &'static [String] {
    static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
        let said = |command: &str| Command::new("sh").args(["-c", command]).output().ok().map(|out| out.stdout);
        let all = said("uname -s; uname -m; date +%Z; (. /etc/os-release && echo $ID); readlink -f /etc/localtime");
        let all = String::from_utf8(all.unwrap_or_default()).unwrap_or_default();
        let lines = all.lines().map(|line| line.split_once("/zoneinfo/").map_or(line, |(_, zone)| zone));
        lines.chain([std::env::consts::OS]).filter(|name| !name.is_empty()).map(str::to_owned).collect()
    });
    &NAMES
}

/// Returns the name of the machine.
pub fn host() -> &'static str {
    static HOST: LazyLock<String> = LazyLock::new(|| {
        let by_command = || String::from_utf8(Command::new("hostname").output().ok()?.stdout).ok();
        let said = read_to_string("/proc/sys/kernel/hostname").ok().or_else(by_command);
        said.or_else(|| var("HOSTNAME").ok()).unwrap_or_default().trim().to_owned()
    });
    &HOST
}

/// Returns the name of the user.
pub fn user() -> Option<String> {
    var("USER").or_else(|_| var("LOGNAME")).ok().filter(|user| !user.is_empty()).or_else(of_this_process)
}

#[cfg(unix)]
fn of_this_process() -> Option<String> {
    let id = rustix::process::getuid().as_raw().to_string();
    let users = read_to_string("/etc/passwd").ok()?;
    let user = users.lines().find(|line| line.split(':').nth(2) == Some(&id))?;
    Some(user.split(':').next()?.to_owned())
}

#[cfg(not(unix))]
fn of_this_process() -> Option<String> {
    var("USERNAME").ok()
}

/// The variables that name both. Where the day is `moved`, as in the second run of a proof, a program is told other names, which shows
/// what depends on them.
pub(super) fn variables(moved: bool) -> Vec<(&'static str, String)> {
    let (user, host) =
        if moved { (Some("retake-user".to_owned()), "retake-host".to_owned()) } else { (user(), host().to_owned()) };
    let users = user.into_iter().flat_map(|user| [("USER", user.clone()), ("LOGNAME", user)]);
    users.chain([("HOSTNAME", host)]).filter(|(_, name)| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_machine_is_known_by_what_it_calls_itself() {
        let names = super::platform();
        assert!(names.iter().any(|name| name == std::env::consts::OS), "{names:?}");
        assert!(names.iter().all(|name| !name.is_empty() && !name.contains(['\n', ' '])), "{names:?}");
        #[cfg(target_os = "linux")]
        assert!(names.iter().any(|name| name == "Linux"), "{names:?}");
    }
}
