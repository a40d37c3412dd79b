//! Reading the model calls of a trace.

use retake_core::json::Json;

use crate::rows::{Rows, cost_of};

/// The readers of traces, which belong to the command.
#[path = "../../../harness/cli/formats/traces"]
mod readers {
    mod call;
    mod fields;
    mod lack;
    mod message;
    mod otlp;
    mod span;
    mod talk;

    use retake_core::json::Json;

    /// How many calls the traces in a message hold.
    pub(super) fn calls(message: &Json) -> usize {
        let spans = otlp::join_records(otlp::spans(message).unwrap());
        span::by_trace(spans).iter().map(|spans| call::calls(spans).0.len()).sum()
    }
}

/// A trace of some calls, each in a span below that of the call before.
fn trace(calls: usize) -> Json {
    let parts = |text: &str| format!(r#"{{\"type\": \"text\", \"content\": \"{text}\"}}"#);
    let attribute = |name: &str, text: &str| format!(r#"{{"key": "{name}", "value": {{"stringValue": "{text}"}}}}"#);
    let span = |at: usize| {
        let said = |role: &str| format!(r#"[{{\"role\": \"{role}\", \"parts\": [{}]}}]"#, parts(&format!("text {at}")));
        let (asked, answered) = (said("user"), said("assistant"));
        let attributes = [
            attribute("gen_ai.operation.name", if at + 1 == calls { "chat" } else { "invoke_agent" }),
            attribute("gen_ai.input.messages", &asked),
            attribute("gen_ai.output.messages", &answered),
        ];
        let parent = at.checked_sub(1).map_or(String::new(), |parent| format!("{parent:016x}"));
        format!(
            r#"{{"traceId": "aa", "spanId": "{at:016x}", "parentSpanId": "{parent}", "attributes": [{}]}}"#,
            attributes.join(",")
        )
    };
    let spans: Vec<String> = (0..calls).map(span).collect();
    let text = format!(r#"{{"resourceSpans": [{{"scopeSpans": [{{"spans": [{}]}}]}}]}}"#, spans.join(","));
    Json::parse(text.as_bytes()).unwrap()
}

pub fn measure(rows: &mut Rows) {
    let read = |calls: usize| {
        let trace = trace(calls);
        cost_of(calls, || assert_eq!(readers::calls(&trace), 1))
    };
    rows.costs("read a trace of N spans, each in the one before", [200, 800, 3200].map(read), true);
}
