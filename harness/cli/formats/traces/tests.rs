//! Tests of the importers of traces.

mod agreement;
mod conventions;
mod dialects;
mod libraries;
mod losses;
mod odd;
mod spoilt;
mod wild;

use std::collections::BTreeMap;
use std::path::Path;

use retake_core::json::{Json, Layout};
use retake_core::key::Rules;
use retake_core::secrets::Scrub;
use serde_json::{Value, json};

use super::call::{ModelCall, calls};
use super::imported::{Taken, Traces};
use super::redact::{Personal, Redactor};
use super::source::{TraceFormat, of_bytes};
use super::span::Span;

/// The traces in a text.
fn traces(format: TraceFormat, text: &str, redactor: &mut Redactor) -> Traces {
    let spans = of_bytes(format, text.as_bytes()).unwrap().unwrap();
    Traces::of_spans(super::otlp::join_records(spans), redactor, &Scrub::default())
}

fn taken(otlp: &Value) -> Taken {
    let traces = traces(TraceFormat::Otlp, &otlp.to_string(), &mut Redactor::default());
    traces.take(&[], Path::new("fixtures/a.json"), BTreeMap::new(), &Rules::default()).unwrap()
}

/// An OTLP message with spans of these names and attributes, one after another, below the first if that is named `outer`.
fn otlp(spans: &[(&str, Value)]) -> Value {
    let span = |(index, (name, attributes)): (usize, &(&str, Value))| {
        json!({
            "traceId": "5b8efff798038103d269b633813fc60c",
            "spanId": format!("{:016x}", index + 1),
            "parentSpanId": if index > 0 && spans[0].0 == "outer" { "0000000000000001" } else { "" },
            "name": name,
            "startTimeUnixNano": format!("{}", 1_754_056_614_000_000_000_u64 + index as u64 * 1_000_000),
            "endTimeUnixNano": format!("{}", 1_754_056_614_000_500_000_u64 + index as u64 * 1_000_000),
            "attributes": pairs(attributes),
        })
    };
    let spans: Vec<Value> = spans.iter().enumerate().map(span).collect();
    json!({"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "test"}, "spans": spans}]}]})
}

fn pairs(attributes: &Value) -> Vec<Value> {
    let value = |value: &Value| match value {
        Value::String(text) => json!({"stringValue": text}),
        Value::Number(number) => json!({"intValue": number.to_string()}),
        Value::Bool(bool) => json!({"boolValue": bool}),
        other => json!({"stringValue": other.to_string()}),
    };
    attributes.as_object().unwrap().iter().map(|(key, held)| json!({"key": key, "value": value(held)})).collect()
}

/// The conversation of a turn, and its answer, as one text.
fn told(taken: &Taken, turn: usize) -> String {
    let rules = Rules::default();
    let conversation = taken.fixture.conversation(turn, &rules).unwrap();
    let answer = &taken.fixture.table.turns()[turn].output;
    let answer = rules.canonical(vec![answer.to_message()]);
    conversation.iter().chain(&answer).map(|message| message.print(Layout::Python)).collect::<Vec<_>>().join("\n")
}
