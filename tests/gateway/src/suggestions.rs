//! Questions that the user might ask next.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
};
use serde_json::{Value, json};

use crate::{App, auth::User, error::HttpError, message::Message};

pub(crate) async fn suggest(
    State(app): State<Arc<App>>,
    user: User,
    Path(id): Path<String>,
) -> Result<Json<Value>, HttpError> {
    app.thread(&id, &user)?;
    let transcript = Message::transcript(&app.store.checkpoint(&id)?);
    let question = format!(
        "Suggest three short follow-up questions that the user might ask next in this conversation. \
         Answer with a JSON array of three strings only.\n\n{transcript}"
    );
    let answer = app.model.ask("suggest_agent", None, &question).await.unwrap_or_default();
    Ok(Json(json!({ "suggestions": parse(&answer) })))
}

/// The first list of strings, whatever is around it: models like to add a code fence or a sentence.
fn parse(answer: &str) -> Vec<String> {
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
