//! The connection to Chromium. It has a thread of its own, because it outlives the runtime of each scenario.

use std::borrow::Cow;

use chromiumoxide::browser::Browser;
use chromiumoxide::error::CdpError;
use chromiumoxide::handler::HandlerConfig;
use chromiumoxide::types::MethodId;
use chromiumoxide::{Command, Handler, Method};
use futures_util::StreamExt as _;
use serde::Serialize;
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use retake_base::error::{Error, Result};

/// A connected browser.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) browser: Browser,
    /// The runtime for tasks that listen to the browser.
    pub(super) runtime: Handle,
}

/// A command of the protocol. Its answer is plain JSON.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(super) struct Call {
    #[serde(skip)]
    pub(super) method: &'static str,
    pub(super) params: Value,
}

impl Method for Call {
    fn identifier(&self) -> MethodId {
        Cow::Borrowed(self.method)
    }
}

impl Command for Call {
    type Response = Value;
}

impl Connection {
    /// Connects to the browser that listens at this URL.
    /// Fails if it does not answer.
    pub(super) async fn open(url: String) -> Result<Connection> {
        let (connected, connecting) = oneshot::channel();
        let run = move || match retake_model::threads::runtime() {
            Ok(runtime) => runtime.block_on(serve(&url, connected)),
            Err(error) => drop(connected.send(Err(error))),
        };
        let thread = std::thread::Builder::new().name("browser".to_owned()).spawn(run);
        thread.map_err(|e| Error::new(format!("no thread: {e}")))?;
        connecting.await.map_err(|_| Error::new("the connection to it ended at once"))?
    }
}

async fn serve(url: &str, connected: oneshot::Sender<Result<Connection>>) {
    let config = HandlerConfig { viewport: None, ignore_https_errors: false, ..HandlerConfig::default() };
    match Browser::connect_with_config(url, config).await {
        Ok((browser, handler)) => {
            let connection = Connection { browser, runtime: Handle::current() };
            if connected.send(Ok(connection)).is_ok() {
                hear(handler).await;
            }
        }
        Err(error) => drop(connected.send(Err(failed("connect", &error)))),
    }
}

/// Reads the browser's messages until it is gone. Messages that the crate's types do not know are skipped.
async fn hear(mut handler: Handler) {
    while let Some(heard) = handler.next().await {
        if matches!(heard, Err(CdpError::Ws(_))) {
            return;
        }
    }
}

/// Returns the error of a command that Chromium refused, or that did not reach it.
pub(super) fn failed(method: &str, error: &CdpError) -> Error {
    match error {
        CdpError::ChannelSendError(_) | CdpError::Ws(_) | CdpError::NoResponse => {
            Error::new(format!("Chromium or its page has crashed ({method})"))
        }
        error => Error::new(format!("Chromium refuses {method}: {error}")),
    }
}
