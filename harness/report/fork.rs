//! What the runs of a fork did, beside the recording: as data and as a table. Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use retake_base::text::in_thousands;
use retake_core::conversation::Finish;
use retake_core::cost::in_money;
use retake_core::key::UNKNOWN_CALLER;
use retake_scenario::Price;
use retake_wire::fixture::{Fixture, Turn};

/// The name and version of the format of `fork.json`.
pub const FORK_FORMAT: &str = "retake-fork/1";

/// A fork and its runs so far.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ForkData {
    /// [`FORK_FORMAT`].
    pub format: String,
    /// The name of the scenario.
    pub scenario: String,
    /// The hash of the fixture from which it branches off.
    pub fixture: String,
    /// The index of the first turn that is not replayed.
    pub from: usize,
    /// What was asked for.
    pub asked: serde_json::Value,
    /// How many runs there will be.
    pub times: usize,
    /// The recording.
    pub recorded: ForkRow,
    /// The runs that have ended, by number.
    pub runs: BTreeMap<usize, ForkRow>,
}

/// The recording, or a run, in numbers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ForkRow {
    /// All calls of the run.
    pub calls: usize,
    /// How many of them got their recorded answers.
    pub replayed: usize,
    /// The tokens read by all calls, as the provider counted them.
    pub input: u64,
    /// The tokens written.
    pub output: u64,
    /// What all calls cost by the suite's prices; absent if a model has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// The tools that were called, in order.
    pub tools: Vec<String>,
    /// Why the last answer to the first caller ended.
    pub finish: String,
    /// How the golden differs; empty if it is equal. Absent if there is none, or for the recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub golden: Option<Vec<String>>,
    /// Whether the suite's command found the run good; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
    /// Why the run ended before the scenario did; absent if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
}

impl ForkRow {
    /// The numbers of a fixture's turns.
    pub fn of(fixture: &Fixture, prices: &BTreeMap<String, Price>) -> ForkRow {
        let turns = fixture.table.turns();
        let (mut row, mut cost) = (ForkRow { calls: turns.len(), ..ForkRow::default() }, Some(0.0));
        for turn in turns {
            let usage = turn.output.usage.unwrap_or_default();
            row.input += usage.input;
            row.output += usage.output;
            let price = price_of(fixture, turn, prices);
            cost = cost.zip(price).map(|(cost, price)| cost + cost_of(usage.input, usage.cached, usage.output, price));
            row.tools.extend(turn.output.tool_calls().into_iter().map(|call| call.name.clone()));
        }
        let caller = |turn: &&Turn| turn.caller.as_deref() == turns.first().and_then(|first| first.caller.as_deref());
        let finish = turns.iter().rfind(caller).and_then(|turn| turn.output.finish.as_ref());
        finish.map_or("none", Finish::as_str).clone_into(&mut row.finish);
        row.cost = cost.filter(|_| !prices.is_empty());
        row
    }
}

/// What a million tokens of a turn's model cost.
pub fn price_of(fixture: &Fixture, turn: &Turn, prices: &BTreeMap<String, Price>) -> Option<Price> {
    let asked = turn.checks.and_then(|checks| fixture.texts.get(&checks.model)).map(AsRef::as_ref);
    asked.into_iter().chain(turn.output.model.as_deref()).find_map(|model| prices.get(model)).copied()
}

/// What tokens cost, of which some are in the provider's cache.
#[expect(clippy::cast_precision_loss, reason = "tokens of a run are far fewer than 2^52")]
pub fn cost_of(input: u64, cached: u64, output: u64, price: Price) -> f64 {
    let fresh = input.saturating_sub(cached);
    (fresh as f64 * price.input + cached as f64 * price.cached + output as f64 * price.output) / 1e6
}

/// The table: a line for the recording and for each run, and below it what differs in goldens.
pub fn fork_table(id: &str, fork: &ForkData) -> String {
    let head = ["run", "calls", "read", "written", "cost", "finish", "golden", "verify", "tools"];
    let mut rows = vec![head.map(str::to_owned)];
    let line = |name: String, row: &ForkRow| {
        let golden = row.golden.as_ref().map_or("–", |diff| if diff.is_empty() { "equal" } else { "differs" });
        let calls = if row.replayed == 0 {
            row.calls.to_string()
        } else {
            format!("{} ({} live)", row.calls, row.calls.saturating_sub(row.replayed))
        };
        [
            name,
            calls,
            in_thousands(row.input),
            in_thousands(row.output),
            in_money(row.cost),
            if row.ended.is_some() { "ended".to_owned() } else { row.finish.clone() },
            golden.to_owned(),
            row.verified.map_or("–", |good| if good { "good" } else { "bad" }).to_owned(),
            if row.tools.is_empty() { "–".to_owned() } else { row.tools.join(", ") },
        ]
    };
    rows.push(line("recorded".to_owned(), &fork.recorded));
    rows.extend(fork.runs.iter().map(|(number, row)| line(format!("{id}.{number}"), row)));
    let mut lines = table(&rows);
    for (number, row) in &fork.runs {
        let what = row.golden.iter().flatten().map(|what| format!("golden: {what}"));
        let ended = row.ended.iter().map(|why| format!("ended: {why}"));
        lines.extend(what.chain(ended).map(|what| format!("{id}.{number}: {what}")));
    }
    lines.join("\n")
}

/// The rows of a table as lines, in columns.
pub fn table<const N: usize>(rows: &[[String; N]]) -> Vec<String> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..N).map(width).collect();
    let padded = |row: &[String; N]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(padded).collect()
}

/// The name of a caller for a person, and of one who is not known.
pub fn caller_of(turn: &Turn) -> &str {
    turn.caller.as_deref().unwrap_or(UNKNOWN_CALLER)
}

#[cfg(test)]
mod tests;
