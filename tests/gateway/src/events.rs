//! The event stream of a run.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::response::{
    IntoResponse,
    sse::{Event, KeepAlive, Sse},
};
use futures_util::stream;
use jiff::Timestamp;
use serde::Serialize;
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    time::sleep,
};

/// The sending side. A run goes on when its client has left, so nobody need be listening.
#[derive(Clone)]
pub(crate) struct Events(Arc<Mutex<Sender>>);

struct Sender {
    channel: UnboundedSender<Event>,
    sent: u64,
}

impl Events {
    pub(crate) fn new() -> (Self, UnboundedReceiver<Event>) {
        let (channel, received) = unbounded_channel();
        (Self(Arc::new(Mutex::new(Sender { channel, sent: 0 }))), received)
    }

    pub(crate) fn send(&self, name: &str, payload: &impl Serialize) {
        let Ok(data) = serde_json::to_string(payload) else { return };
        let mut sender = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = format!("{}-{}", Timestamp::now().as_millisecond(), sender.sent);
        sender.sent += 1;
        let _ = sender.channel.send(Event::default().id(id).event(name).data(data));
    }
}

/// The answer that streams what [`Events`] sends, with a comment every 15 seconds of silence. Where it `breaks_after` so
/// many events, the connection is cut behind them, while the run goes on.
pub(crate) fn response(received: UnboundedReceiver<Event>, breaks_after: Option<usize>) -> impl IntoResponse {
    let events = stream::unfold((received, breaks_after), async |(mut received, left)| match left {
        Some(0) => {
            // What was sent before is to arrive.
            sleep(Duration::from_millis(50)).await;
            Some((Err(io::Error::from(io::ErrorKind::ConnectionReset)), (received, Some(0))))
        }
        left => Some((Ok(received.recv().await?), (received, left.map(|left| left - 1)))),
    });
    let heartbeat = KeepAlive::new().interval(Duration::from_secs(15)).text("heartbeat");
    Sse::new(events).keep_alive(heartbeat)
}
