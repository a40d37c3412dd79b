//! What the recorder is asked.

use axum::body::Bytes;
use axum::http::{HeaderMap, Method};

use retake_core::json::Json;
use retake_wire::{Api, Target};

/// A call that is passed on, or answered from an earlier recording.
#[derive(Clone)]
pub struct PendingCall {
    pub api: Api,
    pub provider: Api,
    pub method: Method,
    pub path: String,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub caller: Option<String>,
    pub model: String,
    pub request: Json,
}

impl PendingCall {
    /// The method and path that the call was sent to.
    pub(crate) fn target(&self) -> Target<'_> {
        Target { method: self.method.as_str(), path: &self.path }
    }
}
