//! The form of the answer that a call asks for: what changes how an answer looks, by presence and kind alone (KEY.md, section 5).
//! All of it is also in the settings, byte for byte, apart from the version.

use super::parts::fields::given;
use retake_core::json::Json;

/// The kinds of response formats.
const JSON: &str = "json";
const SCHEMA: &str = "schema";

pub(super) fn openai_chat(body: &Json) -> Json {
    let in_options = |key| body.get("stream_options").is_some_and(|options| is_on(options, key));
    let options = [
        ("usage", is_on(body, "stream") && in_options("include_usage")),
        ("choices", is_above(body.get("n"), 1)),
        ("stop", is_filled(body.get("stop"))),
        ("logprobs", is_on(body, "logprobs") || is_above(body.get("logprobs"), 0)),
    ];
    form(options, body.pointer("/response_format/type").and_then(Json::as_str))
}

pub(super) fn openai_responses(body: &Json) -> Json {
    let included = body.get("include").and_then(Json::as_array).unwrap_or_default();
    let logprobs = included.iter().any(|part| part.as_str() == Some("message.output_text.logprobs"));
    let logprobs = logprobs || is_above(body.get("top_logprobs"), 0);
    form([("logprobs", logprobs)], body.pointer("/text/format/type").and_then(Json::as_str))
}

pub(super) fn anthropic(body: &Json) -> Json {
    let format = body.pointer("/output_config/format/type").or_else(|| body.pointer("/output_format/type"));
    form([("stop", is_filled(body.get("stop_sequences")))], format.and_then(Json::as_str))
}

pub(super) fn bedrock(body: &Json) -> Json {
    let format = body.pointer("/outputConfig/textFormat/type").and_then(Json::as_str);
    form([("stop", is_filled(body.pointer("/inferenceConfig/stopSequences")))], format)
}

pub(super) fn gemini(body: &Json) -> Json {
    let config = given(body, "generationConfig").or_else(|| given(body, "generation_config")).unwrap_or(&Json::Null);
    // The API parses requests as protobuf's JSON, where each field has two spellings.
    let of = |camel: &str, snake: &str| config.get(camel).or_else(|| config.get(snake));
    let schema = of("responseSchema", "response_schema").or_else(|| of("responseJsonSchema", "response_json_schema"));
    let format = match of("responseMimeType", "response_mime_type").and_then(Json::as_str) {
        _ if is_filled(schema) => Some(SCHEMA),
        Some("text/plain") => None,
        Some("application/json") => Some(JSON),
        other => other,
    };
    let options = [
        ("choices", is_above(of("candidateCount", "candidate_count"), 1)),
        ("stop", is_filled(of("stopSequences", "stop_sequences"))),
        ("logprobs", is_filled(of("responseLogprobs", "response_logprobs"))),
    ];
    form(options, format)
}

pub(super) fn ollama(body: &Json) -> Json {
    let format = match body.get("format") {
        Some(Json::Str(word)) if !word.is_empty() => Some(word.as_str()),
        Some(Json::Object(_)) => Some(SCHEMA),
        _ => None,
    };
    form([("stop", is_filled(body.pointer("/options/stop"))), ("logprobs", is_on(body, "logprobs"))], format)
}

/// Returns only what differs from an answer without any of these options. `format` is the API's own word for the kind of response format.
fn form<const N: usize>(options: [(&str, bool); N], format: Option<&str>) -> Json {
    let kind = match format {
        None | Some("text") => None,
        Some("json_object") => Some(JSON),
        Some("json_schema") => Some(SCHEMA),
        other => other,
    };
    let on = options.into_iter().filter(|(_, on)| *on).map(|(option, _)| (option, true.into()));
    Json::object(on.chain(kind.map(|kind| ("format", kind.into()))))
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
