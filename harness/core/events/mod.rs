//! What a system sends its clients: turns a response body into events, and events into a golden.
//!
//! [`Capture`] reads a body while it arrives, as server-sent events or JSON lines. [`Shaped`] reduces what was captured to its
//! shape, a [`Golden`]: the sequence of the events, then one tree of keys and types for each event name. A golden is data with a
//! text: one writer, one reader. [`changes`] finds what differs between two. All is pure: it reads no socket and no file, and it
//! does not assert anything.
//!
//! First `labels` reads the events, each payload once. Then `parallel` puts the events of tool calls that were made at once into the order of these calls.
//!
//! The options of goldens are the fields of [`ShapeOptions`] (`options`). The module `sequence` applies those about events and
//! their order; `merge` and `outline` apply those about payloads. Everything in a golden other than names, keys and types is
//! a pin: the `lengths` and the order of `lists`, `words`, `ids`, the `texts` of collapsed events, and the hash of all
//! `payloads`. The module `pins` decides which pins are loose.
//!
//! The `search` for the texts of collapsed events compares them with what was `recorded`, and knows the usual keys of texts that
//! were not. What is found is `held`: the golden names the places, and later runs are read by what it names. The module
//! `joined` puts the pieces of a text together, however it was cut.
//!
//! Which texts of other events are the model's is what `marked` says: what a golden names, or a replay shows in which the model's words
//! have a mark. The module `turns` says how a text repeats them, and `places` finds where.

mod beside;
mod capture;
mod captured;
mod changes;
mod chosen;
mod deeper_name;
mod early;
mod foreign;
mod golden;
mod headers;
mod held;
mod id_places;
mod ids;
mod joined;
mod labels;
mod lists;
mod lost;
mod marked;
mod merge;
mod naming;
mod notation;
mod options;
mod order;
mod outline;
mod parallel;
mod path;
mod payloads;
mod pins;
mod places;
mod recorded;
mod remembered;
mod scalars;
mod search;
mod sequence;
mod series;
mod shape;
mod texts;
mod times;
mod tokens;
mod told;
mod turns;
mod value;
mod words;

pub use capture::{Capture, Format};
pub use captured::{AfterLast, Captured, Delivery, Ending, Event, Payload, Status};
pub use changes::{Change, changes, changes_until_break, moved_and_counted, tangled};
pub use deeper_name::deeper_name;
pub use early::{Passing, Patience};
pub use foreign::Foreign;
pub use golden::{Format as GoldenFormat, Golden, Part as GoldenPart};
pub use headers::{is_held as is_held_header, new_headers, shown as shown_headers};
pub use id_places::IdPlaces;
pub use ids::{IdsTold, each_uuid, ids_told, is_id};
pub use marked::{Passed, Tells, held_nowhere};
pub use naming::{NamesNothing, names_nothing, shown_nowhere};
pub use notation::is_time;
pub use options::{Detail, Loose, ShapeOptions, TextAs};
pub use parallel::Calls;
pub use recorded::Recorded;
pub use shape::{Known, Shaped, event_keys, golden};
pub use times::{answered, form as time_form};
pub use turns::is_said;
pub use words::Exactly;
