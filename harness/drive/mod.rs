//! Driving a system: a scenario's steps become requests, and answers become captures and values for later steps.

mod agent;
mod answered;
mod cookies;
mod exchange;
mod listen;
mod stream;
#[cfg(feature = "browser")]
mod visit;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;

use crate::error::{Error, Result};
use crate::events::Captured;
use crate::json::Json;
use crate::key::Normalizer;
use crate::scenario::{self, Action, Context, Scenario, Step, Template};
use crate::system::Stage;
use agent::Agent;
use answered::Answered;
use cookies::Cookies;
use exchange::{Request, Take};
use listen::Listener;

/// Captured strings shorter than this stay as they are in goldens: they may be words.
const NAMED_FROM: usize = 8;

/// Drives one scenario on one stage.
pub(crate) struct Driver<'a> {
    scenario: &'a Scenario,
    stage: &'a Stage,
    root: &'a Path,
    context: Context,
    cookies: Mutex<Cookies>,
    /// What goes into the golden, in step order.
    captured: Vec<Part<'a>>,
    /// The id of the latest stream's last event; `None` before any stream.
    last_id: Option<LastId>,
    /// Values of this run and what goldens call them, longest value first.
    names: Names,
    progress: Progress,
    failure: Option<Error>,
    /// While recording, the turns that were recorded so far.
    #[cfg_attr(not(feature = "browser"), expect(dead_code, reason = "only pages wait for turns"))]
    turns: Option<&'a LiveTurns<'a>>,
    /// The scenario's page, once a step has opened one.
    #[cfg(feature = "browser")]
    page: Option<crate::browser::Page>,
}

/// Gives the turns that were recorded so far, in the form of [`Fixture::answers`](crate::fixture::Fixture::answers).
pub(crate) type LiveTurns<'a> = dyn Fn() -> Json + 'a;

/// One part of the golden.
enum Part<'a> {
    Done(Captured),
    /// A stream that is still open, and the step that opened it.
    Listening(Box<Listener>, usize, &'a Step),
}

/// Where the id of a stream's last event is.
#[derive(Clone)]
enum LastId {
    Known(Option<Box<str>>),
    /// Of the stream that is the part of this index, which is still open.
    Of(usize),
}

/// What a step gave.
enum Outcome {
    Answered(Box<Answered>),
    Listening(Box<Listener>),
}

/// How far a scenario got, for the case that its time runs out. Cloning shares it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress(Arc<Mutex<SoFar>>);

/// What is under way.
#[derive(Clone, Debug, Default)]
pub(crate) struct SoFar {
    /// The step.
    pub(crate) step: String,
    /// How many events of it have come.
    pub(crate) events: usize,
    /// What it waits for, where it says so.
    pub(crate) note: Option<String>,
}

impl Progress {
    /// What is under way.
    pub(crate) fn so_far(&self) -> SoFar {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn step(&self, step: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = SoFar { step, ..SoFar::default() };
    }

    fn events(&self, count: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).events = count;
    }

    fn note(&self, note: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).note = Some(note);
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

    /// What a value is called that a text holds, or that holds the text; the port alone tells an address as well.
    pub(crate) fn name_of(&self, text: &str) -> Option<&str> {
        let is_port = !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
        let fits = |value: &str| {
            text.contains(value)
                || (text.len() >= NAMED_FROM && value.contains(text))
                || (is_port && value.rsplit_once(':').is_some_and(|(_, port)| port == text))
        };
        self.0.iter().find(|(value, _)| fits(value)).map(|(_, name)| name.as_str())
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
    pub(crate) fn new(
        scenario: &'a Scenario,
        stage: &'a Stage,
        root: &'a Path,
        context: Context,
        progress: Progress,
        turns: Option<&'a LiveTurns<'a>>,
    ) -> Driver<'a> {
        let mut names = Names::default();
        for (value, name) in stage.names() {
            names.add(value, name);
        }
        Driver {
            scenario,
            stage,
            root,
            context,
            cookies: Mutex::default(),
            captured: Vec::new(),
            last_id: None,
            names,
            progress,
            failure: None,
            turns,
            #[cfg(feature = "browser")]
            page: None,
        }
    }

