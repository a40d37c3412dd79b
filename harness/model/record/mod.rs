//! Recording: the only place that reaches a provider.
//!
//! | file | holds |
//! |---|---|
//! | `recorder` | a call's way to its provider and back |
//! | `pending_call` | a call that waits for its answer |
//! | `upstream` | the providers: addresses and keys |
//! | `stream`, `last_frame` | an answer on its way through |
//! | `call_writer` | the line of a call in the journal |
//! | `state`, `tally` | what the calls of one recording share |
//! | `resume`, `cost` | answers of an earlier recording, and what they save |

mod arrivals;
mod call_writer;
mod cost;
mod last_frame;
mod pending_call;
mod recorder;
mod resume;
mod state;
mod stream;
mod tally;
mod upstream;

pub use cost::Cost;
pub(super) use pending_call::PendingCall;
pub use recorder::Recorder;
pub use resume::Resume;
pub(crate) use resume::merged;
pub use state::RecorderOptions;
pub use tally::{OfModel, Tally};
pub use upstream::{Upstream, Upstreams};
