//! What a program that uses a server beside its tests may ask of the server itself, below `/__retake/`. A system under
//! test can ask nothing of the kind: only a server that is started alone has a companion.

use std::fmt::Debug;

use axum::http::Method;

use super::http::Incoming;
use crate::json::Json;
use crate::wire::Response;

/// Answers what is asked of a server itself.
pub(crate) trait Companion: Debug + Send + Sync {
    /// The answer to a request for a path below `/__retake/`; `None` where it knows none of this method and path.
    fn answer(&self, method: &Method, path: &str, body: &[u8]) -> Option<Response>;
}

/// The companion's answer to a request that is meant for it; `None` where the request is a call. It takes no key, as who
/// asks may be another program than the system that has it; a page of another server may not ask.
pub(super) fn answer(companion: &dyn Companion, incoming: &Incoming) -> Option<Response> {
    let path = incoming.uri.path().strip_prefix("/__retake/")?;
    if incoming.is_of_a_page() {
        return Some(refused(403, "a page of another server may not ask this"));
    }
    let nothing = || refused(404, "there are GET health, GET misses, GET report and POST reset below /__retake/");
    Some(companion.answer(&incoming.method, path, &incoming.body).unwrap_or_else(nothing))
}

fn refused(status: u16, why: &str) -> Response {
    Response::json(status, Json::object([("error", why.into())]))
}
