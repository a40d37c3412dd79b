//! The model server: what a system under test takes for its provider.
//!
//! In replay it answers each call with the turn that was recorded for it, or with a miss; recording, it passes the call
//! on and writes down what comes back. Replay works without HTTP as well, for agents in the process: see [`Replay`].

mod activity;
mod caller_rule;
mod callers;
mod checked;
pub(crate) mod explain;
pub(crate) mod kept;
#[cfg(feature = "record")]
mod last_frame;
mod lint;
mod miss;
mod other_wire;
#[cfg(feature = "record")]
mod record;
mod registry;
mod replay;
mod replay_model;
#[cfg(feature = "record")]
mod resume;
mod route;
mod server;
#[cfg(feature = "record")]
mod tally;
#[cfg(feature = "record")]
mod upstream;

pub use activity::Activity;
pub use callers::{CallerRule, CallerRules, OfferedTools, When};
pub use checked::Checked;
pub(crate) use explain::change;
pub use lint::Flaw;
pub use miss::{Miss, Reason};
#[cfg(feature = "record")]
pub use record::{Recorder, RecorderOptions};
pub(crate) use registry::unjudged;
pub use registry::{Scope, ServedTurn, misses, reset, served};
pub(crate) use replay::Missed;
pub use replay::{Asked, DriftOf, Replay, Served};
pub use replay_model::ReplayModel;
#[cfg(feature = "record")]
pub(crate) use resume::merged;
#[cfg(feature = "record")]
pub use resume::{Cost, Resume};
pub use server::{Delays, Mode, ModelServer, ServerOptions, Urls};
#[cfg(feature = "record")]
pub use tally::{OfModel, Tally};
#[cfg(feature = "record")]
pub use upstream::{Upstream, Upstreams};

#[cfg(test)]
mod tests;
