//! The data of a run for the page's template: times and numbers as text, and long lists cut.

use serde::Serialize;

use super::axis::{Lane, lanes, ticks};
use super::marked;
use super::worlds::WorldsView;
use crate::view::explain::{says, time};
use crate::view::side_by_side::{Row, side_by_side};
use retake::__private::report::{
    CallData, CheckData, DriftData, FailureData, FlakyData, GoldenData, MessageData, MissData, RunData, RunResult,
    StepData, Tokens, ToolCallData, ToolRequestData, in_thousands,
};
use retake_base::text::clipped;

/// How much of a run is listed. The run's data file contains more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The most events of a step.
    events: usize,
    /// The most calls.
    calls: usize,
}

impl Limits {
    /// The limits for a run on a page with this many runs, so that the page loads fast. Failed runs keep the highest limits.
    pub(super) fn of(run: &RunData, runs: usize) -> Limits {
        let (most_events, most_calls) = (40, 100);
        match run.result {
            RunResult::Failed => Limits { events: most_events, calls: most_calls },
            RunResult::Passed | RunResult::Skipped => Limits {
                events: (3_000 / runs.max(1)).clamp(10, most_events),
                calls: (4_000 / runs.max(1)).clamp(10, most_calls),
            },
        }
    }
}

/// How many characters of an event's payload are shown.
const PAYLOAD: usize = 160;

/// A run for the template.
#[derive(Serialize)]
pub(super) struct RunView<'a> {
    id: String,
    name: &'a str,
    description: &'a Option<String>,
    result: &'static str,
    open: bool,
    took: String,
    started: String,
    file: String,
    fixture: Option<String>,
    failure: &'a Option<FailureData>,
    flaky: &'a Option<FlakyData>,
    evidence: Vec<String>,
    drifts: bool,
    lanes: Vec<Lane<'a>>,
    ticks: Vec<String>,
    steps: Vec<StepView<'a>>,
    calls: Vec<CallView<'a>>,
    more_calls: usize,
    unused: Vec<UnusedView<'a>>,
    requests: Vec<RequestView<'a>>,
    golden: Option<GoldenView<'a>>,
    check: Option<CheckView>,
    worlds: Option<WorldsView<'a>>,
    notes: &'a [String],
    logs: Vec<String>,
}

#[derive(Serialize)]
struct StepView<'a> {
    title: &'a str,
    at: String,
    took: Option<String>,
    status: &'a Option<String>,
    failure: &'a Option<String>,
    count: usize,
    names: String,
    events: Vec<EventView<'a>>,
    more: usize,
    acts: Vec<ActView<'a>>,
}

#[derive(Serialize)]
struct ActView<'a> {
    at: String,
    what: &'a str,
    failure: &'a Option<String>,
    /// The file of its picture, which the page shows as `data:`.
    picture: Option<String>,
}

#[derive(Serialize)]
struct EventView<'a> {
    at: String,
    name: &'a str,
    payload: String,
}

#[derive(Serialize)]
struct CallView<'a> {
    at: String,
    caller: &'a str,
    messages: usize,
    turn: Option<usize>,
    tokens: Option<String>,
    asked: &'a [MessageData],
    text: Option<&'a str>,
    tools: &'a [ToolCallData],
    drift: &'a [DriftData],
    miss: &'a Option<MissData>,
    /// The evidence of the miss as HTML.
    missed: Option<String>,
}

#[derive(Serialize)]
struct UnusedView<'a> {
    index: usize,
    caller: &'a str,
    says: String,
}

#[derive(Serialize)]
struct RequestView<'a> {
    at: String,
    took: String,
    server: &'a str,
    request: &'a str,
    answer: &'a str,
    failed: bool,
}

#[derive(Serialize)]
struct GoldenView<'a> {
    file: String,
    /// The golden and this run side by side, if they differ.
    rows: Vec<Row>,
    text: Option<&'a str>,
}

/// What a check against the provider found.
#[derive(Serialize)]
struct CheckView {
    calls: u64,
    tokens: String,
    drift: Vec<String>,
    unchecked: Vec<String>,
    notes: Vec<String>,
}

