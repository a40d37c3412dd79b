//! A step that talks over a WebSocket: what to send, and the event at which it is done.

use super::event::EventSpec;
use crate::pointer::Pointer;
use crate::template::{Template, TemplateJson};

/// A WebSocket, or more messages on the one that an earlier step opened.
#[derive(Clone, Debug, PartialEq)]
pub struct SocketTalk {
    /// The socket to open; `None` to go on with the latest one.
    pub open: Option<SocketOpening>,
    /// The messages to send, in order. A string is sent as it is, anything else as JSON.
    pub send: Vec<TemplateJson>,
    /// The event at which the step is done. Without it, the step reads until the service closes the socket.
    pub last: Option<EventSpec>,
}

/// How to open a WebSocket.
#[derive(Clone, Debug, PartialEq)]
pub struct SocketOpening {
    /// Path and query, which start with `/`.
    pub path: Template,
    pub headers: Vec<(String, Template)>,
    /// What its messages look like.
    pub framing: Framing,
    /// What a client says of itself when it connects.
    pub connect: Option<TemplateJson>,
    /// The place of an event's name in a message.
    pub event: Option<Pointer>,
}

/// What the messages on a WebSocket look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// Each text is an event.
    #[default]
    Plain,
    /// Socket.IO: each message is a list with an event's name and its values.
    SocketIo,
    /// GraphQL subscriptions, by the protocol `graphql-transport-ws` or the older `graphql-ws`.
    GraphQl,
}
