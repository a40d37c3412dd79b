//! Requests about the model server itself, below `/__retake/`: a test program that uses the server can ask for its health, its
//! misses and its report. Only a server that is started on its own has such a companion; the server of a stage has none.

use std::fmt::Debug;

use axum::body::Body as HttpBody;
use axum::http::Method;

use super::handler::ServerState;
use super::http::{self, Incoming};
use retake_core::json::Json;
use retake_wire::Response;

/// Answers requests about the server itself.
pub trait Companion: Debug + Send + Sync {
    /// Returns the answer to a request for this path below `/__retake/`, or `None` if it does not know the method and path.
    fn answer(&self, method: &Method, path: &str, body: &[u8]) -> Option<Response>;
}

/// Returns the companion's answer to a request for this path. No key is needed, because only the system under test has it, and other
/// programs may ask. Pages of other servers are refused, also those whose own name leads to this machine.
pub(super) async fn answer(
    companion: &dyn Companion,
    path: &str,
    incoming: &mut Incoming,
    body: HttpBody,
    state: &ServerState,
) -> Response {
    if let Some(why) = incoming.foreign(incoming.brings_key(&state.key)) {
        http::drain(body).await;
        return refused(403, why);
    }
    incoming.read(body, &state.room).await;
    let nothing =
        || refused(404, "below /__retake/ there are only GET health, metrics, misses and report, and POST reset");
    companion.answer(&incoming.method, path, &incoming.body).unwrap_or_else(nothing)
}

fn refused(status: u16, why: &str) -> Response {
    Response::json(status, Json::object([("error", why.into())]))
}
