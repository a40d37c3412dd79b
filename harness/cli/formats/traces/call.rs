//! Finds the model calls of a trace, and reads each: what it was asked, what it answered, and who made it.

use std::collections::{BTreeSet, HashMap, HashSet};

use retake_core::conversation::{Answer, Block, Finish, Message, Usage};
use retake_core::json::{Json, JsonText};
use retake_wire::{self as wire, Api, Known, Response, Target};

use super::fields::{self, KINDS, Kind, TABLES, Table};
use super::lack::{Lack, Refused};
use super::message::whole;
use super::span::{Span, names, opened};
use super::talk::{Side, Talk, finish_of, of_provider, system_of, system_text};

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
    /// The provider's API, the path of the call, its request and its response, if the span holds them.
    pub(super) wire: Option<(Api, String, Json, Response)>,
    /// The earlier answer that the call continues, and whether the call says so itself.
    pub(super) continues: Option<(String, bool)>,
    pub(super) caller: Option<String>,
    pub(super) notes: Vec<String>,
}

/// The calls of a trace by their start, and what could not be read.
pub(super) fn calls(spans: &[Span]) -> (Vec<ModelCall>, Vec<Refused>) {
    let parents = parents(spans);
    let ancestors = |place: usize| around(&parents, place);
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by_cached_key(|place| std::cmp::Reverse(ancestors(*place).count()));
    let limit = length_limit(spans);
    let tools = (0..spans.len()).filter(|place| kind(&spans[*place]) == Some(Kind::Tool));
    let with_tools: HashSet<usize> = tools.flat_map(ancestors).collect();
    let (mut read, mut covered): (Vec<(usize, Result<ModelCall, Lack>)>, _) = (Vec::new(), HashSet::new());
    // A span around other calls repeats them: what an agent, or a library around another, was asked.
    for place in order {
        if covered.contains(&place) {
            continue;
        }
        let span = &spans[place];
        let call = || call(place, span, limit);
        let calls = match kind(span) {
            // A text that was said after tools had run within the span is the end of several calls.
            Some(Kind::Model) => match call() {
                Ok(call) if with_tools.contains(&place) && call.answer.tool_calls().is_empty() => {
                    vec![Err(Lack::Steps)]
                }
                read => vec![read],
            },
            // One that does not say what it is about is a call if it names a model, and holds messages.
            None if span.first_text(fields::MODEL).is_some() => match call() {
                Err(Lack::Nothing | Lack::NoRoles) => whole_conversation(place, span),
                read => vec![read],
            },
            _ => whole_conversation(place, span),
        };
        if calls.iter().any(Result::is_ok) {
            covered.extend(ancestors(place));
        }
        read.extend(calls.into_iter().map(|call| (place, call)));
    }
    read.sort_by_key(|(place, _)| *place);
    // Two libraries may tell of one call: what is nearer to the provider is what was sent. One of them may have no content, or both
    // say that the call failed.
    let is_told = |(place, own): &(usize, Result<ModelCall, Lack>)| {
        let span = &spans[*place];
        read.iter().any(|(at, other)| {
            let (near, is_around) = (&spans[*at], ancestors(*place).any(|it| it == *at));
            match (own, other) {
                (Ok(own), Ok(other)) => is_within(near, span) && are_one_answer(&other.answer, &own.answer),
                (Err(_), Ok(_)) if is_around => true,
                (Err(Lack::Failed(_)), Err(Lack::Failed(_))) | (Err(Lack::Nothing), Err(Lack::Nothing)) => {
                    is_around || is_within(span, near)
                }
                (Err(lack @ (Lack::Nothing | Lack::NoAnswer)), other) => {
                    other.as_ref().err().is_none_or(|other| other > lack) && are_one_call(near, span)
                }
                _ => false,
            }
        })
    };
    let kept = || read.iter().filter(|read| !is_told(read));
    let refused = kept().filter_map(|(place, read)| Some(Refused::of(&spans[*place], read.as_ref().err()?.clone())));
    (kept().filter_map(|(_, read)| read.as_ref().ok().cloned()).collect(), refused.collect())
}

