//! A call as it is looked up: its caller, its canonical conversation and the texts of its checks.

use std::sync::Arc;

use super::checked::Checked;
use crate::json::Json;
use crate::wire::Api;

/// A call that looks for its turn.
#[derive(Clone, Debug)]
pub struct Lookup {
    /// How the call came, for people: `POST /v1/chat/completions`.
    pub via: String,
    /// The API that it came over; `None` for a call in the process.
    pub api: Option<Api>,
    /// The caller's canonical name, where the call declared it or a rule gave it.
    pub caller: Option<String>,
    /// The canonical conversation.
    pub conversation: Vec<Json>,
    /// Texts of prompt, tools, model and settings, where the call tells them.
    pub checks: Option<Arc<Checked>>,
}

impl Lookup {
    /// Whether this is no call of a chat model, but a request that is looked up as a whole.
    pub(super) fn is_opaque(&self) -> bool {
        self.conversation.first().is_some_and(|message| message.str_of("type") == Some("opaque"))
    }
}
