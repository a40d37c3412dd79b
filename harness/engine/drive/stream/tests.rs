use super::*;

const MB: usize = 1 << 20;
const SMALL: Limits = Limits { event: MB, stream: 2 * MB, events: 1000 };

fn until_end() -> StreamSpec {
    StreamSpec { last: Some(EventSpec::named("end")), ..StreamSpec::default() }
}

/// Returns the error about a stream that repeats the same bytes forever.
fn refused(limits: Limits, head: &str, more: &str) -> String {
    let mut stream = Stream::within(limits, &until_end(), None);
    let mut over = stream.push(head.as_bytes());
    let chunk = more.repeat((16 << 10) / more.len());
    let mut came = head.len();
    while !over {
        over = stream.push(chunk.as_bytes());
        came += chunk.len();
        assert!(came <= limits.stream + chunk.len(), "{came} bytes were taken");
    }
    let events = stream.events.len();
    assert!(stream.push(b"event: end\n\n"), "it stays refused");
    stream.end();
    assert_eq!(stream.events.len(), events);
    assert_eq!(stream.capture.held(), 0, "the incomplete event is dropped");
    stream.check().unwrap_err().to_string()
}

#[test]
fn an_event_or_a_stream_that_does_not_end_is_refused_at_its_limit() {
    for (head, more, says) in [
        ("data: ", "x", "an event is longer than 1 MB and had not ended\n  0 events had come; it begins: \"data: xxx"),
        ("data: 1\n\n", "data: y\n", "an event is longer than 1 MB and had not ended\n  1 event had come; "),
        ("{\"a\": \"", "x", "an event is longer than 1 MB and had not ended\n  0 events had come; "),
        (
            "",
            "data: 0123456789012345678901234567890123456789012345678901234567890123456789\n",
            "an event is longer than 1 MB ",
        ),
        (
            "",
            "retry: 1\n\n",
            "the stream is longer than 2 MB and had not ended\n  0 events had come; it begins: \"retry: 1\\n",
        ),
        ("", "data: 1\n\n", "the stream has more than 1000 events and comments\n  1"),
        ("", ":\n", "the stream has more than 1000 events and comments\n  8192 events had come; "),
        ("", "{}\n", "the stream has more than 1000 events and comments\n  5461 events had come; "),
    ] {
        let told = refused(SMALL, head, more);
        assert!(told.starts_with(says), "{told}\nexpected: {says}");
        assert!(told.len() < 2 * QUOTED + 200, "{told}");
    }
    let large = format!("data: {}\n\n", "x".repeat(5000));
    assert!(refused(SMALL, "", &large).starts_with("the stream is longer than 2 MB and had not ended\n  4"));
}

#[test]
fn the_limits_are_64_mb_per_event_and_128_mb_or_a_million_events_per_stream() {
    let comment = format!(":{}\n", "x".repeat(16_000));
    assert!(refused(LIMITS, "", &comment).starts_with("the stream is longer than 128 MB "));
    assert_eq!((LIMITS.event, LIMITS.events), (64 * MB, 1_000_000));
}

#[test]
fn a_stream_within_its_limits_is_read() {
    let mut stream = Stream::within(SMALL, &until_end(), None);
    let event = format!("data: {}\n\n", "x".repeat(MB - 8));
    assert!(!stream.push(event.as_bytes()));
    assert!(!stream.push(":\n".repeat(999).as_bytes()));
    assert!(stream.push(b"event: end\n\nevent: more\n\n"));
    stream.check().unwrap();
    assert_eq!((stream.events.len(), stream.refused), (1001, None));
}
