//! The advice that a failure prints. Each piece of it was tried in a replay, or is the command that accepts the change.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::commands::{explain_command, key_command, record_command};
use super::policy::Policy;
use super::project::Project;
use super::proof::{Loosening, Mend, mend};
use super::trial::{self, How, Replayed};
use super::verdict::is_sound;
use crate::report::{Advice, Deed, Failure};
use retake_base::cause::{CauseClass, CauseKind};
use retake_base::env::RETAKE;
use retake_core::key::Rules;
use retake_model::{Breakage, DriftOf, FlawKind, MissReason, Pacing};
use retake_scenario::{ClockFrom, Scenario, Unused};
use retake_wire::fixture::Fixture;
use time::OffsetDateTime;

/// The factor by which `settle` is raised to try whether an unused turn is only asked for later.
const LONGER: u32 = 3;
/// How much later than its recording a run is tried by the clock of its recording.
const AN_HOUR: Duration = Duration::from_secs(60 * 60);
/// How many more replays show whether a golden varies.
const OTHERS: usize = 4;
/// The longest `settle` that is tried.
const LONGEST: Duration = Duration::from_secs(10);

/// A run that failed, with what is needed to try advice in more replays.
pub(super) struct Tried<'a> {
    pub(super) project: &'a Project,
    pub(super) scenario: &'a Scenario,
    pub(super) run: &'a Replayed,
    /// A second replay in which calls that missed were answered.
    pub(super) second: Option<&'a Replayed>,
    /// The turns that no call of the run asked for, except those that may stay unused.
    pub(super) unused: &'a [usize],
    /// Whether the scenario may be replayed to try advice.
    pub(super) again: bool,
}

