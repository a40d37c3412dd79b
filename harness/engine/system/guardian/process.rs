//! The guardian's own `main`: it starts a program, waits, and ends all processes below it.

#[cfg(target_os = "linux")]
use std::fmt::Display;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, getpgid, kill_process, kill_process_group};

use super::held;
use super::laid_out::lay_out;
use super::order::{Exit, Input, KILL, MARK, Message, OVER, Order, Program};

/// How long a system may take to end by itself.
const GRACE: Duration = Duration::from_millis(500);
/// How many times, and at which interval, to look for the lock files of a runner that was killed: its files close one by one.
const SWEEPS: (u32, Duration) = (20, Duration::from_millis(50));

/// Runs this process as a guardian, if it was started as one, and returns its exit code. A runner's `main` has to call this
/// first.
pub fn take_over() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    (args.next()? == MARK && args.next().is_none()).then(guard)
}

/// An event while a system is guarded.
enum Happened {
    /// The runner closed the pipe, or was killed.
    LetGo { killed: bool },
    /// The runner asks for everything to be killed.
    Kill,
    /// A child ended. It may be a process that became a child when it lost its parent.
    Reaped(Pid, Exit),
    /// There are no more children.
    NoneLeft,
}

fn guard() -> ExitCode {
    outlive_signals();
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    let Some(order) = read.ok().and_then(|_| serde_json::from_str::<Order>(&line).ok()) else {
        // The runner ended before it said what to start.
        sweep();
        return ExitCode::SUCCESS;
    };
    let made = order.folders.first().map_or(Ok(()), |folder| make(folder));
    // Until this process ends, no matter how.
    let _lock = order.folders.first().and_then(|folder| held::mark(folder));
    let killed = match made.and_then(|()| start(&order)) {
        Ok(group) => {
            tell(&Message::Started(group.map_or(0, Pid::as_raw_pid)));
            keep(group)
        }
        Err(reason) => {
            tell(&Message::Failed(reason));
            false
        }
    };
    if let Some(folder) = order.folders.first() {
        remove(folder);
    }
    if killed {
        sweep();
    }
    ExitCode::SUCCESS
}

/// Removes the lock files that a killed runner left.
fn sweep() {
    let (times, apart) = SWEEPS;
    for _ in 0..times {
        crate::system::ports::remove_stale_ones();
        thread::sleep(apart);
    }
}

pub(super) fn tell(told: &Message) {
    // If the runner is gone, writing fails. That does not matter: its closed pipe ends this guardian.
    if let Ok(line) = serde_json::to_string(told) {
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    }
}

/// Creates a folder that is accessible only to this user.
fn make(folder: &Path) -> Result<(), String> {
    let made = std::fs::DirBuilder::new().mode(0o700).create(folder);
    made.map_err(|e| format!("its folder {} cannot be made: {e}", folder.display()))
}

/// Creates the folders and starts the program, in a process group of its own.
fn start(order: &Order) -> Result<Option<Pid>, String> {
    order.folders.iter().skip(1).try_for_each(|folder| make(folder))?;
    lay_out(order)?;
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|e| format!("its guardian cannot become the parent of orphaned processes: {e}"))?;
    order.program.as_ref().map(spawn).transpose()
}

/// Starts the program. `reap` waits for it, as for every other child.
fn spawn(program: &Program) -> Result<Pid, String> {
    let (name, args) = program.command.split_first().ok_or("the command names no program")?;
    let mut command = Command::new(name);
    command.args(args).current_dir(&program.cwd).process_group(0);
    command.env_clear().envs(program.env.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(std::io::stderr());
    if let Some(file) = &program.errors {
        let file = File::options().create(true).append(true).open(file);
        command.stderr(file.map_err(|e| format!("the file for its errors cannot be made: {e}"))?);
    }
    match &program.input {
        Input::Closed => {}
        Input::Text(_) => drop(command.stdin(Stdio::piped())),
        Input::Socket(socket) => {
            let both = UnixStream::connect(socket).and_then(|stream| Ok((stream.try_clone()?, stream)));
            let (input, output) = both.map_err(|e| format!("its socket cannot be opened: {e}"))?;
            command.stdin(OwnedFd::from(input)).stdout(OwnedFd::from(output));
        }
    }
    let spawned = match &program.fence {
        None => command.spawn(),
        Some(fence) => super::fence::spawn(command, fence),
    };
    let mut child = spawned.map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => missing(name, &program.cwd),
        _ => format!("`{name}` cannot be run: {e}"),
    })?;
    if let (Some(mut pipe), Input::Text(text)) = (child.stdin.take(), &program.input) {
        let text = text.clone();
        // On a thread, because a program that does not read its input may end before everything is written.
        thread::spawn(move || drop(pipe.write_all(text.as_bytes())));
    }
    i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or_else(|| "it has no process id".to_owned())
}

