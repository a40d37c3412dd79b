//! What the model calls of a scenario cost, where it asks for that: measured on what the service sent, in a test and in a proof.

use super::project::Project;
use super::trial::Replayed;
use crate::report::{CostData, Failure, cost_of, price_of};
use retake_base::cause::{Cause, CauseKind};
use retake_base::env::RETAKE;
use retake_base::text::in_thousands;
use retake_core::cost::{CallerCost, Request, SentCall, measured, tokens_after};
use retake_core::key::{Normalizer, UNKNOWN_CALLER};
use retake_core::places::Places;
use retake_core::secrets::Fired;
use retake_engine::system::{host, user};
use retake_scenario::{Budget, Scenario};
use retake_wire::Api;

/// Measures a run beside another one. `known` says how many bytes its tokens were: a fixture does not know all that was sent.
pub(super) fn measure(
    project: &Project,
    scenario: &Scenario,
    run: &mut Replayed,
    again: Option<&Replayed>,
    known: &[CallerCost],
) {
    if scenario.cost.is_none() {
        return;
    }
    let days = again.map(|again| again.clock.days(run.clock.minute())).unwrap_or_default();
    let others = again.map(|again| again.sent(project)).unwrap_or_default();
    let mut cost = measured(run.sent(project), &others, &days);
    for of in &mut cost {
        let was = known.iter().find(|was| was.caller == of.caller);
        let grown = |was: &CallerCost| of.bytes.cast_signed() - was.bytes.cast_signed();
        of.input = was.map_or(of.input, |was| tokens_after(was.input, grown(was)));
        // What the golden says to vary was not tried again.
        if let Some(was) = was.filter(|was| was.varies && again.is_none()) {
            (of.prefix, of.ends, of.varies) = (was.prefix, was.ends.clone(), true);
        }
    }
    let data = cost.iter().map(|of| CostData::of(of, run.money(project, of))).collect();
    project.runs.with(&scenario.name, |run| run.cost = data);
    run.cost = Some(cost);
}

impl Replayed {
    /// The calls to chat models as they were sent, with names in place of what is the run's own. Days and times stay.
    fn sent(&self, project: &Project) -> Vec<SentCall> {
        // The second run of a proof is told another host and another user.
        let other = [("host", "retake-host".to_owned()), ("user", "retake-user".to_owned())];
        let places = Places::new([("root", project.root.display().to_string())].into_iter().chain(other));
        let named = |text: &str| {
            let text = self.played.driven.names.apply(text, &Normalizer::none());
            let text =
                places.named(&self.secrets.text(&text, &mut Fired::new()), &|_| true).replace("<retake:host>", host());
            text.replace("<retake:user>", &user().unwrap_or_default())
        };
        let calls = self.log.kept.iter().filter(|call| call.call.api != Api::Opaque);
        let sent = calls.filter_map(|call| {
            let turn = self.fixture.as_ref()?.table.turns().get(call.turn())?;
            let usage = turn.output.usage.unwrap_or_default();
            Some(SentCall {
                caller: call
                    .call
                    .caller
                    .as_ref()
                    .or(turn.caller.as_ref())
                    .map_or(UNKNOWN_CALLER, String::as_str)
                    .to_owned(),
                turn: call.turn(),
                request: match call.call.api {
                    Api::Declared(api) => {
                        let order = [&api.model[..], &api.tools, &[], &api.prompt, &api.messages];
                        Request::read_in(&order, &call.call.body, &named)
                    }
                    _ => Request::read(&call.call.body, &named),
                },
                input: (usage.input > 0).then(|| tokens_after(usage.input, call.grown())),
                output: usage.output,
            })
        });
        sent.collect()
    }

    /// What the calls of a caller cost by the suite's prices, if its model has some.
    fn money(&self, project: &Project, of: &CallerCost) -> Option<f64> {
        let fixture = self.fixture.as_ref()?;
        let turn =
            fixture.table.turns().iter().find(|turn| turn.caller.as_deref().unwrap_or(UNKNOWN_CALLER) == of.caller);
        let price = price_of(fixture, turn?, &project.discovered.suite.prices)?;
        Some(cost_of(of.input, of.input * of.prefix.unwrap_or_default() / 100, of.output, price))
    }

    /// The failure of a run whose calls cost more than they may.
    pub(super) fn over_budget(&self, scenario: &Scenario) -> Option<Failure> {
        let (may, cost) = (scenario.cost.as_ref()?, self.cost.as_ref()?);
        let all = Budget { calls: may.calls, input: may.input, cached: may.cached };
        let mut found = beyond(&scenario.name, &all, &cost.iter().collect::<Vec<_>>());
        let budget = |of: &CallerCost| Some(beyond(&of.caller, may.callers.get(&of.caller)?, &[of]));
        found.extend(cost.iter().filter_map(budget).flatten());
        let mut failure = Failure::of(found);
        failure.hints.push(format!("to see what its calls cost: {RETAKE} explain --cost {}", scenario.name));
        (!failure.causes.is_empty()).then_some(failure)
    }
}

/// What calls cost beyond a budget.
fn beyond(who: &str, budget: &Budget, of: &[&CallerCost]) -> Vec<Cause> {
    let made: usize = of.iter().map(|of| of.calls).sum();
    let input: u64 = of.iter().map(|of| of.input).sum();
    let calls = budget.calls.filter(|most| made as u64 > u64::from(*most));
    let calls = calls.map(|most| format!("{who}: {made} model calls, more than {most}"));
    let tokens = budget.input.filter(|most| input > most.0);
    let tokens =
        tokens.map(|most| format!("{who}: {} tokens read, more than {}", in_thousands(input), in_thousands(most.0)));
    let cached = budget.cached.into_iter().flat_map(|least| {
        let less = of.iter().filter(move |of| of.prefix.is_some_and(|kept| kept < least.0));
        less.map(move |of| format!("{}; less than {} %", of.prefix_in_words(), least.0))
    });
    calls.into_iter().chain(tokens).chain(cached).map(|what| Cause::new(CauseKind::Budget, what)).collect()
}
