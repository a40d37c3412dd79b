//! The verdict on a replay: misses, then unused turns, then drift, then the golden.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::events::{NamesNothing, golden, names_nothing};
use crate::json::{Json, Layout};
use crate::key::{Check, Rules};
use crate::model::{CallFlaw, DriftOf, FlawKind, Miss};
use crate::report::{Failure, notes, unified};
use crate::run::commands::record_command;
use crate::run::golden::Compared;
use crate::run::policy::Policy;
use crate::run::project::Project;
use crate::run::trial::Replayed;
use crate::scenario::{Delays, Level, Scenario, Step, Unused};
use crate::secrets::Fired;
use crate::text::nearest;

/// How many misses a failure shows.
const SHOWN_MISSES: usize = 5;

impl Replayed {
    /// The text for the golden (`None` where no step goes into it), or why the run failed before that mattered.
    pub(crate) fn verdict(&self, scenario: &Scenario) -> Result<Option<String>, Failure> {
        self.judge(scenario).map_err(|failure| self.quoting_systems(failure))
    }

    /// What a person should know of the run, red or green: a line each.
    pub(crate) fn notes(&self, scenario: &Scenario) -> Vec<String> {
        let noted = self.played.drift.iter().filter(|(_, drift)| scenario.drift.of(drift.check) == Level::Note);
        let mut lines = notes(self.fixture.as_deref(), noted, &self.played.flaws);
        lines.extend(self.played.tools.drift.iter().map(|line| format!("drift: {line}")));
        if let (Delays::Recorded, Some(fixture)) = (scenario.delays, &self.fixture)
            && !fixture.keeps_delays()
        {
            let again = record_command(&scenario.name);
            lines.push(format!("delays: {} holds none: to record them: {again}", fixture.path.display()));
        }
        lines
    }

    /// A failure with the ends of the systems' logs behind its own evidence.
    pub(crate) fn quoting_systems(&self, failure: Failure) -> Failure {
        self.played.systems.iter().fold(failure, Failure::evidence)
    }

    /// What this run calls a value of its own that is in a text at a place.
    pub(crate) fn name_of(&self, text: &str) -> Option<&str> {
        self.played.driven.names.name_of(text)
    }

    /// Why this run shows that the scenario is not the same twice: a line each, without values. Empty where it failed
    /// for another reason.
    pub(crate) fn instability(&self, scenario: &Scenario) -> Vec<String> {
        let mut why: Vec<String> = self.misses.iter().map(|miss| miss.headline()).collect();
        if why.is_empty() && self.played.driven.failure.is_none() {
            let caller = |index: &usize| {
                let turn = self.fixture.as_ref().and_then(|fixture| fixture.table.turns().get(*index));
                turn.and_then(|turn| turn.caller.clone()).unwrap_or_else(|| "unknown".to_owned())
            };
            let unused = self.unexpected_unused(&scenario.unused);
            why.extend(
                unused.iter().map(|index| format!("turns[{index}] of `{}` was not asked for again", caller(index))),
            );
        }
        why
    }

    fn judge(&self, scenario: &Scenario) -> Result<Option<String>, Failure> {
        if let Some(first) = self.misses.first() {
            return Err(self.missed(first, scenario));
        }
        if let Some(error) = &self.played.driven.failure {
            return Err(Failure::new(error.to_string()));
        }
        let unused = self.unexpected_unused(&scenario.unused);
        if !unused.is_empty() {
            return Err(self.unused(&unused, scenario));
        }
        if let Some(failure) = self.unused_tools(scenario) {
            return Err(failure);
        }
        if let Some(failure) = self.drifted(scenario).or_else(|| self.flawed(scenario)) {
            return Err(failure);
        }
        if let Some(failure) = self.names_nothing(scenario) {
            return Err(failure);
        }
        Ok(self.own_golden(scenario).cloned())
    }

    /// What the golden of this run holds, by the rules of the run; made once.
    pub(crate) fn own_golden(&self, scenario: &Scenario) -> Option<&String> {
        self.own_golden.get_or_init(|| self.golden_text(scenario, &self.rules)).as_ref()
    }

    /// A name in the options of the golden that no event of the run has.
    fn names_nothing(&self, scenario: &Scenario) -> Option<Failure> {
        let normalize = |text: &str| self.played.driven.names.apply(text, &self.rules.normalizer);
        let NamesNothing { option, name, there } =
            names_nothing(&self.played.driven.captured, &scenario.golden, &normalize)?;
        let error =
            Error::new(format!("`{option}` in [golden] names `{name}`, and no event of this run has that name"));
        let error = error.in_file(&scenario.file);
        let near = nearest(&name, there.iter().map(String::as_str));
        let error = match near {
            _ if name == ":" => error.help("it stands for comments, which a golden holds with `comments = true`"),
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help("a case whose events differ can have a [case.NAME.golden] of its own"),
        };
        Some(Failure::from(error).evidence(format!("the events of this run: {}", there.join(", "))))
    }

