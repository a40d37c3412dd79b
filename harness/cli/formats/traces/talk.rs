//! Reads a conversation, or an answer, from the value of an attribute: messages in lists, in requests and in events.

use retake_core::conversation::{Answer, Block, Finish, Message, ToolCall};
use retake_core::json::{Json, Object};
use retake_wire::{self as wire, Api, Response};

use super::lack::Lack;
use super::message::{FINISH, Said, message, of_pieces, whole};
use super::span::{field, is_among, names, opened, text_field};

/// A conversation, with what its request says beside the messages; or an answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Talk {
    pub(super) said: Vec<Said>,
    pub(super) system: Vec<String>,
    pub(super) tools: Vec<Json>,
    /// The earlier response that the request continues.
    pub(super) continues: Option<String>,
    /// Whether it says that it is what it was read as: any other text may be what a tool made of an answer.
    pub(super) told: bool,
    /// The answer, if it was read as one.
    pub(super) answer: Option<Answer>,
}

/// What a call was asked, or what it answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Asked,
    Answered,
}

/// The fields that lead on to messages, in requests, states and answers; these and all below folded.
const TO_MESSAGES: &str =
    "messages contents input inputmessages prompt llmrequest request chatctx items body kwargs data";
const TO_ANSWER: &str =
    "message choices candidates generations replies output outputs messages response result content data raw";

/// The fields in which a request is one text of the user, and in which an answer that is no message is a text.
const USER_TEXTS: &str = "contents input";
const ANSWER_TEXTS: &str = "text content completion generatedtext combinedchunkcontent";

const SYSTEM: &str = "system instructions systeminstruction systemprompt";

/// Items of a conversation that nobody said.
const ASIDES: &str = "agent_handoff agent_config_update";

/// How deeply wrappers may nest.
const DEPTH: usize = 8;

impl Talk {
    /// Reads one side of a call.
    /// Why it cannot be read.
    pub(super) fn read(value: &Json, side: Side) -> Result<Talk, Lack> {
        let mut talk = Talk { told: side == Side::Asked, ..Talk::default() };
        talk.walk(value, side, 0)?;
        if side == Side::Answered && talk.answer.is_none() {
            talk.answer = Some(Talk::answer(&talk.said)?);
        }
        if side == Side::Asked && talk.said.is_empty() { Err(Lack::NoRoles) } else { Ok(talk) }
    }

    fn walk(&mut self, value: &Json, side: Side, depth: usize) -> Result<(), Lack> {
        let value = opened(value)?;
        match (&value, side) {
            _ if depth > DEPTH => Err(Lack::NoRoles),
            (Json::Str(text), Side::Answered) => self.text("ai", text),
            (Json::Str(text), Side::Asked) => whole(text).and(Err(Lack::NoRoles)),
            (Json::Array(list), _) => self.list(list, side, depth),
            (Json::Object(_), Side::Asked) => self.request(&value, depth),
            (Json::Object(_), Side::Answered) => self.response(&value, depth),
            _ => Err(Lack::NoRoles),
        }
    }

    fn list(&mut self, list: &[Json], side: Side, depth: usize) -> Result<(), Lack> {
        match (list, side) {
            ([inner @ Json::Array(_)], _) => return self.walk(inner, side, depth + 1),
            ([Json::Array(_), Json::Array(_), ..], _) => return Err(Lack::Several),
            ([one @ Json::Str(text)], Side::Answered)
                if !opened(one).is_ok_and(|message| message.get("role").is_some()) =>
            {
                return self.text("ai", text);
            }
            ([inner @ Json::Object(_)], Side::Answered) if inner.get("role").is_none() => {
                let mut inside = Talk::default();
                if inside.response(inner, depth + 1).is_ok() {
                    *self = inside;
                    return Ok(());
                }
            }
            _ => {}
        }
        if side == Side::Answered {
            self.told = true;
            if let Some(said) = of_pieces(list)? {
                self.said.push(said);
                return Ok(());
            }
        }
        list.iter().try_for_each(|element| self.element(element))
    }

    fn element(&mut self, element: &Json) -> Result<(), Lack> {
        let element = opened(element)?;
        // Tools that are offered stand among the messages in some exports.
        let content = element.get("content").unwrap_or(&Json::Null);
        if content.pointer("/function/name").is_some() && element.get("tool_call_id").is_none() {
            self.tools.push(content.clone());
        } else if element.str_of("type").is_none_or(|kind| !is_among(kind, ASIDES)) {
            self.said.push(message(&element)?.ok_or(Lack::NoRoles)?);
        }
        Ok(())
    }

    fn text(&mut self, role: &str, text: &str) -> Result<(), Lack> {
        let mut said = Said { role: role.to_owned(), ..Said::default() };
        said.text(text)?;
        self.said.push(said);
        Ok(())
    }

