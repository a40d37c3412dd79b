//! A small but typical agent service: accounts, threads, an agent loop with tools, an event stream for each run, and a
//! model behind it. It is the system that Retake's own scenarios test, and it knows nothing about Retake.
//!
//! Its HTTP API resembles LangGraph's, and `/chat/new` is a page for people. [`router`] serves both in-process;
//! `cargo run -p gateway` serves them on a port. [`provider`] is the model that the fixtures are recorded from.
//!
//! A failed model call never becomes an HTTP error: the user gets a friendly sentence, with status 200 and the usual
//! events. Most agent services do the same, which is why a missing recording is so easy to overlook.

mod agent;
mod auth;
mod dearer;
mod error;
mod events;
mod memory;
mod message;
mod model;
mod mutants;
mod page;
pub mod provider;
mod review;
mod seed;
mod store;
mod suggestions;
mod threads;
mod title;
mod tools;

use std::{
    collections::HashMap,
    env, fs,
    path::PathBuf,
    sync::{Arc, Mutex, atomic::AtomicBool},
};

use axum::{
    Json, Router,
    routing::{get, post},
};
use serde_json::json;

pub use error::Error;
use error::HttpError;
use events::Log;
use model::Model;
use store::Store;

/// Where the service keeps its data, and which model it calls.
#[derive(Debug, Clone)]
pub struct Config {
    /// Contains the file `gateway.jsonl` with all that is stored and one folder of files for each thread.
    pub data_dir: PathBuf,
    /// The base URL of the model provider, for example `http://127.0.0.1:1234/v1`. Plain HTTP only.
    pub openai_base_url: String,
    /// The bearer token of each model call.
    pub openai_api_key: String,
    /// The name of the model.
    pub model: String,
    /// Whether each model call names its caller in the header `x-retake-caller`.
    pub declare_callers: bool,
    /// Whether to add the routes that only tests need: they put runs into a thread, and break its next stream.
    pub seeding: bool,
    /// The HTTP client for model calls. If it is `None`, the service creates one.
    pub http: Option<reqwest::Client>,
}

impl Config {
    /// Returns a configuration with the default model, declared callers and no test routes.
    pub fn new(
        data_dir: impl Into<PathBuf>,
        openai_base_url: impl Into<String>,
        openai_api_key: impl Into<String>,
    ) -> Self {
        Self {
            data_dir: data_dir.into(),
            openai_base_url: openai_base_url.into(),
            openai_api_key: openai_api_key.into(),
            model: "gpt-4o-mini".to_owned(),
            declare_callers: true,
            seeding: false,
            http: None,
        }
    }

    /// Reads the environment variables `DATA_DIR`, `OPENAI_BASE_URL`, `OPENAI_API_KEY`, `MODEL`, `DECLARE_CALLERS` and
    /// `SEEDING`. Each has a default. Without a key the service starts, but its model calls fail.
    #[must_use]
    pub fn from_env() -> Self {
        let var = |name, default: &str| env::var(name).unwrap_or_else(|_| default.to_owned());
        Self {
            model: var("MODEL", "gpt-4o-mini"),
            declare_callers: !matches!(&*var("DECLARE_CALLERS", "true"), "0" | "false"),
            seeding: matches!(&*var("SEEDING", "false"), "1" | "true"),
            ..Self::new(
                var("DATA_DIR", "gateway-data"),
                var("OPENAI_BASE_URL", "http://127.0.0.1:1234/v1"),
                var("OPENAI_API_KEY", ""),
            )
        }
    }
}

/// The state that all handlers share.
struct App {
    /// The folder that contains one folder for each thread.
    files: PathBuf,
    store: Store,
    model: Model,
    /// The threads whose next stream is to break, with the number of events after which it breaks.
    breaks: Mutex<HashMap<String, usize>>,
    /// Whether the service takes no runs.
    locked: AtomicBool,
    /// Whether a model's stream has ended without its end.
    cut: AtomicBool,
    /// The events of each run since the service started, by thread id and run id.
    logs: Mutex<HashMap<(String, String), Log>>,
}

/// Returns the service as a router, which can be served on a port or called in-process.
///
/// # Errors
///
/// Fails if the data folder or its file cannot be created, or if the API key is not a valid header value.
pub fn router(config: Config) -> Result<Router, Error> {
    let files = config.data_dir.join("threads");
    fs::create_dir_all(&files).map_err(Error::because("cannot create the data folder"))?;
    let store =
        Store::open(&config.data_dir.join("gateway.jsonl")).map_err(Error::because("cannot read what was stored"))?;
    let seeding = if config.seeding { seed::routes() } else { Router::new() };
    let model = Model::new(config)?;
    Ok(Router::new()
        .merge(page::routes())
        .merge(seeding)
        .route("/health", get(async || Json(json!({ "status": "ok" }))))
        .route("/api/auth/register", post(auth::register))
        .route("/api/threads", get(threads::list).post(threads::create))
        .route("/api/threads/{id}", get(threads::state).delete(threads::delete))
        .route("/api/threads/{id}/runs", get(threads::runs))
        .route("/api/threads/{id}/runs/{run}/messages", get(threads::run_messages))
        .route("/api/threads/{id}/runs/stream", post(threads::stream_run))
        .route("/api/threads/{id}/runs/{run}/stream", get(threads::rejoin_run))
        .route("/api/memory", get(memory::facts))
        .route("/api/threads/{id}/suggestions", post(suggestions::suggest))
        .route("/api/threads/{id}/review", post(review::review))
        .fallback(async || HttpError::not_found())
        .with_state(Arc::new(App {
            files,
            store,
            model,
            breaks: Mutex::default(),
            locked: AtomicBool::new(false),
            cut: AtomicBool::new(false),
            logs: Mutex::default(),
        })))
}
