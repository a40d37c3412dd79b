//! The agent's memory: facts about a user that all threads share. If the client asked for it, the model is asked for a fact
//! after each run.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde_json::{Value, json};

use crate::{App, auth::User, error::HttpError, message::Message, mutants::mutant};

pub(crate) async fn facts(State(app): State<Arc<App>>, user: User) -> Result<Json<Value>, HttpError> {
    let facts = app.store.facts(&user.0);
    if mutant!("memory_objects") {
        let facts: Vec<_> = facts.iter().map(|fact| json!({ "fact": fact })).collect();
        return Ok(Json(json!({ "facts": facts })));
    }
    Ok(Json(json!({ "facts": facts })))
}

/// Asks the model for a fact about the user in these messages, and stores it if there is one.
pub(crate) async fn keep(app: &App, user: &str, messages: &[Message]) {
    let question = format!(
        "Name one fact about the user that is worth remembering, in a short sentence. Answer NONE if there is none.\n\n{}",
        Message::transcript(messages)
    );
    let answer = app
        .model
        .ask(mutant!("memory_caller", "lead_agent", "background:memory"), None, &question)
        .await
        .unwrap_or_default();
    let fact = mutant!("memory_untrimmed", &*answer, answer.trim());
    if !fact.is_empty() && (fact != "NONE" || mutant!("memory_of_none")) && !mutant!("memory_not_kept") {
        // The run is over, so nobody is left who could be told about an error.
        let _ = app.store.add_fact(user, fact);
    }
}
