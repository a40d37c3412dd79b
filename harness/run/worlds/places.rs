//! Which worlds a scenario has: each place of the recorded run, on each side, with each fault that it can have. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::batch::Recording;
use super::stay::Setting;
use retake_base::error::{Error, Result};
use retake_core::events::Event;
use retake_engine::tools::CallOfTool;
use retake_model::{Family, Fault, FaultKind};
use retake_scenario::{Action, AnswerAs, Method, Request, Scenario, Step, Worlds};
use retake_wire::fixture::ToolExchange;

/// The most calls whose answers are given in each order. Of more, some orders are chosen, and how many.
const ALL_ORDERS: usize = 4;
const CHOSEN: usize = 24;

/// One world: a place in the recorded run, and a fault at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct World {
    /// The turn, or the first of the turns that are answered in another order.
    pub(super) turn: usize,
    pub(super) fault: Fault,
    /// The order in which these turns are answered; empty if that is not the fault.
    pub(super) order: Vec<usize>,
    /// Where the fault is, if it is none of the model's answer.
    pub(super) spot: Option<Spot>,
}

/// A place in the recorded run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    /// An event to the client: the index of the step whose stream it is in, and its number there, counted from 1.
    Event { step: usize, event: usize },
    /// The call of the world's turn: before it is answered, or in the middle of its answer, after so many of its frames.
    Call { within: Option<usize> },
    /// A call of a tool: before it acts, or after it acted. `name` is the tool's.
    Tool { call: CallOfTool, acted: bool, name: String },
}

impl Spot {
    /// Says it, of a call of the model with its turn.
    pub(super) fn said(&self, turn: usize) -> String {
        match self {
            Spot::Event { event, .. } => format!("at event {event}"),
            Spot::Call { within: None } => format!("before the answer of turn {}", turn + 1),
            Spot::Call { within: Some(_) } => format!("in the answer of turn {}", turn + 1),
            Spot::Tool { acted: false, name, .. } => format!("before `{name}` acts"),
            Spot::Tool { name, .. } => format!("after `{name}` acted"),
        }
    }
}

impl World {
    /// The world of a fault of a turn's answer.
    pub(super) fn of(turn: usize, fault: Fault) -> World {
        World { turn, fault, order: Vec::new(), spot: None }
    }

    /// The name in commands: `turn1/cut-clean/3`, `client/leave/7`, `process/kill/3`.
    pub(super) fn id(&self) -> String {
        let after = self.fault.after.map(|after| format!("/{after}")).unwrap_or_default();
        let place = if self.spot.is_some() { self.side().to_owned() } else { format!("turn{}", self.turn + 1) };
        format!("{place}/{}{after}", self.fault.kind.name())
    }

    /// The side that fails.
    pub(super) fn side(&self) -> &'static str {
        self.fault.kind.side()
    }

    /// The fault in words: `cut-clean 3/7`, `order 2 1`, `kill 3/8 in the answer of turn 2`.
    pub(super) fn said(&self) -> String {
        let spot = self.spot.as_ref().filter(|_| self.side() != "client").map(|spot| spot.said(self.turn));
        let order = self.order.iter().map(|turn| (turn + 1).to_string());
        [self.fault.to_string()].into_iter().chain(spot).chain(order).collect::<Vec<_>>().join(" ")
    }

    /// Whether a service should not notice it.
    pub(super) fn is_invisible(&self) -> bool {
        matches!(self.fault.kind.family(), Family::Framing | Family::Order)
    }
}

/// The worlds of a scenario in the order of its table, and how many there are if they are more than wanted. Each side has as many as are
/// wanted.
pub(super) fn plan(
    worlds: &Worlds,
    possible: &BTreeMap<usize, Vec<Fault>>,
    together: &[BTreeSet<usize>],
    of_others: &[World],
    only: impl Fn(&World) -> bool,
) -> (Vec<World>, Option<usize>) {
    let others = together.iter().flat_map(orders).chain(of_others.iter().cloned());
    let mut all: Vec<(usize, World)> = others.map(|world| (0, world)).collect();
    for (turn, faults) in possible {
        for of_kind in faults.chunk_by(|one, next| one.kind == next.kind) {
            all.extend(of_kind.iter().enumerate().map(|(place, fault)| (place, World::of(*turn, *fault))));
        }
    }
    all.retain(|(_, world)| worlds.kinds.contains(&world.fault.kind) && only(world));
    all.sort_by_key(|(place, world)| (world.fault.kind, *place));
    let evenly = |side: &&str| {
        let all: Vec<&World> = all.iter().map(|(_, world)| world).filter(|world| world.side() == *side).collect();
        let (found, max) = (all.len(), all.len().min(worlds.max));
        (0..max).map(|at| all[at * found / max].clone()).collect::<Vec<_>>()
    };
    let chosen: Vec<World> = ["model", "client", "process", "tools"].iter().flat_map(evenly).collect();
    let found = Some(all.len()).filter(|found| *found > chosen.len());
    (chosen, found)
}

