//! Threads, and the runs in them.

use std::{
    collections::HashMap,
    fs,
    sync::{Arc, MutexGuard, PoisonError, atomic::Ordering},
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
    mutants::mutant,
    store::{Run, Thread},
};

#[derive(Deserialize)]
pub(crate) struct RunRequest {
    input: Input,
    /// Whether the agent may remember what the run reveals about the user.
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
    // `create_dir` and not `create_dir_all`: if somebody removed the data folder, this fails instead of creating it again.
    fs::create_dir(app.files.join(&id))?;
    let thread = app.store.add_thread(&id, &user.0)?;
    let thread_id = mutant!("created_another_id", new_id(), thread.thread_id);
    let mut body = json!({ "thread_id": thread_id, "created_at": thread.created_at });
    if mutant!("created_without_time") {
        body = json!({ "thread_id": thread_id });
    }
    if mutant!("created_time_number") {
        body["created_at"] = json!(0);
    }
    Ok((mutant!("created_200", StatusCode::OK, StatusCode::CREATED), Json(body)))
}

pub(crate) async fn list(State(app): State<Arc<App>>, user: User) -> Result<Json<Vec<Thread>>, HttpError> {
    let mut threads = app.store.threads(&user.0);
    if mutant!("list_first_page_only") {
        threads.truncate(1);
    }
    if mutant!("list_without_titles") {
        for thread in &mut threads {
            thread.title = None;
        }
    }
    if mutant!("list_titles_shifted") {
        let titles: Vec<_> = threads.iter().skip(1).map(|thread| thread.title.clone()).collect();
        threads.iter_mut().zip(titles).for_each(|(thread, title)| thread.title = title);
    }
    if mutant!("list_untitled_left_out") {
        threads.retain(|thread| thread.title.is_some());
    }
    Ok(Json(threads))
}

pub(crate) async fn state(
    State(app): State<Arc<App>>,
    user: User,
    Path(id): Path<String>,
) -> Result<Json<Value>, HttpError> {
    let Thread { thread_id, created_at, title, .. } = app.thread(&id, &user)?;
    let mut messages = app.store.checkpoint(&id);
    if mutant!("state_newest_only") {
        messages.drain(..messages.len().saturating_sub(1));
    }
    if mutant!("state_last_run_only") {
        let asked = messages.iter().rposition(|message| matches!(message, Message::Human { .. }));
        messages.drain(..asked.unwrap_or_default());
    }
    for message in &mut messages {
        match message {
            Message::Ai { id, .. } if mutant!("state_ids_anew") => *id = new_id(),
            Message::Ai { tool_calls, .. } if mutant!("state_calls_lost") => tool_calls.clear(),
            _ => {}
        }
    }
    if mutant!("state_reversed") {
        messages.reverse();
    }
    if mutant!("state_without_title") {
        return Ok(Json(json!({ "thread_id": thread_id, "created_at": created_at, "messages": messages })));
    }
    let title = mutant!("state_title_stale", Some("New thread".to_owned()), title);
    let thread_id = mutant!("state_id_of_user", user.0, thread_id);
    Ok(Json(json!({
        "thread_id": thread_id, "created_at": created_at, "title": title, "messages": messages,
    })))
}

pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    user: User,
    Path(id): Path<String>,
) -> Result<StatusCode, HttpError> {
    if mutant!("delete_anybody_s") {
        app.store.any_thread(&id).ok_or_else(HttpError::not_found)?;
    } else if mutant!("delete_what_is_not_there") && app.thread(&id, &user).is_err() {
        return Ok(StatusCode::NO_CONTENT);
    } else {
        app.thread(&id, &user)?;
    }
    if mutant!("delete_does_nothing") {
        return Ok(StatusCode::NO_CONTENT);
    }
    if !app.store.delete_thread(&id)? {
        return Err(HttpError::new(StatusCode::CONFLICT, "the thread has a run that is still going"));
    }
    app.logs().retain(|(thread, _), _| *thread != id);
    fs::remove_dir_all(app.files.join(&id))?;
    Ok(mutant!("delete_200", StatusCode::OK, StatusCode::NO_CONTENT))
}