    fn missed(&self, first: &Miss, scenario: &Scenario) -> Failure {
        let mut failure = Failure::new(first.headline()).evidence(first.details());
        for miss in self.misses.iter().take(SHOWN_MISSES).skip(1) {
            failure = failure.evidence(miss.to_string());
        }
        if self.misses.len() > SHOWN_MISSES {
            failure = failure.evidence(format!("… and {} more misses", self.misses.len() - SHOWN_MISSES));
        }
        // A tool that answers something else is why the agent asked something else.
        if !self.played.tools.drift.is_empty() {
            failure = failure.evidence(format!("because of: {}", self.played.tools.drift.join("\n            ")));
        }
        if let Some(error) = &self.played.driven.failure {
            failure = failure.evidence(format!("after that: {error}"));
        }
        failure.resolve("if the change is meant", record_command(&scenario.name))
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

    fn unused(&self, unused: &[usize], scenario: &Scenario) -> Failure {
        let Some(fixture) = &self.fixture else { return Failure::new("unused turns without a fixture") };
        let count = unused.len();
        let turns = if count == 1 { "turn was" } else { "turns were" };
        let mut failure =
            Failure::new(format!("unused: {count} recorded {turns} not asked for in scenario `{}`", scenario.name));
        let lines: Vec<String> = unused
            .iter()
            .take(SHOWN_MISSES)
            .map(|index| {
                let turn = &fixture.table.turns()[*index];
                let caller = turn.caller.as_deref().unwrap_or("(no caller)");
                format!("  {}, by `{caller}`: {}", fixture.place_of(*index), answer_in_short(turn))
            })
            .collect();
        failure = failure.evidence(lines.join("\n"));
        if count > SHOWN_MISSES {
            failure = failure.evidence(format!("… and {} more", count - SHOWN_MISSES));
        }
        failure.resolve("if the system is right not to ask", record_command(&scenario.name)).resolve(
            "if another scenario asks for them",
            format!("unused = [\"CALLER\"] in {}", scenario.file.display()),
        )
    }

    /// Recorded requests to tool servers that nobody made.
    fn unused_tools(&self, scenario: &Scenario) -> Option<Failure> {
        let unused = &self.played.tools.unused;
        if unused.is_empty() || scenario.unused == Unused::Allow {
            return None;
        }
        let requests = crate::text::counted(unused.len(), "recorded request");
        let headline = format!("unused: {requests} to tools not made in scenario `{}`", scenario.name);
        let lines: Vec<String> = unused.iter().take(SHOWN_MISSES).map(|line| format!("  {line}")).collect();
        let failure = Failure::new(headline).evidence(lines.join("\n"));
        Some(failure.resolve("if the system is right not to ask", record_command(&scenario.name)))
    }

    fn drifted(&self, scenario: &Scenario) -> Option<Failure> {
        let fails = |drift: &DriftOf| match scenario.drift.of(drift.check) {
            Level::Ignore => false,
            Level::Note => drift.breakage.is_some(),
            Level::Fail => true,
        };
        let mut failing = self.played.drift.iter().filter(|(_, drift)| fails(drift));
        let (turn, first) = failing.clone().find(|(_, drift)| drift.breakage.is_some()).or_else(|| failing.next())?;
        let fixture = self.fixture.as_ref()?;
        let headline = match &first.breakage {
            Some(breakage) => format!("drift: {breakage}"),
            None if first.check == Check::Results => {
                "drift: tool results of a model call are not as recorded".to_owned()
            }
            None => format!("drift: the {} of a model call is not the recorded one", first.check),
        };
        let caller = fixture.table.turns()[*turn].caller.as_deref();
        let by = caller.map(|caller| format!(", by `{caller}`")).unwrap_or_default();
        let place = format!("  {}{by}, in scenario `{}`", fixture.place_of(*turn), scenario.name);
        // Tools and settings are one line of JSON each.
        let lines = |text: &str| match Json::parse(text.as_bytes()) {
            Ok(json) => json.print(Layout::Pretty),
            Err(_) => text.to_owned(),
        };
        let diff = unified(&lines(&first.recorded), &lines(&first.called));
        let failure = Failure::new(headline).evidence(format!("{place}\n{diff}"));
        Some(failure.resolve("if the change is meant", record_command(&scenario.name)))
    }

    /// A flaw of the protocol that the recording lacks, in a turn that is older than the check of results: a younger one
    /// has it there.
    fn flawed(&self, scenario: &Scenario) -> Option<Failure> {
        let fixture = self.fixture.as_ref().filter(|_| scenario.drift.results == Level::Fail)?;
        let of_older = |flaw: &&CallFlaw| {
            let turn = flaw.turn.filter(|_| flaw.kind == FlawKind::Protocol);
            let older =
                |turn: &usize| fixture.table.turns()[*turn].checks.is_none_or(|checks| checks.results.is_none());
            turn.filter(older).and_then(|turn| fixture.conversation(turn, &self.rules)).is_some_and(|c| is_sound(&c))
        };
        let flaw = self.played.flaws.iter().find(of_older)?;
        let by = flaw.caller.as_deref().map(|caller| format!(", by `{caller}`")).unwrap_or_default();
        let place = flaw.turn.map(|turn| fixture.place_of(turn)).unwrap_or_default();
        let failure = Failure::new(format!("protocol: {}, which was recorded without that flaw", flaw.what));
        let failure = failure.evidence(format!("  {place}{by}, in scenario `{}`", scenario.name));
        Some(failure.resolve("if the change is meant", record_command(&scenario.name)))
    }

    /// What the golden of this run holds: the two parts for each capture, in step order.
    pub(crate) fn golden_text(&self, scenario: &Scenario, rules: &Rules) -> Option<String> {
        if !has_golden(scenario) {
            return None;
        }
        let normalize = |text: &str| self.played.driven.names.apply(text, &rules.normalizer);
        let text = golden(&self.played.driven.captured, &scenario.golden, &normalize);
        Some(self.secrets.text(&text, &mut Fired::new()).into_owned())
    }
}

/// The last part of the verdict: the text against the golden, which is written where the policy says so.
///
/// # Errors
/// Where there is no golden, another one, or one that cannot be read or written.
pub(super) fn compare(project: &Project, scenario: &Scenario, text: &str) -> Result<(), Failure> {
    let file = project.goldens.file(&scenario.golden_name);
    let update = project.commands.update(&scenario.name);
    let compared = project.goldens.compare(&scenario.golden_name, text, &scenario.file);
    let compared = compared.map_err(|error| {
        let case = if file.is_file() { "to write it anew" } else { "once it is removed" };
        Failure::from(error).resolve(case, update.clone())
    })?;
    let file = project.goldens.shown(&file).display();
    let policy = project.goldens.policy();
    let review = |failure: Failure| match policy {
        Policy::Propose => failure.resolve("to look at it first", "retake review"),
        Policy::Verify | Policy::Overwrite => failure,
    };
    match compared {
        _ if policy == Policy::Overwrite => Ok(()),
        Compared::Same => Ok(()),
        Compared::New => Err(review(
            Failure::new(format!("golden: scenario `{}` has none, {file} is not there", scenario.name))
                .evidence(format!("it would hold:\n{}", unified("", text)))
                .resolve("if this is what the service should send", update),
        )),
        Compared::Differs(golden) => Err(review(
            Failure::new(format!("golden: the events of scenario `{}` are not those of {file}", scenario.name))
                .evidence(format!("- golden, + this run\n{}", unified(&golden, text)))
                .resolve("if the change is meant", update),
        )),
    }
}

/// Whether each tool call of a canonical conversation has a result of its tool, and each result a call.
fn is_sound(conversation: &[Json]) -> bool {
    let mut open: BTreeMap<&str, i64> = BTreeMap::new();
    for message in conversation {
        for call in message.get("tool_calls").and_then(Json::as_array).unwrap_or_default() {
            *open.entry(call.str_of("name").unwrap_or_default()).or_default() += 1;
        }
        if message.str_of("type") == Some("tool") {
            *open.entry(message.str_of("name").unwrap_or_default()).or_default() -= 1;
        }
    }
    open.values().all(|left| *left == 0)
}

/// Whether any step of a scenario goes into its golden.
pub(crate) fn has_golden(scenario: &Scenario) -> bool {
    scenario.steps.iter().flat_map(Step::parts).any(|step| step.golden)
}

fn answer_in_short(turn: &crate::fixture::Turn) -> String {
    let calls: Vec<&str> = turn.output.tool_calls().iter().map(|call| call.name.as_str()).collect();
    let text = turn.output.text();
    let text: String = text.chars().take(60).collect();
    match (text.is_empty(), calls.is_empty()) {
        (_, true) => format!("answers {text:?}"),
        (true, false) => format!("calls {}", calls.join(", ")),
        (false, false) => format!("answers {text:?}, calls {}", calls.join(", ")),
    }
}
