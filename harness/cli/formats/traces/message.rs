//! Reads one message, of any form: what it holds says who said what, whichever framework wrote it.

use retake_core::conversation::{Block, Native, ToolCall};
use retake_core::json::{Json, Layout};

use super::fields::REDACTED;
use super::span::{CUT_MARKS, Opened, opened};

/// One message of a trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    /// `human`, `ai`, `tool`, `system`, or the trace's own word.
    pub(super) role: String,
    pub(super) name: Option<String>,
    pub(super) blocks: Vec<Block>,
    pub(super) results: Vec<ToolResult>,
    pub(super) finish: Option<String>,
    /// Whether it is an item of OpenAI's Responses API, where one message has several items.
    pub(super) item: bool,
}

/// The result of a tool call.
#[derive(Clone, Debug)]
pub(super) struct ToolResult {
    pub(super) id: String,
    pub(super) name: Option<String>,
    pub(super) content: Json,
    pub(super) failed: bool,
}

/// Why messages cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    NoRoles,
    Cut,
    Redacted,
    Several,
    NoAnswer,
    Steps,
}

/// One piece of a message.
enum Piece {
    Block(Block),
    Result(ToolResult),
}

/// The words for roles; any case, and `HumanMessage` as well as `human`.
const ROLES: [(&str, &str); 13] = [
    ("user", "human"),
    ("human", "human"),
    ("assistant", "ai"),
    ("ai", "ai"),
    ("model", "ai"),
    ("bot", "ai"),
    ("tool", "tool"),
    ("function", "tool"),
    ("tool_result", "tool"),
    ("system", "system"),
    ("developer", "system"),
    ("choice", "ai"),
    ("chat", "chat"),
];

/// The types of pieces, with `-` as `_`.
const CALLS: [&str; 6] = ["tool_call", "tool_use", "toolcall", "function_call", "function", "custom_tool_call"];
const RESULTS: [&str; 8] = [
    "tool_result",
    "tool_call_response",
    "tool_return",
    "function_call_output",
    "function_response",
    "custom_tool_call_output",
    "tool_call_result",
    "retry_prompt",
];
const THOUGHTS: [&str; 6] =
    ["thinking", "reasoning", "redacted_thinking", "redacted_reasoning", "thought", "reasoning_text"];
const TEXTS: [&str; 6] = ["text", "input_text", "output_text", "user_prompt", "system_prompt", "markdown"];

/// The fields in which a piece wraps a call, or a result.
const CALL_IN: [&str; 5] = ["toolUse", "functionCall", "function_call", "tool_call", "toolCall"];
const RESULT_IN: [&str; 5] =
    ["toolResult", "functionResponse", "function_response", "tool_call_result", "toolCallResult"];

/// The fields of a call and of a result, whatever wraps them.
const ID: [&str; 7] = ["toolCallId", "toolUseId", "tool_call_id", "tool_use_id", "call_id", "callId", "id"];
const NAME: [&str; 3] = ["name", "toolName", "tool_name"];
const ARGUMENTS: [&str; 5] = ["arguments", "args", "input", "parameters", "arguments_json"];
const RESULT: [&str; 6] = ["result", "output", "response", "content", "return_value", "value"];

/// The fields of a message that hold its content, and its calls.
const CONTENT: [&str; 6] = ["content", "_content", "parts", "contents", "blocks", "text"];
const CALL_LISTS: [&str; 2] = ["tool_calls", "toolCalls"];
const FINISH: [&str; 4] = ["finish_reason", "finishReason", "stop_reason", "stopReason"];

/// The canonical role of a word; `None` if it is no word for one.
fn role_of(word: &str) -> Option<&'static str> {
    let word = word.rsplit('.').next().unwrap_or(word).to_ascii_lowercase();
    let word = word.strip_suffix("chunk").unwrap_or(&word);
    let word = word.strip_suffix("message").filter(|word| !word.is_empty()).unwrap_or(word);
    ROLES.iter().find(|(known, _)| *known == word).map(|(_, role)| *role)
}

