//! Finds the model calls of a trace, and reads each: what it was asked, and what it answered.

use std::collections::{HashMap, HashSet};

use retake_core::conversation::{Answer, Block, Finish, Message, Usage};
use retake_core::json::Json;
use retake_wire::{self as wire, Api, Known, Response, Target};

use super::fields::{self, Kind};
use super::lack::{Lack, Refused};
use super::message::{Said, Unread, whole};
use super::otlp::number;
use super::span::{Opened, Span, opened};
use super::talk::{Talk, answered, finish_of, of_provider, system_of, told_answer};

/// A model call of a trace.
#[derive(Clone, Debug, Default)]
pub(super) struct ModelCall {
    /// The index of its span in the trace.
    pub(super) span: usize,
    pub(super) messages: Vec<Message>,
    pub(super) system: String,
    pub(super) tools: Vec<Json>,
    pub(super) model: String,
    pub(super) answer: Answer,
    /// The provider's own request and response, if the span holds them.
    pub(super) wire: Option<OnWire>,
    /// The earlier answer that the call continues, and whether the call says so itself.
    pub(super) continues: Option<(String, bool)>,
    pub(super) caller: Option<String>,
    pub(super) notes: Vec<String>,
}

/// A provider's own request and response.
#[derive(Clone, Debug)]
pub(super) struct OnWire {
    pub(super) api: Api,
    pub(super) path: String,
    pub(super) request: Json,
    pub(super) response: Response,
}

/// The calls of a trace by their start, and what could not be read.
pub(super) fn calls(spans: &[Span]) -> (Vec<ModelCall>, Vec<Refused>) {
    let parents = parents(spans);
    let ancestors = |place: usize| around(&parents, place);
    let mut order: Vec<usize> = (0..spans.len()).collect();
    let depths: Vec<usize> = order.iter().map(|place| ancestors(*place).count()).collect();
    order.sort_by_key(|place| std::cmp::Reverse(depths[*place]));
    let limit = length_limit(spans);
    let tools = (0..spans.len()).filter(|place| kind(&spans[*place]) == Some(Kind::Tool));
    let with_tools: HashSet<usize> = tools.flat_map(ancestors).collect();
    let (mut calls, mut refused): (Vec<ModelCall>, Vec<(usize, Lack)>) = (Vec::new(), Vec::new());
    let mut covered = vec![false; spans.len()];
    for place in order {
        let span = &spans[place];
        // A span around other calls repeats them: what an agent, or a library around another, was asked.
        if covered[place] {
            continue;
        }
        let read = match kind(span) {
            // A text that was said after tools had run within the span is the end of several calls.
            Some(Kind::Model) => Some(call(place, span, limit).and_then(|call| {
                let several = with_tools.contains(&place) && call.answer.tool_calls().is_empty();
                if several { Err(Lack::Steps) } else { Ok(vec![call]) }
            })),
            None if may_be_call(span) => call(place, span, limit).ok().map(|call| Ok(vec![call])),
            _ => whole_conversation(place, span).map(Ok),
        };
        match read {
            None => {}
            Some(Ok(read)) if read.is_empty() => {}
            Some(Ok(read)) => {
                calls.extend(read);
                refused.retain(|(other, _)| !ancestors(*other).any(|at| at == place));
                ancestors(place).for_each(|at| covered[at] = true);
            }
            Some(Err(lack)) => refused.push((place, lack)),
        }
    }
    calls.sort_by_key(|call| call.span);
    // Two libraries may tell of one call, and one of them without its content.
    let is_told = |place: usize| calls.iter().any(|call| are_one_call(&spans[call.span], &spans[place]));
    refused.retain(|(place, lack)| !matches!(lack, Lack::Nothing | Lack::NoAnswer) || !is_told(*place));
    refused.sort_by_key(|(place, _)| *place);
    (calls, refused.into_iter().map(|(place, lack)| Refused::of(&spans[place], lack)).collect())
}

/// Whether two spans are at the same time, and name the same answer or count the same tokens.
fn are_one_call(one: &Span, other: &Span) -> bool {
    let same_id =
        || one.first_text(&fields::RESPONSE_ID).is_some_and(|id| other.first_text(&fields::RESPONSE_ID) == Some(id));
    let same_usage = || usage(one).is_some_and(|tokens| usage(other) == Some(tokens));
    one.start <= other.end && other.start <= one.end && (same_id() || same_usage())
}

