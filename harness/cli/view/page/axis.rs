//! The time axis of a run: one lane of bars or marks for the steps, for each caller, for tools, and for events.

use std::collections::HashSet;
use std::fmt::Write as _;

use serde::Serialize;

use crate::view::explain::time;
use retake::__private::report::{CallData, RunData};
use retake_base::text::{clipped, nth_turn};

/// The most bars of a lane. More could not be distinguished.
const BARS: usize = 200;

#[derive(Debug, Serialize)]
pub(super) struct Lane<'a> {
    label: &'a str,
    bars: Vec<Bar>,
    /// The marks of events, as a path in an SVG of width 1,000 and height 10.
    events: String,
}

/// Something that took time.
#[derive(Debug, Serialize)]
struct Bar {
    kind: &'static str,
    /// The distance from the left, in percent.
    left: String,
    /// The width, in percent.
    width: String,
    title: String,
}

/// The time span in which anything happened, in milliseconds since the run began.
struct Span {
    from: f64,
    to: f64,
}

impl Span {
    fn of(run: &RunData) -> Option<Span> {
        let steps = run.steps.iter().map(|step| (step.at_ms, step.at_ms + step.took_ms.unwrap_or_default()));
        let calls = run.calls.iter().map(|call| (call.at_ms, call.at_ms + call.took_ms));
        let tools = run.tool_requests.iter().map(|asked| (asked.at_ms, asked.at_ms + asked.took_ms));
        let events = run.steps.iter().flat_map(|step| &step.events).map(|event| (event.at_ms, event.at_ms));
        let all = steps.chain(calls).chain(tools).chain(events);
        let (from, to) = all.reduce(|all, next| (all.0.min(next.0), all.1.max(next.1)))?;
        // A step that never ended lasts until the end of the run.
        let open = run.steps.iter().any(|step| step.took_ms.is_none());
        Some(Span { from, to: if open { to.max(run.took_ms) } else { to }.max(from + 0.1) })
    }

    /// The position of a time, as a number from 0 to `whole`.
    fn place(&self, at_ms: f64, whole: f64) -> f64 {
        ((at_ms - self.from) / (self.to - self.from)).clamp(0.0, 1.0) * whole
    }

    fn bar(&self, kind: &'static str, from: f64, to: f64, title: String) -> Bar {
        let left = self.place(from, 100.0).min(99.5);
        let width = (self.place(to, 100.0) - left).max(0.0);
        Bar { kind, left: format!("{left:.2}"), width: format!("{width:.2}"), title }
    }
}

/// The lanes of a run: steps, each caller's calls, its tools, events.
pub(super) fn lanes(run: &RunData) -> Vec<Lane<'_>> {
    let Some(span) = Span::of(run) else { return Vec::new() };
    let lane = |label, bars: Vec<Bar>| Lane { label, bars, events: String::new() };
    let mut lanes = vec![lane("steps", steps(run, &span))];
    let mut known = HashSet::new();
    for name in run.calls.iter().map(caller).filter(|name| known.insert(*name)) {
        let of_caller = run.calls.iter().filter(|call| caller(call) == name);
        lanes.push(lane(name, of_caller.take(BARS).map(|call| of_call(call, &span)).collect()));
    }
    let tools = tools(run, &span);
    if !tools.is_empty() {
        lanes.push(lane("tools", tools));
    }
    let mut events = String::new();
    let mut last = None;
    for event in run.steps.iter().flat_map(|step| &step.events) {
        // Draw events at the same position only once.
        let place = span.place(event.at_ms, 999.0).round();
        if last.replace(place.to_bits()) != Some(place.to_bits()) {
            let _ = write!(events, "M{place} 0v10");
        }
    }
    if !events.is_empty() {
        lanes.push(Lane { label: "events", bars: Vec::new(), events });
    }
    lanes
}

/// The labels below the axis: five times.
pub(super) fn ticks(run: &RunData) -> Vec<String> {
    let Some(Span { from, to }) = Span::of(run) else { return Vec::new() };
    (0..=4).map(|part| time(from + (to - from) * f64::from(part) / 4.0)).collect()
}

fn steps(run: &RunData, span: &Span) -> Vec<Bar> {
    let bar = |step: &retake::__private::report::StepData| {
        let ended = step.took_ms.map_or(span.to, |took| step.at_ms + took);
        let kind = if step.failure.is_some() || step.took_ms.is_none() { "broken" } else { "step" };
        span.bar(kind, step.at_ms, ended, format!("{}, at {}", step.title, time(step.at_ms)))
    };
    run.steps.iter().take(BARS).map(bar).collect()
}

fn of_call(call: &CallData, span: &Span) -> Bar {
    let (kind, got) = match (&call.turn, call.drift.is_empty()) {
        (Some(turn), true) => ("call", nth_turn(turn.index)),
        (Some(turn), false) => ("call drifted", format!("{}, drift", nth_turn(turn.index))),
        (None, _) => ("call missed", "miss".to_owned()),
    };
    span.bar(kind, call.at_ms, call.at_ms + call.took_ms, format!("{}: {got}, at {}", caller(call), time(call.at_ms)))
}

/// The requests to tool servers. If there are none, the time from each answer that calls tools until the caller's next call.
fn tools(run: &RunData, span: &Span) -> Vec<Bar> {
    if !run.tool_requests.is_empty() {
        let bar = |asked: &retake::__private::report::ToolRequestData| {
            let kind = if asked.failed { "tool broken" } else { "tool" };
            span.bar(kind, asked.at_ms, asked.at_ms + asked.took_ms, clipped(&asked.request, 120).into_owned())
        };
        return run.tool_requests.iter().take(BARS).map(bar).collect();
    }
    let calling = run.calls.iter().enumerate().filter_map(|(index, call)| {
        let names: Vec<&str> = call.turn.as_ref()?.tool_calls.iter().map(|tool| tool.name.as_str()).collect();
        let next = run.calls[index + 1..].iter().find(|next| caller(next) == caller(call))?;
        let title = format!("{}: from the answer that calls it to the next model call", names.join(", "));
        (!names.is_empty()).then(|| span.bar("tool", call.at_ms + call.took_ms, next.at_ms, title))
    });
    calling.take(BARS).collect()
}

fn caller(call: &CallData) -> &str {
    call.caller.as_deref().unwrap_or("model calls")
}
