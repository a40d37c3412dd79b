//! The form of the answer that a call asks for: what changes how an answer looks, by presence and kind alone (KEY.md, section 5).
//! All of it is also in the settings, byte for byte, apart from the version.

use super::Target;
use super::parts::fields::given;
use retake_core::json::{Json, Object};

/// The kinds of response formats.
const JSON: &str = "json";
const SCHEMA: &str = "schema";

pub(super) fn openai_chat(body: &Json) -> Json {
    let in_options = |key| body.get("stream_options").is_some_and(|options| is_on(options, key));
    Form::default()
        .on("usage", is_on(body, "stream") && in_options("include_usage"))
        .on("choices", is_above(body.get("n"), 1))
        .on("stop", is_filled(body.get("stop")))
        .kind(body.pointer("/response_format/type"))
        .on("logprobs", is_on(body, "logprobs") || is_above(body.get("logprobs"), 0))
        .into()
}

pub(super) fn openai_responses(body: &Json) -> Json {
    let included = body.get("include").and_then(Json::as_array).unwrap_or_default();
    let logprobs = included.iter().any(|part| part.as_str() == Some("message.output_text.logprobs"));
    Form::default()
        .kind(body.pointer("/text/format/type"))
        .on("logprobs", logprobs || is_above(body.get("top_logprobs"), 0))
        .into()
}

pub(super) fn anthropic(body: &Json) -> Json {
    let format = body.pointer("/output_config/format/type").or_else(|| body.pointer("/output_format/type"));
    Form::default().on("stop", is_filled(body.get("stop_sequences"))).kind(format).into()
}

pub(super) fn bedrock(body: &Json) -> Json {
    let format = body.pointer("/outputConfig/textFormat/type");
    Form::default().on("stop", is_filled(body.pointer("/inferenceConfig/stopSequences"))).kind(format).into()
}

pub(super) fn gemini(body: &Json) -> Json {
    let config = given(body, "generationConfig").or_else(|| given(body, "generation_config")).unwrap_or(&Json::Null);
    // The API parses requests as protobuf's JSON, where each field has two spellings.
    let of = |camel: &str, snake: &str| config.get(camel).or_else(|| config.get(snake));
    let schema = of("responseSchema", "response_schema").or_else(|| of("responseJsonSchema", "response_json_schema"));
    let format = match of("responseMimeType", "response_mime_type").and_then(Json::as_str) {
        _ if is_filled(schema) => Some(SCHEMA),
        None | Some("text/plain") => None,
        Some("application/json") => Some(JSON),
        Some(other) => Some(other),
    };
    Form::default()
        .on("choices", is_above(of("candidateCount", "candidate_count"), 1))
        .on("stop", is_filled(of("stopSequences", "stop_sequences")))
        .kind(format.map(Json::from).as_ref())
        .on("logprobs", of("responseLogprobs", "response_logprobs").is_some_and(Json::is_truthy))
        .into()
}

pub(super) fn ollama(body: &Json) -> Json {
    let format = match body.get("format") {
        Some(Json::Str(word)) if !word.is_empty() => Some(word.as_str()),
        Some(Json::Object(_)) => Some(SCHEMA),
        _ => None,
    };
    Form::default()
        .on("stop", is_filled(body.pointer("/options/stop")))
        .kind(format.map(Json::from).as_ref())
        .on("logprobs", is_on(body, "logprobs"))
        .into()
}

/// Adds the version segments of the path: `v1`, or none as for Ollama.
pub(super) fn add_version(form: &mut Json, target: Target<'_>) {
    let version = target.version();
    if let (Some(form), false) = (form.as_object_mut(), version.is_empty()) {
        form.insert("version".into(), version.into());
    }
}

/// Contains only what differs from an answer without any of these options.
#[derive(Default)]
struct Form(Object);

impl Form {
    fn on(mut self, option: &str, on: bool) -> Form {
        if on {
            self.0.insert(option.into(), true.into());
        }
        self
    }

    /// Sets the kind of response format, from the API's own word for it.
    fn kind(mut self, word: Option<&Json>) -> Form {
        let kind = match word.and_then(Json::as_str) {
            None | Some("text") => return self,
            Some("json_object") => JSON,
            Some("json_schema") => SCHEMA,
            Some(other) => other,
        };
        self.0.insert("format".into(), kind.into());
        self
    }
}

impl From<Form> for Json {
    fn from(form: Form) -> Json {
        Json::Object(form.0)
    }
}

fn is_on(object: &Json, key: &str) -> bool {
    matches!(object.get(key), Some(Json::Bool(true)))
}

fn is_above(count: Option<&Json>, limit: u64) -> bool {
    count.and_then(Json::as_u64).is_some_and(|count| count > limit)
}

fn is_filled(value: Option<&Json>) -> bool {
    value.is_some_and(Json::is_truthy)
}

#[cfg(test)]
mod tests;
