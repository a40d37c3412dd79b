//! A call in the form in which its turn is looked up: its caller, its canonical conversation and the texts of its checks.

use std::sync::Arc;

use super::checked::Checked;
use super::conversation::Conversation;
use super::lint::FlawKind;
use retake_core::key::{Rules, RunningHash};
use retake_core::places::RunValues;
use retake_wire::{Api, Call};

/// A call whose turn is looked up.
#[derive(Clone, Debug)]
pub struct Lookup {
    /// How the call came, as it is printed: `POST /v1/chat/completions`.
    pub via: String,
    /// The API that the call came over; `None` for a call inside the process.
    pub api: Option<Api>,
    /// The caller's canonical name, if the call declares it or a rule gives it.
    pub caller: Option<String>,
    /// The canonical conversation.
    pub conversation: Conversation,
    /// The texts of prompt, tools, model and settings; `None` for a call inside the process.
    pub checks: Option<Arc<Checked>>,
    /// The caller as the call declares it, if the key by the rules of deer-flow's first fixtures counts too, because the fixture
    /// keeps only hashes.
    pub first_caller: Option<Option<String>>,
    /// What is wrong with the call, whatever its answer is.
    pub flaws: Vec<(FlawKind, String)>,
    /// The values of the run that the call says, which were taken back.
    pub values: RunValues,
}

impl Lookup {
    /// Makes the lookup of a call that came over HTTP. `hash` is the hash of its conversation, if it is known; `caller` is the declared caller, or the one that a rule gave; `protocol`
    /// lists what is wrong with the call's tool calls and results.
    pub fn of(
        call: &Call,
        via: String,
        hash: Option<RunningHash>,
        caller: Option<&str>,
        rules: &Arc<Rules>,
        checks: Arc<Checked>,
        protocol: Vec<String>,
    ) -> Lookup {
        let conversation = Conversation::of(call.messages.clone(), hash, rules);
        let protocol = protocol.into_iter().map(|flaw| (FlawKind::Protocol, flaw));
        // The hash of each message after the other is known at once, unless a reminder reaches over messages.
        let over = if conversation.hash.get().is_some() { None } else { rules.reminder_over_messages(&conversation) };
        let reminder = over.map(|it| (FlawKind::Key, it.to_string()));
        Lookup {
            first_caller: None,
            values: RunValues::default(),
            flaws: protocol.chain(reminder).collect(),
            via,
            api: Some(call.api),
            caller: caller.map(|caller| rules.caller(Some(caller))),
            conversation,
            checks: Some(checks),
        }
    }

    /// Whether this is not a call to a chat model, but a request that is looked up as a whole.
    pub(super) fn is_opaque(&self) -> bool {
        self.conversation.first().is_some_and(|message| message.str_of("type") == Some("opaque"))
    }
}
