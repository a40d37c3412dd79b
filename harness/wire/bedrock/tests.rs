use crate::{
    Api, Body, Call, Known, RenderFor, Response, Target, api_of_path, count_headers, decode, decode_response,
    read_body, respond,
};
use retake_core::conversation::{Answer, Block, Finish};
use retake_core::json::{Json, Layout};
use retake_core::key::Rules;

const CONVERSE: &str = "/model/us.amazon.nova-lite-v1%3A0/converse";
const INVOKE: &str = "/model/us.anthropic.claude-sonnet-4-6/invoke";

fn call(path: &str, body: &str) -> Call {
    let (api, body) = read_body(Target::from(path), body.as_bytes()).unwrap();
    decode(api, path, &body, &Known::default()).unwrap()
}

fn key(call: &Call) -> String {
    let rules = Rules::default();
    rules.conversation_hash(&rules.canonical(call.clone().into_messages())).to_string()
}

fn json(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

#[test]
fn paths_name_the_model_once_decoded() {
    let hi = r#"{"messages": [{"role": "user", "content": [{"text": "hi"}]}]}"#;
    let sent = call(CONVERSE, hi);
    assert_eq!((sent.api, sent.model.as_str(), sent.stream), (Api::Bedrock, "us.amazon.nova-lite-v1:0", false));
    let arn = "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fx/converse-stream";
    let sent = call(arn, hi);
    assert_eq!((sent.model.as_str(), sent.stream), ("arn:aws:bedrock:us-east-1:1:inference-profile/x", true));
    let of_anthropic =
        r#"{"anthropic_version": "bedrock-2023-05-31", "messages": [{"role": "user", "content": "hi"}]}"#;
    let streamed = "/model/us.anthropic.claude-3-7-sonnet-20250219-v1:0/invoke-with-response-stream";
    let sent = call(streamed, of_anthropic);
    assert_eq!(
        (sent.api, sent.model.as_str(), sent.stream),
        (Api::BedrockInvoke, "us.anthropic.claude-3-7-sonnet-20250219-v1:0", true)
    );
    // Another maker's body, which the path does not show.
    assert_eq!(call(INVOKE, r#"{"inputText": "hi"}"#).api, Api::Opaque);
    assert_eq!(api_of_path("/model/x/async-invoke"), None);
}

#[test]
fn the_same_conversation_has_the_key_that_it_has_in_chat_completions() {
    let chat = r#"{"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "weather?"},
        {"role": "assistant", "content": "Let me see.", "tool_calls": [{"id": "t1", "function": {"name": "look", "arguments": "{\"at\":\"Rome\"}"}},
            {"id": "t2", "function": {"name": "look", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "t1", "content": "sun"}, {"role": "tool", "tool_call_id": "t2", "content": "{\"deg\": 7}"},
        {"role": "user", "content": "thanks"}]}"#;
    let converse = r#"{"system": [{"text": "Be brief."}, {"cachePoint": {"type": "default"}}], "messages": [{"role": "user", "content": [{"text": "weather?"}]},
        {"role": "assistant", "content": [{"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}}, {"text": "Let me see."},
            {"toolUse": {"toolUseId": "t1", "name": "look", "input": {"at": "Rome"}}}, {"toolUse": {"toolUseId": "t2", "name": "look", "input": {}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "t1", "content": [{"text": "sun"}], "status": "success"}},
            {"toolResult": {"toolUseId": "t2", "content": [{"json": {"deg": 7}}]}}, {"text": "thanks"}, {"cachePoint": {"type": "default"}}]}],
        "toolConfig": {"tools": [{"toolSpec": {"name": "look"}}], "toolChoice": {"auto": {}}}, "inferenceConfig": {"maxTokens": 9, "stopSequences": ["x"]}}"#;
    let (sent, same) = (call(CONVERSE, converse), call("/v1/chat/completions", chat));
    assert_eq!(key(&sent), key(&same));
    assert_eq!((sent.system.as_str(), sent.tools.as_array().map(<[Json]>::len)), ("Be brief.", Some(1)));
    let settings =
        r#"{"inferenceConfig":{"maxTokens":9,"stopSequences":["x"]},"toolConfig":{"toolChoice":{"auto":{}}}}"#;
    assert_eq!(sent.settings.print(Layout::Compact), settings);
    assert_eq!(sent.form.print(Layout::Compact), r#"{"stop":true}"#);
    assert!(sent.extra.print(Layout::Compact).contains("cachePoint"), "{:?}", sent.extra);
    let failed = converse.replace("success", "error");
    assert!(call(CONVERSE, &failed).messages.iter().any(|message| message.failed));
    let plain = r#"{"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}"#;
    let invoked =
        plain.replace(r#""model": "m","#, r#""anthropic_version": "bedrock-2023-05-31", "anthropic_beta": ["b"],"#);
    let (plain, invoked) = (call("/v1/messages", plain), call(INVOKE, &invoked));
    assert_eq!((key(&plain), &plain.settings), (key(&invoked), &invoked.settings));
    assert!(invoked.extra.get("anthropic_beta").is_some());
}

/// An answer with all that Converse has, as JSON.
const WHOLE: &str = r#"{"metrics": {"latencyMs": 7}, "output": {"message": {"content": [
    {"reasoningContent": {"reasoningText": {"signature": "sig", "text": "It asks for the weather, so I look it up."}}},
    {"text": "Let me see what the weather is like there."},
    {"toolUse": {"input": {"at": "Rome"}, "name": "look", "toolUseId": "tooluse_1"}}], "role": "assistant"}},
    "stopReason": "tool_use", "usage": {"cacheReadInputTokens": 3, "inputTokens": 5, "outputTokens": 4, "totalTokens": 12}}"#;

fn asking(api: Api, stream: bool) -> RenderFor<'static> {
    RenderFor { api, stream, array: false, include_usage: true, model: "m", seed: "00" }
}

