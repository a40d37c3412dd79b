//! Decodes a request into a [`Call`].

use super::items::{conversation_of, items_of, tool_call};
use crate::parts::fields::{self, WireError};
use crate::request::{self, Before, Pending, Reader, ToolNames};
use crate::{Api, Call, Known, Shared, form};
use retake_core::conversation::{Message, ToolCall};
use retake_core::json::Json;

/// The fields that are not settings: those that have their own field in [`Call`], and those that identify a user, a session
/// or an earlier response.
const NO_SETTINGS: [&str; 13] = [
    "input",
    "instructions",
    "tools",
    "model",
    "stream",
    "stream_options",
    "metadata",
    "client_metadata",
    "conversation",
    "previous_response_id",
    "prompt_cache_key",
    "safety_identifier",
    "user",
];

/// Reads requests that do not refer to what was served before.
pub(crate) const READER: Reader = Reader { list: "input", element, around };

pub(crate) fn decode(body: &Json, known: &Known) -> Result<Call, WireError> {
    fields::request(body)?;
    let mut conversation = Conversation::default();
    if let Some(id) = conversation_of(body) {
        match known.conversation(id) {
            None => {
                conversation.content.push(Json::object([("conversation", id.into())]));
                conversation.flush();
            }
            Some(items) => {
                for item in items {
                    conversation.add(item, known).map_err(|error| error.within("conversation"))?;
                }
            }
        }
    }
    if let Some(id) = fields::optional_string(body, "previous_response_id")? {
        let (unknown, items) = known.history(id);
        if let Some(id) = unknown {
            conversation.content.push(Json::object([("previous_response_id", id.into())]));
            conversation.flush();
        }
        for item in items {
            conversation.add(item, known).map_err(|error| error.within("previous_response_id"))?;
        }
    }
    for (i, item) in items_of(body)?.iter().enumerate() {
        let read = match item {
            Json::Object(_) => conversation.add(item, known).map_err(|e| e.within(format_args!("input[{i}]"))),
            _ => Err(WireError::expected(&format!("input[{i}]"), "an object", Some(item))),
        };
        read?;
    }
    conversation.flush();
    around("", body, conversation.messages.into_iter().map(Shared::from).collect())
}

/// Decodes one element of `input`: returns the messages that are complete now.
fn element(sent: &Json, before: &mut Before<'_>) -> Result<Vec<Message>, WireError> {
    if sent.str_of("type") == Some("item_reference") {
        return Err(WireError::new("it refers to what was served before"));
    }
    let pending = std::mem::take(&mut before.pending);
    let names = std::mem::take(&mut before.names);
    let mut conversation = Conversation { messages: Vec::new(), names, content: pending.content, calls: pending.calls };
    let read = conversation.add(sent, &Known::default());
    let Conversation { messages, names, content, calls } = conversation;
    *before = Before { names, pending: Pending { calls, content, ..Pending::default() } };
    read.map(|()| messages)
}

/// Returns the assistant message that is not complete after the last element.
pub(crate) fn last(Pending { content, calls, .. }: Pending) -> Option<Message> {
    let mut conversation = Conversation { content, calls, ..Conversation::default() };
    conversation.flush();
    conversation.messages.pop()
}

/// Whether a request names a conversation that was served before.
pub(crate) fn goes_on(body: &Json) -> bool {
    conversation_of(body).is_some() || fields::given(body, "previous_response_id").is_some()
}

fn around(_: &str, body: &Json, items: Vec<Shared>) -> Result<Call, WireError> {
    fields::request(body)?;
    let instructions = fields::given(body, "instructions").filter(|text| text.is_truthy());
    let instructions = instructions.map(|text| Message { content: text.clone(), ..Message::new("system", "") }.into());
    let messages: Vec<Shared> = instructions.into_iter().chain(items).collect();
    request::call(Api::OpenAiResponses, body, messages, form::openai_responses(body), &NO_SETTINGS)
}

/// The messages so far, and the content and tool calls of an assistant message that is not complete yet.
#[derive(Default)]
struct Conversation<'a> {
    messages: Vec<Message>,
    names: ToolNames<'a>,
    content: Vec<Json>,
    calls: Vec<ToolCall>,
}

impl Conversation<'_> {
    fn add(&mut self, item: &Json, known: &Known) -> Result<(), WireError> {
        match fields::optional_string(item, "type")? {
            Some("item_reference") => {
                let id = fields::string(item, "id")?;
                match known.item(id) {
                    Some(served) => self.add(served, &Known::default())?,
                    None => self.content.push(item.clone()),
                }
            }
            Some("reasoning") => {}
            Some("function_call_output" | "custom_tool_call_output") => self.tool_result(item)?,
            Some(other) if other.ends_with("_output") && other != "tool_search_output" => {
                self.message("tool", Json::Array(vec![item.clone()]));
            }
            None | Some("message") => {
                let role = fields::string(item, "role")?;
                let content = match fields::given(item, "content") {
                    None => Vec::new(),
                    Some(text @ Json::Str(_)) => vec![text_block(text)],
                    Some(Json::Array(parts)) => parts.clone(),
                    found => return Err(WireError::expected("content", "a string or an array", found)),
                };
                match role {
                    "assistant" => self.content.extend(content),
                    role => {
                        self.message(kind_of(role), request::content_of(content));
                        self.messages.last_mut().into_iter().for_each(|it| it.extra = request::extra_of(item));
                    }
                }
            }
            Some(_) => match (tool_call(item)?, item.str_of("role")) {
                (Some(call), _) => self.calls.push(call),
                (None, Some(role)) if role != "assistant" => {
                    self.message(kind_of(role), Json::Array(vec![item.clone()]));
                }
                (None, _) => self.content.push(item.clone()),
            },
        }
        Ok(())
    }

    fn tool_result(&mut self, item: &Json) -> Result<(), WireError> {
        let id = fields::optional_string(item, "call_id")?.unwrap_or_default();
        let content = match fields::given(item, "output") {
            None => "".into(),
            Some(text @ Json::Str(_)) => text.clone(),
            Some(Json::Array(parts)) => request::content_of(parts.clone()),
            found => return Err(WireError::expected("output", "a string or an array", found)),
        };
        self.message("tool", content);
        let name = self.names.of(id);
        if let Some(message) = self.messages.last_mut() {
            message.name = name;
            message.tool_call_id = Some(id.to_owned());
        }
        Ok(())
    }

    /// Adds an item to the assistant message as it is.
    fn message(&mut self, kind: &str, content: Json) {
        self.flush();
        self.messages.push(Message { content, ..Message::new(kind, "") });
    }

    /// Completes the assistant message, if one has begun.
    fn flush(&mut self) {
        if self.content.is_empty() && self.calls.is_empty() {
            return;
        }
        let content = request::content_of(std::mem::take(&mut self.content));
        let tool_calls = std::mem::take(&mut self.calls);
        self.names.learn(&tool_calls);
        self.messages.push(Message { content, tool_calls, ..Message::new("ai", "") });
    }
}

fn kind_of(role: &str) -> &str {
    match role {
        "system" | "developer" => "system",
        other => request::kind_of(other),
    }
}

fn text_block(text: &Json) -> Json {
    Json::object([("type", Json::from("output_text")), ("text", text.clone())])
}

#[cfg(test)]
mod tests;
