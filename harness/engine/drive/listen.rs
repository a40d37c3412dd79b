//! A stream that is open while later steps run.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::answered::{Answered, last_id};
use super::stream::{Stream, lacks};
use super::underway::Underway;
use retake_base::error::{Error, Result};
use retake_base::lock::Mutex;
use retake_base::text::listed;
use retake_core::events::Event;
use retake_model::Reading;
use retake_model::clients::reqwest_reason;
use retake_scenario::{EventSpec, StreamSpec};

/// A stream that is being captured. Dropping this closes it.
#[derive(Debug)]
pub(super) struct Listener {
    /// The answer without its events, which are added at the end.
    pub(super) answered: Answered,
    heard: Arc<Mutex<Heard>>,
    changed: watch::Receiver<usize>,
    task: JoinHandle<()>,
    /// How many of the events the steps that wait for one have gone past.
    passed: usize,
}

#[derive(Debug)]
struct Heard {
    stream: Stream,
    /// The error if the stream broke off.
    broken: Option<Error>,
    /// Whether its last event has come, or its end.
    ended: bool,
}

impl Listener {
    pub(super) fn start(
        answered: Answered,
        response: reqwest::Response,
        wanted: &StreamSpec,
        underway: &Underway,
        reading: Option<Reading>,
    ) -> Listener {
        let heard = Heard { stream: Stream::new(wanted, None), broken: None, ended: false };
        let heard = Arc::new(Mutex::new(heard));
        let (sender, changed) = watch::channel(0);
        let hearing = heard.clone();
        let (underway, step) = (underway.clone(), underway.current());
        let task = tokio::spawn(async move {
            let _reading = reading;
            let mut chunks = response.bytes_stream();
            loop {
                let chunk = chunks.next().await;
                let mut heard = hearing.lock();
                let known = heard.stream.events.len();
                let goes_on = match chunk {
                    Some(Ok(chunk)) => {
                        heard.ended = heard.stream.push(&chunk);
                        heard.stream.takes_more()
                    }
                    other => {
                        if !heard.ended {
                            heard.stream.end();
                            let reason = other.and_then(Result::err).map(reqwest_reason);
                            heard.broken = reason.map(|reason| Error::new(format!("the answer broke off: {reason}")));
                            heard.ended = true;
                        }
                        false
                    }
                };
                underway.events_of(step, &heard.stream.events, known);
                let events = heard.stream.events.len();
                drop(heard);
                sender.send_replace(events);
                if !goes_on {
                    return;
                }
            }
        });
        Listener { answered, heard, changed, task, passed: 0 }
    }

    /// Returns the event id with which a client would reconnect now.
    pub(super) fn last_id(&self) -> Option<Box<str>> {
        last_id(&self.heard.lock().stream.events)
    }

    /// Whether its last event has come, or its end.
    pub(super) fn is_over(&self) -> bool {
        self.heard.lock().ended
    }

    /// Waits for an event, after the one that was waited for before. Returns the answer with the events up to it, latest first.
    /// Fails if the stream ends before that event.
    pub(super) async fn hear(&mut self, wanted: &EventSpec, underway: &Underway) -> Result<Answered> {
        underway.awaits(lacks(Some(wanted), "stream"));
        let (passed, heard) = (self.passed, self.heard.clone());
        let mut found = None;
        let is_over = |heard: &Heard, found: &mut Option<usize>| {
            let mut fitting = heard.stream.events.iter().enumerate().skip(passed).filter(|of| wanted.fits(of.1));
            *found = fitting.nth(wanted.times - 1).map(|(at, _)| at);
            found.is_some() || heard.ended
        };
        while !is_over(&heard.lock(), &mut found) && self.changed.changed().await.is_ok() {}
        underway.done();
        let heard = heard.lock();
        let events = &heard.stream.events;
        let Some(at) = found else {
            let names: BTreeSet<_> = events.iter().skip(passed).filter(|of| of.is_real()).map(Event::label).collect();
            let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
            let error = Error::new(format!("the stream was over before the event `{wanted}` came"));
            let came = if names.is_empty() { "no event".to_owned() } else { listed(&names) };
            let error = error.help(format!("came since the last event for which a step waited: {came}"));
            return Err(error.suggest(&wanted.event, names.iter().copied().filter(|name| *name != wanted.event)));
        };
        self.passed = at + 1;
        Ok(Answered { events: events[..=at].iter().rev().cloned().collect(), ..self.answered.clone() })
    }

    /// If the step names a last event that has not come yet, waits for it, or for the stream's end. Returns whether it waited.
    pub(super) async fn hear_last(&mut self, underway: &Underway) -> bool {
        {
            let heard = self.heard.lock();
            let Some(last) = heard.stream.wanted.last.as_ref().filter(|_| !heard.ended) else { return false };
            underway.awaits(lacks(Some(last), "stream"));
        }
        self.ended().await;
        underway.done();
        true
    }

    /// Waits for the last event. If the step names none, waits for the stream's end, but at most for `settle`, because there is
    /// no way to tell whether more will come.
    /// Fails if the stream is not as the step expects it.
    pub(super) async fn finish(mut self, settle: Duration, underway: &Underway) -> Result<Answered> {
        if self.heard.lock().stream.wanted.last.is_some() {
            self.hear_last(underway).await;
        } else {
            let _ = timeout(settle, self.ended()).await;
        }
        self.task.abort();
        let mut answered = self.answered.clone();
        let (events, after, checked) = {
            let mut heard = self.heard.lock();
            heard.stream.add_retry(&mut answered.headers);
            let checked = heard.stream.check();
            let checked = if heard.stream.done { checked } else { heard.broken.take().map_or(checked, Err) };
            let after = heard.stream.take_after();
            (std::mem::take(&mut heard.stream.events), after, checked)
        };
        checked?;
        Ok(Answered { events, after, ..answered })
    }

    async fn ended(&mut self) {
        while !self.heard.lock().ended && self.changed.changed().await.is_ok() {}
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}
