//! Reads a conversation, or an answer, from the value of an attribute: messages in lists, in requests and in events.

use std::collections::HashMap;

use retake_core::conversation::{Answer, Block, Finish, Message, Native};
use retake_core::json::Json;
use retake_wire::{self as wire, Api, Response};

use super::message::{FINISH, Said, ToolResult, Unread, message, whole};
use super::span::{Opened, field, opened, text_field};

/// A conversation, with what its request says beside the messages.
#[derive(Clone, Debug, Default)]
pub(super) struct Talk {
    pub(super) said: Vec<Said>,
    pub(super) system: Vec<String>,
    pub(super) tools: Vec<Json>,
    /// The earlier response that the request continues.
    pub(super) continues: Option<String>,
}

/// The fields that hold messages, in requests, states and answers; these and all below folded.
const MESSAGES: [&str; 12] = [
    "messages",
    "contents",
    "input",
    "inputmessages",
    "prompt",
    "llmrequest",
    "request",
    "chatctx",
    "items",
    "body",
    "kwargs",
    "data",
];

/// The fields in which a request is one text of the user.
const USER_TEXTS: [&str; 2] = ["contents", "input"];

const SYSTEM: [&str; 4] = ["system", "instructions", "systeminstruction", "systemprompt"];

/// The fields that lead from an answer to its message.
const ANSWERS: [&str; 13] = [
    "message",
    "choices",
    "candidates",
    "generations",
    "replies",
    "output",
    "outputs",
    "messages",
    "response",
    "result",
    "content",
    "data",
    "raw",
];

/// Items of a conversation that nobody said.
const ASIDES: [&str; 2] = ["agent_handoff", "agent_config_update"];

/// Whether an exporter put the beginning of a payload in its place.
fn was_cut(value: &Json) -> bool {
    value.get("truncated") == Some(&Json::Bool(true)) && value.get("payload_prefix").is_some()
}

/// How deeply wrappers may nest.
const DEPTH: usize = 8;

impl Talk {
    /// Reads what a call was asked.
    pub(super) fn asked(value: &Json) -> Result<Talk, Unread> {
        let mut talk = Talk::default();
        talk.read(value, 0)?;
        if talk.said.is_empty() { Err(Unread::NoRoles) } else { Ok(talk) }
    }

    fn read(&mut self, value: &Json, depth: usize) -> Result<(), Unread> {
        let value = match opened(value) {
            Opened::Json(value) => value,
            Opened::Cut => return Err(Unread::Cut),
            Opened::Text(text) => return whole(&text).and(Err(Unread::NoRoles)),
        };
        if was_cut(&value) {
            return Err(Unread::Cut);
        }
        match &value {
            Json::Array(list) => match &list[..] {
                [inner @ Json::Array(_)] => self.read(inner, depth + 1),
                [Json::Array(_), Json::Array(_), ..] => Err(Unread::Several),
                list => list.iter().try_for_each(|element| self.element(element)),
            },
            Json::Object(_) => self.object(&value, depth),
            _ => Err(Unread::NoRoles),
        }
    }

    fn element(&mut self, element: &Json) -> Result<(), Unread> {
        let element = match opened(element) {
            Opened::Json(element @ Json::Object(_)) => element,
            Opened::Cut => return Err(Unread::Cut),
            _ => return Err(Unread::NoRoles),
        };
        // Tools that are offered stand among the messages in some exports.
        let content = element.get("content").unwrap_or(&Json::Null);
        if content.pointer("/function/name").is_some() && element.get("tool_call_id").is_none() {
            self.tools.push(content.clone());
            return Ok(());
        }
        if element.str_of("type").is_some_and(|kind| ASIDES.contains(&kind)) {
            return Ok(());
        }
        let said = message(&element)?.ok_or(Unread::NoRoles)?;
        self.said.extend(said);
        Ok(())
    }

