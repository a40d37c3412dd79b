//! What passes between agents and a real server: handed on in both directions, and kept as exchanges.

use std::sync::Arc;

use axum::http::StatusCode;
use tokio::sync::oneshot;

use super::out::Out;
use super::single::Request;
use super::streams::{Streams, opened_by, subscription_of};
use retake_base::lock::Mutex;
use retake_core::json::Json;
use retake_core::secrets::{Fired, Scrub};
use retake_wire::fixture::{Reply, ToolExchange, ToolMessage};

/// The traffic with one server.
#[derive(Debug)]
pub(super) struct Traffic {
    state: Mutex<State>,
    streams: Arc<Streams>,
    scrub: Scrub,
}

#[derive(Debug, Default)]
struct State {
    /// In the order of the requests; `None` if the server could not be asked.
    exchanges: Vec<Option<ToolExchange>>,
    /// The requests that have no answer yet, in order.
    pending: Vec<Pending>,
    /// The exchange that was answered last.
    last: Option<usize>,
    /// What the server sent before it was asked anything.
    early: Vec<ToolMessage>,
    /// The requests of the server that the agent has not answered: the id, and where the request is kept.
    questions: Vec<(Json, Place, usize)>,
    renamed: usize,
}

#[derive(Debug)]
struct Pending {
    exchange: usize,
    /// The id that the agent gave the request, and the one with which it was passed on.
    id: Json,
    passed_as: Json,
    token: Option<Json>,
    /// Whether the request opened a subscription, so what comes later is sent without being asked for.
    subscribes: bool,
    out: Out,
    answered: oneshot::Sender<Result<Json, Json>>,
}

/// Where a message of the server is kept: before or after the answer of an exchange, or before the first exchange.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Before(usize),
    After(usize),
    Early,
}

/// Gets the answer to a request; fails if there will be none.
pub(super) type Answering = oneshot::Receiver<Result<Json, Json>>;

/// The connection on which a message of the server came.
pub(super) enum Via<'a> {
    /// The answer to the request of this exchange, over HTTP.
    Answer(usize),
    /// A stream that an agent keeps open, over HTTP.
    Stream(&'a Out),
    /// The only one that there is, on standard output.
    Pipe,
}

impl Traffic {
    pub(super) fn new(streams: Arc<Streams>, scrub: Scrub) -> Traffic {
        Traffic { state: Mutex::default(), streams, scrub }
    }

    /// Notes a request of an agent, which has to be passed on. Its id stays, unless the request of another agent waits under the same one.
    /// Returns its exchange, and the request with the id that it is passed on with.
    pub(super) fn ask(&self, mut message: Json, request: &Request) -> (usize, Json, Answering) {
        let id = message.get("id").cloned().unwrap_or(Json::Null);
        let mut state = self.state.lock();
        let mut passed_as = id.clone();
        while state.pending.iter().any(|pending| pending.passed_as == passed_as) {
            state.renamed += 1;
            passed_as = Json::Str(format!("retake-{}", state.renamed));
        }
        if let Json::Object(fields) = &mut message {
            fields.insert("id".into(), passed_as.clone());
        }
        let exchange = state.exchanges.len();
        let messages = std::mem::take(&mut state.early);
        for (_, place, _) in state.questions.iter_mut().filter(|(_, place, _)| *place == Place::Early) {
            *place = Place::Before(exchange);
        }
        let mut kept = ToolExchange { messages, ..request.asked.clone() };
        self.scrub.json(&mut kept.params, &mut Fired::new());
        state.exchanges.push(Some(kept));
        let (answered, answer) = oneshot::channel();
        let token = token_of(&message);
        let out = request.out.clone();
        state.pending.push(Pending { exchange, id, passed_as, token, subscribes: false, out, answered });
        (exchange, message, answer)
    }

