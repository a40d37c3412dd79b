//! Who made each call of a trace: the agent, the node or the middleware, where that tells calls apart.

use std::collections::{BTreeMap, BTreeSet};

use retake_model::{RecordedCalls, caller_rule};

use super::call::{ModelCall, around, kind, parents};
use super::fields::{CALLER, Kind};
use super::span::Span;
use super::tools;

/// Names the callers of the calls of a trace, if there are several.
pub(super) fn name(calls: &mut [ModelCall], spans: &[Span]) {
    let parents = parents(spans);
    let named: Vec<Option<String>> = calls.iter().map(|call| of_span(call.span, spans, &parents)).collect();
    if named.iter().flatten().collect::<BTreeSet<_>>().len() > 1 {
        calls.iter_mut().zip(named).for_each(|(call, name)| call.caller = name);
    }
}

/// The name on the span itself or on the nearest span around it.
fn of_span(place: usize, spans: &[Span], parents: &[Option<usize>]) -> Option<String> {
    let name = |at: usize| {
        let span = &spans[at];
        let agent = || (at != place && kind(span) == Some(Kind::Agent)).then_some(span.name.as_str());
        span.first_text(CALLER).or_else(agent).filter(|name| !name.trim().is_empty()).map(str::to_owned)
    };
    std::iter::once(place).chain(around(parents, place)).find_map(name)
}

/// The `[[callers]]` rules that the service needs if it names no callers: one for each, by what only its calls have.
pub(super) fn rules(calls: &[ModelCall]) -> Vec<String> {
    let mut callers: BTreeMap<String, RecordedCalls> = BTreeMap::new();
    for call in calls {
        let tools = tools::definitions(std::slice::from_ref(call)).into_keys().collect();
        let of_caller = callers.entry(call.caller.clone().unwrap_or_default()).or_default();
        of_caller.add(call.system.clone(), tools, call.model.clone());
    }
    let none = "nothing in its calls tells them apart; let the service send the header x-retake-caller";
    let rule =
        |caller: &String| caller_rule(caller, &callers).unwrap_or_else(|| format!("# {caller}: {none}: {caller}"));
    callers.keys().filter(|caller| !caller.is_empty()).map(rule).collect()
}
