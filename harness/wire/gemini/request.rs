//! A request as a [`Call`].

use super::parts::{either, is_thought, tool_call, unsigned};
use crate::conversation::{Message, ToolCall};
use crate::json::{Json, Layout};
use crate::wire::fields::{self, WireError};
use crate::wire::request;
use crate::wire::{Api, Call};

/// What a [`Call`] has a field of its own for. All else is settings.
const NO_SETTINGS: [&str; 5] = ["contents", "systemInstruction", "system_instruction", "tools", "model"];

/// The fields under which a tool's text stands in a `response`, which has to be an object: Gemini's own name, and those
/// of widespread clients.
const TEXT_RESULTS: [&str; 3] = ["output", "return_value", "content"];

pub(in crate::wire) fn decode(path: &str, body: &Json) -> Result<Call, WireError> {
    let sent = fields::request(body)?;
    fields::filled(body, "contents", "content")?;
    let mut messages = Vec::new();
    match either(body, "systemInstruction", "system_instruction") {
        None => {}
        Some(text @ Json::Str(_)) => messages.push(Message { content: text.clone(), ..Message::new("system", "") }),
        Some(content) => {
            let parts = content.get("parts").cloned().unwrap_or(Json::Null);
            messages.push(Message { content: parts, ..Message::new("system", "") });
        }
    }
    let mut calls = Vec::new();
    for read in fields::each(body, "contents", |sent| content(sent, &mut calls))? {
        messages.extend(read);
    }
    let (model, method) = super::of_path(path).unwrap_or_default();
    let stream = method.starts_with("stream");
    Ok(Call {
        api: Api::Gemini,
        system: request::system_of(&messages),
        messages,
        caller: None,
        metadata: None,
        stream,
        array: stream && !super::asks_for_sse(path),
        include_usage: true,
        tools: fields::given(body, "tools").cloned().into(),
        model: model.to_owned(),
        settings: Json::Object(request::settings(sent, &NO_SETTINGS)),
    })
}

