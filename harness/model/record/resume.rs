//! Resumes a recording from an earlier one. A call that equals a recorded one, by its key and all its checks, gets the recorded
//! answer and is not paid for again.
//!
//! The answer to a call does not depend on the order in which different calls come. Calls are told apart by their keys; among
//! calls with the same key, the first one gets the first recorded answer.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::cost::{Cost, tokens};
use super::pending_call::PendingCall;
use crate::echoes::as_sent;
use retake_base::lock::Mutex;
use retake_core::conversation::Answer;
use retake_core::days::Days;
use retake_core::json::Json;
use retake_core::key::{Checks, Hash, Rules};
use retake_core::places::{Places, RunValues, Told, Within};
use retake_wire::fixture::call_log::LoggedCall;
use retake_wire::fixture::{Fixture, Recorded, Wire, moved};
use retake_wire::{self as wire, Api, Known, Response, Target};

/// Recorded calls and their answers, from which a new recording is served.
#[derive(Debug)]
pub struct Resume {
    rules: Arc<Rules>,
    journal: Vec<(Recorded, Arc<Places>)>,
    fixture: Option<Arc<Fixture>>,
    /// The expected cost of the whole recording if no call had been recorded before. It is the cost of the journal or of the old
    /// fixture, whichever has more calls.
    pub expected: Cost,
    state: Mutex<ResumeState>,
}

#[derive(Debug, Default)]
struct ResumeState {
    recalled: HashMap<Same, VecDeque<Recalled>>,
    /// The answers so far, for requests that refer to them by id.
    known: Known,
    served: Cost,
    live: usize,
    /// What this recording has in place of values of the earlier one, as it was told.
    values: RunValues,
}

/// Everything in which a call has to equal a recorded one.
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
    of: Source,
}

/// Where a recorded answer comes from.
#[derive(Clone, Copy, Debug)]
enum Source {
    Journal(usize),
    Fixture(usize),
}

/// Whether a call was recorded before.
pub(super) enum Recall {
    /// It was: the recorded response, and the same response in the form that the call asks for.
    Recorded(Response),
    /// It was not, so it goes to the provider. The first such call comes with the expected cost from here on.
    New(Option<Cost>),
}

