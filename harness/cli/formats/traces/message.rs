//! Reads one message, of any form: what it holds says who said what, whichever framework wrote it.

use retake_core::conversation::{Block, Message, Native, ToolCall};
use retake_core::json::{Json, Layout, Object};

use super::fields::REDACTED;
use super::lack::Lack;
use super::span::{before_cut, field, folded, is_among, names, opened, text_field, undotted};

/// One message of a trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    /// `human`, `ai`, `tool`, `system`, or the trace's own word.
    pub(super) role: String,
    pub(super) name: Option<String>,
    pub(super) blocks: Vec<Block>,
    /// The results of tool calls in it, each as a message of its own.
    pub(super) results: Vec<Message>,
    pub(super) finish: Option<String>,
    /// Whether it is an item of OpenAI's Responses API, where one message has several items.
    pub(super) item: bool,
}

/// The words for roles, folded; `HumanMessage` as well as `human`.
const ROLES: [(&str, &str); 5] = [
    ("human", "user human"),
    ("ai", "assistant ai model bot chatbot choice"),
    ("tool", "tool function toolresult toolexecutionresult"),
    ("system", "system developer"),
    ("chat", "chat"),
];

/// The types of pieces, folded.
const THOUGHTS: &str = "thinking reasoning redactedthinking redactedreasoning thought reasoningtext";
const TEXTS: &str = "text inputtext outputtext userprompt systemprompt markdown";
/// The items of OpenAI's Responses API that are no messages.
const ITEMS: &str = "functioncall functioncalloutput reasoning customtoolcall customtoolcalloutput";
const KIND: &str = "type partkind blocktype kind";

/// The fields of a call and of a result, whatever wraps them; these and all below folded.
const ID: &str = "toolcallid tooluseid callid ref id";
const NAME: &str = "name toolname functionname";
const ARGUMENTS: &str = "arguments args input parameters toolkwargs argumentsjson";
const RESULT: &str = "result output response content returnvalue value text";

/// The fields of a message.
const CONTENT: &str = "content parts contents blocks items text";
const CONTENT_IN: &str = "parts content message";
pub(super) const FINISH: &str = "finishreason stopreason";
const TEXT: &str = "text content thinking";

/// What a tool has to do with something: a call of it, or what it returned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Call,
    Result,
}

/// What a word says, which is a type or the name of a field: `tool-call`, `toolUse`, `functionResponse`, `FunctionCallContent`.
/// What the provider runs itself begins with another word.
fn way(word: &str) -> Option<Way> {
    let word = folded(word);
    let has = |words: &[&str]| words.iter().any(|one| word.contains(one));
    let of_tool = ["tool", "function", "customtool"].iter().any(|head| word.starts_with(head));
    match () {
        () if !of_tool || has(&["choice", "definition", "schema"]) => None,
        () if has(&["result", "response", "output", "return"]) => Some(Way::Result),
        () if word == "function" || has(&["call", "use", "request", "invocation"]) => Some(Way::Call),
        () => None,
    }
}

/// The canonical role of a word; `None` if it is no word for one.
fn role_of(word: &str) -> Option<&'static str> {
    let word = folded(word.rsplit('.').next().unwrap_or(word));
    let word = word.strip_suffix("chunk").unwrap_or(&word);
    let word = word.strip_suffix("message").filter(|word| !word.is_empty()).unwrap_or(word);
    ROLES.iter().find(|(_, words)| is_among(word, words)).map(|(role, _)| *role)
}

