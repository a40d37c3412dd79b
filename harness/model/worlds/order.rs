//! Answers of calls that are under way together, in another order than the one in which the calls came.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::sync::watch;

/// How long the first answers wait for the other calls. If one of them never comes, the order is the usual one.
const GATHERING: Duration = Duration::from_secs(2);
/// How long an answer has been sent when the next one follows.
const APART: Duration = Duration::from_millis(30);

/// The order in which the calls of some turns are answered.
#[derive(Debug)]
pub(super) struct Order {
    turns: Vec<usize>,
    state: watch::Sender<State>,
}

#[derive(Clone, Debug, Default)]
struct State {
    came: BTreeSet<usize>,
    /// How many were answered.
    answered: usize,
}

impl Order {
    pub(super) fn of(turns: Vec<usize>) -> Order {
        Order { turns, state: watch::Sender::new(State::default()) }
    }

    /// Waits until the call of a turn may be answered.
    pub(super) async fn turn_of(&self, turn: usize) {
        let Some(place) = self.turns.iter().position(|of| *of == turn) else { return };
        self.state.send_modify(|state| state.came.extend([turn]));
        let mut state = self.state.subscribe();
        let all = self.turns.len();
        let wait = state.wait_for(|state| state.came.len() == all && state.answered >= place);
        let _ = tokio::time::timeout(GATHERING, wait).await;
        let state = self.state.clone();
        tokio::spawn(async move {
            tokio::time::sleep(APART).await;
            state.send_modify(|state| state.answered = state.answered.max(place + 1));
        });
    }
}
