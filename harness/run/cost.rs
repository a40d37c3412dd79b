//! What the model calls of a scenario cost, where it asks for that: measured on what the service sent, in a test and in a proof.

use std::collections::BTreeMap;

use super::project::Project;
use super::proof::await_next_second;
use super::second_look::may_play_again;
use super::trial::{self, How, Replayed};
use crate::report::{CostData, Failure, cost_of, price_of, terminal};
use crate::system::{host, user};
use retake_base::cause::{Cause, CauseKind};
use retake_base::text::in_thousands;
use retake_core::cost::{CallerCost, Request, SentCall, measured, tokens_after};
use retake_core::key::{Normalizer, UNKNOWN_CALLER};
use retake_core::places::Places;
use retake_core::secrets::Fired;
use retake_model::{KeptCall, Pacing};
use retake_scenario::{Budget, Scenario};
use retake_wire::Api;

/// Measures a test's run that went well. If the golden says that nothing varies, another run tries whether that is still so.
pub(super) fn of_test(project: &Project, scenario: &Scenario, run: &mut Replayed) {
    if scenario.cost.is_none() || !run.misses.is_empty() || run.played.error().is_some() {
        return;
    }
    let committed = run.committed.clone();
    let known = committed.as_ref().map(|committed| committed.golden.cost()).unwrap_or_default();
    let varies = known.iter().all(|cost| cost.varies) || scenario.needs_browser();
    let again = (!varies && may_play_again(project, scenario, run)).then(|| {
        if !project.systems.moves_clock(scenario) {
            await_next_second();
        }
        let how = How { pacing: Pacing::Shaken, ..How::default() };
        trial::replay(project, scenario, run.fixture.clone(), &run.rules, how).ok()
    });
    let again = again.flatten().filter(|again| again.misses.is_empty());
    measure(project, scenario, run, again.as_ref(), known);
}

/// Measures a second replay, in which calls that missed are answered.
pub(super) fn of_second(project: &Project, scenario: &Scenario, run: &mut Replayed) {
    let committed = run.committed.clone().filter(|_| scenario.cost.is_some());
    if let Some(committed) = committed {
        measure(project, scenario, run, None, committed.golden.cost());
    }
}

/// Measures the replays of a proof, and warns of what varies between them.
pub(super) fn of_proof(
    project: &Project,
    scenario: &Scenario,
    run: &mut Replayed,
    again: Option<&Replayed>,
    of_recording: bool,
) {
    if scenario.cost.is_none() {
        return;
    }
    let committed = project.goldens.golden(&scenario.golden_name).ok().flatten().filter(|_| !of_recording);
    let known = committed.as_ref().map(|committed| committed.golden.cost()).unwrap_or_default();
    measure(project, scenario, run, again, known);
    for varying in run.cost.iter().flatten().filter(|cost| cost.varies) {
        let (one, other) = &varying.texts;
        terminal::note(format!(
            "{}: warning: {}: the cacheable prefix differs from run to run at {} ({one:?} → {other:?}), so a provider's cache keeps \
             {} % of {} tokens",
            scenario.name,
            varying.caller,
            varying.ends.as_deref().unwrap_or_default(),
            varying.prefix.unwrap_or_default(),
            in_thousands(varying.input)
        ));
    }
}

/// Measures a run beside another one. `known` says how many bytes the tokens were: a fixture does not know all that was sent.
fn measure(project: &Project, scenario: &Scenario, run: &mut Replayed, again: Option<&Replayed>, known: &[CallerCost]) {
    let days = again.map(|again| again.clock.days(run.clock.minute())).unwrap_or_default();
    let others = again.map(|again| again.sent(project)).unwrap_or_default();
    let mut cost = measured(run.sent(project), &others, &days);
    for of in &mut cost {
        let was = known.iter().find(|was| was.caller == of.caller && was.bytes > 0);
        of.input =
            was.map_or(of.input, |was| tokens_after(was.input, of.bytes.cast_signed() - was.bytes.cast_signed()));
    }
    let money = run.money(project, &cost);
    let data = cost.iter().map(|of| CostData::of(of, money.get(&*of.caller).copied())).collect();
    project.runs.with(&scenario.name, |run| run.cost = data);
    run.cost = Some(cost);
}