/// Whether two spans tell of one call: they name the same answer or count the same tokens at the same time, or are Logfire's of a
/// stream, with the same request.
fn are_one_call(one: &Span, other: &Span) -> bool {
    let same = |name: &str| one.fields.get(name) == other.fields.get(name);
    let id = one.first_text(fields::RESPONSE_ID);
    let same_id = id.is_some() && id == other.first_text(fields::RESPONSE_ID);
    let same_usage = usage(one).is_some_and(|tokens| usage(other) == Some(tokens));
    let same_request = one.fields.contains_key("request_data") && same("request_data") && same("gen_ai.input.messages");
    let at_once = one.start <= other.end && other.start <= one.end;
    same_request || same_id && (at_once || !same("otel.scope.name")) || at_once && same_usage
}

/// Whether one span is within the time of another one, which another library wrote.
fn is_within(near: &Span, far: &Span) -> bool {
    let longer = near.end - near.start.min(near.end) < far.end - far.start.min(far.end);
    let other = near.fields.get("otel.scope.name") != far.fields.get("otel.scope.name");
    other && longer && near.trace == far.trace && far.start <= near.start && near.end <= far.end
}

/// Whether two answers say and call the same.
fn are_one_answer(one: &Answer, other: &Answer) -> bool {
    let (one, other) = (one.to_message(), other.to_message());
    let called =
        |said: &Message| said.tool_calls.iter().map(|call| (call.name.clone(), call.args.clone())).collect::<Vec<_>>();
    one.content == other.content && called(&one) == called(&other)
}

/// The place of each span's parent; `None` if it has none, or the parent is not in the trace.
pub(super) fn parents(spans: &[Span]) -> Vec<Option<usize>> {
    let places: HashMap<&str, usize> = spans.iter().enumerate().map(|(at, span)| (span.id.as_str(), at)).collect();
    let parent = |(place, span): (usize, &Span)| places.get(span.parent.as_str()).copied().filter(|at| *at != place);
    spans.iter().enumerate().map(parent).collect()
}

/// The spans around one, from the nearest on. In damaged traces they may go in a circle.
pub(super) fn around(parents: &[Option<usize>], place: usize) -> impl Iterator<Item = usize> + '_ {
    std::iter::successors(parents[place], |at| parents[*at]).take(1000)
}

/// What a span says that it is about; `None` if it does not say.
pub(super) fn kind(span: &Span) -> Option<Kind> {
    let of_table = |table: &Table| {
        names(table.kind).find_map(|name| {
            // Some exporters write each value as JSON.
            let value = span.text(name)?.trim_matches('"').to_ascii_lowercase();
            let fits = |word: &str| word.strip_prefix('*').map_or(value == word, |end| value.ends_with(end));
            table.words.iter().zip(KINDS).find(|(words, _)| names(words).any(fits)).map(|(_, kind)| kind)
        })
    };
    TABLES.iter().find_map(of_table).or_else(|| span.text("gen_ai.tool.name").map(|_| Kind::Tool))
}

/// The length in characters at which the exporter cut texts: the longest, if several different texts have exactly that length, and
/// one is cut JSON or the length is one that people set as a limit.
fn length_limit(spans: &[Span]) -> Option<usize> {
    let texts = spans.iter().flat_map(|span| span.fields.values()).filter_map(Json::as_str);
    let length = |text: &str| text.chars().count();
    let longest = texts.clone().map(length).max()?;
    let is_usual = longest >= 128 && longest.is_power_of_two() || longest >= 1000 && longest % 1000 == 0;
    let different: HashSet<&str> = texts.filter(|text| length(text) == longest).collect();
    let is_cut = |text: &&str| opened(&(*text).into()).is_err();
    (different.len() > 1 && (is_usual || different.iter().any(is_cut))).then_some(longest)
}