/// The place of each span's parent; `None` if it has none, or the parent is not in the trace.
pub(super) fn parents(spans: &[Span]) -> Vec<Option<usize>> {
    let places: HashMap<&str, usize> =
        spans.iter().enumerate().map(|(place, span)| (span.id.as_str(), place)).collect();
    let parent = |(place, span): (usize, &Span)| places.get(span.parent.as_str()).copied().filter(|at| *at != place);
    spans.iter().enumerate().map(parent).collect()
}

/// The spans around one, from the nearest on. In damaged traces they may go in a circle.
pub(super) fn around(parents: &[Option<usize>], place: usize) -> impl Iterator<Item = usize> + '_ {
    std::iter::successors(parents[place], |at| parents[*at]).take(1000)
}

/// What a span says that it is about; `None` if it does not say.
pub(super) fn kind(span: &Span) -> Option<Kind> {
    fields::KINDS.iter().find_map(|(name, values)| {
        // Some exporters write each value as JSON.
        let value = span.text(name)?.trim_matches('"').to_ascii_lowercase();
        let fits = |pattern: &str| match pattern.strip_prefix('*') {
            Some(end) => value.ends_with(end),
            None => value == pattern,
        };
        values.iter().find(|(pattern, _)| fits(pattern)).map(|(_, kind)| *kind)
    })
}

/// The length at which the exporter cut texts: the longest, if it is one that people set as a limit, and several different texts
/// have exactly that length.
fn length_limit(spans: &[Span]) -> Option<usize> {
    let texts = spans.iter().flat_map(|span| span.fields.values()).filter_map(Json::as_str);
    let longest = texts.clone().map(str::len).max()?;
    let is_limit = longest >= 128 && longest.is_power_of_two() || longest >= 1000 && longest % 1000 == 0;
    let different: HashSet<&str> = texts.filter(|text| is_limit && text.len() == longest).collect();
    (different.len() > 1).then_some(longest)
}

fn call(place: usize, span: &Span, limit: Option<usize>) -> Result<ModelCall, Lack> {
    if let Some(failed) = span.failed.as_ref().filter(|_| !has_any(span, &fields::OUTPUT)) {
        return Err(Lack::Failed(failed.clone()));
    }
    let at_limit = |name: &str| {
        let of_name = span.fields.range(name.to_owned()..).take_while(|(key, _)| key.starts_with(name));
        of_name.into_iter().any(|(_, value)| value.as_str().map(str::len).is_some_and(|length| Some(length) == limit))
    };
    if let Some(call) = on_wire(place, span).filter(|(input, output, _)| !at_limit(input) && !at_limit(output)) {
        return Ok(call.2);
    }
    let talk = first_readable(span, &fields::INPUT, &at_limit, Talk::asked);
    let talk =
        talk.or_else(|lack| of_events(span, false).map_or(Err(lack), |events| Talk::asked(&events).map_err(Lack::of)));
    let talk = talk.or_else(|lack| elsewhere(span, lack, &ASKED, &ANSWERED, Talk::asked));
    // An answer with parts says more than a text, which may be what a tool made of it.
    let answer = first_readable(span, &fields::OUTPUT, &at_limit, told_answer);
    let answer = answer
        .or_else(|lack| of_events(span, true).map_or(Err(lack), |events| answered(&events).map_err(Lack::of_answer)));
    let answer =
        answer.or_else(|lack| answer_in_parts(span).map_or(Err(lack), |answer| answer.map_err(Lack::of_answer)));
    let answer = answer
        .or_else(|lack| first_readable(span, &fields::OUTPUT, &at_limit, answered).map_err(|other| lack.worse(other)));
    let answer = answer.or_else(|lack| elsewhere(span, lack, &ANSWERED, &ASKED, answered));
    let (talk, answer) = match (talk, answer) {
        (Ok(talk), Ok(answer)) => (talk, answer),
        (Err(lack), Err(other)) => return Err(lack.worse(other.in_answer())),
        (Err(lack), _) => return Err(lack),
        (_, Err(lack)) => return Err(lack.in_answer()),
    };
    if answer.blocks.is_empty() {
        return Err(Lack::NoAnswer);
    }
    let mut call = ModelCall { span: place, messages: talk.messages(), answer, ..ModelCall::default() };
    // Some frameworks write the messages after they have added the answer.
    let said = call.answer.to_message();
    let is_answer = |last: &Message| last.content == said.content && last.tool_calls == said.tool_calls;
    if call.messages.last().is_some_and(|last| last.kind == "ai" && is_answer(last)) {
        call.messages.pop();
    }
    call.system =
        fields::SYSTEM.iter().find_map(|name| system_of(span.fields.get(*name)?)).unwrap_or_else(|| talk.system_text());
    call.tools = if talk.tools.is_empty() { tools(span) } else { talk.tools };
    let said = fields::CONTINUES.iter().find_map(|name| span.text(name)).map(str::to_owned).or(talk.continues);
    let said = said.map(|id| (id, true));
    call.continues = said.or_else(|| span.text(fields::CONVERSATION_ID).map(|id| (id.to_owned(), false)));
    complete(&mut call, span);
    let finishes = [call.answer.finish.clone(), finish(span)];
    if finishes.contains(&Some(Finish::ToolCalls)) && call.answer.tool_calls().is_empty() {
        return Err(Lack::Conflict("its answer ended with tool calls, but the span holds none".to_owned()));
    }
    let choices = fields::CHOICES.iter().find_map(|name| number(span.fields.get(*name)));
    if choices.is_some_and(|choices| choices > 1) && call.answer.tool_calls().len() > 1 {
        return Err(Lack::Conflict("it asked for several choices, and which calls are of one is not in it".to_owned()));
    }
    Ok(call)
}

