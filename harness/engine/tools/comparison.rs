//! Compares what a tool returns now with what was recorded. Pure.

use std::collections::BTreeMap;

use super::difference::{Difference, differences};
use super::observed::Observed;
use retake_core::json::{Json, Layout, Object};
use retake_core::key::Normalizer;
use retake_core::secrets::{Fired, Scrub};

/// Fields of an event that differ in every run.
const OF_ONE_RUN: [&str; 5] = ["id", "timestamp", "action_id", "tool_call_id", "parent_id"];

/// How observations are compared, and what is left out.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// The built-in text rules and then the suite's, which are applied to both sides.
    pub normalizer: Normalizer,
    pub tools: BTreeMap<String, ToolRules>,
    /// Removes secrets: a recording holds none, so an observation loses its secrets before it is compared or written.
    pub scrub: Scrub,
}

/// What is left out when one tool's observations are compared.
#[derive(Clone, Debug, Default)]
pub struct ToolRules {
    /// JSON pointers into an observation's event, such as `/observation/metadata/pid`.
    pub ignore: Vec<String>,
    /// The text rules of this tool, applied after the suite's.
    pub normalizer: Option<Normalizer>,
}

impl Comparison {
    /// Returns the places at which two lists of observations differ, including their length and order. Empty if nothing drifted.
    pub(crate) fn differences(&self, tool: &str, expected: &[Json], actual: &[Observed]) -> Vec<Difference> {
        let mut found = Vec::new();
        for index in 0..expected.len().max(actual.len()) {
            let at = format!("/{index}");
            match (expected.get(index), actual.get(index)) {
                (Some(then), Some(now)) => {
                    let (mut then, mut now) = comparable(then, now);
                    self.reduce(tool, &mut then);
                    self.reduce(tool, &mut now);
                    render(&mut then, &mut now);
                    found.extend(differences(&at, Some(&then), Some(&now)));
                }
                (then, now) => found.push(Difference {
                    pointer: at,
                    expected: then.cloned(),
                    actual: now.map(|now| now.event(tool)),
                }),
            }
        }
        found
    }

    /// Removes and normalizes what may differ.
    fn reduce(&self, tool: &str, event: &mut Json) {
        self.scrub.json(event, &mut Fired::new());
        let rules = self.tools.get(tool);
        for pointer in rules.iter().flat_map(|rules| &rules.ignore) {
            remove(event, pointer);
        }
        normalize(event, &self.normalizer);
        if let Some(normalizer) = rules.and_then(|rules| rules.normalizer.as_ref()) {
            normalize(event, normalizer);
        }
    }
}

/// Returns a recorded event and a live observation in one form, reduced to the fields that the live observation can have.
fn comparable(then: &Json, now: &Observed) -> (Json, Json) {
    match now {
        Observed::Event(event) => (without_ids(then), without_ids(event)),
        Observed::Payload(fields) => {
            let mut then = payload(then);
            if !fields.contains_key("kind") {
                then.remove("kind");
            }
            let mut now = plain(fields.clone());
            for field in ["content", "is_error"] {
                // Both fields have a default, and a missing field has that value.
                let default = if field == "content" { Json::Str(String::new()) } else { Json::Bool(false) };
                let only_default = |object: &Object| object.get(field).is_none_or(|value| *value == default);
                if !now.contains_key(field) && only_default(&then) {
                    then.remove(field);
                }
            }
            if !then.contains_key("is_error") && now.get("is_error") == Some(&Json::Bool(false)) {
                now.remove("is_error");
            }
            (observation(then), observation(now))
        }
        Observed::Content { content, is_error, structured } => {
            let mut then = payload(then);
            then.retain(|field, _| matches!(&**field, "content" | "is_error" | STRUCTURED));
            let mut now = Object::new();
            now.insert("content".into(), content.clone());
            if then.contains_key("is_error") {
                now.insert("is_error".into(), (*is_error).into());
            }
            if let Some(structured) = structured {
                now.insert(STRUCTURED.into(), structured.clone());
            }
            (observation(then), observation(plain(now)))
        }
    }
}

/// The field that holds the structured form of a content until it is clear which of the two forms was recorded.
const STRUCTURED: &str = "structured_content";

fn observation(fields: Object) -> Json {
    Json::object([("observation", Json::Object(fields))])
}

fn without_ids(event: &Json) -> Json {
    let mut event = event.clone();
    if let Json::Object(fields) = &mut event {
        fields.retain(|field, value| !OF_ONE_RUN.contains(&field.as_str()) && *value != Json::Null);
    }
    event
}

/// Returns the observation that an event holds. An agent's error counts as a failed observation.
fn payload(event: &Json) -> Object {
    let failed = |text: Option<&str>| {
        Object::from_iter([("content".into(), text.unwrap_or_default().into()), ("is_error".into(), true.into())])
    };
    match event.str_of("kind") {
        Some("AgentErrorEvent") => failed(event.str_of("error")),
        Some("UserRejectObservation") => failed(event.str_of("rejection_reason")),
        _ => plain(event.get("observation").and_then(Json::as_object).cloned().unwrap_or_default()),
    }
}

