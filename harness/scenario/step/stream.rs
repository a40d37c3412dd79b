//! Where a stream of events begins and ends.

/// The first and the last event of a stream, as far as the step names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamSpec {
    /// The event that has to come first.
    pub first: Option<String>,
    /// The event at which the capture stops. A stream that ends before it fails.
    pub last: Option<String>,
    /// Whether the client leaves at `last` although the stream goes on.
    pub cancel: bool,
}
