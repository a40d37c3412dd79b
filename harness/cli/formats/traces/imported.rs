//! Makes a fixture of the calls of traces.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::time::Duration;

use super::call::ModelCall;
use super::lack::{Lack, Refused};
use super::redact::Redactor;
use super::span::{Span, by_trace};
use super::{call, chain, fields, tools};
use crate::formats::openhands::text_of;
use retake::__private::report::table;
use retake_base::error::{Error, Result};
use retake_base::text::{clipped, counted, nth_turn};
use retake_core::conversation::{Block, Message};
use retake_core::json::{Json, Layout};
use retake_core::key::{Check, Rules};
use retake_core::secrets::{Fired, Scrub};
use retake_model::{RecordedCalls, caller_rule};
use retake_wire::fixture::{Fixture, Recorded, Texts, Wire};
use retake_wire::{self as wire, Known, Target};
use time::OffsetDateTime;

/// The traces of files, or of what a receiver got.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    pub(super) all: Vec<Vec<Span>>,
    pub(crate) notes: Vec<String>,
    fired: Fired,
}

/// A fixture made of traces, and what a person should know about it.
pub(crate) struct Taken {
    pub(crate) fixture: Fixture,
    pub(crate) refused: Vec<Refused>,
    pub(crate) notes: Vec<String>,
    /// The `[[callers]]` rules that the replayed service needs; empty if its calls have one caller.
    pub(crate) rules: Vec<String>,
    /// The first message of the user.
    pub(crate) prompt: Option<String>,
    /// The request that started the trace: method, path and body.
    pub(crate) request: Option<(String, String, Option<Json>)>,
}

impl Traces {
    /// Without what is replaced by stand-ins, and without secrets.
    pub(crate) fn of_spans(mut spans: Vec<Span>, redactor: &mut Redactor, scrub: &Scrub) -> Traces {
        let (mut fired, mut notes, mut known) = (Fired::new(), Vec::new(), HashSet::new());
        let before = spans.len();
        // Exporters that try again send spans twice.
        spans.retain(|span| known.insert((span.trace.clone(), span.id.clone())));
        if spans.len() < before {
            notes.push(format!("{} came twice and were read once", counted(before - spans.len(), "span")));
        }
        for span in &mut spans {
            span.events.sort_by_key(|(time, _)| *time);
            let of_events = span.events.iter_mut().flat_map(|(_, event)| event.iter_mut().map(|(_, value)| value));
            for value in span.fields.values_mut().chain(of_events) {
                redactor.json(value);
                scrub.json(value, &mut fired);
            }
        }
        Traces { all: by_trace(spans), notes, fired }
    }

    /// The spans of the traces with these ids, or beginnings of ids; of all traces if none is named.
    /// Fails if an id names no trace, or several.
    fn chosen(&self, ids: &[String]) -> Result<Vec<Span>> {
        let mut spans = if ids.is_empty() { self.all.concat() } else { Vec::new() };
        for id in ids {
            let unclear = |what: String| Err(Error::new(what).help("to see the traces: --list"));
            let found: Vec<_> = self.all.iter().filter(|trace| trace[0].trace.starts_with(id.as_str())).collect();
            match (found.iter().find(|trace| trace[0].trace == *id), &found[..]) {
                (Some(trace), _) | (None, [trace]) => spans.extend_from_slice(trace),
                (None, []) => return unclear(format!("no trace has the id {id}")),
                (None, _) => return unclear(format!("{} traces begin with {id}", found.len())),
            }
        }
        spans.sort_by_key(|span| span.start);
        Ok(spans)
    }