/// Returns an observation without the parts that only depend on how the agent stores it.
fn plain(mut fields: Object) -> Object {
    fields.retain(|_, value| *value != Json::Null);
    let of_server = fields.get("kind").and_then(Json::as_str) == Some("MCPToolObservation");
    if let Some(Json::Array(blocks)) = fields.get_mut("content") {
        let announces = |block: &Json| {
            let text = block.str_of("text").unwrap_or_default();
            text.starts_with("[Tool '") && text.ends_with("' executed.]")
        };
        if of_server && blocks.first().is_some_and(announces) {
            blocks.remove(0);
        }
        for block in blocks {
            plain_block(block);
        }
    }
    fields
}

fn plain_block(block: &mut Json) {
    let Json::Object(fields) = block else { return };
    fields.retain(|name, value| *value != Json::Null && !matches!(&**name, "cache_prompt" | "annotations" | "_meta"));
    // OpenHands stores an MCP image in this form.
    if let (Some(Json::Str(data)), Some(Json::Str(mime))) = (fields.get("data"), fields.get("mimeType"))
        && fields.get("type").and_then(Json::as_str) == Some("image")
    {
        let url = Json::Str(format!("data:{mime};base64,{data}"));
        fields.retain(|name, _| name == "type");
        fields.insert("image_urls".into(), Json::Array(vec![url]));
    }
}

/// Gives both contents the same form: text if the recorded one is text, otherwise blocks. Frameworks join blocks to text in
/// different ways before a model sees them, so the way that yields the recorded text is used.
fn render(then: &mut Json, now: &mut Json) {
    let (Some(then), Some(now)) = (fields(then), fields(now)) else { return };
    // Where the recording has the structured form too, both are compared.
    let structured = if then.contains_key(STRUCTURED) { None } else { now.remove(STRUCTURED) };
    let (Some(expected), Some(actual)) = (then.get_mut("content"), now.get_mut("content")) else {
        // The tool returned fields where a text was recorded. That text may be the same fields as JSON.
        if let Some(text) = then.get("content").and_then(Json::as_str)
            && Json::parse(text.as_bytes()).is_ok_and(|json| json == Json::Object(now.clone()))
        {
            let content = then.get("content").cloned().unwrap_or(Json::Null);
            *now = Object::from_iter([("content".into(), content)]);
        }
        return;
    };
    match (&*expected, &*actual) {
        (Json::Str(text), Json::Array(blocks)) => {
            let as_json = Json::parse(text.as_bytes()).ok();
            let equal = as_json.is_some_and(|json| json == *actual || structured.is_some_and(|other| json == other));
            let rendered = if equal || joined(blocks, "\n") == *text { text.clone() } else { joined(blocks, "") };
            *actual = Json::Str(rendered);
        }
        (Json::Str(text), Json::Str(_)) => {
            let as_json = Json::parse(text.as_bytes()).ok();
            if as_json.is_some_and(|json| structured.is_some_and(|other| json == other)) {
                *actual = Json::Str(text.clone());
            }
        }
        (Json::Array(_), Json::Str(text)) => {
            let block = Json::object([("type", "text".into()), ("text", text.as_str().into())]);
            *actual = Json::Array(if text.is_empty() { Vec::new() } else { vec![block] });
        }
        _ => {}
    }
}

fn fields(event: &mut Json) -> Option<&mut Object> {
    let Json::Object(event) = event else { return None };
    match event.get_mut("observation") {
        Some(Json::Object(fields)) => Some(fields),
        _ => None,
    }
}

fn joined(blocks: &[Json], separator: &str) -> String {
    let texts = blocks.iter().map(|block| match block {
        Json::Str(text) => text.clone(),
        block => block.str_of("text").map_or_else(|| block.print(Layout::Python), str::to_owned),
    });
    texts.collect::<Vec<_>>().join(separator)
}

pub(super) fn normalize(json: &mut Json, normalizer: &Normalizer) {
    json.each_text_mut(&mut |text| *text = normalizer.apply(text).into_owned());
}

fn remove(json: &mut Json, pointer: &str) {
    let Some((parent, last)) = pointer.rsplit_once('/') else { return };
    let mut at = json;
    for token in parent.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        let next = match at {
            Json::Object(fields) => fields.get_mut(&*token),
            Json::Array(values) => token.parse().ok().and_then(|index: usize| values.get_mut(index)),
            _ => None,
        };
        let Some(next) = next else { return };
        at = next;
    }
    let last = last.replace("~1", "/").replace("~0", "~");
    match at {
        Json::Object(fields) => drop(fields.remove(&*last)),
        Json::Array(values) => {
            if let Some(value) = last.parse().ok().and_then(|index: usize| values.get_mut(index)) {
                *value = Json::Null;
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
