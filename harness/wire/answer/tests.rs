use super::*;

#[test]
fn a_failed_response_is_not_an_answer() {
    let failed = |status, body| {
        let response = Response::of(status, "", body);
        decode_response(Api::OpenAiChat, &response).unwrap_err().message
    };
    let error = Json::parse(br#"{"error":{"message":"Rate limit reached","type":"requests"}}"#).unwrap();
    assert_eq!(failed(429, Body::json(&error)), "status 429: the provider's error: Rate limit reached");
    assert_eq!(failed(200, Body::json(&error)), "the provider's error: Rate limit reached");
    assert_eq!(failed(502, Body::Text("Bad gateway".into())), "status 502: the provider's error: Bad gateway");
    assert_eq!(failed(200, Body::Text("<html>".into())), "expected JSON or a stream, found text");
    let detail = Json::parse(br#"{"detail":[1]}"#).unwrap();
    assert_eq!(failed(422, Body::json(&detail)), r#"status 422: the provider's error: {"detail":[1]}"#);
}

/// Some servers cut texts by UTF-16 units.
#[test]
fn an_emoji_whose_halves_come_in_two_pieces_is_one_character() {
    let halves = [r"\ud83d", r"\ude00"];
    let streams: [(Api, [&str; 2], &str); 5] = [
        (
            Api::OpenAiChat,
            [
                r#"data: {"choices":[{"delta":{"content":"HALF","tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"a\":\""}}]}}]}"#,
                r#"data: {"choices":[{"delta":{"content":"HALF","tool_calls":[{"index":0,"function":{"arguments":"\"}"}}]},"finish_reason":"stop"}]}"#,
            ],
            "\n\n",
        ),
        (
            Api::OpenAiResponses,
            [
                r#"data: {"type":"response.output_text.delta","delta":"HALF"}"#,
                r#"data: {"type":"response.completed","response":{"output":[{"type":"message","content":[{"type":"output_text","text":"\ud83d\ude00"}]}]}}"#,
            ],
            "\n\n",
        ),
        (
            Api::Anthropic,
            [
                r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"HALF"}}"#,
                r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"HALF"}}"#,
            ],
            "\n\n",
        ),
        (
            Api::Gemini,
            [
                r#"data: {"candidates":[{"content":{"parts":[{"text":"HALF"}]}}]}"#,
                r#"data: {"candidates":[{"content":{"parts":[{"text":"HALF"}]},"finishReason":"STOP"}]}"#,
            ],
            "\n\n",
        ),
        (
            Api::Ollama,
            [r#"{"message":{"content":"HALF"},"done":false}"#, r#"{"message":{"content":"HALF"},"done":true}"#],
            "\n",
        ),
    ];
    for (api, pieces, end) in streams {
        let mut text: String =
            pieces.iter().zip(halves).map(|(piece, half)| piece.replace("HALF", half) + end).collect();
        if api == Api::Anthropic {
            let start = r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
            text = format!("{start}\n\n{text}data: {{\"type\":\"message_stop\"}}\n\n");
        }
        let answer = decode_response(
            api,
            &Response::received(
                200,
                if end == "\n" { "application/x-ndjson" } else { "text/event-stream" },
                text.into(),
            ),
        )
        .unwrap();
        assert_eq!(answer.text(), "\u{1f600}", "{api}");
    }
    let list = r#"[{"candidates":[{"content":{"parts":[{"text":"\ud83d"}]}}]},{"candidates":[{"content":{"parts":[{"text":"\ude00"}]},"finishReason":"STOP"}]}]"#;
    let answer = decode_response(Api::Gemini, &Response::received(200, "application/json", list.into())).unwrap();
    assert_eq!(answer.text(), "\u{1f600}");
}
