//! Matches the calls that missed with the turns that no call asked for, once the run is over. A call may resemble a turn that a
//! later call asks for exactly. Then it is an additional call, not a changed one.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::assignment::assigned;
use super::difference::Difference;
use super::explanation::Situation;
use super::messages::{answer_in_short, one_line};
use super::missed_call::MissedCall;
use super::nearest::{Cost, Nearest, Ranking, ranked};
use super::reason::MissReason;
use retake_base::line::{Line, Side};
use retake_base::text::{around, nth_turn};

/// What it costs to leave a call without a turn: more than any turn costs.
const NO_TURN: Cost = 1 << 120;
/// The bits by which the costs of turns are raised, so that calls that cost the same get turns in recorded order.
const ORDER: u32 = 25;

/// Describes the differences of the missed calls, now that the run is over. Each call is compared with the turn that it is aligned
/// with. One that resembles only turns of other calls is an additional call.
pub(crate) fn align(missed: &mut [MissedCall], run: &Situation<'_>) {
    // A call that a client repeats is aligned once.
    let mut known = HashSet::new();
    let mut is_one = |call: &MissedCall| {
        call.reason == MissReason::NotRecorded && !call.has_no_turn && known.insert(call.key.input_hash)
    };
    let like = |call: &MissedCall| ranked(&call.lookup, run.fixture, run.rules, &run.served);
    let calls = missed.iter().enumerate().filter(|(_, call)| is_one(call));
    let calls: Vec<(usize, Ranking)> = calls.map(|(index, call)| (index, like(call))).collect();
    let mut placed = run.asked.clone();
    let mut more = Vec::new();
    for (turn, (index, like)) in run.turns_of(&calls).into_iter().zip(&calls) {
        match turn.and_then(|turn| like.iter().find(|(_, nearest)| nearest.turn == turn)) {
            Some((_, nearest)) => {
                placed.insert(nearest.turn, missed[*index].number);
                missed[*index].compare(Some(nearest), run);
            }
            None if like.iter().any(|(_, nearest)| nearest.alike || nearest.other_end) => more.push(*index),
            None => {}
        }
    }
    run.describe_additional(missed, &more, &placed);
    // A client that retries makes the same call again, so it gets the same description.
    for index in 1..missed.len() {
        let (before, rest) = missed.split_at_mut(index);
        let call = &mut rest[0];
        if let Some(first) = before.iter().find(|other| other.key == call.key && other.reason == call.reason) {
            (call.nearest, call.differences) = (first.nearest, first.differences.clone());
        }
    }
}

impl Situation<'_> {
    /// Returns for each call the turn that it was meant for, so that all together cost least. Each turn is given once at most, and
    /// none that a call asked for.
    fn turns_of(&self, calls: &[(usize, Ranking)]) -> Vec<Option<usize>> {
        let is_open = |(_, nearest): &&(Cost, Nearest)| nearest.alike && !self.served[nearest.turn];
        let open = calls.iter().flat_map(|(_, like)| like.iter().filter(is_open)).map(|(_, nearest)| nearest.turn);
        let turns: Vec<usize> = open.collect::<BTreeSet<usize>>().into_iter().collect();
        let row = |(place, (_, like)): (usize, &(usize, Ranking))| {
            let cost = |turn: &usize| {
                let found = like.iter().filter(is_open).find(|(_, nearest)| nearest.turn == *turn);
                found.map_or(NO_TURN, |(cost, _)| (cost << ORDER) - (place * turn) as Cost)
            };
            turns.iter().map(cost).chain(calls.iter().map(|_| NO_TURN)).collect()
        };
        let rows: Vec<Vec<Cost>> = calls.iter().enumerate().map(row).collect();
        let given = assigned(&rows).into_iter().zip(&rows);
        given.map(|(column, costs)| turns.get(column).copied().filter(|_| costs[column] < NO_TURN)).collect()
    }

    /// Describes additional calls, in one line for each caller. `placed` maps the turns that calls asked for or resemble to the
    /// numbers of these calls.
    fn describe_additional(&self, missed: &mut [MissedCall], more: &[usize], placed: &HashMap<usize, usize>) {
        let mut described: BTreeMap<Option<String>, Vec<Difference>> = BTreeMap::new();
        for index in more {
            let Some((place, neighbour)) = self.place_of(missed[*index].number, placed) else { continue };
            let caller = missed[*index].lookup.caller.clone();
            let times = more.iter().filter(|other| missed[**other].lookup.caller == caller).count();
            let call = &mut missed[*index];
            call.one_more(times, &place);
            call.differences = described.entry(caller).or_insert_with(|| call.differences.clone()).clone();
            call.nearest = None;
            let messages = call.lookup.conversation.len();
            call.lines.truncate(1);
            call.lines.push(format!("next to    {neighbour}").into());
            call.lines.push(format!("asks with  message {messages} of {messages}, which was never recorded:").into());
            let last = call.lookup.conversation.last();
            call.lines.extend(last.map(|message| Line::of(Side::Come, 2, around(&one_line(message), 0))));
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
        let answer = answer_in_short(&self.fixture.table.turns()[*turn]);
        let neighbour = format!("call {call}, which is {}: {answer}", self.fixture.place_of(*turn));
        Some((format!("{word} {} ({answer})", nth_turn(*turn)), neighbour))
    }
}
