//! Functions for decoding requests that several APIs share.

use std::collections::{HashMap, VecDeque};

use crate::parts::fields::{self, WireError};
use crate::{Api, Call, Shared};
use retake_core::conversation::{Message, ToolCall};
use retake_core::json::{Json, Layout, Object};
use retake_core::key::is_blank;

/// What decoding an element of a conversation needs to know of the elements before it. Most APIs need little of it.
#[derive(Default)]
pub(super) struct Before<'a> {
    pub(super) names: ToolNames<'a>,
    pub(super) pending: Pending,
}

/// What the elements so far leave open.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    /// The names of the tools whose results come next, in the order of the calls.
    pub(super) next: VecDeque<String>,
    /// The calls that no result has answered yet, or those of an assistant message that is not complete.
    pub(super) calls: Vec<ToolCall>,
    /// The content of an assistant message that is not complete.
    pub(super) content: Vec<Json>,
}

/// Finds the name of a tool that was called earlier by the id of the call.
type Earlier<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// The names of the tools called so far, by call id. The key of a tool result contains the tool's name, but many APIs send
/// only the call id with the result.
#[derive(Default)]
pub(super) struct ToolNames<'a> {
    names: HashMap<String, String>,
    /// Returns the names of the tools that earlier elements called, if these are not among the names.
    earlier: Option<&'a Earlier<'a>>,
}

impl<'a> ToolNames<'a> {
    pub(super) fn after(earlier: &'a Earlier<'a>) -> ToolNames<'a> {
        ToolNames { names: HashMap::new(), earlier: Some(earlier) }
    }

    pub(super) fn learn<'c>(&mut self, calls: impl IntoIterator<Item = &'c ToolCall>) {
        let named = calls.into_iter().filter(|call| !call.id.is_empty());
        self.names.extend(named.map(|call| (call.id.clone(), call.name.clone())));
    }

    pub(super) fn of(&self, id: &str) -> Option<String> {
        self.names.get(id).cloned().or_else(|| self.earlier.filter(|_| !id.is_empty())?(id))
    }
}

/// The kind of the messages of a role.
pub(super) fn kind_of(role: &str) -> &str {
    match role {
        "user" => "human",
        "assistant" => "ai",
        other => other,
    }
}

/// Reads a call of a tool, whose id and arguments are under these keys.
pub(super) fn tool_call(call: &Json, id: &str, args: &str) -> Result<ToolCall, WireError> {
    Ok(ToolCall {
        id: fields::optional_string(call, id)?.unwrap_or_default().to_owned(),
        name: fields::string(call, "name")?.to_owned(),
        args: fields::given(call, args).cloned().unwrap_or_else(|| Json::object::<String>([])),
    })
}

