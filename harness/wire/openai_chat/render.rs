//! An [`Answer`] as a response, JSON or stream.

use crate::conversation::{Answer, Block, Finish, ToolCall, Usage};
use crate::json::{Json, Layout};
use crate::wire::args::unparsed;
use crate::wire::pieces::{characters, given, words};
use crate::wire::{RenderFor, Response, Unrenderable, ids, sse};

pub(in crate::wire) fn json(answer: &Answer, call: &RenderFor<'_>) -> Result<Response, Unrenderable> {
    let parts = Parts::of(answer, call)?;
    let mut message = vec![
        ("role", Json::from("assistant")),
        ("content", parts.content()),
        ("refusal", given(&parts.refusal).into()),
    ];
    message.extend(given(&parts.reasoning).map(|text| ("reasoning_content", text.into())));
    if !parts.calls.is_empty() {
        let calls = parts.calls.iter().map(|(id, call)| tool_call(id, &call.name, unparsed(&call.args)));
        message.push(("tool_calls", calls.map(Json::object).collect::<Vec<_>>().into()));
    }
    let choice = [
        ("index", Json::Int(0)),
        ("message", Json::object(message)),
        ("logprobs", Json::Null),
        ("finish_reason", parts.finish.into()),
    ];
    let mut body = parts.head("chat.completion");
    body.extend([("choices", vec![Json::object(choice)].into()), ("usage", usage(answer))]);
    Ok(Response::json(200, Json::object(body)))
}

pub(in crate::wire) fn stream(answer: &Answer, call: &RenderFor<'_>) -> Result<Response, Unrenderable> {
    let parts = Parts::of(answer, call)?;
    let chunk = |choices: Vec<Json>, usage: Json| {
        let mut body = parts.head("chat.completion.chunk");
        body.push(("choices", choices.into()));
        if call.include_usage {
            body.push(("usage", usage));
        }
        sse::frame(&Json::object(body).print(Layout::Compact))
    };
    let choice = |delta: Json, finish: Json| {
        let choice = [("index", Json::Int(0)), ("delta", delta), ("logprobs", Json::Null), ("finish_reason", finish)];
        chunk(vec![Json::object(choice)], Json::Null)
    };
    let delta = |key: &str, value: Json| choice(Json::object([(key, value)]), Json::Null);

    let opening = [("role", Json::from("assistant")), ("content", "".into()), ("refusal", Json::Null)];
    let mut frames = vec![choice(Json::object(opening), Json::Null)];
    for (key, text) in [("reasoning_content", &parts.reasoning), ("content", &parts.text), ("refusal", &parts.refusal)]
    {
        frames.extend(words(text).map(|piece| delta(key, piece.into())));
    }
    for (index, (id, call)) in parts.calls.iter().enumerate() {
        let tool_call_delta = |piece: Vec<(&str, Json)>| {
            let piece = piece.into_iter().chain([("index", index.into())]);
            delta("tool_calls", vec![Json::object(piece)].into())
        };
        frames.push(tool_call_delta(tool_call(id, &call.name, String::new())));
        let arguments = unparsed(&call.args);
        let pieces = characters(&arguments).map(|piece| Json::object([("arguments", piece.into())]));
        frames.extend(pieces.map(|piece| tool_call_delta(vec![("function", piece)])));
    }
    frames.push(choice(Json::object::<String>([]), parts.finish.into()));
    if call.include_usage {
        frames.push(chunk(Vec::new(), usage(answer)));
    }
    frames.push(sse::frame("[DONE]"));
    Ok(Response::stream(frames))
}

pub(in crate::wire) fn error(status: u16, kind: &str, message: &str) -> Response {
    let error = [("message", Json::from(message)), ("type", kind.into()), ("param", Json::Null), ("code", kind.into())];
    Response::json(status, Json::object([("error", Json::object(error))]))
}

/// The answer to `GET /v1/models`.
pub(in crate::wire) fn models(models: &[String]) -> Json {
    let model = |id: &String| {
        Json::object([
            ("id", Json::from(id.as_str())),
            ("object", "model".into()),
            ("created", Json::Int(0)),
            ("owned_by", "retake".into()),
        ])
    };
    Json::object([("object", Json::from("list")), ("data", Json::Array(models.iter().map(model).collect()))])
}