fn call(place: usize, span: &Span, limit: Option<usize>) -> Result<ModelCall, Lack> {
    let at_limit = |name: &str| {
        let mut of_name = span.fields.range(name.to_owned()..).take_while(|(key, _)| key.starts_with(name));
        of_name.any(|(_, value)| value.as_str().is_some_and(|text| Some(text.chars().count()) == limit))
    };
    if let Some(call) = on_wire(place, span, &at_limit) {
        return Ok(call);
    }
    let choices = span.count(fields::CHOICES).or_else(|| setting(span, "n")?.as_u64()).unwrap_or(1);
    let answered = read(span, Side::Answered, &at_limit).and_then(|talk| match &talk.said[..] {
        // The service went on with the first.
        [first, _, ..] if choices > 1 && talk.said.iter().all(|said| said.calls().next().is_none()) => {
            Talk::answer(std::slice::from_ref(first))
        }
        _ => Ok(talk.answer.unwrap_or_default()),
    });
    let answered = answered.and_then(|answer| if answer.blocks.is_empty() { Err(Lack::NoAnswer) } else { Ok(answer) });
    if let (Some(failed), Err(Lack::Nothing | Lack::NoAnswer | Lack::NoRoles)) = (&span.failed, &answered) {
        let lost = "and what the provider answered is not in the span";
        return Err(Lack::Failed(format!("the call failed ({failed}), {lost}")));
    }
    let (talk, answer) = match (read(span, Side::Asked, &at_limit), answered) {
        (Ok(talk), Ok(answer)) => (talk, answer),
        (Err(lack), Err(other)) => return Err(lack.worse(other.in_answer())),
        (Err(Lack::Nothing), Ok(_)) => return Err(Lack::NotAsked),
        (Err(lack), _) => return Err(lack),
        (_, Err(lack)) => return Err(lack.in_answer()),
    };
    let mut call = ModelCall { span: place, messages: talk.messages(), answer, ..ModelCall::default() };
    // Some frameworks write the messages after they have added the answer.
    let said = call.answer.to_message();
    let is_answer = |last: &Message| last.content == said.content && last.tool_calls == said.tool_calls;
    if call.messages.last().is_some_and(|last| last.kind == "ai" && is_answer(last)) {
        call.messages.pop();
    }
    let system = names(fields::SYSTEM).find_map(|name| system_of(span.fields.get(name)?));
    let beside = Some(talk.system.join("\n\n")).filter(|beside| !beside.is_empty());
    call.system = system.or(beside).unwrap_or_else(|| system_text(&call.messages));
    call.tools = if talk.tools.is_empty() { tools(span) } else { talk.tools };
    let continues = span.first_text(fields::CONTINUES).map(str::to_owned).or(talk.continues).map(|id| (id, true));
    call.continues = continues.or_else(|| span.text(fields::CONVERSATION_ID).map(|id| (id.to_owned(), false)));
    let finishes = [call.answer.finish.clone(), finish(span)];
    let is_whole = finishes.iter().any(Option::is_some);
    complete(&mut call, span);
    let calls = call.answer.tool_calls().len();
    let conflict = if let (Some(failed), false) = (&span.failed, is_whole) {
        format!("the call failed ({failed}), and nothing says that the answer in its span is whole")
    } else if !is_whole && is_streamed(span) || finishes.contains(&Some(Finish::Other("error".to_owned()))) {
        "nothing in it says why its answer ended, so its stream broke off, or the service left it".to_owned()
    } else if finishes.contains(&Some(Finish::ToolCalls)) && calls == 0 {
        "its answer ended with tool calls, but the span holds none".to_owned()
    } else if choices > 1 && calls > 1 {
        "it asked for several choices, and which calls are of one is not in it".to_owned()
    } else {
        return Ok(call);
    };
    Err(Lack::Conflict(conflict))
}

