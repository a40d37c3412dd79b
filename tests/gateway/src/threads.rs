//! Threads, and the runs in them.

use std::{
    collections::HashMap,
    fs,
    sync::{Arc, MutexGuard, PoisonError},
};

use axum::{
    Json,
    extract::{Path, State, rejection::JsonRejection},
    http::{HeaderMap, StatusCode},
    response::IntoResponse,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    App,
    agent::{self, Task},
    auth::{User, new_id},
    error::HttpError,
    events::{self, Events, Log},
    message::Message,
    store::{Run, Thread},
};

#[derive(Deserialize)]
pub(crate) struct RunRequest {
    input: Input,
    /// Whether the agent may keep what the run tells of the user.
    #[serde(default)]
    remember: bool,
}

#[derive(Deserialize)]
struct Input {
    messages: Vec<InputMessage>,
}

#[derive(Deserialize)]
struct InputMessage {
    role: String,
    content: String,
}

pub(crate) async fn create(State(app): State<Arc<App>>, user: User) -> Result<(StatusCode, Json<Value>), HttpError> {
    let id = new_id();
    // The folder of all threads was made at the start: where it is gone since, it is not made again.
    fs::create_dir(app.files.join(&id))?;
    let thread = app.store.add_thread(&id, &user.0)?;
    let body = json!({ "thread_id": thread.thread_id, "created_at": thread.created_at });
    Ok((StatusCode::CREATED, Json(body)))
}

pub(crate) async fn list(State(app): State<Arc<App>>, user: User) -> Result<Json<Vec<Thread>>, HttpError> {
    Ok(Json(app.store.threads(&user.0)?))
}

pub(crate) async fn state(
    State(app): State<Arc<App>>,
    user: User,
    Path(id): Path<String>,
) -> Result<Json<Value>, HttpError> {
    let Thread { thread_id, created_at, title } = app.thread(&id, &user)?;
    let messages = app.store.checkpoint(&id)?;
    Ok(Json(json!({
        "thread_id": thread_id, "created_at": created_at, "title": title, "messages": messages,
    })))
}

pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    user: User,
    Path(id): Path<String>,
) -> Result<StatusCode, HttpError> {
    app.thread(&id, &user)?;
    if !app.store.delete_thread(&id)? {
        return Err(HttpError::new(StatusCode::CONFLICT, "the thread has a run that is still going"));
    }
    app.logs().retain(|(thread, _), _| *thread != id);
    fs::remove_dir_all(app.files.join(&id))?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn runs(
    State(app): State<Arc<App>>,
    user: User,
    Path(id): Path<String>,
) -> Result<Json<Vec<Run>>, HttpError> {
    app.thread(&id, &user)?;
    Ok(Json(app.store.runs(&id)?))
}

pub(crate) async fn run_messages(
    State(app): State<Arc<App>>,
    user: User,
    Path((id, run)): Path<(String, String)>,
) -> Result<Json<Vec<Message>>, HttpError> {
    app.thread(&id, &user)?;
    Ok(Json(app.store.messages(&id, &run)?))
}

pub(crate) async fn stream_run(
    State(app): State<Arc<App>>,
    user: User,
    Path(id): Path<String>,
    body: Result<Json<RunRequest>, JsonRejection>,
) -> Result<impl IntoResponse, HttpError> {
    let thread = app.thread(&id, &user)?;
    let RunRequest { input: Input { messages: said }, remember } = body?.0;
    if said.is_empty() || said.iter().any(|message| message.role != "user" || message.content.is_empty()) {
        let detail = "input.messages must hold messages of the role user, with content";
        return Err(HttpError::new(StatusCode::UNPROCESSABLE_ENTITY, detail));
    }
    let run = new_id();
    if !app.store.begin_run(&run, &id)? {
        return Err(HttpError::new(StatusCode::CONFLICT, "the thread has a run that is still going"));
    }
    let said = said.into_iter().map(|message| message.content).collect();
    let (events, log) = Events::new();
    let breaks_after = app.breaks().remove(&id);
    app.logs().insert((id, run.clone()), log.clone());
    tokio::spawn(agent::run(app, Task { user: user.0, thread, run_id: run, said, remember }, events));
    Ok(events::response(log, 0, breaks_after))
}

/// The events of a run that a client has not seen yet, also where the run has ended.
pub(crate) async fn rejoin_run(
    State(app): State<Arc<App>>,
    user: User,
    Path((id, run)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, HttpError> {
    app.thread(&id, &user)?;
    let log = app.logs().get(&(id, run)).cloned().ok_or_else(HttpError::not_found)?;
    Ok(events::response(log, events::resumes_at(&headers), None))
}

impl App {
    pub(crate) fn breaks(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.breaks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn logs(&self) -> MutexGuard<'_, HashMap<(String, String), Log>> {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn thread(&self, id: &str, user: &User) -> Result<Thread, HttpError> {
        self.store.thread(id, &user.0)?.ok_or_else(HttpError::not_found)
    }
}
