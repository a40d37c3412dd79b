//! A call that waits for its answer.

use axum::body::Bytes;
use axum::http::HeaderMap;

use crate::json::Json;
use crate::wire::Api;

/// A call that is passed on, or answered from an earlier recording.
#[derive(Clone)]
pub(crate) struct PendingCall {
    pub(crate) api: Api,
    pub(crate) provider: Api,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) caller: Option<String>,
    pub(crate) model: String,
    pub(crate) request: Json,
}

impl PendingCall {
    /// The path without the query: it may hold a key.
    pub(super) fn path_alone(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }
}
