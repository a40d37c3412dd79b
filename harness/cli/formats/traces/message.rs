//! Reads one message, of any form: what it holds says who said what, whichever framework wrote it.

use retake_core::conversation::{Block, Message, Native, ToolCall};
use retake_core::json::{Json, Layout, Object};

use super::fields::REDACTED;
use super::lack::Lack;
use super::span::{CUT_MARKS, Opened, field, folded, is_among, names, opened, text_field, undotted};

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

/// One piece of a message.
enum Piece {
    Block(Block),
    Result(Message),
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
        () if word == "retryprompt" => Some(Way::Result),
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
pub(super) fn message(object: &Json) -> Result<Option<Vec<Said>>, Lack> {
    if let Some(tree) = undotted(object) {
        return message(&tree);
    }
    let event = object.str_of("event.name").or_else(|| object.str_of("name")).and_then(|name| {
        let name = name.strip_prefix("gen_ai.")?;
        role_of(name.strip_suffix(".message").unwrap_or(name))
    });
    let finish = text_field(object, FINISH).or_else(|| text_field(object.get("response_metadata")?, FINISH));
    let finish = finish.map(str::to_owned);
    // What wraps a message: an event, a constructor of LangChain, its type beside it, a choice.
    let class = object.get("id").and_then(Json::as_array).and_then(|id| id.last()).and_then(Json::as_str);
    let typed = object.get("data").filter(|data| data.get("content").is_some());
    let is_text = |value: &Json| matches!(opened(value), Opened::Text(_) | Opened::Cut);
    let wrappers = [
        (object.get("gen_ai.event.content"), event),
        (object.get("kwargs").filter(|_| object.get("lc").is_some()), class.and_then(role_of)),
        (typed.filter(|_| object.str_of("type").is_some()), object.str_of("type").and_then(role_of)),
        (field(object, "message").filter(|value| event.is_some() || !is_text(value)), event),
    ];
    if let Some((inner, role)) = wrappers.into_iter().find_map(|(inner, role)| Some((inner?, role))) {
        let mut inner = match opened(inner) {
            Opened::Cut => return Err(Lack::Cut),
            Opened::Json(inner @ Json::Object(_)) => inner,
            Opened::Json(content) => Json::object([("content", content)]),
            Opened::Text(text) => Json::object([("content", Json::Str(text))]),
        };
        if let (Some(role), Some(fields)) = (role, inner.as_object_mut()) {
            fields.or_insert_with("role", || role.into());
        }
        let mut said = message(&inner)?;
        for said in said.iter_mut().flatten() {
            said.finish = said.finish.take().or_else(|| finish.clone());
            said.add_calls(object)?;
        }
        return Ok(said);
    }
    let kind = kind_of(object);
    let item = is_among(&kind, ITEMS) || kind == "message" && object.get("role").is_some();
    let role = field(object, "role");
    let word = role.and_then(|role| role.as_str().or_else(|| text_field(role, "value label")));
    // OpenLLMetry's word for what Anthropic's models think.
    let is_thought = word == Some("thinking");
    let role = match word {
        Some(_) if is_thought => "ai".to_owned(),
        Some(word) => role_of(word).map_or_else(|| word.to_owned(), str::to_owned),
        None => match (event, text_field(object, "type").and_then(role_of)) {
            (Some(role), _) | (None, Some(role)) if object.get("function").is_none() => role.to_owned(),
            _ if item && kind.ends_with("output") => "tool".to_owned(),
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
    let more = object.get("additional_kwargs");
    let content = field(object, CONTENT);
    let id = text_field(object, ID).or_else(|| text_field(more?, ID)).unwrap_or_default();
    // Some frameworks say of the calls, too, that a tool said them.
    let calls = field(object, "toolcalls").is_some_and(Json::is_truthy);
    if said.role == "tool" && (calls || content.is_some_and(|content| holds(content, Way::Call))) {
        "ai".clone_into(&mut said.role);
    }
    let text_of_tool = said.role == "tool" && !content.is_some_and(|content| holds(content, Way::Result));
    if text_of_tool {
        let content = result_text(content.unwrap_or(&Json::Null))?;
        let name = said.name.take().or_else(|| text_field(object, NAME).map(str::to_owned));
        said.results.push(result_of(object, id, name, content));
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
    for calls in [Some(object), more].into_iter().flatten() {
        said.add_calls(calls)?;
    }
    if event.is_some() && content.is_none() && said.blocks.is_empty() {
        return Err(Lack::Redacted);
    }
    said.forget_spelled_calls();
    if is_thought {
        said.finish = None;
        said.blocks.iter_mut().for_each(|block| {
            if let Block::Text(text) = block {
                *block = Block::Reasoning(std::mem::take(text));
            }
        });
    }
    Ok(Some(vec![said]))
}

/// The message of a result, which a field beside it may call an error.
fn result_of(value: &Json, id: &str, name: Option<String>, content: Json) -> Message {
    let failed = value.str_of("status") == Some("error") || field(value, "iserror error").is_some_and(Json::is_truthy);
    Message { content, name, tool_call_id: Some(id.to_owned()), failed, ..Message::new("tool", "") }
}

impl Said {
    pub(super) fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(|block| if let Block::ToolCall(call) = block { Some(call) } else { None })
    }

    fn add(&mut self, piece: Piece) {
        match piece {
            Piece::Block(Block::Text(text)) if text.is_empty() => {}
            Piece::Block(block) => self.blocks.push(block),
            Piece::Result(result) => self.results.push(result),
        }
    }

    /// Adds the calls in the fields of a message, which its content may hold as well.
    fn add_calls(&mut self, object: &Json) -> Result<(), Lack> {
        for (name, held) in object.as_object().into_iter().flat_map(Object::iter) {
            if self.role != "ai" || way(name) != Some(Way::Call) || name.contains("chunk") || !held.is_truthy() {
                continue;
            }
            let calls = match opened(held) {
                Opened::Json(Json::Array(calls)) => calls,
                Opened::Json(call @ Json::Object(_)) => vec![call],
                Opened::Cut => return Err(Lack::Cut),
                _ => continue,
            };
            for call in &calls {
                let call = tool_call(call)?;
                // What a stream left in the content may be without arguments.
                let same = |known: &ToolCall| {
                    let unknown = known.id.is_empty() || call.id.is_empty();
                    known.name == call.name && (known.id == call.id || unknown && known.args == call.args)
                };
                let mut blocks = self.blocks.iter_mut();
                match blocks.find(|block| matches!(block, Block::ToolCall(known) if same(known))) {
                    Some(known) => *known = Block::ToolCall(call),
                    None => self.blocks.push(Block::ToolCall(call)),
                }
            }
        }
        Ok(())
    }

    /// Leaves out texts that spell, as items of OpenAI's Responses API, calls that the message holds.
    fn forget_spelled_calls(&mut self) {
        let ids: Vec<String> = self.calls().map(|call| call.id.clone()).collect();
        let spells = |text: &str| match opened(&text.into()) {
            Opened::Json(item) => item.str_of("call_id").is_some_and(|id| ids.iter().any(|known| known == id)),
            _ => false,
        };
        self.blocks.retain(|block| !matches!(block, Block::Text(text) if spells(text)));
    }

    /// Reads an answer's calls, or its pieces, that come without a role; `None` if it is neither.
    pub(super) fn of_pieces(list: &[Json]) -> Result<Option<Said>, Lack> {
        let mut said = Said { role: "ai".to_owned(), ..Said::default() };
        for element in list {
            match element {
                Json::Object(_) if is_piece(element) => said.add(piece(element)?),
                Json::Object(_) if looks_called(element) => match tool_call(element) {
                    Ok(call) => said.add(Piece::Block(Block::ToolCall(call))),
                    Err(Lack::Cut) => return Err(Lack::Cut),
                    Err(_) => return Ok(None),
                },
                _ => return Ok(None),
            }
        }
        Ok(Some(said).filter(|said| !said.blocks.is_empty() && said.results.is_empty()))
    }
}

/// Reads the content of a message.
fn pieces(content: &Json) -> Result<Vec<Piece>, Lack> {
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
                return Err(Lack::Cut);
            }
            Ok(vec![Piece::Block(Block::Text(whole(text)?.to_owned()))])
        }
        Json::Array(list) => list.iter().map(piece).collect(),
        Json::Object(_) => match field(content, CONTENT_IN) {
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
    let typed = way(&kind).is_some() || is_among(&kind, THOUGHTS) || is_among(&kind, TEXTS);
    let alone = value.as_object().is_some_and(|fields| fields.len() == 1) && text_field(value, "text").is_some();
    typed && kind != "function" || alone || wrapped(value).is_some()
}

/// A call or a result that a field of a piece holds, such as `functionCall`.
fn wrapped(value: &Json) -> Option<(Way, &Json)> {
    let fields = value.as_object()?.iter();
    fields.filter(|(_, held)| held.as_object().is_some()).find_map(|(name, held)| Some((way(name)?, held)))
}

fn looks_called(value: &Json) -> bool {
    value.get("function").is_some() || field(value, ARGUMENTS).is_some()
}

/// Whether a content consists of calls, or of results.
fn holds(content: &Json, what: Way) -> bool {
    let is_one =
        |piece: &Json| way(&kind_of(piece)) == Some(what) || wrapped(piece).is_some_and(|(way, _)| way == what);
    match opened(content) {
        Opened::Json(Json::Array(list)) => !list.is_empty() && list.iter().all(is_one),
        Opened::Json(object) => is_one(&object) || field(&object, CONTENT_IN).is_some_and(|inner| holds(inner, what)),
        _ => false,
    }
}

/// The type of a piece, folded: `text` of `text`, `TextContent` and `TextBlock`.
fn kind_of(value: &Json) -> String {
    let kind = folded(text_field(value, KIND).unwrap_or_default());
    let ends = ["content", "block", "part"].iter().find_map(|end| kind.strip_suffix(end));
    ends.filter(|kind| !kind.is_empty()).map_or_else(|| kind.clone(), str::to_owned)
}

fn piece(value: &Json) -> Result<Piece, Lack> {
    if let Json::Str(text) = value {
        return Ok(Piece::Block(Block::Text(whole(text)?.to_owned())));
    }
    if let Some(inner) = value.get("message_content") {
        return piece(inner);
    }
    let kind = kind_of(value);
    let (told, held) = wrapped(value).map_or((way(&kind), value), |(way, held)| (Some(way), held));
    match told {
        Some(Way::Call) => return tool_call(held).map(Block::ToolCall).map(Piece::Block),
        Some(Way::Result) => return result(held).map(Piece::Result),
        None => {}
    }
    let text = names(TEXT).find_map(|name| field(value, name)?.as_str());
    let thought = value.pointer("/reasoningContent/reasoningText/text").and_then(Json::as_str);
    if is_among(&kind, THOUGHTS) || thought.is_some() || value.get("thought") == Some(&Json::Bool(true)) {
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
        Some(text) if is_among(&kind, TEXTS) || kind.is_empty() => {
            Ok(Piece::Block(Block::Text(whole(text)?.to_owned())))
        }
        // Where content is not to be recorded, some keep the kind of each piece.
        None if kind == "text" && value.as_object().is_some_and(|fields| fields.len() == 1) => Err(Lack::Redacted),
        _ => Ok(Piece::Block(Block::Native(Native { api: "the trace".to_owned(), block: value.clone() }))),
    }
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
    if args.is_some_and(|args| matches!(opened(args), Opened::Cut)) {
        return Err(Lack::Cut);
    }
    Ok(ToolCall {
        id: text_field(value, ID).unwrap_or_default().to_owned(),
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

fn result(value: &Json) -> Result<Message, Lack> {
    let origin = value.get("origin");
    let name = text_field(value, NAME).or_else(|| text_field(origin?, NAME)).map(str::to_owned);
    let id = text_field(value, ID).or_else(|| text_field(origin?, ID)).unwrap_or_default();
    Ok(result_of(value, id, name, result_text(field(value, RESULT).unwrap_or(&Json::Null))?))
}

/// The text of a tool's result. An object is its JSON, as providers' APIs take it.
fn result_text(content: &Json) -> Result<Json, Lack> {
    Ok(match content {
        Json::Str(text) => Json::Str(whole(text)?.to_owned()),
        Json::Null => "".into(),
        Json::Object(fields) => {
            let only = ["output", "return_value", "content"].into_iter().find_map(|name| fields.get(name));
            let typed = fields.get("value").filter(|_| content.str_of("type").is_some() && fields.len() == 2);
            match typed.or_else(|| only.filter(|text| fields.len() == 1 && text.as_str().is_some())) {
                // The AI SDK sends what `JSON.stringify` makes of it.
                Some(inner @ (Json::Object(_) | Json::Array(_))) if content.str_of("type") == Some("json") => {
                    inner.print(Layout::Compact).into()
                }
                Some(inner) => result_text(inner)?,
                None => content.print(Layout::Python).into(),
            }
        }
        Json::Array(list) => {
            let fields = |part| if kind_of(part) == "text" { TEXT } else { "text" };
            let texts = list.iter().map(|part| part.as_str().or_else(|| field(part, fields(part))?.as_str()));
            let texts: Option<String> = texts.collect();
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
pub(super) fn whole(text: &str) -> Result<&str, Lack> {
    if REDACTED.contains(&text) {
        return Err(Lack::Redacted);
    }
    if CUT_MARKS.iter().any(|mark| text.ends_with(mark)) {
        return Err(Lack::Cut);
    }
    Ok(text)
}