/// One content; each function response in it becomes a message of its own. `open` are the calls that no response has
/// answered so far.
fn content(sent: &Json, open: &mut Vec<ToolCall>) -> Result<Vec<Message>, WireError> {
    let kind = match fields::optional_string(sent, "role")? {
        None | Some("user" | "") => "human",
        Some("model") => "ai",
        Some("function") => "tool",
        Some(other) => other,
    };
    let (mut results, mut calls, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    fields::each(sent, "parts", |part| {
        if let Some(call) = tool_call(part)? {
            calls.push(call);
        } else if let Some(response) = either(part, "functionResponse", "function_response") {
            results.push(tool_result(response, open).map_err(|error| error.within("functionResponse"))?);
        } else if !is_thought(part) {
            rest.push(unsigned(part));
        }
        Ok(())
    })?;
    rest.retain(|part| part.as_object().is_none_or(|part| !part.is_empty()));
    open.extend(calls.iter().cloned());
    if !rest.is_empty() || !calls.is_empty() || results.is_empty() {
        results.push(Message { content: request::content_of(rest), tool_calls: calls, ..Message::new(kind, "") });
    }
    Ok(results)
}

fn tool_result(response: &Json, open: &mut Vec<ToolCall>) -> Result<Message, WireError> {
    let id = fields::optional_string(response, "id")?.filter(|id| !id.is_empty());
    let named = fields::optional_string(response, "name")?.unwrap_or_default();
    // Some clients put an id of their own where the tool's name should be: the calls are then answered in their order.
    let answered = open
        .iter()
        .position(|call| id == Some(call.id.as_str()))
        .or_else(|| open.iter().position(|call| call.name == named))
        .or_else(|| (!open.is_empty()).then_some(0));
    let name = answered.map_or_else(|| named.to_owned(), |at| open.remove(at).name);
    let text = match response.get("response") {
        None | Some(Json::Null) => String::new(),
        Some(Json::Str(text)) => text.clone(),
        Some(value) => text_result(value, named).map_or_else(|| value.print(Layout::Python), str::to_owned),
    };
    let content = match fields::given(response, "parts") {
        Some(Json::Array(parts)) if !parts.is_empty() => {
            let text = Json::object([("text", Json::Str(text))]);
            request::content_of([text].into_iter().chain(parts.iter().cloned()).collect())
        }
        _ => Json::Str(text),
    };
    Ok(Message { content, name: Some(name), tool_call_id: id.map(str::to_owned), ..Message::new("tool", "") })
}

/// The text of a response that is nothing else. Vercel's AI SDK puts the name of the tool, as it was sent, beside it.
fn text_result<'a>(response: &'a Json, named: &str) -> Option<&'a str> {
    let fields: Vec<_> = response.as_object()?.iter().map(|(key, value)| (key, value)).collect();
    match fields[..] {
        [(key, Json::Str(text))] if TEXT_RESULTS.contains(&key) => Some(text),
        [("content", Json::Str(text)), ("name", Json::Str(name))] if name == named => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        Json::parse(text.as_bytes()).unwrap()
    }

    fn call(text: &str) -> Call {
        decode("/v1beta/models/gemini-3-flash:generateContent", &json(text)).unwrap()
    }

    #[test]
    fn a_request_of_an_agent() {
        let text = r#"{
            "systemInstruction": {"parts": [{"text": "Be "}, {"text": "brief."}], "role": "user"},
            "generationConfig": {"temperature": 0}, "tools": [{"functionDeclarations": [{"name": "f"}]}],
            "contents": [
                {"role": "user", "parts": [{"text": "a"}, {"text": "b"}]},
                {"role": "model", "parts": [{"text": "Hm", "thought": true}, {"text": "c", "thoughtSignature": "x"},
                    {"functionCall": {"id": "1", "name": "f", "args": {"x": 1}}, "thoughtSignature": "x"},
                    {"function_call": {"name": "g"}}, {"text": "", "thoughtSignature": "x"}]},
                {"role": "user", "parts": [
                    {"functionResponse": {"id": "1", "name": "f", "response": {"b": 1.0, "a": [true]}}},
                    {"function_response": {"name": "g", "response": {"output": "d"}}}, {"text": "e"}]}
            ]}"#;
        let call = call(text);
        assert_eq!((call.model.as_str(), call.system.as_str()), ("gemini-3-flash", "Be brief."));
        assert!(!call.stream && !call.array);
        assert_eq!(call.settings, json(r#"{"generationConfig": {"temperature": 0}}"#));
        let made = |id: &str, name: &str, args: &str| ToolCall { id: id.into(), name: name.into(), args: json(args) };
        let tool_calls = vec![made("1", "f", r#"{"x": 1}"#), made("", "g", "{}")];
        let result = |id: Option<&str>, name: &str, text: &str| Message {
            name: Some(name.into()),
            tool_call_id: id.map(str::to_owned),
            ..Message::new("tool", text)
        };
        assert_eq!(
            call.messages[1..],
            [
                Message::new("human", "ab"),
                Message { tool_calls, ..Message::new("ai", "c") },
                result(Some("1"), "f", r#"{"a": [true], "b": 1.0}"#),
                result(None, "g", "d"),
                Message::new("human", "e"),
            ]
        );
    }

    #[test]
    fn model_and_form_are_in_the_path() {
        let of = |path: &str| {
            let call = decode(path, &json(r#"{"contents": [{}]}"#)).unwrap();
            (call.model, call.stream, call.array)
        };
        let sse = "/v1beta/models/gemini-pro:streamGenerateContent?key=k&alt=sse";
        assert_eq!(of(sse), ("gemini-pro".into(), true, false));
        let vertex = "/v1/projects/p/locations/l/publishers/google/models/gemini-pro:streamGenerateContent";
        assert_eq!(of(vertex), ("gemini-pro".into(), true, true));
        assert_eq!(of(""), (String::new(), false, false));
    }

    #[test]
    fn a_result_with_another_name_answers_the_next_call() {
        let found = call(
            r#"{"contents": [{"role": "model", "parts": [{"functionCall": {"name": "f"}}, {"functionCall": {"name": "g"}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "call_1", "response": {"result": "a"}}},
                    {"functionResponse": {"name": "call_2", "parts": [{"fileData": {}}]}}]}]}"#,
        );
        let tools: Vec<_> = found.messages[1..].iter().map(|m| (m.name.as_deref().unwrap(), &m.content)).collect();
        assert_eq!(tools, [("f", &r#"{"result": "a"}"#.into()), ("g", &json(r#"[{"fileData": {}}]"#))]);
    }

    #[test]
    fn a_text_is_the_same_result_in_each_clients_wrapping() {
        let result = |response: &str| {
            let body = format!(
                r#"{{"contents": [{{"role": "model", "parts": [{{"functionCall": {{"name": "f"}}}}]}},
                    {{"parts": [{{"functionResponse": {{"name": "f", "response": {response}}}}}]}}]}}"#
            );
            call(&body).messages[1].content.as_str().map(str::to_owned).unwrap()
        };
        let wrapped = [
            r#"{"output": "a"}"#,
            r#"{"return_value": "a"}"#,
            r#"{"content": "a"}"#,
            r#"{"name": "f", "content": "a"}"#,
        ];
        for response in wrapped {
            assert_eq!(result(response), "a", "{response}");
        }
        // A tool's own object is its JSON.
        for response in [r#"{"result": "a"}"#, r#"{"content": 1}"#, r#"{"content": "a", "name": "g"}"#] {
            assert_eq!(result(response), response, "{response}");
        }
    }

    #[test]
    fn other_parts_stay_json() {
        let found = call(
            r#"{"contents": [{"parts": [{"text": "a"}, {"inlineData": {"data": "x"}, "thoughtSignature": "y"}]}]}"#,
        );
        assert_eq!(found.messages[0].content, json(r#"[{"text": "a"}, {"inlineData": {"data": "x"}}]"#));
    }

    #[test]
    fn what_is_no_request_says_where() {
        let cases = [
            ("{}", "contents: expected an array, found nothing"),
            (r#"{"contents": [1]}"#, "contents[0]: expected an object, found number"),
            (
                r#"{"contents": [{"parts": [{"functionCall": {}}]}]}"#,
                "contents[0].parts[0].functionCall.name: expected a string, found nothing",
            ),
        ];
        for (body, message) in cases {
            assert_eq!(decode("", &json(body)).unwrap_err().message, message, "{body}");
        }
    }
}
