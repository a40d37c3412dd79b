//! The runner's side of a guardian: starts it, reads its messages, and closes the pipe.

use std::io::Write as _;

use tokio::sync::watch;

use super::order::{Exit, Order};
use crate::system::egress::Egress;
use retake_base::error::{Error, Result};
use retake_base::lock::Mutex;
use retake_model::threads;

/// What is known about a guarded program.
#[derive(Clone, Debug, Default)]
struct Known {
    /// Whether it was started, or the reason why not. `None` until the guardian reports it.
    started: Option<Result<(), String>>,
    exit: Option<Exit>,
    none_left: bool,
    /// Whether the guardian is gone, and with it everything that it guarded.
    gone: bool,
}

/// A program under a guardian. Dropping this ends the program and everything that it started; [`Guarded::end`] also waits for
/// that.
#[derive(Debug)]
pub(crate) struct Guarded {
    /// The process of the guardian.
    pub(crate) pid: u32,
    lifeline: Mutex<Option<std::process::ChildStdin>>,
    known: watch::Receiver<Known>,
    /// The lock on its folder.
    lock: Option<std::fs::File>,
}

impl Order {
    /// Starts the guardian, which starts the program, and tells `egress` what that tries to reach. `output` gets what the program
    /// prints, on a thread of its own.
    /// Fails if either cannot be started.
    pub(crate) async fn start(
        mut self,
        egress: Option<&Egress>,
        output: impl FnMut(&[u8]) + Send + 'static,
    ) -> Result<Guarded> {
        if let (Some(program), Some(egress)) = (&mut self.program, egress) {
            program.fence = egress.fence();
            program.env.extend(egress.proxies());
        }
        let mut guarded = launch(&self, egress.cloned(), Box::new(output))?;
        let outcome = guarded.known.wait_for(|known| known.started.is_some() || known.gone).await;
        let outcome = outcome.map(|known| known.started.clone()).ok().flatten();
        match outcome {
            Some(Ok(())) => {
                #[cfg(unix)]
                {
                    guarded.lock = self.folders.first().and_then(|folder| super::held::lock(folder));
                }
                Ok(guarded)
            }
            Some(Err(reason)) => {
                guarded.end().await;
                Err(Error::new(reason))
            }
            None => Err(Error::new("its guardian ended before it could be started")),
        }
    }
}

impl Guarded {
    /// Returns how the program ended, or `None` if it is still running.
    pub(crate) fn exit(&self) -> Option<Exit> {
        self.known.borrow().exit
    }

    /// Waits until the program ends by itself. Returns `None` if its exit status is unknown.
    pub(crate) async fn exited(&self) -> Option<Exit> {
        let mut known = self.known.clone();
        let seen = known.wait_for(|known| known.exit.is_some() || known.gone).await;
        seen.ok().and_then(|known| known.exit)
    }

    /// Waits until neither the program nor any process that it started is left. Where processes can escape their guardian, it waits
    /// until the guardian is gone.
    pub(crate) async fn none_left(&self) {
        let _ = self.known.clone().wait_for(|known| known.none_left || known.gone).await;
    }

    /// Kills the program and everything that it started, as a machine does that has no more memory. Its folders stay.
    pub(crate) async fn kill(&self) {
        let asked = self.lifeline.lock().as_mut().map(|lifeline| lifeline.write_all(&[super::order::KILL]));
        if matches!(asked, Some(Ok(()))) {
            self.none_left().await;
        }
    }

    /// Ends the program, and waits until no process of it is left.
    pub(crate) async fn end(&self) {
        let lifeline = self.lifeline.lock().take();
        if let Some(mut lifeline) = lifeline {
            // If the guardian is already gone, this fails, which does not matter.
            let _ = lifeline.write_all(&[super::order::OVER]);
        }
        let _ = self.known.clone().wait_for(|known| known.gone).await;
    }
}

/// How long to wait for the rest of the output.
#[cfg(unix)]
const DRAIN: std::time::Duration = std::time::Duration::from_secs(1);

type Output = Box<dyn FnMut(&[u8]) + Send>;

#[cfg(not(unix))]
fn launch(_: &Order, _: Option<Egress>, _: Output) -> Result<Guarded> {
    Err(Error::new("commands need process groups, which this version has on Linux and macOS only"))
}

/// Returns `None`: on this platform, no process is a guardian.
#[cfg(not(unix))]
pub fn take_over() -> Option<std::process::ExitCode> {
    None
}