    fn object(&mut self, value: &Json, depth: usize) -> Result<(), Unread> {
        let config = value.get("config").or_else(|| value.get("generation_config"));
        for part in [Some(value), config].into_iter().flatten() {
            self.system.extend(field(part, &SYSTEM).and_then(text_of));
            self.tools.extend(part.get("tools").and_then(Json::as_array).unwrap_or_default().iter().cloned());
        }
        self.continues = self.continues.take().or_else(|| value.str_of("previous_response_id").map(str::to_owned));
        if value.get("messages").is_none()
            && let Some(said) = message(value)?
        {
            self.said.extend(said);
            return Ok(());
        }
        if depth >= DEPTH {
            return Err(Unread::NoRoles);
        }
        for name in MESSAGES {
            match field(value, &[name]) {
                None => {}
                Some(Json::Str(text)) if USER_TEXTS.contains(&name) && value.get("model").is_some() => {
                    let text = Block::Text(whole(text)?.to_owned());
                    self.said.push(Said { role: "human".to_owned(), blocks: vec![text], ..Said::default() });
                    return Ok(());
                }
                Some(Json::Array(list)) if USER_TEXTS.contains(&name) && matches!(list[..], [Json::Str(_)]) => {
                    let text = Block::Text(list[0].as_str().unwrap_or_default().to_owned());
                    self.said.push(Said { role: "human".to_owned(), blocks: vec![text], ..Said::default() });
                    return Ok(());
                }
                Some(inner) => return self.read(inner, depth + 1),
            }
        }
        Err(Unread::NoRoles)
    }

    /// The messages, as a call's request would hold them; system prompts too. Results get the names of the tools they are of.
    pub(super) fn messages(&self) -> Vec<Message> {
        let mut messages: Vec<Message> = Vec::new();
        let (mut named, mut open): (HashMap<&str, &str>, Vec<(&str, &str)>) = (HashMap::new(), Vec::new());
        let mut last_item = false;
        for said in &self.said {
            for ToolResult { id, name, content, failed } in &said.results {
                // Some frameworks put the tool's name, or nothing, in the place of the id.
                let at = open.iter().position(|(of, _)| !id.is_empty() && of == id);
                let at = at.or_else(|| open.iter().position(|(_, of)| Some(*of) == name.as_deref().or(Some(id))));
                let at = at.or_else(|| (id.is_empty() && name.is_none() && !open.is_empty()).then_some(0));
                let of_call = at.map(|at| open.remove(at).1).or_else(|| named.get(id.as_str()).copied());
                messages.push(Message {
                    content: content.clone(),
                    name: of_call.map(str::to_owned).or_else(|| name.clone()),
                    tool_call_id: Some(id.clone()),
                    failed: *failed,
                    ..Message::new("tool", "")
                });
            }
            let calls = said
                .blocks
                .iter()
                .filter_map(|block| if let Block::ToolCall(call) = block { Some(call) } else { None });
            for call in calls {
                named.insert(&call.id, &call.name);
                open.push((&call.id, &call.name));
            }
            if said.blocks.is_empty() && !said.results.is_empty() {
                last_item = false;
                continue;
            }
            let answer = Answer { blocks: said.blocks.clone(), ..Answer::default() };
            let message = Message { kind: said.role.clone(), name: said.name.clone(), ..answer.to_message() };
            match messages.last_mut().filter(|last| last_item && said.item && last.kind == "ai" && said.role == "ai") {
                Some(last) => {
                    last.tool_calls.extend(message.tool_calls);
                    if message.content.is_truthy() {
                        last.content = message.content;
                    }
                }
                None => messages.push(message),
            }
            last_item = said.item && said.role == "ai";
        }
        messages
    }

    /// The system prompt: what is beside the messages, else the system messages.
    pub(super) fn system_text(&self) -> String {
        let texts = |said: &Said| {
            said.blocks.iter().map(|block| if let Block::Text(text) = block { &text[..] } else { "" }).collect()
        };
        let of_messages = || self.said.iter().filter(|said| said.role == "system").map(texts).collect::<Vec<String>>();
        if self.system.is_empty() { of_messages() } else { self.system.clone() }.join("\n\n")
    }
}

/// Reads a call's answer.
/// Why it is none.
pub(super) fn answered(value: &Json) -> Result<Answer, Unread> {
    answer_in(value, 0).map(|(answer, _)| answer)
}