    /// Takes the steps one after another; the first that fails is the last. Tells whether all went well.
    pub(crate) async fn drive(&mut self) -> bool {
        for (index, step) in self.scenario.steps.iter().enumerate() {
            if let Err(error) = self.step(index, step).await {
                self.failure = Some(error.in_file(&self.scenario.file));
                return false;
            }
        }
        true
    }

    /// Ends the streams that are still open, each at its last event; one that has none when nothing comes any more,
    /// after `settle` at the latest.
    pub(crate) async fn finish(mut self, settle: Duration) -> Driven {
        let mut captured = Vec::with_capacity(self.captured.len());
        for part in std::mem::take(&mut self.captured) {
            match part {
                Part::Done(part) => captured.push(part),
                Part::Listening(..) if self.failure.is_some() => {}
                Part::Listening(listener, index, step) => {
                    let title = self.title(index, step);
                    self.progress.step(title.clone());
                    match listener.finish(settle).await {
                        Ok(answered) => captured.push(answered.into_captured()),
                        Err(error) => self.failure = Some(self.failed(error, &title, step)),
                    }
                }
            }
        }
        Driven { captured, names: self.names, failure: self.failure }
    }

    fn failed(&self, error: Error, title: &str, step: &Step) -> Error {
        error.while_doing(&format!("take {title}")).else_at(&self.scenario.file, step.place)
    }

    /// What reports call a step. A path is shown as it was sent, where it can be rendered.
    fn title(&self, index: usize, step: &Step) -> String {
        format!("step {} ({})", index + 1, self.action(step))
    }

    fn action(&self, step: &Step) -> String {
        match &step.action {
            Action::Request(request) => {
                let path = request.path.render_text(&self.context);
                let path = path.unwrap_or_else(|_| request.path.source().to_owned());
                match &request.answer {
                    scenario::AnswerAs::Listen(_) => format!("listen {path}"),
                    _ => format!("{} {path}", request.method),
                }
            }
            Action::Run(run) => agent::title(run),
            Action::Browse(visit) => {
                let path = visit.path.render_text(&self.context);
                format!("browser {}", path.unwrap_or_else(|_| visit.path.source().to_owned()))
            }
            Action::Together(steps) => {
                let actions: Vec<String> = steps.iter().map(|step| self.action(step)).collect();
                format!("together {}", actions.join(", "))
            }
        }
    }

    async fn step(&mut self, index: usize, step: &'a Step) -> Result<()> {
        let title = self.title(index, step);
        self.progress.step(title.clone());
        #[cfg(feature = "browser")]
        if let Action::Browse(visit) = &step.action {
            let visited = self.visit(index, step, visit).await;
            return visited.map_err(|error| self.failed(error, &title, step));
        }
        let parts = step.parts();
        let outcomes = join_all(parts.iter().map(|part| self.perform(part))).await;
        for (part, outcome) in parts.iter().zip(outcomes) {
            let outcome = outcome.map_err(|error| self.failed(error, &title, part))?;
            self.take(index, part, outcome).map_err(|error| self.failed(error, &title, part))?;
        }
        Ok(())
    }

    async fn perform(&self, step: &Step) -> Result<Outcome> {
        match &step.action {
            Action::Request(request) => self.request(request).await,
            Action::Run(run) => {
                let folder = self.stage.folder().ok_or_else(|| Error::new("this stage has no folder"))?;
                let agent = Agent::new(run, &self.context, folder, self.stage.date(), self.root)?;
                Ok(Outcome::Answered(Box::new(agent.run(&self.progress).await?)))
            }
            Action::Browse(_) => Err(scenario::without_browser()),
            // The reader refuses them within each other.
            Action::Together(_) => Err(Error::new("steps at the same time within steps at the same time")),
        }
    }

