//! The model server: what a system under test takes for its provider.
//!
//! In replay it answers each call with the turn that was recorded for it, or with a miss; recording, it passes the call
//! on and writes down what comes back. Replay works without HTTP as well, for agents in the process: see [`Replay`].

mod activity;
mod caller_rule;
mod callers;
mod checked;
mod explain;
pub(crate) mod kept;
mod lint;
mod miss;
mod other_wire;
#[cfg(feature = "record")]
mod record;
mod registry;
mod replay;
mod replay_model;
mod route;
mod server;
#[cfg(feature = "record")]
mod upstream;

pub use activity::Activity;
pub use callers::CallerRules;
pub use checked::Checked;
pub(crate) use explain::change;
pub use lint::Flaw;
pub use miss::{Miss, Reason};
#[cfg(feature = "record")]
pub use record::Recorder;
pub(crate) use registry::unjudged;
pub use registry::{Scope, ServedTurn, misses, reset, served};
pub use replay::{Asked, DriftOf, Replay, Served};
pub use replay_model::ReplayModel;
pub use server::{Delays, Mode, ModelServer, ServerOptions, Urls};
#[cfg(feature = "record")]
pub use upstream::{Upstream, Upstreams};

#[cfg(test)]
mod tests;
