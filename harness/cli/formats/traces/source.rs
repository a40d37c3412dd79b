//! Reads the files of traces: JSON, or JSON lines, of either format.

use std::path::{Path, PathBuf};

use retake_base::error::{Error, Place, Result};
use retake_core::json::{Json, Object};

use super::span::{Span, field, names};
use super::{langfuse, otlp};
use crate::formats::files;
use crate::project::input;

/// The format of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TraceFormat {
    Otlp,
    Langfuse,
}

/// The endings of files that are read from folders.
const ENDINGS: [&str; 3] = ["json", "jsonl", "ndjson"];

/// Formats of traces that are told and not read: fields that only they have, whose they are, and how to get OTLP instead.
const OTHERS: [(&str, &str, &str); 8] = [
    ("traceid spans processes", "Jaeger's own format", JAEGER),
    ("localendpoint", "Zipkin's format", ZIPKIN),
    ("runtype", "LangSmith's own format", "LANGSMITH_OTEL_ENABLED=true makes the service send OTLP"),
    ("context spankind", "Phoenix's own format", SERVICE),
    ("context.spanid", "Phoenix's own format", SERVICE),
    ("rootspanid spanattributes", "Braintrust's own format", SERVICE),
    ("opname inputs", "Weave's own format", SERVICE),
    ("context kind", "what a console exporter of OpenTelemetry prints", SERVICE),
];
const JAEGER: &str = "GET /api/v3/traces/ID of Jaeger's query service answers with OTLP";
const ZIPKIN: &str = "send the spans through a Collector with the receiver `zipkin` and the exporter `file`";
const SERVICE: &str =
    "set OTEL_EXPORTER_OTLP_ENDPOINT for the service to the address of `retake import otlp --listen 127.0.0.1:4318`";

/// All spans of files and folders; `-` is standard input. Also lines about what was skipped.
/// One error for each file that cannot be read, with the place in it.
pub(crate) fn read(format: TraceFormat, inputs: &[PathBuf]) -> Result<(Vec<Span>, Vec<String>), Vec<Error>> {
    let read = |path: &Path| of_bytes(format, &input((path != Path::new("-")).then_some(path))?);
    let (files, skipped, errors) = files::each(inputs, &ENDINGS, read).map_err(|error| vec![error])?;
    let spans = files.into_iter().flat_map(|(_, spans)| spans).collect();
    if errors.is_empty() { Ok((otlp::join_records(spans), skipped)) } else { Err(errors) }
}

/// The spans of a file, or which other format it has.
/// The first thing that is wrong with it, with its place.
pub(super) fn of_bytes(format: TraceFormat, bytes: &[u8]) -> Result<Result<Vec<Span>, String>> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let place = |line, column| Place { line, column };
    let lines = || bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.trim_ascii().is_empty());
    // A file of lines is told by its first line, which is JSON by itself.
    let by_lines = lines().count() > 1 && lines().next().is_some_and(|(_, line)| Json::parse_request(line).is_ok());
    let parts = if by_lines { lines().collect() } else { vec![(0, bytes)] };
    let mut messages: Vec<(Option<Place>, Json)> = Vec::new();
    for (line, part) in parts {
        match Json::parse_request(part).map_err(|e| Error::new(e.message).at(place(line + e.line, e.column)))? {
            value if by_lines => messages.push((Some(place(line + 1, 1)), value)),
            Json::Array(list) => messages.extend(list.into_iter().map(|message| (None, message))),
            value => messages.push((None, value)),
        }
    }
    let (is_one, spans_of, own) = if format == TraceFormat::Otlp { OTLP } else { LANGFUSE };
    let told = if by_lines { &messages[..1] } else { &messages[..] };
    if told.is_empty() || !told.iter().all(|(_, message)| is_one(message)) {
        let first = messages.first().map_or(&Json::Null, |(_, message)| message);
        return Ok(Err(format!("{own}{}", format.told(first))));
    }
    let mut spans = Vec::new();
    for (place, message) in &messages {
        let error = |what| place.map_or_else(|| Error::new(&what), |place| Error::new(&what).at(place));
        spans.extend(spans_of(message).map_err(error)?);
    }
    Ok(Ok(spans))
}

/// Whether a value has a format, how its spans are read, and the line about any other value.
type Reader = (fn(&Json) -> bool, fn(&Json) -> Result<Vec<Span>, String>, &'static str);

const OTLP: Reader = (otlp::is_one, otlp::spans, "not OTLP: expected `resourceSpans` or `resourceLogs`");
const LANGFUSE: Reader = (langfuse::is_one, langfuse::spans, NO_OBSERVATIONS);
const NO_OBSERVATIONS: &str = "not an export of Langfuse: expected `observations`, or an observation on each line";

impl TraceFormat {
    /// What a file is that does not have this format, as far as that is known.
    fn told(self, value: &Json) -> String {
        let (other, is_other) = if self == TraceFormat::Otlp { ("langfuse", LANGFUSE.0) } else { ("otlp", OTLP.0) };
        if is_other(value) {
            return format!("\n  it is of the format `{other}`: retake import {other} FILE");
        }
        // What tells a format is in a value, or in the first elements of its lists.
        let lists = value.as_object().into_iter().flat_map(Object::values).chain([value]);
        let samples: Vec<&Json> = lists.filter_map(|list| list.as_array()?.first()).chain([value]).collect();
        let has = |fields: &str| samples.iter().any(|value| names(fields).all(|name| field(value, name).is_some()));
        let found = OTHERS.iter().find(|(fields, ..)| has(fields));
        found.map(|(_, what, how)| format!("\n  it is {what}; to get OTLP: {how}")).unwrap_or_default()
    }
}
