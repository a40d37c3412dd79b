//! Which ids requests to tools have: those of other requests, and those that the client was told. The values differ from run to run.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::trial::Played;
use retake_core::events::ids_told;
use retake_core::key::Rules;
use retake_engine::tools::CallOfTool;
use retake_scenario::Scenario;
use retake_wire::fixture::{ToolExchange, ToolExchanges, id_parts};

/// The hashes of ids, by where the client was told them.
type Told = BTreeMap<String, BTreeSet<String>>;

/// Which id of the recording is which one of now, and the other way round.
#[derive(Clone, Default)]
struct Same<'a>([HashMap<&'a str, &'a str>; 2]);

impl<'a> Same<'a> {
    /// Takes the ids of a request in the place of a recorded one. Returns those that are others now.
    fn others(&mut self, recorded: &'a [String], now: &'a [String], told: &Told) -> Vec<&'a String> {
        let at = |of: &'a String| id_parts(of).1;
        let is_other = |(index, then): (usize, &'a String)| {
            let nth = recorded[..index].iter().filter(|of| at(of) == at(then)).count();
            let now = id_parts(now.iter().filter(|of| at(of) == at(then)).nth(nth)?).0;
            let (was, _, place) = id_parts(then);
            let is = [(was, now), (now, was)];
            let mut maps = self.0.iter_mut().zip(is);
            let is_same = maps.all(|(map, (one, other))| *map.entry(one).or_insert(other) == other);
            let is_told = told.get(place).is_none_or(|ids| ids.contains(now));
            (!is_same || !is_told).then_some(then)
        };
        recorded.iter().enumerate().filter_map(is_other).collect()
    }
}

/// Returns the recorded ids in whose place are others now. Which of several equal requests came first is chance.
fn others(
    tools: &ToolExchanges,
    asked: &[(CallOfTool, String, Vec<String>)],
    told: &Told,
) -> Vec<(CallOfTool, String)> {
    let (mut same, mut found) = (Same::default(), Vec::new());
    let mut order: Vec<usize> = (0..asked.len()).collect();
    for nth in 0..asked.len() {
        let (call, key, _) = &asked[nth];
        let Some(recorded) = tools.get(&call.0).and_then(|all| all.get(call.1)) else { continue };
        let is_like = |of: usize| (&asked[of].0.0, &asked[of].1) == (&call.0, key);
        let fits = |of: usize| is_like(of) && same.clone().others(&recorded.ids, &asked[of].2, told).is_empty();
        let at = (nth..asked.len()).find(|at| fits(order[*at])).unwrap_or(nth);
        order.swap(nth, at);
        let others = same.others(&recorded.ids, &asked[order[nth]].2, told);
        found.extend(others.into_iter().map(|id| (call.clone(), id.clone())));
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
            let has_it = told.iter().filter(|(_, ids)| ids.contains(id_parts(id).0));
            let place = has_it.min_by_key(|(_, ids)| ids.len()).map(|(place, _)| format!(" = {place}"));
            id.extend(place);
        }
    }

    fn told(&self, scenario: &Scenario, rules: &Rules) -> Told {
        let normalize = |text: &str| self.driven.names.apply(text, &rules.normalizer);
        ids_told(&self.driven.captured, &scenario.golden, &normalize)
    }
}

/// Says that a request has another id than the recorded one.
pub(super) fn in_words(request: &str, id: &str, before: &[ToolExchange]) -> String {
    let (hash, at, told) = id_parts(id);
    let told = told.rsplit_once(' ').map(|(label, pointer)| format!("the one at `{pointer}` of `{label}`"));
    let is_before = |of: &&ToolExchange| of.ids.iter().any(|id| id_parts(id).0 == hash);
    let same = before.iter().find(is_before).map(|of| format!("that of `{}` of `{}` before it", of.method, of.tool()));
    let known = told.into_iter().chain(same).collect::<Vec<_>>().join(" and ");
    let known = if known.is_empty() { "one that no request before it had" } else { &known };
    format!("{request} has another id in `{at}` than recorded: it was {known}")
}

#[cfg(test)]
mod tests;
