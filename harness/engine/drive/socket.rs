//! A WebSocket to the system, which stays open until the scenario ends. The request that opens it is an ordinary one; from then on
//! a task of its own reads the messages and answers the protocol's questions, so that the service does not hang up while other
//! steps run.

use axum::http::HeaderMap;
use futures_util::{SinkExt as _, StreamExt as _};
use reqwest::Upgraded;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::{client::generate_key, derive_accept_key};
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};

use super::answered::Answered;
use super::driver::Driver;
use super::exchange;
use super::framing::{Arrived, Frames};
use super::stream::{Stream, lacks};
use super::underway::Underway;
use retake_base::error::{Error, Result};
use retake_core::events::{AfterLast, Ending, Status};
use retake_core::json::Json;
use retake_scenario::{self as scenario, EventSpec, Framing, SocketOpening, StreamSpec};

/// How many messages may wait for a step that takes them. The service has to wait with more.
const WAITING: usize = 65_536;
/// The code with which a socket is closed when all is done, or without a code.
const NORMAL: u16 = 1000;

/// An open WebSocket.
pub(super) struct Socket {
    /// The path, as goldens show it.
    path: String,
    frames: Frames,
    out: mpsc::Sender<Message>,
    come: mpsc::Receiver<Result<Message, String>>,
    task: JoinHandle<()>,
    opened: Answered,
    /// How the service closed it, if it did.
    ending: Ending,
}

impl Socket {
    /// Waits for the next message of the protocol itself.
    async fn until(&mut self, what: &str) -> Result<()> {
        loop {
            match self.next().await? {
                Some(Arrived::Accepted) => return Ok(()),
                Some(Arrived::Refused(why)) => {
                    return Err(Error::new(format!("the service refused the connection: {why}")));
                }
                Some(_) => {}
                None => return Err(Error::new(format!("the service closed the socket before it sent {what}"))),
            }
        }
    }

    async fn next(&mut self) -> Result<Option<Arrived>> {
        match self.come.recv().await {
            None => Ok(None),
            Some(Ok(Message::Close(frame))) => {
                self.ending = ending(frame);
                Ok(None)
            }
            Some(Ok(message)) => Ok(Some(self.frames.take(&message))),
            Some(Err(why)) => Err(Error::new(format!("the socket broke off: {why}"))),
        }
    }

    async fn say(&self, text: String) -> Result<()> {
        let closed = |_| Error::new("the service has closed the socket, so nothing can be sent");
        self.out.send(Message::text(text)).await.map_err(closed)
    }

    /// Takes what has come after the last event, until now or until the service closed the socket.
    pub(super) fn after(&mut self) -> AfterLast {
        let mut after = AfterLast { ending: self.ending, ..AfterLast::default() };
        while let Ok(Ok(message)) = self.come.try_recv() {
            if let Message::Close(frame) = message {
                after.ending = ending(frame);
            } else if let Arrived::Event(event, _) = self.frames.take(&message) {
                after.events.push(event);
            }
        }
        after
    }

    /// Sends messages, and reads up to the last event, or until the service closes the socket. The answer of the step that opened
    /// the socket has the headers of the opening.
    pub(super) async fn talk(
        &mut self,
        send: &[Json],
        last: Option<&EventSpec>,
        opens: bool,
        underway: &Underway,
    ) -> Result<Answered> {
        for message in send {
            let text = self.frames.print(message)?;
            self.say(text).await?;
        }
        underway.awaits(lacks(last, "socket"));
        let _reading = underway.reads();
        let spec = StreamSpec { first: None, last: last.cloned(), cancel: false };
        let mut stream = Stream::new(&spec, None);
        // A step that only opens the socket has nothing to wait for.
        let reads = last.is_some() || !opens || !send.is_empty();
        if reads {
            loop {
                let known = stream.events.len();
                let (event, size) = match self.next().await? {
                    Some(Arrived::Event(event, size)) => (event, size),
                    Some(Arrived::Refused(why)) => {
                        return Err(Error::new(format!("the service refused a message: {why}")));
                    }
                    Some(Arrived::Accepted | Arrived::Nothing) => continue,
                    None => break,
                };
                let is_over = stream.push_event(event, size);
                underway.events(&stream.events, known);
                if is_over {
                    break;
                }
            }
            stream.check()?;
        }
        let of_opening = opens.then(|| self.opened.clone());
        let answered = of_opening.unwrap_or_else(|| Answered {
            headers: HeaderMap::new(),
            request: format!("{}, continued", self.path),
            ..self.opened.clone()
        });
        Ok(Answered {
            status: Status::Http(101),
            content_type: "websocket".to_owned(),
            events: stream.events,
            after: AfterLast { ending: self.ending, ..AfterLast::default() },
            ..answered
        })
    }
}