/// Reads an object as a message; `None` if nothing says who said it.
pub(super) fn message(object: &Json) -> Result<Option<Vec<Said>>, Unread> {
    let event = object.str_of("event.name").or_else(|| object.str_of("name")).and_then(|name| {
        let name = name.strip_prefix("gen_ai.")?;
        role_of(name.strip_suffix(".message").unwrap_or(name))
    });
    let finish = FINISH.iter().find_map(|name| object.str_of(name)).map(str::to_owned);
    // What wraps a message: an event, a choice, a constructor of LangChain, a message with its type beside it.
    let inner = match object.get("gen_ai.event.content").map(opened) {
        Some(Opened::Json(inner)) => Some((inner, event)),
        Some(Opened::Cut) => return Err(Unread::Cut),
        _ => {
            let class = object.get("id").and_then(Json::as_array).and_then(|id| id.last()).and_then(Json::as_str);
            let wrapped = object.get("kwargs").filter(|_| object.get("lc").is_some()).zip(class);
            let typed = object.get("data").filter(|data| data.get("content").is_some()).zip(object.str_of("type"));
            let inner = wrapped.or(typed).map(|(inner, word)| (inner.clone(), role_of(word)));
            inner.or_else(|| match object.get("message").map(opened) {
                Some(Opened::Json(inner @ Json::Object(_))) => Some((inner, event)),
                Some(Opened::Json(inner)) => Some((Json::object([("content", inner)]), event)),
                Some(Opened::Text(text)) if event.is_some() => {
                    Some((Json::object([("content", Json::Str(text))]), event))
                }
                _ => None,
            })
        }
    };
    if let Some((mut inner, role)) = inner {
        if let (Some(role), Some(fields)) = (role, inner.as_object_mut()) {
            fields.or_insert_with("role", || role.into());
        }
        let mut said = message(&inner)?;
        for said in said.iter_mut().flatten() {
            said.finish = said.finish.take().or_else(|| finish.clone());
        }
        return Ok(said);
    }
    if let Some(said) = in_parts(object)? {
        return Ok(Some(said));
    }
    let kind = kind_of(object);
    let item = matches!(
        kind.as_str(),
        "function_call" | "function_call_output" | "reasoning" | "custom_tool_call" | "custom_tool_call_output"
    ) || kind == "message" && object.get("role").is_some();
    let word =
        object.str_of("role").or_else(|| object.str_of("_role")).or_else(|| object.pointer("/role/value")?.as_str());
    let role = match word {
        Some(word) => role_of(word).map_or_else(|| word.to_owned(), str::to_owned),
        None => match (event, object.str_of("type").and_then(role_of)) {
            (Some(role), _) | (None, Some(role)) if object.get("function").is_none() => role.to_owned(),
            _ if item && kind.ends_with("_output") => "tool".to_owned(),
            _ if item => "ai".to_owned(),
            _ => return Ok(None),
        },
    };
    let mut said = Said { role, finish, item, ..Said::default() };
    said.name =
        object.str_of("name").filter(|name| !name.is_empty() && !name.starts_with("gen_ai.")).map(str::to_owned);
    if item && kind != "message" {
        said.name = None;
        said.add(piece(object)?);
        return Ok(Some(vec![said]));
    }
    let content = CONTENT.iter().find_map(|name| object.get(name).filter(|content| **content != Json::Null));
    let id = ID.iter().find_map(|name| object.str_of(name)).unwrap_or_default();
    let text_of_tool = said.role == "tool" && !content.is_some_and(holds_results);
    if text_of_tool {
        let failed = object.str_of("status") == Some("error") || object.get("is_error").is_some_and(Json::is_truthy);
        let content = result_text(content.unwrap_or(&Json::Null))?;
        let name = said.name.take().or_else(|| first(object, &NAME).map(str::to_owned));
        said.results.push(ToolResult { id: id.to_owned(), name, content, failed });
    } else if let Some(content) = content {
        for piece in pieces(content)? {
            said.add(piece);
        }
    }
    for name in ["reasoning_content", "reasoning"] {
        if let Some(text) = object.str_of(name).filter(|text| !text.is_empty() && said.role == "ai") {
            said.blocks.insert(0, Block::Reasoning(text.to_owned()));
            break;
        }
    }
    let more = object.get("additional_kwargs");
    let lists = CALL_LISTS.iter().flat_map(|name| [object.get(name), more.and_then(|more| more.get(name))]);
    let calls = lists.flatten().find_map(|calls| match opened(calls) {
        Opened::Json(Json::Array(calls)) if !calls.is_empty() => Some(calls),
        _ => None,
    });
    for call in calls.unwrap_or_default() {
        said.blocks.extend(tool_call(&call).map(Block::ToolCall));
    }
    let single = object.get("function_call").or_else(|| more?.get("function_call"));
    said.blocks.extend(single.and_then(tool_call).map(Block::ToolCall).filter(|_| !said.has_calls()));
    Ok(Some(vec![said]))
}

