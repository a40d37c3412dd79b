//! Loading a fixture in which each turn continues the one before.

use std::path::Path;

use retake_core::key::Rules;
use retake_wire::fixture::Fixture;

use crate::rows::{Rows, cost_of};

const WORDS: &str = "the quick brown fox jumps over the lazy dog and writes a report about what it saw on the way. ";

/// What the user says in a round, and what the model answers.
pub fn said(round: usize) -> [String; 2] {
    let said = |who: &str| format!("{who} of round {round} on 2026-11-21T10:00:00Z: {}", WORDS.repeat(6));
    [said("question"), said("answer")]
}

/// The text of a fixture with one conversation of some rounds.
pub fn chained(rounds: usize) -> String {
    let turn = |round: usize| {
        let [question, answer] = said(round);
        let after = round.checked_sub(1).map_or(String::new(), |before| format!("\"after\": {before}, "));
        format!(
            r#"{{"input": {{{after}"messages": [{{"type": "human", "content": "{question}"}}]}},
                "output": {{"blocks": [{{"type": "text", "text": "{answer}"}}]}}}}"#
        )
    };
    let turns: Vec<String> = (0..rounds).map(turn).collect();
    let text = format!(r#"{{"format": "retake/1", "turns": [{}]}}"#, turns.join(","));
    // With hashes, as recording writes it.
    Fixture::parse(Path::new("bench.json"), text.as_bytes(), &Rules::default()).unwrap().print()
}

pub fn measure(rows: &mut Rows) {
    let rules = Rules::default();
    let load = |rounds: usize| {
        let text = chained(rounds);
        cost_of(rounds, || Fixture::parse(Path::new("bench.json"), text.as_bytes(), &rules).unwrap())
    };
    rows.costs("load a conversation of N turns", [200, 800, 3200].map(load), true);
    let before = |rounds: usize| {
        let fixture = Fixture::parse(Path::new("bench.json"), chained(rounds).as_bytes(), &rules).unwrap();
        cost_of(rounds, || {
            let whole = |turn| rules.hash_of_whole(&fixture.conversation(turn, &rules).unwrap());
            (0..rounds).map(whole).collect::<Vec<_>>()
        })
    };
    rows.compare(|rows| rows.costs("its hashes, as before", [50, 200, 800].map(before), false));
}
