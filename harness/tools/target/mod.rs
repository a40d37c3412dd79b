//! Live tools: what executes an action, with one file for each kind of target.

mod closure;
mod command;
mod http;
#[cfg(all(feature = "mcp", unix))]
mod mcp;
#[cfg(not(all(feature = "mcp", unix)))]
mod no_mcp;
mod targets;

pub use closure::Closure;
pub use command::Command;
pub use http::Http;
#[cfg(all(feature = "mcp", unix))]
pub use mcp::Mcp;
#[cfg(not(all(feature = "mcp", unix)))]
pub use no_mcp::Mcp;
pub use targets::{Bound, TIMEOUT, Target, Targets};