/// A message whose parts have roles of their own, as pydantic-ai keeps them.
fn in_parts(object: &Json) -> Result<Option<Vec<Said>>, Unread> {
    let Some(parts) = object.get("parts").and_then(Json::as_array) else { return Ok(None) };
    if parts.is_empty() || !parts.iter().all(|part| part.get("part_kind").is_some()) {
        return Ok(None);
    }
    let mut all: Vec<Said> = Vec::new();
    for part in parts {
        let role = match part.str_of("part_kind").unwrap_or_default() {
            "system-prompt" => "system",
            "user-prompt" => "human",
            "tool-return" | "retry-prompt" => "tool",
            _ => "ai",
        };
        let found = match part.get("content") {
            Some(content) if matches!(role, "system" | "human") => pieces(content)?,
            _ => vec![piece(part)?],
        };
        if all.last().is_none_or(|last| last.role != role || role != "ai") {
            all.push(Said { role: role.to_owned(), ..Said::default() });
        }
        if let Some(last) = all.last_mut() {
            for piece in found {
                last.add(piece);
            }
        }
    }
    Ok(Some(all))
}

impl Said {
    fn add(&mut self, piece: Piece) {
        match piece {
            Piece::Block(Block::Text(text)) if text.is_empty() => {}
            Piece::Block(block) => self.blocks.push(block),
            Piece::Result(result) => self.results.push(result),
        }
    }

    pub(super) fn has_calls(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, Block::ToolCall(_)))
    }

    /// An answer that is text alone.
    pub(super) fn answer(text: &str) -> Result<Said, Unread> {
        let mut said = Said { role: "ai".to_owned(), ..Said::default() };
        said.add(Piece::Block(Block::Text(whole(text)?.to_owned())));
        Ok(said)
    }

    /// Reads an answer's calls, or its pieces, that come without a role; `None` if it is neither.
    pub(super) fn of_pieces(list: &[Json]) -> Result<Option<Said>, Unread> {
        let mut said = Said { role: "ai".to_owned(), ..Said::default() };
        for element in list {
            match element {
                Json::Object(_) if is_piece(element) => said.add(piece(element)?),
                Json::Object(_) => match tool_call(element).filter(|_| looks_called(element)) {
                    Some(call) => said.add(Piece::Block(Block::ToolCall(call))),
                    None => return Ok(None),
                },
                _ => return Ok(None),
            }
        }
        Ok(Some(said).filter(|said| !said.blocks.is_empty() && said.results.is_empty()))
    }
}