    /// Takes a message of the server: keeps it, and hands it on to the agent.
    pub(super) fn came(&self, via: &Via<'_>, message: Json) {
        let mut state = self.state.lock();
        if message.get("method").is_none() {
            let id = message.get("id");
            let of = |pending: &Pending| match via {
                Via::Answer(exchange) => pending.exchange == *exchange,
                Via::Stream(_) | Via::Pipe => Some(&pending.passed_as) == id,
            };
            let Some(answer) = answer_in(&message) else { return };
            self.answered(&mut state, of, &answer, None);
            return;
        }
        let of_request = match via {
            Via::Answer(exchange) => state.pending.iter().position(|pending| pending.exchange == *exchange),
            Via::Stream(_) => None,
            Via::Pipe => asker(&state.pending, &message),
        };
        let asked_for = of_request.filter(|at| !state.pending[*at].subscribes);
        let place = match asked_for {
            Some(at) => Place::Before(state.pending[at].exchange),
            None => unasked(&state),
        };
        self.keep(&mut state, place, &message);
        match (of_request, via) {
            (Some(at), _) => {
                let pending = &mut state.pending[at];
                let params = message.get("params");
                pending.subscribes |= params.and_then(|params| opened_by(message.str_of("method"), params)).is_some();
                pending.out.send(message);
            }
            (None, Via::Stream(out)) => out.send(message),
            (None, _) => self.streams.send(message),
        }
    }

    /// Takes the HTTP response of a server that refused a request.
    pub(super) fn refused(&self, exchange: usize, status: u16, body: &[u8]) {
        let error = Json::parse(body).ok().and_then(|json| json.get("error").cloned());
        let error = error.unwrap_or_else(|| Json::Str(String::from_utf8_lossy(body).into_owned()));
        let mut state = self.state.lock();
        self.answered(&mut state, |pending| pending.exchange == exchange, &Err(error), Some(status));
    }

    /// Takes the answer of a plain HTTP tool.
    pub(super) fn returned(&self, exchange: usize, status: StatusCode, result: Json) {
        let status = Some(status.as_u16()).filter(|_| status != StatusCode::OK);
        let mut state = self.state.lock();
        self.answered(&mut state, |pending| pending.exchange == exchange, &Ok(result), status);
    }

    fn answered(
        &self,
        state: &mut State,
        of: impl Fn(&Pending) -> bool,
        answer: &Result<Json, Json>,
        status: Option<u16>,
    ) {
        let Some(at) = state.pending.iter().position(of) else { return };
        let Pending { exchange, id, out, answered, .. } = state.pending.remove(at);
        if let Some(kept) = &mut state.exchanges[exchange] {
            kept.answer = Some(self.scrubbed(answer));
            kept.status = status;
        }
        state.last = Some(exchange);
        // Nobody waits any more if the agent has hung up. Those who wait are told before the agent, which hangs up then.
        let _ = answered.send(answer.clone());
        out.answer(&id, answer, status);
    }

    /// Answers a request that could not be passed on with an error. Its exchange is not kept.
    pub(super) fn failed(&self, exchange: usize, reason: &str) {
        let mut state = self.state.lock();
        let of = |pending: &Pending| pending.exchange == exchange;
        let Some(at) = state.pending.iter().position(of) else { return };
        let pending = state.pending.remove(at);
        if pending.subscribes {
            return;
        }
        state.exchanges[exchange] = None;
        let error = Json::object([("code", Json::Int(-32001)), ("message", reason.into())]);
        let _ = pending.answered.send(Err(error.clone()));
        pending.out.answer(&pending.id, &Err(error), None);
    }

    /// Answers all requests with an error, since the server has ended.
    pub(super) fn ended(&self) {
        let pending: Vec<usize> = {
            let state = self.state.lock();
            state.pending.iter().map(|pending| pending.exchange).collect()
        };
        for exchange in pending {
            self.failed(exchange, "the server ended");
        }
    }

    /// Forgets a request whose answer the agent no longer waits for.
    pub(super) fn given_up(&self, exchange: usize) {
        let mut state = self.state.lock();
        state.pending.retain(|pending| pending.exchange != exchange);
    }

    /// Takes a notification of an agent. If it cancels a request, no answer has to follow.
    pub(super) fn notified(&self, message: &Json) {
        if message.str_of("method") == Some("notifications/cancelled") {
            let id = message.get("params").and_then(|params| params.get("requestId"));
            let mut state = self.state.lock();
            state.pending.retain(|pending| Some(&pending.id) != id);
        }
    }

