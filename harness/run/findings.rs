//! Everything that is wrong with a replay, apart from its golden. Everything, because one finding can follow from another.

use super::egress;
use super::trial::Replayed;
use crate::report::Failure;
use retake_base::cause::{Cause, CauseKind};
use retake_base::error::Error;
use retake_base::text::{clipped, counted, nth_turn};
use retake_core::events::{Captured, Event, Golden, Status};
use retake_core::json::{Json, Layout};
use retake_engine::drive::{EventData, StepData};
use retake_model::{answer_in_short, who};
use retake_scenario::{Action, Scenario, Unused};
use retake_wire::fixture::Input;

/// The name of the only event of an answer that is not a stream.
pub(super) const BODY: &str = "body";
/// The least length of an answer that identifies it: shorter texts occur by chance.
const TELLING: usize = 8;

/// What is wrong with a replay.
pub(super) struct Findings<'a> {
    pub(super) misses: bool,
    /// A crash or a panic of the system.
    pub(super) fault: Option<&'a (CauseKind, Error)>,
    /// A step that failed, or the scenario's timeout.
    pub(super) step: Option<&'a (CauseKind, Error)>,
    /// Whether that step was to be refused, and was not: no miss leads to that, but it leads to misses.
    pub(super) let_in: bool,
    /// Turns that no call asked for, except those that may stay unused.
    pub(super) unused: Vec<usize>,
    /// Other failures: requests to tools that were not made, drift, flaws of the protocol.
    pub(super) others: Vec<Failure>,
    /// A name in the `[golden]` options that no event has. Only set if nothing else is wrong.
    pub(super) names_nothing: Option<Failure>,
}

