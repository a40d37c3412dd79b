//! What resolves a failure. Each piece of advice was tried in a replay, or is the command that accepts the change.

use std::sync::Arc;
use std::time::Duration;

use super::commands::{explain_command, record_command};
use super::policy::Policy;
use super::project::Project;
use super::proof::{Mend, mend};
use super::trial::{self, How, Replayed};
use super::verdict::is_sound;
use crate::cause::{CauseClass, CauseKind};
use crate::events::moved_and_counted;
use crate::fixture::Fixture;
use crate::key::Rules;
use crate::model::{FlawKind, MissReason};
use crate::report::Failure;
use crate::scenario::{Scenario, Unused};

/// How much longer a scenario settles, to see whether a turn is asked for later.
const LONGER: u32 = 3;
/// At most so long.
const LONGEST: Duration = Duration::from_secs(10);

/// A run that failed, and where what is tried for it is played.
pub(super) struct Tried<'a> {
    pub(super) project: &'a Project,
    pub(super) scenario: &'a Scenario,
    pub(super) run: &'a Replayed,
    /// The same, with calls that missed answered.
    pub(super) second: Option<&'a Replayed>,
    /// Whether it may be played again.
    pub(super) again: bool,
}

impl Tried<'_> {
    /// A failure with what resolves it.
    pub(super) fn resolved(&self, mut failure: Failure) -> Failure {
        let Tried { project, scenario, run, .. } = *self;
        let name = &scenario.name;
        let kinds: Vec<CauseKind> = failure.causes.iter().map(|cause| cause.kind).collect();
        let class = |class: CauseClass| kinds.iter().any(|kind| kind.class() == class);
        failure.hints.extend(self.hints(&kinds));
        failure = self.for_callers(failure, &kinds);
        failure = self.for_what_varies(failure, &kinds);
        failure = self.for_settings(failure, &kinds);
        failure = self.for_order(failure, &kinds);
        let plain = kinds.iter().any(|kind| kind.class() == CauseClass::Plain && *kind != CauseKind::Protocol);
        if plain {
            // Neither a recording nor a golden accepts what went wrong by itself.
            return self.looked_into(failure);
        }
        if self.breaks_the_protocol() {
            return self.looked_into(failure);
        }
        if kinds.iter().any(|kind| is_recorded_anew(*kind)) {
            let unused_alone = kinds.iter().all(|kind| kind.class() == CauseClass::Unused);
            let case = if unused_alone { "if the system is right not to ask" } else { "if the change is meant" };
            let resume = if equals_in_part(run) { " --resume" } else { "" };
            failure = failure.resolve(case, format!("{}{resume}", record_command(name)));
            if unused_alone {
                failure = self.for_unused(failure);
            }
        } else if class(CauseClass::Golden) {
            let missing = kinds == [CauseKind::GoldenMissing];
            let case = if missing { "if this is what the service should send" } else { "if the change is meant" };
            failure = failure.resolve(case, project.commands.update(name));
            if project.goldens.policy() == Policy::Propose {
                failure = failure.resolve("to look at it first", "retake review");
            }
        }
        self.looked_into(failure)
    }

    /// Whether a call that missed lacks results of tools which the recorded one has: a provider refuses such a call, so that
    /// nothing is recorded of it.
    fn breaks_the_protocol(&self) -> bool {
        let calls = self.run.missed_calls.iter();
        let flawed = |flaws: &[(FlawKind, String)]| flaws.iter().any(|(kind, _)| *kind == FlawKind::Protocol);
        let Some(fixture) = &self.run.fixture else { return false };
        let is_sound = |turn| fixture.conversation(turn, &self.run.rules).is_some_and(|c| is_sound(&c));
        calls.filter(|call| flawed(&call.lookup.flaws)).filter_map(|call| call.nearest).any(is_sound)
    }

    /// Where nothing else helps, what shows the run step by step and call by call.
    fn looked_into(&self, failure: Failure) -> Failure {
        if failure.advice.is_empty() { looked_into(failure, &self.scenario.name) } else { failure }
    }

    /// What to look at first, where no command mends it.
    fn hints(&self, kinds: &[CauseKind]) -> Vec<String> {
        let hint = |kind: &CauseKind| match kind {
            CauseKind::WrongKey => Some(KEY.to_owned()),
            CauseKind::WrongUrl => Some(BASE_URLS.to_owned()),
            CauseKind::NoModelExpected => Some(format!(
                "if it may call one: remove `fixture = \"none\"` from {}, then: {}",
                self.scenario.file.display(),
                record_command(&self.scenario.name)
            )),
            _ => None,
        };
        kinds.iter().filter_map(hint).collect()
    }

    /// Another name for a caller, where that alone makes the run green.
    fn for_callers(&self, failure: Failure, kinds: &[CauseKind]) -> Failure {
        let Some(fixture) = self.run.fixture.as_ref().filter(|_| kinds.contains(&CauseKind::Caller)) else {
            return failure;
        };
        let mut renamed: Vec<(String, String)> = Vec::new();
        for missed in &self.run.missed_calls {
            if let (MissReason::OtherCaller { callers }, Some(now)) = (&missed.reason, &missed.lookup.caller)
                && let [before] = &callers[..]
                && !renamed.iter().any(|(known, _)| known == now)
            {
                renamed.push((now.clone(), before.clone()));
            }
        }
        let Rules { normalizer, aliases } = &*self.run.rules;
        let aliases = aliases.clone().with(renamed.iter().cloned());
        let rules = Arc::new(Rules { normalizer: normalizer.clone(), aliases });
        if renamed.is_empty() || !self.is_green(self.scenario, fixture, &rules) {
            return failure;
        }
        let lines: Vec<String> = renamed.iter().map(|(now, before)| format!("{now:?} = {before:?}")).collect();
        let text = format!("[aliases]\n    {}", lines.join("\n    "));
        failure.resolve("if the caller has another name now, in scenarios/suite.toml", text)
    }

    /// Rules for what varies from run to run.
    fn for_what_varies(&self, failure: Failure, kinds: &[CauseKind]) -> Failure {
        let texts = [CauseKind::MessageText, CauseKind::ToolResult, CauseKind::ToolArgument, CauseKind::OtherRequest];
        let Some(second) = self.second.filter(|_| kinds.iter().any(|kind| texts.contains(kind))) else {
            return failure;
        };
        let Some(Mend { toml, fixture, rules }) = mend(self.run, second) else { return failure };
        if !self.is_green(self.scenario, &fixture, &rules) {
            return failure;
        }
        let text = toml.replace('\n', "\n    ");
        let key = format!("retake key --write {}", fixture.path.display());
        failure
            .resolve("if it varies from run to run, add to scenarios/suite.toml", text)
            .resolve("and then, without recording again", key)
    }

    /// Turns that may stay unused: by their callers, where each has one.
    fn for_unused(&self, failure: Failure) -> Failure {
        let Some(fixture) = &self.run.fixture else { return failure };
        let mut callers: Vec<&str> = match &self.scenario.unused {
            Unused::Callers(callers) => callers.iter().map(String::as_str).collect(),
            Unused::Fail | Unused::Allow => Vec::new(),
        };
        let mut all_known = true;
        for turn in self.run.findings(self.scenario).unused {
            match fixture.table.turns()[turn].caller.as_deref() {
                Some(caller) if !callers.contains(&caller) => callers.push(caller),
                Some(_) => {}
                None => all_known = false,
            }
        }
        let named = Unused::Callers(callers.iter().map(ToString::to_string).collect());
        let unused = if all_known { named } else { Unused::Allow };
        let mut allowing = self.scenario.clone();
        allowing.unused = unused;
        if !self.is_right(self.run, &allowing) {
            return failure;
        }
        let line = if all_known { format!("unused = {callers:?}") } else { "unused = \"allow\"".to_owned() };
        let case = format!("if another scenario asks for them, in {}", self.scenario.file.display());
        failure.resolve(case, line)
    }

    /// A setting that says how long something is waited for, where it is too short.
    fn for_settings(&self, failure: Failure, kinds: &[CauseKind]) -> Failure {
        let Some(fixture) = &self.run.fixture else { return failure };
        let stopped = [CauseKind::StoppedAsking, CauseKind::CallerSilent];
        if kinds.iter().all(|kind| stopped.contains(kind)) && !kinds.is_empty() {
            let settle = (self.scenario.settle * LONGER).clamp(Duration::from_secs(1), LONGEST);
            let mut longer = self.scenario.clone();
            longer.settle = settle;
            if self.is_green(&longer, fixture, &self.run.rules) {
                let line = format!("settle = \"{}s\"", settle.as_secs().max(1));
                let case = format!("if the service asks later than that, in {}", self.scenario.file.display());
                return failure.resolve(case, line);
            }
        }
        failure
    }

    /// Events whose order is no promise, where the golden differs in nothing else, and another replay is equal without it.
    fn for_order(&self, failure: Failure, kinds: &[CauseKind]) -> Failure {
        let Tried { project, scenario, run, .. } = *self;
        let committed = project.goldens.text(&scenario.golden_name);
        let of_run = run.own_golden(scenario);
        let (true, Some(committed), Some(text)) = (kinds == [CauseKind::EventOrder], committed, of_run) else {
            return failure;
        };
        let (moved, counted) = moved_and_counted(&committed, text);
        let mut options = scenario.golden.clone();
        options.unordered.extend(moved.iter().filter(|name| !scenario.golden.unordered.contains(name)).cloned());
        let again = || {
            let replayed = trial::replay(project, scenario, run.fixture.clone(), &run.rules, How::default()).ok()?;
            Some(replayed.golden(&options, &run.rules).text)
        };
        let with_order = run.golden(&options, &run.rules).text;
        if moved.is_empty() || !counted.is_empty() || !self.again || again() != Some(with_order) {
            return failure;
        }
        let file = scenario.file.display();
        failure
            .resolve(
                format!("if their order is no promise, under [golden] in {file}"),
                format!("unordered = {:?}", options.unordered),
            )
            .resolve("and then", project.commands.update(&scenario.name))
    }

    /// Whether a replay of the scenario is green, its golden included.
    fn is_green(&self, scenario: &Scenario, fixture: &Arc<Fixture>, rules: &Arc<Rules>) -> bool {
        self.again
            && trial::replay(self.project, scenario, Some(fixture.clone()), rules, How::default())
                .is_ok_and(|run| self.is_right(&run, scenario))
    }

    /// Whether nothing is wrong with a run, its golden included, where that is compared.
    fn is_right(&self, run: &Replayed, scenario: &Scenario) -> bool {
        let Ok(text) = run.verdict(scenario) else { return false };
        let (golden, policy) = (self.project.goldens.text(&scenario.golden_name), self.project.goldens.policy());
        policy == Policy::Overwrite
            || text.is_none_or(|text| golden.is_some_and(|golden| golden.trim_end() == text.trim_end()))
    }
}

