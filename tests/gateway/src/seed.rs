//! Routes that only tests need, present only if `Config::seeding` is set: they put runs into a thread, and break a stream.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Path, State, rejection::JsonRejection},
    http::StatusCode,
    routing::post,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    App,
    auth::{User, new_id},
    error::HttpError,
    message::{Message, ResponseMetadata, TokenUsage},
};

#[derive(Deserialize)]
struct Seed {
    runs: Vec<SeededRun>,
}

#[derive(Deserialize)]
struct SeededRun {
    question: String,
    answer: String,
}

#[derive(Deserialize)]
struct Break {
    after: usize,
}

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/api/test/threads/{id}/runs", post(seed))
        .route("/api/test/threads/{id}/break", post(break_next))
}

/// Puts finished runs into a thread, oldest first. They are stored like the agent's own runs, but without a checkpoint, so
/// the agent does not know about them.
async fn seed(
    State(app): State<Arc<App>>,
    user: User,
    Path(id): Path<String>,
    body: Result<Json<Seed>, JsonRejection>,
) -> Result<(StatusCode, Json<Value>), HttpError> {
    app.thread(&id, &user)?;
    let mut runs = Vec::new();
    for SeededRun { question, answer } in body?.0.runs {
        let run = new_id();
        if !app.store.begin_run(&run, &id)? {
            return Err(HttpError::new(StatusCode::CONFLICT, "the thread has a run that is still going"));
        }
        let answer = Message::Ai {
            id: new_id(),
            content: answer,
            tool_calls: Vec::new(),
            response_metadata: ResponseMetadata {
                finish_reason: "stop".to_owned(),
                model_name: app.model.name().to_owned(),
                token_usage: TokenUsage::default(),
            },
        };
        app.store.add_messages(&id, &run, &[Message::human(question), answer])?;
        app.store.end_run(&run, "success")?;
        runs.push(run);
    }
    Ok((StatusCode::CREATED, Json(json!({ "runs": runs }))))
}

/// Makes the thread's next stream break after the given number of events.
async fn break_next(
    State(app): State<Arc<App>>,
    user: User,
    Path(id): Path<String>,
    body: Result<Json<Break>, JsonRejection>,
) -> Result<StatusCode, HttpError> {
    app.thread(&id, &user)?;
    app.breaks().insert(id, body?.0.after);
    Ok(StatusCode::NO_CONTENT)
}