/// Reads the content of a message.
fn pieces(content: &Json) -> Result<Vec<Piece>, Unread> {
    match content {
        Json::Str(text) => {
            // Attributes hold lists as texts; a list of pieces is one, any other JSON is what somebody said.
            if let Opened::Json(Json::Array(list)) = opened(content)
                && !list.is_empty()
                && list.iter().all(is_piece)
            {
                return list.iter().map(piece).collect();
            }
            if text.starts_with('[') && text.contains("\"type\"") && matches!(opened(content), Opened::Cut) {
                return Err(Unread::Cut);
            }
            Ok(vec![Piece::Block(Block::Text(whole(text)?.to_owned()))])
        }
        Json::Array(list) => list.iter().map(piece).collect(),
        Json::Object(_) => match content.get("parts").or_else(|| content.get("content")) {
            Some(inner) if !is_piece(content) => pieces(inner),
            _ => Ok(vec![piece(content)?]),
        },
        Json::Null => Ok(Vec::new()),
        other => Ok(vec![Piece::Block(Block::Text(other.print(Layout::Python)))]),
    }
}

/// Whether an object is a piece by what it holds.
fn is_piece(value: &Json) -> bool {
    let kind = kind_of(value);
    let has =
        |names: &[&str]| names.iter().any(|name| value.get(name).is_some_and(|inner| inner.as_object().is_some()));
    let typed = [&CALLS[..], &RESULTS, &THOUGHTS, &TEXTS].iter().any(|kinds| kinds.contains(&kind.as_str()));
    let alone = value.as_object().is_some_and(|fields| fields.len() == 1 && value.str_of("text").is_some());
    typed && kind != "function" || alone || has(&CALL_IN) || has(&RESULT_IN)
}

fn looks_called(value: &Json) -> bool {
    value.get("function").is_some() || ARGUMENTS.iter().any(|name| value.get(name).is_some())
}

fn holds_results(content: &Json) -> bool {
    let is_one = |piece: &Json| {
        RESULTS.contains(&kind_of(piece).as_str()) || RESULT_IN.iter().any(|name| piece.get(name).is_some())
    };
    match opened(content) {
        Opened::Json(Json::Array(list)) => !list.is_empty() && list.iter().all(is_one),
        Opened::Json(object) => is_one(&object),
        _ => false,
    }
}

fn kind_of(value: &Json) -> String {
    let names = ["type", "part_kind", "block_type"];
    names.iter().find_map(|name| value.str_of(name)).unwrap_or_default().replace('-', "_").to_ascii_lowercase()
}

fn piece(value: &Json) -> Result<Piece, Unread> {
    if let Json::Str(text) = value {
        return Ok(Piece::Block(Block::Text(whole(text)?.to_owned())));
    }
    if let Some(inner) = value.get("message_content") {
        return piece(inner);
    }
    if let Some(call) = CALL_IN.iter().find_map(|name| value.get(name)).and_then(tool_call) {
        return Ok(Piece::Block(Block::ToolCall(call)));
    }
    if let Some(inner) = RESULT_IN.iter().find_map(|name| value.get(name)).filter(|inner| inner.as_object().is_some()) {
        return result(inner).map(Piece::Result);
    }
    let kind = kind_of(value);
    if CALLS.contains(&kind.as_str())
        && let Some(call) = tool_call(value)
    {
        return Ok(Piece::Block(Block::ToolCall(call)));
    }
    if RESULTS.contains(&kind.as_str()) {
        return result(value).map(Piece::Result);
    }
    let text = value.str_of("text").or_else(|| value.str_of("content")).or_else(|| value.str_of("thinking"));
    let thought = value.pointer("/reasoningContent/reasoningText/text").and_then(Json::as_str);
    if THOUGHTS.contains(&kind.as_str()) || thought.is_some() || value.get("thought") == Some(&Json::Bool(true)) {
        let summary = value.get("summary").and_then(Json::as_array).unwrap_or_default();
        let summary: Vec<&str> = summary.iter().filter_map(|part| part.str_of("text")).collect();
        let text = thought.or(text).map_or_else(|| summary.join("\n\n"), str::to_owned);
        // What is hidden or empty was never text.
        let block = if text.is_empty() { Block::Text(text) } else { Block::Reasoning(text) };
        return Ok(Piece::Block(block));
    }
    if kind == "refusal" {
        return Ok(Piece::Block(Block::Refusal(value.str_of("refusal").or(text).unwrap_or_default().to_owned())));
    }
    match text {
        Some(text) if TEXTS.contains(&kind.as_str()) || kind.is_empty() => {
            Ok(Piece::Block(Block::Text(whole(text)?.to_owned())))
        }
        _ => Ok(Piece::Block(Block::Native(Native { api: "the trace".to_owned(), block: value.clone() }))),
    }
}