/// Whether a span says that its answer was a stream, of which what came to its end says why it ended.
fn is_streamed(span: &Span) -> bool {
    let is_true =
        |said: &Json| *said == Json::Bool(true) || said.as_str().is_some_and(|it| it.eq_ignore_ascii_case("true"));
    let says = names(fields::STREAM).filter_map(|name| span.fields.get(name)).any(is_true);
    // LangChain's callbacks do not pass the reason on to Langfuse. Logfire's is the log of the end.
    let is_timed = span.text(fields::FIRST_TOKEN).is_some() && !span.fields.contains_key(fields::NO_REASON);
    says || is_timed
        || span.text("logfire.span_type") == Some("log")
        || setting(span, "stream") == Some(Json::Bool(true))
}

/// What a call asked for beside its messages.
fn setting(span: &Span, name: &str) -> Option<Json> {
    names(fields::SETTINGS).find_map(|settings| span.opened(settings)?.get(name).cloned())
}

/// What the attributes of a span say about its answer, where the answer itself does not.
fn complete(call: &mut ModelCall, span: &Span) {
    let answer = &mut call.answer;
    let text = |names: &str| span.first_text(names).map(str::to_owned);
    if call.model.is_empty() {
        call.model = text(fields::MODEL).unwrap_or_default();
    }
    answer.id = answer.id.take().or_else(|| text(fields::RESPONSE_ID));
    // What was asked for may be another's name for it; a replay then says what its own call asks for.
    answer.model = answer.model.take().or_else(|| text(fields::ANSWERED_BY));
    answer.finish = answer.finish.take().or_else(|| finish(span));
    answer.usage = answer.usage.take().or_else(|| usage(span));
    // Results name the call that they are of.
    let (mut number, mut ids) = (0, HashSet::new());
    for block in &mut answer.blocks {
        let Block::ToolCall(call) = block else { continue };
        number += 1;
        if call.id.is_empty() || !ids.insert(call.id.clone()) {
            call.id = format!("call_{}_{number}", span.id);
        }
    }
    if answer.finish.is_none() || number > 0 && answer.finish == Some(Finish::Stop) {
        answer.finish = Some(if number > 0 { Finish::ToolCalls } else { Finish::Stop });
    }
}

/// Why the answer ended, as the attributes say. If one of several choices called tools, it is that.
fn finish(span: &Span) -> Option<Finish> {
    let held = span.opened(fields::FINISH)?;
    let words = held.as_array().unwrap_or(std::slice::from_ref(&held)).iter().filter_map(Json::as_str);
    let words: Vec<Finish> = words.filter(|word| !word.trim().is_empty()).map(finish_of).collect();
    words.iter().find(|word| **word == Finish::ToolCalls).or(words.first()).cloned()
}

/// The tokens that a span reports.
fn usage(span: &Span) -> Option<Usage> {
    let counts = fields::TOKENS.map(|names| span.count(names));
    let [input, output, cached, cache_written, reasoning] = counts.map(Option::unwrap_or_default);
    let has_counts = counts[..2].iter().any(Option::is_some);
    has_counts.then_some(Usage { input, output, cached, cache_written, reasoning })
}

