//! Finds the recorded turn that is most like a call.

use std::cmp::Reverse;

use super::difference::likeness;
use super::words::common_ends;
use crate::lookup::Lookup;
use crate::registry::EXPLAINED;
use retake_core::json::{Json, Layout};
use retake_core::key::Rules;
use retake_wire::fixture::{After, Fixture, canonical_answer};

/// How many turns are compared message by message: those that share the longest history with the call.
const CANDIDATES: usize = 48;
/// The value of [`same_caller`] if it is sure.
const SURE: usize = 2;

/// A turn that is like a call.
pub(super) struct Nearest {
    /// The turn's index in the fixture.
    pub(super) turn: usize,
    /// The turn's canonical conversation.
    pub(super) conversation: Vec<Json>,
    /// Whether the two have anything in common: the caller, a message, or words of a message.
    pub(super) alike: bool,
    /// Whether the call ends with something else than what the turn answers, so that it cannot be meant for it.
    pub(super) other_end: bool,
    /// Whether all turns of the call's caller were served.
    pub(super) last_of_caller: bool,
}

/// What it costs to take a call for a turn. Costs of several calls can be added, and then compared.
pub(super) type Cost = i128;

/// The parts of a cost, and how many bits each takes up. A part outweighs all that come after it, even if the costs of
/// [`EXPLAINED`] calls are added.
fn cost(parts: [(usize, u32); 7]) -> Cost {
    let of_all = EXPLAINED.ilog2();
    let at_most = |bits: u32| (1 << bits) - 1;
    parts.into_iter().fold(0, |cost, (part, bits)| (cost << (bits + of_all)) + part.min(at_most(bits)) as Cost)
}

/// Returns the recorded turn that is most like a call, or `None` if the fixture keeps no conversations. Each stored message is
/// looked at once, so this is fast even for a fixture of 100,000 turns.
pub(super) fn nearest(lookup: &Lookup, fixture: &Fixture, rules: &Rules, served: &[bool]) -> Option<Nearest> {
    ranked(lookup, fixture, rules, served).into_iter().min_by_key(|(cost, _)| *cost).map(|(_, nearest)| nearest)
}

/// The bits of a cost that hold a turn's place.
const OF_PLACE: u32 = 20;

/// The open turns that are most like a call, if several are equally so, apart from their place. Turns of one key are one.
pub(crate) fn equally_near(lookup: &Lookup, fixture: &Fixture, rules: &Rules, served: &[bool]) -> Vec<usize> {
    let mut ranked = ranked(lookup, fixture, rules, served);
    ranked.retain(|(_, nearest)| !served[nearest.turn]);
    let but_place = |(cost, _): &(Cost, Nearest)| cost >> (OF_PLACE + EXPLAINED.ilog2());
    let least = ranked.iter().map(but_place).min();
    ranked.retain(|of| Some(but_place(of)) == least);
    ranked.sort_unstable_by_key(|(_, nearest)| nearest.turn);
    ranked.dedup_by_key(|(_, nearest)| fixture.table.turns()[nearest.turn].key.input_hash);
    ranked.into_iter().map(|(_, nearest)| nearest.turn).collect()
}

/// The turns that are most like a call, each with what it costs.
pub(super) type Ranking = Vec<(Cost, Nearest)>;

