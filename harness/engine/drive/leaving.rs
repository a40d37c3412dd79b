//! A step whose client leaves in the middle of a stream, comes back, or comes a second time; or whose system is killed meanwhile.

use axum::http::header;
use futures_util::future::join;

use super::answered::{Answered, last_id};
use super::away::Away;
use super::driver::{Driver, Outcome};
use super::exchange;
use super::request::Request;
use super::stream::Stream;
use super::underway::Underway;
use retake_base::error::{Error, Result};
use retake_core::events::{Event, Status};
use retake_core::json::Json;
use retake_model::FaultKind;
use retake_scenario::{self as scenario, Action, Method, RenderedBody, Step, StreamSpec};

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
        let request = self.rendered(asked)?;
        let (mut answered, mut response) = exchange::open(&request, &self.cookies, underway).await?;
        underway.status(answered.status);
        let mut stream = Stream::new(wanted, None);
        let is_there = |stream: &Stream| up_to(&stream.events, away.event).is_some();
        exchange::read_on(&mut response, &mut stream, &answered, underway, is_there).await?;
        let Some(first) = up_to(&stream.events, away.event) else {
            exchange::take_stream(&mut stream, &mut answered)?;
            return Ok(Outcome::Answered(Box::new(answered), None));
        };
        // What it sends until an answer is held is on its way, and is lost with the connection: all of it, whenever the client leaves.
        let comes = async {
            drop(exchange::read_on(&mut response, &mut stream, &answered, underway, |_| false).await);
            std::future::pending::<()>().await;
        };
        tokio::select! { biased; () = away.gate.has(away.asked, away.due) => {} () = comes => {} }
        answered.events = first;
        away.seen.lock().first.clone_from(&answered.events);
        away.gate.acts();
        match away.does {
            FaultKind::Viewers | FaultKind::Twice => {
                let second = match away.does {
                    FaultKind::Viewers => self.way_back(step, &request, Some(&answered), away, false)?,
                    _ => Request { status: Some(ANY.collect()), ..request },
                };
                let stays = exchange::read_on(&mut response, &mut stream, &answered, underway, |_| false);
                let of_second = underway.part(1);
                let comes = self.comes_again(&second, wanted, away, &of_second);
                // How the second one was received is noted; the first client is none the worse for it.
                join(stays, comes).await.0?;
                exchange::take_stream(&mut stream, &mut answered)?;
                away.seen.lock().first.clone_from(&answered.events);
            }
            does => {
                drop(response);
                // A service that looks whether its client is there sees it before the model goes on, or anybody comes back.
                away.gate.has(0, None).await;
                if does != FaultKind::Leave {
                    away.gate.opens();
                    self.calls.settled(away.quiet, || false).await;
                }
                if does == FaultKind::Gone {
                    return Err(Error::new("the client has left for good"));
                }
                let back = self.way_back(step, &request, Some(&answered), away, true)?;
                answered.events.extend(self.comes_again(&back, wanted, away, underway).await?.events);
            }
        }
        underway.keep(&answered.events);
        Ok(Outcome::Answered(Box::new(answered), None))
    }

    /// Sends a step's request to a system that is killed at some time, and comes back when it runs again.
    pub(super) async fn outlives(
        &self,
        step: &Step,
        asked: &scenario::Request,
        away: &Away,
        underway: &Underway,
    ) -> Result<Outcome> {
        away.gate.back_again().await;
        let was_killed = away.gate.acted().is_some();
        let is_cut = || !was_killed && away.gate.acted().is_some();
        let Some(wanted) = asked.stream().filter(|_| !was_killed) else {
            let outcome = self.request(asked, underway).await;
            let is_until = matches!(asked.answer, scenario::AnswerAs::Until(_));
            if !is_cut() || (is_until && outcome.is_ok()) {
                return outcome;
            }
            away.gate.back_again().await;
            return self.request(asked, underway).await;
        };
        let request = self.rendered(asked)?;
        let mut stream = Stream::new(wanted, None);
        let mut first = None;
        match exchange::open(&request, &self.cookies, underway).await {
            Err(error) if !is_cut() => return Err(error),
            Err(_) => {}
            Ok((mut answered, mut response)) => {
                underway.status(answered.status);
                let is_there =
                    |stream: &Stream| underway.current() == away.step && up_to(&stream.events, away.event).is_some();
                let read = exchange::read_on(&mut response, &mut stream, &answered, underway, is_there).await;
                if read.is_ok() && is_there(&stream) {
                    away.gate.is_due();
                    drop(exchange::read_on(&mut response, &mut stream, &answered, underway, |_| false).await);
                    away.gate.opened().await;
                } else if !is_cut() || stream.done {
                    underway.keep(&stream.events);
                    read?;
                    exchange::take_stream(&mut stream, &mut answered)?;
                    return Ok(Outcome::Answered(Box::new(answered), None));
                }
                answered.events = std::mem::take(&mut stream.events);
                first = Some(answered);
            }
        }
        away.gate.back_again().await;
        let here = Away { step: underway.current(), ..away.clone() };
        let back = self.way_back(step, &request, first.as_ref(), &here, true)?;
        let anew = back.method != "GET" && back.url == request.url;
        {
            let mut seen = away.seen.lock();
            (seen.step, seen.anew) = (Some(here.step), anew);
            seen.first = first.as_ref().map(|first| first.events.clone()).unwrap_or_default();
        }
        let again = self.comes_again(&back, wanted, away, underway).await?;
        let answered = match first {
            Some(mut first) if !anew => {
                first.events.extend(again.events);
                first
            }
            _ => again,
        };
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
    ) -> Result<Answered> {
        // How long nothing happens counts from here: what is held is not let go before the service has had the time to notice the request.
        away.gate.came(0);
        let opened = exchange::open(request, &self.cookies, underway).await;
        away.gate.opens();
        let (mut answered, mut response) = opened?;
        let status = if let Status::Http(status) = answered.status { status } else { 0 };
        away.seen.lock().again = Some((status, Vec::new()));
        if status >= 300 || status == 204 {
            return Err(Error::new(format!("the client that comes back gets status {status}")));
        }
        let mut stream = Stream::new(wanted, None);
        let read = exchange::read_on(&mut response, &mut stream, &answered, underway, |_| false).await;
        away.seen.lock().again = Some((status, stream.events.clone()));
        read?;
        answered.events = stream.events;
        Ok(answered)
    }

    /// The request with which a client comes back to a run of which it knows this much.
    fn way_back(
        &self,
        step: &Step,
        request: &Request,
        answered: Option<&Answered>,
        away: &Away,
        knows: bool,
    ) -> Result<Request> {
        let mut context = self.context.clone();
        for (name, value) in answered.and_then(|answered| answered.captures(step).ok()).unwrap_or_default() {
            context.insert(name, value);
        }
        let later = self.scenario.steps.iter().skip(away.step + 1).find_map(|step| match &step.action {
            Action::Request(request) if request.reconnect => Some(&request.path),
            _ => None,
        });
        let location = answered.and_then(|it| it.headers.get(header::LOCATION)).and_then(|it| it.to_str().ok());
        let last = answered.filter(|_| knows).and_then(|it| it.events.iter().rfind(|event| event.is_real())?.json());
        context.insert("last", last.unwrap_or_else(|| Json::object::<String>([])));
        let way = away.back.as_ref().map(|back| &back.path).or(later);
        let path = match way {
            // Who got no answer knows nothing that was in it.
            Some(path) if answered.is_none() => path.render_text(&context).ok(),
            Some(path) => Some(path.render_text(&context)?),
            None => location.map(str::to_owned),
        };
        let method = away.back.as_ref().map_or(Method::Get, |back| back.method);
        let id = answered.filter(|_| knows).and_then(|it| last_id(&it.events));
        let id = id.map(|id| ("Last-Event-ID".to_owned(), id.into_string()));
        // It may have come back before, as one of the scenario's steps does.
        let older = |name: &str| id.is_some() && name.eq_ignore_ascii_case("last-event-id");
        let headers = request.headers.iter().filter(|(name, _)| !older(name)).cloned().chain(id.clone()).collect();
        let status = Some(ANY.collect());
        Ok(match path {
            Some(path) => {
                let url = if path.starts_with('/') { format!("{}{path}", self.base()?) } else { path.clone() };
                let body = away.back.as_ref().map_or(Ok(RenderedBody::None), |back| back.body.render(&context))?;
                Request { method: method.as_str(), url, headers, body, status, title: format!("{method} {path}") }
            }
            None => Request { headers, status, ..request.clone() },
        })
    }
}

/// The statuses with which a client can be received.
const ANY: std::ops::Range<u16> = 200..600;

/// The events up to the real event with this number, if it has come.
fn up_to(events: &[Event], number: usize) -> Option<Vec<Event>> {
    let (last, _) = events.iter().enumerate().filter(|(_, event)| event.is_real()).nth(number.checked_sub(1)?)?;
    Some(events[..=last].to_vec())
}