/// Each order of a group's answers but the recorded one; of many, some that are the same in each run: rotations, forwards and backwards.
fn orders(group: &BTreeSet<usize>) -> impl Iterator<Item = World> {
    let turns: Vec<usize> = group.iter().copied().collect();
    let mut all = BTreeSet::from([Vec::new()]);
    if turns.len() <= ALL_ORDERS {
        for turn in &turns {
            let with = |order: Vec<usize>| {
                (0..=order.len()).map(move |at| [&order[..at], &[*turn], &order[at..]].concat()).collect::<Vec<_>>()
            };
            all = all.into_iter().flat_map(with).collect();
        }
    } else {
        let rotated = |by: usize| [&turns[by..], &turns[..by]].concat();
        let both = |order: Vec<usize>| [order.iter().rev().copied().collect(), order];
        all = (0..turns.len()).map(rotated).flat_map(both).collect();
        all = all.into_iter().take(CHOSEN).collect();
    }
    all.remove(&turns);
    all.into_iter().map(move |order| World { order, ..World::of(turns[0], FaultKind::Order.whole()) })
}

/// Worlds of a fault at these places, each with a turn, numbered from 1.
fn numbered(kind: FaultKind, places: Vec<(usize, Spot)>) -> impl Iterator<Item = World> {
    let of = places.len();
    places.into_iter().enumerate().map(move |(at, (turn, spot))| {
        let fault = Fault { kind, after: Some(at + 1), of };
        World { spot: Some(spot), ..World::of(turn, fault) }
    })
}

/// The events of a stream that are none of the transport's.
pub(super) fn real(events: &[Event]) -> impl Iterator<Item = &Event> {
    events.iter().filter(|event| event.is_real())
}

/// Whether a client can come back to the stream of a step by other means than sending its request again.
fn has_way_back(scenario: &Scenario, index: usize, of: &Worlds) -> bool {
    let comes_back = |step: &Step| matches!(&step.action, Action::Request(request) if request.reconnect);
    let later = || scenario.steps.iter().skip(index + 1).any(comes_back);
    let request = scenario.steps.get(index).and_then(reads_to_the_end);
    request.is_some_and(|request| of.back.is_some() || request.method == Method::Get || later())
}

/// The request of a step that does not leave its stream by itself.
fn reads_to_the_end(step: &Step) -> Option<&Request> {
    let Action::Request(request) = &step.action else { return None };
    request.stream().filter(|stream| !stream.cancel).map(|_| &**request)
}

/// The first, the middle and the last event of each run of like ones, counted from 1.
fn places(names: &[String]) -> Vec<usize> {
    let (mut all, mut first) = (Vec::new(), 0);
    for run in names.chunk_by(|a, b| a == b) {
        all.extend([first + 1, first + run.len().div_ceil(2), first + run.len()]);
        first += run.len();
    }
    all.dedup();
    all
}