    /// Takes an agent's answer to a request of the server.
    pub(super) fn replied(&self, message: &Json) {
        let (Some(id), Some(answer)) = (message.get("id"), answer_in(message)) else { return };
        let mut state = self.state.lock();
        let Some(at) = state.questions.iter().position(|(asked, ..)| asked == id) else { return };
        let (_, place, index) = state.questions.remove(at);
        if let Some(kept) = messages_at(&mut state, place).and_then(|kept| kept.get_mut(index)) {
            kept.reply = Some(Reply::Answer(self.scrubbed(&answer)));
        }
    }

    /// Returns the exchanges so far.
    pub(super) fn exchanges(&self) -> Vec<ToolExchange> {
        let state = self.state.lock();
        state.exchanges.iter().flatten().cloned().collect()
    }

    /// Returns the methods of the server's requests that the agent has not answered.
    pub(super) fn open_questions(&self) -> Vec<String> {
        let mut state = self.state.lock();
        let open = state.questions.clone();
        let kept = |(_, place, index): (Json, Place, usize)| messages_at(&mut state, place)?.get(index).cloned();
        open.into_iter().filter_map(kept).map(|message| message.method).collect()
    }

    fn keep(&self, state: &mut State, place: Place, message: &Json) {
        let mut params = message.get("params").cloned().unwrap_or(Json::Null);
        self.scrub.json(&mut params, &mut Fired::new());
        if let Json::Object(fields) = &mut params
            && let Some(token) = fields.get_mut("progressToken")
        {
            *token = Json::Null;
        }
        let method = message.str_of("method").unwrap_or_default().to_owned();
        let id = message.get("id").cloned();
        let Some(kept) = messages_at(state, place) else { return };
        kept.push(ToolMessage { method, params, reply: id.is_some().then_some(Reply::Nothing) });
        let index = kept.len() - 1;
        state.questions.extend(id.map(|id| (id, place, index)));
    }

    fn scrubbed(&self, answer: &Result<Json, Json>) -> Result<Json, Json> {
        let mut answer = answer.clone();
        match &mut answer {
            Ok(json) | Err(json) => self.scrub.json(json, &mut Fired::new()),
        }
        answer
    }
}

fn messages_at(state: &mut State, place: Place) -> Option<&mut Vec<ToolMessage>> {
    match place {
        Place::Before(exchange) => state.exchanges[exchange].as_mut().map(|kept| &mut kept.messages),
        Place::After(exchange) => state.exchanges[exchange].as_mut().map(|kept| &mut kept.then),
        Place::Early => Some(&mut state.early),
    }
}

/// Finds the request that a message on a shared connection belongs to: the one that it names, otherwise the last one that waits.
fn asker(pending: &[Pending], message: &Json) -> Option<usize> {
    let params = message.get("params");
    if let Some(subscription) = params.and_then(subscription_of) {
        return pending.iter().rposition(|pending| pending.id == *subscription);
    }
    if let Some(token) = params.and_then(|params| params.get("progressToken")) {
        return pending.iter().rposition(|pending| pending.token.as_ref() == Some(token));
    }
    pending.iter().rposition(|pending| !pending.subscribes)
}

/// Returns the place of a message that belongs to no request: before the answer that is awaited, or after the last one.
fn unasked(state: &State) -> Place {
    let awaited = state.pending.iter().rfind(|pending| !pending.subscribes);
    let after = state.last.filter(|last| state.exchanges[*last].is_some());
    awaited.map(|pending| Place::Before(pending.exchange)).or(after.map(Place::After)).unwrap_or(Place::Early)
}

/// Returns the token with which a request asks for reports on its progress.
pub(super) fn token_of(request: &Json) -> Option<Json> {
    request.get("params")?.get("_meta")?.get("progressToken").cloned()
}

pub(super) fn answer_in(message: &Json) -> Option<Result<Json, Json>> {
    let result = message.get("result").map(|result| Ok(result.clone()));
    result.or_else(|| message.get("error").map(|error| Err(error.clone())))
}