/// Ranks the recorded turns for a call.
pub(super) fn ranked(lookup: &Lookup, fixture: &Fixture, rules: &Rules, served: &[bool]) -> Ranking {
    let (called, turns) = (&lookup.conversation, fixture.table.turns());
    let common = common_histories(called, fixture, rules);
    let mut candidates: Vec<usize> = (0..common.len()).filter(|turn| turns[*turn].input.is_some()).collect();
    let rank = |of: &usize| (Reverse(same_caller(lookup, fixture, *of)), Reverse(common[*of]), served[*of], *of);
    if candidates.len() > CANDIDATES {
        candidates.select_nth_unstable_by_key(CANDIDATES, rank);
        candidates.truncate(CANDIDATES);
    }
    let open = (0..served.len()).filter(|turn| !served[*turn]);
    let ranked = candidates.into_iter().filter_map(|turn| {
        let conversation = fixture.conversation(turn, rules)?;
        let (equal, steps) = likeness(&conversation, called);
        let words = alike(&conversation, called);
        let of_caller = same_caller(lookup, fixture, turn);
        let other_end = ends_otherwise(&conversation, called);
        let alike = !other_end && (of_caller > 0 || equal > 0 || words > 0 || called.is_empty());
        let last_of_caller =
            of_caller > 0 && served[turn] && !open.clone().any(|turn| same_caller(lookup, fixture, turn) == of_caller);
        let unequal = called.len().saturating_sub(equal);
        let cost = cost([
            // How unsure it is that both are of one caller.
            (SURE - of_caller, 2),
            // Whether a call got the turn before.
            (usize::from(served[turn]), 1),
            // Whether the call ends with something else than what the turn answers.
            (usize::from(other_end), 1),
            // In how many steps the one conversation becomes the other.
            (steps, 16),
            // How many messages of the call are not in the turn's conversation.
            (unequal, 16),
            // How much of the first messages that differ is other text, in quarters.
            (4 - words.min(4), 3),
            // Calls usually come in recorded order, so among equally close turns the first one wins.
            (turn, OF_PLACE),
        ]);
        Some((cost, Nearest { turn, conversation, alike, other_end, last_of_caller }))
    });
    ranked.collect()
}

/// How sure it is that a turn is of who makes the call: by name, else by the system prompt and the tools.
fn same_caller(lookup: &Lookup, fixture: &Fixture, turn: usize) -> usize {
    let turn = &fixture.table.turns()[turn];
    if lookup.caller.is_some() {
        return usize::from(turn.caller == lookup.caller) * SURE;
    }
    match (&lookup.checks, &turn.checks) {
        (Some(called), Some(recorded)) => {
            let tools = called.hashes.tools == recorded.tools;
            usize::from(tools) + usize::from(tools && called.hashes.prompt == recorded.prompt)
        }
        _ => 0,
    }
}

/// Returns for each turn how many of its first messages are also the call's. A turn continues an earlier one, so each stored
/// message is compared at most once.
fn common_histories(called: &[Json], fixture: &Fixture, rules: &Rules) -> Vec<usize> {
    let turns = fixture.table.turns();
    // The length of each turn's conversation, and how many of its first messages the call shares.
    let (mut lengths, mut common): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for turn in turns {
        let Some(input) = &turn.input else {
            lengths.push(0);
            common.push(0);
            continue;
        };
        let (mut length, mut same) = (0, 0);
        if let Some(After { turn: earlier, keep }) = input.after {
            (length, same) = (lengths[earlier] + 1, common[earlier]);
            // What follows a history that the call does not share is not shared either.
            if same == lengths[earlier] {
                let answer = canonical_answer(&turns[earlier].output, rules);
                length -= usize::from(answer.is_none());
                same += usize::from(answer.is_some() && called.get(same) == answer.as_ref());
            }
            (length, same) = (length.min(keep.unwrap_or(usize::MAX)), same.min(keep.unwrap_or(usize::MAX)));
        }
        if same == length {
            let rest = called.get(same..).unwrap_or_default();
            same += input.messages.iter().zip(rest).take_while(|(a, b)| a == b).count();
        }
        lengths.push(length + input.messages.len());
        common.push(same);
    }
    common
}

/// Whether a call goes on right after an answer, where the turn answers a question or a tool. Such a call was made on top of the
/// recorded ones, as if it had shortened a later history.
fn ends_otherwise(recorded: &[Json], called: &[Json]) -> bool {
    // After an answer that calls tools, their results are missing.
    let is_answer = |it: &Json| it.str_of("type") == Some("ai") && it.get("tool_calls").is_none();
    let ends_with_answer = |messages: &[Json]| messages.last().is_some_and(is_answer);
    let after_its_answer = called.len() > 1 && called.len() < recorded.len() && recorded.starts_with(called);
    after_its_answer && ends_with_answer(called) && !ends_with_answer(recorded)
}

/// Returns how alike the first differing messages are, in quarters: the share of the text at both ends that is the same.
fn alike(recorded: &[Json], called: &[Json]) -> usize {
    let Some((a, b)) = recorded.iter().zip(called).find(|(a, b)| a != b) else { return 0 };
    let text = |message: &Json| message.str_of("content").map_or_else(|| message.print(Layout::Compact), str::to_owned);
    let (a, b) = (text(a), text(b));
    let (prefix, suffix) = common_ends(&a, &b);
    4 * (prefix + suffix) / a.len().max(b.len()).max(1)
}
