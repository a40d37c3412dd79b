//! What a system sends its clients: a response body becomes events.

mod capture;
mod event;

pub use capture::{Capture, Format};
pub use event::{Event, Payload};
