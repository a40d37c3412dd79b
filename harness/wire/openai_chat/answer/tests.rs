use super::*;
use crate::parts::args;

fn answer(text: &str) -> Result<Answer, String> {
    of_json(&Json::parse(text.as_bytes()).unwrap()).map_err(|error| error.message)
}

fn message(text: &str) -> Result<Vec<Block>, String> {
    answer(&format!(r#"{{"choices": [{{"message": {text}}}]}}"#)).map(|answer| answer.blocks)
}

#[test]
fn a_text_answer_is_decoded() {
    let found = answer(
        r#"{"id": "chatcmpl-1", "object": "chat.completion", "created": 1754688941, "model": "gpt-4o-2024-08-06",
                "choices": [{"index": 0, "logprobs": null, "finish_reason": "stop", "message":
                    {"role": "assistant", "content": "Mexico City.", "refusal": null, "annotations": []}}],
                "usage": {"prompt_tokens": 14, "completion_tokens": 8, "total_tokens": 22}}"#,
    );
    let expected = Answer {
        id: Some("chatcmpl-1".into()),
        model: Some("gpt-4o-2024-08-06".into()),
        blocks: vec![Block::Text("Mexico City.".into())],
        finish: Some(Finish::Stop),
        usage: Some(Usage { input: 14, output: 8, ..Usage::default() }),
    };
    assert_eq!(found, Ok(expected));
}

#[test]
fn tool_calls_come_after_text_and_reasoning_before() {
    let call = |id: &str| Block::ToolCall(ToolCall { id: id.into(), name: "f".into(), args: args::parsed("") });
    let found = message(
        r#"{"tool_calls": [{"id": "a", "index": 0, "function": {"name": "f", "arguments": "{}"}}], "content": "b",
                "function_call": {"name": "f"}, "reasoning": "c", "reasoning_content": "c", "refusal": "d"}"#,
    );
    let texts = [Block::Reasoning("c".into()), Block::Text("b".into()), Block::Refusal("d".into())];
    assert_eq!(found.unwrap(), texts.into_iter().chain([call("a"), call("")]).collect::<Vec<_>>());
}

#[test]
fn content_may_be_parts() {
    let found = message(
        r#"{"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "a"}]}, {"type": "text",
                "text": "b"}, {"type": "thinking", "thinking": "c"}, {"type": "refusal", "refusal": "d"}]}"#,
    );
    let texts = [Block::Reasoning("ac".into()), Block::Text("b".into()), Block::Refusal("d".into())];
    assert_eq!(found, Ok(texts.into()));
}

#[test]
fn finish_reasons_are_translated() {
    let finish = |word: &str| {
        answer(&format!(r#"{{"choices": [{{"message": {{}}, "finish_reason": {word}}}]}}"#)).unwrap().finish
    };
    assert_eq!(finish(r#""function_call""#), Some(Finish::ToolCalls));
    assert_eq!(finish(r#""tool_calls""#), Some(Finish::ToolCalls));
    assert_eq!(finish(r#""length""#), Some(Finish::Length));
    assert_eq!(finish(r#""content_filter""#), Some(Finish::ContentFilter));
    assert_eq!(finish(r#""eos""#), Some(Finish::Other("eos".into())));
    assert_eq!((finish("null"), finish(r#""""#)), (None, None));
}

#[test]
fn a_response_without_an_answer_is_an_error_that_says_why() {
    let cases = [
        ("[]", "choices: expected at least one, found none"),
        (r#"{"choices": []}"#, "choices: expected at least one, found none"),
        (r#"{"choices": [1]}"#, "choices[0]: expected an object, found number"),
        (r#"{"choices": [{}]}"#, "choices[0].message: expected an object, found nothing"),
        (r#"{"choices": [{"message": null}]}"#, "choices[0].message: expected an object, found null"),
        (
            r#"{"choices": [{"message": {"content": {}}}]}"#,
            "choices[0].message.content: expected a string or an array, found object",
        ),
        (
            r#"{"choices": [{"message": {}, "finish_reason": 1}]}"#,
            "choices[0].finish_reason: expected a string, found number",
        ),
        (r#"{"error": {"code": 502}, "choices": []}"#, r#"the provider's error: {"code":502}"#),
    ];
    for (body, message) in cases {
        assert_eq!(answer(body), Err(message.to_owned()), "{body}");
    }
}

#[test]
fn a_part_of_one_api_is_kept_replayed_and_refused_by_other_apis() {
    use crate::{Api, Body, RenderFor, Response, decode_response, render};
    let reference = Json::parse(br#"{"type": "reference", "reference_ids": [3]}"#).unwrap();
    let text = r#"{"choices": [{"finish_reason": "stop", "message": {"content": [{"type": "text", "text": "a"},
                {"type": "reference", "reference_ids": [3]}]}}]}"#;
    let recorded = answer(text).unwrap();
    let native = Block::Native(Native { api: "openai-chat".into(), block: reference });
    assert_eq!(recorded.blocks, [Block::Text("a".into()), native]);
    let call = |api, stream| RenderFor { api, stream, array: false, include_usage: true, model: "m", seed: "5eed" };
    for stream in [false, true] {
        let sent: Response = render(&recorded, &call(Api::OpenAiChat, stream)).unwrap();
        assert_eq!(matches!(sent.body, Body::Frames(_)), stream);
        assert_eq!(decode_response(Api::OpenAiChat, &sent).unwrap().blocks, recorded.blocks);
    }
    let error = render(&recorded, &call(Api::Anthropic, false)).unwrap_err().to_string();
    assert!(error.contains("the block `reference` of openai-chat"), "{error}");
}