impl Replayed {
    /// What is wrong with this run.
    pub(super) fn findings(&self, scenario: &Scenario) -> Findings<'_> {
        let outside = self.played.egress.as_ref().and_then(|egress| egress::failure(egress, scenario));
        let own =
            [self.unused_tools(scenario), self.lacks_headers(scenario), self.drifted(scenario), self.flawed(scenario)];
        let others = std::iter::once(outside).chain(own).chain([self.over_budget(scenario)]).flatten().collect();
        let mut findings = Findings {
            misses: !self.misses.is_empty(),
            fault: self.played.fault.as_ref(),
            step: self.played.driven.failure.as_ref(),
            let_in: self.lets_in(scenario),
            unused: self.unexpected_unused(&scenario.options.unused),
            others,
            names_nothing: None,
        };
        // Only a complete run shows which events there are.
        if findings.is_none() {
            findings.names_nothing = self.names_nothing(scenario);
        }
        findings
    }

    /// The turns that no call asked for, except those that may stay unused.
    pub(super) fn unexpected_unused(&self, allowed: &Unused) -> Vec<usize> {
        let caller = |index: &usize| self.fixture.as_ref().and_then(|f| f.table.turns()[*index].caller.as_deref());
        let may_stay = |index: &usize| match allowed {
            Unused::Allow => true,
            Unused::Fail => false,
            Unused::Callers(callers) => caller(index).is_some_and(|caller| callers.iter().any(|c| c == caller)),
        };
        self.log.unused.iter().copied().filter(|index| !may_stay(index)).collect()
    }

    /// Whether the first of these turns would have been asked with no more than results of tools: whoever asked the one before it went
    /// no further, whatever the steps after that did.
    pub(super) fn left_within_a_step(&self, unused: &[usize]) -> bool {
        let turns = self.fixture.iter().flat_map(|fixture| fixture.table.turns());
        let input = unused.first().and_then(|first| turns.clone().nth(*first)?.input.as_ref());
        input.is_some_and(|Input { after, messages }| {
            let goes_on = after.is_some_and(|after| !self.log.unused.contains(&after.turn));
            goes_on && messages.iter().all(|message| message.str_of("type") == Some("tool"))
        })
    }

    /// Why turns stayed unused: the service stopped asking, or one of its callers never asked.
    pub(super) fn unused_cause(&self, unused: &[usize]) -> Option<Cause> {
        let fixture = self.fixture.as_ref()?;
        let turns = fixture.table.turns();
        let first = *unused.first()?;
        let answer = |index: usize| format!("{} ({})", nth_turn(index), answer_in_short(&turns[index]));
        let caller = turns[first].caller.as_deref();
        let served = |index: &usize| !self.log.unused.contains(index);
        // Calls without a caller are distinguished by the first message of the conversation.
        let root = |index: usize| fixture.conversation(index, &self.rules)?.into_iter().next();
        let first_message = if caller.is_none() { root(first) } else { None };
        let of_caller = |index: &usize| {
            turns[*index].caller.as_deref() == caller && (first_message.is_none() || root(*index) == first_message)
        };
        let one_caller = unused.iter().all(of_caller);
        let asked = (0..turns.len()).filter(of_caller).filter(served).count();
        let who = who(caller, &fixture.conversation(first, &self.rules).unwrap_or_default(), "");
        if one_caller && asked == 0 && unused.len() < turns.len() {
            let never = if caller.is_some() { "never asks" } else { "is never made" };
            let what = match unused.len() {
                1 => format!("{who} {never}: {} was recorded", answer(first)),
                several => format!("{who} {never}: {several} calls were recorded, first {}", answer(first)),
            };
            return Some(Cause::new(CauseKind::CallerSilent, what));
        }
        let before = turns[first].input.as_ref().and_then(|input| input.after).map(|after| after.turn);
        let is_same = |turn: &usize| (turns[*turn].key, turns[*turn].checks) == (turns[first].key, turns[first].checks);
        let again = (0..first).rev().filter(served).find(is_same);
        let before = again.or(before.filter(served)).or_else(|| (0..first).rev().find(served));
        let (all, calls) = (counted(unused.len(), "turn"), counted(unused.len(), "call"));
        let fewer = format!("{calls} fewer than recorded");
        let what = match before {
            None if unused.len() == turns.len() => format!("the service never asks a model: {all} recorded"),
            None => format!("the service makes {fewer}, first {}", answer(first)),
            Some(before) => {
                let whose = match caller {
                    _ if !one_caller => String::new(),
                    None => format!(" ({fewer})"),
                    Some(_) => format!(" ({who} makes {fewer})"),
                };
                let stopped = if again.is_some() { "no longer asks again" } else { "stopped asking" };
                format!("the service {stopped} after {}{whose}", answer(before))
            }
        };
        Some(Cause::new(CauseKind::StoppedAsking, what))
    }

    /// The texts of unused turns that are long enough to be recognized.
    pub(super) fn answers_not_asked_for(&self) -> Vec<String> {
        let Some(fixture) = &self.fixture else { return Vec::new() };
        let answers = self.log.unused.iter().map(|turn| fixture.table.turns()[*turn].output.text().trim().to_owned());
        answers.filter(|answer| answer.len() >= TELLING).collect()
    }

    /// The first error event, unless the golden has an event of that name.
    pub(super) fn error_event(&self, golden: Option<&Golden>) -> Option<Cause> {
        let known = |label: &str| golden.is_some_and(|golden| golden.has_event(label));
        let mut captured = self.played.driven.captured.iter().filter(|captured| !captured.delivery.is_beside);
        let whole = captured.find_map(error_in);
        let of_break = || self.broken_step()?.events.iter().find_map(|event| says_error(&event.name, &event.payload));
        let Some((label, text)) = whole.or_else(of_break) else { return self.error_body(golden) };
        let what = format!("the service sent the event `{label}`: {:?}", clipped(&text, 120));
        (!known(&label)).then(|| Cause::new(CauseKind::ErrorEvent, what))
    }

    /// The first answer that is not a stream and reports an error, unless its step expects one, or the golden mentions errors.
    fn error_body(&self, golden: Option<&Golden>) -> Option<Cause> {
        let said = |captured: &Captured| {
            let expected = matches!(captured.status, Status::Http(400..));
            let body = captured.events.first().filter(|event| !expected && event.label() == BODY)?.json()?;
            let (_, text) = says_error("", &body.print(Layout::Compact))?;
            Some(format!("the answer to `{}` reports an error: {:?}", captured.request, clipped(&text, 120)))
        };
        let what = self.played.driven.captured.iter().find_map(said)?;
        let known = golden.is_none_or(|golden| golden.to_string().contains("error"));
        (!known).then(|| Cause::new(CauseKind::ErrorEvent, what))
    }

    /// The names of the events of the failed step, without error events; `None` if no step failed.
    pub(super) fn events_of_failed_step(&self) -> Option<Vec<&str>> {
        let step = self.broken_step()?;
        let is_usual = |event: &&EventData| says_error(&event.name, &event.payload).is_none();
        let mut came: Vec<&str> = step.events.iter().filter(is_usual).map(|event| event.name.as_str()).collect();
        came.sort_unstable();
        came.dedup();
        Some(came)
    }

    /// Whether the step that failed has a status below 400, and each that the scenario expects is above.
    fn lets_in(&self, scenario: &Scenario) -> bool {
        let (step, number) = (self.broken_step(), self.played.steps.len());
        let wanted = number.checked_sub(1).and_then(|index| match &scenario.steps.get(index)?.action {
            Action::Request(request) => request.status.as_ref(),
            _ => None,
        });
        let status = step.and_then(|step| step.status.as_ref()?.parse().ok());
        let is_below = |status: &u16| *status < 400;
        wanted.is_some_and(|wanted| !wanted.iter().any(is_below)) && status.is_some_and(|status| is_below(&status))
    }

    /// The step that failed, or that was running when the time was up.
    fn broken_step(&self) -> Option<&StepData> {
        self.played.driven.failure.as_ref().and_then(|_| self.played.steps.last())
    }
}

impl Findings<'_> {
    /// Whether nothing is wrong.
    pub(super) fn is_none(&self) -> bool {
        !self.misses
            && self.fault.is_none()
            && self.step.is_none()
            && self.unused.is_empty()
            && self.others.is_empty()
            && self.names_nothing.is_none()
    }
}

/// The first error event of a capture, as its name and its message.
fn error_in(captured: &Captured) -> Option<(String, String)> {
    let data = |event: &Event| event.json().map(|json| json.print(Layout::Compact)).unwrap_or_default();
    captured.events.iter().filter(|event| event.is_real()).find_map(|event| says_error(&event.label(), &data(event)))
}

/// The name and the message of an event, if it reports an error: by its name, or by a field of its payload.
fn says_error(label: &str, payload: &str) -> Option<(String, String)> {
    let json = Json::parse(payload.as_bytes()).ok();
    let error = json.as_ref().and_then(|json| json.get("error")).filter(|error| error.is_truthy());
    if label == BODY || (!label.to_lowercase().contains("error") && error.is_none()) {
        return None;
    }
    let said = ["/message", "/error/message", "/error", "/errorText", "/detail", "/data/message", "/content"];
    let said = said.iter().find_map(|pointer| json.as_ref()?.pointer(pointer)?.as_str());
    Some((label.to_owned(), said.unwrap_or(payload).to_owned()))
}