pub(crate) async fn runs(
    State(app): State<Arc<App>>,
    user: User,
    Path(id): Path<String>,
) -> Result<Json<Vec<Run>>, HttpError> {
    app.thread(&id, &user)?;
    let mut runs = app.store.runs(&id);
    if mutant!("runs_oldest_first") {
        runs.reverse();
    }
    if mutant!("runs_id_of_thread") {
        for run in &mut runs {
            run.run_id.clone_from(&id);
        }
    }
    if mutant!("runs_newest_only") {
        runs.truncate(1);
    }
    Ok(Json(runs))
}

pub(crate) async fn run_messages(
    State(app): State<Arc<App>>,
    user: User,
    Path((id, run)): Path<(String, String)>,
) -> Result<Json<Vec<Message>>, HttpError> {
    app.thread(&id, &user)?;
    let mut messages = app.store.messages(&id, &run);
    if mutant!("run_messages_of_newest_run") {
        messages = match app.store.runs(&id).first() {
            Some(newest) => app.store.messages(&id, &newest.run_id),
            None => Vec::new(),
        };
    }
    for message in &mut messages {
        match message {
            Message::Ai { id, .. } | Message::Tool { id, .. } if mutant!("run_messages_ids_anew") => *id = new_id(),
            _ => {}
        }
    }
    if mutant!("run_messages_reversed") {
        messages.reverse();
    }
    if mutant!("run_messages_without_first") && !messages.is_empty() {
        messages.remove(0);
    }
    Ok(Json(messages))
}

pub(crate) async fn stream_run(
    State(app): State<Arc<App>>,
    user: User,
    Path(id): Path<String>,
    body: Result<Json<RunRequest>, JsonRejection>,
) -> Result<impl IntoResponse, HttpError> {
    let thread = app.thread(&id, &user)?;
    let RunRequest { input: Input { messages: said }, remember } = body?.0;
    let empty = said.is_empty() && !mutant!("input_empty_taken");
    let foreign = |message: &InputMessage| message.role != "user" && !mutant!("input_any_role");
    if empty || said.iter().any(|message| foreign(message) || message.content.is_empty()) {
        let detail = "input.messages must hold messages of the role user, with content";
        let status = mutant!("input_400", StatusCode::BAD_REQUEST, StatusCode::UNPROCESSABLE_ENTITY);
        return Err(HttpError::new(status, detail));
    }
    let run = new_id();
    if app.locked.load(Ordering::Relaxed) {
        return Err(HttpError::new(StatusCode::CONFLICT, "another run is still going"));
    }
    if !app.store.begin_run(&run, &id)? {
        return Err(HttpError::new(StatusCode::CONFLICT, "the thread has a run that is still going"));
    }
    let said = said.into_iter().map(|message| message.content).collect();
    let (events, log) = Events::new();
    let breaks_after = app.breaks().remove(&id);
    if !mutant!("reconnect_knows_no_run") {
        app.logs().insert((id, run.clone()), log.clone());
    }
    tokio::spawn(agent::run(app, Task { user: user.0, thread, run_id: run, said, remember }, events));
    Ok(events::response(log, 0, breaks_after))
}

/// Streams the events of a run that the client has not seen yet, even if the run has ended.
pub(crate) async fn rejoin_run(
    State(app): State<Arc<App>>,
    user: User,
    Path((id, run)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, HttpError> {
    app.thread(&id, &user)?;
    let log = app.logs().get(&(id, run)).cloned();
    if mutant!("reconnect_empty_200") && log.is_none() {
        return Ok(events::response(Events::new().1, 0, None));
    }
    let log = log.ok_or_else(HttpError::not_found)?;
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
        let thread = mutant!("threads_of_anybody", self.store.any_thread(id), self.store.thread(id, &user.0));
        thread.ok_or_else(HttpError::not_found)
    }
}
