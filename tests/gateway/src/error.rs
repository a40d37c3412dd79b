//! Errors: at startup ([`Error`]) and in a request ([`HttpError`]).

use std::fmt;

use axum::{
    Json,
    extract::rejection::JsonRejection,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::json;

use crate::mutants::mutant;

/// The service cannot start.
#[derive(Debug)]
pub struct Error {
    what: &'static str,
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl Error {
    pub(crate) fn because<E>(what: &'static str) -> impl FnOnce(E) -> Self
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        move |source| Self { what, source: source.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.source)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.source.as_ref())
    }
}

/// An error response: a status, and `{"detail": …}` as its body.
#[derive(Debug)]
pub(crate) struct HttpError(pub(crate) StatusCode, pub(crate) String);

impl HttpError {
    pub(crate) fn new(status: StatusCode, detail: &str) -> Self {
        Self(status, detail.to_owned())
    }

    pub(crate) fn not_found() -> Self {
        Self::new(mutant!("not_found_403", StatusCode::FORBIDDEN, StatusCode::NOT_FOUND), "not found")
    }
}

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        if mutant!("errors_200") {
            return Json(json!({ "detail": self.1 })).into_response();
        }
        if mutant!("errors_text") {
            return (self.0, self.1).into_response();
        }
        if mutant!("errors_silent") {
            return (self.0, Json(json!({ "detail": "something went wrong" }))).into_response();
        }
        (self.0, Json(json!({ mutant!("errors_key", "error", "detail"): self.1 }))).into_response()
    }
}

impl From<JsonRejection> for HttpError {
    fn from(rejection: JsonRejection) -> Self {
        Self(rejection.status(), rejection.body_text())
    }
}

impl From<std::io::Error> for HttpError {
    fn from(error: std::io::Error) -> Self {
        Self(StatusCode::INTERNAL_SERVER_ERROR, format!("the disk failed: {}", error.kind()))
    }
}
