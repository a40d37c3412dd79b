//! Questions that the user might ask next.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
    http::StatusCode,
};
use serde_json::{Value, json};

use crate::{App, auth::User, error::HttpError, message::Message, mutants::mutant};

pub(crate) async fn suggest(
    State(app): State<Arc<App>>,
    user: User,
    Path(id): Path<String>,
) -> Result<Json<Value>, HttpError> {
    app.thread(&id, &user)?;
    let mut messages = app.store.checkpoint(&id);
    if mutant!("suggestions_of_last_answer") {
        messages.drain(..messages.len().saturating_sub(1));
    }
    let transcript = Message::transcript(&messages);
    let question = format!(
        "Suggest three short follow-up questions that the user might ask next in this conversation. \
         Answer with a JSON array of three strings only.\n\n{transcript}"
    );
    if mutant!("suggestions_asked_twice") {
        let _ = app.model.ask("suggest_agent", None, &question).await;
    }
    let asked = app.model.ask(mutant!("suggestions_caller", "lead_agent", "suggest_agent"), None, &question).await;
    if mutant!("suggestions_fail_with_model") && asked.is_err() {
        return Err(HttpError::new(StatusCode::BAD_GATEWAY, "the model failed"));
    }
    if mutant!("suggestions_expect_text") && asked.as_ref().is_ok_and(String::is_empty) {
        return Err(HttpError::new(StatusCode::BAD_GATEWAY, "the model said nothing"));
    }
    let mut suggestions = parse(&asked.unwrap_or_default());
    if mutant!("suggestions_two") {
        suggestions.truncate(2);
    }
    if mutant!("suggestions_reversed") {
        suggestions.reverse();
    }
    if mutant!("suggestions_bare") {
        return Ok(Json(json!(suggestions)));
    }
    Ok(Json(json!({ mutant!("suggestions_key", "questions", "suggestions"): suggestions })))
}

/// Returns the list of strings in an answer, whatever is around it, since models like to add a code fence or a sentence.
/// Empty if there is none.
fn parse(answer: &str) -> Vec<String> {
    if mutant!("suggestions_fence") {
        return serde_json::from_str(answer).unwrap_or_default();
    }
    let list = answer.find('[').zip(answer.rfind(']')).and_then(|(from, to)| answer.get(from..=to));
    list.and_then(|list| serde_json::from_str(list).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_list_is_found_whatever_is_around_it() {
        assert_eq!(parse("```json\n[\"a?\", \"b?\"]\n```"), ["a?", "b?"]);
        for nothing in ["", "no list", "][", "[1, 2]", "[\"a\""] {
            assert!(parse(nothing).is_empty(), "{nothing}");
        }
    }
}
