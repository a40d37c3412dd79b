//! What a golden depends on besides the events and its options.

use super::chosen::Places;
use super::foreign::Foreign;

/// What is known of a run besides its events: what does not come from the service, and what the committed golden pins.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The texts that are not the service's own. Without them, no word counts as its own.
    pub foreign: Option<Foreign>,
    /// What the committed golden pins, if the run is compared with it. Otherwise it is found out anew what is pinned.
    pub committed: Option<Places>,
}
