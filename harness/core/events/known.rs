//! What a golden depends on besides the events and its options.

use super::chosen::Places;
use super::foreign::Foreign;
use super::held::Named;
use super::parallel::Calls;
use super::recorded::Recorded;

/// What is known of a run besides its events: what the model answered, what does not come from the service, and what the committed
/// golden pins. Without any of this, the usual keys tell what is a text, and what is a word.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The texts in the recorded answers.
    pub recorded: Recorded,
    /// The tool calls in the recorded answers.
    pub calls: Calls,
    /// The texts that are not the service's own. Without them, no word counts as its own.
    pub foreign: Option<Foreign>,
    /// What the committed golden pins, if the run is compared with it. Otherwise it is found out anew what is pinned.
    pub committed: Option<Places>,
    /// The places of texts that the committed golden names. Texts of other events are looked for in the run.
    pub named: Named,
}