    /// A line for each trace, under a line of titles: id, time, root span, calls, tokens, models, first words of the user.
    pub(crate) fn list(&self) -> Vec<String> {
        let titles =
            ["trace", "time (UTC)", "root span", "calls", "tokens", "models", "the user says"].map(str::to_owned);
        let mut rows = vec![titles];
        for trace in &self.all {
            let (calls, refused) = call::calls(trace);
            let known: BTreeSet<&str> = trace.iter().map(|span| span.id.as_str()).collect();
            let root = trace.iter().find(|span| !known.contains(span.parent.as_str())).unwrap_or(&trace[0]);
            let tokens: u64 =
                calls.iter().filter_map(|call| call.answer.usage).map(|usage| usage.input + usage.output).sum();
            let named = calls.iter().map(|call| call.model.as_str()).filter(|model| !model.is_empty());
            let of_spans = || trace.iter().filter_map(|span| span.first_text(fields::MODEL));
            let models: BTreeSet<&str> = if calls.is_empty() { of_spans().collect() } else { named.collect() };
            let says = first_said(&calls).map(|message| message.content.python_str()).unwrap_or_default();
            let says = says.split_whitespace().collect::<Vec<_>>().join(" ");
            let refused = if refused.is_empty() { String::new() } else { format!(" (and {} refused)", refused.len()) };
            let time = OffsetDateTime::UNIX_EPOCH + Duration::from_nanos(root.start);
            let (hour, minute, second) = time.to_hms();
            let time = format!("{} {hour:02}:{minute:02}:{second:02}", time.date());
            rows.push([
                root.trace.clone(),
                if root.start == 0 { "-".to_owned() } else { time },
                clipped(&root.name, 30).into_owned(),
                format!("{}{refused}", calls.len()),
                tokens.to_string(),
                models.into_iter().collect::<Vec<_>>().join(", "),
                clipped(&says, 50).into_owned(),
            ]);
        }
        table(&rows)
    }

    /// How many traces hold model calls.
    pub(crate) fn with_calls(&self) -> usize {
        self.all.iter().filter(|trace| !call::calls(trace).0.is_empty()).count()
    }

    /// Makes a fixture of the traces with these ids, or of all.
    /// Fails if an id names no trace, or several.
    pub(crate) fn take(
        &self,
        ids: &[String],
        out: &Path,
        mut notes: BTreeMap<String, Json>,
        rules: &Rules,
    ) -> Result<Taken> {
        let spans = self.chosen(ids)?;
        let (mut calls, mut refused) = call::calls(&spans);
        let mut remarks = Vec::new();
        if spans.iter().any(|span| span.end != 0 && span.end < span.start) {
            let what = "spans end before they begin: the clocks ran back, so the order of turns may be wrong";
            remarks.push(what.to_owned());
        }
        call::name_callers(&mut calls, &spans);
        forget_placeholders(&mut calls);
        let completed = chain::complete(&mut calls);
        let (mut known, mut turns) = (Known::default(), Vec::new());
        let mut kept: Vec<ModelCall> = Vec::new();
        for (call, completed) in calls.into_iter().zip(completed) {
            let span = &spans[call.span];
            match completed.and_then(|()| turn(&call, rules, &mut known).map_err(Lack::Conflict)) {
                Ok(turn) => turns.push(turn),
                Err(lack) => {
                    refused.push(Refused::of(span, lack));
                    continue;
                }
            }
            let dropped = format!("{} of its span's attributes were dropped; the messages are whole", span.dropped);
            let notes = call.notes.iter().chain((span.dropped > 0).then_some(&dropped));
            remarks.extend(notes.map(|note| format!("{}: {note}", nth_turn(kept.len()))));
            kept.push(call);
        }
        let without = (0..kept.len()).filter(|index| kept[*index].wire.is_none());
        let without: Vec<String> = without.map(nth_turn).collect();
        if !without.is_empty() {
            let which = if without.len() == kept.len() { "all turns".to_owned() } else { without.join(", ") };
            let what = "the trace holds no whole request, so prompt, tools, model and settings are not compared";
            remarks.push(format!("{which}: {what}"));
        }
        let (exchanges, of_tools) = tools::exchanges(&spans, &kept);
        remarks.extend(of_tools);
        let prompt = first_said(&kept).map(|message| text_of(&message.content));
        notes.extend(prompt.clone().map(|prompt| ("prompt".to_owned(), prompt.into())));
        let mut fixture = Fixture::of_foreign(out, notes, turns, &exchanges, rules);
        fixture.scrub = Scrub::of_names(self.fired.iter().map(String::as_str), |_| None).map_err(Error::new)?;
        let hole = |refused: &Refused| format!("span {} ({}): {}", refused.span, refused.name, refused.reason);
        fixture.holes = refused.iter().map(hole).collect();
        let (rules, request) = (caller_rules(&kept), request(&spans));
        Ok(Taken { fixture, rules, refused, notes: remarks, prompt, request })
    }
}