/// Returns `None`: on this platform, it cannot be seen.
#[cfg(not(unix))]
pub(in crate::system) fn works(_: u32) -> Option<bool> {
    None
}

/// What earlier runners left is removed once in a process.
#[cfg(unix)]
static SWEPT: std::sync::Once = std::sync::Once::new();

#[cfg(unix)]
fn launch(order: &Order, egress: Option<Egress>, output: Output) -> Result<Guarded> {
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};

    let failed = |e: std::io::Error| Error::new(format!("its guardian cannot be started: {e}"));
    let (printed, printing) = std::io::pipe().map_err(failed)?;
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    command.arg(super::order::MARK).current_dir("/").process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(printing);
    let mut guardian = command.spawn().map_err(failed)?;
    // The command holds the writing end of the pipe. As long as it exists, reading would not come to an end.
    drop(command);
    let pid = guardian.id();
    let (mut lifeline, control) = (guardian.stdin.take(), guardian.stdout.take());
    let (sender, known) = watch::channel(Known::default());
    let (reading, drained) = std::sync::mpsc::channel::<()>();
    // A guardian without a program keeps folders that others use, until the process ends.
    let own_folder = order.folders.first().filter(|_| order.program.is_some()).cloned();
    let threads = || {
        let read = move || {
            threads::this_is_own();
            let _until_read = reading;
            read_all(printed, output);
        };
        std::thread::Builder::new().name("output".to_owned()).spawn(read)?;
        let listening = move || {
            threads::this_is_own();
            SWEPT.call_once(|| super::held::remove_left(&std::env::temp_dir()));
            listen(guardian, control, egress.as_ref(), own_folder.as_deref(), &drained, &sender);
        };
        std::thread::Builder::new().name("guardian".to_owned()).spawn(listening)
    };
    threads().map_err(failed)?;
    say(lifeline.as_mut(), order).map_err(failed)?;
    Ok(Guarded { pid, lifeline: Mutex::new(lifeline), known, lock: None })
}

#[cfg(unix)]
fn say(pipe: Option<&mut std::process::ChildStdin>, order: &Order) -> std::io::Result<()> {
    let Some(pipe) = pipe else { return Ok(()) };
    let line = serde_json::to_string(order)? + "\n";
    pipe.write_all(line.as_bytes())?;
    pipe.flush()
}

#[cfg(unix)]
fn read_all(mut pipe: std::io::PipeReader, mut output: Output) {
    use std::io::Read as _;
    let mut buffer = vec![0; 16 << 10];
    loop {
        match pipe.read(&mut buffer) {
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => return,
            Ok(count) => output(&buffer[..count]),
        }
    }
}

/// Reads the guardian's messages until it is gone.
#[cfg(unix)]
fn listen(
    mut guardian: std::process::Child,
    control: Option<std::process::ChildStdout>,
    egress: Option<&Egress>,
    folder: Option<&std::path::Path>,
    drained: &std::sync::mpsc::Receiver<()>,
    known: &watch::Sender<Known>,
) {
    use std::io::{BufRead as _, BufReader};

    use super::order::Message;

    let mut group = None;
    for line in control.map(BufReader::new).into_iter().flat_map(|lines| lines.lines().map_while(Result::ok)) {
        match serde_json::from_str(&line) {
            Ok(Message::Started(id)) => {
                group = rustix::process::Pid::from_raw(id);
                known.send_modify(|known| known.started = Some(Ok(())));
            }
            Ok(Message::Failed(reason)) => known.send_modify(|known| known.started = Some(Err(reason))),
            Ok(Message::Exited(exit)) => known.send_modify(|known| known.exit = Some(exit)),
            Ok(Message::NoneLeft) => known.send_modify(|known| known.none_left = true),
            Ok(Message::Fenced(unproven)) => _ = egress.map(|egress| egress.fenced(unproven)),
            Ok(Message::Reached(reached)) => _ = egress.map(|egress| egress.reached(reached)),
            Err(_) => {}
        }
    }
    if !guardian.wait().is_ok_and(|status| status.success()) {
        // The guardian itself was killed, so at least the process group of the program is ended here, and its folder removed.
        group.map(|group| rustix::process::kill_process_group(group, rustix::process::Signal::KILL));
        folder.into_iter().for_each(super::remove);
    }
    // Waits until all output is read, but not forever: without a subreaper, a process that escaped may still hold the pipe.
    let _ = drained.recv_timeout(DRAIN);
    known.send_modify(|known| known.gone = true);
}
