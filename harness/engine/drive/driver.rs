//! Runs a scenario's steps one after another, and collects their results.

use std::path::Path;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::Instant;

use super::afterwards::Afterwards;
use super::agent;
use super::answered::{Answered, last_id};
use super::cookies::Cookies;
use super::listen::Listener;
use super::named_values::{NAMED_FROM, NamedValues};
use super::socket::Socket;
use super::underway::Underway;
use crate::system::Stage;
use retake_base::cause::CauseKind;
use retake_base::error::{Error, Result};
use retake_base::lock::Mutex;
use retake_core::events::{Captured, Foreign};
use retake_core::json::Json;
use retake_model::{Activity, FaultKind};
use retake_scenario::{self as scenario, Action, Context, EventSpec, Scenario, SocketTalk, Step, Template};

/// Drives one scenario on one stage.
pub struct Driver<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) stage: &'a Stage,
    pub(super) root: &'a Path,
    pub(super) context: Context,
    pub(super) cookies: Mutex<Cookies>,
    /// The parts of the golden, in step order.
    pub(super) captured: Vec<Part<'a>>,
    /// The result, as far as it is known before the end.
    driven: Driven,
    /// The id of the latest stream's last event; `None` before any stream.
    last_id: Option<LastId>,
    /// What the scenario sent, and captured to send it.
    pub(super) sent: Mutex<Foreign>,
    pub(super) underway: Underway,
    /// The model calls, for steps that wait for one.
    pub(super) calls: Activity,
    /// The WebSockets, the latest one last, and for each the part of the golden that has its latest events.
    sockets: Vec<(Socket, Option<usize>)>,
    /// While recording, returns the turns that were recorded so far.
    #[cfg(feature = "browser")]
    pub(super) turns: Option<&'a LiveTurns<'a>>,
    /// What becomes of screenshots that are compared.
    #[cfg(feature = "browser")]
    pub(super) baselines: crate::browser::Baselines,
    /// The page on which acts are done, in a browser context of the scenario.
    #[cfg(feature = "browser")]
    pub(super) page: Option<crate::browser::Page>,
}

/// The result of a driven scenario.
#[derive(Debug, Default)]
pub struct Driven {
    /// Streams and answers for the golden, in step order. Their requests are not normalized yet.
    pub captured: Vec<Captured>,
    /// The answers that go into no golden, each with the index of its step.
    pub beside: Vec<(usize, Captured)>,
    /// Values of this run, and the names that goldens show in place of them.
    pub names: NamedValues,
    /// What the scenario sent, and captured to send it.
    pub sent: Foreign,
    /// Why the scenario did not come to its end: a step failed, or the time was up.
    pub failure: Option<(CauseKind, Error)>,
    /// Whether it was ended because nothing more could be expected to come.
    pub gave_up: bool,
    /// The answer to the step that failed, if all of it came and only a capture found nothing in it.
    pub broken: Option<Captured>,
    /// After which time without a call a page asked the model once more, although the scenario had settled.
    pub later: Option<Duration>,
}

/// One part of the golden.
pub(super) enum Part<'a> {
    Done(Captured),
    /// A stream that is read further after its last event.
    ReadOn(Captured, Afterwards),
    /// A stream that is still open, with the title of the step that opened it, and the step.
    Listening(Box<Listener>, String, &'a Step),
}

/// Where to find the id of a stream's last event.
#[derive(Clone)]
enum LastId {
    Known(Option<Box<str>>),
    /// In the part with this index, a stream that is still open.
    Of(usize),
}

/// The result of a step.
pub(super) enum Outcome {
    Answered(Box<Answered>, Option<Afterwards>),
    Listening(Box<Listener>),
}

