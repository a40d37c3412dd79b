//! Reads how to take the answer to a step: as one body, with repeated requests, or as a stream.

use super::file::ScenarioFile;
use super::json;
use super::raw::{RawCancel, RawStep};
use super::spanned::Spanned;
use super::values::{RawStream, RawStreamEnds};
use crate::step::{AnswerAs, StreamSpec, WaitFor};
use crate::template::Names;
use retake_base::error::Result;

/// Combines `stream`, `cancel`, `wait` and `reconnect` of a step of this `kind`.
pub(super) fn read(scenario: ScenarioFile<'_>, raw: &RawStep, kind: &str, names: &Names) -> Result<AnswerAs> {
    let stream = match &raw.stream {
        None => None,
        Some(stream) => match stream.get_ref() {
            RawStream::Flag(false) => None,
            RawStream::Flag(true) => Some(StreamSpec::default()),
            RawStream::Table(ends) => Some(ends_of(scenario, ends)?),
        },
    };
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
        None if reconnects || kind == "listen" => Some(stream.unwrap_or_default()),
        None => stream,
    };
    Ok(match stream {
        Some(stream) if kind == "listen" => AnswerAs::Listen(stream),
        Some(stream) => AnswerAs::Stream(stream),
        None => AnswerAs::Body,
    })
}

/// Reads a stream that its client leaves midway.
fn cancelled(scenario: ScenarioFile<'_>, stream: StreamSpec, cancel: &Spanned<RawCancel>) -> Result<StreamSpec> {
    let after = &cancel.get_ref().after;
    if after.get_ref().is_empty() {
        return Err(scenario.error(after, "the event's name is empty"));
    }
    if stream.last.is_some() {
        let error = scenario.error(cancel, "a stream has either `last` or `cancel`, this one has both");
        return Err(error.help("with `last` the stream is over, with `cancel` the client leaves midway"));
    }
    Ok(StreamSpec { last: Some(after.get_ref().clone()), cancel: true, ..stream })
}

/// Reads the first and the last event of a stream.
fn ends_of(scenario: ScenarioFile<'_>, ends: &RawStreamEnds) -> Result<StreamSpec> {
    let event = |name: &Option<Spanned<String>>| match name {
        Some(name) if name.get_ref().is_empty() => Err(scenario.error(name, "the event's name is empty")),
        name => Ok(name.as_ref().map(|name| name.get_ref().clone())),
    };
    Ok(StreamSpec { first: event(&ends.first)?, last: event(&ends.last)?, cancel: false })
}