/// Reads an answer that says that it is one: a message, tool calls, a provider's response. Any other text may be what a tool made
/// of it.
pub(super) fn told_answer(value: &Json) -> Result<Answer, Unread> {
    let (answer, told) = answer_in(value, 0)?;
    if told { Ok(answer) } else { Err(Unread::NoAnswer) }
}

/// The fields of an answer that is no message, whose text is that of the answer.
const TEXTS: [&str; 4] = ["text", "content", "completion", "generatedtext"];

/// The answer, and whether it says that it is one.
fn answer_in(value: &Json, depth: usize) -> Result<(Answer, bool), Unread> {
    let value = match opened(value) {
        Opened::Json(value) => value,
        Opened::Cut => return Err(Unread::Cut),
        Opened::Text(text) => return Ok((of_said(&[Said::answer(&text)?]), false)),
    };
    if depth > DEPTH {
        return Err(Unread::NoAnswer);
    }
    if was_cut(&value) {
        return Err(Unread::Cut);
    }
    match &value {
        Json::Array(list) => {
            let is_message =
                |text: &Json| matches!(opened(text), Opened::Json(message) if message.get("role").is_some());
            if let [one @ Json::Str(text)] = &list[..]
                && !is_message(one)
            {
                return Ok((of_said(&[Said::answer(text)?]), false));
            }
            if let [inner @ (Json::Array(_) | Json::Object(_))] = &list[..]
                && inner.get("role").is_none()
                && let Ok(answer) = answer_in(inner, depth + 1)
            {
                return Ok(answer);
            }
            if let Some(said) = Said::of_pieces(list)? {
                return Ok((of_said(&[said]), true));
            }
            let mut talk = Talk::default();
            list.iter().try_for_each(|element| talk.element(element)).map_err(no_answer)?;
            of_talk(&talk).map(|answer| (answer, true))
        }
        Json::Object(fields) => {
            if let Some((_, answer)) = of_provider(&value) {
                return Ok((answer, true));
            }
            let finish = text_field(&value, &FINISH);
            let finished = |answer: Answer| Answer { finish: finish.map(finish_of).or(answer.finish), ..answer };
            if let Some(said) = message(&value)? {
                return of_talk(&Talk { said, ..Talk::default() }).map(|answer| (finished(answer), true));
            }
            // Text and calls beside each other, without a role.
            let calls = field(&value, &["toolcalls"]).is_some();
            let text = text_field(&value, &TEXTS[..2]);
            if calls || text.is_some() && (field(&value, &["message"]).is_none() || fields.len() == 1) {
                let mut as_message = value.clone();
                if let Some(fields) = as_message.as_object_mut() {
                    fields.insert("role", "assistant".into());
                }
                return of_talk(&Talk { said: message(&as_message)?.unwrap_or_default(), ..Talk::default() })
                    .map(|answer| (finished(answer), calls || finish.is_some()));
            }
            // A text in any other field may be part of JSON that the model wrote.
            let inner = match field(&value, &ANSWERS) {
                Some(Json::Str(text)) if matches!(opened(&Json::Str(text.clone())), Opened::Text(_)) => {
                    field(&value, &TEXTS)
                }
                inner => inner.or_else(|| field(&value, &TEXTS)),
            };
            let (answer, told) = answer_in(inner.ok_or(Unread::NoAnswer)?, depth + 1)?;
            Ok((finished(answer), told || finish.is_some()))
        }
        _ => Err(Unread::NoAnswer),
    }
}

fn no_answer(unread: Unread) -> Unread {
    if unread == Unread::NoRoles { Unread::NoAnswer } else { unread }
}

fn of_talk(talk: &Talk) -> Result<Answer, Unread> {
    let said: Vec<Said> = talk.said.iter().filter(|said| said.role == "ai").cloned().collect();
    if said.is_empty() {
        return Err(Unread::NoAnswer);
    }
    if said.len() < talk.said.len() {
        return Err(Unread::Steps);
    }
    // Several choices: the first is what the service went on with. Tool calls are all made, whatever holds each of them.
    let is_call = |block: &Block| matches!(block, Block::ToolCall(_));
    let choices = said.len() > 1 && said.iter().all(|said| said.finish.is_some() && !said.item);
    let choices = choices && !said.iter().any(|said| said.blocks.iter().any(is_call));
    Ok(of_said(if choices { &said[..1] } else { &said }))
}

