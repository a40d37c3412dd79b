//! A request as a [`Call`].

use std::collections::VecDeque;

use crate::conversation::{Message, ToolCall};
use crate::json::Json;
use crate::wire::fields::{self, WireError};
use crate::wire::request::{self, ToolNames};
use crate::wire::{Api, Call, args};

/// What a [`Call`] has a field of its own for, and how long a server keeps the model. All else is settings.
const NO_SETTINGS: [&str; 6] = ["messages", "tools", "model", "stream", "metadata", "keep_alive"];

pub(in crate::wire) fn decode(body: &Json) -> Result<Call, WireError> {
    let sent = fields::request(body)?;
    fields::filled(body, "messages", "message")?;
    let mut tools = Tools::default();
    let messages = fields::each(body, "messages", |sent| message(sent, &mut tools))?;
    let (metadata, caller) = request::metadata(body)?;
    Ok(Call {
        api: Api::Ollama,
        system: request::system_of(&messages),
        messages,
        caller,
        metadata,
        stream: fields::given(body, "stream").is_none() || fields::flag(body, "stream")?,
        array: false,
        include_usage: true,
        tools: fields::given(body, "tools").cloned().into(),
        model: fields::optional_string(body, "model")?.unwrap_or_default().to_owned(),
        settings: Json::Object(request::settings(sent, &NO_SETTINGS)),
    })
}

/// The calls made so far. Most have no id: results then follow in the order of the calls.
#[derive(Default)]
struct Tools {
    names: ToolNames,
    open: VecDeque<String>,
}

fn message(sent: &Json, tools: &mut Tools) -> Result<Message, WireError> {
    let kind = match fields::string(sent, "role")? {
        "user" => "human",
        "assistant" => "ai",
        other => other,
    };
    let tool_calls = fields::each(sent, "tool_calls", tool_call)?;
    if kind != "tool" {
        tools.open = tool_calls.iter().map(|call| call.name.clone()).collect();
    }
    tools.names.learn(&tool_calls);
    let tool_call_id = fields::optional_string(sent, "tool_call_id")?.filter(|id| !id.is_empty());
    let named = fields::optional_string(sent, "tool_name")?.or(fields::optional_string(sent, "name")?);
    let named = named.filter(|name| !name.is_empty()).map(str::to_owned);
    let name = if kind == "tool" {
        let next = tools.open.pop_front();
        named.or_else(|| tools.names.of(tool_call_id?)).or(next)
    } else {
        named
    };
    let text = fields::optional_string(sent, "content")?.unwrap_or_default();
    let content = match fields::given(sent, "images").filter(|images| images.is_truthy()) {
        Some(images) => {
            let blocks = vec![Json::object([("text", text.into())]), Json::object([("images", images.clone())])];
            request::content_of(blocks)
        }
        None => text.into(),
    };
    let tool_call_id = tool_call_id.map(str::to_owned);
    Ok(Message { content, name, tool_calls, tool_call_id, ..Message::new(kind, "") })
}

pub(super) fn tool_call(call: &Json) -> Result<ToolCall, WireError> {
    let found = fields::optional_object(call, "function")?;
    let function = found.ok_or_else(|| WireError::expected("function", "an object", call.get("function")))?;
    let read = || {
        Ok::<_, WireError>(ToolCall {
            id: fields::optional_string(call, "id")?.unwrap_or_default().to_owned(),
            name: fields::string(function, "name")?.to_owned(),
            args: match fields::given(function, "arguments") {
                None => Json::object::<String>([]),
                Some(Json::Str(text)) => args::parsed(text),
                Some(args) => args.clone(),
            },
        })
    };
    read().map_err(|error| error.within("function"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        Json::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_request_of_an_agent() {
        let call = decode(&json(
            r#"{"model": "llama3.2", "options": {"seed": 1}, "keep_alive": 5, "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "a", "images": ["eA=="]},
                {"role": "assistant", "content": "", "thinking": "Hm", "tool_calls": [
                    {"function": {"name": "f", "arguments": {"x": 1}}}, {"function": {"name": "g", "arguments": {}}}]},
                {"role": "tool", "content": "b"},
                {"role": "tool", "content": "c", "tool_name": "g"}]}"#,
        ))
        .unwrap();
        assert!(call.stream, "Ollama streams unless it is told not to");
        assert_eq!((call.model.as_str(), call.system.as_str()), ("llama3.2", "Be brief."));
        assert_eq!(call.settings, json(r#"{"options": {"seed": 1}}"#));
        assert_eq!(call.messages[1].content, json(r#"[{"text": "a"}, {"images": ["eA=="]}]"#));
        let names: Vec<_> = call.messages[2].tool_calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(names, ["f", "g"]);
        let result = |name: &str, text: &str| Message { name: Some(name.into()), ..Message::new("tool", text) };
        assert_eq!(call.messages[3..], [result("f", "b"), result("g", "c")]);
    }

    #[test]
    fn the_stream_can_be_declined() {
        let call = decode(&json(r#"{"messages": [{"role": "user"}], "stream": false}"#)).unwrap();
        assert!(!call.stream);
    }

    #[test]
    fn what_is_no_request_says_where() {
        let cases = [
            (r#"{"messages": [{}]}"#, "messages[0].role: expected a string, found nothing"),
            (
                r#"{"messages": [{"role": "assistant", "tool_calls": [{"function": {}}]}]}"#,
                "messages[0].tool_calls[0].function.name: expected a string, found nothing",
            ),
        ];
        for (body, message) in cases {
            assert_eq!(decode(&json(body)).unwrap_err().message, message, "{body}");
        }
    }
}
