//! What a system sends its clients: a response body becomes events, and events become the text of a golden.
//!
//! [`Capture`] reads a body as it comes, server-sent events or JSON lines. [`golden`] reduces what was captured to its
//! shape: the sequence of the events, then one tree of keys and types for each event name. Both are pure: neither
//! reads a socket or a file, and neither asserts.
//!
//! An option of goldens is a field of [`ShapeOptions`] (`options`); `sequence` heeds it where it is about events and their
//! order, `merge` and `outline` where it is about what is in their payloads.

mod capture;
mod event;
mod merge;
mod naming;
mod notation;
mod options;
mod outline;
mod remembered;
mod scalars;
mod sequence;
mod shape;

pub use capture::{Capture, Format};
pub use event::{Event, Payload};
pub use naming::{NamesNothing, names_nothing};
pub(crate) use notation::is_time;
pub use options::{Detail, ShapeOptions};
pub use shape::{Captured, Status, event_keys, golden};
