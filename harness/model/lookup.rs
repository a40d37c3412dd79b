//! A call as it is looked up: its caller, its canonical conversation and the texts of its checks.

use std::sync::Arc;

use super::checked::Checked;
use super::lint::FlawKind;
use crate::json::Json;
use crate::key::{Key, Rules};
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
    /// The key by the rules of deer-flow's first fixtures, for turns of which hashes are all that is kept.
    pub first_key: Option<Key>,
    /// What is wrong with the call by itself.
    pub flaws: Vec<(FlawKind, String)>,
}

impl Lookup {
    /// A call that came over HTTP. `caller` is as the call declares it, or as a rule gives it.
    /// `protocol` is what is wrong with its tool calls and results.
    pub(super) fn of(
        call: &Call,
        via: String,
        caller: Option<&str>,
        rules: &Rules,
        checks: Arc<Checked>,
        protocol: Vec<String>,
    ) -> Lookup {
        let conversation = rules.canonical(call.messages.clone());
        let protocol = protocol.into_iter().map(|flaw| (FlawKind::Protocol, flaw));
        let reminder = rules.reminder_over_messages(&conversation).map(|it| (FlawKind::Key, it.to_string()));
        Lookup {
            first_key: None,
            flaws: protocol.chain(reminder).collect(),
            via,
            api: Some(call.api),
            caller: caller.map(|caller| rules.caller(Some(caller))),
            conversation,
            checks: Some(checks),
        }
    }

    /// Whether this is not a call of a chat model, but a request that is looked up as a whole.
    pub(super) fn is_opaque(&self) -> bool {
        self.conversation.first().is_some_and(|message| message.str_of("type") == Some("opaque"))
    }
}
