//! Who made each call of a trace: the agent, the node or the middleware, where that tells calls apart.

use std::collections::BTreeSet;

use retake_core::json::{Json, Layout};

use super::call::{ModelCall, around, kind, parents};
use super::fields::{CALLER, Kind};
use super::span::Span;

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
    let callers: BTreeSet<&str> = calls.iter().filter_map(|call| call.caller.as_deref()).collect();
    let rule = |caller: &str| {
        let (own, others): (Vec<_>, Vec<_>) = calls.iter().partition(|call| call.caller.as_deref() == Some(caller));
        let tells = |of: fn(&ModelCall) -> &str, text: &str| {
            let begins = |call: &&ModelCall| of(call).starts_with(text);
            !text.is_empty() && own.iter().all(begins) && !others.iter().any(begins)
        };
        let quoted = |text: &str| Json::Str(format!("^{}", regex::escape(text))).print(Layout::Compact);
        let (prompt, model) = (beginning(&own[0].system), &own[0].model);
        let when = if tells(|call| &call.system, prompt) {
            format!("system = {}", quoted(prompt))
        } else if tells(|call| &call.model, model) {
            format!("model = {}", quoted(model))
        } else if own.iter().all(|call| call.tools.is_empty()) && others.iter().all(|call| !call.tools.is_empty()) {
            "tools = false".to_owned()
        } else {
            let what = "nothing in its calls tells them apart; let the service send the header x-retake-caller";
            return format!("# {caller}: {what}: {caller}");
        };
        format!("[[callers]]\nname = {}\nwhen = {{ {when} }}", Json::from(caller).print(Layout::Compact))
    };
    callers.into_iter().map(rule).collect()
}

/// The first line of a prompt, in at most 60 characters.
fn beginning(prompt: &str) -> &str {
    let line = prompt.lines().next().unwrap_or_default();
    line.char_indices().nth(60).map_or(line, |(end, _)| &line[..end])
}