/// Whether a span that does not say what it is about may be a model call.
fn may_be_call(span: &Span) -> bool {
    let has = |name: &&str| span.fields.contains_key(*name) || span.is_flattened(name);
    span.first_text(&fields::MODEL).is_some() || fields::ONLY_OF_CALLS.iter().any(has)
}

/// What the attributes of a span say about its answer, where the answer itself does not.
fn complete(call: &mut ModelCall, span: &Span) {
    let answer = &mut call.answer;
    let text = |names: &[&str]| span.first_text(names).map(str::to_owned);
    call.model =
        if call.model.is_empty() { text(&fields::MODEL).unwrap_or_default() } else { std::mem::take(&mut call.model) };
    answer.id = answer.id.take().or_else(|| text(&fields::RESPONSE_ID));
    answer.model = answer
        .model
        .take()
        // What was asked for may be another's name for it; a replay then says what its own call asks for.
        .or_else(|| text(&fields::ANSWERED_BY));
    answer.finish = answer.finish.take().or_else(|| finish(span));
    let calls = answer.blocks.iter().any(|block| matches!(block, Block::ToolCall(_)));
    if answer.finish.is_none() || calls && answer.finish == Some(Finish::Stop) {
        answer.finish = Some(if calls { Finish::ToolCalls } else { Finish::Stop });
    }
    answer.usage = answer.usage.take().or_else(|| usage(span));
    // Results name the call that they are of.
    let calls = answer.blocks.iter_mut().filter_map(|block| match block {
        Block::ToolCall(call) => Some(call),
        _ => None,
    });
    for (number, call) in calls.enumerate().filter(|(_, call)| call.id.is_empty()) {
        call.id = format!("call_{}_{}", span.id, number + 1);
    }
}

/// Why the answer ended, as the attributes say. If one of several choices called tools, it is that.
fn finish(span: &Span) -> Option<Finish> {
    let words = fields::FINISH.iter().find_map(|name| match opened(span.fields.get(*name)?) {
        Opened::Json(Json::Array(words)) => Some(words.iter().filter_map(Json::as_str).map(finish_of).collect()),
        Opened::Text(word) => Some(vec![finish_of(&word)]),
        _ => None,
    });
    let words: Vec<Finish> = words?;
    words.iter().find(|word| **word == Finish::ToolCalls).or(words.first()).cloned()
}

/// The tokens that a span reports.
pub(super) fn usage(span: &Span) -> Option<Usage> {
    let count = |names: &[&str]| names.iter().find_map(|name| number(span.fields.get(*name)));
    let [input, output, cached, cache_written, reasoning] = fields::TOKENS.map(count);
    (input.is_some() || output.is_some()).then(|| Usage {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cached: cached.unwrap_or(0),
        cache_written: cache_written.unwrap_or(0),
        reasoning: reasoning.unwrap_or(0),
    })
}