/// Reads an object as a message; `None` if nothing says who said it.
pub(super) fn message(object: &Json) -> Result<Option<Said>, Lack> {
    if let Some(tree) = undotted(object) {
        return message(&tree);
    }
    let event = object
        .str_of("event.name")
        .and_then(|name| role_of(name.strip_prefix("gen_ai.")?.trim_end_matches(".message")));
    let finish = text_field(object, FINISH).or_else(|| text_field(object.get("response_metadata")?, FINISH));
    let finish = finish.map(str::to_owned);
    // What wraps a message: an event, a constructor of LangChain, its type beside it, a choice.
    let class = object.get("id").and_then(Json::as_array).and_then(|id| id.last()).and_then(Json::as_str);
    let role = event.or_else(|| [object.str_of("type"), class].into_iter().flatten().find_map(role_of));
    let is_text = |value: &Json| matches!(opened(value), Ok(Json::Str(_)) | Err(_));
    let inner = object
        .get("gen_ai.event.content")
        .or_else(|| object.get("kwargs"))
        .or_else(|| object.get("data").filter(|data| data.get("content").is_some()))
        .or_else(|| field(object, "message").filter(|value| event.is_some() || !is_text(value)));
    if let Some(inner) = inner {
        let mut inner = match opened(inner)? {
            inner @ Json::Object(_) => inner,
            content => Json::object([("content", content)]),
        };
        if let (Some(role), Some(fields)) = (role, inner.as_object_mut()) {
            fields.entry("role".into()).or_insert_with(|| role.into());
        }
        let Some(mut said) = message(&inner)? else { return Ok(None) };
        said.finish = said.finish.or(finish);
        return said.with_calls(object).map(Some);
    }
    let kind = kind_of(object);
    let item = is_among(&kind, ITEMS) || kind == "message" && object.get("role").is_some();
    let word = field(object, "role").and_then(|role| role.as_str().or_else(|| text_field(role, "value label")));
    let content = field(object, CONTENT);
    // OpenLLMetry's word for what Anthropic's models think.
    if let (Some("thinking"), Some(thought)) = (word, content) {
        return message(&Json::object([("reasoning", thought.clone()), ("role", "assistant".into())]));
    }
    let role = match (word, role) {
        (Some(word), _) => role_of(word).unwrap_or(word),
        (None, Some(role)) if object.get("function").is_none() => role,
        _ if item && kind.ends_with("output") => "tool",
        _ if item => "ai",
        _ => return Ok(None),
    };
    let mut said = Said { role: role.to_owned(), finish, item, ..Said::default() };
    if item && kind != "message" {
        return said.piece(object).map(|()| Some(said));
    }
    let name = object.str_of("name").filter(|name| !name.is_empty() && !name.starts_with("gen_ai."));
    said.name = name.map(str::to_owned);
    if let Some(content) = content.filter(|content| role != "tool" || !is_text(content)) {
        said.pieces(content)?;
    }
    // Some frameworks say of the calls, too, that a tool said them.
    if role == "tool" && (said.calls().next().is_some() || field(object, "toolcalls").is_some_and(Json::is_truthy)) {
        "ai".clone_into(&mut said.role);
    } else if role == "tool" && said.results.is_empty() {
        said = Said { results: vec![result(object, content)?], blocks: Vec::new(), name: None, ..said };
    }
    if let Some(thought) = text_field(object, "reasoningcontent reasoning").filter(|_| said.role == "ai") {
        said.blocks.insert(0, Block::Reasoning(thought.to_owned()));
    }
    said = said.with_calls(object)?.with_calls(object.get("additional_kwargs").unwrap_or(&Json::Null))?;
    if event.is_some() && content.is_none() && said.blocks.is_empty() {
        return Err(Lack::Redacted);
    }
    // Texts that spell, as items of OpenAI's Responses API, calls that the message holds.
    let ids: Vec<Json> = said.calls().map(|call| call.id.as_str().into()).collect();
    let spells = |text: &str| opened(&text.into()).is_ok_and(|it| it.get("call_id").is_some_and(|id| ids.contains(id)));
    said.blocks.retain(|block| !matches!(block, Block::Text(text) if spells(text)));
    Ok(Some(said))
}

/// Reads an answer's calls, or its pieces, that come without a role; `None` if it is neither.
pub(super) fn of_pieces(list: &[Json]) -> Result<Option<Said>, Lack> {
    let is_call = |value: &Json| text_field(value.get("function").unwrap_or(value), NAME).is_some();
    if !list.iter().all(|element| is_piece(element) || is_call(element)) {
        return Ok(None);
    }
    let (content, calls) = list.iter().cloned().partition(is_piece);
    let parts = [("content", Json::Array(content)), ("tool_calls", Json::Array(calls))];
    let said = message(&Json::object(parts.into_iter().chain([("role", "assistant".into())])))?;
    Ok(said.filter(|said| !said.blocks.is_empty() && said.results.is_empty()))
}