/// Merges the turns of several attempts, of which the newest comes first. For each key, an older attempt adds only the turns
/// that the newer attempts did not reach.
pub fn merged(attempts: Vec<Vec<(Recorded, LoggedCall)>>, rules: &Rules) -> Vec<(Recorded, LoggedCall)> {
    let mut have: HashMap<Same, usize> = HashMap::new();
    let mut all = Vec::new();
    for attempt in attempts {
        let mut seen: HashMap<Same, usize> = HashMap::new();
        for turn in attempt {
            let Some(same) = Same::of_recorded(&turn.0, rules) else { continue };
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
    fn of_recorded(call: &Recorded, rules: &Rules) -> Option<Same> {
        let conversation = call.key(rules).conversation_hash;
        Some(Same { caller: call.caller.clone(), conversation, checks: call.checks(rules)? })
    }
}

impl Resume {
    /// Resumes from the journal of a failed attempt. If an old fixture has more turns with the same key than the journal, the
    /// additional turns come from the fixture.
    pub fn new(journal: &[(Recorded, LoggedCall)], fixture: Option<&Arc<Fixture>>, rules: Arc<Rules>) -> Resume {
        let of_journal = Cost::of_journal(journal);
        let of_fixture = fixture.map(|fixture| Cost::of_fixture(fixture, &rules));
        let expected = of_fixture.filter(|cost| cost.calls > of_journal.calls).unwrap_or(of_journal);
        let journal = journal.iter().map(|(call, entry)| (call.clone(), entry.places.clone())).collect();
        let resume = Resume { rules, journal, fixture: fixture.cloned(), expected, state: Mutex::default() };
        resume.on_stage(&Places::default());
        resume
    }

    /// Says what the places of the stage are, before its system can call: what was recorded says them in place of its own.
    pub(super) fn on_stage(&self, places: &Places) {
        let (rules, fixture) = (&self.rules, self.fixture.as_ref());
        let mut recalled: HashMap<Same, VecDeque<Recalled>> = HashMap::new();
        for (index, (call, there)) in self.journal.iter().enumerate() {
            let call = moved(call, there, places);
            let Some((same, wire)) = Same::of_recorded(&call, rules).zip(call.wire.clone()) else { continue };
            let tokens = tokens(&call.output, &call.conversation);
            let (output, of) = (call.output.clone(), Source::Journal(index));
            recalled.entry(same).or_default().push_back(Recalled { output, wire, tokens, of });
        }
        if let Some(fixture) = fixture {
            let here = fixture.at(places, rules).map(Arc::new);
            let fixture = here.as_ref().unwrap_or(fixture);
            let mut seen: HashMap<Same, usize> = HashMap::new();
            for (index, turn) in fixture.table.turns().iter().enumerate() {
                let (Some(checks), Some(wire)) = (turn.checks, &turn.wire) else { continue };
                let same = Same { caller: turn.caller.clone(), conversation: turn.key.conversation_hash, checks };
                let place = seen.entry(same.clone()).or_default();
                *place += 1;
                let answers = recalled.entry(same).or_default();
                if *place > answers.len() {
                    let conversation = fixture.conversation(index, rules).unwrap_or_default();
                    let tokens = tokens(&turn.output, &conversation);
                    let (output, of) = (turn.output.clone(), Source::Fixture(index));
                    answers.push_back(Recalled { output, wire: wire.clone(), tokens, of });
                }
            }
        }
        self.state.lock().recalled = recalled;
    }

    /// How many calls got a recorded answer, and how many went to the provider.
    pub fn counts(&self) -> (usize, usize) {
        let state = self.state.lock();
        (state.served.calls, state.live)
    }

    /// Takes the recorded answer to a call, if there is one. Choosing and taking are one step.
    pub(super) fn find(&self, call: &PendingCall) -> Recall {
        let mut state = self.state.lock();
        if let Some(response) = self.take(&mut state, call) {
            state.known.learn(call.api, call.target(), &call.request, &response);
            return Recall::Recorded(response);
        }
        state.live += 1;
        let still = Cost {
            calls: self.expected.calls.saturating_sub(state.served.calls),
            tokens: self.expected.tokens.saturating_sub(state.served.tokens),
        };
        Recall::New((state.live == 1).then_some(still))
    }

    fn take(&self, state: &mut ResumeState, call: &PendingCall) -> Option<Response> {
        let (mut request, taken) = (call.request.clone(), state.values.reversed());
        Within(&|text| taken.put(text)).json(&mut request);
        let decoded = wire::decode(call.api, call.target(), &request, &state.known).ok()?;
        let conversation = self.rules.canonical(decoded.clone().into_messages());
        let checks = decoded.checks(&self.rules.normalizer).hashes();
        let caller = call.caller.as_deref().map(|caller| self.rules.caller(Some(caller)));
        let key = self.rules.key(&conversation, caller.as_deref());
        let own = Same { caller, conversation: key.conversation_hash, checks };
        // As in replay, a turn that was recorded without a caller answers any caller.
        let of_nobody = Same { caller: None, ..own.clone() };
        let all = checks.with_older().map(|checks| [&own, &of_nobody].map(|same| Same { checks, ..same.clone() }));
        for same in all.into_iter().flatten() {
            let Some(answers) = state.recalled.get_mut(&same) else { continue };
            let Some(first) = answers.front().filter(|first| first.wire.api == call.api) else { continue };
            let told = match first.of {
                Source::Journal(call) => self.journal[call].0.conversation.clone(),
                Source::Fixture(turn) => self.fixture.as_ref()?.recorded(turn, &self.rules)?.conversation,
            };
            let sent = as_sent(&decoded.messages);
            let told = Told::new([&told, &sent], [""; 2]);
            let more = RunValues::between(&told, &self.rules.normalizer, &Days::default());
            state.values.add(&more, usize::MAX);
            let came = first.wire.response.clone();
            // What came is the answer to a call that asks for the framing that the recorded one asked for. Any other gets it rendered, and
            // that is then what came.
            let response = if first.wire.asked_stream() == decoded.stream {
                came
            } else {
                let seed = key.input_hash.to_string();
                let rendered = wire::respond(&first.output, Some((call.api, &came)), &decoded.render_for(&seed));
                let Ok(rendered) = rendered else { continue };
                rendered
            };
            state.served.add(first.tokens);
            answers.pop_front();
            return Some(response.saying(&|text| state.values.put(text)));
        }
        None
    }

    /// Notes an answer of the provider.
    pub(super) fn learn(&self, api: Api, target: Target<'_>, request: &Json, response: &Response) {
        self.state.lock().known.learn(api, target, request, response);
    }
}
