//! Where in an answer a captured value is: `cookie:NAME`, `header:NAME`, `json:/pointer`, `sse:EVENT:/pointer`.

use crate::scenario::pointer::Pointer;

/// The source of a captured value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaptureFrom {
    /// A cookie that the answer sets, or that an earlier one set.
    Cookie(String),
    /// A header of the answer.
    Header(String),
    /// A value in the JSON body.
    Json(Pointer),
    /// A value in the first event of that name that has it.
    Sse {
        /// The event's name.
        event: String,
        /// Where in its payload.
        pointer: Pointer,
    },
}
