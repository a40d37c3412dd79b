//! Damage of AWS's event streams, made in each way at each place of real ones: each is one error that names the message, or it is
//! harmless and the answer is the same.

use std::fmt::Write as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Crc;

use retake_core::conversation::Answer;
use retake_wire::{Api, Response, decode_response, oddities};

use super::cassettes::{Interaction, files, read};
use crate::support::program::retake;
use crate::support::tree::Tree;

const EVENTS: &str = "application/vnd.amazon.eventstream";

/// Damages each stream of the recordings.
pub(super) fn each_damage_is_told(folder: &Path) {
    let streams = files(folder)
        .into_iter()
        .flat_map(|file| read(&file))
        .filter(|one| one.status == 200 && one.url.ends_with("/converse-stream"));
    let streams: Vec<Interaction> = streams.collect();
    assert!(!streams.is_empty(), "{} has no stream of Bedrock's", folder.display());
    let shortest = streams.iter().map(|one| one.answer.len()).min().unwrap();
    for one in &streams {
        damages_bytes(&one.answer, one.answer.len() == shortest);
        damages_messages(&one.answer);
        damages_content_types(&one.answer);
    }
    imports(&streams[0]);
}

/// What is made of bytes: the answer with what is odd about it, or the error.
fn read_as(content_type: &str, bytes: &[u8]) -> Result<(Answer, Vec<&'static str>), String> {
    let response = Response::received(200, content_type, bytes.to_vec());
    let answer = decode_response(Api::Bedrock, &response).map_err(|error| error.to_string())?;
    let odd = oddities(Api::Bedrock, &response, &answer);
    Ok((answer, odd))
}

fn sound(bytes: &[u8]) -> Answer {
    let (answer, odd) = read_as(EVENTS, bytes).unwrap();
    assert_eq!(odd, [] as [&str; 0]);
    answer
}

fn is_told(bytes: &[u8], message: usize, how: &str) {
    let Err(told) = read_as(EVENTS, bytes) else { panic!("{how}") };
    assert!(told.starts_with(&format!("message {message} of the event stream ")), "{how}: {told}");
    assert!(!told.contains('\n'), "{how}: {told}");
}

/// Breaks a stream off, and changes a byte: at each byte, or at those around the ends of messages and of their parts.
fn damages_bytes(stream: &[u8], everywhere: bool) {
    let messages = messages_of(stream);
    for (number, message) in messages.iter().enumerate() {
        let begin = messages[..number].iter().map(Vec::len).sum::<usize>();
        let last = message.len() - 1;
        let headers = 12 + usize::from(message[7]);
        let told = [0, 1, 3, 4, 8, 11, 12, headers, headers + 1, last - 4, last - 3, last - 2, last - 1, last];
        for at in (0..=last).filter(|at| everywhere || told.contains(at)) {
            let mut changed = stream.to_vec();
            changed[begin + at] ^= 0x11;
            is_told(&changed, number + 1, &format!("byte {at} of message {} is another", number + 1));
            if at > 0 {
                let how = format!("the stream ends after byte {at} of message {}", number + 1);
                is_told(&stream[..begin + at], number + 1, &how);
            }
        }
        // Between two messages, the stream is one that has fewer.
        match read_as(EVENTS, &stream[..begin]) {
            Err(told) if begin == 0 => assert_eq!(told, "expected JSON or a stream, found text"),
            Err(told) => assert_eq!(told, "an incomplete answer: the stream ended before `messageStop`"),
            Ok((answer, odd)) => {
                assert_eq!((odd, number + 1), (vec!["the stream ends without `metadata`"], messages.len()));
                assert_eq!((answer.blocks, answer.finish), (sound(stream).blocks, sound(stream).finish));
            }
        }
    }
}

/// Gives a message wrong lengths, headers and data, with the right checksums.
fn damages_messages(stream: &[u8]) {
    let messages = messages_of(stream);
    for (number, message) in messages.iter().enumerate() {
        let with = |changed: Vec<u8>| {
            let mut all = messages.clone();
            all[number] = changed;
            all.concat()
        };
        let (total, headers) = (u32_at(message, 0), u32_at(message, 4));
        let lengths = [
            (total - 1, headers),
            (total + 1, headers),
            (0, headers),
            (15, 0),
            (u32::MAX, headers),
            (total, headers - 1),
            (total, headers + 1),
            (total, 0),
            (total, total),
        ];
        for (total, headers) in lengths {
            let mut changed = message.clone();
            changed[..4].copy_from_slice(&total.to_be_bytes());
            changed[4..8].copy_from_slice(&headers.to_be_bytes());
            is_told(&with(summed(changed)), number + 1, &format!("lengths {total} and {headers}"));
        }
        let named = |name: &str, value: &str| {
            let length = u16::try_from(value.len()).unwrap().to_be_bytes();
            [&[u8::try_from(name.len()).unwrap()], name.as_bytes(), &[7], &length, value.as_bytes()].concat()
        };
        let held = String::from_utf8_lossy(message).into_owned();
        let kind = held.split(":event-type\u{7}\u{0}").nth(1).unwrap();
        let kind = &kind[1..=usize::from(kind.as_bytes()[0])];
        let payload = &message[12 + headers as usize..message.len() - 4];
        let of_kind = named(":event-type", kind);
        let of_json = named(":content-type", "application/json");
        let of_event = named(":message-type", "event");
        assert_eq!(made(&[&of_kind, &of_json, &of_event].map(Vec::as_slice).concat(), payload), *message);
        for headers in [
            vec![],
            [&of_json[..], &of_event].concat(),
            [&of_kind[..], &of_json].concat(),
            of_kind.clone(),
            of_event.clone(),
            [&of_kind[..], &of_json, &named(":message-type", "evant")].concat(),
            [&of_kind[..], &of_json, &named(":message-type", "exception")].concat(),
            [&of_kind[..], &of_json, &of_event[..of_event.len() - 1]].concat(),
            [&of_kind[..of_kind.len() - 1], &[0xff], &of_json, &of_event].concat(),
        ] {
            let how = format!("headers {:?}", String::from_utf8_lossy(&headers));
            is_told(&with(made(&headers, payload)), number + 1, &how);
        }
        let whole = [of_kind, of_json, of_event].concat();
        for data in [&payload[..payload.len() - 1], b"no JSON", b"[]"] {
            let told = read_as(EVENTS, &with(made(&whole, data))).unwrap_err();
            assert!(told.starts_with(&format!("frames[{number}]: ")), "{told}");
        }
        is_told(&with(made(&whole, b"\xff")), number + 1, "data that are no text");
    }
}