impl Said {
    pub(super) fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(|block| if let Block::ToolCall(call) = block { Some(call) } else { None })
    }

    /// Adds a text, unless it is empty.
    /// Fails if it was hidden or cut.
    pub(super) fn text(&mut self, text: &str) -> Result<(), Lack> {
        if !whole(text)?.is_empty() {
            self.blocks.push(Block::Text(text.to_owned()));
        }
        Ok(())
    }

    /// Adds the calls in the fields of a message, which its content may hold as well.
    fn with_calls(mut self, object: &Json) -> Result<Said, Lack> {
        let is_call = |name: &str| way(name) == Some(Way::Call) && !name.contains("chunk");
        let fields = object.as_object().filter(|_| self.role == "ai").into_iter().flat_map(Object::iter);
        for (name, held) in fields.filter(|(name, held)| is_call(name) && held.is_truthy()) {
            let calls = match opened(held)? {
                Json::Array(calls) => calls,
                call @ Json::Object(_) => vec![call],
                _ if folded(name) == "toolcalls" => return Err(Lack::Call),
                _ => continue,
            };
            let calls = calls.iter().map(tool_call).collect::<Result<Vec<_>, _>>()?;
            // What a stream left in the content may be without arguments. Two equal calls of one list are two.
            let is_same = |known: &ToolCall, call: &ToolCall| {
                let unknown = known.id.is_empty() || call.id.is_empty();
                known.name == call.name && (known.id == call.id || unknown && known.args == call.args)
            };
            let is_there = |known: &ToolCall| calls.iter().any(|call| is_same(known, call));
            self.blocks.retain(|block| !matches!(block, Block::ToolCall(known) if is_there(known)));
            self.blocks.extend(calls.into_iter().map(Block::ToolCall));
        }
        Ok(self)
    }

    /// Reads the content of a message.
    pub(super) fn pieces(&mut self, content: &Json) -> Result<(), Lack> {
        match content {
            // Attributes hold lists as texts; a list of pieces is one, any other JSON is what somebody said.
            Json::Str(text) => match opened(content) {
                Ok(Json::Array(all)) if all.iter().all(is_piece) && !all.is_empty() => self.pieces(&Json::Array(all)),
                Err(cut) if text.starts_with('[') && text.contains("\"type\"") => Err(cut),
                _ => self.text(text),
            },
            Json::Array(list) => list.iter().try_for_each(|value| self.piece(value)),
            Json::Object(_) => match field(content, CONTENT_IN) {
                Some(inner) if !is_piece(content) => self.pieces(inner),
                _ => self.piece(content),
            },
            Json::Null => Ok(()),
            other => self.text(&other.print(Layout::Python)),
        }
    }

    fn piece(&mut self, value: &Json) -> Result<(), Lack> {
        if let Json::Str(text) = value {
            return self.text(text);
        }
        if let Some(inner) = value.get("message_content") {
            return self.piece(inner);
        }
        let kind = kind_of(value);
        let (told, held) = wrapped(value).map_or((way(&kind), value), |(way, held)| (Some(way), held));
        let text = names(TEXT).find_map(|name| field(value, name)?.as_str());
        let thought = value.pointer("/reasoningContent/reasoningText/text").and_then(Json::as_str);
        let is_thought =
            is_among(&kind, THOUGHTS) || thought.is_some() || value.get("thought") == Some(&Json::Bool(true));
        match (told, text) {
            (Some(Way::Call), _) => self.blocks.push(Block::ToolCall(tool_call(held)?)),
            (Some(Way::Result), _) => self.results.push(result(held, field(held, RESULT))?),
            _ if is_thought => {
                let summary = value.get("summary").and_then(Json::as_array).unwrap_or_default();
                let summary: Vec<&str> = summary.iter().filter_map(|part| part.str_of("text")).collect();
                let text = thought.or(text).map_or_else(|| summary.join("\n\n"), str::to_owned);
                // What is hidden or empty was never text.
                self.blocks.extend((!text.is_empty()).then_some(Block::Reasoning(text)));
            }
            _ if kind == "refusal" => {
                self.blocks.push(Block::Refusal(value.str_of("refusal").or(text).unwrap_or_default().to_owned()));
            }
            (None, Some(text)) if is_among(&kind, TEXTS) || kind.is_empty() => self.text(text)?,
            // Where content is not to be recorded, some keep the kind of each piece.
            (None, None) if kind == "text" && value.as_object().is_some_and(|fields| fields.len() == 1) => {
                return Err(Lack::Redacted);
            }
            _ => self.blocks.push(Block::Native(Native { api: "the trace".to_owned(), block: value.clone() })),
        }
        Ok(())
    }
}

/// Whether an object is a piece by what it holds.
fn is_piece(value: &Json) -> bool {
    let kind = kind_of(value);
    let typed = way(&kind).is_some() || is_among(&kind, THOUGHTS) || is_among(&kind, TEXTS);
    let alone = value.as_object().is_some_and(|fields| fields.len() == 1) && text_field(value, "text").is_some();
    typed && kind != "function" || alone || wrapped(value).is_some()
}

