//! What the model calls of a run cost, as a table for a terminal. Pure.

use super::columns::wrapped;
use retake::__private::report::{CostData, RunData, table};

/// What the calls of each caller of a run cost, and where what a cache can keep of them ends, in lines of at most `width` characters.
pub(crate) fn cost_table(run: &RunData, width: usize) -> String {
    let head = format!("{}: what its model calls cost", run.scenario);
    if run.cost.is_empty() {
        return format!("{head} was not measured; to measure it: cost = true in {}", run.file.display());
    }
    let rows = std::iter::once(CostData::HEAD.map(str::to_owned)).chain(run.cost.iter().map(CostData::row));
    let rows = table(&rows.collect::<Vec<_>>()).into_iter().map(|row| format!("  {row}"));
    let words = run.cost.iter().filter(|of| of.ends.is_some()).flat_map(|of| wrapped(&of.words, 2, width));
    std::iter::once(head).chain(rows).chain(words).collect::<Vec<_>>().join("\n")
}
