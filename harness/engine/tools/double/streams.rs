//! The streams that agents keep open, for what a server sends without being asked.

use super::out::Out;
use retake_base::lock::Mutex;
use retake_core::json::Json;

/// The field of `_meta` that names the subscription to which a message belongs: the id of the request that opened it.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The notification with which a server opens a subscription.
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// The open streams to the agents of one server.
#[derive(Debug, Default)]
pub(super) struct Streams(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The streams, with the name of the connection that opened each.
    open: Vec<(String, Out)>,
    /// The subscriptions that a double replays.
    subscriptions: Vec<Subscription>,
    /// Messages for a stream that is not open yet.
    waiting: Vec<Json>,
}

#[derive(Debug)]
struct Subscription {
    /// The id that it had when it was recorded.
    recorded: Json,
    id: Json,
    out: Out,
}

impl Streams {
    /// Opens a stream, and sends what waited for it.
    pub(super) fn open(&self, connection: &str, out: Out) {
        self.0.lock().open.push((connection.to_owned(), out));
        self.send_waiting();
    }

    /// Opens a subscription, and sends what waited for it.
    pub(super) fn subscribe(&self, recorded: Json, id: Json, out: Out) {
        {
            let subscriptions = &mut self.0.lock().subscriptions;
            subscriptions.retain(|known| known.recorded != recorded && known.out.is_open());
            subscriptions.push(Subscription { recorded, id, out });
        }
        self.send_waiting();
    }

    fn send_waiting(&self) {
        let waiting = std::mem::take(&mut self.0.lock().waiting);
        for message in waiting {
            self.send(message);
        }
    }

    pub(super) fn of(&self, connection: &str) -> Option<Out> {
        let state = self.0.lock();
        state.open.iter().find(|(name, _)| name == connection).map(|(_, out)| out.clone())
    }

    /// Forgets the stream of a connection, so that it ends with the last request that still uses it.
    pub(super) fn close(&self, connection: &str) {
        let mut state = self.0.lock();
        let State { open, subscriptions, .. } = &mut *state;
        for (_, out) in open.extract_if(.., |(name, _)| name == connection) {
            subscriptions.retain(|subscription| !subscription.out.is_same(&out));
        }
    }

    /// Sends a message that answers nothing, on the stream of its subscription or on the one that was opened last. If there is
    /// none yet, the message waits for it.
    pub(super) fn send(&self, mut message: Json) {
        let mut state = self.0.lock();
        state.open.retain(|(_, out)| out.is_open());
        state.subscriptions.retain(|subscription| subscription.out.is_open());
        let out = match message.get("params").and_then(subscription_of).cloned() {
            None => state.open.last().map(|(_, out)| out.clone()),
            Some(recorded) => {
                let found = state.subscriptions.iter().find(|subscription| subscription.recorded == recorded);
                found.map(|Subscription { id, out, .. }| {
                    if let Some(params) = message.as_object_mut().and_then(|message| message.get_mut("params")) {
                        set_subscription(params, id);
                    }
                    out.clone()
                })
            }
        };
        match out {
            Some(out) => out.send(message),
            None => state.waiting.push(message),
        }
    }
}

/// Returns the id of the subscription to which a message with these parameters belongs.
pub(super) fn subscription_of(params: &Json) -> Option<&Json> {
    params.get("_meta")?.get(SUBSCRIPTION)
}

/// Returns the id of the subscription that a notification opens.
pub(super) fn opened_by<'a>(method: Option<&str>, params: &'a Json) -> Option<&'a Json> {
    subscription_of(params).filter(|_| method == Some(ACKNOWLEDGED))
}

/// Changes the id of the subscription to which a message with these parameters belongs.
pub(super) fn set_subscription(params: &mut Json, id: &Json) {
    let meta = params.as_object_mut().and_then(|params| params.get_mut("_meta"));
    if let Some(meta) = meta.and_then(Json::as_object_mut) {
        meta.insert(SUBSCRIPTION.into(), id.clone());
    }
}
