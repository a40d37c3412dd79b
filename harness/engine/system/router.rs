//! A system in this process: any tower service, made by a closure that gets the stage.
//!
//! It runs on a thread and a runtime of its own, so that a service that blocks or panics stops neither the scenario's clock nor
//! its clients. A connection is a task of that runtime as what the service leaves behind is, so once it has no task, and the process
//! no thread that is not Retake's, no call can come any more.

use std::any::Any;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Display;
use std::net::{Ipv4Addr, SocketAddr};
use std::panic::{AssertUnwindSafe, PanicHookInfo};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::serve::ListenerExt as _;
use futures_util::future::{BoxFuture, FutureExt as _};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::stage::Stage;
use retake_base::error::{Error, Result};
use retake_base::lock::Mutex;
use retake_model::threads;

/// A closure that makes a system for a stage.
pub type RouterFactory = Arc<dyn Fn(Stage) -> BoxFuture<'static, Result<Router, String>> + Send + Sync>;

/// The types that a closure which makes a system may return: a router, or a `Result` with one.
pub trait IntoRouter {
    /// Returns the router, or the reason why there is none.
    /// The text of the closure's own error.
    fn into_router(self) -> Result<Router, String>;
}

impl IntoRouter for Router {
    fn into_router(self) -> Result<Router, String> {
        Ok(self)
    }
}

impl<R: IntoRouter, E: Display> IntoRouter for Result<R, E> {
    fn into_router(self) -> Result<Router, String> {
        self.map_err(|e| e.to_string()).and_then(R::into_router)
    }
}

/// Makes a router from any tower service that answers HTTP requests, so that a system does not have to use axum.
pub fn service<S>(service: S) -> Router
where
    S: tower_service::Service<axum::extract::Request, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Response: axum::response::IntoResponse,
    S::Future: Send + 'static,
{
    Router::new().fallback_service(service)
}

/// A running in-process system.
#[derive(Debug)]
pub(super) struct InProcess {
    stop: oneshot::Sender<()>,
    ended: oneshot::Receiver<()>,
    threads: ThreadName,
    runtime: Handle,
}

/// How long a system may take to stop. One that blocks its thread for longer runs on until the process ends.
const GRACE: Duration = Duration::from_secs(2);

/// How long its threads for blocking calls wait for another one. While they do, they look like threads of the system.
const IDLE: Duration = Duration::from_millis(20);

/// The first and the longest pause before another look whether anything is left of a system.
const PAUSE: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(32)];

/// Binds a loopback port before the system exists, so that its address is known while it is made.
pub(super) fn listen() -> Result<(std::net::TcpListener, SocketAddr)> {
    let bind = || {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    };
    bind().map_err(|e: std::io::Error| Error::new(format!("failed to find a free loopback port: {e}")))
}

impl InProcess {
    /// Makes the system and waits until it serves.
    /// Fails if its closure returns an error or panics.
    pub(super) async fn start(
        factory: RouterFactory,
        stage: Stage,
        listener: std::net::TcpListener,
    ) -> Result<InProcess> {
        let (stop, stopped) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let (ready, is_ready) = oneshot::channel();
        let name = stage.system().to_owned();
        let threads = ThreadName::new(&name);
        // Its own thread and the threads for blocking calls have the same name.
        let of_threads = threads.as_str().to_owned();
        let own = std::thread::Builder::new().name(of_threads.clone());
        let run = move || {
            threads::this_is_own();
            let _end = end;
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            runtime.enable_all().thread_name(of_threads).thread_keep_alive(IDLE);
            match runtime.build() {
                Ok(runtime) => {
                    runtime.block_on(serve(factory, stage, listener, ready, stopped));
                    runtime.shutdown_background();
                }
                Err(e) => drop(ready.send(Err(format!("failed to start a runtime: {e}")))),
            }
        };
        let spawned = own.spawn(run);
        spawned.map_err(|e| Error::new(format!("failed to start a thread for system `{name}`: {e}")))?;
        let made = is_ready.await.unwrap_or_else(|_| Err("it ended before it was ready".to_owned()));
        let runtime = made.map_err(|reason| Error::new(format!("system `{name}` does not start: {reason}")))?;
        Ok(InProcess { stop, ended, threads, runtime })
    }

    /// Waits until nothing of the system is left that could call the model: no connection, no task, and no thread of its own.
    pub(super) async fn nothing_left(&self) {
        let tasks = || self.runtime.metrics().num_alive_tasks();
        let [mut pause, longest] = PAUSE;
        // A task may end while another thread starts one, so tasks are counted again once there is no such thread.
        while tasks() > 0 || threads::has_others() || tasks() > 0 {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(longest);
        }
    }

    /// Ends the system, and waits a moment for its thread. Returns the messages of its panics, each with its place.
    pub(super) async fn stop(self) -> Vec<String> {
        drop(self.stop);
        let _ = tokio::time::timeout(GRACE, self.ended).await;
        self.threads.panics()
    }
}

async fn serve(
    factory: RouterFactory,
    stage: Stage,
    listener: std::net::TcpListener,
    ready: oneshot::Sender<Result<Handle, String>>,
    stopped: oneshot::Receiver<()>,
) {
    let making = AssertUnwindSafe(async move { factory(stage).await }).catch_unwind();
    let made = making.await.unwrap_or_else(|panic| Err(format!("it panicked: {}", text(&*panic))));
    let listening = made.and_then(|router| {
        let listener = TcpListener::from_std(listener).map_err(|e| e.to_string())?;
        Ok((router, listener))
    });
    match listening {
        Ok((router, listener)) => {
            let _ = ready.send(Ok(Handle::current()));
            let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
            tokio::select! {
                _ = axum::serve(listener, router) => {}
                _ = stopped => {}
            }
        }
        Err(reason) => drop(ready.send(Err(reason))),
    }
}

/// The panics of each running system, by the name of its threads.
static HEARD: Mutex<BTreeMap<String, Vec<String>>> = Mutex::new(BTreeMap::new());

/// Installs a panic hook that collects panics, and passes them on to the previous hook.
pub fn hear_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        hear(panic);
        before(panic);
    }));
}

fn hear(panic: &PanicHookInfo<'_>) {
    let (thread, mut heard) = (std::thread::current(), HEARD.lock());
    let place = panic.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let message = format!("{place}: {}", text(panic.payload()));
    if let Some(of_system) = thread.name().and_then(|name| heard.get_mut(name)) {
        of_system.push(message);
    }
}

pub(super) fn text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without a message").to_owned()
}

/// The name of all threads of one system, which no other threads have. Their panics are collected until this is dropped.
#[derive(Debug)]
pub(super) struct ThreadName(String);

impl ThreadName {
    pub(super) fn new(system: &str) -> ThreadName {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let name = format!("system {system} {}", NEXT.fetch_add(1, Ordering::Relaxed));
        HEARD.lock().insert(name.clone(), Vec::new());
        ThreadName(name)
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the messages of all panics so far, each with its place.
    pub(super) fn panics(&self) -> Vec<String> {
        HEARD.lock().get(&self.0).cloned().unwrap_or_default()
    }
}

impl Drop for ThreadName {
    fn drop(&mut self) {
        HEARD.lock().remove(&self.0);
    }
}