impl<'a> Driver<'a> {
    /// Makes a driver. While recording, `turns` returns the turns that were recorded so far.
    #[cfg_attr(not(feature = "browser"), expect(unused_variables, reason = "only pages wait for turns"))]
    pub fn new(
        scenario: &'a Scenario,
        stage: &'a Stage,
        root: &'a Path,
        context: Context,
        underway: Underway,
        calls: Activity,
        turns: Option<&'a LiveTurns<'a>>,
    ) -> Driver<'a> {
        underway.watch(calls.clone(), &scenario.golden);
        let mut driven = Driven::default();
        for (value, name) in stage.names() {
            driven.names.add(value, name);
        }
        Driver {
            scenario,
            stage,
            root,
            context,
            cookies: Mutex::default(),
            captured: Vec::new(),
            driven,
            last_id: None,
            sent: Mutex::default(),
            underway,
            calls,
            sockets: Vec::new(),
            #[cfg(feature = "browser")]
            turns,
            #[cfg(feature = "browser")]
            baselines: crate::browser::Baselines::default(),
            #[cfg(feature = "browser")]
            page: None,
        }
    }

    /// Says what becomes of screenshots that are compared.
    #[cfg(feature = "browser")]
    pub fn with_baselines(mut self, baselines: crate::browser::Baselines) -> Driver<'a> {
        self.baselines = baselines;
        self
    }

    /// Runs the steps one after another, up to the first that fails. Returns whether all succeeded.
    pub async fn drive(&mut self) -> bool {
        for (index, step) in self.scenario.steps.iter().enumerate() {
            let Err(error) = self.step(index, step).await else { continue };
            self.driven.failure = Some((CauseKind::Step, error.in_file(&step.file)));
            return false;
        }
        true
    }

    /// Waits for the last event of each stream that is still open, if its step names one. Returns whether it had to wait for
    /// any.
    pub async fn hear(&mut self) -> bool {
        let mut waited = false;
        for part in &mut self.captured {
            let Part::Listening(listener, title, _) = part else { continue };
            self.underway.step(title.clone());
            waited |= listener.hear_last(&self.underway).await;
        }
        waited
    }

    /// Ends the streams that are still open. A stream ends at its last event; if its step names none, or if it is read further
    /// after that event, it ends by itself, or after `settle`.
    pub async fn finish(mut self, settle: Duration) -> Driven {
        // What came on each after the last event for which a step waited.
        for (mut socket, part) in std::mem::take(&mut self.sockets) {
            let part = part.and_then(|part| self.captured.get_mut(part)).filter(|_| self.driven.failure.is_none());
            if let Some(Part::Done(captured)) = part {
                captured.after = socket.after();
            }
        }
        let mut driven = self.driven;
        let until = Instant::now() + settle;
        for part in self.captured {
            match part {
                Part::Done(part) => driven.captured.push(part),
                Part::ReadOn(part, after) => {
                    driven.captured.push(Captured { after: after.finish(until).await, ..part });
                }
                Part::Listening(listener, title, step) => {
                    let has_failed = driven.failure.is_some();
                    // In its place, so that what follows is compared with what it was.
                    let mut captured = listener.answered.clone().into_captured().left_open();
                    if !has_failed || listener.is_over() {
                        self.underway.step(title.clone());
                        match listener.finish(settle, &self.underway).await {
                            Ok(answered) => captured = answered.into_captured(),
                            Err(_) if has_failed => {}
                            Err(error) => driven.failure = Some((CauseKind::Step, failed(error, &title, step))),
                        }
                    }
                    driven.captured.extend(Some(captured).filter(|_| step.golden));
                }
            }
        }
        driven.sent = self.sent.into_inner();
        driven
    }

    /// Returns the title of a step in reports. A path is shown as it is sent, if it can be rendered.
    fn title(&self, index: usize, step: &Step) -> String {
        let name = step.name.as_ref().map(|name| format!("`{name}` ")).unwrap_or_default();
        format!("step {} {name}({})", index + 1, self.action(step))
    }

    fn action(&self, step: &Step) -> String {
        let text = |path: &Template| path.render_text(&self.context).unwrap_or_else(|_| path.source().to_owned());
        match &step.action {
            Action::Request(request) => {
                let listens = matches!(request.answer, scenario::AnswerAs::Listen(_));
                let is_get = request.method == scenario::Method::Get;
                let what = if listens && is_get { "listen" } else { request.method.as_str() };
                format!("{what} {}", text(&request.path))
            }
            Action::Socket(talk) => match &talk.open {
                Some(open) => format!("socket {}", text(&open.path)),
                None => "send".to_owned(),
            },
            Action::After(event) => format!("after {event}"),
            Action::Run(run) => agent::title(run),
            Action::Browse(visit) => format!("browser {}", text(&visit.path)),
            Action::Together(steps) => {
                let actions: Vec<String> = steps.iter().map(|step| self.action(step)).collect();
                format!("together {}", actions.join(", "))
            }
        }
    }

    /// Runs a step, and waits for the background model calls that it names.
    async fn step(&mut self, index: usize, step: &'a Step) -> Result<()> {
        let title = self.title(index, step);
        let awaited = std::iter::once(step).chain(step.parts()).filter_map(|part| part.awaits.as_deref());
        let awaited: Vec<_> = awaited.map(|caller| (caller, self.calls.answered_to(caller))).collect();
        self.calls.calm(index).await;
        let number = self.underway.begin(title.clone());
        self.stage.egress().step(&title);
        let taken = self.take_step(index, step, title).await;
        if taken.is_ok() {
            for (caller, before) in awaited {
                self.underway.awaits(format!("no model call of `{caller}` came"));
                tokio::select! {
                    () = self.calls.answers(caller, before) => {}
                    () = self.underway.given_up() => {}
                }
            }
        }
        self.underway.end(number, taken.as_ref().err());
        taken
    }

    async fn take_step(&mut self, index: usize, step: &'a Step, title: String) -> Result<()> {
        #[cfg(feature = "browser")]
        if let Action::Browse(visit) = &step.action {
            return self.visit(index, step, visit).await.map_err(|error| failed(error, &title, step));
        }
        if let Action::Socket(talk) = &step.action {
            let answered = self.talk(talk).await.map_err(|error| failed(error, &title, step))?;
            let outcome = Outcome::Answered(Box::new(answered), None);
            let part = self.captured.len();
            self.take(index, step, outcome).map_err(|error| failed(error, &title, step))?;
            if let Some((_, events)) = self.sockets.last_mut() {
                *events = talk.last.is_some().then_some(part).filter(|_| step.golden);
            }
            return Ok(());
        }
        if let Action::After(wanted) = &step.action {
            let values = self.after(step, wanted).await.map_err(|error| failed(error, &title, step))?;
            self.capture(values);
            return Ok(());
        }
        let parts = step.parts();
        let outcomes = join_all(parts.iter().enumerate().map(async |(at, part)| {
            let underway = self.underway.part(at);
            let outcome = self.perform(part, &underway).await.map_err(|error| failed(error, &title, part));
            underway.done();
            if let Err(error) = &outcome {
                underway.failed(error.clone().in_file(&step.file));
            }
            outcome
        }))
        .await;
        for (part, outcome) in parts.iter().zip(outcomes) {
            self.take(index, part, outcome?).map_err(|error| failed(error, &title, part))?;
        }
        Ok(())
    }

    async fn perform(&self, step: &Step, underway: &Underway) -> Result<Outcome> {
        match &step.action {
            Action::Request(request) => match underway.away() {
                Some(away) if away.does == FaultKind::Kill => self.outlives(step, request, &away, underway).await,
                Some(away) => self.leaves(step, request, &away, underway).await,
                None => self.request(request, underway).await,
            },
            Action::Run(run) => Ok(Outcome::Answered(Box::new(self.run(run, underway).await?), None)),
            Action::Browse(_) => Err(scenario::without_browser()),
            // Reading the scenario has ruled this out.
            Action::Together(_) | Action::Socket(_) | Action::After(_) => Err(Error::new("not in a `together` step")),
        }
    }

    /// Waits for an event of the stream that was opened last to listen to. Returns what the step captures from it.
    async fn after(&mut self, step: &Step, wanted: &EventSpec) -> Result<Vec<(String, Json)>> {
        let listener = self.captured.iter_mut().rev().find_map(|part| match part {
            Part::Listening(listener, ..) => Some(listener),
            _ => None,
        });
        // Reading the scenario has ruled this out.
        let listener = listener.ok_or_else(|| Error::new("there is no stream to listen to"))?;
        listener.hear(wanted, &self.underway).await?.captures(step)
    }

    /// Opens a WebSocket, or goes on with the latest one.
    async fn talk(&mut self, talk: &SocketTalk) -> Result<Answered> {
        let send: Vec<Json> = talk.send.iter().map(|message| message.render(&self.context)).collect::<Result<_>>()?;
        for message in &send {
            self.sent.lock().add(message);
        }
        if let Some(open) = &talk.open {
            let opened = self.open_socket(open).await?;
            self.sockets.push((opened, None));
        }
        let (socket, _) = self.sockets.last_mut().ok_or_else(|| Error::new("there is no open socket"))?;
        socket.talk(&send, talk.last.as_ref(), talk.open.is_some(), &self.underway).await
    }

    pub(super) fn base(&self) -> Result<&str> {
        self.stage.url().ok_or_else(|| Error::new("this scenario starts no system that could take the request"))
    }

    pub(super) fn id_to_come_back_with(&self) -> Result<String> {
        let id = match &self.last_id {
            None => None,
            Some(LastId::Known(id)) => id.clone(),
            Some(LastId::Of(part)) => match self.captured.get(*part) {
                Some(Part::Listening(listener, ..)) => listener.last_id(),
                _ => None,
            },
        };
        id.map(String::from).ok_or_else(|| {
            Error::new("this step cannot reconnect: no event of the stream before it had an id")
                .help("`reconnect` sends the id of the last event; if the service sends no ids, use a step without `reconnect`")
        })
    }

    /// Adds the result of a step: values for later steps, and its part of the golden.
    fn take(&mut self, index: usize, step: &'a Step, outcome: Outcome) -> Result<()> {
        match outcome {
            Outcome::Answered(answered, after) => {
                if matches!(&step.action, Action::Request(request) if request.stream().is_some()) {
                    self.last_id = Some(LastId::Known(last_id(&answered.events)));
                }
                let values = answered.captures(step).inspect_err(|_| {
                    self.driven.broken = step.golden.then(|| answered.as_ref().clone().into_captured());
                })?;
                self.capture(values);
                if step.golden {
                    let captured = answered.into_captured();
                    self.captured.push(match after {
                        Some(after) => Part::ReadOn(captured, after),
                        None => Part::Done(captured),
                    });
                } else {
                    let headers = &self.scenario.golden.headers;
                    let one = |status: &Vec<u16>| status.len() == 1;
                    let is_the_one = matches!(&step.action, Action::Request(it) if it.status.as_ref().is_none_or(one));
                    let shows_headers = headers.iter().any(|name| answered.headers.contains_key(name));
                    let captured = answered.into_captured();
                    let beside = captured.clone().beside(is_the_one);
                    if shows_headers || !beside.events.is_empty() {
                        self.captured.push(Part::Done(beside));
                    }
                    self.driven.beside.push((index, captured));
                }
            }
            Outcome::Listening(listener) => {
                self.last_id = Some(LastId::Of(self.captured.len()));
                self.capture(listener.answered.captures(step)?);
                let title = self.title(index, step);
                self.captured.push(Part::Listening(listener, title, step));
            }
        }
        Ok(())
    }

    pub(super) fn capture(&mut self, values: Vec<(String, Json)>) {
        for (name, value) in values {
            self.sent.lock().add(&value);
            if let Json::Str(text) = &value
                && text.chars().count() >= NAMED_FROM
            {
                self.driven.names.add(text.clone(), format!("<{name}>"));
            }
            self.context.insert(name, value);
        }
    }
}

/// Says in an error which step failed, and where it is written.
fn failed(error: Error, title: &str, step: &Step) -> Error {
    error.while_doing(&format!("take {title}")).else_at(&step.file, step.place)
}

/// Returns the turns that were recorded so far, in the form of [`Fixture::answers`](retake_wire::fixture::Fixture::answers).
pub type LiveTurns<'a> = dyn Fn() -> Json + 'a;