/// What a client is to be given.
const KEY: &str = "its key is `{{ model.key }}`: this call had one that is set somewhere else";
const BASE_URLS: &str =
    "the base URL of a client is `{{ model.openai }}`, `.anthropic`, `.gemini` or `.ollama`, and ends there";

/// A failure with the command that shows the run step by step and call by call.
pub(super) fn looked_into(failure: Failure, scenario: &str) -> Failure {
    failure.resolve("to see what came, step by step and call by call", explain_command(scenario))
}

/// Whether a change of this kind, where it is meant, is accepted by another recording.
fn is_recorded_anew(kind: CauseKind) -> bool {
    let is_asked = matches!(kind.class(), CauseClass::Miss | CauseClass::Unused | CauseClass::Drift);
    is_asked
        && !matches!(
            kind,
            CauseKind::WrongKey
                | CauseKind::WrongUrl
                | CauseKind::Unreadable
                | CauseKind::CallerUnknown
                | CauseKind::NoModelExpected
        )
        || kind == CauseKind::Protocol
}

/// Whether another recording can be served from this one in part: a turn was asked for, with checks that are as recorded.
fn equals_in_part(run: &Replayed) -> bool {
    let Some(fixture) = run.fixture.as_ref().filter(|fixture| fixture.keeps_conversations()) else { return false };
    let drifted = |turn: &usize| run.played.drift.iter().any(|(of, _)| of == turn);
    (0..fixture.table.turns().len()).any(|turn| !run.unused.contains(&turn) && !drifted(&turn))
}
