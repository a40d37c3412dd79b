//! Recording: the only place that reaches a provider.

mod last_frame;
mod recorder;
mod resume;
mod tally;
mod upstream;

pub(crate) use recorder::PendingCall;
pub use recorder::{Recorder, RecorderOptions};
pub(crate) use resume::merged;
pub use resume::{Cost, Resume};
pub use tally::{OfModel, Tally};
pub use upstream::{Upstream, Upstreams};