impl RunView<'_> {
    /// The view of a run. A failed one is open when the page is loaded, if `open`.
    pub(super) fn of(run: &RunData, open: bool, limits: Limits) -> RunView<'_> {
        let failed = run.result == RunResult::Failed;
        RunView {
            id: run.scenario.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_', "-"),
            name: &run.scenario,
            description: &run.description,
            result: match run.result {
                RunResult::Failed => "failed",
                RunResult::Passed => "passed",
                RunResult::Skipped => "skipped",
            },
            open: open && failed,
            took: time(run.took_ms),
            started: moment(&run.started),
            file: run.file.display().to_string(),
            fixture: run.fixture.as_ref().map(|file| file.display().to_string()),
            failure: &run.failure,
            flaky: &run.flaky,
            evidence: run.failure.iter().flat_map(|failure| &failure.evidence).map(|it| marked(&it.lines())).collect(),
            drifts: run.calls.iter().any(|call| !call.drift.is_empty()),
            lanes: lanes(run),
            ticks: ticks(run),
            steps: run.steps.iter().map(|data| step(data, limits.events)).collect(),
            calls: run.calls.iter().take(limits.calls).map(call).collect(),
            more_calls: run.calls.len().saturating_sub(limits.calls),
            unused: run
                .unused
                .iter()
                .map(|turn| UnusedView {
                    index: turn.index,
                    caller: turn.caller.as_deref().unwrap_or("unknown"),
                    says: says(turn),
                })
                .collect(),
            requests: run.tool_requests.iter().take(limits.calls).map(request).collect(),
            golden: run.golden.as_ref().map(golden),
            check: run.check.as_ref().map(check),
            worlds: run.worlds.as_ref().map(WorldsView::of),
            notes: &run.notes,
            logs: run.logs.iter().map(|file| file.display().to_string()).collect(),
        }
    }
}

fn step(step: &StepData, most: usize) -> StepView<'_> {
    let mut names: Vec<(&str, usize)> = Vec::new();
    for event in &step.events {
        match names.iter_mut().find(|(name, _)| *name == event.name) {
            Some((_, count)) => *count += 1,
            None => names.push((&event.name, 1)),
        }
    }
    let times = |(name, count): (&str, usize)| if count == 1 { name.to_owned() } else { format!("{name} ×{count}") };
    let events = step.events.iter().take(most).map(|event| EventView {
        at: time(event.at_ms),
        name: &event.name,
        payload: clipped(&event.payload, PAYLOAD).into_owned(),
    });
    let count = step.events.len() + step.more_events;
    StepView {
        title: &step.title,
        at: time(step.at_ms),
        took: step.took_ms.map(time),
        status: &step.status,
        failure: &step.failure,
        count,
        names: names.into_iter().map(times).collect::<Vec<_>>().join(", "),
        events: events.collect(),
        more: count.saturating_sub(most),
        acts: step
            .acts
            .iter()
            .map(|act| ActView {
                at: time(act.at_ms),
                what: &act.what,
                failure: &act.failure,
                picture: act.picture.as_ref().map(|picture| picture.display().to_string()),
            })
            .collect(),
    }
}

fn call(call: &CallData) -> CallView<'_> {
    let turn = call.turn.as_ref();
    let tokens = |tokens: Tokens| format!("{} + {}", in_thousands(tokens.input), in_thousands(tokens.output));
    CallView {
        at: time(call.at_ms),
        caller: call.caller.as_deref().unwrap_or("unknown"),
        messages: call.messages,
        turn: turn.map(|turn| turn.index),
        tokens: turn.and_then(|turn| turn.tokens).map(tokens),
        asked: &call.asked,
        text: turn.map(|turn| turn.text.as_str()).filter(|text| !text.is_empty()),
        tools: turn.map(|turn| turn.tool_calls.as_slice()).unwrap_or_default(),
        drift: &call.drift,
        miss: &call.miss,
        missed: call.miss.as_ref().map(|miss| marked(&miss.evidence)),
    }
}

fn request(asked: &ToolRequestData) -> RequestView<'_> {
    RequestView {
        at: time(asked.at_ms),
        took: time(asked.took_ms),
        server: &asked.server,
        request: &asked.request,
        answer: &asked.answer,
        failed: asked.failed,
    }
}

fn check(check: &CheckData) -> CheckView {
    CheckView {
        calls: check.calls,
        tokens: in_thousands(check.tokens),
        drift: check.lines(true),
        unchecked: check.not_checked(),
        notes: check.lines(false),
    }
}

fn golden(golden: &GoldenData) -> GoldenView<'_> {
    let rows = golden.run.as_deref().map(|run| side_by_side(golden.committed.as_deref().unwrap_or_default(), run));
    GoldenView {
        file: golden.file.display().to_string(),
        rows: rows.unwrap_or_default(),
        text: golden.committed.as_deref().or(golden.run.as_deref()),
    }
}

/// A time of the run data as `2026-11-22 14:15:54 UTC`.
pub(super) fn moment(started: &str) -> String {
    let seconds = started.split('.').next().unwrap_or_default();
    format!("{} UTC", seconds.replace('T', " "))
}
