//! What the model calls of a scenario cost, where it asks for that: measured on what the service sent, in a test and in a proof.

use super::project::Project;
use super::trial::Replayed;
use crate::report::{Failure, caller_of, cost_of, price_of};
use retake_base::cause::{Cause, CauseKind};
use retake_base::env::RETAKE;
use retake_base::text::in_thousands;
use retake_core::cost::{CallerCost, ORDER, Request, SentCall, measured, tokens_after};
use retake_core::key::Normalizer;
use retake_core::places::Places;
use retake_core::secrets::Fired;
use retake_engine::system::{host, user};
use retake_scenario::{Budget, Scenario};
use retake_wire::Api;

impl Replayed {
    /// Measures what its calls cost, beside those of another run, if the scenario asks for that. The golden knows how many tokens so many
    /// bytes are, and what varies, unless the run is `new`.
    pub(super) fn measure(&mut self, project: &Project, scenario: &Scenario, again: Option<&Replayed>, new: bool) {
        if scenario.options.cost.is_none() {
            return;
        }
        let committed = project.goldens.golden(&scenario.golden_name).ok().flatten().filter(|_| !new);
        let known = committed.map(|committed| committed.golden.cost.clone()).unwrap_or_default();
        let again = again.map(|again| (again.sent(project), again.clock.days(self.clock.minute())));
        let mut cost = measured(self.sent(project), again.as_ref(), &known);
        for of in &mut cost {
            of.money = self.fixture.as_ref().and_then(|fixture| {
                let turn = fixture.table.turns().iter().find(|turn| caller_of(turn) == of.caller)?;
                let price = price_of(fixture, turn, &project.discovered.suite.prices)?;
                Some(cost_of(of.input, of.input * of.prefix.unwrap_or_default() / 100, of.output, price))
            });
        }
        project.runs.with(&scenario.name, |run| run.cost.clone_from(&cost));
        self.cost = Some(cost);
    }

    /// The calls to chat models as they were sent, with names in place of what is the run's own. Days and times stay.
    fn sent(&self, project: &Project) -> Vec<SentCall> {
        let places = Places::new([("root", project.root.display().to_string())]);
        let named = |text: &str| {
            let text = self.played.driven.names.apply(text, &Normalizer::none());
            // The second run of a proof is told another host and another user.
            let text = text.replace("retake-host", host()).replace("retake-user", &user().unwrap_or_default());
            places.named(&self.secrets.text(&text, &mut Fired::new()), &|_| true).into_owned()
        };
        let sent = self.log.kept.iter().filter(|kept| kept.call.api != Api::Opaque).map(|kept| {
            let (index, turn, grown) = kept.recorded();
            let usage = turn.output.usage.unwrap_or_default();
            let caller = kept.call.caller.as_deref().unwrap_or_else(|| caller_of(turn));
            let request = match kept.call.api {
                Api::Declared(api) => {
                    let order = [&api.model[..], &api.tools, &[], &api.prompt, &api.messages];
                    Request::read(&order, &kept.call.body, &named)
                }
                _ => Request::read(&ORDER, &kept.call.body, &named),
            };
            SentCall {
                caller: caller.split_whitespace().collect::<Vec<_>>().join(" "),
                turn: index,
                request,
                input: (usage.input > 0).then(|| tokens_after(usage.input, grown)),
                output: usage.output,
            }
        });
        sent.collect()
    }

    /// The failure of a run whose calls cost more than they may.
    pub(super) fn over_budget(&self, scenario: &Scenario) -> Option<Failure> {
        let (may, cost) = (scenario.options.cost.as_ref()?, self.cost.as_ref()?);
        let all = Budget { calls: may.calls, input: may.input, cached: may.cached };
        let each = cost.chunks(1).filter_map(|of| Some(beyond(&of[0].caller, may.callers.get(&of[0].caller)?, of)));
        let mut failure = Failure::of(beyond(&scenario.name, &all, cost).into_iter().chain(each.flatten()).collect());
        failure.hints.push(format!("to see what its calls cost: {RETAKE} explain --cost {}", scenario.name));
        (!failure.causes.is_empty()).then_some(failure)
    }
}

/// What calls cost beyond a budget.
fn beyond(who: &str, budget: &Budget, of: &[CallerCost]) -> Vec<Cause> {
    let more = |is: u64, most: Option<u64>, what: &str| {
        let most = most.filter(|most| is > *most)?;
        Some(format!("{who}: {} {what}, more than {}", in_thousands(is), in_thousands(most)))
    };
    let calls = more(of.iter().map(|of| of.calls as u64).sum(), budget.calls.map(u64::from), "model calls");
    let tokens = more(of.iter().map(|of| of.input).sum(), budget.input.map(|most| most.0), "tokens read");
    let least = budget.cached.map_or(0, |least| least.0);
    let cached = of.iter().filter(|of| of.prefix.is_some_and(|kept| kept < least));
    let cached = cached.map(|of| format!("{}; less than {least} %", of.words));
    calls.into_iter().chain(tokens).chain(cached).map(|what| Cause::new(CauseKind::Budget, what)).collect()
}
