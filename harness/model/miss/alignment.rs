//! Matches the calls that missed with the turns that no call asked for, once the run is over. A call may resemble a turn that a
//! later call asks for exactly. Then it is an additional call, not a changed one.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::difference::Difference;
use super::explanation::{Explanation, Situation, compared};
use super::messages::{answer_in_short, describe};
use super::missed_call::MissedCall;
use super::nearest::{Cost, Nearest, ranked};
use super::one_more::one_more;
use super::reason::MissReason;
use crate::lookup::Lookup;
use retake_base::text::around;
use retake_core::json::Json;
use retake_core::key::Rules;
use retake_wire::fixture::Fixture;

/// A run that is over, with the turns that were asked for.
pub(crate) struct FinishedRun<'a> {
    pub(crate) fixture: &'a Fixture,
    pub(crate) rules: &'a Rules,
    /// For each turn that a call asked for by its key, the number of that call.
    pub(crate) asked: &'a HashMap<usize, usize>,
}

/// Describes the differences of the missed calls again, if that is clearer now that the run is over.
pub(crate) fn align(missed: &mut [MissedCall], run: &FinishedRun<'_>) {
    let calls = run.calls(missed);
    if !run.is_crowded(missed, &calls) {
        return;
    }
    let mut pairs = run.pairs(missed, &calls);
    let of_pair = |(index, nearest): (&usize, &Nearest)| (nearest.turn, missed[*index].number);
    let mut placed: HashMap<usize, usize> = pairs.iter().map(of_pair).collect();
    placed.extend(run.asked);
    let mut more = Vec::new();
    for index in calls {
        match pairs.remove(&index) {
            Some(nearest) => run.compare(&mut missed[index], &nearest),
            None => more.push(index),
        }
    }
    run.describe_additional(missed, &more, &placed);
    // A client that retries makes the same call again, so it gets the same description.
    for index in 1..missed.len() {
        let (before, rest) = missed.split_at_mut(index);
        let call = &mut rest[0];
        let same = |other: &&MissedCall| {
            other.lookup.conversation == call.lookup.conversation && other.lookup.caller == call.lookup.caller
        };
        if let Some(first) = before.iter().find(same).filter(|first| first.reason == call.reason) {
            (call.nearest, call.differences) = (first.nearest, first.differences.clone());
        }
    }
}

