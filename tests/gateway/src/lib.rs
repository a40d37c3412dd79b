//! A small agent service, as teams build them: accounts, threads, an agent loop with tools, an event stream of each
//! run, and a model behind it. It is the system that Retake's own scenarios test, and it knows nothing of Retake.
//!
//! The HTTP API has the form of LangGraph's, and `/chat/new` is a page for people. [`router`] serves both in-process, `cargo run -p gateway` on a port.
//! [`provider`] is the model that the fixtures are recorded from.
//!
//! A failing model call never shows as an HTTP error: the user gets a friendly sentence, with status 200 and the
//! ordinary events. Most agent services do the same, and it is what makes a missed recording so easy to overlook.

mod agent;
mod auth;
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
    sync::{Arc, Mutex},
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

/// Where the service keeps its data, and which model it asks.
#[derive(Debug, Clone)]
pub struct Config {
    /// Holds the database `gateway.db` and a folder of files for each thread.
    pub data_dir: PathBuf,
    /// Like `http://127.0.0.1:1234/v1`. Plain HTTP only.
    pub openai_base_url: String,
    /// Sent as the bearer token of each model call.
    pub openai_api_key: String,
    /// Name of the model.
    pub model: String,
    /// Whether each model call says in the header `x-retake-caller` who makes it.
    pub declare_callers: bool,
    /// Whether there are routes that only tests need: they put runs into a thread, and break its next stream.
    pub seeding: bool,
    /// The client that asks the model, where the service is not to make one of its own.
    pub http: Option<reqwest::Client>,
}

impl Config {
    /// A configuration with the usual model, which declares its callers.
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

    /// Reads `DATA_DIR`, `OPENAI_BASE_URL`, `OPENAI_API_KEY`, `MODEL`, `DECLARE_CALLERS` and `SEEDING`. What is not set
    /// has a default; without a key the service starts, and its model calls fail.
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

/// What the handlers share.
struct App {
    /// The folders of the threads.
    files: PathBuf,
    store: Store,
    model: Model,
    /// Threads whose next stream breaks, and after how many events.
    breaks: Mutex<HashMap<String, usize>>,
    /// What was sent of each run since the start, by thread and run.
    logs: Mutex<HashMap<(String, String), Log>>,
}

/// The service, ready to be served or called in-process.
///
/// # Errors
///
/// The data folder or its database cannot be made, or the API key cannot be sent as a header.
pub fn router(config: Config) -> Result<Router, Error> {
    let files = config.data_dir.join("threads");
    fs::create_dir_all(&files).map_err(Error::because("cannot make the data folder"))?;
    let store = Store::open(&config.data_dir.join("gateway.db")).map_err(Error::because("cannot open the database"))?;
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
        .with_state(Arc::new(App { files, store, model, breaks: Mutex::default(), logs: Mutex::default() })))
}
