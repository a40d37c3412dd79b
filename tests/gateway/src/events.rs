//! The event stream of a run.

use std::{
    convert::Infallible,
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
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

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

/// The answer that streams what [`Events`] sends, with a comment every 15 seconds of silence.
pub(crate) fn response(received: UnboundedReceiver<Event>) -> impl IntoResponse {
    let events = stream::unfold(received, async |mut received| {
        let event = received.recv().await?;
        Some((Ok::<_, Infallible>(event), received))
    });
    let heartbeat = KeepAlive::new().interval(Duration::from_secs(15)).text("heartbeat");
    Sse::new(events).keep_alive(heartbeat)
}
