//! The requests of steps, and their fingerprints.

use serde::Serialize;

use std::collections::BTreeMap;

use super::finite::Search;
use retake_core::json::{Json, Layout, Object};
use retake_core::key::Hash;

/// Fields of a message that vary between attempts, although the message is the same.
const OF_A_MESSAGE: [&str; 3] = ["timestamp", "run_id", "conversation_id"];
/// Fields of a part of a message that vary between attempts.
const OF_A_PART: [&str; 1] = ["timestamp"];

/// Settings that control how a request is sent, and not what it says.
const OF_TRANSPORT: [&str; 14] = [
    "timeout",
    "timeout_ms",
    "timeout_secs",
    "request_timeout",
    "connect_timeout",
    "read_timeout",
    "retry",
    "retries",
    "max_retries",
    "num_retries",
    "cache_key",
    "prompt_cache_key",
    "cache_retention",
    "prompt_cache_retention",
];

/// A request to a model: everything that determines the answer.
///
/// Its fingerprint is the SHA-256 of all parts of the request, as JSON with sorted keys, except for:
/// - `timestamp`, `run_id` and `conversation_id` of each message;
/// - `timestamp` of each part of a message, in `parts` or in a `content` of typed parts;
/// - settings that are null, and timeouts, retries and cache keys (`timeout`, `max_retries`, `prompt_cache_key`, …). If no
///   other settings are left, the fingerprint is the same as without settings.
///
/// Fields at a deeper level are never left out: an argument with the name `run_id` counts.
///
/// NaN and the infinities count as distinct values, although JSON cannot express them, and so do keys of a map that are no strings:
/// `{1: 2}` is not `{"1": 2}`.
///
/// A value that does not serialize to JSON, such as a map whose keys are lists, cannot be fingerprinted. A
/// collection without a fixed order, such as a `HashSet`, has a different fingerprint in each process.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    model: String,
    messages: Part,
    settings: Part,
    tools: Part,
    output_schema: Part,
    params: Part,
}

/// A call of a tool. Its fingerprint is the SHA-256 of its name, arguments and call id, as JSON with sorted keys.
///
/// The order of keys does not matter; `1` and `1.0` differ.
#[derive(Clone, Debug)]
pub struct ToolRequest {
    pub(super) name: String,
    args: Part,
    call_id: Option<String>,
    pub(super) replayable: bool,
}

/// A part of a request, or the reason why it is not JSON.
type Part = Result<Given, String>;

/// A part of a request as JSON, and what JSON cannot express of it: serde_json writes NaN, the infinities and `None` all as null, and
/// each key as a string.
#[derive(Clone, Debug, Default)]
struct Given {
    json: Json,
    not_finite: Vec<String>,
    other_keys: Vec<String>,
}

/// A fingerprint, and a short one of each part of the request that is there.
pub(super) type Fingerprint = (Hash, BTreeMap<String, String>);

/// How many digits the fingerprint of a part has, which only tells what differs.
const SHORT: usize = 16;

impl Given {
    fn map(self, change: impl FnOnce(Json) -> Json) -> Given {
        Given { json: change(self.json), ..self }
    }
}

impl ModelRequest {
    /// Creates a request from the model's name and the messages, in whatever form the agent has them.
    pub fn new(model: &str, messages: &(impl Serialize + ?Sized)) -> ModelRequest {
        let absent = || Ok(Given::default());
        ModelRequest {
            model: model.to_owned(),
            messages: part("messages", messages),
            settings: absent(),
            tools: absent(),
            output_schema: absent(),
            params: absent(),
        }
    }

    /// Sets the settings, such as the temperature and the token limit.
    #[must_use]
    pub fn settings(self, settings: &(impl Serialize + ?Sized)) -> ModelRequest {
        ModelRequest { settings: part("settings", settings), ..self }
    }

    /// Sets the definitions of the tools that the model may call.
    #[must_use]
    pub fn tools(self, tools: &(impl Serialize + ?Sized)) -> ModelRequest {
        ModelRequest { tools: part("tools", tools), ..self }
    }

    /// Sets the schema that the answer has to follow.
    #[must_use]
    pub fn output_schema(self, schema: &(impl Serialize + ?Sized)) -> ModelRequest {
        ModelRequest { output_schema: part("output_schema", schema), ..self }
    }

