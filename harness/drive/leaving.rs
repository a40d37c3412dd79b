//! A step whose client leaves in the middle of a stream, comes back, or comes a second time.

use std::time::Duration;

use axum::http::header;
use futures_util::future::join;

use super::answered::Answered;
use super::away::Away;
use super::driver::{Driver, Outcome};
use super::exchange;
use super::request::Request;
use super::stream::Stream;
use super::underway::Underway;
use retake_base::error::{Error, Result};
use retake_core::events::{Event, Status};
use retake_model::FaultKind;
use retake_scenario::{self as scenario, Action, RenderedBody, Step, StreamSpec};

/// How long no call has to come until a run without its client has ended, or goes on no more.
const SETTLED: Duration = Duration::from_millis(250);

impl Driver<'_> {
    /// Sends a step's request, and does at an event of its stream what the client of the world does.
    pub(super) async fn leaves(
        &self,
        step: &Step,
        asked: &scenario::Request,
        away: &Away,
        underway: &Underway,
    ) -> Result<Outcome> {
        let wanted = asked.stream().ok_or_else(|| Error::new("this step reads no stream"))?;
        let base = || self.base();
        let request = Request::of(asked, &self.context, base, || self.id_to_come_back_with())?;
        request.tell(&mut self.sent.lock());
        let (mut answered, mut response) = exchange::open(&request, &self.cookies, underway).await?;
        underway.status(answered.status);
        let mut stream = Stream::new(wanted, None);
        let is_there = |stream: &Stream| up_to(&stream.events, away.event).is_some();
        exchange::read_on(&mut response, &mut stream, &answered, underway, is_there).await?;
        let Some(first) = up_to(&stream.events, away.event) else {
            exchange::take_stream(&mut stream, &mut answered)?;
            return Ok(Outcome::Answered(Box::new(answered), None));
        };
        answered.events = first;
        away.seen.lock().first.clone_from(&answered.events);
        away.gate.acts();
        match away.does {
            FaultKind::Viewers | FaultKind::Twice => {
                let second = match away.does {
                    FaultKind::Viewers => self.way_back(step, &request, &answered, away, false)?,
                    _ => Request { status: Some(ANY.collect()), ..request },
                };
                let stays = exchange::read_on(&mut response, &mut stream, &answered, underway, |_| false);
                let of_second = underway.part(1);
                let comes = self.comes_again(&second, wanted, away, &of_second);
                let (stayed, came) = join(stays, comes).await;
                stayed?;
                exchange::take_stream(&mut stream, &mut answered)?;
                away.seen.lock().first.clone_from(&answered.events);
                // How it was received is noted; the first client is none the worse for it.
                drop(came);
            }
            does => {
                drop(response);
                if does != FaultKind::Leave {
                    away.gate.opens();
                    self.calls.settled(SETTLED, || false).await;
                }
                if does == FaultKind::Gone {
                    return Err(Error::new("the client has left for good"));
                }
                let back = self.way_back(step, &request, &answered, away, true)?;
                answered.events.extend(self.comes_again(&back, wanted, away, underway).await?);
            }
        }
        underway.keep(&answered.events);
        Ok(Outcome::Answered(Box::new(answered), None))
    }

    /// Sends the second request, and reads what comes.
    async fn comes_again(
        &self,
        request: &Request,
        wanted: &StreamSpec,
        away: &Away,
        underway: &Underway,
    ) -> Result<Vec<Event>> {
        let opened = exchange::open(request, &self.cookies, underway).await;
        away.gate.opens();
        let (answered, mut response) = opened?;
        let status = if let Status::Http(status) = answered.status { status } else { 0 };
        away.seen.lock().again = Some((status, Vec::new()));
        if status >= 300 || status == NO_CONTENT {
            return Err(Error::new(format!("the client that comes back gets status {status}")));
        }
        let mut stream = Stream::new(wanted, None);
        let read = exchange::read_on(&mut response, &mut stream, &answered, underway, |_| false).await;
        away.seen.lock().again = Some((status, stream.events.clone()));
        read.map(|()| stream.events)
    }

    /// The request with which a client comes back to a run of which it knows this much.
    fn way_back(
        &self,
        step: &Step,
        request: &Request,
        answered: &Answered,
        away: &Away,
        knows: bool,
    ) -> Result<Request> {
        let mut context = self.context.clone();
        for (name, value) in answered.captures(step).unwrap_or_default() {
            context.insert(name, value);
        }
        let later = self.scenario.steps.iter().skip(away.step + 1).find_map(|step| match &step.action {
            Action::Request(request) if request.reconnect => Some(&request.path),
            _ => None,
        });
        let location = answered.headers.get(header::LOCATION).and_then(|it| it.to_str().ok());
        let path = match (&away.back, later, location) {
            (Some(path), ..) | (None, Some(path), _) => Some(path.render_text(&context)?),
            (None, None, location) => location.map(str::to_owned),
        };
        let id = answered.last_id().filter(|_| knows).map(|id| ("Last-Event-ID".to_owned(), id.into_string()));
        let headers = request.headers.iter().cloned().chain(id).collect();
        let status = Some(ANY.collect());
        Ok(match path {
            Some(path) => {
                let url = if path.starts_with('/') { format!("{}{path}", self.base()?) } else { path.clone() };
                Request { method: "GET", url, headers, body: RenderedBody::None, status, title: format!("GET {path}") }
            }
            None => Request { headers, status, ..request.clone() },
        })
    }
}

/// The statuses with which a client can be received.
const ANY: std::ops::Range<u16> = 200..600;
const NO_CONTENT: u16 = 204;

/// The events up to the real event with this number, if it has come.
fn up_to(events: &[Event], number: usize) -> Option<Vec<Event>> {
    let (last, _) = events.iter().enumerate().filter(|(_, event)| event.is_real()).nth(number.checked_sub(1)?)?;
    Some(events[..=last].to_vec())
}
