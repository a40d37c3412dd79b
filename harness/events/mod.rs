//! What a system sends its clients: a response body becomes events, and events become the text of a golden.
//!
//! [`Capture`] reads a body as it comes, server-sent events or JSON lines. [`golden`] reduces what was captured to its
//! shape: the sequence of the events, then one tree of keys and types for each event name. Both are pure: neither
//! reads a socket or a file, and neither asserts.
//!
//! An option of goldens is a field of [`ShapeOptions`] (`options`); `sequence` heeds it where it is about events and their
//! order, `merge` and `outline` where it is about what is in their payloads. What a golden holds beside names, keys and types
//! is a pin: `lengths` and order of `lists`, `words`, `ids`, the `texts` of collapsed events, `payloads` as a whole; `pins` says where one is loose.

mod capture;
mod captured;
mod changes;
mod event;
mod ids;
mod labels;
mod lengths;
mod lists;
mod merge;
mod naming;
mod notation;
mod options;
mod outline;
mod payloads;
mod pins;
mod remembered;
mod scalars;
mod sequence;
mod shape;
mod texts;
mod tree;
mod value;
mod words;
mod written;

pub use capture::{Capture, Format};
pub use captured::{AfterLast, Captured, Ending, Status};
pub(crate) use changes::{Change, changes, changes_until_break, moved_and_counted};
pub use event::{Event, Payload};
pub(crate) use ids::is_id;
pub(crate) use naming::shown_nowhere;
pub use naming::{NamesNothing, names_nothing};
pub(crate) use notation::is_time;
pub use options::{Detail, Loose, ShapeOptions, TextAs};
pub use shape::{Golden, event_keys, golden};
