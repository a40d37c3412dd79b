//! The page for people: static files that need no build.

use std::sync::Arc;

use axum::{
    Router,
    extract::Path,
    http::header,
    response::{Html, IntoResponse, Redirect, Response},
    routing::get,
};

use crate::{App, error::HttpError, mutants::mutant};

/// The name, content type and text of each file that the page loads.
const FILES: [(&str, &str, &str); 5] = [
    ("style.css", "text/css", include_str!("page/style.css")),
    ("app.js", "text/javascript", include_str!("page/app.js")),
    ("api.js", "text/javascript", include_str!("page/api.js")),
    ("thread.js", "text/javascript", include_str!("page/thread.js")),
    ("icon.svg", "image/svg+xml", include_str!("page/icon.svg")),
];

/// The style of a message's text.
const TEXT: &str = ".text { white-space: pre-wrap; }";

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(async || Redirect::to("/chat/new")))
        .route("/chat/{thread}", get(async || Html(include_str!("page/index.html"))))
        .route("/page/{file}", get(file))
}

async fn file(Path(name): Path<String>) -> Response {
    match FILES.iter().find(|(of_file, ..)| *of_file == name) {
        Some((_, kind, text)) => {
            ([(header::CONTENT_TYPE, format!("{kind}; charset=utf-8"))], written(text)).into_response()
        }
        None => HttpError::not_found().into_response(),
    }
}

/// Returns the text of a file. If a mutant of the page is active, its line replaces the right one.
fn written(text: &str) -> String {
    let lines = [
        (mutant!("page_title_kept"), "if (payload.title) entitle(payload.title);", ""),
        (
            mutant!("page_message_anew"),
            "shown.get(message.id) ?? add(message.id, takeSaid(message) ??",
            "(takeSaid(message) ??",
        ),
        (mutant!("page_calls_running"), "status === \"error\" ? \"failed\" : \"done\"", "\"running\""),
        (mutant!("page_suggestions_never"), "if (asked === current && !busy) suggest(questions);", ""),
        (mutant!("page_history_newest_first"), "})).reverse();", "}));"),
        (mutant!("page_answer_transparent"), TEXT, ".text { opacity: 0; }"),
        (mutant!("page_answer_unreadable"), TEXT, ".text { color: var(--paper); background: var(--paper); }"),
        (mutant!("page_answer_flat"), TEXT, ".text { height: 0; overflow: hidden; }"),
        (mutant!("page_answer_outside"), TEXT, ".text { position: absolute; left: -99rem; }"),
        (
            mutant!("page_answer_covered"),
            TEXT,
            ".text { position: relative; } .text::after { content: \"\"; position: absolute; inset: 0; background: var(--raised); }",
        ),
        (mutant!("page_break_silent"), "throw new BrokenOff(error.message);", "return;"),
    ];
    let made = lines.into_iter().find(|(is_made, ..)| *is_made);
    made.map_or_else(|| text.to_owned(), |(_, right, mistaken)| text.replace(right, mistaken))
}
