//! Where a stream of events begins and ends.

/// Which events a stream starts and ends with, where the step says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamSpec {
    /// The event that has to come first.
    pub first: Option<String>,
    /// The event at which the capture stops; the stream's end before it is a failure.
    pub last: Option<String>,
    /// Whether `last` is where the client leaves, though more would come.
    pub cancel: bool,
}
