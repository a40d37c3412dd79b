//! The page that people see: plain files, which need no build.

use std::sync::Arc;

use axum::{
    Router,
    extract::Path,
    http::header,
    response::{Html, IntoResponse, Redirect, Response},
    routing::get,
};

use crate::{App, error::HttpError};

/// Name, type and text of each file beside the page itself.
const FILES: [(&str, &str, &str); 5] = [
    ("style.css", "text/css", include_str!("page/style.css")),
    ("app.js", "text/javascript", include_str!("page/app.js")),
    ("api.js", "text/javascript", include_str!("page/api.js")),
    ("thread.js", "text/javascript", include_str!("page/thread.js")),
    ("icon.svg", "image/svg+xml", include_str!("page/icon.svg")),
];

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(async || Redirect::to("/chat/new")))
        .route("/chat/{thread}", get(async || Html(include_str!("page/index.html"))))
        .route("/page/{file}", get(file))
}

async fn file(Path(name): Path<String>) -> Response {
    match FILES.iter().find(|(of_file, ..)| *of_file == name) {
        Some((_, kind, text)) => ([(header::CONTENT_TYPE, format!("{kind}; charset=utf-8"))], *text).into_response(),
        None => HttpError::not_found().into_response(),
    }
}
