//! The runner that tests start: this binary, with the real gateway or another router as its system.

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use retake::{Stage, Suite};

use crate::record::{encoded_secrets, four_ways, parallel, rounds, secrets, suspects, varying};
use crate::replay::mutation::Mutation;
use crate::replay::{oddities, passing};
use crate::support::loopback::client;
use crate::support::program::Program;
use crate::support::tree::Tree;

/// The variable that holds the mutation of the gateway's event streams.
const MUTATION: &str = "RETAKE_IT_MUTATION";
/// If this variable is set, the `metadata` event of each of the gateway's streams has a unique key.
pub(crate) const VARY: &str = "RETAKE_IT_VARY";
/// The variable that names a file to which the gateway's first event stream is copied, as its client gets it.
pub(crate) const CAPTURE: &str = "RETAKE_IT_CAPTURE";

/// The runner's `main`. `system` selects the router, and is its name in the suite.
pub(crate) fn runner(system: &str) -> ExitCode {
    let suite = Suite::new(crate::support::tree::repository());
    match system {
        "gateway" => suite.router(system, |stage| async move { gateway(&stage, true) }),
        "bare" => suite.router(system, |stage| async move { gateway::router(config(&stage)) }),
        "undeclared" => suite.router(system, |stage| async move { gateway(&stage, false) }),
        "oddities" => suite.router(system, |stage| async move { oddities::router(stage) }),
        "passing" => suite.router(system, |stage| async move { passing::router(stage) }),
        "rounds" => suite.router(system, |stage| async move { rounds::router(stage) }),
        "planted" => suite.router(system, |stage| async move { secrets::router(&stage) }),
        "encoded" => suite.router(system, |stage| async move { encoded_secrets::router(&stage) }),
        "all-calls" => suite.router(system, |stage| async move { four_ways::router(&stage) }),
        "suspected" => suite.router(system, |stage| async move { suspects::router(&stage) }),
        "varying" => suite.router(system, |stage| async move { varying::router(stage) }),
        "parallel" => suite.router(system, |stage| async move { parallel::router(stage) }),
        "never-ready" => suite.router(system, |_| std::future::pending::<Router>()),
        "refuses" => suite.router(system, |_| async { Err::<Router, _>("no licence key") }),
        "panics" => suite.router(system, |_| async { made_to_panic() }),
        #[cfg(feature = "browser")]
        "page" => suite.router(system, |stage| async move { crate::browser::proofs::router(&stage) }),
        #[cfg(feature = "browser")]
        "later" => suite.router(system, |stage| async move { crate::browser::later::router(&stage) }),
        #[cfg(feature = "browser")]
        "pages" => suite.router(system, |_| async { crate::browser::finding::router() }),
        #[cfg(feature = "browser")]
        "looks" => suite.router(system, |_| async { crate::browser::seeing::router() }),
        #[cfg(feature = "browser")]
        "pictures" => suite.router(system, |_| async { crate::browser::pictures::router() }),
        #[cfg(feature = "browser")]
        "breakages" => suite.router(system, |_| async { crate::browser::breakages::router() }),
        #[cfg(feature = "browser")]
        "ways" => suite.router(system, |_| async { crate::browser::ways::router() }),
        "no-system" => suite,
        other => panic!("no system is called {other}"),
    }
    .main()
}

/// Returns a runner with a gateway whose event streams are mutated before they reach the client.
pub(crate) fn mutated(tree: &Tree, mutation: &Mutation) -> Program {
    tree.runner("gateway").env(MUTATION, mutation.to_env())
}

fn made_to_panic() -> Router {
    panic!("made to panic")
}

fn gateway(stage: &Stage, declare_callers: bool) -> Result<Router, gateway::Error> {
    let gateway = gateway::router(gateway::Config { declare_callers, ..config(stage) })?;
    Ok(gateway.layer(from_fn(watch)))
}

fn config(stage: &Stage) -> gateway::Config {
    let config = gateway::Config::new(stage.workdir(), &stage.model().openai, stage.key());
    gateway::Config { http: Some(client()), ..config }
}

/// Mutates and copies event streams, as the variables above say.
async fn watch(request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let content_type = response.headers().get(header::CONTENT_TYPE);
    if content_type.is_none_or(|value| !value.as_bytes().starts_with(b"text/event-stream")) {
        return response;
    }
    let (parts, body) = response.into_parts();
    let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let mut stream = String::from_utf8(bytes.to_vec()).unwrap();
    if let Ok(mutation) = std::env::var(MUTATION) {
        stream = Mutation::from_env(&mutation).apply(&stream);
    }
    if std::env::var_os(VARY).is_some() {
        static STREAMS: AtomicUsize = AtomicUsize::new(1);
        let at = format!("/lucky_{}", STREAMS.fetch_add(1, Ordering::Relaxed));
        stream = Mutation::SetKey { event: "metadata".to_owned(), at, value: true.into() }.apply(&stream);
    }
    // A run that failed may be repeated to explain it. Only the first stream is copied.
    if let Some(file) = std::env::var_os(CAPTURE).filter(|file| !std::path::Path::new(file).exists()) {
        std::fs::write(file, &stream).unwrap();
    }
    Response::from_parts(parts, Body::from(stream))
}