/// How the requests of a chat API are read.
pub(super) struct Reader {
    /// The list of the conversation, which may not be empty.
    pub(super) list: &'static str,
    /// Decodes an element of the list. An error if that depends on what was served before.
    pub(super) element: fn(&Json, &mut Before<'_>) -> Result<Vec<Message>, WireError>,
    /// Decodes the rest of a request to a path, around the messages.
    pub(super) around: fn(&str, &Json, Vec<Shared>) -> Result<Call, WireError>,
}

impl Reader {
    /// Decodes a request to a path.
    pub(super) fn decode(&self, path: &str, body: &Json) -> Result<Call, WireError> {
        fields::request(body)?;
        fields::filled(body, self.list, self.list.trim_end_matches('s'))?;
        let mut before = Before::default();
        let messages = fields::each(body, self.list, |sent| (self.element)(sent, &mut before))?;
        (self.around)(path, body, messages.into_iter().flatten().map(Shared::from).collect())
    }
}

/// Decodes what most APIs call the same. The fields in `no_settings` have their own field in [`Call`], or identify something.
pub(super) fn call(
    api: Api,
    body: &Json,
    messages: Vec<Shared>,
    form: Json,
    no_settings: &[&str],
) -> Result<Call, WireError> {
    let (metadata, caller) = metadata(body)?;
    Ok(Call {
        extra: extra(body, &messages, no_settings),
        caller,
        metadata,
        stream: fields::flag(body, "stream")?,
        tools: fields::given(body, "tools").cloned().into(),
        model: fields::optional_string(body, "model")?.unwrap_or_default().to_owned(),
        form,
        settings: Json::Object(settings(fields::request(body)?, no_settings)),
        ..Call::of(api, messages)
    })
}

/// Returns the metadata of a request and the caller that it names. Users choose their metadata freely, so a `caller` that is
/// not a string is not an error; it is ignored.
pub(super) fn metadata(body: &Json) -> Result<(Option<Json>, Option<String>), WireError> {
    let metadata = fields::optional_object(body, "metadata")?;
    let caller = metadata.and_then(|data| data.str_of("caller")).map(str::to_owned);
    Ok((metadata.cloned(), caller))
}

/// The fields of a request that count for no other check: they identify who asks, or say what a provider keeps.
const EXTRA: [&str; 6] = ["metadata", "client_metadata", "user", "safety_identifier", "prompt_cache_key", "keep_alive"];

/// What the check `extra` says of a message without text and tool calls.
pub const EMPTY: &str = "empty";

/// Returns what the check `extra` compares: those of these fields that are no settings of the API, and what is said of messages.
pub(super) fn extra(body: &Json, messages: &[Shared], no_settings: &[&str]) -> Json {
    // One that says nothing is in no key.
    let says_nothing =
        |of: &Shared| of.tool_calls.is_empty() && of.content.as_str().map_or(!of.content.is_truthy(), is_blank);
    let is_empty = |of: &Shared| matches!(&*of.kind, "human" | "ai") && says_nothing(of);
    let extra_of =
        |of: &Shared| if is_empty(of) { Json::object([(EMPTY, Json::Bool(true))]) } else { of.extra.clone() };
    let of_messages = messages.iter().map(extra_of).enumerate().filter(|(_, extra)| *extra != Json::Null);
    let of_messages = Json::object(of_messages.map(|(index, extra)| (index.to_string(), extra)));
    let fields = EXTRA.into_iter().filter(|key| no_settings.contains(key));
    let mut extra: Object = fields.filter_map(|key| Some((key.into(), fields::given(body, key)?.clone()))).collect();
    if let Some(Json::Object(metadata)) = extra.get_mut("metadata") {
        metadata.remove("caller");
    }
    if of_messages.is_truthy() {
        extra.insert("messages".into(), of_messages);
    }
    Json::Object(extra)
}

/// Returns what counts for the check `extra` in a message as it was sent: the role of a prompt, and which parts may be cached.
pub(super) fn extra_of(sent: &Json) -> Json {
    let role = sent.get("role").filter(|role| matches!(role.as_str(), Some("system" | "developer")));
    extra_of_parts(role, sent.get("cache_control"), sent.get("content"))
}

/// The same, for a message whose parts are known.
pub(super) fn extra_of_parts(role: Option<&Json>, cached: Option<&Json>, content: Option<&Json>) -> Json {
    let cached_in =
        |value: &Json| Some(Json::object([("cache_control", fields::given(value, "cache_control")?.clone())]));
    let parts = content.and_then(Json::as_array).unwrap_or_default().iter().enumerate();
    let parts = Json::object(parts.filter_map(|(index, part)| Some((index.to_string(), cached_in(part)?))));
    let parts = Some(parts).filter(Json::is_truthy);
    let extra = [("role", role.cloned()), ("cache_control", cached.cloned()), ("content", parts)];
    let extra = Json::object(extra.into_iter().filter_map(|(key, value)| Some((key, value?))));
    Some(extra).filter(Json::is_truthy).unwrap_or(Json::Null)
}

/// Returns the fields of a request except those named in `but`.
pub(super) fn settings(sent: &Object, but: &[&str]) -> Object {
    sent.iter().filter(|(key, _)| !but.contains(&key.as_str())).map(|(k, v)| (k.clone(), v.clone())).collect()
}

/// Returns the text of all system messages, joined by empty lines.
pub fn system_of(messages: &[Shared]) -> String {
    let system = messages.iter().filter(|m| m.kind == "system").map(|m| text_of(&m.content));
    system.collect::<Vec<_>>().join("\n\n")
}

/// Returns the text of a message's content. The texts of several parts are concatenated; a part without text contributes its
/// JSON.
pub(super) fn text_of(content: &Json) -> String {
    let text_of_part = |part: &Json| match part.as_str().or(part.str_of("text")) {
        Some(text) => text.to_owned(),
        None => part.print(Layout::Python),
    };
    match content {
        Json::Array(parts) => parts.iter().map(text_of_part).collect(),
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

/// Returns content blocks as the content of a message: one string if all blocks are text, an array otherwise. Empty text
/// blocks are dropped.
pub(super) fn content_of(blocks: Vec<Json>) -> Json {
    let empty = |block: &Json| block.str_of("text") == Some("");
    let blocks: Vec<Json> = blocks.into_iter().filter(|block| !empty(block)).collect();
    let texts: Option<String> = blocks.iter().map(|block| block.str_of("text")).collect();
    texts.map_or(Json::Array(blocks), Json::Str)
}