impl Setting<'_> {
    /// The worlds of a scenario that are wanted, in the order of its table, and how many there are if they are more.
    pub(super) fn worlds(&self, recording: &Recording, only: impl Fn(&World) -> bool) -> (Vec<World>, Option<usize>) {
        let others = [self.of_client(recording), self.of_process(recording), self.of_tools(recording)].concat();
        let (possible, together) = recording.watched.watched();
        plan(self.of, &possible, &together, &others, only)
    }

    /// Fails if only a side is wanted that cannot fail.
    pub(super) fn can_fail(&self, side: &str, unable: Option<&str>) -> Result<Option<String>> {
        let wants = |kind: &FaultKind| kind.side() == side;
        match unable.filter(|_| self.of.kinds.iter().any(wants)) {
            Some(why) if self.of.kinds.iter().all(wants) => {
                let error = Error::new(format!("the worlds of the side `{side}` cannot be run: {why}"));
                Err(error.in_file(&self.scenario.file))
            }
            unable => Ok(unable.map(|why| format!("{side}: no worlds, since {why}"))),
        }
    }

    /// Where the client leaves, comes back or comes a second time, in the order of the events of the recorded run.
    fn of_client(&self, recording: &Recording) -> Vec<World> {
        let streams = &recording.seen.streams;
        let of = streams.values().map(|events| real(events).count()).sum();
        let (mut before, mut all) = (0, Vec::new());
        for (step, events) in streams {
            let names: Vec<String> = real(events).map(|event| event.label().into_owned()).collect();
            let kinds = self.of_client_at(*step);
            for event in places(&names) {
                let (is_first, is_last) = (event == 1, event == names.len());
                let fits = |kind: &&FaultKind| match kind {
                    FaultKind::Twice => is_first,
                    FaultKind::Viewers => is_first || !is_last,
                    FaultKind::Late | FaultKind::Gone => !is_last,
                    // Who has all of it asks for the rest at most, and for no second run.
                    _ => !is_last || kinds.contains(&FaultKind::Viewers),
                };
                all.extend(kinds.iter().filter(fits).map(|kind| {
                    let fault = Fault { kind: *kind, after: Some(before + event), of };
                    World { spot: Some(Spot::Event { step: *step, event }), ..World::of(0, fault) }
                }));
            }
            before += names.len();
        }
        all
    }

    /// What the client of a step can do.
    fn of_client_at(&self, index: usize) -> Vec<FaultKind> {
        let Some(request) = self.scenario.steps.get(index).and_then(reads_to_the_end) else { return Vec::new() };
        let (of, has_way) = (self.of, has_way_back(self.scenario, index, self.of));
        let has_key = || request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("idempotency-key"));
        let is_keyed = of.same.is_some() || has_key();
        // A client that nobody said can come back sends its request again, which is asked for by name.
        if of.kinds == FaultKind::by_default() && !has_way && !is_keyed && of.leaves.is_none() {
            return Vec::new();
        }
        let ways = [has_way.then_some(FaultKind::Viewers), is_keyed.then_some(FaultKind::Twice)];
        [FaultKind::Leave, FaultKind::Late, FaultKind::Gone].into_iter().chain(ways.into_iter().flatten()).collect()
    }

    /// Why the system cannot be killed.
    pub(super) fn cannot_be_killed(&self) -> Option<String> {
        let is_plain = |of: &Action| matches!(of, Action::Request(it) if !matches!(it.answer, AnswerAs::Listen(_)));
        if !self.project.systems.is_command(self.scenario) {
            return Some("only a system with a `command` can be killed and started again".to_owned());
        }
        let other = self.scenario.steps.iter().position(|step| !is_plain(&step.action));
        other.map(|at| format!("step {} is no request whose client could come back", at + 1))
    }

    /// The places at which the system is killed, in the order of the recorded run.
    fn of_process(&self, recording: &Recording) -> Vec<World> {
        if !self.of.kinds.contains(&FaultKind::Kill) || self.cannot_be_killed().is_some() {
            return Vec::new();
        }
        let mut places: Vec<(f64, usize, Spot)> = Vec::new();
        let (possible, _) = recording.watched.watched();
        for call in &recording.seen.calls {
            let Some(turn) = call.turn else { continue };
            // The middle of a stream is where it could stop.
            let stalls = possible.get(&turn).into_iter().flatten().filter(|fault| fault.kind == FaultKind::Stall);
            let middle = stalls.filter_map(|fault| fault.after.filter(|after| *after <= fault.of.div_ceil(2))).max();
            let within = [Some(None), middle.map(Some)].into_iter().flatten();
            places.extend(within.map(|within| (call.came, turn, Spot::Call { within })));
        }
        for (call, came) in &recording.seen.tools {
            places.extend([false, true].map(|acted| (*came, 0, self.tool_spot(call, acted))));
        }
        places.sort_by(|(one, ..), (other, ..)| one.total_cmp(other));
        // After the last call, an event is what comes next: the last one, when nothing is left but to be asked for it once more.
        for (step, events) in &recording.seen.streams {
            let event = real(events).count();
            let has_way = event > 0 && has_way_back(self.scenario, *step, self.of);
            places.extend(has_way.then_some((0.0, 0, Spot::Event { step: *step, event })));
        }
        numbered(FaultKind::Kill, places.into_iter().map(|(_, turn, spot)| (turn, spot)).collect()).collect()
    }

    /// Each fault of each call of a tool: before it acts, or after that.
    fn of_tools(&self, recording: &Recording) -> Vec<World> {
        use FaultKind::{ToolError, ToolForm, ToolLost, ToolTimeout};
        let faults = [(ToolError, false), (ToolTimeout, false), (ToolForm, true), (ToolLost, true)];
        let calls = || recording.seen.tools.iter();
        let of = |(kind, acted)| numbered(kind, calls().map(|(call, _)| (0, self.tool_spot(call, acted))).collect());
        faults.into_iter().flat_map(of).collect()
    }

    fn tool_spot(&self, call: &CallOfTool, acted: bool) -> Spot {
        Spot::Tool { call: call.clone(), acted, name: self.tool(call) }
    }

    /// The name of the tool that a recorded call asks for.
    pub(super) fn tool(&self, call: &CallOfTool) -> String {
        self.exchange(call).map(ToolExchange::tool).unwrap_or_default().to_owned()
    }

    pub(super) fn exchange(&self, (server, exchange): &CallOfTool) -> Option<&ToolExchange> {
        self.fixture.tools.get(server)?.get(*exchange)
    }
}

#[cfg(test)]
mod tests;
