//! The requests that a double makes to an agent in place of the recorded server, and whether the agent answers as it did then.

use tokio::sync::oneshot;

use super::traffic::answer_in;
use crate::tools::difference::differences;
use retake_base::lock::Mutex;
use retake_core::json::Json;
use retake_wire::fixture::Reply;

/// The requests of one double.
#[derive(Debug, Default)]
pub(super) struct Questions(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    asked: u64,
    open: Vec<Question>,
}

#[derive(Debug)]
struct Question {
    id: Json,
    method: String,
    recorded: Reply,
    answered: oneshot::Sender<()>,
}

impl Questions {
    /// Notes a request. Returns its id, and what is told when the agent has answered.
    pub(super) fn ask(&self, method: &str, recorded: Reply) -> (Json, oneshot::Receiver<()>) {
        let mut state = self.0.lock();
        let id = Json::from(state.asked);
        state.asked += 1;
        let (answered, told) = oneshot::channel();
        state.open.push(Question { id: id.clone(), method: method.to_owned(), recorded, answered });
        (id, told)
    }

    /// Takes an agent's answer. Returns a line if it differs from the recorded one, after `reduce` removed what may differ.
    pub(super) fn replied(&self, message: &Json, reduce: impl Fn(&mut Json)) -> Option<String> {
        let Question { method, recorded, answered, .. } = {
            let mut state = self.0.lock();
            let at = state.open.iter().position(|question| Some(&question.id) == message.get("id"))?;
            state.open.remove(at)
        };
        // If nobody waits, the server did not wait either.
        let _ = answered.send(());
        let Reply::Answer(recorded) = recorded else { return None };
        let sides = [recorded, answer_in(message)?].map(|answer| {
            let mut side = match answer {
                Ok(result) => result,
                Err(error) => Json::object([("error", error)]),
            };
            reduce(&mut side);
            side
        });
        let found = differences("", Some(&sides[0]), Some(&sides[1]));
        let first = found.first()?;
        let [then, now] = first.shown(120);
        let place = if first.pointer.is_empty() { String::new() } else { format!(" at {}", first.pointer) };
        Some(format!("the agent answered the server's `{method}` differently{place}: {then} → {now}"))
    }

    /// Returns the methods of the requests that the agent has not answered, although it did when it was recorded.
    pub(super) fn open(&self) -> Vec<String> {
        let state = self.0.lock();
        let open = state.open.iter().filter(|question| question.recorded != Reply::Nothing);
        open.map(|question| question.method.clone()).collect()
    }
}
