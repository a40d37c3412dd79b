//! A call as it is looked up: its caller, its canonical conversation and the texts of its checks.

use std::sync::Arc;

use super::checked::Checked;
use crate::json::Json;
use crate::key::Rules;
use crate::wire::{Api, Call};

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
    /// A call that came over HTTP. `caller` is as the call declares it, or as a rule gives it.
    pub(super) fn of(call: &Call, via: String, caller: Option<&str>, rules: &Rules, checks: Arc<Checked>) -> Lookup {
        Lookup {
            via,
            api: Some(call.api),
            caller: caller.map(|caller| rules.caller(Some(caller))),
            conversation: rules.canonical(call.messages.clone()),
            checks: Some(checks),
        }
    }

    /// Whether this is no call of a chat model, but a request that is looked up as a whole.
    pub(super) fn is_opaque(&self) -> bool {
        self.conversation.first().is_some_and(|message| message.str_of("type") == Some("opaque"))
    }
}