/// The bytes decide what a body is. A content type that says something else is told.
fn damages_content_types(stream: &[u8]) {
    let other = "`content_type` is another kind of event stream than the body";
    for (said, odd) in [
        ("application/vnd.amazon.eventstream; charset=utf-8", None),
        ("application/json", Some("`content_type` is JSON, but the body is an event stream")),
        ("text/event-stream", Some(other)),
        ("application/octet-stream", Some(other)),
    ] {
        let expected = (sound(stream), odd.into_iter().collect());
        assert_eq!(read_as(said, stream), Ok(expected), "{said}");
    }
    for text in ["{\"output\": ", "Bad gateway", "<html></html>"] {
        assert!(read_as(EVENTS, text.as_bytes()).unwrap_err().contains("message 1 of the event stream "), "{text}");
    }
}

/// Imports a sound recording, one without headers, and damaged ones. The command says one line of each that is damaged.
fn imports(one: &Interaction) {
    let stream = &one.answer;
    let message = messages_of(stream).pop().unwrap();
    let mut flipped = stream.clone();
    flipped[stream.len() - 1] ^= 1;
    let cases: [(&[u8], &str, Option<&str>); 6] = [
        (stream, EVENTS, None),
        (stream, "", None),
        (&stream[..stream.len() - 7], EVENTS, Some("is incomplete: the stream ends in it")),
        (&stream[..stream.len() - message.len()], EVENTS, Some("the stream ends without `metadata`")),
        (&flipped, EVENTS, Some("is damaged: its checksum is ")),
        (stream, "application/json", Some("`content_type` is JSON, but the body is an event stream")),
    ];
    let mut cassette = "interactions:\n".to_owned();
    for (answer, content_type, _) in &cases {
        let request = serde_json::Value::from(String::from_utf8_lossy(&one.request));
        let kind = if content_type.is_empty() { String::new() } else { format!("content-type: ['{content_type}']") };
        write!(
            cassette,
            "- request: {{method: POST, uri: '{}', body: {request}}}\n  response:\n    status: {{code: 200}}\n    headers: {{{kind}}}\n    body: {{string: !!binary \"{}\"}}\n",
            one.url,
            STANDARD.encode(answer)
        )
        .unwrap();
    }
    let tree = Tree::empty();
    tree.write("a.yaml", &cassette);
    let import = retake().args(&["import", "vcr"]).arg(tree.path("a.yaml")).arg("--out").arg(tree.path("f.json"));
    let ran = import.run().exits(0);
    for (number, (.., told)) in cases.iter().enumerate() {
        let place = format!("interaction {} ", number + 1);
        let said: Vec<&str> = ran.stderr.lines().filter(|line| line.contains(&place)).collect();
        assert_eq!(said.len(), usize::from(told.is_some()), "{place}: {}", ran.stderr);
        assert!(told.is_none_or(|told| said[0].contains(told)), "{place}: {said:?}");
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn messages_of(mut stream: &[u8]) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    while !stream.is_empty() {
        let (message, rest) = stream.split_at(u32_at(stream, 0) as usize);
        messages.push(message.to_vec());
        stream = rest;
    }
    messages
}

/// A message with these headers and data.
fn made(headers: &[u8], payload: &[u8]) -> Vec<u8> {
    let lengths = [16 + headers.len() + payload.len(), headers.len()].map(|length| u32::try_from(length).unwrap());
    let lengths = lengths.map(u32::to_be_bytes).concat();
    summed([&lengths[..], &[0; 4], headers, payload, &[0; 4]].concat())
}

/// The same message with the checksums that it should have.
fn summed(mut message: Vec<u8>) -> Vec<u8> {
    for end in [8, message.len() - 4] {
        let mut crc = Crc::new();
        crc.update(&message[..end]);
        message[end..end + 4].copy_from_slice(&crc.sum().to_be_bytes());
    }
    message
}