#[test]
fn whole_and_streamed_answers_are_the_same_and_become_each_other() {
    let whole = Response::json(200, json(WHOLE));
    let answer = decode_response(Api::Bedrock, &whole).unwrap();
    assert_eq!(answer.finish, Some(Finish::ToolCalls));
    assert!(matches!(&answer.blocks[..], [Block::Reasoning(_), Block::Text(_), Block::ToolCall(_)]));
    let usage = answer.usage.unwrap();
    assert_eq!((usage.input, usage.cached, usage.output), (8, 3, 4));
    let stream = respond(&answer, Some((Api::Bedrock, &whole)), &asking(Api::Bedrock, true)).unwrap();
    assert_eq!(stream.content_type, "application/vnd.amazon.eventstream");
    let again = Response::received(200, &stream.content_type, stream.bytes().into());
    assert_eq!(again, stream);
    assert_eq!(decode_response(Api::Bedrock, &stream).unwrap(), answer);
    // Signatures come back, too.
    let whole_again = respond(&answer, Some((Api::Bedrock, &stream)), &asking(Api::Bedrock, false)).unwrap();
    assert_eq!(whole_again, Response::json(200, json(WHOLE)));
}

#[test]
fn an_answer_goes_from_each_api_to_bedrock_and_back() {
    let answer = decode_response(Api::Bedrock, &Response::json(200, json(WHOLE))).unwrap();
    let in_common = |answer: &Answer| {
        (answer.text(), answer.tool_calls().len(), answer.finish.clone(), answer.usage.map(|usage| usage.output))
    };
    for api in Api::ALL.into_iter().filter(|api| api.is_spoken()) {
        for stream in [false, true] {
            let there = respond(&answer, None, &asking(api, stream)).unwrap();
            let read = decode_response(api, &there).unwrap();
            for (back, streamed) in
                [(Api::Bedrock, false), (Api::Bedrock, true), (Api::BedrockInvoke, true), (Api::BedrockInvoke, false)]
            {
                let sent = respond(&read, Some((api, &there)), &asking(back, streamed)).unwrap();
                assert_eq!(sent.is_stream(), streamed);
                let sent = Response::received(200, &sent.content_type, sent.bytes().into());
                assert_eq!(
                    in_common(&decode_response(back, &sent).unwrap()),
                    in_common(&answer),
                    "{api} {stream} {back}"
                );
            }
        }
    }
}

#[test]
fn messages_of_anthropic_are_the_same_bodies_in_another_framing() {
    let body = r#"{"id": "msg_bdrk_1", "type": "message", "role": "assistant", "model": "claude", "content": [
        {"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "Hello."}], "stop_reason": "end_turn",
        "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 2}}"#;
    let plain = Response::json(200, json(body));
    let answer = decode_response(Api::Anthropic, &plain).unwrap();
    let streamed = respond(&answer, Some((Api::Anthropic, &plain)), &asking(Api::BedrockInvoke, true)).unwrap();
    let Body::Frames(frames) = &streamed.body else { panic!() };
    assert!(frames.iter().all(|frame| frame.starts_with(":event-type chunk\ndata: {")), "{frames:?}");
    // Both have the counts besides the message, where clients look for them.
    let metrics = r#""amazon-bedrock-invocationMetrics":{"firstByteLatency":0,"inputTokenCount":1,"invocationLatency":0,"outputTokenCount":2}"#;
    assert!(frames.iter().last().unwrap().contains(metrics), "{frames:?}");
    let counts = ["x-amzn-bedrock-input-token-count", "x-amzn-bedrock-output-token-count"];
    let counts = counts.into_iter().zip(["1", "2"]).map(|(name, count)| (name, count.to_owned()));
    assert_eq!(count_headers(Api::BedrockInvoke, &plain), counts.collect::<Vec<_>>());
    assert!(
        count_headers(Api::Anthropic, &plain).is_empty() && count_headers(Api::BedrockInvoke, &streamed).is_empty()
    );
    // The signature is kept on the way to Messages.
    let back = respond(&answer, Some((Api::BedrockInvoke, &streamed)), &asking(Api::Anthropic, false)).unwrap();
    assert_eq!(back, plain);
}

#[test]
fn an_exception_in_a_stream_is_the_providers_error() {
    let exception = ":exception-type modelStreamErrorException\ndata: {\"message\":\"it broke\"}\n\n";
    let start = ":event-type messageStart\ndata: {\"role\":\"assistant\"}\n\n";
    for api in [Api::Bedrock, Api::BedrockInvoke] {
        let stream = Response::events([start.to_owned(), exception.to_owned()]);
        let error = decode_response(api, &stream).unwrap_err();
        assert!(error.by_provider && error.to_string().contains("modelStreamErrorException: it broke"), "{error}");
    }
    let cut = Response::events([start.to_owned()]);
    let error = decode_response(Api::Bedrock, &cut).unwrap_err().to_string();
    assert_eq!(error, "an incomplete answer: the stream ended before `messageStop`");
    let refused = Response::json(429, json(r#"{"message": "Too many requests"}"#));
    assert!(decode_response(Api::Bedrock, &refused).unwrap_err().by_provider);
    let mut damaged: Vec<u8> = Response::events([start.to_owned(), exception.to_owned()]).bytes().into();
    damaged[20] ^= 1;
    let damaged = Response::received(200, "application/vnd.amazon.eventstream", damaged);
    let error = decode_response(Api::Bedrock, &damaged).unwrap_err().to_string();
    assert!(error.starts_with("message 1 of the event stream is damaged"), "{error}");
}
