//! Starts the relay: a server on loopback, in a thread of its own, with a random key. So no other process of the machine can
//! spend money through it.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::handler::Handler as _;
use axum::serve::ListenerExt as _;
use tokio::sync::{oneshot, watch};

use super::handler::{RelayState, handle};
use super::keys::Keys;
use super::outward::Outward;
use super::providers::Upstreams;
use retake_base::error::{Error, Result};
use retake_base::lock::Mutex;
use retake_model::Relay;

/// A running relay. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Running {
    /// How a recorder reaches the relay.
    pub(crate) relay: Relay,
    state: Arc<RelayState>,
    say_end: watch::Sender<Option<u8>>,
    _stop: oneshot::Sender<()>,
}

impl Running {
    /// Starts a relay to these providers. `declared` are the secrets of the project. With `holds`, the recorder is in a process
    /// that has no keys, and the relay removes them from what the recorder writes.
    /// Fails if it cannot listen, or a declared key is too short to search for.
    pub(crate) fn start(upstreams: Upstreams, declared: &BTreeSet<String>, holds: bool) -> Result<Running> {
        let failed = |e: std::io::Error| Error::new(format!("failed to start the relay: {e}"));
        let keys = Keys::read(declared, |name| std::env::var(name).ok())?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let key = uuid::Uuid::new_v4().simple().to_string();
        let held = if holds { keys.names.clone() } else { Vec::new() };
        let relay = Relay::new(address, key.clone(), upstreams.names(), held)?;
        let (say_end, ended) = watch::channel(None);
        let (to_providers, to_systems) = (Outward::new(true), Outward::new(false));
        let is_heard = AtomicBool::new(false);
        let state = Arc::new(RelayState { key, upstreams, keys, to_providers, to_systems, ended, is_heard });
        let (stop, stopped) = oneshot::channel::<()>();
        let runtime = retake_model::threads::runtime()?;
        let service = handle.with_state(state.clone()).into_make_service();
        let serve = move || {
            runtime.block_on(async {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                // Without TCP_NODELAY each frame waits for a delayed acknowledgement.
                let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
                tokio::select! {
                    _ = axum::serve(listener, service) => {}
                    _ = stopped => {}
                }
            });
        };
        std::thread::Builder::new().name("relay".to_owned()).spawn(serve).map_err(failed)?;
        Ok(Running { relay, state, say_end, _stop: stop })
    }

    /// Tells the runner that it was asked to end, with the exit code of the signal. Returns whether a runner hears it.
    pub(crate) fn end_runner(&self, code: u8) -> bool {
        self.say_end.send_replace(Some(code));
        self.state.is_heard.load(Ordering::Relaxed)
    }
}

/// Starts the relay of a command that reaches `https:` addresses, but no provider. It runs as long as the command.
/// Errors are those of [`Running::start`].
pub(crate) fn for_https() -> Result<Relay> {
    static STARTED: Mutex<Option<Running>> = Mutex::new(None);
    let mut started = STARTED.lock();
    if let Some(running) = &*started {
        return Ok(running.relay.clone());
    }
    Ok(started.insert(Running::start(Upstreams::default(), &BTreeSet::new(), false)?).relay.clone())
}
