//! Accounts and sessions. A session cookie identifies the user. Every request but a GET must repeat the CSRF cookie in
//! the header `X-CSRF-Token`.

use std::sync::Arc;

use axum::{
    Json,
    extract::{FromRequestParts, State, rejection::JsonRejection},
    http::{HeaderMap, Method, StatusCode, header, request::Parts},
    response::{AppendHeaders, IntoResponse},
};
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use crate::{App, error::HttpError, mutants::mutant};

/// A client may send a password too. It is ignored, because there is no way to sign in again.
#[derive(Deserialize)]
pub(crate) struct Registration {
    email: String,
}

pub(crate) async fn register(
    State(app): State<Arc<App>>,
    body: Result<Json<Registration>, JsonRejection>,
) -> Result<impl IntoResponse, HttpError> {
    let email = body?.0.email.trim().to_owned();
    let email = mutant!("email_case", email.clone(), email.to_lowercase());
    if !mutant!("email_unchecked")
        && !email.split_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty())
    {
        return Err(HttpError::new(StatusCode::UNPROCESSABLE_ENTITY, "email is not an e-mail address"));
    }
    let (user, session, csrf) = (new_id(), new_id(), new_id());
    if !app.store.register(&user, &email, &session)? {
        return Err(HttpError::new(StatusCode::CONFLICT, "email is registered already"));
    }
    let cookies = AppendHeaders([
        (
            header::SET_COOKIE,
            format!("session={session}; Path=/{}; SameSite=Lax", mutant!("cookie_of_scripts", "", "; HttpOnly")),
        ),
        (
            header::SET_COOKIE,
            format!("csrf_token={csrf}; Path=/{}", mutant!("cookie_of_all_sites", "", "; SameSite=Lax")),
        ),
    ]);
    let told = mutant!("register_tells_name", email.split('@').next().unwrap_or_default(), &email);
    let mut body = json!({ "user_id": user, "email": told });
    if mutant!("register_tells_session") {
        body["session"] = json!(session);
    }
    if mutant!("register_id_key") {
        body = json!({ "id": user, "email": email });
    }
    Ok((mutant!("register_200", StatusCode::OK, StatusCode::CREATED), cookies, Json(body)))
}

/// The id of the signed-in user who sent a request.
pub(crate) struct User(pub(crate) String);

impl FromRequestParts<Arc<App>> for User {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, HttpError> {
        let session = cookie(&parts.headers, "session").unwrap_or_default();
        let refused = mutant!("no_session_403", StatusCode::FORBIDDEN, StatusCode::UNAUTHORIZED);
        let user = match app.store.user_of(session) {
            None if mutant!("session_unchecked") => String::new(),
            user => user.ok_or_else(|| HttpError::new(refused, "no valid session"))?,
        };
        let only_post = mutant!("csrf_on_post_only") && parts.method != Method::POST;
        if parts.method != Method::GET && !only_post && !mutant!("csrf_unchecked") {
            let sent = parts.headers.get("x-csrf-token").and_then(|value| value.to_str().ok());
            let missing = sent.is_none_or(str::is_empty);
            let other = sent != cookie(&parts.headers, "csrf_token") && !mutant!("csrf_any_token");
            if mutant!("csrf_optional", !missing && other, missing || other) {
                let detail = "the X-CSRF-Token header is not the csrf_token cookie";
                return Err(HttpError::new(StatusCode::FORBIDDEN, detail));
            }
        }
        Ok(Self(user))
    }
}

fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let pairs = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let mut pairs = pairs.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

pub(crate) fn new_id() -> String {
    Uuid::new_v4().to_string()
}
