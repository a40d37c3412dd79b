//! Where a captured value is in an answer: `cookie:NAME`, `header:NAME`, `json:/pointer`, `sse:EVENT:/pointer`.

use crate::pointer::Pointer;

/// The source of a captured value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaptureFrom {
    /// A cookie that this answer or an earlier one sets.
    Cookie(String),
    Header(String),
    /// A value in the JSON body.
    Json(Pointer),
    /// A value in an event: in the first event of this name that has the value.
    Sse {
        /// The event's name.
        event: String,
        /// The place in its payload.
        pointer: Pointer,
    },
}
