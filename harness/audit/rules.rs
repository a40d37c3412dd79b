//! Model calls that differ, and that the suite's `[[normalize]]` rules make equal.

use retake_core::conversation::Message;
use retake_core::json::Json;
use retake_core::key::{Hash, Rules};
use retake_model::HeardCall;

/// A rule without which two calls would have different keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The rule's index in the suite.
    pub rule: usize,
    /// The turns that answered the two calls.
    pub turns: [usize; 2],
    /// For each call, the first message in which the two differ.
    pub texts: [String; 2],
}

/// Finds the rules that make different calls of one caller equal, and returns for each of these rules the first two such calls.
pub fn merged(calls: &[HeardCall], rules: &Rules) -> Vec<Merged> {
    let keys: Vec<Hash> = calls.iter().map(|call| key(call, rules)).collect();
    let mut found = Vec::new();
    for rule in 0..rules.normalizer.own_rules() {
        let without = without(rules, rule);
        let alone: Vec<Hash> = calls.iter().map(|call| key(call, &without)).collect();
        let pairs = (0..calls.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        let mut merged = pairs.filter(|(a, b)| keys[*a] == keys[*b] && alone[*a] != alone[*b]);
        if let Some((a, b)) = merged.next() {
            let texts = difference(&calls[a].messages, &calls[b].messages, &without);
            found.push(Merged { rule, turns: [calls[a].turn, calls[b].turn], texts });
        }
    }
    found
}

/// Returns the key rules without one of the suite's `[[normalize]]` rules.
pub(super) fn without(rules: &Rules, rule: usize) -> Rules {
    Rules { normalizer: rules.normalizer.without(rule), aliases: rules.aliases.clone() }
}

fn key(call: &HeardCall, rules: &Rules) -> Hash {
    rules.key(&rules.canonical(call.messages.clone()), call.caller.as_deref()).input_hash
}

/// Returns the text of the first message in which two conversations differ, from each of the two.
fn difference(a: &[Message], b: &[Message], rules: &Rules) -> [String; 2] {
    let [a, b] = [a, b].map(|messages| rules.canonical(messages.to_vec()));
    let pair = a.iter().zip(&b).find(|(a, b)| a != b);
    pair.map_or_else(Default::default, |(a, b)| [a, b].map(said))
}

/// Returns the text of a canonical message, or its tool calls if it has no text.
fn said(message: &Json) -> String {
    match message.str_of("content") {
        Some(text) if !text.is_empty() => text.to_owned(),
        _ => message.get("tool_calls").map(Json::python_str).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests;
