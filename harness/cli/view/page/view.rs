//! What the page shows of a run beside its data: what is drawn, compared, or told in other words.

use std::collections::{BTreeSet, HashSet};

use serde::Serialize;

use super::axis::{Lane, lanes, ticks};
use super::marked;
use crate::view::explain::says;
use crate::view::side_by_side::{Row, side_by_side};
use retake::__private::report::{CallData, CheckData, RunData, RunResult, WorldData, WorldsData};

/// A run for the template.
#[derive(Serialize)]
pub(super) struct RunView<'a> {
    #[serde(flatten)]
    data: &'a RunData,
    id: String,
    open: bool,
    /// The most events of a step that are listed. The run's data file contains more.
    most_events: usize,
    /// The most calls.
    most_calls: usize,
    drifts: bool,
    /// The evidence of the failure as HTML.
    proof: Vec<String>,
    /// The evidence of each call that missed as HTML.
    missed: Vec<Option<String>>,
    lanes: Vec<Lane<'a>>,
    ticks: Vec<String>,
    /// The answers of the turns that no call asked for.
    says: Vec<String>,
    /// The golden and this run side by side, if they differ.
    rows: Vec<Row>,
    /// What a check against the provider found: drift, what was not checked, notes.
    today: Option<[Vec<String>; 3]>,
    table: Option<WorldsView<'a>>,
}

impl RunView<'_> {
    /// The view of a run on a page with this many. A failed one is open when the page is loaded, if `open`.
    pub(super) fn of(run: &RunData, open: bool, runs: usize) -> RunView<'_> {
        let failed = run.result == RunResult::Failed;
        // Failed runs keep the highest limits; the others less, so that the page loads fast.
        let most = |all: usize, most: usize| if failed { most } else { (all / runs.max(1)).clamp(10, most) };
        let missed = |call: &CallData| call.miss.as_ref().map(|miss| marked(&miss.evidence));
        let today = |check: &CheckData| [check.lines(true), check.not_checked(), check.lines(false)];
        let golden = run.golden.as_ref().and_then(|golden| Some((golden.committed.as_deref(), golden.run.as_deref()?)));
        let proof = run.failure.iter().flat_map(|failure| &failure.evidence);
        RunView {
            data: run,
            id: run.scenario.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_', "-"),
            open: open && failed,
            most_events: most(3_000, 40),
            most_calls: most(4_000, 100),
            drifts: run.calls.iter().any(|call| !call.drift.is_empty()),
            proof: proof.map(|evidence| marked(&evidence.lines())).collect(),
            missed: run.calls.iter().map(missed).collect(),
            lanes: lanes(run),
            ticks: ticks(run),
            says: run.unused.iter().map(says).collect(),
            rows: golden.map(|(old, new)| side_by_side(old.unwrap_or_default(), new)).unwrap_or_default(),
            today: run.check.as_ref().map(today),
            table: run.worlds.as_ref().map(WorldsView::of),
        }
    }
}

/// A table for the template.
#[derive(Serialize)]
pub(super) struct WorldsView<'a> {
    faults: Vec<&'a str>,
    rows: Vec<TurnView<'a>>,
}

#[derive(Serialize)]
struct TurnView<'a> {
    turn: usize,
    caller: &'a str,
    cells: Vec<Option<CellView<'a>>>,
}

/// What the service did with a fault at all its places.
#[derive(Serialize)]
struct CellView<'a> {
    verdict: &'a str,
    fails: bool,
    /// Each world in a line.
    all: String,
}

impl<'a> WorldsView<'a> {
    pub(super) fn of(data: &'a WorldsData) -> WorldsView<'a> {
        let mut known = HashSet::new();
        let faults: Vec<&str> = data.worlds.iter().map(name_of).filter(|name| known.insert(*name)).collect();
        let turn = |world: &'a WorldData| (world.turn, world.caller.as_deref().unwrap_or_default());
        let turns: BTreeSet<(usize, &str)> = data.worlds.iter().map(turn).collect();
        let row = |&(turn, caller): &(usize, _)| {
            let of_turn = |fault: &&str| {
                let of = data.worlds.iter().filter(|world| world.turn == turn && name_of(world) == *fault);
                cell(&of.collect::<Vec<_>>())
            };
            TurnView { turn, caller, cells: faults.iter().map(of_turn).collect() }
        };
        let rows = turns.iter().map(row).collect();
        WorldsView { faults, rows }
    }
}

/// The name of a world's fault, without its place.
fn name_of(world: &WorldData) -> &str {
    world.fault.split(' ').next().unwrap_or_default()
}

/// The cell of a fault: the worst that the service did counts.
fn cell<'a>(worlds: &[&'a WorldData]) -> Option<CellView<'a>> {
    let worst = worlds.iter().max_by_key(|world| (world.fails, world.verdict != "recovered"))?;
    let all =
        worlds.iter().map(|world| format!("{}: {} {}", world.fault, world.verdict, world.why).trim_end().to_owned());
    Some(CellView { verdict: &worst.verdict, fails: worst.fails, all: all.collect::<Vec<_>>().join("\n") })
}