impl Tried<'_> {
    /// Adds the advice to a failure.
    pub(super) fn resolved(&self, mut failure: Failure) -> Failure {
        let kinds: Vec<CauseKind> = failure.causes.iter().map(|cause| cause.kind).collect();
        if let Some([evidence, case]) = self.for_clock() {
            return failure.evidence(evidence).resolve(case, "clock = \"recorded\"");
        }
        failure.hints.extend(self.hints(&kinds));
        // Nobody intends a change that breaks the service, so nothing accepts it.
        if !kinds.iter().any(|kind| kind.is_broken()) && !self.never_reached(&kinds) {
            let tries = [Self::for_callers, Self::for_what_varies, Self::for_settings];
            failure.advice.extend(tries.iter().filter_map(|tried| tried(self, &kinds)).flatten());
            if let Some(advice) = self.for_parallel_calls(&kinds) {
                failure.evidence.push(VARIES.into());
                failure.advice.extend(advice);
            }
            failure.advice.extend(self.accepting(&kinds));
        }
        if failure.advice.is_empty() { looked_into(failure, &self.scenario.name) } else { failure }
    }

    /// The commands that accept the change. Neither a new recording nor a new golden accepts what went wrong besides.
    fn accepting(&self, kinds: &[CauseKind]) -> Vec<Advice> {
        let (project, name) = (self.project, &self.scenario.name);
        let class = |class: CauseClass| kinds.iter().any(|kind| kind.class() == class);
        if class(CauseClass::Plain) || self.breaks_the_protocol() {
            return Vec::new();
        }
        if kinds.iter().any(|kind| is_accepted_by_recording(*kind)) {
            let unused_alone = kinds.iter().all(|kind| kind.class() == CauseClass::Unused);
            let case = if unused_alone { UNASKED } else { INTENDED };
            let resume = if equals_in_part(self.run) { " --resume" } else { "" };
            let deed = if resume.is_empty() { Deed::Record } else { Deed::Resume };
            let record = Advice::new(case, format!("{}{resume}", record_command(name))).does(deed);
            let unused = self.for_unused().filter(|_| unused_alone);
            return std::iter::once(record).chain(unused).collect();
        }
        if !class(CauseClass::Golden) && !class(CauseClass::Cost) {
            return Vec::new();
        }
        let missing = kinds == [CauseKind::GoldenMissing];
        let case = if missing { "if this is what the service should send" } else { INTENDED };
        let review = Advice::new("to look at it first", format!("{RETAKE} review"));
        let proposed = (project.goldens.policy == Policy::Propose).then_some(review);
        let update = Advice::new(case, project.commands.update(name)).does(Deed::Update);
        std::iter::once(update).chain(proposed).collect()
    }

    /// Whether a call that missed lacks tool results that the recorded call has. A provider would refuse such a call, so
    /// recording it again does not help.
    fn breaks_the_protocol(&self) -> bool {
        let calls = self.run.log.missed.iter();
        let flawed = |flaws: &[(FlawKind, String)]| flaws.iter().any(|(kind, _)| *kind == FlawKind::Protocol);
        let Some(fixture) = &self.run.fixture else { return false };
        let is_sound = |turn| fixture.conversation(turn, &self.run.rules).is_some_and(|c| is_sound(&c));
        calls.filter(|call| flawed(&call.lookup.flaws)).filter_map(|call| call.nearest).any(is_sound)
    }

    /// Whether turns are unused because no request of the service reached the model server. A recording would get none either.
    fn never_reached(&self, kinds: &[CauseKind]) -> bool {
        kinds.contains(&CauseKind::StoppedAsking) && self.run.log.calls.is_empty()
    }

    /// Hints for causes that no command can fix.
    fn hints(&self, kinds: &[CauseKind]) -> Vec<String> {
        let (file, record) = (self.scenario.file.display(), record_command(&self.scenario.name));
        let hint = |kind: &CauseKind| match kind {
            CauseKind::WrongKey => Some(KEY.to_owned()),
            CauseKind::WrongUrl => Some(BASE_URLS.to_owned()),
            CauseKind::NoModelExpected => {
                Some(format!("if it may call one: remove `fixture = \"none\"` from {file}, then: {record}"))
            }
            _ => None,
        };
        let unreached = self.never_reached(kinds).then(|| format!("no model call came: {BASE_URLS}"));
        kinds.iter().filter_map(hint).chain(unreached).collect()
    }

    /// Proposes the clock of the recording, if a replay by that clock is green.
    fn for_clock(&self) -> Option<[String; 2]> {
        let Tried { project: Project { systems, .. }, scenario, run, .. } = *self;
        let (fixture, mut set) = (run.fixture.as_ref()?, scenario.clone());
        set.options.clock = ClockFrom::Recorded;
        let recorded = fixture.recorded.filter(|minute| minute.time() + AN_HOUR < OffsetDateTime::now_utc())?;
        (systems.may_set_clock(scenario) && self.is_green(&set, fixture, &run.rules)).then(|| {
            let case = format!("so that it tells that time again, set in {} or suite.toml", scenario.file.display());
            let evidence = format!(
                "by the clock of its recording, {recorded}, the run is green: the service does otherwise now than then"
            );
            [evidence, case]
        })
    }

    /// Proposes an alias for a renamed caller, if a replay with that alias is green.
    fn for_callers(&self, kinds: &[CauseKind]) -> Option<Vec<Advice>> {
        let fixture = self.run.fixture.as_ref().filter(|_| kinds.contains(&CauseKind::Caller))?;
        let renamed = self.run.log.missed.iter().filter_map(|missed| match &missed.reason {
            MissReason::OtherCaller { callers } if callers.len() == 1 => {
                Some((missed.lookup.caller.clone()?, callers[0].clone()))
            }
            _ => None,
        });
        let renamed: BTreeMap<String, String> = renamed.collect();
        let Rules { normalizer, aliases } = &*self.run.rules;
        let aliases = aliases.clone().with(renamed.clone());
        let rules = Arc::new(Rules { normalizer: normalizer.clone(), aliases });
        if renamed.is_empty() || !self.is_green(self.scenario, fixture, &rules) {
            return None;
        }
        let lines: Vec<String> = renamed.iter().map(|(now, before)| format!("{now:?} = {before:?}")).collect();
        let text = format!("[aliases]\n    {}", lines.join("\n    "));
        Some(vec![Advice::new("if the caller was renamed, add to scenarios/suite.toml", text)])
    }

    /// Proposes `[[normalize]]` rules for texts that vary from run to run.
    fn for_what_varies(&self, kinds: &[CauseKind]) -> Option<Vec<Advice>> {
        let texts = [CauseKind::MessageText, CauseKind::ToolResult, CauseKind::ToolArgument, CauseKind::OtherRequest];
        let second = self.second.filter(|_| kinds.iter().any(|kind| texts.contains(kind)))?;
        let Mend { toml, fixture, changed, rules } = mend(self.project, self.run, second)?;
        self.is_green(self.scenario, &fixture, &rules).then(|| {
            let text = toml.replace('\n', "\n    ");
            let key = |path: &Path| Advice::new("and then, without recording again", key_command(path));
            let first = Advice::new("if it varies from run to run, add to scenarios/suite.toml", text);
            let paths = fixture.is_old.then_some(&fixture.path).into_iter().chain(&changed);
            std::iter::once(first).chain(paths.map(|path| key(path))).collect()
        })
    }

    /// Proposes an `unused` setting for turns that another scenario may ask for: by their callers if each turn has one.
    fn for_unused(&self) -> Option<Advice> {
        let turns = self.run.fixture.as_ref()?.table.turns();
        let callers: Option<Vec<String>> = self.unused.iter().map(|turn| turns[*turn].caller.clone()).collect();
        let (unused, line) = match callers {
            None => (Unused::Allow, "unused = \"allow\"".to_owned()),
            Some(more) => {
                let mut all =
                    if let Unused::Callers(all) = &self.scenario.options.unused { all.clone() } else { Vec::new() };
                for caller in more {
                    if !all.contains(&caller) {
                        all.push(caller);
                    }
                }
                let line = format!("unused = {all:?}");
                (Unused::Callers(all), line)
            }
        };
        let mut allowing = self.scenario.clone();
        allowing.options.unused = unused;
        let case = format!("if another scenario asks for them, set in {}", self.scenario.file.display());
        self.is_right(self.run, &allowing).then(|| Advice::new(case, line))
    }

    /// Proposes a longer `settle`, if a replay with it is green.
    fn for_settings(&self, kinds: &[CauseKind]) -> Option<Vec<Advice>> {
        let fixture = self.run.fixture.as_ref()?;
        let stopped = [CauseKind::StoppedAsking, CauseKind::CallerSilent];
        let settle = (self.scenario.options.settle * LONGER).clamp(Duration::from_secs(1), LONGEST);
        let mut longer = self.scenario.clone();
        longer.options.settle = settle;
        let only_stopped = !kinds.is_empty() && kinds.iter().all(|kind| stopped.contains(kind));
        (only_stopped && self.is_green(&longer, fixture, &self.run.rules)).then(|| {
            let case = format!("if the service only asks later, set in {}", self.scenario.file.display());
            vec![Advice::new(case, format!("settle = \"{}s\"", settle.as_secs().max(1)))]
        })
    }

    /// Proposes what may vary if the golden differs and another replay gives another golden than this run. Tried only if tool calls
    /// were made at once and the ids in events do not tell their order.
    fn for_parallel_calls(&self, kinds: &[CauseKind]) -> Option<Vec<Advice>> {
        let Tried { project, scenario, run, again, .. } = *self;
        let of_golden = kinds.iter().all(|of| of.class() == CauseClass::Golden && *of != CauseKind::GoldenMissing);
        if !again || kinds.is_empty() || !of_golden || !run.may_come_in_another_order(scenario) {
            return None;
        }
        let replay = |_| {
            let how = How { pacing: Pacing::Shaken, ..How::default() };
            trial::replay(project, scenario, run.fixture.clone(), &run.rules, how).ok()
        };
        let differs = |other: Replayed| {
            let is_other = other.findings(scenario).is_none() && other.own_golden(scenario) != run.own_golden(scenario);
            let loosening = is_other.then(|| Loosening::of(&[run, &other], &scenario.golden, &run.rules))?;
            // By the day, both may be the same.
            loosening.as_ref().is_none_or(|of| !of.toml.is_empty()).then_some(loosening)
        };
        let Some(loosening) = (0..OTHERS).filter_map(replay).find_map(differs)? else { return Some(Vec::new()) };
        let case = format!("if it may vary, add under [golden] in {}", scenario.file.display());
        let update = project.commands.update(&scenario.name);
        Some(vec![Advice::new(case, loosening.toml), Advice::new("and then", update)])
    }

    /// Whether a run that tells another day than today is green at an hour at which nearly all time zones have one day: the service has a
    /// zone of its own.
    pub(super) fn is_of_zone(&self) -> bool {
        let is_day = |(_, of): &(usize, DriftOf)| of.breakage == Some(Breakage::AnotherDay);
        let mut set = self.scenario.clone();
        set.options.clock = ClockFrom::Midday;
        let is_green = |fixture| self.is_green(&set, fixture, &self.run.rules);
        self.run.played.drift.iter().any(is_day)
            && self.project.systems.may_set_clock(self.scenario)
            && self.run.fixture.as_ref().is_some_and(is_green)
    }

    /// Whether a replay of the scenario is green, its golden included.
    fn is_green(&self, scenario: &Scenario, fixture: &Arc<Fixture>, rules: &Arc<Rules>) -> bool {
        self.again
            && trial::replay(self.project, scenario, Some(fixture.clone()), rules, How::default())
                .is_ok_and(|run| self.is_right(&run, scenario))
    }

    /// Whether a run is green. Its golden counts too, unless goldens are being rewritten.
    fn is_right(&self, run: &Replayed, scenario: &Scenario) -> bool {
        let sides = || run.sides(scenario, &*self.project.goldens.compared(&scenario.golden_name)?);
        run.verdict(scenario).is_ok() && sides().is_none_or(|sides| sides.changes().is_empty())
    }
}

