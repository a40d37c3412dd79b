//! To which of several callers a call belongs that does not name its own (KEY.md, section 8). Calls of one conversation are told
//! apart by their prompt, tools, model, settings and form; a call belongs to the turns from which it differs in the fewest of these,
//! and if that ties, to those whose texts are nearer.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::checked::Checked;
use retake_core::key::{Check, Hash};
use retake_wire::fixture::{Group, Turn};

/// What tells callers apart. Results tell what happened, not who asks.
const TELLING: [Check; 5] = [Check::Prompt, Check::Tools, Check::Model, Check::Settings, Check::Form];

/// Returns the group that a call belongs to; `None` if two groups are equally near. `texts` contains the recorded texts by hash.
pub(super) fn belonging<'a>(
    groups: &[&'a Group],
    turns: &[Turn],
    called: &Checked,
    texts: &BTreeMap<Hash, Arc<str>>,
) -> Option<&'a Group> {
    let first = |group: &Group| group.turns.first().map(|first| differing(&turns[*first], called)).unwrap_or_default();
    let all: Vec<(&Group, Vec<(Check, Hash)>)> = groups.iter().map(|group| (*group, first(group))).collect();
    let fewest = all.iter().map(|(_, differing)| differing.len()).min()?;
    let mut nearest: Vec<(&Group, f64)> = Vec::new();
    let candidates: Vec<_> = all.into_iter().filter(|(_, differing)| differing.len() == fewest).collect();
    if let [(only, _)] = candidates[..] {
        return Some(only);
    }
    for (group, differing) in candidates {
        let distance = differing.iter().map(|(check, hash)| {
            let recorded = texts.get(hash).map_or("", |text| &**text);
            distance(recorded, called.texts.of(*check).map_or("", |text| &**text))
        });
        nearest.push((group, distance.sum()));
    }
    nearest.sort_by(|a, b| a.1.total_cmp(&b.1));
    let ties = nearest.get(1).is_some_and(|second| (second.1 - nearest[0].1).abs() < f64::EPSILON);
    nearest.first().filter(|_| !ties).map(|(group, _)| *group)
}

/// The checks that tell callers apart and in which a turn differs from a call, with the turn's hashes.
pub(super) fn differing(turn: &Turn, called: &Checked) -> Vec<(Check, Hash)> {
    let Some(recorded) = turn.checks else { return Vec::new() };
    let differs = |check: Check| {
        let (recorded, called) = (recorded.of(check)?, called.hashes.of(check)?);
        (recorded != called).then_some((check, recorded))
    };
    TELLING.into_iter().filter_map(differs).collect()
}

/// Returns the callers of a group, sorted. Those that have no names are numbered by what tells them apart.
pub(super) fn names(group: &Group, turns: &[Turn]) -> Vec<String> {
    let name = |(number, part): (usize, &Group)| name_of(part.turns.first().map(|first| &turns[*first]), number);
    group.apart().iter().enumerate().map(name).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns the name of a caller, or one that a reader may give it.
pub(super) fn name_of(turn: Option<&Turn>, number: usize) -> String {
    turn.and_then(|turn| turn.caller.clone()).unwrap_or_else(|| format!("caller-{}", number + 1))
}

/// How far two texts are from each other, from 0 to 1: the share of their words that only one of them has.
fn distance(a: &str, b: &str) -> f64 {
    let mut counts: HashMap<&str, i64> = HashMap::new();
    let mut all = 0_u32;
    for (text, by) in [(a, 1), (b, -1)] {
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            *counts.entry(word).or_default() += by;
            all += 1;
        }
    }
    let lone: u64 = counts.values().map(|count| count.unsigned_abs()).sum();
    if all == 0 { 0.0 } else { f64::from(u32::try_from(lone).unwrap_or(u32::MAX)) / f64::from(all) }
}
