//! A server that runs until it is ended: the line that says it is ready, and the signals.

use crate::error::{Error, Result};
use crate::json::{Json, Layout};
use crate::model::ModelServer;
use crate::report::terminal;

/// One line with all that a client needs.
pub(super) fn say_ready(server: &ModelServer) {
    let urls = server.urls();
    let ready = [
        ("url", &*urls.url),
        ("openai", &urls.openai),
        ("anthropic", &urls.anthropic),
        ("gemini", &urls.gemini),
        ("ollama", &urls.ollama),
        ("key", server.key()),
    ];
    terminal::out(Json::object(ready.map(|(name, value)| (name, Json::from(value)))).print(Layout::Python));
}

/// The signals that end the server.
pub(super) struct Ended {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

impl Ended {
    #[cfg(unix)]
    pub(super) fn listen() -> Result<Ended> {
        use tokio::signal::unix::{SignalKind, signal};
        let failed = |e| Error::new(format!("failed to listen for signals: {e}"));
        let terminate = signal(SignalKind::terminate()).map_err(failed)?;
        Ok(Ended { terminate, interrupt: signal(SignalKind::interrupt()).map_err(failed)? })
    }

    #[cfg(unix)]
    pub(super) async fn wait(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }

    #[cfg(not(unix))]
    pub(super) fn listen() -> Result<Ended> {
        Ok(Ended {})
    }

    #[cfg(not(unix))]
    pub(super) async fn wait(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}
