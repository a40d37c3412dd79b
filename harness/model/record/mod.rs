//! Recording. Calls reach their provider through the relay of the command, which alone has the keys and speaks TLS.
//!
//! | file | holds |
//! |---|---|
//! | `pending_call` | what the recorder is asked |
//! | `recorder` | passes calls on to their provider, and the answers back |
//! | `relay` | the relay: its address, its key, and how it is asked |
//! | `stream` | passes an answer on while it arrives |
//! | `arrivals` | when the parts of an answer arrived |
//! | `call_writer` | writes the journal line of a call |
//! | `state` | what the calls of one recording share |
//! | `branch` | what differs from an earlier recording up to which a fork is replayed |
//! | `resume`, `cost` | the answers of an earlier recording, and what they save |

mod arrivals;
mod branch;
mod call_writer;
pub(crate) mod clock;
mod cost;
mod pending_call;
mod recorder;
pub mod relay;
mod resume;
mod state;
mod stream;

pub use branch::{Branch, Rewrite};
pub use cost::Cost;
pub(super) use pending_call::PendingCall;
pub use recorder::Recorder;
pub use resume::{Resume, merged};
pub use state::{OfModel, RecorderOptions, Tally};
