//! What the messages on a WebSocket mean: plain texts, Socket.IO, and GraphQL subscriptions. Pure.

use tokio_tungstenite::tungstenite::Message;

use retake_base::error::{Error, Result};
use retake_core::events::{Event, Payload};
use retake_core::json::{Json, Layout};
use retake_scenario::{Framing, Pointer};

/// Reads and writes the messages of one socket.
#[derive(Clone, Debug)]
pub(super) struct Frames {
    pub(super) framing: Framing,
    /// The place of an event's name in a plain message.
    event: Option<Pointer>,
    /// Whether the service speaks the older protocol for GraphQL.
    old: bool,
    /// How many subscriptions there are.
    subscriptions: usize,
}

/// What a message is.
#[derive(Debug, PartialEq)]
pub(super) enum Arrived {
    /// An event, and the size of its message.
    Event(Event, usize),
    /// The service accepts the connection.
    Accepted,
    /// The service refuses the connection or a message, and says why.
    Refused(String),
    /// A part of the protocol that no client sees.
    Nothing,
}

impl Frames {
    pub(super) fn new(framing: Framing, event: Option<Pointer>, old: bool) -> Frames {
        Frames { framing, event, old, subscriptions: 0 }
    }

    /// The message with which a client connects.
    pub(super) fn connect(&self, with: Option<Json>) -> Option<String> {
        let printed = |json: &Json| json.print(Layout::Compact);
        match self.framing {
            Framing::Plain => None,
            Framing::SocketIo => Some(format!("40{}", with.as_ref().map(printed).unwrap_or_default())),
            Framing::GraphQl => {
                let kind = ("type", Json::from("connection_init"));
                Some(printed(&Json::object([kind].into_iter().chain(with.map(|with| ("payload", with))))))
            }
        }
    }

    /// The text that a message is sent as.
    /// Fails if the framing has no such message.
    pub(super) fn print(&mut self, message: &Json) -> Result<String> {
        let text = || message.as_str().map_or_else(|| message.print(Layout::Compact), str::to_owned);
        match self.framing {
            Framing::Plain => Ok(text()),
            Framing::SocketIo => match message.as_array() {
                Some([Json::Str(_), ..]) => Ok(format!("42{}", text())),
                _ => Err(Error::new(format!("{} is not a message of Socket.IO", text()))
                    .help("write a list that begins with the event's name: send = [[\"chat\", { text = \"hi\" }]]")),
            },
            Framing::GraphQl if message.get("query").is_none() => {
                let error = Error::new(format!("{} is not a GraphQL subscription", text()));
                Err(error.help("write send = { query = \"subscription { … }\", variables = { … } }"))
            }
            Framing::GraphQl => {
                self.subscriptions += 1;
                let id = Json::from(self.subscriptions.to_string().as_str());
                let kind = if self.old { "start" } else { "subscribe" };
                let fields = [("id", id), ("type", Json::from(kind)), ("payload", message.clone())];
                Ok(Json::object(fields).print(Layout::Compact))
            }
        }
    }

    /// The answer to a question of the protocol, such as whether the client is still there.
    pub(super) fn reply(&self, message: &Message) -> Option<String> {
        let text = message.to_text().ok().filter(|_| message.is_text())?;
        match self.framing {
            Framing::Plain => None,
            Framing::SocketIo => text.strip_prefix('2').map(|probe| format!("3{probe}")),
            Framing::GraphQl => {
                let kind = Json::parse(text.as_bytes()).ok()?;
                (kind.str_of("type") == Some("ping")).then(|| "{\"type\":\"pong\"}".to_owned())
            }
        }
    }

    /// What a message of the service means.
    pub(super) fn take(&self, message: &Message) -> Arrived {
        let Some(text) = message.to_text().ok().filter(|_| message.is_text()) else {
            // The bytes that belong to an event of Socket.IO are in it as placeholders.
            return match self.framing {
                Framing::SocketIo => Arrived::Nothing,
                _ => named("binary", &Json::object([("bytes", Json::from(message.len()))]), message.len()),
            };
        };
        match self.framing {
            Framing::Plain => {
                let json = self.event.as_ref().and_then(|_| Json::parse(text.as_bytes()).ok());
                let name = self.event.as_ref().zip(json.as_ref()).and_then(|(at, json)| at.find(json)?.as_str());
                let payload = Payload::Data(text.into());
                Arrived::Event(Event { name: name.map(Into::into), id: None, payload }, text.len())
            }
            Framing::SocketIo => socket_io(text),
            Framing::GraphQl => graph_ql(text),
        }
    }
}

fn named(name: &str, payload: &Json, size: usize) -> Arrived {
    let payload = Payload::Data(payload.print(Layout::Compact).into());
    Arrived::Event(Event { name: Some(name.into()), id: None, payload }, size)
}

/// A message of Socket.IO 5 in Engine.IO 4: `42["name",value]`, with a namespace and an id that may stand before the list.
fn socket_io(text: &str) -> Arrived {
    let kind = text.get(..2).unwrap_or(text);
    let rest = text.get(2..).unwrap_or_default();
    let list = rest.find('[').and_then(|at| Json::parse(&rest.as_bytes()[at..]).ok());
    let list = list.and_then(|list| list.as_array().map(<[Json]>::to_vec));
    match kind {
        _ if text.starts_with('0') => Arrived::Accepted,
        "40" => Arrived::Accepted,
        "44" => {
            let why = rest.find('{').and_then(|at| Json::parse(&rest.as_bytes()[at..]).ok());
            let said = why.as_ref().and_then(|why| why.str_of("message")).map(str::to_owned);
            Arrived::Refused(said.unwrap_or_else(|| rest.to_owned()))
        }
        "41" => named("disconnect", &Json::Null, text.len()),
        "42" | "45" => {
            let mut values = list.unwrap_or_default().into_iter();
            let name = values.next().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
            let mut values: Vec<Json> = values.collect();
            let payload = match values.len() {
                0 => Json::Null,
                1 => values.remove(0),
                _ => Json::Array(values),
            };
            named(&name, &payload, text.len())
        }
        "43" | "46" => named("ack", &Json::Array(list.unwrap_or_default()), text.len()),
        _ => Arrived::Nothing,
    }
}

/// A message of a GraphQL subscription. The older protocol says `data` for `next`.
fn graph_ql(text: &str) -> Arrived {
    let Ok(message) = Json::parse(text.as_bytes()) else { return named("message", &Json::from(text), text.len()) };
    let payload = || message.get("payload").cloned().unwrap_or(Json::Null);
    match message.str_of("type").unwrap_or_default() {
        "connection_ack" => Arrived::Accepted,
        "connection_error" => Arrived::Refused(payload().print(Layout::Compact)),
        "ka" | "pong" => Arrived::Nothing,
        "data" => named("next", &payload(), text.len()),
        other => named(other, &payload(), text.len()),
    }
}

#[cfg(test)]
mod tests;