impl Replayed {
    /// The calls to chat models as they were sent, with names in place of what is the run's own. Days and times stay.
    fn sent(&self, project: &Project) -> Vec<SentCall> {
        let mut places = vec![("root", project.root.display().to_string())];
        // What the second run of a proof is told.
        places.extend([("host", "retake-host".to_owned()), ("user", "retake-user".to_owned())]);
        let own = |name: &str| if name == "<retake:host>" { host().to_owned() } else { user().unwrap_or_default() };
        let (places, as_sent) = (Places::new(places), Normalizer::none());
        let named = |text: &str| {
            let text = self.secrets.text(text, &mut Fired::new()).into_owned();
            let text = self.played.driven.names.apply(&text, &as_sent);
            let text = places.named(&text, &|_| true).into_owned();
            ["<retake:host>", "<retake:user>"].iter().fold(text, |text, name| text.replace(name, &own(name)))
        };
        let calls = self.log.kept.iter().filter(|call| call.api() != Api::Opaque);
        let sent = calls.filter_map(|call| {
            let turn = self.fixture.as_ref()?.table.turns().get(call.turn())?;
            let request = Request::read(call.body(), &named);
            let usage = turn.output.usage.unwrap_or_default();
            let input = (usage.input > 0).then(|| tokens_after(usage.input, call.grown()));
            Some(SentCall { caller: self.caller_of(call), turn: call.turn(), request, input, output: usage.output })
        });
        sent.collect()
    }

    fn caller_of(&self, call: &KeptCall) -> String {
        let turn = self.fixture.as_ref().and_then(|fixture| fixture.table.turns().get(call.turn()));
        let caller = call.caller().or_else(|| turn?.caller.as_deref());
        caller.unwrap_or(UNKNOWN_CALLER).to_owned()
    }

    /// What the calls of each caller cost by the suite's prices, if its models have some.
    fn money(&self, project: &Project, cost: &[CallerCost]) -> BTreeMap<String, f64> {
        let price = |of: &CallerCost| {
            let fixture = self.fixture.as_ref()?;
            let call = self.log.kept.iter().find(|call| self.caller_of(call) == of.caller)?;
            price_of(fixture, fixture.table.turns().get(call.turn())?, &project.discovered.suite.prices)
        };
        let money = |of: &CallerCost| {
            let cached = of.input * of.prefix.unwrap_or_default() / 100;
            Some((of.caller.clone(), cost_of(of.input, cached, of.output, price(of)?)))
        };
        cost.iter().filter_map(money).collect()
    }

    /// The failure of a run whose calls cost more than they may.
    pub(super) fn over_budget(&self, scenario: &Scenario) -> Option<Failure> {
        let (may, cost) = (scenario.cost.as_ref()?, self.cost.as_ref()?);
        let of_caller = cost.iter().filter_map(|of| Some((of.caller.as_str(), may.callers.get(&of.caller)?, vec![of])));
        let all = std::iter::once((scenario.name.as_str(), &may.all, cost.iter().collect()));
        let found: Vec<Cause> = of_caller.chain(all).flat_map(|(who, budget, of)| beyond(who, budget, &of)).collect();
        (!found.is_empty()).then(|| Failure::of(found))
    }
}

/// What calls cost beyond a budget.
fn beyond(who: &str, budget: &Budget, of: &[&CallerCost]) -> Vec<Cause> {
    let (calls, input) = of.iter().fold((0, 0), |(calls, input), of| (calls + of.calls as u64, input + of.input));
    let mut found = Vec::new();
    if let Some(most) = budget.calls.filter(|most| calls > *most) {
        found.push(format!("{who}: {calls} model calls, at most {most} are allowed"));
    }
    if let Some(most) = budget.input.filter(|most| input > *most) {
        let (input, most) = (in_thousands(input), in_thousands(most));
        found.push(format!("{who}: {input} tokens read, at most {most} are allowed"));
    }
    let least = of.iter().filter(|of| of.prefix.is_some()).min_by_key(|of| of.prefix);
    if let (Some(of), Some(share)) = (least, budget.cached)
        && let Some(kept) = of.prefix.filter(|kept| *kept < share)
    {
        let (one, other) = &of.texts;
        let ends = of.ends.iter().map(|place| format!(": it ends at {place} ({one:?} → {other:?})"));
        let (ends, caller) = (ends.collect::<String>(), &of.caller);
        found.push(format!(
            "{caller}: a cache keeps {kept} % of {} tokens, at least {share} % are asked for{ends}",
            in_thousands(of.input)
        ));
    }
    found.into_iter().map(|what| Cause::new(CauseKind::Budget, what)).collect()
}