    fn request(&mut self, value: &Json, depth: usize) -> Result<(), Lack> {
        let config = value.get("config").or_else(|| value.get("generation_config"));
        for part in [Some(value), config].into_iter().flatten() {
            self.system.extend(field(part, SYSTEM).and_then(system_of));
            self.tools.extend_from_slice(part.get("tools").and_then(Json::as_array).unwrap_or_default());
        }
        self.continues = self.continues.take().or_else(|| value.str_of("previous_response_id").map(str::to_owned));
        if value.get("messages").is_none()
            && let Some(said) = message(value)?
        {
            self.said.push(said);
            return Ok(());
        }
        let inner = names(TO_MESSAGES).find_map(|name| Some((name, field(value, name)?)));
        let (name, inner) = inner.ok_or(Lack::NoRoles)?;
        let text = match inner {
            Json::Str(text) if value.get("model").is_some() => Some(&text[..]),
            Json::Array(list) => list.first().filter(|_| list.len() == 1).and_then(Json::as_str),
            _ => None,
        };
        match text.filter(|_| is_among(name, USER_TEXTS)) {
            Some(text) => self.text("human", text),
            None => self.walk(inner, Side::Asked, depth + 1),
        }
    }

    fn response(&mut self, value: &Json, depth: usize) -> Result<(), Lack> {
        if let Some((.., answer)) = of_provider(value) {
            (self.answer, self.told) = (Some(answer), true);
            return Ok(());
        }
        let finish = text_field(value, FINISH);
        let calls = field(value, "toolcalls").is_some();
        let is_text = text_field(value, "text content").is_some() && field(value, "message").is_none();
        if let Some(said) = message(value)? {
            (self.said, self.told) = (vec![said], true);
        } else if calls || is_text {
            // Text and calls beside each other, without a role.
            let mut message = value.clone();
            message.as_object_mut().map(|fields| fields.insert("role".into(), "assistant".into()));
            self.said.extend(self::message(&message)?);
            self.told |= calls;
        } else {
            // A text in any other field may be part of JSON that the model wrote.
            let is_text = |inner: &&Json| inner.as_str().is_some() && matches!(opened(inner), Ok(Json::Str(_)));
            let inner = field(value, TO_ANSWER).filter(|inner| !is_text(inner)).or_else(|| field(value, ANSWER_TEXTS));
            self.walk(inner.ok_or(Lack::NoRoles)?, Side::Answered, depth + 1)?;
        }
        self.told |= finish.is_some();
        if let (Some(word), Some(last)) = (finish, self.said.last_mut()) {
            last.finish = Some(word.to_owned());
        }
        Ok(())
    }

    /// What was said as one answer.
    /// Why it is none.
    pub(super) fn answer(said: &[Said]) -> Result<Answer, Lack> {
        match said.iter().filter(|said| said.role == "ai").count() {
            0 => return Err(Lack::NoAnswer),
            answers if answers < said.len() => return Err(Lack::Steps),
            _ => {}
        }
        // Several choices: the first is what the service went on with. Tool calls are all made, whatever holds each of them.
        let is_call = |block: &Block| matches!(block, Block::ToolCall(_));
        let is_choice = |said: &Said| said.finish.is_some() && !said.blocks.iter().any(is_call);
        let said = if said.iter().all(is_choice) { &said[..1] } else { said };
        let blocks = said.iter().flat_map(|said| said.blocks.clone()).collect();
        let finish = said.iter().rev().find_map(|said| said.finish.as_deref()).map(finish_of);
        Ok(Answer { blocks: whole_ones(blocks), finish, ..Answer::default() })
    }

    /// Adds the text to an answer of calls alone, or the calls to one of text.
    pub(super) fn add_half(&mut self, other: Talk) {
        let (Some(answer), Some(other)) = (&mut self.answer, other.answer) else { return };
        let has_text = |answer: &Answer| answer.blocks.len() > answer.tool_calls().len();
        if has_text(answer) != has_text(&other) && (answer.tool_calls().is_empty() || other.tool_calls().is_empty()) {
            answer.blocks.extend(other.blocks);
            answer.blocks.sort_by_key(|block| matches!(block, Block::ToolCall(_)));
        }
        answer.finish = answer.finish.take().or(other.finish);
    }

