use super::*;
use crate::{Api, Body};

const SEED: &str = "5eed";

fn render_for(include_usage: bool) -> RenderFor<'static> {
    RenderFor { api: Api::OpenAiChat, stream: false, array: false, include_usage, model: "gpt-4o", seed: SEED }
}

fn tool_answer() -> Answer {
    let args = Json::parse(br#"{"country": "UK", "detail": "population"}"#).unwrap();
    Answer {
        id: Some("chatcmpl-1".into()),
        blocks: vec![Block::ToolCall(ToolCall { id: "call_1".into(), name: "get_capital".into(), args })],
        usage: Some(Usage { input: 78, output: 9, ..Usage::default() }),
        ..Answer::default()
    }
}

fn frames(response: Response) -> Vec<String> {
    let Body::Frames(frames) = response.body else { panic!("{response:?}") };
    frames.iter().map(str::to_owned).collect()
}

fn body(response: &Response) -> String {
    let Body::Json(body) = &response.body else { panic!("{response:?}") };
    body.json().print(Layout::Pretty)
}

#[test]
fn json_with_tool_calls_has_null_content() {
    let response = json(&tool_answer(), &render_for(false)).unwrap();
    assert_eq!((response.status, response.content_type.as_str()), (200, "application/json"));
    let expected = r#"{
  "choices": [
    {
      "finish_reason": "tool_calls",
      "index": 0,
      "logprobs": null,
      "message": {
        "content": null,
        "refusal": null,
        "role": "assistant",
        "tool_calls": [
          {
            "function": {
              "arguments": "{\"country\":\"UK\",\"detail\":\"population\"}",
              "name": "get_capital"
            },
            "id": "call_1",
            "type": "function"
          }
        ]
      }
    }
  ],
  "created": 0,
  "id": "chatcmpl-1",
  "model": "gpt-4o",
  "object": "chat.completion",
  "usage": {
    "completion_tokens": 9,
    "prompt_tokens": 78,
    "total_tokens": 87
  }
}"#;
    assert_eq!(body(&response), expected);
}

#[test]
fn missing_ids_are_derived_and_missing_counts_are_zero() {
    let call = ToolCall { id: String::new(), name: "f".into(), args: Json::Null };
    let answer = Answer { blocks: vec![Block::ToolCall(call.clone()), Block::ToolCall(call)], ..Answer::default() };
    let Body::Json(body) = json(&answer, &render_for(false)).unwrap().body else { panic!() };
    let body = body.json();
    let id = |pointer| body.pointer(pointer).and_then(Json::as_str).unwrap().to_owned();
    assert_eq!(id("/id"), ids::derived("chatcmpl-", SEED, "answer"));
    assert_eq!(id("/choices/0/message/tool_calls/0/id"), ids::derived("call_", SEED, 0));
    assert_eq!(id("/choices/0/message/tool_calls/1/id"), ids::derived("call_", SEED, 1));
    assert_eq!(body.pointer("/usage/total_tokens"), Some(&Json::Int(0)));
}

#[test]
fn content_is_null_only_with_tool_calls_or_a_refusal() {
    let content = |blocks| {
        let Body::Json(body) = json(&Answer { blocks, ..Answer::default() }, &render_for(false)).unwrap().body else {
            panic!()
        };
        let message = body.json().pointer("/choices/0/message").unwrap().clone();
        (message.get("content").cloned().unwrap(), message.get("refusal").cloned().unwrap())
    };
    assert_eq!(content(vec![]), ("".into(), Json::Null));
    assert_eq!(content(vec![Block::Text("a".into()), Block::Text("b".into())]), ("ab".into(), Json::Null));
    assert_eq!(content(vec![Block::Refusal("no".into())]), (Json::Null, "no".into()));
}

#[test]
fn a_text_is_rendered_as_a_stream() {
    let text = "The capital of Mexico is Mexico City.";
    let answer = Answer { blocks: vec![Block::Reasoning("Hm.".into()), Block::Text(text.into())], ..tool_answer() };
    let response = stream(&answer, &render_for(true)).unwrap();
    assert_eq!(response.content_type, "text/event-stream; charset=utf-8");
    let chunk = |choices: String, usage: &str| {
        let head = r#""created":0,"id":"chatcmpl-1","model":"gpt-4o","object":"chat.completion.chunk""#;
        sse::frame(&format!(r#"{{"choices":[{choices}],{head},"usage":{usage}}}"#))
    };
    let delta = |delta: &str, finish: &str| {
        let rest = format!(r#""finish_reason":{finish},"index":0,"logprobs":null"#);
        chunk(format!(r#"{{"delta":{delta},{rest}}}"#), "null")
    };
    let expected = [
        delta(r#"{"content":"","refusal":null,"role":"assistant"}"#, "null"),
        delta(r#"{"reasoning_content":"Hm."}"#, "null"),
        delta(r#"{"content":"The capital of Mexico "}"#, "null"),
        delta(r#"{"content":"is Mexico City."}"#, "null"),
        delta("{}", r#""stop""#),
        chunk(String::new(), r#"{"completion_tokens":9,"prompt_tokens":78,"total_tokens":87}"#),
        "data: [DONE]\n\n".to_owned(),
    ];
    assert_eq!(frames(response), expected);
}

#[test]
fn a_tool_call_is_rendered_as_a_stream() {
    let frames = frames(stream(&tool_answer(), &render_for(false)).unwrap());
    let deltas: Vec<_> = frames
        .iter()
        .filter_map(|frame| Json::parse(frame.strip_prefix("data: ")?.trim_end().as_bytes()).ok())
        .inspect(|chunk| assert_eq!(chunk.get("usage"), None))
        .filter_map(|chunk| Some(chunk.pointer("/choices/0/delta/tool_calls/0")?.print(Layout::Compact)))
        .collect();
    let expected = [
        r#"{"function":{"arguments":"","name":"get_capital"},"id":"call_1","index":0,"type":"function"}"#,
        r#"{"function":{"arguments":"{\"country\":\"UK\",\"detail\""},"index":0}"#,
        r#"{"function":{"arguments":":\"population\"}"},"index":0}"#,
    ];
    assert_eq!(deltas, expected);
}

#[test]
fn an_error_has_openais_envelope() {
    let response = crate::error_response(Api::OpenAiChat, 404, "replay_miss", "no turn");
    assert_eq!(response.status, 404);
    let expected = r#"{"error":{"code":"replay_miss","message":"no turn","param":null,"type":"replay_miss"}}"#;
    assert_eq!(Json::parse(body(&response).as_bytes()), Json::parse(expected.as_bytes()));
}