/// An answer sorted into what a message has fields for.
struct Parts<'a> {
    id: String,
    model: &'a str,
    reasoning: String,
    text: String,
    refusal: String,
    calls: Vec<(String, &'a ToolCall)>,
    finish: &'a str,
}

impl<'a> Parts<'a> {
    fn of(answer: &'a Answer, call: &RenderFor<'a>) -> Result<Parts<'a>, Unrenderable> {
        let [mut reasoning, mut text, mut refusal] = [const { String::new() }; 3];
        let mut calls = Vec::new();
        for block in &answer.blocks {
            match block {
                Block::Reasoning(piece) => reasoning.push_str(piece),
                Block::Text(piece) => text.push_str(piece),
                Block::Refusal(piece) => refusal.push_str(piece),
                Block::ToolCall(tool) if tool.id.is_empty() => {
                    calls.push((ids::derived("call_", call.seed, calls.len()), tool));
                }
                Block::ToolCall(tool) => calls.push((tool.id.clone(), tool)),
                Block::Native(native) => return Err(Unrenderable::native(call.api, native)),
            }
        }
        let finish = match &answer.finish {
            Some(finish) => finish.as_str(),
            None if calls.is_empty() => Finish::Stop.as_str(),
            None => Finish::ToolCalls.as_str(),
        };
        let id = answer.id.as_deref().and_then(given).map(str::to_owned);
        let id = id.unwrap_or_else(|| ids::derived("chatcmpl-", call.seed, "answer"));
        let model = answer.model.as_deref().and_then(given).unwrap_or(call.model);
        Ok(Parts { id, model, reasoning, text, refusal, calls, finish })
    }

    fn head(&self, object: &str) -> Vec<(&'static str, Json)> {
        vec![
            ("id", self.id.as_str().into()),
            ("object", object.into()),
            ("created", Json::Int(0)),
            ("model", self.model.into()),
        ]
    }

    /// Null where there is something else to say.
    fn content(&self) -> Json {
        let silent = self.text.is_empty() && !(self.calls.is_empty() && self.refusal.is_empty());
        if silent { Json::Null } else { self.text.as_str().into() }
    }
}

fn tool_call(id: &str, name: &str, arguments: String) -> Vec<(&'static str, Json)> {
    let function = Json::object([("name", Json::from(name)), ("arguments", arguments.into())]);
    vec![("id", id.into()), ("type", "function".into()), ("function", function)]
}

fn usage(answer: &Answer) -> Json {
    let Usage { input, output } = answer.usage.unwrap_or_default();
    Json::object([
        ("prompt_tokens", Json::from(input)),
        ("completion_tokens", output.into()),
        ("total_tokens", input.saturating_add(output).into()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Api, Body};

    const SEED: &str = "5eed";

    fn render_for(include_usage: bool) -> RenderFor<'static> {
        RenderFor { api: Api::OpenAiChat, stream: false, array: false, include_usage, model: "gpt-4o", seed: SEED }
    }

    fn tool_answer() -> Answer {
        let args = Json::parse(br#"{"country": "UK", "detail": "population"}"#).unwrap();
        Answer {
            id: Some("chatcmpl-1".into()),
            blocks: vec![Block::ToolCall(ToolCall { id: "call_1".into(), name: "get_capital".into(), args })],
            usage: Some(Usage { input: 78, output: 9 }),
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
    fn what_a_recording_lacks_is_derived_or_zero() {
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
    fn content_is_null_only_where_something_else_is_said() {
        let content = |blocks| {
            let Body::Json(body) = json(&Answer { blocks, ..Answer::default() }, &render_for(false)).unwrap().body
            else {
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
    fn a_stream_of_text() {
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
    fn a_stream_of_a_tool_call() {
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
    fn an_error_is_in_openais_envelope() {
        let response = error(404, "replay_miss", "no turn");
        assert_eq!(response.status, 404);
        let expected = r#"{"error":{"code":"replay_miss","message":"no turn","param":null,"type":"replay_miss"}}"#;
        assert_eq!(Json::parse(body(&response).as_bytes()), Json::parse(expected.as_bytes()));
    }
}
