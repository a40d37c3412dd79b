//! Reads traces that Langfuse exports: a trace with its observations, or observations alone, one on each line.

use retake_core::json::Json;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::span::{Span, field, folded, opened, text_field};

/// The spans of an export.
/// An error names the first field that is not what an export has.
pub(super) fn spans(export: &Json) -> Result<Vec<Span>, String> {
    let held = export.get("observations").or_else(|| export.pointer("/trace/observations"));
    let observations = match held.or_else(|| export.get("data").filter(|page| page.as_array().is_some())) {
        Some(Json::Array(observations)) => &observations[..],
        Some(other) => return Err(format!("`observations`: expected a list, found {}", other.kind())),
        None => std::slice::from_ref(export),
    };
    let trace = export.get("trace").unwrap_or(export);
    let trace = trace.str_of("id").filter(|_| export.get("observations").is_some() || export.get("trace").is_some());
    let each = observations.iter().enumerate();
    each.map(|(index, observation)| span(observation, trace).map_err(|error| format!("`observations[{index}]{error}")))
        .collect()
}

/// Whether a value is such an export.
pub(super) fn is_one(export: &Json) -> bool {
    let is_observation = |value: &Json| field(value, "traceid").is_some() && value.get("type").is_some();
    let page = export.get("data").and_then(Json::as_array).is_some_and(|page| page.first().is_some_and(is_observation));
    export.get("observations").is_some() || export.get("trace").is_some() || page || is_observation(export)
}

fn span(observation: &Json, trace: Option<&str>) -> Result<Span, String> {
    let Some(fields) = observation.as_object() else {
        return Err(format!("`: expected an object, found {}", observation.kind()));
    };
    // The API writes `traceId`, the export to a bucket `trace_id`.
    let text = |name: &str| text_field(observation, &folded(name)).unwrap_or_default().to_owned();
    let id = text("id");
    if id.is_empty() {
        return Err(".id`: expected an id, found nothing".to_owned());
    }
    let mut span = Span {
        trace: text_field(observation, "traceid").or(trace).unwrap_or_default().to_owned(),
        id,
        parent: text("parentObservationId"),
        name: text("name"),
        start: nanoseconds(&text("startTime")),
        end: nanoseconds(&text("endTime")),
        failed: (observation.str_of("level") == Some("ERROR")).then(|| text("statusMessage")),
        ..Span::default()
    };
    // What the instrumentation sent is in the metadata; what Langfuse made of it comes under names of its own.
    let opened = |value: Option<&Json>| value.and_then(|value| opened(value).ok()).unwrap_or_default();
    let attributes = |of: Json| of.into_object().into_iter().flatten().map(|(name, value)| (name.to_string(), value));
    let metadata = opened(fields.get("metadata"));
    let scope = opened(metadata.get("scope")).get("name").cloned().unwrap_or_default();
    let sent = opened(metadata.get("attributes"));
    span.fields.extend(attributes(metadata).chain(attributes(sent)));
    span.fields.insert("otel.scope.name".to_owned(), scope);
    for name in ["input", "output", "model", "provided_model_name", "providedModelName"] {
        span.fields.extend(fields.get(name).map(|value| (format!("langfuse.observation.{name}"), value.clone())));
    }
    let kind = text("type").to_ascii_lowercase();
    span.fields.insert("langfuse.observation.type".to_owned(), kind.into());
    for group in ["usageDetails", "usage"] {
        let counts = attributes(opened(field(observation, &folded(group))));
        span.fields.extend(counts.map(|(name, count)| (format!("{group}.{name}"), count)));
    }
    Ok(span)
}

/// Nanoseconds since 1970 of a time; 0 if the text is none. The export to a bucket writes UTC, and does not say so.
fn nanoseconds(text: &str) -> u64 {
    let text = text.trim().replacen(' ', "T", 1);
    let time = [&text, &format!("{text}Z")].into_iter().find_map(|text| OffsetDateTime::parse(text, &Rfc3339).ok());
    time.and_then(|time| u64::try_from(time.unix_timestamp_nanos()).ok()).unwrap_or(0)
}
