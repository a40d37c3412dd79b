//! Secrets in streams, wherever their pieces are split.

#[path = "../../../core/secrets/tests/samples.rs"]
mod samples;

use retake_core::json::{Json, Layout};
use retake_core::secrets::{Fired, Scrub};

use self::samples::SAMPLES;
use crate::{Body, Response};

fn scrubbed(text: &str) -> (String, Vec<String>) {
    let mut fired = Fired::new();
    let text = Scrub::known().text(text, &mut fired).into_owned();
    (text, fired.into_iter().collect())
}

fn chat_frames(pieces: &[&str], arguments: bool) -> Vec<String> {
    let delta = |piece: &str| {
        let piece = Json::from(piece).print(Layout::Compact);
        if arguments {
            format!(r#"{{"tool_calls":[{{"index":0,"function":{{"arguments":{piece}}}}}]}}"#)
        } else {
            format!(r#"{{"content":{piece}}}"#)
        }
    };
    let frame = |delta: &str| format!("data: {{\"id\": \"x\", \"choices\": [{{\"index\":0,\"delta\":{delta}}}]}}\n\n");
    let frames = pieces.iter().map(|piece| frame(&delta(piece)));
    frames.chain([frame("{}"), "data: [DONE]\n\n".to_owned()]).collect()
}

fn text_of(frames: &[String], arguments: bool) -> String {
    let pointer =
        if arguments { "/choices/0/delta/tool_calls/0/function/arguments" } else { "/choices/0/delta/content" };
    let texts = frames.iter().filter_map(|frame| {
        let data = Json::parse(frame.strip_prefix("data: ")?.trim_end().as_bytes()).ok()?;
        Some(data.pointer(pointer)?.as_str()?.to_owned())
    });
    texts.collect()
}

fn scrub_frames(frames: Vec<String>) -> (Vec<String>, Vec<String>) {
    let (mut response, mut fired) = (Response::stream(frames), Fired::new());
    response.scrub(&Scrub::known(), &mut fired);
    let Body::Frames(frames) = response.body else { panic!() };
    (frames.iter().map(str::to_owned).collect(), fired.into_iter().collect())
}

/// Wherever a stream splits a secret, the joined text equals the scrubbed whole text, and the number of frames stays the same.
#[test]
fn a_secret_is_found_wherever_a_stream_splits_it() {
    for sample in SAMPLES {
        let text = format!("it is {}{} I think", sample.1, sample.2);
        let (expected, names) = scrubbed(&text);
        // Every offset for one form, and some for the others, since the same code joins the pieces of all.
        for at in (0..text.len()).step_by(if sample.0 == "openai-key" { 1 } else { 7 }) {
            for arguments in [false, true] {
                let third = (at + 7).min(text.len());
                let original = chat_frames(&[&text[..at], &text[at..third], &text[third..]], arguments);
                let (frames, fired) = scrub_frames(original.clone());
                assert_eq!((text_of(&frames, arguments), &fired), (expected.clone(), &names), "{} at {at}", sample.0);
                assert_eq!(frames[3..], original[3..], "frames without a part of the secret are unchanged");
                assert_eq!(frames.len(), original.len());
            }
        }
    }
}

#[test]
fn a_split_secret_is_found_in_streams_of_each_api_and_of_none() {
    let key = |at: usize| [&"sk-proj-abcdefghijklmnop1234"[..at], &"sk-proj-abcdefghijklmnop1234"[at..]];
    let sse = |name: &str, data: String| format!("event: {name}\r\ndata: {data}\r\n\r\n");
    for at in [2, 9, 20] {
        let [a, b] = key(at);
        let streams = [
            [a, b].map(|p| sse("content_block_delta", format!(r#"{{"type":"content_block_delta","index":1,"delta":{{"type":"text_delta","text":"{p}"}}}}"#))),
            [a, b].map(|p| sse("content_block_delta", format!(r#"{{"type":"content_block_delta","index":1,"delta":{{"type":"input_json_delta","partial_json":"{p}"}}}}"#))),
            [a, b].map(|p| sse("x", format!(r#"{{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"{p}"}}"#))),
            [a, b].map(|p| format!(r#"data: {{"candidates":[{{"content":{{"parts":[{{"text":"{p}"}}]}},"index":0}}]}}"#) + "\n\n"),
            [a, b].map(|p| format!(r#"{{"model":"m","message":{{"role":"assistant","content":"{p}"}},"done":false}}"#) + "\n"),
            [a, b].map(|p| format!(r#"data: {{"choices":[{{"text":"{p}"}}]}}"#) + "\n\n"),
            [a, b].map(|p| format!("data: {p}\n\n")),
        ];
        for stream in streams {
            let (frames, fired) = scrub_frames(stream.to_vec());
            assert_eq!(fired, ["edition-2", "openai-key"], "{stream:?}");
            let all = frames.concat();
            assert!(all.contains("<OPENAI_KEY>") && !all.contains(&b[..3]), "{all}");
            for (frame, original) in frames.iter().zip(&stream) {
                assert_eq!(frame.lines().count(), original.lines().count());
                assert_eq!(frame.ends_with("\r\n\r\n"), original.ends_with("\r\n\r\n"));
            }
        }
    }
    // The pieces of two texts alternate, and each text is joined separately.
    let [a, b] = key(12);
    let of =
        |index: usize, piece: &str| format!("data: {{\"type\":\"d\",\"index\":{index},\"delta\":\"{piece}\"}}\n\n");
    let (frames, _) = scrub_frames(vec![of(0, a), of(1, "one "), of(0, b), of(1, "two")]);
    let expected = [of(0, "<OPENAI_KEY>"), of(1, "one "), of(0, ""), of(1, "two")]
        .map(|f| f.replace("data: {\"type\":\"d\",\"index\":0,\"delta\":", "data: {\"delta\":"));
    assert_eq!(frames[1], expected[1]);
    assert!(frames[0].contains("\"delta\":\"<OPENAI_KEY>\"") && frames[2].contains("\"delta\":\"\""), "{frames:?}");
}

#[test]
fn the_pieces_of_geminis_array_and_of_neighbouring_blocks_are_joined() {
    let mut fired = Fired::new();
    let piece = |text: &str| format!(r#"{{"candidates":[{{"content":{{"parts":[{{"text":"{text}"}}]}}}}]}}"#);
    let array = format!("[{},{}]", piece("sk-proj-abc"), piece("defghijklmnop1234"));
    let mut response = Response::json(200, Json::parse(array.as_bytes()).unwrap());
    response.scrub(&Scrub::known(), &mut fired);
    assert_eq!(
        String::from_utf8(response.bytes().into()).unwrap(),
        format!("[{},{}]", piece("<OPENAI_KEY>"), piece(""))
    );
    let blocks = r#"{"content":[{"text":"sk-proj-abc","type":"text"},{"text":"defghijklmnop1234","type":"text"}]}"#;
    let mut json = Json::parse(blocks.as_bytes()).unwrap();
    Scrub::known().json(&mut json, &mut fired);
    let expected = r#"{"content":[{"text":"<OPENAI_KEY>","type":"text"},{"text":"","type":"text"}]}"#;
    assert_eq!(json.print(Layout::Compact), expected);
    // A block that contains a whole secret takes nothing from its neighbour.
    let blocks = r#"[{"text":"sk-proj-abcdefghijklmnop1234"},{"text":"Now go on"}]"#;
    let mut json = Json::parse(blocks.as_bytes()).unwrap();
    Scrub::known().json(&mut json, &mut fired);
    assert_eq!(json.print(Layout::Compact), r#"[{"text":"<OPENAI_KEY>"},{"text":"Now go on"}]"#);
}

#[test]
fn a_frame_that_loses_a_secret_keeps_its_order_of_keys_and_its_spelling() {
    let frame = |text: &str| format!("data: {{\"z\": 1.0, \"delta\": \"{text}\", \"a\": \"caf\\u00e9\"}}\n\n");
    let (frames, fired) = scrub_frames(vec![frame("sk-proj-abcdefghijklmnop1234")]);
    assert_eq!(fired, ["edition-2", "openai-key"]);
    assert_eq!(frames, [frame("<OPENAI_KEY>").replace("\": ", "\":").replace(", \"", ",\"")]);
}
