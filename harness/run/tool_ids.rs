//! Which ids requests to tools have: those of other requests, and those that the client was told. The values differ from run to run.

use std::collections::HashMap;

use super::trial::Played;
use retake_core::events::{IdsTold, ids_told};
use retake_core::key::Rules;
use retake_engine::tools::CallOfTool;
use retake_scenario::Scenario;
use retake_wire::fixture::{Lack, ToolExchange, ToolExchanges, ToolId};

/// Which id of the recording is which one of now, and the other way round.
#[derive(Default)]
struct Same<'a>([HashMap<&'a str, &'a str>; 2]);

impl<'a> Same<'a> {
    /// Returns the recorded ids in whose place a request has others now, and which are the same besides those known.
    fn others(&self, recorded: &'a [ToolId], now: &'a [ToolId], told: &IdsTold) -> (Vec<&'a ToolId>, Same<'a>) {
        let mut new = Same::default();
        let others = recorded.iter().enumerate().filter(|(index, then)| {
            let nth = recorded[..*index].iter().filter(|of| of.at == then.at).count();
            let Some(now) = now.iter().filter(|of| of.at == then.at).nth(nth) else { return false };
            let mut maps = self.0.iter().zip(&mut new.0).zip([[&then.hash, &now.hash], [&now.hash, &then.hash]]);
            let is_same = maps.all(|((known, new), [one, other])| {
                *known.get(&**one).unwrap_or_else(|| new.entry(one).or_insert(other)) == other
            });
            let told = then.told.as_ref().and_then(|place| told.get(place));
            !is_same || told.is_some_and(|ids| !ids.contains(&now.hash))
        });
        (others.map(|(_, id)| id).collect(), new)
    }
}

/// Returns the recorded ids in whose place are others now. Which of several equal requests came first is chance.
fn others(all: &ToolExchanges, asked: &[(CallOfTool, String, Vec<ToolId>)], told: &IdsTold) -> Vec<(CallOfTool, Lack)> {
    let (mut same, mut found) = (Same::default(), Vec::new());
    let mut order: Vec<usize> = (0..asked.len()).collect();
    for nth in 0..asked.len() {
        let (call, key, _) = &asked[nth];
        let Some(recorded) = all.get(&call.0).and_then(|all| all.get(call.1)) else { continue };
        let is_like = |of: usize| (&asked[of].0.0, &asked[of].1) == (&call.0, key);
        let others = |of: usize| same.others(&recorded.ids, &asked[of].2, told);
        let fits = |at: &usize| is_like(order[*at]) && others(order[*at]).0.is_empty();
        let at = (nth..asked.len()).find(fits).unwrap_or(nth);
        order.swap(nth, at);
        let (others, new) = others(order[nth]);
        found.extend(others.into_iter().map(|id| (call.clone(), Lack::Id(id.clone()))));
        for (all, new) in same.0.iter_mut().zip(new.0) {
            all.extend(new);
        }
    }
    found
}

impl Played {
    /// Notes which ids of a recording's requests are others in this run.
    pub(super) fn note_other_ids(&mut self, recorded: &ToolExchanges, scenario: &Scenario, rules: &Rules) {
        self.tools.lacking.extend(others(recorded, &self.tools.ids, &self.told(scenario, rules)));
    }

    /// Says of the ids in requests where the client was told them: of several places, the one with the fewest ids.
    pub(super) fn tell_ids(&self, tools: &mut ToolExchanges, scenario: &Scenario, rules: &Rules) {
        let told = self.told(scenario, rules);
        for id in tools.values_mut().flatten().flat_map(|exchange| &mut exchange.ids) {
            let has_it = told.iter().filter(|(_, ids)| ids.contains(&id.hash));
            id.told = has_it.min_by_key(|(_, ids)| ids.len()).map(|(place, _)| place.clone());
        }
    }

    fn told(&self, scenario: &Scenario, rules: &Rules) -> IdsTold {
        let normalize = |text: &str| self.driven.names.apply(text, &rules.normalizer);
        ids_told(&self.driven.captured, &scenario.golden, &normalize)
    }
}

/// Says that a request has another id than the recorded one.
pub(super) fn in_words(request: &str, ToolId { hash, at, told }: &ToolId, before: &[ToolExchange]) -> String {
    let told = told.as_ref().map(|(event, pointer)| format!("the one at `{pointer}` of `{event}`"));
    let is_before = |of: &&ToolExchange| of.ids.iter().any(|id| id.hash == *hash);
    let same = before.iter().find(is_before).map(|of| format!("that of `{}` of `{}` before it", of.method, of.tool()));
    let known = told.into_iter().chain(same).collect::<Vec<_>>().join(" and ");
    let known = if known.is_empty() { "one that no request before it had" } else { &known };
    format!("{request} has another id in `{at}` than recorded: it was {known}")
}

#[cfg(test)]
mod tests;
