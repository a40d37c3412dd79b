//! What a system sends its clients: a response body becomes events, and events become the text of a golden.
//!
//! [`Capture`] reads a body as it comes, server-sent events or JSON lines. [`golden`] reduces what was captured to its
//! shape: the sequence of the events, then one tree of keys and types for each event name. Both are pure: neither
//! reads a socket or a file, and neither asserts.

mod capture;
mod event;
mod merge;
mod notation;
mod outline;
mod scalars;
mod sequence;
mod shape;
mod shared;

pub use capture::{Capture, Format};
pub use event::{Event, Payload};
pub use shape::{Captured, Detail, ShapeOptions, Status, event_keys, golden};
