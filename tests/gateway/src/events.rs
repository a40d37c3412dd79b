//! The event stream of a run.

use std::{io, time::Duration};

use axum::{
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{
        IntoResponse,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures_util::stream;
use serde::Serialize;
use time::OffsetDateTime;
use tokio::{sync::watch, time::sleep};

use crate::mutants::mutant;

/// The sending side. A run continues after its client has left, so sending works without a receiver.
#[derive(Clone)]
pub(crate) struct Events(watch::Sender<Vec<Event>>);

/// The receiving side: all events of a run so far, and those to come. A client that reconnects reads it again.
pub(crate) type Log = watch::Receiver<Vec<Event>>;

impl Events {
    pub(crate) fn new() -> (Self, Log) {
        let (events, log) = watch::channel(Vec::new());
        (Self(events), log)
    }

    pub(crate) fn send(&self, name: &str, payload: &impl Serialize) {
        let Ok(data) = serde_json::to_string(payload) else { return };
        let data = mutant!("payload_encoded_twice", format!("{data:?}"), data);
        self.0.send_modify(|log| {
            let number = mutant!("event_ids_from_one", log.len() + 1, log.len());
            let number = mutant!("event_ids_equal", 0, number);
            let id = format!("{}-{number}", OffsetDateTime::now_utc().unix_timestamp_nanos() / 1_000_000);
            let event = mutant!("events_without_id", Event::default(), Event::default().id(id));
            log.push(mutant!("events_without_name", event, event.event(name)).data(data));
        });
    }
}

/// Returns the position at which a client that reconnects continues: after the event whose id it saw last.
pub(crate) fn resumes_at(headers: &HeaderMap) -> usize {
    let seen = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.rsplit_once('-')?.1.parse().ok());
    if mutant!("reconnect_from_start") {
        return 0;
    }
    let skipped = mutant!("reconnect_repeats_one", 0, mutant!("reconnect_skips_one", 2, 1));
    seen.map_or(0, |seen: usize| seen + skipped)
}

/// Returns the response that streams a run's events, starting at position `from`, with a comment after every 15 seconds of
/// silence. With `breaks_after`, the connection is cut after that many events while the run continues.
pub(crate) fn response(log: Log, from: usize, breaks_after: Option<usize>) -> impl IntoResponse {
    let events = stream::unfold((log, from, breaks_after), async |(mut log, next, left)| {
        if left == Some(0) {
            // Give the events that were already sent time to arrive.
            sleep(Duration::from_millis(50)).await;
            return Some((Err(io::Error::from(io::ErrorKind::ConnectionReset)), (log, next, left)));
        }
        if mutant!("stream_at_once") {
            // This returns when the run has ended.
            let _ = log.wait_for(|_| false).await;
        }
        let more = mutant!("last_event_lost", 1, 0);
        let event = log.wait_for(|log| log.len() > next + more).await.ok()?.get(next).cloned()?;
        Some((Ok(event), (log, next + 1, left.map(|left| left - 1))))
    });
    let heartbeat = KeepAlive::new().interval(Duration::from_secs(15)).text("heartbeat");
    let mut response = Sse::new(events).keep_alive(heartbeat).into_response();
    if mutant!("stream_as_text") {
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    }
    if mutant!("stream_cached") {
        response.headers_mut().remove(header::CACHE_CONTROL);
    }
    if mutant!("stream_202") {
        *response.status_mut() = StatusCode::ACCEPTED;
    }
    response
}
