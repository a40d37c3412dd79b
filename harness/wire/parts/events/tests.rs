use super::*;
use crate::{Body, Response};

fn bytes(headers: &[(&str, &str)], payload: &str) -> Vec<u8> {
    let lines: String = headers.iter().flat_map(|(name, value)| [*name, " ", *value, "\n"]).collect();
    encoded(&format!("{lines}data: {payload}\n\n")).unwrap()
}

/// A message of a real stream.
const REAL: &str = "AAAAsgAAAFKKQLTFCzpldmVudC10eXBlBwAMbWVzc2FnZVN0YXJ0DTpjb250ZW50LXR5cGUHABBhcHBsaWNhdGlvbi9qc29uDTptZXNzYWdlLXR5cGUHAAVldmVudHsicCI6ImFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVowIiwicm9sZSI6ImFzc2lzdGFudCJ9QP+CaA==";

#[test]
fn a_real_message_becomes_a_text_and_the_same_bytes_again() {
    let real = STANDARD.decode(REAL).unwrap();
    let response = Response::received(200, EVENTS, real.clone());
    let Body::Frames(frames) = &response.body else { panic!("{response:?}") };
    let text = frames.iter().collect::<String>();
    let expected = ":event-type messageStart\ndata: {\"p\":\"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0\",\"role\":\"assistant\"}\n\n";
    assert_eq!(text, expected);
    assert_eq!(response.bytes(), real);
    assert_eq!(frames.bytes().collect::<Vec<_>>().concat(), real);
}

#[test]
fn the_event_of_a_chunk_and_its_padding_are_held_in_plain_text() {
    let inner = r#"{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":8}}"#;
    let usual = [(":event-type", "chunk"), (":content-type", "application/json"), (":message-type", "event")];
    let (a, b) = (STANDARD.encode(inner), STANDARD.encode("not\njson"));
    for (payload, held) in [
        (format!("{{\"bytes\":\"{a}\",\"p\":\"abc\"}}"), format!(":event-type chunk\n:p abc\ndata: {inner}\n\n")),
        (format!("{{\"bytes\":\"{a}\"}}"), format!(":event-type chunk\ndata: {inner}\n\n")),
        // What would not become the same bytes again stays as it is.
        (
            format!("{{\"p\":\"abc\",\"bytes\":\"{a}\"}}"),
            format!(":event-type chunk\ndata: {{\"p\":\"abc\",\"bytes\":\"{a}\"}}\n\n"),
        ),
        (format!("{{\"bytes\":\"{b}\"}}"), format!(":event-type chunk\ndata: {{\"bytes\":\"{b}\"}}\n\n")),
    ] {
        let whole = bytes(&usual, &payload);
        let read = read(&whole).map_err(|damaged| damaged.what).unwrap();
        assert_eq!(read.concat(), held);
        assert_eq!(encoded(&held).unwrap(), whole);
    }
}

#[test]
fn exceptions_and_unusual_headers_are_kept() {
    let exception = [
        (":exception-type", "throttlingException"),
        (":content-type", "application/json"),
        (":message-type", "exception"),
    ];
    let read_one = |bytes: &[u8]| read(bytes).map_err(|damaged| damaged.what).unwrap().remove(0);
    let text = read_one(&bytes(&exception, "{\"message\":\"slow\"}"));
    assert_eq!(text, ":exception-type throttlingException\ndata: {\"message\":\"slow\"}\n\n");
    assert_eq!(kind(&text), Some(("throttlingException", true)));
    let error = [(":error-code", "500"), (":error-message", "it broke"), (":message-type", "error")];
    let text = read_one(&bytes(&error, ""));
    assert_eq!(text, ":error-code 500\n:error-message it broke\n:message-type error\ndata: \n\n");
    assert_eq!(kind(&text), Some(("500", true)));
}

#[test]
fn each_damage_is_one_clear_error() {
    type Case<'a> = (&'a dyn Fn(&mut Vec<u8>), usize, &'a str);
    let whole: Vec<u8> = [STANDARD.decode(REAL).unwrap(), STANDARD.decode(REAL).unwrap()].concat();
    let second = whole.len() / 2;
    let damaged = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        let damaged = read(&bytes).err().unwrap();
        (damaged.whole.len(), damaged.what)
    };
    let cases: [Case<'_>; 5] = [
        (&|bytes| bytes[second + 100] ^= 1, 1, "message 2 of the event stream is damaged: its checksum is"),
        (&|bytes| bytes[3] ^= 1, 0, "message 1 of the event stream has damaged lengths"),
        (&|bytes| bytes.truncate(second + 50), 1, "message 2 of the event stream is incomplete"),
        (&|bytes| bytes.truncate(second + 3), 1, "message 2 of the event stream is incomplete"),
        (&|bytes| bytes.extend(b"more than the prelude"), 2, "message 3 of the event stream has damaged lengths"),
    ];
    for (change, before, what) in cases {
        let (whole, said) = damaged(change);
        assert!(whole == before && said.contains(what), "{said}");
    }
    for length in 0..whole.len() {
        let _ = read(&whole[..length]);
        let mut changed = whole.clone();
        changed[length] ^= 0x55;
        assert!(read(&changed).is_err());
    }
}

#[test]
fn comments_of_sse_are_no_messages() {
    for frame in [": ping\n\n", ":ok\n\n", "data: {}\n\n", ":heartbeat 1\n\n", ""] {
        assert_eq!(encoded(frame), None);
    }
}
