//! Asks two reviewers the same question at the same time: one conversation, two callers.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State, rejection::JsonRejection},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{App, auth::User, error::HttpError, model::FRIENDLY_ERROR, mutants::mutant};

const OPTIMIST: &str = "You are an optimist. Say in one sentence what speaks for it.";
const CRITIC: &str = "You are a critic. Say in one sentence what speaks against it.";

#[derive(Deserialize)]
pub(crate) struct Review {
    question: String,
}

pub(crate) async fn review(
    State(app): State<Arc<App>>,
    user: User,
    Path(id): Path<String>,
    body: Result<Json<Review>, JsonRejection>,
) -> Result<Json<Value>, HttpError> {
    app.thread(&id, &user)?;
    let question = body?.0.question;
    let (optimist, critic) = tokio::join!(
        app.model.ask("subagent:optimist", Some(OPTIMIST), &question),
        app.model.ask(
            mutant!("review_one_caller", "subagent:optimist", "subagent:critic"),
            Some(mutant!("review_one_prompt", OPTIMIST, CRITIC)),
            &question
        ),
    );
    let [optimist, critic] = [optimist, critic].map(|answer| answer.unwrap_or(FRIENDLY_ERROR.to_owned()));
    if mutant!("review_swapped") {
        return Ok(Json(json!({ "optimist": critic, "critic": optimist })));
    }
    if mutant!("review_list") {
        return Ok(Json(json!([optimist, critic])));
    }
    Ok(Json(json!({ "optimist": optimist, "critic": critic })))
}
