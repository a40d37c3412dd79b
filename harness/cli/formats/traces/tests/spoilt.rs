//! Damaged input is one clear error, and never a panic.

use opentelemetry_proto::tonic::trace::v1::TracesData;

use super::super::otlp;
use super::super::receiver::of_protobuf;
use super::*;

const TRACE: &str = r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"aa","spanId":"bb","name":"chat","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}}]}]}]}]}"#;

fn error(text: &str) -> String {
    match of_bytes(TraceFormat::Otlp, text.as_bytes()) {
        Err(error) => error.in_file(Path::new("a.json")).to_string(),
        Ok(Err(other)) => other,
        Ok(Ok(spans)) => format!("{} spans", spans.len()),
    }
}

#[test]
fn every_beginning_of_a_file_is_read_or_an_error() {
    for end in 0..TRACE.len() {
        let _ = error(&TRACE[..end]);
        let two = format!("{TRACE}\n{}", &TRACE[..end]);
        assert!(end == 0 || error(&two).contains("a.json:2:"), "{end}: {}", error(&two));
    }
    assert!(error("[]").starts_with("not OTLP"));
}

#[test]
fn a_wrong_type_is_named_with_its_path() {
    for (wrong, told) in [
        (r#"{"resourceSpans": 5}"#, "`resourceSpans`: expected a list, found number"),
        (
            r#"{"resourceSpans": [{"scopeSpans": [{"spans": [7]}]}]}"#,
            "`resourceSpans[0].scopeSpans[0].spans[0]`: expected an object, found number",
        ),
        (
            r#"{"resourceSpans": [{"scopeSpans": [{"spans": [{"spanId": "b"}]}]}]}"#,
            "spans[0].traceId`: expected an id, found nothing",
        ),
        (
            r#"{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "a", "spanId": "b", "attributes": {}}]}]}]}"#,
            "spans[0].attributes`: expected a list, found object",
        ),
    ] {
        assert!(error(wrong).contains(told), "{}", error(wrong));
    }
}

#[test]
fn spans_in_a_circle_and_clocks_that_run_back_are_read() {
    let mut message = otlp(&[("a", json!({})), ("b", json!({}))]);
    let spans = &mut message["resourceSpans"][0]["scopeSpans"][0]["spans"];
    spans[0]["parentSpanId"] = json!("0000000000000002");
    spans[1]["endTimeUnixNano"] = json!("5");
    let taken = taken(&message);
    assert!(taken.notes.iter().any(|note| note.contains("clocks ran back")), "{:?}", taken.notes);
}

/// A field of protobuf with a length.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, u8::try_from(bytes.len()).unwrap()], bytes].concat()
}

#[test]
fn protobuf_reads_as_its_json() {
    let value = field(2, &field(1, b"chat"));
    let attribute = field(9, &[field(1, b"gen_ai.operation.name"), value].concat());
    let start = [vec![7 << 3 | 1], 5_u64.to_le_bytes().to_vec()].concat();
    let span = [field(1, &[0xaa]), field(2, &[0xbb]), field(5, b"chat"), start, attribute, vec![10 << 3, 3]].concat();
    let bytes = field(1, &field(2, &field(2, &span)));
    let spans = otlp::spans(&of_protobuf::<TracesData>(&bytes).unwrap()).unwrap();
    let [span] = &spans[..] else { panic!("{spans:?}") };
    assert_eq!((&span.trace[..], &span.id[..], &span.name[..], span.start, span.dropped), ("aa", "bb", "chat", 5, 3));
    assert_eq!(span.text("gen_ai.operation.name"), Some("chat"));
    for end in 1..bytes.len() {
        assert!(of_protobuf::<TracesData>(&bytes[..end]).is_err(), "{end}");
    }
}

#[test]
fn a_file_of_another_format_is_told_how_to_get_otlp() {
    for (file, told) in [
        (r#"{"turns": []}"#, "not OTLP: expected `resourceSpans` or `resourceLogs`"),
        (r#"{"trace": {"id": "t"}, "observations": [{"id": "o", "type": "SPAN"}]}"#, "retake import langfuse FILE"),
        (
            r#"{"data": [{"traceID": "a", "spans": [{"operationName": "x"}], "processes": {}}]}"#,
            "it is Jaeger's own format; to get OTLP: GET /api/v3",
        ),
        (r#"[{"traceId": "a", "id": "b", "localEndpoint": {}}]"#, "Zipkin's format"),
        (r#"{"runs": [{"id": "r", "run_type": "llm", "inputs": {}, "outputs": {}}]}"#, "LANGSMITH_OTEL_ENABLED=true"),
        ("{\"id\": \"r\", \"run_type\": \"llm\", \"dotted_order\": \"x\"}\n{\"id\": \"s\"}", "LangSmith's own format"),
        (
            r#"[{"name": "llm", "context": {"trace_id": "a", "span_id": "b"}, "span_kind": "LLM", "attributes": {}}]"#,
            "Phoenix's own format",
        ),
        (
            r#"{"events": [{"id": "a", "root_span_id": "b", "span_attributes": {"type": "llm"}}]}"#,
            "Braintrust's own format",
        ),
        (r#"{"id": "a", "op_name": "weave:///x", "trace_id": "b", "inputs": {}}"#, "Weave's own format"),
        (
            r#"{"name": "chat", "context": {"trace_id": "0x1"}, "kind": "SpanKind.CLIENT"}"#,
            "console exporter of OpenTelemetry",
        ),
    ] {
        assert!(error(file).contains(told), "{file}\n{}", error(file));
    }
    let spans: Vec<Span> =
        of_bytes(TraceFormat::Langfuse, br#"{"trace": {"id": "t"}, "observations": [{"id": "o", "type": "SPAN"}]}"#)
            .unwrap()
            .unwrap();
    assert_eq!(spans[0].trace, "t");
}