/// The provider's own request and response, and the call that they make. The attributes that hold them come first.
fn on_wire(place: usize, span: &Span) -> Option<(&'static str, &'static str, ModelCall)> {
    let json = |name: &str| match opened(span.fields.get(name)?) {
        Opened::Json(json @ Json::Object(_)) => Some(json),
        _ => None,
    };
    fields::WIRES.iter().find_map(|(input, output)| {
        let (request, response) = (json(input)?, json(output)?);
        let model = request.str_of("model")?.to_owned();
        // Each of these APIs says why an answer ended; a library's own spelling of a response is not what the provider sent.
        let (api, answer) = of_provider(&response).filter(|(_, answer)| answer.finish.is_some())?;
        let path = match api {
            Api::OpenAiChat => "/v1/chat/completions".to_owned(),
            Api::OpenAiResponses => "/v1/responses".to_owned(),
            Api::Anthropic => "/v1/messages".to_owned(),
            Api::Gemini => format!("/v1beta/models/{model}:generateContent"),
            Api::Ollama => "/api/chat".to_owned(),
            Api::Opaque => return None,
        };
        let call = wire::decode(api, Target::from(path.as_str()), &request, &Known::default()).ok()?;
        let hidden = |message: &Message| message.content.as_str().is_some_and(|text| whole(text).is_err());
        if call.messages.iter().all(|message| message.kind == "system")
            || call.messages.iter().any(|message| hidden(message))
        {
            return None;
        }
        // The order of keys and the spelling of numbers are those of the text, if the attribute is one.
        let text = span.fields.get(*output).and_then(Json::as_str);
        let response = match text.and_then(retake_core::json::JsonText::of) {
            Some(text) => Response::of(200, "application/json", wire::Body::Json(text)),
            None => Response::json(200, response),
        };
        let system = call.system.clone();
        let tools = call.tools.as_array().unwrap_or_default().to_vec();
        let continues = request.str_of("previous_response_id").map(|id| (id.to_owned(), true));
        let on_wire = Some(OnWire { api, path, request, response });
        let (messages, notes, caller) = (call.messages.into_iter().map(Message::from).collect(), Vec::new(), None);
        let mut call =
            ModelCall { span: place, messages, system, tools, model, answer, wire: on_wire, continues, caller, notes };
        let answer = call.answer.clone();
        complete(&mut call, span);
        Some((*input, *output, ModelCall { answer, ..call }))
    })
}

/// Reads the first of these attributes that can be read. If none can, returns the most telling reason.
fn first_readable<T>(
    span: &Span,
    names: &[&str],
    at_limit: &impl Fn(&str) -> bool,
    read: impl Fn(&Json) -> Result<T, Unread>,
) -> Result<T, Lack> {
    let mut lack = Lack::Nothing;
    for name in names {
        let found = match span.value(name) {
            Ok(None) => continue,
            Ok(Some(_)) if span.dropped > 0 && span.is_flattened(name) => Err(Lack::Dropped(span.dropped)),
            Ok(Some(_)) if at_limit(name) => Err(Lack::Cut),
            // A text that its span calls a text is not JSON, whatever it holds.
            Ok(Some(text @ Json::Str(_))) if is_plain(span, name) => read(&Json::Array(vec![text])).map_err(Lack::of),
            Ok(Some(value)) => read(&value).map_err(Lack::of),
            Err(missing) if span.dropped > 0 || span.fields.len() >= fields::USUAL_LIMIT => Err(Lack::Missing(missing)),
            Err(missing) => Err(Lack::Conflict(format!("{missing}, and no attribute was dropped"))),
        };
        match found {
            Ok(read) => return Ok(read),
            Err(other) => lack = lack.worse(other),
        }
    }
    Err(lack)
}

/// Whether OpenInference's type beside an output says that it is a plain text.
fn is_plain(span: &Span, name: &str) -> bool {
    name == "output.value" && span.text("output.mime_type") == Some("text/plain")
}

/// Words in the names of attributes that no table lists, by side.
const ASKED: [&str; 3] = ["input", "prompt", "request"];
const ANSWERED: [&str; 3] = ["output", "completion", "response"];

/// Reads another attribute, if the listed ones hold nothing: one that can be read, and whose name says which side it is.
fn elsewhere<T>(
    span: &Span,
    lack: Lack,
    words: &[&str],
    others: &[&str],
    read: impl Fn(&Json) -> Result<T, Unread>,
) -> Result<T, Lack> {
    if lack != Lack::Nothing {
        return Err(lack);
    }
    let has = |name: &str, words: &[&str]| words.iter().any(|word| name.to_ascii_lowercase().contains(word));
    let is_json = |value: &Json| matches!(opened(value), Opened::Json(Json::Array(_) | Json::Object(_)));
    let fits = |(name, value): &(&String, &Json)| has(name, words) && !has(name, others) && is_json(value);
    span.fields.iter().filter(fits).find_map(|(_, value)| read(value).ok()).ok_or(lack)
}

