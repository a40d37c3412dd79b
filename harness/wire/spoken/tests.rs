use super::*;

fn frames(pieces: &[&str]) -> Frames {
    pieces.iter().map(|piece| sse::frame(piece)).collect()
}

#[test]
fn the_last_piece_with_text_is_found_in_each_api() {
    let chat = |text: &str| format!(r#"{{"choices":[{{"delta":{{"content":{text}}}}}]}}"#);
    let chat =
        [chat(r#""""#), chat(r#""a""#), chat(r#""b""#), chat("null"), r#"{"choices":[]}"#.into(), "[DONE]".into()];
    let chat: Vec<&str> = chat.iter().map(String::as_str).collect();
    assert_eq!(last_text(Api::OpenAiChat, &frames(&chat)), Some(2));
    let responses = [
        r#"{"type":"response.output_text.delta","delta":"a"}"#,
        r#"{"type":"response.output_text.delta","delta":"b"}"#,
        r#"{"type":"response.function_call_arguments.delta","delta":"{}"}"#,
        r#"{"type":"response.output_text.done","text":"ab"}"#,
    ];
    assert_eq!(last_text(Api::OpenAiResponses, &frames(&responses)), Some(1));
    let anthropic = [
        r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}"#,
        r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"b"}}"#,
        r#"{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
    ];
    assert_eq!(last_text(Api::Anthropic, &frames(&anthropic)), Some(1));
    let part = |part: &str| format!(r#"{{"candidates":[{{"content":{{"parts":[{part}]}}}}]}}"#);
    let gemini =
        [part(r#"{"text":"a"}"#), part(r#"{"text":"b"},{"text":"c"}"#), part(r#"{"text":"why","thought":true}"#)];
    assert_eq!(last_text(Api::Gemini, &frames(&gemini.each_ref().map(String::as_str))), Some(1));
    let lines = ["{\"message\":{\"content\":\"a\"}}\n", "{\"message\":{\"content\":\"b\"}}\n", "{\"done\":true}\n"];
    assert_eq!(last_text(Api::Ollama, &lines.into_iter().collect()), Some(1));
}

#[test]
fn an_answer_in_one_piece_has_no_last_one() {
    let one = [r#"{"choices":[{"delta":{"content":"all"}}]}"#, "not JSON"];
    assert_eq!(last_text(Api::OpenAiChat, &frames(&one)), None);
    assert_eq!(last_text(Api::Opaque, &frames(&one)), None);
}

#[test]
fn what_had_come_of_an_answer_that_broke_off_is_its_text() {
    let of = |api: Api, pieces: &[&str]| {
        let response = Response { body: Body::Frames(frames(pieces)), ..Response::stream(Vec::new()) };
        broken_off(api, &response, "error: overloaded")
    };
    let chat = [
        r#"{"choices":[{"delta":{"role":"assistant","content":""}}]}"#,
        r#"{"choices":[{"delta":{"content":"Once "}}]}"#,
        r#"{"choices":[{"delta":{"content":"upon"}}]}"#,
        r#"{"error":{"message":"overloaded"}}"#,
        r#"{"choices":[{"del"#,
    ];
    let answer = of(Api::OpenAiChat, &chat);
    assert_eq!(answer.text(), "Once upon");
    assert!(answer.is_untold());
    let none = of(Api::OpenAiChat, &chat[3..]);
    assert_eq!(none, Answer::untold("error: overloaded"));
    let json = Response::json(529, Json::object([("error", "overloaded".into())]));
    assert_eq!(broken_off(Api::Anthropic, &json, "error: overloaded"), none);
}