impl Driver<'_> {
    /// Opens a socket, and says what its framing says first.
    /// Fails if the system does not answer with a WebSocket, or refuses the connection.
    pub(super) async fn open_socket(&self, opening: &SocketOpening) -> Result<Socket> {
        let (framing, underway) = (opening.framing, &self.underway);
        let mut request = self.rendered(&scenario::Request {
            method: scenario::Method::Get,
            path: opening.path.clone(),
            headers: opening.headers.clone(),
            body: scenario::StepBody::None,
            status: Some(vec![101]),
            reconnect: false,
            answer: scenario::AnswerAs::Body,
        })?;
        request.title = request.title.replacen("GET", "SOCKET", 1);
        let connect = opening.connect.as_ref().map(|connect| connect.render(&self.context)).transpose()?;
        if let Some(connect) = &connect {
            self.sent.lock().add(connect);
        }
        let key = generate_key();
        for (name, value) in [
            ("Connection", "Upgrade"),
            ("Upgrade", "websocket"),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", &key),
        ] {
            request.headers.push((name.to_owned(), value.to_owned()));
        }
        if framing == Framing::GraphQl && !request.has_header("sec-websocket-protocol") {
            request.headers.push(("Sec-WebSocket-Protocol".to_owned(), "graphql-transport-ws, graphql-ws".to_owned()));
        }
        if framing == Framing::SocketIo {
            for (name, value) in [("EIO", "4"), ("transport", "websocket")] {
                let (_, query) = request.url.split_once('?').unwrap_or_default();
                if !query.split('&').any(|pair| pair.starts_with(&format!("{name}="))) {
                    let sep = if request.url.contains('?') { '&' } else { '?' };
                    request.url = format!("{}{sep}{name}={value}", request.url);
                }
            }
        }
        underway.awaits("the socket did not open".to_owned());
        let (opened, response) = exchange::open(&request, &self.cookies, underway).await?;
        underway.status(opened.status);
        let accepts = opened.headers.get("sec-websocket-accept").and_then(|value| value.to_str().ok());
        if accepts != Some(derive_accept_key(key.as_bytes()).as_str()) {
            return Err(Error::new(
                "the answer is not that of a WebSocket: its `Sec-WebSocket-Accept` is wrong or missing",
            ));
        }
        let old = opened.headers.get("sec-websocket-protocol").is_some_and(|protocol| *protocol == "graphql-ws");
        let upgraded = response.upgrade().await.map_err(|e| Error::new(retake_model::clients::reqwest_reason(e)))?;
        let stream = WebSocketStream::from_raw_socket(upgraded, Role::Client, None).await;
        let (out, wanted) = mpsc::channel(WAITING);
        let (sender, come) = mpsc::channel(WAITING);
        let frames = Frames::new(framing, opening.event.clone(), old);
        let task = tokio::spawn(pump(stream, wanted, sender, frames.clone()));
        let path = request.title.clone();
        let mut socket = Socket { path, frames, out, come, task, opened, ending: Ending::Ended };
        underway.awaits("the connection was not accepted".to_owned());
        if socket.frames.framing == Framing::SocketIo {
            socket.until("the first message of Socket.IO (Engine.IO 4)").await?;
        }
        if let Some(first) = socket.frames.connect(connect) {
            socket.say(first).await?;
            socket.until("the connection to be accepted").await?;
        }
        Ok(socket)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// How a socket ended that the service closed.
fn ending(frame: Option<CloseFrame>) -> Ending {
    let code = frame.map_or(NORMAL, |frame| frame.code.into());
    if code == NORMAL { Ending::Ended } else { Ending::Closed(code) }
}

/// Carries messages in both directions, and answers the questions of the protocol, until either side ends.
async fn pump(
    mut stream: WebSocketStream<Upgraded>,
    mut wanted: mpsc::Receiver<Message>,
    come: mpsc::Sender<Result<Message, String>>,
    frames: Frames,
) {
    loop {
        tokio::select! {
            message = wanted.recv() => match message {
                Some(message) => if stream.send(message).await.is_err() { return },
                None => return,
            },
            message = stream.next() => {
                let message = match message {
                    None => return,
                    Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => continue,
                    Some(Ok(message)) => message,
                    Some(Err(error)) => {
                        let _ = come.send(Err(error.to_string())).await;
                        return;
                    }
                };
                if let Some(reply) = frames.reply(&message) {
                    if stream.send(Message::text(reply)).await.is_err() {
                        return;
                    }
                } else if come.send(Ok(message)).await.is_err() {
                    return;
                }
            }
        }
    }
}