fn of_said(said: &[Said]) -> Answer {
    let native = |block: Block| match block {
        Block::Native(Native { block, .. }) => Block::Native(Native { api: Api::OpenAiChat.name().to_owned(), block }),
        block => block,
    };
    let blocks: Vec<Block> = said.iter().flat_map(|said| said.blocks.iter().cloned().map(native)).collect();
    let finish = said.iter().rev().find_map(|said| said.finish.as_deref()).map(finish_of);
    Answer { blocks: whole_ones(blocks), finish, ..Answer::default() }
}

/// Some frameworks write what a stream carried piece by piece, and the whole after it: leaves out the pieces.
fn whole_ones(blocks: Vec<Block>) -> Vec<Block> {
    let mut kept: Vec<Block> = Vec::new();
    for block in blocks {
        match &block {
            Block::ToolCall(call) if !call.id.is_empty() => {
                kept.retain(|known| !matches!(known, Block::ToolCall(known) if known.id == call.id));
            }
            Block::Text(text) => {
                let pieces =
                    kept.iter().filter_map(|known| if let Block::Text(text) = known { Some(&text[..]) } else { None });
                if pieces.collect::<String>() == *text {
                    kept.retain(|known| !matches!(known, Block::Text(_)));
                }
            }
            _ => {}
        }
        kept.push(block);
    }
    kept
}

/// The neutral reason for a word of any provider.
pub(super) fn finish_of(word: &str) -> Finish {
    match word.trim().to_ascii_lowercase().replace(['-', '.'], "_").rsplit("finishreason_").next().unwrap_or_default() {
        "stop" | "end_turn" | "stop_sequence" | "completed" | "complete" | "finish" => Finish::Stop,
        "tool_calls" | "tool_call" | "tool_use" | "function_call" => Finish::ToolCalls,
        "length" | "max_tokens" | "max_output_tokens" => Finish::Length,
        "content_filter" | "safety" | "recitation" | "blocklist" => Finish::ContentFilter,
        other => Finish::Other(other.to_owned()),
    }
}

/// Which API a response is of by what it holds, and the answer in it.
pub(super) fn of_provider(response: &Json) -> Option<(Api, Answer)> {
    let api = if response.get("choices").is_some_and(|choices| choices.pointer("/0/message").is_some()) {
        Api::OpenAiChat
    } else if response.str_of("object") == Some("response") && response.get("output").is_some() {
        Api::OpenAiResponses
    } else if response.str_of("type") == Some("message")
        && response.get("content").is_some_and(|c| c.as_array().is_some())
    {
        Api::Anthropic
    } else if response.get("candidates").is_some() {
        Api::Gemini
    } else if response.get("done").is_some() && response.get("message").is_some() {
        Api::Ollama
    } else {
        return None;
    };
    let answer = wire::decode_response(api, &Response::json(200, response.clone())).ok()?;
    (!answer.blocks.is_empty()).then_some((api, answer))
}

/// The text of a system prompt in any form.
fn text_of(value: &Json) -> Option<String> {
    match value {
        Json::Str(text) if !text.is_empty() => Some(text.clone()),
        Json::Array(parts) => {
            let texts: String = parts
                .iter()
                .filter_map(|part| part.as_str().or(part.str_of("text")).or(part.str_of("content")))
                .collect();
            Some(texts).filter(|texts| !texts.is_empty())
        }
        Json::Object(_) => text_of(value.get("parts").or_else(|| value.get("content"))?),
        _ => None,
    }
}

/// The text of a system prompt in an attribute.
pub(super) fn system_of(value: &Json) -> Option<String> {
    match opened(value) {
        Opened::Json(value) => text_of(&value),
        Opened::Text(text) => Some(text),
        Opened::Cut => None,
    }
}
