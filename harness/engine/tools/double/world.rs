//! What becomes of the calls of tools in a world, and which of them acted.

use std::sync::Arc;

use tokio::time::Instant;

use super::plain;
use retake_base::lock::Mutex;
use retake_core::json::Json;
use retake_model::{FaultKind, Scope, Staged};

/// A recorded call of a tool: its server, and its index among the exchanges with it.
pub type CallOfTool = (String, usize);

/// The world in which the doubles of a stage are.
#[derive(Debug, Default)]
pub struct ToolWorld {
    /// Where misses are registered, if not in the stage's scope: its doubles outlive a run.
    pub(super) scope: Option<Scope>,
    fault: Option<ToolFault>,
    /// Whether calls may come more often than they were recorded.
    pub(super) repeats: bool,
    state: Mutex<State>,
}

/// The fault that the first call meets that takes this recorded one.
#[derive(Clone, Debug)]
pub struct ToolFault {
    /// The call that fails.
    pub call: CallOfTool,
    /// How it fails.
    pub kind: FaultKind,
    /// Whether the tool acts all the same.
    pub acts: bool,
    /// What is told when the call meets it.
    pub told: Arc<Staged>,
}

#[derive(Debug, Default)]
struct State {
    has_met: bool,
    came: Vec<(CallOfTool, Instant)>,
    acted: Vec<CallOfTool>,
}

impl ToolWorld {
    /// The world of a run, in whose scope misses are registered. With `repeats`, calls may come more often than they were recorded.
    pub fn of(scope: &Scope, repeats: bool, fault: Option<ToolFault>) -> ToolWorld {
        ToolWorld { scope: Some(scope.clone()), fault, repeats, state: Mutex::default() }
    }

    /// Notes a call. Returns the fault that it meets, and whether it acts.
    pub(super) fn comes(&self, call: &CallOfTool) -> (Option<FaultKind>, bool) {
        let mut state = self.state.lock();
        state.came.push((call.clone(), Instant::now()));
        let meets = self.fault.as_ref().filter(|fault| !state.has_met && fault.call == *call);
        let acts = meets.is_none_or(|fault| fault.acts);
        if acts {
            state.acted.push(call.clone());
        }
        if let Some(fault) = meets {
            state.has_met = true;
            fault.told.meets();
        }
        (meets.map(|fault| fault.kind), acts)
    }

    /// The calls that came, each with the time.
    pub fn came(&self) -> Vec<(CallOfTool, Instant)> {
        self.state.lock().came.clone()
    }

    /// The calls that acted, in the order in which they did.
    pub fn acted(&self) -> Vec<CallOfTool> {
        self.state.lock().acted.clone()
    }
}

/// What a tool says that failed.
const FAILED: &str = "Error: the tool failed, and did nothing (retake)";

/// The answer to a call that meets a fault, with its HTTP status if that is not 200; `None` if there is none.
pub(super) fn answer(kind: FaultKind, is_plain: bool) -> Option<(Json, Option<u16>)> {
    let nothing = Json::object([("result", Json::Null)]);
    let text = || Json::object([("type", "text".into()), ("text", FAILED.into())]);
    match kind {
        FaultKind::ToolError if is_plain => Some((plain::json(Json::object([("error", FAILED.into())])), Some(500))),
        FaultKind::ToolError => {
            Some((Json::object([("content", vec![text()].into()), ("isError", true.into())]), None))
        }
        FaultKind::ToolForm => Some((if is_plain { plain::json(nothing) } else { nothing }, None)),
        _ => None,
    }
}
