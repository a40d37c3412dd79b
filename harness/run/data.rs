//! Converts the parts of a run to the data that is written about it. Pure.

use std::path::PathBuf;

use tokio::time::Instant;

use crate::report::{
    CallData, DriftData, GoldenData, MessageData, MissData, Tokens, ToolCallData, ToolRequestData, TurnData, unified,
};
use retake_base::text::clipped;
use retake_core::json::Layout;
use retake_engine::drive::milliseconds;
use retake_engine::tools::ToolRequest;
use retake_model::{CallOutcome, CallSeen, Miss, change};
use retake_wire::fixture::Fixture;

/// How many characters of a turn's text, and of a tool call's arguments, are kept.
const TEXT: usize = 400;

pub(super) fn call_data(
    number: usize,
    call: &CallSeen,
    began: Instant,
    turn_of: impl Fn(usize) -> Option<TurnData>,
    explained: impl Fn(&Miss) -> Miss,
) -> CallData {
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
            let miss = explained(miss);
            let causes: Vec<&str> = miss.causes.iter().map(|cause| cause.what.as_str()).collect();
            let miss = MissData { headline: causes.join("; and "), evidence: miss.lines };
            (None, Vec::new(), Some(miss))
        }
    };
    CallData {
        number,
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
    let usage = turn.output.usage.filter(|usage| usage.input > 0 || usage.output > 0);
    Some(TurnData {
        index,
        caller: turn.caller.clone(),
        text: clipped(&turn.output.text(), TEXT).into_owned(),
        tool_calls: calls.collect(),
        tokens: usage.map(|usage| Tokens { input: usage.input, output: usage.output }),
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