    /// The messages, as a call's request would hold them; system prompts too. Results get the names of the tools they are of.
    pub(super) fn messages(&self) -> Vec<Message> {
        let mut joined: Vec<Said> = Vec::new();
        for said in &self.said {
            // No other API takes an answer after calls without their results: such are items, too, whatever holds each.
            let is_item = |last: &&mut Said| said.item || last.calls().chain(said.calls()).next().is_some();
            let is_alone = |said: &Said| said.role == "ai" && said.results.is_empty();
            match joined.last_mut().filter(|last| is_alone(last) && is_alone(said)).filter(is_item) {
                Some(last) => last.blocks.extend(said.blocks.clone()),
                None => joined.push(said.clone()),
            }
        }
        let mut messages = Vec::new();
        for Said { role, name, blocks, results, .. } in joined {
            let of_results_alone = blocks.is_empty() && !results.is_empty();
            messages.extend(results);
            let said = Answer { blocks, ..Answer::default() }.to_message();
            messages.extend((!of_results_alone).then_some(Message { kind: role, name, ..said }));
        }
        name_results(&mut messages);
        messages
    }
}

/// Gives results the names of the tools that they are of.
pub(super) fn name_results(messages: &mut [Message]) {
    // The calls so far, and whether each has its result.
    let mut calls: Vec<(ToolCall, bool)> = Vec::new();
    for place in 0..messages.len() {
        let to_come = messages[place..].iter().take_while(|message| message.kind == "tool").count();
        let message = &mut messages[place];
        calls.extend(message.tool_calls.iter().map(|call| (call.clone(), false)));
        if message.kind != "tool" {
            continue;
        }
        let (id, name) = (message.tool_call_id.as_deref().unwrap_or_default(), message.name.as_deref());
        let is_of = |call: &ToolCall| !id.is_empty() && call.id == id;
        let open =
            |fits: &dyn Fn(&ToolCall) -> bool| calls.iter().position(|(call, has_result)| !has_result && fits(call));
        // OpenLLMetry names calls of the Responses API by the id of the item, results by that of the call: where each call has one
        // result, they are in order.
        let in_order = calls.iter().filter(|(_, has_result)| !has_result).count() == to_come;
        // Some frameworks put the tool's name, or nothing, in the place of the id.
        let at = open(&is_of)
            .or_else(|| open(&|call| call.name == name.unwrap_or(id)))
            .or_else(|| calls.iter().rposition(|(call, _)| is_of(call)))
            .or_else(|| open(&|_| name.is_none() && (id.is_empty() || in_order)));
        if let Some(at) = at {
            calls[at].1 = true;
            message.name = Some(calls[at].0.name.clone());
        }
    }
}

/// The system prompt in the messages.
pub(super) fn system_text(messages: &[Message]) -> String {
    let system = messages.iter().filter(|message| message.kind == "system");
    system.filter_map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n\n")
}

/// Some frameworks write what a stream carried piece by piece, and the whole after it: leaves out the pieces.
fn whole_ones(blocks: Vec<Block>) -> Vec<Block> {
    let (mut kept, mut texts): (Vec<Block>, _) = (Vec::new(), String::new());
    for block in blocks {
        kept.retain(|known| match (known, &block) {
            // A piece has no whole arguments. Two whole calls are two, even if some framework gave them one id.
            (Block::ToolCall(known), Block::ToolCall(call)) if known.id == call.id && known.name == call.name => {
                let is_piece = known.args == call.args || known.args.as_object().is_none_or(Object::is_empty);
                call.id.is_empty() || !is_piece
            }
            (Block::Text(_), Block::Text(whole)) => texts != *whole,
            _ => true,
        });
        if let Block::Text(text) = &block {
            texts = if texts == *text { texts } else { texts + text };
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

/// How the responses of each API are told, by fields that they have, and the path of its calls.
const APIS: [(Api, &str, &str); 5] = [
    (Api::OpenAiChat, "/choices/0/message", "/v1/chat/completions"),
    (Api::OpenAiResponses, "/object /output", "/v1/responses"),
    // An item of the Responses API has no reason to stop.
    (Api::Anthropic, "/type /content /stop_reason", "/v1/messages"),
    (Api::Gemini, "/candidates", "/v1beta/models/{model}:generateContent"),
    (Api::Ollama, "/done /message", "/api/chat"),
];

/// Which API a response is of by what it holds, with the path of its calls, and the answer in it.
pub(super) fn of_provider(response: &Json) -> Option<(Api, &'static str, Answer)> {
    let has = |fields: &str| names(fields).all(|field| response.pointer(field).is_some());
    let (api, _, path) = APIS.into_iter().find(|(_, fields, _)| has(fields))?;
    let answer = wire::decode_response(api, &Response::json(200, response.clone())).ok()?;
    (!answer.blocks.is_empty()).then_some((api, path, answer))
}

/// The text of a system prompt in any form.
pub(super) fn system_of(value: &Json) -> Option<String> {
    let mut said = Said::default();
    said.pieces(&opened(value).ok()?).ok()?;
    Some(Answer { blocks: said.blocks, ..Answer::default() }.text()).filter(|text| !text.is_empty())
}
