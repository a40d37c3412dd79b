//! What a model server has served so far, for requests that name it instead of repeating it.

/// What was served: empty for APIs whose requests hold the whole conversation.
#[derive(Clone, Debug, Default)]
pub struct Known {}