/// What is missing where a program cannot be found: the program, or the one that a script names in its first line.
fn missing(name: &str, cwd: &Path) -> String {
    let of_script = || {
        // A name without a folder is looked up in PATH, and is no path from here.
        let file = File::open(cwd.join(name)).ok().filter(|_| name.contains('/'))?;
        let line = BufReader::new(file.take(4096)).lines().next()?.ok()?;
        let program = line.strip_prefix("#!")?.split_whitespace().next()?;
        (!Path::new(program).exists()).then(|| program.to_owned())
    };
    match of_script() {
        Some(program) => format!(
            "`{name}` is there, but not `{program}`, which its first line names: make the environment anew if it was moved"
        ),
        None => format!("there is no program `{name}`"),
    }
}

/// Waits until the runner closes the pipe, then ends all processes below this one. Returns whether the runner was killed.
fn keep(group: Option<Pid>) -> bool {
    let (sender, happened) = mpsc::channel();
    let letting_go = sender.clone();
    thread::spawn(move || {
        let mut last = None;
        for byte in std::io::stdin().lock().bytes().map_while(Result::ok) {
            last = Some(byte);
            if byte == KILL {
                let _ = letting_go.send(Happened::Kill);
            }
        }
        let _ = letting_go.send(Happened::LetGo { killed: last != Some(OVER) });
    });
    let Some(group) = group else {
        return matches!(happened.recv(), Ok(Happened::LetGo { killed: true }));
    };
    thread::spawn(move || reap(&sender));
    let mut left = true;
    let killed = loop {
        match happened.recv() {
            Ok(Happened::Reaped(pid, exit)) if pid == group => tell(&Message::Exited(exit)),
            Ok(Happened::Reaped(..)) => {}
            Ok(Happened::Kill) => {
                if std::mem::take(&mut left) {
                    kill_all(group, &happened);
                }
                tell(&Message::NoneLeft);
            }
            Ok(Happened::NoneLeft) => {
                left = false;
                // Elsewhere, a process that lost its parent is no child of this one.
                if cfg!(target_os = "linux") {
                    tell(&Message::NoneLeft);
                }
            }
            Ok(Happened::LetGo { killed }) => break killed,
            Err(_) => break false,
        }
    };
    if left {
        end(group, &happened);
    }
    killed
}

/// Waits for children one after another, and reports each. Once none is left, no new one can appear, because this process starts
/// nothing more.
fn reap(sender: &Sender<Happened>) {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) => {
                let exit = match (status.exit_status(), status.terminating_signal()) {
                    (Some(code), _) => Exit::Code(code),
                    (None, Some(signal)) => Exit::Signal(signal),
                    (None, None) => continue,
                };
                let _ = sender.send(Happened::Reaped(pid, exit));
            }
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => {
                let _ = sender.send(Happened::NoneLeft);
                return;
            }
        }
    }
}

/// Sends TERM to all processes, waits a moment, then sends KILL until none is left.
fn end(group: Pid, happened: &Receiver<Happened>) {
    let _ = kill_process_group(group, Signal::TERM);
    // The group has its own signal.
    for pid in below("self").into_iter().filter(|pid| getpgid(Some(*pid)).is_ok_and(|of| of != group)) {
        let _ = kill_process(pid, Signal::TERM);
    }
    if !wait_for_none(happened, GRACE) {
        kill_all(group, happened);
    }
}

