//! Driving a system: a scenario's steps become requests, and answers become captures and values for later steps.

mod cookies;
mod exchange;

use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::events::{Captured, Event, Payload};
use crate::json::Json;
use crate::key::Normalizer;
use crate::scenario::{CaptureFrom, Context, Scenario, Step};
use crate::stage::Stage;
use cookies::Cookies;
pub(crate) use exchange::get;
use exchange::{Answered, Request};

/// Captured strings shorter than this stay as they are in goldens: they may be words.
const NAMED_FROM: usize = 8;

/// Drives one scenario on one stage.
pub(crate) struct Driver<'a> {
    scenario: &'a Scenario,
    stage: &'a Stage,
    context: Context,
    cookies: Cookies,
    captured: Vec<Captured>,
    /// Values of this run and what goldens call them, longest value first.
    names: Names,
    progress: Progress,
}

/// How far a scenario got, for the case that its time runs out. Cloning shares it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress(Arc<Mutex<(String, usize)>>);

impl Progress {
    /// The step under way and how many events of it have come.
    pub(crate) fn so_far(&self) -> (String, usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn step(&self, step: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (step, 0);
    }

    fn events(&self, count: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1 = count;
    }
}

/// Values that differ from run to run, and the names that stand for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names(Vec<(String, String)>);

impl Names {
    fn add(&mut self, value: String, name: String) {
        self.0.push((value, name));
        // A longer value first: another may be a part of it.
        self.0.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
    }

    /// A text with names for values, then normalized as keys are.
    pub(crate) fn apply(&self, text: &str, normalizer: &Normalizer) -> String {
        let mut text = text.to_owned();
        for (value, name) in &self.0 {
            if text.contains(value.as_str()) {
                text = text.replace(value.as_str(), name);
            }
        }
        normalizer.apply(&text).into_owned()
    }
}

/// What a driven scenario showed.
#[derive(Debug, Default)]
pub(crate) struct Driven {
    /// Streams and answers for the golden, in step order, requests not yet normalized.
    pub(crate) captured: Vec<Captured>,
    /// The run's values and their names.
    pub(crate) names: Names,
    /// The step that failed, where one did.
    pub(crate) failure: Option<Error>,
}

impl<'a> Driver<'a> {
    pub(crate) fn new(scenario: &'a Scenario, stage: &'a Stage, context: Context, progress: Progress) -> Driver<'a> {
        let mut names = Names::default();
        for (value, name) in stage.names() {
            names.add(value, name);
        }
        Driver { scenario, stage, context, cookies: Cookies::default(), captured: Vec::new(), names, progress }
    }

    /// Takes the steps one after another; the first that fails is the last.
    pub(crate) async fn drive(mut self) -> Driven {
        let mut failure = None;
        for (index, step) in self.scenario.steps.iter().enumerate() {
            if let Err(error) = self.step(index, step).await {
                failure = Some(error.in_file(&self.scenario.file).at(step.place));
                break;
            }
        }
        Driven { captured: self.captured, names: self.names, failure }
    }

    async fn step(&mut self, index: usize, step: &Step) -> Result<()> {
        let path = step.path.render_text(&self.context)?;
        let title = format!("step {} ({} {path})", index + 1, step.method);
        self.progress.step(title.clone());
        let mut headers = Vec::with_capacity(step.headers.len());
        for (name, value) in &step.headers {
            headers.push((name.clone(), value.render_text(&self.context)?));
        }
        let request = Request {
            method: step.method.as_str(),
            url: format!("{}{path}", self.stage.url().unwrap_or_default()),
            headers,
            body: step.body.render(&self.context)?,
        };
        let failed = |e: Error| e.while_doing(&format!("take {title}"));
        let answered = exchange::exchange(request, step, &mut self.cookies, &self.progress).await.map_err(failed)?;
        let captured = self.capture_all(step, &answered).map_err(failed);
        if step.golden {
            let Answered { status, content_type, events, .. } = answered;
            let request = format!("{} {path}", step.method);
            self.captured.push(Captured { request, status, content_type, events });
        }
        captured
    }

    fn capture_all(&mut self, step: &Step, answered: &Answered) -> Result<()> {
        for (name, from) in &step.capture {
            let value = match from {
                CaptureFrom::Cookie(cookie) => {
                    let set_now = answered.cookies.get(cookie).map(String::as_str);
                    set_now.or_else(|| self.cookies.value(cookie)).map(Json::from)
                }
                CaptureFrom::Header(header) => {
                    let value = answered.headers.get(header).and_then(|value| value.to_str().ok());
                    value.map(Json::from)
                }
                CaptureFrom::Json(pointer) => {
                    let body = answered.events.first().and_then(Event::json);
                    body.and_then(|body| pointer.find(body)).cloned()
                }
                CaptureFrom::Sse { event, pointer } => {
                    let events = answered.events.iter().filter(|e| e.label() == event.as_str());
                    events.filter_map(Event::json).find_map(|data| pointer.find(data)).cloned()
                }
            };
            let value = value.ok_or_else(|| {
                let has = what_there_is(from, answered);
                Error::new(format!("nothing to capture as `{name}`: {} is not there", source_of(from))).help(has)
            })?;
            if let Json::Str(text) = &value
                && text.chars().count() >= NAMED_FROM
            {
                self.names.add(text.clone(), format!("<{name}>"));
            }
            self.context.insert(name.as_str(), value);
        }
        Ok(())
    }
}

/// A capture's source as it is written in `scenario.toml`.
fn source_of(from: &CaptureFrom) -> String {
    match from {
        CaptureFrom::Cookie(name) => format!("cookie:{name}"),
        CaptureFrom::Header(name) => format!("header:{name}"),
        CaptureFrom::Json(pointer) => format!("json:{}", pointer.as_str()),
        CaptureFrom::Sse { event, pointer } => format!("sse:{event}:{}", pointer.as_str()),
    }
}

/// What a capture could have found instead.
fn what_there_is(from: &CaptureFrom, answered: &Answered) -> String {
    let list = |names: Vec<&str>| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    match from {
        CaptureFrom::Cookie(_) => {
            format!("cookies set by this step: {}", list(answered.cookies.keys().map(String::as_str).collect()))
        }
        CaptureFrom::Header(_) => {
            format!("headers: {}", list(answered.headers.keys().map(axum::http::HeaderName::as_str).collect()))
        }
        CaptureFrom::Json(_) => format!("the answer was: {}", excerpt(answered)),
        CaptureFrom::Sse { .. } => {
            let mut labels: Vec<&str> = answered.events.iter().map(Event::label).collect();
            labels.sort_unstable();
            labels.dedup();
            format!("events that came: {}", list(labels))
        }
    }
}

/// The beginning of an answer, for errors.
fn excerpt(answered: &Answered) -> String {
    let text = match answered.events.first().map(|event| &event.payload) {
        None | Some(Payload::Empty) => return "an empty body".to_owned(),
        Some(Payload::Json(json)) => json.print(crate::json::Layout::Compact),
        Some(Payload::Text(text) | Payload::Comment(text) | Payload::Tail(text)) => text.clone(),
    };
    let short: String = text.chars().take(300).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}
