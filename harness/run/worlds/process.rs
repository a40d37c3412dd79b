//! The worlds of the process and of the tools: the calls of the recorded run at which the system is killed, or a tool fails, and what may
//! be done twice. Pure.

use super::batch::Recording;
use super::client;
use super::plan::{Spot, World};
use super::stay::Setting;
use retake_base::error::{Error, Result};
use retake_core::json::Json;
use retake_engine::tools::CallOfTool;
use retake_model::{Fault, FaultKind};
use retake_scenario::{Action, AnswerAs, Worlds};
use retake_wire::fixture::{ToolExchange, is_safe};

/// The faults of tools, each with whether the tool acts all the same.
const OF_TOOLS: [(FaultKind, bool); 4] = [
    (FaultKind::ToolError, false),
    (FaultKind::ToolTimeout, false),
    (FaultKind::ToolForm, true),
    (FaultKind::ToolLost, true),
];

impl Setting<'_> {
    /// Fails if only a side is wanted that cannot fail.
    pub(super) fn can_fail(&self, of: &Worlds, side: &str, unable: Option<String>) -> Result<Option<String>> {
        let wants = |kind: &FaultKind| kind.side() == side;
        match unable.filter(|_| of.kinds.iter().any(wants)) {
            Some(why) if of.kinds.iter().all(wants) => {
                let error = Error::new(format!("the worlds of the side `{side}` cannot be run: {why}"));
                Err(error.in_file(&self.scenario.file))
            }
            unable => Ok(unable.map(|why| format!("{side}: no worlds, since {why}"))),
        }
    }

    /// The worlds of the process and the tools, as far as there can be any.
    pub(super) fn worlds_of_process_and_tools(&self, of: &Worlds, recording: &Recording) -> Vec<World> {
        let wants = |side: &str| of.kinds.iter().any(|kind| kind.side() == side);
        let kills = wants("process") && self.cannot_be_killed().is_none();
        let mut all = if kills { self.kills(of, recording) } else { Vec::new() };
        let calls = recording.seen.tools.iter().map(|(call, _)| call).filter(|_| wants("tools"));
        all.extend(OF_TOOLS.into_iter().flat_map(|(kind, acted)| {
            let spot = |call: &CallOfTool| Spot::Tool { call: call.clone(), acted, name: self.tool(call) };
            numbered(kind, calls.clone().map(|call| (0, spot(call))).collect())
        }));
        all
    }

    /// Why the system cannot be killed.
    pub(super) fn cannot_be_killed(&self) -> Option<String> {
        let is_plain =
            |action: &Action| matches!(action, Action::Request(it) if !matches!(it.answer, AnswerAs::Listen(_)));
        if !self.project.systems.is_command(self.scenario) {
            return Some("only a system with a `command` can be killed and started again".to_owned());
        }
        let other = self.scenario.steps.iter().position(|step| !is_plain(&step.action));
        other.map(|at| format!("step {} is no request whose client could come back", at + 1))
    }

    /// Why no tool can fail.
    pub(super) fn has_no_doubles(recording: &Recording) -> Option<String> {
        let none = recording.seen.tools.is_empty();
        none.then(|| "no call of a tool was recorded for which there is a double (of an MCP server)".to_owned())
    }

    /// The places at which the system is killed, in the order of the recorded run.
    fn kills(&self, of: &Worlds, recording: &Recording) -> Vec<World> {
        let mut places: Vec<(f64, usize, Spot)> = Vec::new();
        let possible = recording.watched.possible();
        for call in &recording.seen.calls {
            let Some(turn) = call.turn else { continue };
            places.push((call.came, turn, Spot::Call { within: None }));
            // The middle of a stream is where it could stop.
            let stalls = possible.get(&turn).into_iter().flatten().filter(|fault| fault.kind == FaultKind::Stall);
            let middle = stalls.filter_map(|fault| fault.after.filter(|after| *after <= fault.of.div_ceil(2))).max();
            places.extend(middle.map(|middle| (call.came, turn, Spot::Call { within: Some(middle) })));
        }
        for (call, came) in &recording.seen.tools {
            let spot = |acted| Spot::Tool { call: call.clone(), acted, name: self.tool(call) };
            places.extend([false, true].map(|acted| (*came, 0, spot(acted))));
        }
        places.sort_by(|(one, ..), (other, ..)| one.total_cmp(other));
        // After the last call, an event is what comes next: the last one, when nothing is left but to be asked for it once more.
        for (step, events) in &recording.seen.streams {
            let has_way = client::has_way_back(self.scenario, *step, of);
            let event = events.iter().filter(|event| event.is_real()).count();
            places.extend((has_way && event > 0).then_some((0.0, 0, Spot::Event { step: *step, event })));
        }
        numbered(FaultKind::Kill, places.into_iter().map(|(_, turn, spot)| (turn, spot)).collect()).collect()
    }

    /// The name of the tool that a recorded call asks for.
    fn tool(&self, call: &CallOfTool) -> String {
        self.exchange(call).map(ToolExchange::tool).unwrap_or_default().to_owned()
    }

    fn exchange(&self, (server, exchange): &CallOfTool) -> Option<&ToolExchange> {
        self.fixture.tools.get(server)?.get(*exchange)
    }

    /// The first tool that acted more often than it should: that changes something, and was called with the same arguments.
    pub(super) fn acted_twice(&self, acted: &[CallOfTool], of: &Worlds) -> Option<String> {
        let twice = |at: usize| acted[..at].contains(&acted[at]) && !self.only_reads(&acted[at], of);
        let at = (0..acted.len()).find(|at| twice(*at))?;
        Some(format!("`{}` acts again, with the same arguments", self.tool(&acted[at])))
    }

    /// Whether a tool may be called again: the scenario says so, the server's list of tools does, or its method of HTTP.
    fn only_reads(&self, call: &CallOfTool, of: &Worlds) -> bool {
        let name = self.tool(call);
        let lists = self.fixture.tools.get(&call.0).into_iter().flatten().filter(|it| it.method == "tools/list");
        let tools = lists.filter_map(|list| list.answer.as_ref()?.as_ref().ok()?.get("tools")?.as_array()).flatten();
        let hints = |tool: &Json| {
            let says = |hint: &str| tool.get("annotations").and_then(|all| all.get(hint)) == Some(&Json::Bool(true));
            tool.str_of("name") == Some(&name) && (says("readOnlyHint") || says("idempotentHint"))
        };
        self.exchange(call).is_some_and(|it| is_safe(&it.method))
            || of.reads.contains(&name)
            || tools.into_iter().any(hints)
    }
}

/// Worlds of a fault at these places, each with a turn, numbered from 1.
fn numbered(kind: FaultKind, places: Vec<(usize, Spot)>) -> impl Iterator<Item = World> {
    let of = places.len();
    let numbered = places.into_iter().enumerate();
    numbered.map(move |(at, (turn, spot))| World::at(turn, Fault { kind, after: Some(at + 1), of }, spot))
}
