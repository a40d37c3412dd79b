use super::*;

#[test]
fn an_error_inside_a_stream_that_was_recorded_so_is_an_answer() {
    let stream = |end: &str| {
        let begin =
            r#"data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"It"}}]}"#;
        Response::received(200, "text/event-stream", format!("{begin}\n\n{end}").into_bytes())
    };
    let failed = stream("data: {\"error\":{\"message\":\"overloaded\"}}\n\n");
    let why = |recorded: Option<&Response>| incomparable(Api::OpenAiChat, &failed, recorded);
    assert_eq!(why(Some(&failed)), None);
    assert!(why(None).unwrap().contains("reported an error instead of the rest"));
    assert!(why(Some(&stream("data: [DONE]\n\n"))).unwrap().contains("reported an error instead of the rest"));
}