/// The events of a span that are messages, or the answers among them; `None` if there are none.
fn of_events(span: &Span, answers: bool) -> Option<Json> {
    let listed = fields::EVENTS.iter().find_map(|name| match opened(span.fields.get(*name)?) {
        Opened::Json(Json::Array(events)) => Some(events),
        _ => None,
    });
    let events = listed.unwrap_or_else(|| span.events.iter().map(|(_, event)| Json::Object(event.clone())).collect());
    let name_of = |event: &Json| event.str_of("event.name").unwrap_or_default().to_owned();
    let is_message = |event: &Json| name_of(event).starts_with("gen_ai.") && name_of(event).ends_with(".message");
    let is_wanted = |event: &&Json| if answers { name_of(event) == "gen_ai.choice" } else { is_message(event) };
    let found: Vec<Json> = events.iter().filter(is_wanted).cloned().collect();
    (!found.is_empty()).then_some(Json::Array(found))
}

fn answer_in_parts(span: &Span) -> Option<Result<Answer, Unread>> {
    fields::ANSWER_IN_PARTS.iter().find_map(|(text, calls, reasoning)| {
        let calls = match opened(span.fields.get(*calls).unwrap_or(&Json::Null)) {
            Opened::Json(Json::Array(calls)) => Said::of_pieces(&calls).ok().flatten(),
            Opened::Cut => return Some(Err(Unread::Cut)),
            _ => None,
        };
        let text = span.text(text).map(|text| whole(text).map(str::to_owned));
        let reasoning = span.text(reasoning).map(|text| Block::Reasoning(text.to_owned()));
        if text.is_none() && calls.is_none() {
            return None;
        }
        Some(text.transpose().map(|text| {
            let said = calls.map(|said| said.blocks).unwrap_or_default();
            Answer {
                blocks: reasoning.into_iter().chain(text.map(Block::Text)).chain(said).collect(),
                ..Answer::default()
            }
        }))
    })
}

/// The definitions of tools in a span's own attributes.
fn tools(span: &Span) -> Vec<Json> {
    let listed = |value: Json| match opened(&value) {
        Opened::Json(Json::Array(tools)) => Some(tools),
        Opened::Json(object) => Some(object.get("function_tools").and_then(Json::as_array)?.to_vec()),
        _ => None,
    };
    let tools = fields::TOOLS.iter().find_map(|name| listed(span.value(name).ok()??)).unwrap_or_default();
    let definition = |tool: Json| {
        // OpenInference wraps each; AI SDK makes texts of them.
        let inner = tool.pointer("/tool/json_schema").or_else(|| tool.get("json_schema")).unwrap_or(&tool);
        match opened(inner) {
            Opened::Json(json) => json,
            _ => tool,
        }
    };
    tools.into_iter().map(definition).collect()
}

fn has_any(span: &Span, names: &[&str]) -> bool {
    names.iter().any(|name| matches!(span.value(name), Ok(Some(_))))
}

/// The calls of an agent's span that holds its whole conversation: each answer is one.
fn whole_conversation(place: usize, span: &Span) -> Option<Vec<ModelCall>> {
    let value = fields::CONVERSATION.iter().find_map(|name| span.fields.get(*name))?;
    let talk = Talk::asked(value).ok()?;
    let is_answer = |said: &Said| said.role == "ai";
    let answers = talk.said.iter().enumerate().filter(|(at, said)| is_answer(said) && *at > 0);
    let call = |(at, said): (usize, &Said)| {
        let before = Talk { said: talk.said[..at].to_vec(), ..Talk::default() };
        let answer =
            Answer { blocks: said.blocks.clone(), finish: said.finish.as_deref().map(finish_of), ..Answer::default() };
        let mut call = ModelCall {
            span: place,
            messages: before.messages(),
            system: talk.system_text(),
            answer,
            ..ModelCall::default()
        };
        complete(&mut call, span);
        call.answer.usage = None;
        call.notes.push("read from the conversation of its agent, since no span of its own holds it".to_owned());
        call
    };
    Some(answers.map(call).collect())
}
