//! The signals that ask a program to end: that of Ctrl-C, and the one that service managers and CI systems send.

use std::io::BufRead as _;
use std::sync::Arc;

use retake_base::error::{Error, Result};
use retake_model::Relay;

/// Listens for these signals, so that they no longer end the process by themselves.
pub struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    /// Listens from here on. Needs a runtime.
    ///
    /// # Errors
    /// If the process cannot listen for signals.
    #[cfg(unix)]
    pub fn listen() -> Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        let failed = |e| Error::new(format!("failed to listen for signals: {e}"));
        let terminate = signal(SignalKind::terminate()).map_err(failed)?;
        Ok(Signals { terminate, interrupt: signal(SignalKind::interrupt()).map_err(failed)? })
    }

    /// Waits for one of the signals. Returns the exit code that shells report for it.
    #[cfg(unix)]
    pub async fn wait(&mut self) -> u8 {
        tokio::select! {
            _ = self.terminate.recv() => 143,
            _ = self.interrupt.recv() => 130,
        }
    }

    #[cfg(not(unix))]
    pub fn listen() -> Result<Signals> {
        Ok(Signals {})
    }

    #[cfg(not(unix))]
    pub async fn wait(&mut self) -> u8 {
        let _ = tokio::signal::ctrl_c().await;
        130
    }
}

/// The exit code of a recording whose command has ended, through which its calls went.
pub(crate) const RELAY_ENDED: u8 = 1;

/// Whether one of the signals has come, for work that then has to say what it leaves behind. The default never has.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt(tokio::sync::watch::Receiver<Option<u8>>);

impl Default for Interrupt {
    fn default() -> Interrupt {
        Interrupt(tokio::sync::watch::channel(None).1)
    }
}

impl Interrupt {
    /// Listens from here on, in a thread of its own: work goes through several runtimes, and rests between them. The command that
    /// started this process says through its relay that it was asked to end; if it is gone, this process ends too.
    /// Fails if the process cannot listen for signals.
    pub(crate) fn listen(relay: Option<&Relay>) -> Result<Interrupt> {
        let failed = |e: std::io::Error| Error::new(format!("failed to listen for signals: {e}"));
        let runtime = retake_model::threads::runtime()?;
        let mut signals = runtime.block_on(async { Signals::listen() })?;
        let (say, said) = tokio::sync::watch::channel(None);
        // The first one counts: with Ctrl-C the signal comes in both ways.
        let say = Arc::new(move |code: u8| {
            say.send_if_modified(|said| said.is_none() && said.replace(code).is_none());
        });
        let thread = |name: &str| std::thread::Builder::new().name(name.to_owned());
        if let Some(relay) = relay {
            let say = say.clone();
            match relay.lifeline() {
                Ok(lines) => {
                    let hear = move || {
                        let line = lines.lines().map_while(std::io::Result::ok).next();
                        say(line.and_then(|code| code.parse().ok()).unwrap_or(RELAY_ENDED));
                    };
                    thread("relay").spawn(hear).map_err(failed)?;
                }
                Err(_) => say(RELAY_ENDED),
            }
        }
        let wait = move || say(runtime.block_on(signals.wait()));
        thread("signals").spawn(wait).map_err(failed)?;
        Ok(Interrupt(said))
    }

    /// Waits until a signal comes.
    pub(crate) async fn came(&self) {
        if self.0.clone().wait_for(Option::is_some).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// The exit code of the signal that has come.
    pub(crate) fn code(&self) -> Option<u8> {
        *self.0.borrow()
    }
}
