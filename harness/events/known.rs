//! What a golden depends on besides the events and its options.

use super::held::Named;
use super::recorded::Recorded;

/// What is known of a run besides its events: what the model answered, and what the committed golden names. Without any of
/// this, the usual keys tell what is a text.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The texts in the recorded answers.
    pub recorded: Recorded,
    /// The places of texts that the committed golden names. Texts of other events are looked for in the run.
    pub named: Named,
}
