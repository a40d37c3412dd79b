//! Reads how to take the answer to a step: as one body, with repeated requests, or as a stream.

use super::file::ScenarioFile;
use super::json;
use super::raw::{RawCancel, RawStep};
use super::spanned::Spanned;
use super::values::{RawEvent, RawStreamEnds};
use crate::step::{AnswerAs, EventSpec, StreamSpec, WaitFor};
use crate::template::{Context, Names};
use retake_base::error::Result;

/// Combines `stream`, `cancel`, `wait` and `reconnect` of a step of this `kind`.
pub(super) fn read(scenario: ScenarioFile<'_>, raw: &RawStep, kind: &str, names: &Names) -> Result<AnswerAs> {
    let ends = raw.stream.as_ref().and_then(|stream| stream.get_ref().0.as_ref());
    let stream = ends.map(|ends| ends_of(scenario, ends)).transpose()?;
    let listens = raw.listens();
    if let (Some(stream), true, None) = (&raw.stream, listens && (kind == "run" || raw.cancel.is_some()), &raw.listen) {
        let error = scenario.error(stream, "`listen` needs a request, and no `cancel`");
        return Err(error.help("with it, the next step begins while the stream is open"));
    }
    if let Some(wait) = &raw.wait {
        let fail = |what: &str| scenario.error(wait, what);
        if kind != "get" {
            return Err(fail("`wait` asks again and again, so it belongs to a `get`"));
        }
        if stream.is_some() || raw.cancel.is_some() {
            return Err(fail("`wait` reads a JSON body, and this step has a stream"));
        }
        let is = json::of_toml(&wait.get_ref().is, scenario.source)?;
        names.check_json(&is)?;
        return Ok(AnswerAs::Until(WaitFor { json: wait.get_ref().json.clone(), is }));
    }
    let reconnects = raw.reconnect.as_ref().is_some_and(|reconnect| *reconnect.get_ref());
    let stream = match &raw.cancel {
        Some(cancel) => Some(cancelled(scenario, stream.unwrap_or_default(), cancel)?),
        None if reconnects || listens => Some(stream.unwrap_or_default()),
        None => stream,
    };
    Ok(match stream {
        Some(stream) if listens => AnswerAs::Listen(stream),
        Some(stream) => AnswerAs::Stream(stream),
        None => AnswerAs::Body,
    })
}

/// Reads a stream that its client leaves midway.
fn cancelled(scenario: ScenarioFile<'_>, stream: StreamSpec, cancel: &Spanned<RawCancel>) -> Result<StreamSpec> {
    let after = event(scenario, &cancel.get_ref().after)?;
    if stream.last.is_some() {
        let error = scenario.error(cancel, "a stream has either `last` or `cancel`, this one has both");
        return Err(error.help("with `last` the stream is over, with `cancel` the client leaves midway"));
    }
    Ok(StreamSpec { last: Some(after), cancel: true, ..stream })
}

/// Reads the first and the last event of a stream.
fn ends_of(scenario: ScenarioFile<'_>, ends: &RawStreamEnds) -> Result<StreamSpec> {
    let first = match &ends.first {
        Some(name) if name.get_ref().is_empty() => return Err(scenario.error(name, "the event's name is empty")),
        first => first.as_ref().map(|name| name.get_ref().clone()),
    };
    let last = ends.last.as_ref().map(|last| event(scenario, last)).transpose()?;
    Ok(StreamSpec { first, last, cancel: false })
}

/// Reads an event for which a step waits: its name, or a table that says more.
pub(super) fn event(scenario: ScenarioFile<'_>, raw: &Spanned<RawEvent>) -> Result<EventSpec> {
    let (name, at) = match raw.get_ref() {
        RawEvent::Name(name) => (name, raw.span()),
        RawEvent::Table(table) => (table.event.get_ref(), table.event.span()),
    };
    if name.is_empty() {
        return Err(scenario.source.error(at.start, "the event's name is empty"));
    }
    let spec = EventSpec::named(name);
    let RawEvent::Table(table) = raw.get_ref() else { return Ok(spec) };
    let is = match (&table.at, &table.is) {
        (Some(at), Some(is)) => {
            let value = json::of_toml(is, scenario.source)?;
            if let Some(template) = value.templates().into_iter().find(|template| !template.is_plain()) {
                let error = template.error("a stream is looked through for a value as it is written here".to_owned());
                let help = "a template cannot stand in `is` of an event; wait for its value with a step with `wait`";
                return Err(error.help(help));
            }
            Some((at.get_ref().clone(), value.render(&Context::default())?))
        }
        (None, None) => None,
        (Some(at), None) => {
            return Err(scenario.error(at, "`at` says where to look, and `is`, which value, is missing"));
        }
        (None, Some(is)) => {
            return Err(scenario.error(is, "`is` is a value, and `at`, where to look for it, is missing"));
        }
    };
    let times = table.times.as_ref().map_or(1, |times| *times.get_ref());
    if let Some(raw) = table.times.as_ref().filter(|_| times == 0) {
        return Err(scenario.error(raw, "an event that has to come 0 times cannot be waited for"));
    }
    Ok(EventSpec { is, times, ..spec })
}
