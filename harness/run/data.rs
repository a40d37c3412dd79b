//! Converts the parts of a run to the data that is written about it. Pure.

use std::path::PathBuf;
use std::time::Duration;

use tokio::time::Instant;

use crate::drive::StepTaken;
use crate::report::{
    ActData, AdviceData, CallData, CauseData, DriftData, EventData, Evidence, Failure, FailureData, GoldenData,
    LineData, MessageData, MissData, RunAction, RunData, RunResult, StepData, Tokens, ToolCallData, ToolRequestData,
    TurnData, unified,
};
use crate::tools::ToolRequest;
use retake_base::cause::Cause;
use retake_base::text::clipped;
use retake_core::json::Layout;
use retake_model::{CallOutcome, CallSeen, change};
use retake_wire::fixture::Fixture;

/// How many characters of a turn's text, and of a tool call's arguments, are kept.
const TEXT: usize = 400;

/// The data of a run that ends now, with only its result.
pub(super) fn of_run(
    name: &str,
    file: PathBuf,
    action: RunAction,
    failure: Option<&Failure>,
    began: Instant,
    started: String,
) -> RunData {
    RunData {
        result: if failure.is_some() { RunResult::Failed } else { RunResult::Passed },
        took_ms: milliseconds(began.elapsed()),
        failure: failure.map(failure_data),
        ..RunData::passed(name, file, action, started)
    }
}

fn failure_data(failure: &Failure) -> FailureData {
    let cause = |cause: &Cause| CauseData { kind: cause.kind.name(), what: cause.what.clone() };
    FailureData {
        headline: failure.headline(),
        causes: failure.causes.iter().map(cause).collect(),
        evidence: failure.hints.iter().cloned().map(Evidence::from).chain(failure.evidence.iter().cloned()).collect(),
        advice: failure
            .advice
            .iter()
            .map(|advice| AdviceData { case: advice.case.clone(), command: advice.command.clone() })
            .collect(),
    }
}

pub(super) fn step_data(step: &StepTaken, began: Instant) -> StepData {
    StepData {
        title: step.title.clone(),
        at_ms: since(began, step.began),
        took_ms: step.ended.map(|ended| since(step.began, ended)),
        status: step.status.map(|status| status.to_string()),
        failure: step.failure.clone(),
        events: step
            .events
            .iter()
            .map(|event| EventData {
                at_ms: since(began, event.came),
                name: event.name.clone(),
                payload: event.payload.clone(),
            })
            .collect(),
        more_events: step.more_events,
        acts: step
            .acts
            .iter()
            .map(|act| ActData {
                what: act.what.clone(),
                at_ms: since(began, act.began),
                took_ms: act.ended.map(|ended| since(act.began, ended)),
                failure: act.failure.clone(),
                picture: act.picture.clone(),
            })
            .collect(),
    }
}

pub(super) fn call_data(call: &CallSeen, began: Instant, turn_of: impl Fn(usize) -> Option<TurnData>) -> CallData {
    let asked = call.asked.added.iter().map(|(kind, text)| MessageData { kind: kind.clone(), text: text.clone() });
    let (turn, drift, miss) = match &call.outcome {
        CallOutcome::Turn(index, drift) => {
            let drift = drift.iter().map(|drift| DriftData {
                check: drift.check.to_string(),
                change: change(&drift.recorded, &drift.called),
            });
            (turn_of(*index), drift.collect(), None)
        }
        CallOutcome::Missed(miss) => {
            let causes: Vec<&str> = miss.causes.iter().map(|cause| cause.what.as_str()).collect();
            let miss = MissData { headline: causes.join("; and "), evidence: LineData::all(miss.lines.clone()) };
            (None, Vec::new(), Some(miss))
        }
    };
    CallData {
        // Counted when all calls are there, in the order in which they came.
        number: 0,
        at_ms: since(began, call.came),
        took_ms: since(call.came, call.answered),
        via: call.via.clone(),
        caller: call.asked.caller.clone(),
        messages: call.asked.messages,
        asked: asked.collect(),
        turn,
        drift,
        miss,
    }
}

pub(super) fn asked_data(asked: &ToolRequest, began: Instant) -> ToolRequestData {
    let (Ok(answer) | Err(answer)) = &asked.answer;
    ToolRequestData {
        at_ms: since(began, asked.came),
        took_ms: since(asked.came, asked.answered),
        server: asked.server.clone(),
        request: asked.what.clone(),
        answer: answer.clone(),
        failed: asked.answer.is_err(),
    }
}

pub(super) fn turn_data(fixture: &Fixture, index: usize) -> Option<TurnData> {
    let turn = fixture.table.turns().get(index)?;
    let calls = turn.output.tool_calls().into_iter().map(|call| ToolCallData {
        name: call.name.clone(),
        args: clipped(&call.args.print(Layout::Compact), TEXT).into_owned(),
    });
    Some(TurnData {
        index,
        caller: turn.caller.clone(),
        text: clipped(&turn.output.text(), TEXT).into_owned(),
        tool_calls: calls.collect(),
        tokens: turn
            .output
            .usage
            .filter(|usage| usage.input > 0 || usage.output > 0)
            .map(|usage| Tokens { input: usage.input, output: usage.output }),
    })
}

pub(super) fn golden_data(file: PathBuf, committed: Option<String>, run: Option<String>) -> GoldenData {
    let same = |run: &String| committed.as_deref().map(str::trim_end) == Some(run.trim_end());
    let run = run.filter(|run| !same(run));
    let diff = run.as_deref().map(|run| unified(committed.as_deref().unwrap_or_default(), run));
    GoldenData { file, committed, run, diff }
}

/// The milliseconds from one time to another, rounded to hundredths.
fn since(from: Instant, to: Instant) -> f64 {
    milliseconds(to.saturating_duration_since(from))
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 100_000.0).round() / 100.0
}
