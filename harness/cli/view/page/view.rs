//! What the page shows of a run beside its data: what is drawn, compared, or told in other words.

use serde::Serialize;

use super::axis::{Lane, lanes, ticks};
use super::marked;
use super::worlds::WorldsView;
use crate::view::explain::says;
use crate::view::side_by_side::{Row, side_by_side};
use retake::__private::report::{CallData, CheckData, Evidence, RunData, RunResult};

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
        let missed =
            |call: &CallData| call.miss.as_ref().map(|miss| marked(&Evidence::Calls { lines: miss.evidence.clone() }));
        let today = |check: &CheckData| [check.lines(true), check.not_checked(), check.lines(false)];
        let golden = run.golden.as_ref().and_then(|golden| Some((golden.committed.as_deref(), golden.run.as_deref()?)));
        RunView {
            data: run,
            id: run.scenario.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_', "-"),
            open: open && failed,
            most_events: most(3_000, 40),
            most_calls: most(4_000, 100),
            drifts: run.calls.iter().any(|call| !call.drift.is_empty()),
            proof: run.failure.iter().flat_map(|failure| &failure.evidence).map(marked).collect(),
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