/// The turn of a call, after those before it. Fails if replay cannot serve it.
fn turn(call: &ModelCall, rules: &Rules, known: &mut Known) -> Result<Recorded, String> {
    let sent = Rules::none();
    let (mut messages, mut texts, mut wire) = (call.messages.clone(), None, None);
    if let Some((api, path, request, response)) = &call.wire {
        let target = Target::from(path.as_str());
        let decoded = wire::decode(*api, target, request, known).map_err(|e| format!("its request: {e}"))?;
        known.learn(*api, target, request, response);
        // The service's own address may have another version in its path.
        let mut checks: Texts = decoded.checks(&sent.normalizer).0;
        (checks[Check::Form as usize], checks[Check::Dates as usize]) = (None, None);
        texts = Some(checks);
        // Of a stream, a library made the whole that its span holds.
        wire = (!decoded.stream).then(|| Wire::to(*api, response.clone(), false));
        messages = decoded.into_messages();
    }
    let caller = call.caller.as_deref().map(|caller| rules.caller(Some(caller)));
    let (conversation, output) = (sent.canonical(messages), call.answer.clone());
    if conversation.is_empty() {
        return Err("none of its messages has content".to_owned());
    }
    let turn = Recorded { caller, conversation, texts, request: None, output, wire };
    // Whether replay can serve it, and read it.
    let foreign = turn.output.blocks.iter().find(|block| matches!(block, Block::Native(_)));
    if let (Some(Block::Native(native)), None) = (foreign, &turn.wire) {
        let block: String = native.block.print(Layout::Compact).chars().take(60).collect();
        return Err(format!("no API can serve a part of its answer as the trace has it: {block}"));
    }
    let alone = Fixture::of_turns(Path::new(""), BTreeMap::new(), vec![turn.clone()], rules);
    let read = Fixture::parse(Path::new(""), alone.print().as_bytes(), rules);
    read.map_err(|error| error.what().to_owned())?;
    Ok(turn)
}

/// Removes ids that several answers have: some frameworks put the same word where the provider gave no id.
fn forget_placeholders(calls: &mut [ModelCall]) {
    let (mut known, mut again) = (HashSet::new(), HashSet::new());
    again.extend(calls.iter().filter_map(|call| call.answer.id.clone()).filter(|id| !known.insert(id.clone())));
    for answer in calls.iter_mut().filter(|call| call.wire.is_none()).map(|call| &mut call.answer) {
        answer.id = answer.id.take().filter(|id| !again.contains(id));
    }
}

/// The first message of the user.
fn first_said(calls: &[ModelCall]) -> Option<&Message> {
    calls.iter().flat_map(|call| &call.messages).find(|message| message.kind == "human")
}

/// The request that started the trace: the outermost span that has a path and is no call. Clients' spans have a path too.
fn request(spans: &[Span]) -> Option<(String, String, Option<Json>)> {
    let parents = call::parents(spans);
    let is_request = |span: &Span| span.first_text(fields::PATH).is_some() && call::kind(span).is_none();
    let places = (0..spans.len()).filter(|place| is_request(&spans[*place]));
    let span = &spans[places.min_by_key(|place| (call::around(&parents, *place).count(), *place))?];
    let path = span.first_text(fields::PATH)?;
    let path = path.split_once("://").map_or(path, |(_, rest)| rest.find('/').map_or("/", |at| &rest[at..]));
    let method = span.first_text(fields::METHOD).unwrap_or("POST").to_uppercase();
    let body = span.opened(fields::BODY).filter(|body| body.as_str().is_none());
    Some((method, path.to_owned(), body))
}

/// The `[[callers]]` rules that the service needs if it names no callers: one for each, by what only its calls have.
fn caller_rules(calls: &[ModelCall]) -> Vec<String> {
    let mut callers: BTreeMap<String, RecordedCalls> = BTreeMap::new();
    for call in calls {
        let tools = tools::definitions(std::slice::from_ref(call)).into_keys().collect();
        let of_caller = callers.entry(call.caller.clone().unwrap_or_default()).or_default();
        of_caller.add(call.system.clone(), tools, call.model.clone());
    }
    let none = "nothing in its calls tells them apart; let the service send the header x-retake-caller";
    let rule =
        |caller: &String| caller_rule(caller, &callers).unwrap_or_else(|| format!("# {caller}: {none}: {caller}"));
    callers.keys().filter(|caller| !caller.is_empty()).map(rule).collect()
}
