use super::*;
use crate::parts::sse::frame as chunk;
use retake_core::conversation::{Block, Finish, Usage};

fn answer(frames: &[&str]) -> Result<Answer, String> {
    of_frames(frames.iter().map(|frame| (*frame).to_owned()).collect::<Vec<_>>()).map_err(|error| error.message)
}

/// The tool calls that the given deltas add up to.
fn calls(deltas: &[&str]) -> Vec<(String, String, Json)> {
    let pieces = deltas.iter().map(|delta| format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{delta}]}}}}]}}"#));
    let frames: Vec<_> = pieces.chain([r#"{"choices":[{"finish_reason":"stop"}]}"#.to_owned()]).collect();
    let frames: Vec<_> = frames.iter().map(|data| chunk(data)).collect();
    let calls = of_frames(&frames).unwrap();
    calls.tool_calls().into_iter().map(|call| (call.id.clone(), call.name.clone(), call.args.clone())).collect()
}

fn call(id: &str, name: &str, args: &str) -> (String, String, Json) {
    (id.to_owned(), name.to_owned(), Json::parse(args.as_bytes()).unwrap())
}

#[test]
fn a_text_stream_is_decoded() {
    let found = answer(&[
        ": OPENROUTER PROCESSING\r\n\r\n",
        &chunk(r#"{"id":"","model":"","choices":[],"prompt_filter_results":[]}"#),
        &chunk(r#"{"id":"chatcmpl-1","model":"gpt-4o","choices":[{"delta":{"role":"assistant"}}],"usage":null}"#),
        &chunk(r#"{"choices":[{"index":0,"delta":{"content":"","refusal":null},"finish_reason":null}]}"#),
        &chunk(r#"{"choices":[{"index":0,"delta":{"reasoning":"Hm"}}]}"#).replace('\n', "\r\n"),
        &chunk(r#"{"choices":[{"index":1,"delta":{"content":"another"},"finish_reason":"stop"}]}"#),
        &chunk(r#"{"choices":[{"index":0,"delta":{"content":"Mexico"}}]}"#),
        &chunk(r#"{"choices":[{"index":0,"delta":{"content":" City."},"finish_reason":""}]}"#),
        &chunk(r#"{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}"#),
        &chunk(r#"{"choices":[],"usage":{"prompt_tokens":14,"completion_tokens":8}}"#),
        &chunk("[DONE]"),
        &chunk("nothing after the end counts"),
    ]);
    let expected = Answer {
        id: Some("chatcmpl-1".into()),
        model: Some("gpt-4o".into()),
        blocks: vec![Block::Reasoning("Hm".into()), Block::Text("Mexico City.".into())],
        finish: Some(Finish::Length),
        usage: Some(Usage { input: 14, output: 8, ..Usage::default() }),
    };
    assert_eq!(found, Ok(expected));
}

#[test]
fn a_name_that_each_piece_repeats_is_not_joined() {
    let piece = |name: &str, arguments: &str| {
        format!(r#"{{"index":0,"id":"a","type":"function","function":{{"name":"{name}","arguments":"{arguments}"}}}}"#)
    };
    let pieces = |names: [&str; 3]| [piece(names[0], ""), piece(names[1], "{"), piece(names[2], "}")];
    let of = |names| calls(&pieces(names).iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(of(["read", "read", "read"]), [call("a", "read", "{}")]);
    assert_eq!(of(["read", "", "_file"]), [call("a", "read_file", "{}")]);
}

#[test]
fn a_stream_that_says_that_it_ends_needs_no_finish_reason() {
    let text = chunk(r#"{"choices":[{"delta":{"content":"a"}}]}"#);
    let whole = answer(&[&text, &chunk("null"), &chunk("[DONE]")]).unwrap();
    assert_eq!((whole.text().as_str(), whole.finish), ("a", None));
    assert!(answer(&[&text]).unwrap_err().contains("the stream ended before a finish_reason"));
}

#[test]
fn tool_calls_are_assembled_from_pieces() {
    let found = calls(&[
        r#"{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}"#,
        r#"{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":"{"}}"#,
        r#"{"index":0,"function":{"arguments":"{\"x\":"}}"#,
        r#"{"index":1,"id":"","function":{"arguments":"}"}}"#,
        r#"{"index":0,"function":{"arguments":"1}"}}"#,
    ]);
    assert_eq!(found, [call("a", "f", r#"{"x":1}"#), call("b", "g", "{}")]);
}

#[test]
fn calls_are_distinguished_without_an_index() {
    let no_index = calls(&[
        r#"{"id":"a","function":{"name":"f","arguments":"{"}}"#,
        r#"{"function":{"arguments":"}"}}"#,
        r#"{"id":"b","function":{"name":"f"}}"#,
    ]);
    assert_eq!(no_index, [call("a", "f", "{}"), call("b", "f", "{}")]);
    let all_zero = calls(&[
        r#"{"index":0,"id":"a","function":{"name":"f","arguments":{"x":1}}}"#,
        r#"{"index":0,"id":"b","function":{"name":"f","arguments":"{\"x\":"}}"#,
        r#"{"index":0,"function":{"arguments":"2}"}}"#,
    ]);
    assert_eq!(all_zero, [call("a", "f", r#"{"x":1}"#), call("b", "f", r#"{"x":2}"#)]);
}

#[test]
fn custom_tools_and_legacy_functions_are_decoded() {
    let custom = calls(&[
        r#"{"index":0,"id":"a","type":"custom","custom":{"name":"sh","input":""}}"#,
        r#"{"index":0,"custom":{"input":"{}"}}"#,
    ]);
    assert_eq!(custom, [call("a", "sh", r#""{}""#)]);
    let legacy = answer(&[
        &chunk(r#"{"choices":[{"delta":{"function_call":{"name":"f","arguments":""}}}]}"#),
        &chunk(r#"{"choices":[{"delta":{"function_call":{"arguments":"[1]"}}}]}"#),
        &chunk(r#"{"choices":[{"delta":{},"finish_reason":"function_call"}]}"#),
    ])
    .unwrap();
    let expected = ToolCall { id: String::new(), name: "f".into(), args: vec![Json::Int(1)].into() };
    assert_eq!((legacy.tool_calls(), legacy.finish.as_ref()), (vec![&expected], Some(&Finish::ToolCalls)));
}

#[test]
fn an_incomplete_answer_is_an_error_that_says_why() {
    let text = &chunk(r#"{"choices":[{"delta":{"content":"a"}}]}"#);
    let cut = "an incomplete answer: the stream ended before a finish_reason";
    assert_eq!(answer(&[]), Err(cut.into()));
    assert_eq!(answer(&[text]), Err(cut.into()));
    let error = "event: error\ndata: {\"error\":{\"message\":\"overloaded\"}}\n\n";
    assert_eq!(answer(&[text, error]), Err("frames[1]: the provider's error: overloaded".into()));
    let half = r#"data: {"choices":[{"del"#;
    assert_eq!(
        answer(&[half]),
        Err("frames[0]: data: expected the end of a string, found the end of the text at line 1, column 18".into())
    );
    let wrong = &chunk(r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":1}}]}}]}"#);
    let message = "frames[0]: choices[0].delta.tool_calls[0].function.arguments: \
                       expected a string or an object, found number";
    assert_eq!(answer(&[wrong]), Err(message.into()));
}