/// Sends KILL to all processes until none is left.
fn kill_all(group: Pid, happened: &Receiver<Happened>) {
    let _ = kill_process_group(group, Signal::KILL);
    if cfg!(target_os = "linux") {
        // The children of a killed process become children of this one, so each round finds those that the last one missed.
        loop {
            for pid in below("self") {
                let _ = kill_process(pid, Signal::KILL);
            }
            if matches!(happened.recv(), Ok(Happened::NoneLeft) | Err(_)) {
                return;
            }
        }
    }
    wait_for_none(happened, GRACE);
}

fn wait_for_none(happened: &Receiver<Happened>, time: Duration) -> bool {
    let deadline = Instant::now() + time;
    loop {
        match happened.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(Happened::NoneLeft) | Err(RecvTimeoutError::Disconnected) => return true,
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout) => return false,
        }
    }
}

/// Makes TERM, INT and HUP do nothing from here on. A signal to a whole tree of processes must not end the guardian, which
/// cleans up. In that case the runner ends too, which closes the pipe.
fn outlive_signals() {
    use tokio::signal::unix::{SignalKind, signal};
    if let Ok(runtime) = retake_model::threads::runtime() {
        let _inside = runtime.enter();
        for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()] {
            // The signal handler stays installed after its stream is dropped.
            drop(signal(kind));
        }
    }
}

/// Removes a folder, even if a dying process still writes into it, and if folders in it are read-only.
pub(in crate::system) fn remove(folder: &Path) {
    for attempt in 0..40 {
        match std::fs::remove_dir_all(folder) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => make_writable(folder),
            _ => return,
        }
        if attempt > 0 {
            thread::sleep(Duration::from_millis(25));
        }
    }
}

fn make_writable(folder: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let _ = std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700));
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_writable(&entry.path());
        }
    }
}

/// Returns all processes below one, parents first.
#[cfg(target_os = "linux")]
pub(in crate::system) fn below(process: &str) -> Vec<Pid> {
    let mut found = Vec::new();
    let mut next = children_of(process);
    while let Some(pid) = next.pop() {
        found.push(pid);
        next.extend(children_of(&pid.as_raw_nonzero().to_string()));
    }
    found
}

/// Returns the sockets of a process, as `/proc/PID/fd` names them.
#[cfg(target_os = "linux")]
pub(in crate::system) fn sockets_of(process: impl Display) -> Vec<String> {
    let files = std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    files.filter_map(|file| std::fs::read_link(file.path()).ok()?.into_os_string().into_string().ok()).collect()
}

/// Returns the ports at which sockets of a kind listen on the machine as a process sees it, each with its socket.
#[cfg(target_os = "linux")]
pub(in crate::system) fn listeners(process: impl Display, kind: &str) -> Vec<(u16, String)> {
    let table = std::fs::read_to_string(format!("/proc/{process}/net/{kind}")).unwrap_or_default();
    let listener = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (local, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
        // A TCP socket that listens has state 0A, and a UDP socket without a peer 07.
        let listens = *state == if kind.starts_with("tcp") { "0A" } else { "07" };
        let port = u16::from_str_radix(local.rsplit_once(':')?.1, 16).ok()?;
        listens.then(|| (port, format!("socket:[{inode}]")))
    };
    table.lines().skip(1).filter_map(listener).collect()
}

/// Returns none: other platforms have neither a subreaper nor a list of a process's children. There, only the process group is
/// ended.
#[cfg(not(target_os = "linux"))]
pub(in crate::system) fn below(_: &str) -> Vec<Pid> {
    Vec::new()
}

/// Whether a guardian or a process below it runs, or waits for a core or a disk to go on. `None` where that cannot be seen.
pub(in crate::system) fn works(guardian: u32) -> Option<bool> {
    let guardian = Pid::from_raw(guardian.try_into().ok()?)?;
    let guarded = below(&guardian.as_raw_nonzero().to_string());
    let works = |pid: &Pid| {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero())).into_iter().flatten().flatten();
        let states = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("stat")).ok());
        let mut states = states.filter_map(|stat| stat.rsplit_once(") ").map(|(_, rest)| rest.starts_with(['R', 'D'])));
        states.any(|works| works)
    };
    (!guarded.is_empty()).then(|| guarded.iter().chain([&guardian]).any(works))
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
