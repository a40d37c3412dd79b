//! What the agent keeps of a user from one thread to the next: asked of the model when a run has ended, where the client
//! wanted that.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde_json::{Value, json};

use crate::{App, auth::User, error::HttpError, message::Message};

pub(crate) async fn facts(State(app): State<Arc<App>>, user: User) -> Result<Json<Value>, HttpError> {
    Ok(Json(json!({ "facts": app.store.facts(&user.0)? })))
}

/// Keeps what a run told of its user, where it told anything.
pub(crate) async fn keep(app: &App, user: &str, messages: &[Message]) {
    let question = format!(
        "Name one fact about the user that is worth remembering, in a short sentence. Answer NONE if there is none.\n\n{}",
        Message::transcript(messages)
    );
    let answer = app.model.ask("background:memory", None, &question).await.unwrap_or_default();
    let fact = answer.trim();
    if !fact.is_empty() && fact != "NONE" {
        // The run is over: nobody is left to be told.
        let _ = app.store.add_fact(user, fact);
    }
}
