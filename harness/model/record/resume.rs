//! A recording that goes on from an earlier one: each call that equals a recorded one, by its key and all its checks, is
//! answered from it and paid no more.
//!
//! Which answer a call gets does not depend on when it comes beside other calls: calls are told apart by their keys, and
//! of calls under one key the first gets the first recorded answer.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::cost::{Cost, tokens};
use super::pending_call::PendingCall;
use crate::conversation::Answer;
use crate::fixture::call_log::LoggedCall;
use crate::fixture::{Fixture, Recorded, Wire};
use crate::json::Json;
use crate::key::{Checks, Hash, Rules};
use crate::wire::{self, Api, Known, Response, Target};

/// Recorded calls and their answers, from which a new recording is served.
#[derive(Debug)]
pub struct Resume {
    rules: Arc<Rules>,
    expected: Cost,
    state: Mutex<ResumeState>,
}

#[derive(Debug, Default)]
struct ResumeState {
    recalled: HashMap<Same, VecDeque<Recalled>>,
    /// What was answered, for requests that refer to it.
    known: Known,
    served: Cost,
    live: usize,
}

/// What has to be equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Same {
    caller: Option<String>,
    conversation: Hash,
    checks: Checks,
}

/// A recorded answer.
#[derive(Clone, Debug)]
struct Recalled {
    output: Answer,
    wire: Wire,
    tokens: u64,
}

/// What becomes of a call.
pub(super) enum Recall {
    /// The recorded response, and the same in the form that the call asked for.
    Recorded(Response, Response),
    /// It goes to the provider. With what is to be expected from here on, where it is the first one that does.
    New(Option<Cost>),
}

/// The turns of several attempts as those of one: of the calls under one key, an older attempt gives only those that
/// the newer ones had not come to yet. `attempts` begin with the newest.
#[must_use]
pub(crate) fn merged(attempts: Vec<Vec<(Recorded, LoggedCall)>>, rules: &Rules) -> Vec<(Recorded, LoggedCall)> {
    let mut have: HashMap<Same, usize> = HashMap::new();
    let mut all = Vec::new();
    for attempt in attempts {
        let mut seen: HashMap<Same, usize> = HashMap::new();
        for turn in attempt {
            let same = Same::of_recorded(&turn.0, rules);
            let place = seen.entry(same.clone()).or_default();
            *place += 1;
            if *place > have.get(&same).copied().unwrap_or_default() {
                all.push(turn);
            }
        }
        for (same, count) in seen {
            let had = have.entry(same).or_default();
            *had = count.max(*had);
        }
    }
    all
}

impl Same {
    fn of_recorded(call: &Recorded, rules: &Rules) -> Same {
        Same {
            caller: call.caller.clone(),
            conversation: rules.conversation_hash(&call.conversation),
            checks: call.checks.hashes(),
        }
    }
}

impl Resume {
    /// Serves from the turns of a failed attempt's journal, and from those of an old fixture where the journal has none
    /// under a key, or fewer.
    #[must_use]
    pub fn new(journal: &[(Recorded, LoggedCall)], fixture: Option<&Fixture>, rules: Arc<Rules>) -> Resume {
        let mut recalled: HashMap<Same, VecDeque<Recalled>> = HashMap::new();
        for (call, _) in journal {
            let answer = Recalled {
                output: call.output.clone(),
                wire: call.wire.clone(),
                tokens: tokens(&call.output, &call.conversation),
            };
            recalled.entry(Same::of_recorded(call, &rules)).or_default().push_back(answer);
        }
        let mut expected = Cost::of_journal(journal);
        if let Some(fixture) = fixture {
            let of_fixture = Cost::of_fixture(fixture, &rules);
            if of_fixture.calls > expected.calls {
                expected = of_fixture;
            }
            let mut seen: HashMap<Same, usize> = HashMap::new();
            for (index, turn) in fixture.table.turns().iter().enumerate() {
                let (Some(checks), Some(wire)) = (turn.checks, &turn.wire) else { continue };
                let same = Same { caller: turn.caller.clone(), conversation: turn.key.conversation_hash, checks };
                let place = seen.entry(same.clone()).or_default();
                *place += 1;
                let answers = recalled.entry(same).or_default();
                if *place > answers.len() {
                    let conversation = fixture.conversation(index, &rules).unwrap_or_default();
                    let tokens = tokens(&turn.output, &conversation);
                    answers.push_back(Recalled { output: turn.output.clone(), wire: wire.clone(), tokens });
                }
            }
        }
        Resume { rules, expected, state: Mutex::new(ResumeState { recalled, ..ResumeState::default() }) }
    }

    /// What the whole recording is to be expected to cost, were nothing served: as the longer of the two that it goes
    /// on from.
    #[must_use]
    pub fn expected(&self) -> Cost {
        self.expected
    }

    /// How many calls were served, and how many went to the provider.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        let state = self.state();
        (state.served.calls, state.live)
    }

    /// Takes the recorded answer to a call, where there is one. Choosing and taking are one step.
    pub(super) fn find(&self, call: &PendingCall) -> Recall {
        let mut state = self.state();
        if let Some((response, rendered)) = self.take(&mut state, call) {
            state.known.learn(call.api, call.target(), &call.request, &response);
            return Recall::Recorded(response, rendered);
        }
        state.live += 1;
        let still = Cost {
            calls: self.expected.calls.saturating_sub(state.served.calls),
            tokens: self.expected.tokens.saturating_sub(state.served.tokens),
        };
        Recall::New((state.live == 1).then_some(still))
    }

    fn take(&self, state: &mut ResumeState, call: &PendingCall) -> Option<(Response, Response)> {
        let decoded = wire::decode(call.api, call.target(), &call.request, &state.known).ok()?;
        let conversation = self.rules.canonical(decoded.messages.clone());
        let checks = decoded.checks(&self.rules.normalizer).hashes();
        let caller = call.caller.as_deref().map(|caller| self.rules.caller(Some(caller)));
        let key = self.rules.key(&conversation, caller.as_deref());
        let own = Same { caller, conversation: key.conversation_hash, checks };
        // As in replay, what was recorded without a caller answers any.
        let of_nobody = Same { caller: None, ..own.clone() };
        let older = |same: &Same| Same { checks: checks.without_results(), ..same.clone() };
        let all = [older(&own), older(&of_nobody)];
        for same in [own, of_nobody].into_iter().chain(all) {
            let Some(answers) = state.recalled.get_mut(&same) else { continue };
            let Some(first) = answers.front().filter(|first| first.wire.api == call.api) else { continue };
            let response = first.wire.response.clone();
            let recorded = Some((call.api, &response));
            let seed = key.input_hash.to_string();
            let Ok(rendered) = wire::respond(&first.output, recorded, &decoded.render_for(&seed)) else { continue };
            state.served.add(first.tokens);
            answers.pop_front();
            return Some((response, rendered));
        }
        None
    }

    /// Notes an answer of the provider.
    pub(super) fn learn(&self, api: Api, target: Target<'_>, request: &Json, response: &Response) {
        self.state().known.learn(api, target, request, response);
    }

    fn state(&self) -> MutexGuard<'_, ResumeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
