//! Threads that answer the calls of one server together, each with the connections that it accepted. A connection stays with its
//! thread, so its timers and frames never wait for another one.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;

use axum::handler::Handler as _;
use axum::serve::ListenerExt as _;
use tokio::sync::watch;

use super::handler::{ServerState, handle};

/// The threads. They end when this is dropped.
#[derive(Debug)]
pub(super) struct Workers(#[expect(dead_code, reason = "dropping it ends the threads")] watch::Sender<()>);

impl Workers {
    /// Starts threads that accept connections from a listener.
    pub(super) fn start(listener: &TcpListener, count: usize, state: &Arc<ServerState>) -> io::Result<Workers> {
        let (alive, ended) = watch::channel(());
        for _ in 0..count {
            let (listener, mut ended) = (listener.try_clone()?, ended.clone());
            let service = handle.with_state(state.clone()).into_make_service();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let serve = async move {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                // Without TCP_NODELAY each streamed answer waits for a delayed acknowledgement.
                let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
                tokio::select! {
                    _ = axum::serve(listener, service) => {}
                    _ = ended.changed() => {}
                }
            };
            std::thread::Builder::new().name("worker".to_owned()).spawn(move || runtime.block_on(serve))?;
        }
        Ok(Workers(alive))
    }
}
