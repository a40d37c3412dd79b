//! Live tools: what executes an action, with one file for each kind of target.

mod closure;
mod command;
mod http;
#[cfg(all(feature = "mcp", unix))]
mod mcp;
mod targets;

pub(super) use closure::Closure;
pub(super) use command::Command;
pub(super) use http::Http;
#[cfg(all(feature = "mcp", unix))]
pub(super) use mcp::Mcp;
pub(super) use targets::{Bound, TIMEOUT, Target, Targets};

/// Returns a value of serde as JSON.
fn json(value: &impl serde::Serialize) -> retake_core::json::Json {
    let text = serde_json::to_vec(value).unwrap_or_default();
    retake_core::json::Json::parse(&text).unwrap_or(retake_core::json::Json::Null)
}