/// Reads a tool call, whatever it is called; `None` if it has no name.
pub(super) fn tool_call(value: &Json) -> Option<ToolCall> {
    let value = value.get("tool_call").filter(|inner| inner.as_object().is_some()).unwrap_or(value);
    let inner = value.get("function").filter(|inner| inner.as_object().is_some()).unwrap_or(value);
    let name = first(inner, &NAME).or_else(|| first(value, &NAME))?;
    let args = ARGUMENTS.iter().find_map(|name| inner.get(name)).filter(|args| **args != Json::Null);
    Some(ToolCall {
        id: first(value, &ID).unwrap_or_default().to_owned(),
        name: name.to_owned(),
        args: args.map_or_else(|| Json::object::<String>([]), arguments),
    })
}

/// The arguments of a call; a text that holds JSON is that JSON.
pub(super) fn arguments(args: &Json) -> Json {
    match args {
        Json::Str(text) if text.trim().is_empty() => Json::object::<String>([]),
        Json::Str(text) => Json::parse_request(text.as_bytes()).unwrap_or_else(|_| args.clone()),
        other => other.clone(),
    }
}

fn result(value: &Json) -> Result<ToolResult, Unread> {
    let origin = value.get("origin");
    let content = RESULT.iter().find_map(|name| value.get(name)).unwrap_or(&Json::Null);
    let failed = value.str_of("status") == Some("error")
        || ["is_error", "isError", "error"].iter().any(|name| value.get(name).is_some_and(Json::is_truthy));
    let name = first(value, &NAME).or_else(|| first(origin?, &NAME)).map(str::to_owned);
    let id = first(value, &ID).or_else(|| first(origin?, &ID)).unwrap_or_default().to_owned();
    Ok(ToolResult { id, name, content: result_text(content)?, failed })
}

/// The text of a tool's result. An object is its JSON, as providers' APIs take it.
fn result_text(content: &Json) -> Result<Json, Unread> {
    Ok(match content {
        Json::Str(text) => Json::Str(whole(text)?.to_owned()),
        Json::Null => "".into(),
        Json::Object(fields) => {
            let only = ["output", "return_value", "content"].into_iter().find_map(|name| fields.get(name));
            let typed = fields.get("value").filter(|_| content.str_of("type").is_some() && fields.len() == 2);
            match typed.or_else(|| only.filter(|text| fields.len() == 1 && text.as_str().is_some())) {
                Some(inner) => result_text(inner)?,
                None => content.print(Layout::Python).into(),
            }
        }
        Json::Array(list) => {
            let texts: Option<String> = list.iter().map(|part| part.as_str().or_else(|| part.str_of("text"))).collect();
            let json = || match &list[..] {
                [one] => one.get("json").map(|json| json.print(Layout::Python)),
                _ => None,
            };
            let text = texts.filter(|_| !list.is_empty()).or_else(json);
            text.unwrap_or_else(|| content.print(Layout::Python)).into()
        }
        other => other.print(Layout::Python).into(),
    })
}

/// A text, unless it was hidden or cut.
pub(super) fn whole(text: &str) -> Result<&str, Unread> {
    if text == REDACTED {
        return Err(Unread::Redacted);
    }
    if CUT_MARKS.iter().any(|mark| text.ends_with(mark)) {
        return Err(Unread::Cut);
    }
    Ok(text)
}

fn first<'a>(value: &'a Json, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| value.str_of(name).filter(|text| !text.is_empty()))
}
