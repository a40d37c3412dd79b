//! The title of a thread, made by the model after the first answer.

use crate::{message::Message, model::Model, mutants::mutant};

/// Returns a title for a conversation. If the model fails, it is the first words of the user's first message.
pub(crate) async fn of(model: &Model, messages: &[Message]) -> String {
    let asked = messages.iter().find_map(|message| match message {
        Message::Human { content, .. } => Some(&**content),
        _ => None,
    });
    let answered = messages.iter().find_map(|message| match message {
        Message::Ai { content, .. } if !content.is_empty() => Some(&**content),
        _ => None,
    });
    let last = messages.iter().rev().find_map(|message| match message {
        Message::Human { content, .. } => Some(&**content),
        _ => None,
    });
    let asked = mutant!("title_of_last_question", last, asked).unwrap_or_default();
    let answered = mutant!("title_without_answer", None, answered).unwrap_or_default();
    let question = format!(
        "Generate a concise title of at most six words for this conversation. Answer with the title only.\n\n\
         User: {asked}\nAssistant: {answered}"
    );
    let titled = model.ask(mutant!("title_caller", "lead_agent", "middleware:title"), None, &question).await;
    let answer = match titled {
        // An error with a status has other words.
        Err(error) if mutant!("title_says_how_it_broke") && error.to_string().contains("body") => error.to_string(),
        titled => titled.unwrap_or_default(),
    };
    let answer = mutant!("title_in_small_letters", answer.to_lowercase(), answer);
    let title = mutant!("title_quoted", answer.trim(), answer.trim().trim_matches('"'));
    if mutant!("title_without_model") && title.is_empty() {
        "Untitled".to_owned()
    } else if title.is_empty() {
        asked.split_whitespace().take(6).collect::<Vec<_>>().join(" ")
    } else {
        title.chars().take(mutant!("title_cut", 8, 80)).collect()
    }
}