/// The evidence that a golden varies.
const VARIES: &str = "the same recording, replayed again, gave another golden than this run: it varies from run to run";
/// The case of a change that somebody wanted.
const INTENDED: &str = "if the change is intended";
/// The case of turns that no call asked for.
const UNASKED: &str = "if the service no longer makes this call on purpose";
/// The hint for a call with a wrong key.
const KEY: &str = "give the client the key `{{ model.key }}`: a call came without it";
/// The hint for a call to a wrong URL.
const BASE_URLS: &str = "give the client the base URL `{{ model.openai }}`, `.anthropic`, `.gemini`, `.ollama` or `.bedrock`, \
                         with no path after it; if the path is right, declare its API: `[[apis]]` in scenarios/suite.toml";

/// Adds the command that shows the run step by step and call by call.
pub(super) fn looked_into(failure: Failure, scenario: &str) -> Failure {
    let case = "to see what happened, step by step and call by call";
    let explain = Advice::new(case, explain_command(scenario)).does(Deed::Explain);
    Failure { advice: [failure.advice, vec![explain]].concat(), ..failure }
}

/// Whether an intended change of this kind is accepted by recording again. What is broken was left out before.
fn is_accepted_by_recording(kind: CauseKind) -> bool {
    matches!(kind.class(), CauseClass::Miss | CauseClass::Unused | CauseClass::Drift)
        && !matches!(kind, CauseKind::CallerUnknown | CauseKind::NoModelExpected)
}

/// Whether a new recording can reuse a part of this one: some turn was served to a call whose checks equal the recorded ones.
fn equals_in_part(run: &Replayed) -> bool {
    let Some(fixture) = run.fixture.as_ref().filter(|fixture| fixture.keeps_conversations()) else { return false };
    let drifted = |turn: &usize| run.played.drift.iter().any(|(of, _)| of == turn);
    (0..fixture.table.turns().len()).any(|turn| !run.log.unused.contains(&turn) && !drifted(&turn))
}