/// The call that the provider's own request and response make.
fn on_wire(place: usize, span: &Span, at_limit: &impl Fn(&str) -> bool) -> Option<ModelCall> {
    let json = |name: &str| span.opened(name).filter(|json| json.as_object().is_some() && !at_limit(name));
    let (request, response, output) =
        fields::WIRES.iter().find_map(|(input, output)| Some((json(input)?, json(output)?, *output)))?;
    let model = request.str_of("model")?.to_owned();
    // Each of these APIs says why an answer ended; a library's own spelling of a response is not what the provider sent.
    let (api, path, answer) = of_provider(&response).filter(|(.., answer)| answer.finish.is_some())?;
    let path = path.replace("{model}", &model);
    let call = wire::decode(api, Target::from(path.as_str()), &request, &Known::default()).ok()?;
    let messages: Vec<Message> = call.messages.into_iter().map(std::sync::Arc::unwrap_or_clone).collect();
    let is_hidden = |message: &Message| message.content.as_str().is_some_and(|text| whole(text).is_err());
    if messages.iter().all(|message| message.kind == "system") || messages.iter().any(is_hidden) {
        return None;
    }
    // The order of keys and the spelling of numbers are those of the text, if the attribute is one.
    let text = span.fields.get(output).and_then(Json::as_str).and_then(JsonText::of);
    let of_text = |text| Response::of(200, "application/json", wire::Body::Json(text));
    let response = text.map_or_else(|| Response::json(200, response), of_text);
    Some(ModelCall {
        span: place,
        messages,
        system: call.system,
        tools: call.tools.as_array().unwrap_or_default().to_vec(),
        model,
        answer,
        continues: request.str_of("previous_response_id").map(|id| (id.to_owned(), true)),
        wire: Some((api, path, request, response)),
        ..ModelCall::default()
    })
}

/// Reads one side of a call: from the attributes of each convention, then from the events, then from the parts of an answer. If none
/// can be read, returns the most telling reason. An answer that says that it is one comes before a text, which may be what a tool
/// made of it.
fn read(span: &Span, side: Side, at_limit: &impl Fn(&str) -> bool) -> Result<Talk, Lack> {
    let (mut lack, mut text, mut told) = (Lack::Nothing, None, None::<Talk>);
    for name in TABLES.iter().flat_map(|table| names(if side == Side::Asked { table.asked } else { table.answered })) {
        let found = match span.value(name) {
            Ok(None) => continue,
            // LangSmith's exporter leaves this where it hides something.
            Ok(Some(Json::Str(empty))) if matches!(empty.trim(), "{}" | "[]" | "null") => continue,
            Ok(_) | Err(_) if span.dropped > 0 && span.is_flattened(name) => Err(Lack::Dropped(format!(
                "{} of its attributes were dropped, and each message is several",
                span.dropped
            ))),
            Ok(Some(_)) if at_limit(name) => Err(Lack::Cut),
            // A text that OpenInference calls a text is not JSON, whatever it holds.
            Ok(Some(plain)) if name == "output.value" && span.text("output.mime_type") == Some("text/plain") => {
                Talk::read(&Json::Array(vec![plain]), side)
            }
            Ok(Some(value)) => Talk::read(&value, side),
            Err(missing) if span.fields.len() >= fields::USUAL_LIMIT => {
                Err(Lack::Dropped(format!("attributes were dropped: {missing}")))
            }
            Err(missing) => Err(Lack::Conflict(format!("{missing}, and no attribute was dropped"))),
        };
        match (found, &mut told) {
            // LiteLLM writes the text to one attribute and the calls to another.
            (Ok(talk), Some(told)) if talk.told => told.add_half(talk),
            (Ok(talk), None) if talk.told => told = Some(talk),
            (Ok(talk), _) => text = text.or(Some(talk)),
            (Err(other), _) => lack = lack.worse(other),
        }
    }
    let apart = || of_events(span, side).or_else(|| in_parts(span).filter(|_| side == Side::Answered));
    match told.map(Ok).or_else(|| Some(Talk::read(&apart()?, side))) {
        Some(Ok(talk)) => Ok(talk),
        Some(Err(unread)) => text.ok_or(lack.worse(unread)),
        None => text.ok_or(lack),
    }
}