/// A call or a result that a field of a piece holds, such as `functionCall`.
fn wrapped(value: &Json) -> Option<(Way, &Json)> {
    let fields = value.as_object()?.iter();
    fields.filter(|(_, held)| held.as_object().is_some()).find_map(|(name, held)| Some((way(name)?, held)))
}

/// The type of a piece, folded: `text` of `text`, `TextContent` and `TextBlock`.
fn kind_of(value: &Json) -> String {
    let kind = folded(text_field(value, KIND).unwrap_or_default());
    let ends = ["content", "block", "part"].iter().find_map(|end| kind.strip_suffix(end));
    ends.filter(|kind| !kind.is_empty()).map_or_else(|| kind.clone(), str::to_owned)
}

/// Reads a tool call, whatever it is called.
/// Fails if it has no name, or its arguments were cut.
fn tool_call(value: &Json) -> Result<ToolCall, Lack> {
    if let Some(tree) = undotted(value) {
        return tool_call(&tree);
    }
    let value = wrapped(value).filter(|_| value.get("function").is_none()).map_or(value, |(_, held)| held);
    let value = field(value, "payload").unwrap_or(value);
    let inner = value.get("function").filter(|inner| inner.as_object().is_some()).unwrap_or(value);
    let name = text_field(inner, NAME).or_else(|| text_field(value, NAME)).ok_or(Lack::Call)?;
    let args = field(inner, ARGUMENTS);
    args.map(opened).transpose()?;
    let id = text_field(value, ID).unwrap_or_default().to_owned();
    Ok(ToolCall { id, name: name.to_owned(), args: arguments(args.unwrap_or(&Json::Null)) })
}

/// The arguments of a call; a text that holds JSON is that JSON.
pub(super) fn arguments(args: &Json) -> Json {
    match args {
        Json::Str(text) if !text.trim().is_empty() => {
            Json::parse_request(text.as_bytes()).unwrap_or_else(|_| text[..].into())
        }
        Json::Str(_) | Json::Null => Json::object::<String>([]),
        other => other.clone(),
    }
}

/// The message of a result, which a field beside it may call an error.
fn result(value: &Json, content: Option<&Json>) -> Result<Message, Lack> {
    let about = || [Some(value), value.get("origin"), value.get("additional_kwargs")].into_iter().flatten();
    let name = about().find_map(|of| text_field(of, NAME)).map(str::to_owned);
    let id = about().find_map(|of| text_field(of, ID)).unwrap_or_default();
    let failed = value.str_of("status") == Some("error") || field(value, "iserror error").is_some_and(Json::is_truthy);
    let content = result_text(content.unwrap_or(&Json::Null))?.into();
    Ok(Message { content, name, tool_call_id: Some(id.to_owned()), failed, ..Message::new("tool", "") })
}

/// The text of a tool's result. An object is its JSON, as providers' APIs take it.
fn result_text(content: &Json) -> Result<String, Lack> {
    let (fields, parts) = (content.as_object().map_or(0, Object::len), content.as_array().unwrap_or_default());
    let only = || ["output", "return_value", "content"].into_iter().find_map(|name| content.str_of(name));
    if let Some(text) = content.as_str().or_else(|| only().filter(|_| fields == 1)) {
        return whole(text).map(str::to_owned);
    }
    let json = if let [part] = parts { part.get("json") } else { None };
    Ok(match (content.str_of("type").filter(|_| fields == 2), content.get("value")) {
        _ if *content == Json::Null => String::new(),
        // The AI SDK sends what `JSON.stringify` makes of it.
        (Some("json"), Some(json @ (Json::Object(_) | Json::Array(_)))) => json.print(Layout::Compact),
        (Some(_), Some(inner)) => result_text(inner)?,
        _ => {
            let fields = |part| if kind_of(part) == "text" { TEXT } else { "text" };
            let texts = parts.iter().map(|part| part.as_str().or_else(|| field(part, fields(part))?.as_str()));
            let texts = texts.collect::<Option<String>>().filter(|_| !parts.is_empty() && json.is_none());
            texts.unwrap_or_else(|| json.unwrap_or(content).print(Layout::Python))
        }
    })
}

/// A text, unless it was hidden or cut.
pub(super) fn whole(text: &str) -> Result<&str, Lack> {
    match before_cut(text) {
        _ if REDACTED.contains(&text) => Err(Lack::Redacted),
        Some(_) => Err(Lack::Cut),
        None => Ok(text),
    }
}