impl FinishedRun<'_> {
    /// Returns the indexes of the missed calls that may be changed or additional calls. A call that a client repeats is in the
    /// list only once.
    fn calls(&self, missed: &[MissedCall]) -> Vec<usize> {
        let mut known = HashSet::new();
        let of_a_recorded_caller = |lookup: &Lookup| {
            lookup.caller.is_none() || self.fixture.table.turns().iter().any(|turn| turn.caller == lookup.caller)
        };
        let lacks_its_turn = |call: &MissedCall| {
            let recorded = call.nearest.and_then(|turn| self.fixture.conversation(turn, self.rules));
            let called = &call.lookup.conversation;
            let answered = |all: &[Json]| all.get(called.len()).is_some_and(|next| next.str_of("type") == Some("ai"));
            !called.is_empty() && recorded.is_some_and(|all| all.starts_with(called) && answered(&all))
        };
        let is_one = |call: &MissedCall| {
            call.reason == MissReason::NotRecorded
                && call.nearest.is_some()
                && of_a_recorded_caller(&call.lookup)
                && !lacks_its_turn(call)
        };
        let key = |call: &MissedCall| {
            self.rules.key(&call.lookup.conversation, call.lookup.caller.as_deref()).input_hash.to_string()
        };
        (0..missed.len()).filter(|index| is_one(&missed[*index]) && known.insert(key(&missed[*index]))).collect()
    }

    /// Whether a call resembles a turn that another call asks for or resembles too.
    fn is_crowded(&self, missed: &[MissedCall], calls: &[usize]) -> bool {
        let mut meant = HashSet::new();
        calls.iter().filter_map(|index| missed[*index].nearest).any(|turn| {
            let taken = self.asked.contains_key(&turn);
            taken || !meant.insert(turn)
        }) || calls.iter().any(|index| missed[*index].is_on_top)
    }

    /// Pairs calls with the turns that they resemble, each turn at most once. The closest pairs are made first.
    fn pairs(&self, missed: &[MissedCall], calls: &[usize]) -> BTreeMap<usize, Nearest> {
        let turns = self.fixture.table.turns().len();
        let asked: Vec<bool> = (0..turns).map(|turn| self.asked.contains_key(&turn)).collect();
        let mut all: Vec<(Cost, usize, Nearest)> = Vec::new();
        for index in calls {
            let turns = ranked(&missed[*index].lookup, self.fixture, self.rules, &asked);
            let open = turns.into_iter().filter(|(_, nearest)| nearest.alike && !asked[nearest.turn]);
            all.extend(open.map(|(cost, nearest)| (cost, *index, nearest)));
        }
        all.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
        let (mut pairs, mut taken) = (BTreeMap::new(), HashSet::new());
        for (_, index, nearest) in all {
            if !pairs.contains_key(&index) && taken.insert(nearest.turn) {
                pairs.insert(index, nearest);
            }
        }
        pairs
    }

    /// Compares a call with this turn, which may be a different one than when the call came.
    fn compare(&self, call: &mut MissedCall, nearest: &Nearest) {
        let asked: Vec<bool> = (0..self.fixture.table.turns().len()).map(|t| self.asked.contains_key(&t)).collect();
        let served_to = |turn: usize| self.asked.get(&turn).copied();
        let situation = Situation { fixture: self.fixture, rules: self.rules, served: &asked, served_to: &served_to };
        let Explanation { differences, lines, nearest, .. } = compared(nearest, &call.lookup, &situation);
        (call.nearest, call.differences, call.lines) = (nearest, differences, lines);
    }

    /// Describes additional calls, in one line for each caller. `placed` maps the turns that calls asked for or resemble to the
    /// numbers of these calls.
    fn describe_additional(&self, missed: &mut [MissedCall], more: &[usize], placed: &HashMap<usize, usize>) {
        let mut described: BTreeMap<Option<String>, Difference> = BTreeMap::new();
        for index in more {
            let Some((place, neighbour)) = self.place_of(missed[*index].number, placed) else { continue };
            let caller = missed[*index].lookup.caller.clone();
            let times = more.iter().filter(|other| missed[**other].lookup.caller == caller).count();
            let call = &mut missed[*index];
            let difference = described.entry(caller).or_insert_with(|| one_more(&call.lookup, times, &place));
            call.differences = vec![difference.clone()];
            call.nearest = None;
            let messages = call.lookup.conversation.len();
            let last = call.lookup.conversation.last();
            let last = last.map_or_else(String::new, |message| {
                let text = message.str_of("content").unwrap_or_default().replace('\n', "⏎");
                format!("\n  + {}: {}", describe(message), around(&text, 0))
            });
            let asks = format!("asks with  message {messages} of {messages}, which was never recorded:{last}");
            call.lines.truncate(1);
            call.lines.push(format!("next to    {neighbour}"));
            call.lines.extend(asks.lines());
        }
    }

    /// Returns the place of a call among the calls that have a turn, and a description of its neighbour. `None` if no call has a
    /// turn.
    fn place_of(&self, number: usize, placed: &HashMap<usize, usize>) -> Option<(String, String)> {
        let after = placed.iter().filter(|(_, call)| **call > number).min_by_key(|(_, call)| **call);
        let before = || placed.iter().filter(|(_, call)| **call < number).max_by_key(|(_, call)| **call);
        let (word, (turn, call)) = match after {
            Some(found) => ("before", found),
            None => ("after", before()?),
        };
        let answer = answer_in_short(&self.fixture.table.turns()[*turn].output);
        let neighbour = format!("call {call}, which is {}: {answer}", self.fixture.place_of(*turn));
        Some((format!("{word} turns[{turn}] ({answer})"), neighbour))
    }
}
