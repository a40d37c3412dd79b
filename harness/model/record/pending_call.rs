//! A call that waits for its answer.

use axum::body::Bytes;
use axum::http::{HeaderMap, Method};

use crate::json::Json;
use crate::wire::{Api, Target};

/// A call that is passed on, or answered from an earlier recording.
#[derive(Clone)]
pub(crate) struct PendingCall {
    pub(crate) api: Api,
    pub(crate) provider: Api,
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) caller: Option<String>,
    pub(crate) model: String,
    pub(crate) request: Json,
}

impl PendingCall {
    /// The method and path that the call was sent to.
    pub(super) fn target(&self) -> Target<'_> {
        Target { method: self.method.as_str(), path: &self.path }
    }

    /// The path without the query, which may hold a key.
    pub(super) fn path_alone(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }
}