/// The events of a span that are messages, or the answers among them; `None` if there are none. Logfire's are an attribute.
fn of_events(span: &Span, side: Side) -> Option<Json> {
    let listed = match span.opened("events") {
        Some(Json::Array(events)) => events,
        _ => span.events.iter().map(|(_, event)| Json::Object(event.clone())).collect(),
    };
    let is_wanted = |event: &Json| {
        let name = event.str_of("event.name").unwrap_or_default();
        match side {
            Side::Asked => name.starts_with("gen_ai.") && name.ends_with(".message"),
            Side::Answered => name == "gen_ai.choice",
        }
    };
    let found: Vec<Json> = listed.into_iter().filter(is_wanted).collect();
    (!found.is_empty()).then_some(Json::Array(found))
}

/// The message of an answer whose text and tool calls are attributes of their own.
fn in_parts(span: &Span) -> Option<Json> {
    let is_none = |calls: &Json| opened(calls).is_ok_and(|calls| !calls.is_truthy());
    fields::PARTS.into_iter().find_map(|[text, calls, reasoning]| {
        let text = span.text(text).map(|text| ("content", text.into()));
        let calls = span.fields.get(calls).filter(|calls| !is_none(calls)).map(|calls| ("tool_calls", calls.clone()));
        let reasoning = span.text(reasoning).unwrap_or_default().into();
        let said = [("role", "assistant".into()), ("reasoning", reasoning)];
        (text.is_some() || calls.is_some()).then(|| Json::object(said.into_iter().chain(text).chain(calls)))
    })
}

/// The definitions of tools in a span's own attributes.
fn tools(span: &Span) -> Vec<Json> {
    let listed = |name| {
        let held = opened(&span.value(name).ok()??).ok()?;
        Some(held.get("function_tools").unwrap_or(&held).as_array()?.to_vec())
    };
    // OpenInference wraps each; AI SDK makes texts of them.
    let inner = |tool: &Json| tool.pointer("/tool/json_schema").or_else(|| tool.get("json_schema")).cloned();
    let definition = |tool: Json| opened(&inner(&tool).unwrap_or_else(|| tool.clone())).unwrap_or(tool);
    names(fields::TOOLS).find_map(listed).unwrap_or_default().into_iter().map(definition).collect()
}

/// The calls of an agent's span that holds its whole conversation: each answer is one.
fn whole_conversation(place: usize, span: &Span) -> Vec<Result<ModelCall, Lack>> {
    let talk = names(fields::CONVERSATION).find_map(|name| Talk::read(span.fields.get(name)?, Side::Asked).ok());
    let said = talk.unwrap_or_default().said;
    let call = |at: usize| {
        let answer = Talk::answer(&said[at..=at]).ok()?;
        let messages = Talk { said: said[..at].to_vec(), ..Talk::default() }.messages();
        let mut call =
            ModelCall { span: place, system: system_text(&messages), messages, answer, ..ModelCall::default() };
        complete(&mut call, span);
        call.answer.usage = None;
        call.notes.push("read from the conversation of its agent, since no span of its own holds it".to_owned());
        Some(Ok(call))
    };
    (1..said.len()).filter_map(call).collect()
}

/// Names the callers of the calls of a trace, if there are several.
pub(super) fn name_callers(calls: &mut [ModelCall], spans: &[Span]) {
    let parents = parents(spans);
    let named: Vec<Option<String>> = calls.iter().map(|call| caller_of(call.span, spans, &parents)).collect();
    if named.iter().flatten().collect::<BTreeSet<_>>().len() > 1 {
        calls.iter_mut().zip(named).for_each(|(call, name)| call.caller = name);
    }
}

/// The name on the span itself or on the nearest span around it.
fn caller_of(place: usize, spans: &[Span], parents: &[Option<usize>]) -> Option<String> {
    let name = |at: usize| {
        let span = &spans[at];
        let agent = || (at != place && kind(span) == Some(Kind::Agent)).then_some(span.name.as_str());
        span.first_text(fields::CALLER).or_else(agent).filter(|name| !name.trim().is_empty()).map(str::to_owned)
    };
    std::iter::once(place).chain(around(parents, place)).find_map(name)
}
