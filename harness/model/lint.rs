//! What is wrong with a call by itself: tool calls and results that do not belong together. A provider may refuse it, or
//! let it pass and answer the worse.

use crate::conversation::{Message, ToolCall};
use crate::wire::{Api, Call};

/// What is wrong with one call of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtocolFlaw {
    /// Who made the call, where that is known.
    pub caller: Option<String>,
    /// The turn that answered it; `None` for a miss, and while recording.
    pub turn: Option<usize>,
    /// What is wrong: `a tool result without its call: call_1`.
    pub what: String,
}

/// What is wrong with a conversation, in its order: a tool result without its call, a call without its result, an empty
/// id where the API needs one.
pub(super) fn flaws(call: &Call) -> Vec<String> {
    // Of a conversation that goes on from another one, a part is not here.
    let goes_on = |message: &Message| {
        let mut blocks = message.content.as_array().unwrap_or_default().iter();
        blocks.any(|b| {
            b.get("previous_response_id").is_some()
                || b.get("conversation").is_some()
                || b.str_of("type") == Some("item_reference")
        })
    };
    if call.api == Api::Opaque || call.messages.iter().any(goes_on) {
        return Vec::new();
    }
    let needs_ids = matches!(call.api, Api::OpenAiChat | Api::OpenAiResponses | Api::Anthropic);
    let mut open: Vec<&ToolCall> = Vec::new();
    let mut flaws = Vec::new();
    for message in &call.messages {
        if message.kind != "tool" {
            open.extend(&message.tool_calls);
            continue;
        }
        let name = message.name.as_deref().unwrap_or_default();
        let answered = match message.tool_call_id.as_deref() {
            Some("") if needs_ids => {
                flaws.push("an empty id: of a tool result".to_owned());
                open.iter().position(|call| call.id.is_empty())
            }
            Some(id) if !id.is_empty() => {
                let by_id = open.iter().position(|call| call.id == id);
                by_id.or_else(|| open.iter().position(|call| !needs_ids && call.id.is_empty() && call.name == name))
            }
            // Functions of OpenAI's first kind, and APIs that go by name and order. What has neither is of another kind.
            _ if name.is_empty() => continue,
            _ => open.iter().position(|call| call.name == name),
        };
        match (answered, message.tool_call_id.as_deref().filter(|id| !id.is_empty())) {
            (Some(at), _) => {
                let answered = open.remove(at);
                if needs_ids && answered.id.is_empty() && message.tool_call_id.is_some() {
                    flaws.push(format!("an empty id: of the call of `{}`", answered.name));
                }
            }
            (None, Some(id)) => flaws.push(format!("a tool result without its call: `{id}`")),
            (None, None) if name.is_empty() => {}
            (None, None) => flaws.push(format!("a tool result without its call: of `{name}`")),
        }
    }
    flaws.extend(open.iter().map(|call| match call.id.as_str() {
        "" => format!("a tool call without its result: of `{}`", call.name),
        id => format!("a tool call without its result: `{id}` of `{}`", call.name),
    }));
    flaws
}

#[cfg(test)]
mod tests;
