//! What is wrong with a replay, before its golden is looked at: all of it, since one thing follows from another.

use super::trial::Replayed;
use crate::cause::{Cause, CauseKind};
use crate::error::Error;
use crate::events::Captured;
use crate::json::{Json, Layout};
use crate::key::UNKNOWN_CALLER;
use crate::model::{answer_in_short, describe};
use crate::report::Failure;
use crate::scenario::{Scenario, Unused};
use crate::text::{clipped, counted};

/// A shorter answer is found in any text.
const TELLING: usize = 8;

/// What is wrong with a replay.
pub(super) struct Findings<'a> {
    /// Whether calls missed.
    pub(super) misses: bool,
    /// A crash or a panic of the system.
    pub(super) fault: Option<&'a (CauseKind, Error)>,
    /// A step that failed, or the time that was up.
    pub(super) step: Option<&'a (CauseKind, Error)>,
    /// Turns that no call asked for and that had to be.
    pub(super) unused: Vec<usize>,
    /// All that a failure of its own says: requests to tools that nobody made, drift, flaws, names that name nothing.
    pub(super) others: Vec<Failure>,
}

impl Replayed {
    /// What is wrong with this run.
    pub(super) fn findings(&self, scenario: &Scenario) -> Findings<'_> {
        let others = [self.unused_tools(scenario), self.drifted(scenario), self.flawed(scenario)];
        let mut others: Vec<Failure> = others.into_iter().flatten().collect();
        let mut findings = Findings {
            misses: !self.misses.is_empty(),
            fault: self.played.fault.as_ref(),
            step: self.played.driven.failure.as_ref(),
            unused: self.unexpected_unused(&scenario.unused),
            others: Vec::new(),
        };
        // Which events there are is known of a run that is whole.
        if findings.is_none() && others.is_empty() {
            others.extend(self.names_nothing(scenario));
        }
        findings.others = others;
        findings
    }

    fn unexpected_unused(&self, allowed: &Unused) -> Vec<usize> {
        let caller = |index: &usize| self.fixture.as_ref().and_then(|f| f.table.turns()[*index].caller.as_deref());
        let may_stay = |index: &usize| match allowed {
            Unused::Allow => true,
            Unused::Fail => false,
            Unused::Callers(callers) => caller(index).is_some_and(|caller| callers.iter().any(|c| c == caller)),
        };
        self.unused.iter().copied().filter(|index| !may_stay(index)).collect()
    }

    /// Why turns stayed unused: the service asked no more, or one of its callers not at all.
    pub(super) fn unused_cause(&self, unused: &[usize]) -> Option<Cause> {
        let fixture = self.fixture.as_ref()?;
        let turns = fixture.table.turns();
        let first = *unused.first()?;
        let answer = |index: usize| format!("turns[{index}] ({})", answer_in_short(&turns[index].output));
        let caller = turns[first].caller.as_deref();
        let served = |index: &usize| !self.unused.contains(index);
        let of_caller = |index: &usize| turns[*index].caller.as_deref() == caller;
        let one_caller = unused.iter().all(of_caller);
        let asked = (0..turns.len()).filter(of_caller).filter(served).count();
        let who = self.who(first);
        if one_caller && asked == 0 && unused.len() < turns.len() {
            let times = if unused.len() == 1 { String::new() } else { format!(", {} times", unused.len()) };
            let what = format!("{who} never asks{times}: {} was recorded", answer(first));
            return Some(Cause::new(CauseKind::CallerSilent, what));
        }
        let before = turns[first].input.as_ref().and_then(|input| input.after).map(|after| after.turn);
        let before = before.filter(served).or_else(|| (0..first).rev().find(served));
        let what = match before {
            None => format!("the service never asks a model: {} recorded", counted(unused.len(), "turn")),
            Some(before) => {
                let times = if unused.len() == 1 { "1 time".to_owned() } else { format!("{} times", unused.len()) };
                let whose =
                    if one_caller { format!(" ({who} asks {times} less than recorded)") } else { String::new() };
                format!("the service stopped asking after {}{whose}", answer(before))
            }
        };
        Some(Cause::new(CauseKind::StoppedAsking, what))
    }

    /// The texts that the model answered in turns that no call asked for; not those that say little.
    pub(super) fn answers_not_asked_for(&self) -> Vec<String> {
        let Some(fixture) = &self.fixture else { return Vec::new() };
        let answers = self.unused.iter().map(|turn| fixture.table.turns()[*turn].output.text().trim().to_owned());
        answers.filter(|answer| answer.len() >= TELLING).collect()
    }

    /// Who made a recorded call: its caller, or its first words.
    fn who(&self, turn: usize) -> String {
        let Some(fixture) = &self.fixture else { return UNKNOWN_CALLER.to_owned() };
        if let Some(caller) = &fixture.table.turns()[turn].caller {
            return format!("`{caller}`");
        }
        let conversation = fixture.conversation(turn, &self.rules).unwrap_or_default();
        let first = conversation.first();
        let text = first.map(|message| message.str_of("content").map_or_else(|| describe(message), str::to_owned));
        let text = text.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() { "a caller".to_owned() } else { format!("the call {:?}", clipped(&text, 32)) }
    }

    /// The first event that says error, where the golden has none of its name.
    pub(super) fn error_event(&self, golden: Option<&str>) -> Option<Cause> {
        let known =
            |label: &str| golden.is_some_and(|golden| golden.lines().any(|line| line.split(' ').next() == Some(label)));
        let (label, text) = self.played.driven.captured.iter().find_map(error_in)?;
        let what = format!("the run ended with the event `{label}`: {:?}", clipped(&text, 120));
        (!known(&label)).then(|| Cause::new(CauseKind::ErrorEvent, what))
    }
}

impl Findings<'_> {
    /// Whether nothing is.
    pub(super) fn is_none(&self) -> bool {
        !self.misses && self.fault.is_none() && self.step.is_none() && self.unused.is_empty() && self.others.is_empty()
    }
}

/// The first event of a capture that says error, and what it says.
fn error_in(captured: &Captured) -> Option<(String, String)> {
    captured.events.iter().filter(|event| event.is_real()).find_map(|event| {
        let (label, json) = (event.label().into_owned(), event.json());
        let error = json.as_ref().and_then(|json| json.get("error")).filter(|error| error.is_truthy());
        if label == "body" || (!label.to_lowercase().contains("error") && error.is_none()) {
            return None;
        }
        let json = json.unwrap_or(Json::Null);
        let said = ["/message", "/error/message", "/error", "/errorText", "/detail", "/data/message", "/content"];
        let said = said.iter().find_map(|pointer| json.pointer(pointer)?.as_str());
        Some((label, said.map_or_else(|| json.print(Layout::Compact), str::to_owned)))
    })
}
