//! Live tools: what executes an action, with one file for each kind of target.

mod closure;
mod command;
mod http;
#[cfg(all(feature = "mcp", unix))]
mod mcp;
#[cfg(not(all(feature = "mcp", unix)))]
mod no_mcp;
mod targets;

pub(crate) use closure::Closure;
pub(crate) use command::Command;
pub(crate) use http::Http;
#[cfg(all(feature = "mcp", unix))]
pub(crate) use mcp::Mcp;
#[cfg(not(all(feature = "mcp", unix)))]
pub(crate) use no_mcp::Mcp;
pub(crate) use targets::{Bound, TIMEOUT, Target, Targets};