    async fn request(&self, step: &scenario::Request) -> Result<Outcome> {
        let path = self.path(&step.path)?;
        let base = self.stage.url().ok_or_else(|| Error::new("this scenario has no system to ask"))?;
        let mut headers = Vec::with_capacity(step.headers.len() + 1);
        for (name, value) in &step.headers {
            let text = value.render_text(&self.context)?;
            if let Some(c) = text.chars().find(|c| c.is_control() && *c != '\t') {
                let what = format!("the header `{name}` would hold {c:?}, and a header's value is one line of text");
                return Err(value.error(what));
            }
            headers.push((name.clone(), text));
        }
        let mut title = format!("{} {path}", step.method);
        if let Some(event) = step.stream().filter(|stream| stream.cancel).and_then(|stream| stream.last.as_ref()) {
            title = format!("{title}, left after {event}");
        }
        if step.reconnect {
            headers.push(("Last-Event-ID".to_owned(), self.id_to_come_back_with()?));
            title.push_str(", reconnected");
        }
        let body = step.body.render(&self.context)?;
        let url = format!("{base}{path}");
        let method = step.method.as_str();
        let request = Request { method, url, headers, body, status: step.status.clone(), title };
        let take = match &step.answer {
            scenario::AnswerAs::Listen(wanted) => {
                let listener = exchange::listen(&request, wanted, &self.cookies).await?;
                return Ok(Outcome::Listening(Box::new(listener)));
            }
            scenario::AnswerAs::Body => Take::Body,
            scenario::AnswerAs::Until(wait) => Take::Until(&wait.json, wait.is.render(&self.context)?),
            scenario::AnswerAs::Stream(wanted) => Take::Stream(wanted),
        };
        let answered = exchange::exchange(&request, &take, &self.cookies, &self.progress).await?;
        Ok(Outcome::Answered(Box::new(answered)))
    }

    fn path(&self, template: &Template) -> Result<String> {
        let path = template.render_text(&self.context)?;
        if path.starts_with('/') {
            return Ok(path);
        }
        // Behind the system's address another beginning could name another machine.
        let error = template.error(format!("the path is `{path}`, which does not start with `/`"));
        Err(error.help("the system's address comes before it: a template gives the path alone"))
    }

    #[cfg(feature = "browser")]
    fn cookies(&self) -> std::sync::MutexGuard<'_, Cookies> {
        self.cookies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn id_to_come_back_with(&self) -> Result<String> {
        let id = match &self.last_id {
            None => None,
            Some(LastId::Known(id)) => id.clone(),
            Some(LastId::Of(part)) => match self.captured.get(*part) {
                Some(Part::Listening(listener, ..)) => listener.last_id(),
                _ => None,
            },
        };
        id.map(String::from).ok_or_else(|| {
            Error::new("the stream before this step had no event with an id")
                .help("`reconnect` sends the id of the last event; where the service has none, use a plain step")
        })
    }

    /// Takes in what a step gave: values for later steps, and its part of the golden.
    fn take(&mut self, index: usize, step: &'a Step, outcome: Outcome) -> Result<()> {
        match outcome {
            Outcome::Answered(answered) => {
                if matches!(&step.action, Action::Request(request) if request.stream().is_some()) {
                    self.last_id = Some(LastId::Known(answered.last_id()));
                }
                self.capture(answered.captures(step)?);
                if step.golden {
                    self.captured.push(Part::Done(answered.into_captured()));
                }
            }
            Outcome::Listening(listener) => {
                self.last_id = Some(LastId::Of(self.captured.len()));
                self.capture(listener.answered.captures(step)?);
                self.captured.push(Part::Listening(listener, index, step));
            }
        }
        Ok(())
    }

    fn capture(&mut self, values: Vec<(String, Json)>) {
        for (name, value) in values {
            if let Json::Str(text) = &value
                && text.chars().count() >= NAMED_FROM
            {
                self.names.add(text.clone(), format!("<{name}>"));
            }
            self.context.insert(name, value);
        }
    }
}
