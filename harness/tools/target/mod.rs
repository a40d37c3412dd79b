//! Live tools: what executes an action, one file a kind.

mod closure;
mod command;
mod http;
mod targets;

pub(crate) use closure::Closure;
pub(crate) use command::Command;
pub(crate) use http::Http;
pub(crate) use targets::{Bound, TIMEOUT, Targets};
