use super::*;
use proptest::prelude::*;

fn capture<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Event> {
    let mut capture = Capture::new();
    let mut events: Vec<Event> = chunks.into_iter().flat_map(|chunk| capture.push(chunk)).collect();
    events.extend(capture.finish());
    assert_eq!(capture.finish(), []);
    events
}

/// Returns the events as short texts: `name#id payload`.
fn read(body: &[u8]) -> Vec<String> {
    let print = |event: Event| {
        let id = event.id.as_ref().map(|id| format!("#{id}")).unwrap_or_default();
        let name = event.name.as_deref().unwrap_or_default();
        let payload = match (event.json(), &event.payload) {
            (Some(json), _) => format!("Json({json:?})"),
            (None, Payload::Data(text)) => format!("Text({text:?})"),
            (None, other) => format!("{other:?}"),
        };
        format!("{name}{id} {payload}")
    };
    capture([body]).into_iter().map(print).collect()
}

#[test]
fn names_ids_and_data_are_read() {
    let body = b"event: metadata\nid: 17-0\ndata: 1\n\ndata: 2\n\nevent: message\ndata:  x\ndata\ndata:y\n\n";
    assert_eq!(read(body), ["metadata#17-0 Json(Int(1))", " Json(Int(2))", r#"message Text(" x\n\ny")"#]);
}

#[test]
fn comments_events_without_data_and_tails_are_captured_in_order() {
    let body =
        b": hi\n\nevent: ping\n\ndata: 1\n:beat\ndata: 2\n\nid: 9\n\nretry: 3\n\ndata:\n\nevent\n\nevent: b\ndata: {";
    assert_eq!(
        read(body),
        [
            r#" Comment("hi")"#,
            "ping Empty",
            r#" Comment("beat")"#,
            r#" Text("1\n2")"#,
            "#9 Empty",
            r#" Text("")"#,
            " Empty",
            r#" Tail("event: b\ndata: {")"#
        ]
    );
}

#[test]
fn an_empty_name_is_no_name_and_an_id_with_a_zero_byte_is_no_id() {
    assert_eq!(read(b"event: a\nevent:\nid: \0\ndata: 1\n\n"), [" Json(Int(1))"]);
    assert_eq!(read(b"id\ndata: 1\n\n"), ["# Json(Int(1))"]);
}

#[test]
fn each_kind_of_line_ending_ends_a_line() {
    let body = "\u{feff}event: a\ndata: 1\n\n: c\ndata: 2\n\n";
    for end in ["\n", "\r", "\r\n"] {
        let body = body.replace('\n', end);
        assert_eq!(read(body.as_bytes()), ["a Json(Int(1))", r#" Comment("c")"#, " Json(Int(2))"], "{end:?}");
    }
}

#[test]
fn an_event_is_returned_with_the_byte_that_completes_it() {
    let mut capture = Capture::new();
    assert_eq!(capture.push(b"data: 1\r\n"), []);
    assert_eq!(capture.push(b"\r").len(), 1);
    assert_eq!(capture.push(b"\ndata: 2\n\n").len(), 1);
    assert_eq!(capture.finish(), []);
}

#[test]
fn byte_order_marks_and_invalid_bytes_do_no_harm() {
    assert_eq!(read(b"\xef\xbb\xbf\xef\xbb\xbfdata: 1\n\n\xef\xbb\xbfdata: 2\n\n"), Vec::<String>::new());
    assert_eq!(read(b"data: a\xff\xe2\x82\n\ndata: 1\n\n"), [" Text(\"a\u{fffd}\u{fffd}\")", " Json(Int(1))"]);
    assert_eq!(read(b"\xef\xbb"), [" Tail(\"\u{fffd}\")"]);
}

#[test]
fn json_lines_are_detected_by_their_content() {
    let object = format!(" Json({:?})", Json::object([("a", Json::Int(1))]));
    assert_eq!(
        read(b"\n \r\n{\"a\": 1}\r\n\n[2]\nprose\n3"),
        [&*object, " Json(Array([Int(2)]))", r#" Text("prose")"#, " Json(Int(3))"]
    );
    assert_eq!(read(b"\xef\xbb\xbf{\"a\""), [r#" Tail("{\"a\"")"#]);
    let mut lines = Capture::with_format(Format::JsonLines);
    assert_eq!(lines.push(b"warning: old\n{}\n").len(), 2);
}

#[test]
fn an_empty_body_has_no_events() {
    for body in ["", "\n", " \n\n ", "\u{feff}", "retry: 1\n\n"] {
        assert_eq!(read(body.as_bytes()), Vec::<String>::new(), "{body:?}");
    }
}

/// One long line, many lines in one event, and many events: with quadratic time, each would take minutes.
#[test]
fn time_is_linear() {
    let line = format!("data: \"{}\"\n\n", "x".repeat(4_000_000));
    let lines = format!("{}\n", "data: 1234567\n".repeat(100_000));
    let events = "event: a\ndata: {}\n\n".repeat(50_000);
    let start = std::time::Instant::now();
    for (body, count) in [(line, 1), (lines, 1), (events, 50_000)] {
        assert_eq!(capture([body.as_bytes()]).len(), count);
        assert_eq!(capture(body.as_bytes().chunks(1000)).len(), count);
    }
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

/// Bytes that look like a stream, including line endings and invalid bytes.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        6 => prop::sample::select(vec!["\n", "\r", "\r\n", "\n\n", "data", "data: ", ":", " ", "é", "{\"a\": 1}"]),
        3 => prop::sample::select(vec!["event: a", "event", "id: 7", "retry: 1", "[", "{", "}", "\u{feff}", "\0"]),
    ];
    let piece = prop_oneof![
        9 => piece.prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..4),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn events_do_not_depend_on_chunks(body in body(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
        let whole = capture([&body[..]]);
        prop_assert_eq!(&capture(body.chunks(1)), &whole);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
        cuts.extend([0, body.len()]);
        cuts.sort_unstable();
        prop_assert_eq!(&capture(cuts.windows(2).map(|cut| &body[cut[0]..cut[1]])), &whole);
    }

    #[test]
    fn data_equals_what_the_crate_reads_from_the_whole_body(body in body()) {
        // With an extra line ending at both ends, the first byte is not a mark or a bracket, and the last is not a CR.
        let text = format!("x\n{}\n", String::from_utf8_lossy(&body));
        let mut alone = EventStream::new(stream::iter([Ok::<_, Infallible>(text.as_bytes())]));
        let mut expected = Vec::new();
        while let Some(Some(Ok(event))) = alone.next().now_or_never() {
            expected.push((event.event.into(), Payload::Data(event.data.into())));
        }
        let mut events = capture([text.as_bytes()]);
        events.retain(|event| matches!(event.payload, Payload::Data(_)));
        let found = events.into_iter().map(|e| (e.name.unwrap_or("message".into()), e.payload));
        prop_assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn no_input_panics(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
        capture([&bytes[..]]);
    }
}

#[test]
fn what_clients_are_told_about_coming_back_is_kept() {
    let retry = |body: &[u8]| {
        let mut capture = Capture::new();
        capture.push(body);
        capture.retry()
    };
    assert_eq!(retry(b"retry: 3000\n\ndata: 1\nretry:3000\n\nretry: 10\n\n"), "3000, 10");
    // Clients take no other value.
    assert_eq!(retry(b"retry: 3s\n\nretry:\n\nretry\n\ndata: retry: 5\n\n"), "");
}
