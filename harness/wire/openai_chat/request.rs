//! Decodes a request into a [`Call`].

use super::tool_calls;
use crate::parts::fields::{self, WireError};
use crate::request::{self, Before, Reader};
use crate::{Api, Call, Shared, form};
use retake_core::conversation::Message;
use retake_core::json::Json;

/// The fields that are not settings: those that have their own field in [`Call`], and `user`, which identifies an end user.
const NO_SETTINGS: [&str; 7] = ["messages", "tools", "model", "stream", "stream_options", "metadata", "user"];

pub(crate) const READER: Reader = Reader { list: "messages", element, around };

fn around(_: &str, body: &Json, messages: Vec<Shared>) -> Result<Call, WireError> {
    let mut call = request::call(Api::OpenAiChat, body, messages, form::openai_chat(body), &NO_SETTINGS)?;
    let options = fields::optional_object(body, "stream_options")?;
    let include_usage = options.map_or(Ok(false), |options| fields::flag(options, "include_usage"));
    call.include_usage = include_usage.map_err(|error| error.within("stream_options"))?;
    if let (Json::Object(settings), None) = (&mut call.settings, fields::given(body, "tools")) {
        call.tools = settings.remove("functions").into();
    }
    Ok(call)
}

/// Decodes one element of `messages`.
fn element(sent: &Json, before: &mut Before<'_>) -> Result<Vec<Message>, WireError> {
    let names = &mut before.names;
    let kind = match fields::string(sent, "role")? {
        "tool" | "function" => "tool",
        "system" | "developer" => "system",
        other => request::kind_of(other),
    };
    let tool_calls = tool_calls::of_message(sent)?;
    names.learn(&tool_calls);

    let tool_call_id = fields::optional_string(sent, "tool_call_id")?;
    let called_tool = || names.of(tool_call_id.filter(|_| kind == "tool")?);
    let name = fields::optional_string(sent, "name")?.filter(|name| !name.is_empty());
    Ok(vec![Message {
        content: content(sent, kind)?,
        name: name.map(str::to_owned).or_else(called_tool),
        tool_calls,
        tool_call_id: tool_call_id.map(str::to_owned),
        extra: request::extra_of(sent),
        ..Message::new(kind, "")
    }])
}

fn content(sent: &Json, kind: &str) -> Result<Json, WireError> {
    match fields::given(sent, "content") {
        None => Ok("".into()),
        Some(text @ Json::Str(_)) => Ok(text.clone()),
        Some(Json::Array(parts)) => {
            let kept = parts.iter().filter(|part| kind != "ai" || !is_thought(part));
            Ok(Json::Array(kept.cloned().collect()))
        }
        found => Err(WireError::expected("content", "a string or an array", found)),
    }
}

/// Whether a part of an assistant's content is reasoning, which is not part of the conversation.
fn is_thought(part: &Json) -> bool {
    matches!(part.str_of("type"), Some("thinking" | "redacted_thinking" | "reasoning"))
}

#[cfg(test)]
mod tests;