    /// Sets everything else that determines the answer, such as the output mode and the tools that the provider runs itself.
    #[must_use]
    pub fn params(self, params: &(impl Serialize + ?Sized)) -> ModelRequest {
        ModelRequest { params: part("params", params), ..self }
    }

    /// Returns the fingerprint, or the reason why there is none.
    pub(super) fn fingerprint(&self) -> Result<Fingerprint, String> {
        Ok(hash([
            ("model", part("model", &self.model)?),
            ("messages", self.messages.clone()?.map(messages_that_count)),
            ("settings", self.settings.clone()?.map(settings_that_count)),
            ("tools", self.tools.clone()?),
            ("output_schema", self.output_schema.clone()?),
            ("params", self.params.clone()?),
        ]))
    }
}

impl ToolRequest {
    /// Creates a call of a tool from its name and its arguments.
    pub fn new(name: &str, args: &(impl Serialize + ?Sized)) -> ToolRequest {
        ToolRequest { name: name.to_owned(), args: part("args", args), call_id: None, replayable: true }
    }

    /// Sets the id that the model gave the call. A new answer of the model has new ids, so its tools run again.
    #[must_use]
    pub fn call_id(self, id: &str) -> ToolRequest {
        ToolRequest { call_id: Some(id.to_owned()), ..self }
    }

    /// Marks a tool that has to run each time. Its step gets a number, but is never stored or served.
    #[must_use]
    pub fn not_replayable(self) -> ToolRequest {
        ToolRequest { replayable: false, ..self }
    }

    /// Returns the fingerprint, or the reason why there is none.
    pub(super) fn fingerprint(&self) -> Result<Fingerprint, String> {
        Ok(hash([
            ("name", part("name", &self.name)?),
            ("args", self.args.clone()?),
            ("call_id", part("call_id", &self.call_id)?),
        ]))
    }
}

fn part(what: &str, value: &(impl Serialize + ?Sized)) -> Part {
    let text = serde_json::to_vec(value).map_err(|e| format!("`{what}` is not JSON: {e}"))?;
    let json = Json::parse(&text).map_err(|e| format!("`{what}` is not JSON: {}", e.message))?;
    let Search { not_finite, other_keys, .. } = Search::of(value);
    Ok(Given { json, not_finite, other_keys })
}

/// Hashes the parts of a request. Absent parts are left out, so fingerprints stay the same if a later version adds parts.
fn hash<const N: usize>(parts: [(&str, Given); N]) -> Fingerprint {
    let of = |fields: &Object| Hash::of(Json::Object(fields.clone()).print(Layout::Python).as_bytes());
    let (mut present, mut short) = (Object::new(), BTreeMap::new());
    for (name, Given { json, not_finite, other_keys }) in parts {
        let mut part = Object::new();
        for (what, lost) in [("not finite", not_finite), ("keys that are no strings", other_keys)] {
            if !lost.is_empty() {
                part.insert(format!("{name}, {what}").into(), Json::Array(lost.into_iter().map(Json::Str).collect()));
            }
        }
        if json != Json::Null {
            part.insert(name.into(), json);
        }
        if !part.is_empty() {
            short.insert(name.to_owned(), of(&part).to_string().chars().take(SHORT).collect());
        }
        present.extend(part);
    }
    (of(&present), short)
}

fn messages_that_count(mut messages: Json) -> Json {
    let Json::Array(all) = &mut messages else { return messages };
    for message in all.iter_mut().filter_map(Json::as_object_mut) {
        message.retain(|field, _| !OF_A_MESSAGE.contains(&field.as_str()));
        for list in ["parts", "content"] {
            let Some(Json::Array(parts)) = message.get_mut(list) else { continue };
            // An element of a `content` list is a part only if it has a type. Others may be a tool's own data.
            let parts = parts.iter_mut().filter(|part| list == "parts" || part.str_of("type").is_some());
            for part in parts.filter_map(Json::as_object_mut) {
                part.retain(|field, _| !OF_A_PART.contains(&field.as_str()));
            }
        }
    }
    messages
}

fn settings_that_count(settings: Json) -> Json {
    let Json::Object(mut fields) = settings else { return settings };
    fields.retain(|field, value| *value != Json::Null && !OF_TRANSPORT.contains(&field.as_str()));
    if fields.is_empty() { Json::Null } else { Json::Object(fields) }
}
