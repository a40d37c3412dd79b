//! `[case.NAME]`: fields that replace those of the scenario in one case.

use std::collections::BTreeMap;

use super::options::drift_over;
use super::raw::{RawGolden, RawRecord, RawScenario, over};
use super::spanned::Spanned;
use crate::name::{is_name, no_name};
use crate::source::Source;
use retake_base::error::Result;

/// Returns the scenario's fields with those of a case in place of them.
pub(super) fn over(
    base: &RawScenario,
    name: &Spanned<String>,
    case: &Spanned<RawScenario>,
    source: &Source,
) -> Result<RawScenario> {
    if !is_name(name.get_ref()) {
        let error = no_name(name.get_ref(), "case");
        return Err(error.in_file(&source.file).at(source.place(name.span().start)));
    }
    if case.get_ref().case.is_some() {
        return Err(source.error_at(case, "a case cannot have cases of its own"));
    }
    Ok(overlaid(base, case.get_ref()))
}

/// Replaces fields of a scenario by those of a case. Tables are merged key by key; lists are replaced.
fn overlaid(base: &RawScenario, case: &RawScenario) -> RawScenario {
    let (base, case) = (base.clone(), case.clone());
    over!(RawScenario, base, case;
        description, kind, recording, conversation, unobserved, tools, system, fixture, skip, tags, retries, timeout, settle,
        linger, panics, unused, egress, allow, delays, clock, worlds, cost, secrets, before, step;
        drift: merged(base.drift, case.drift, drift_over),
        record: merged(base.record, case.record, |base, case| over!(RawRecord, base, case; errors, timeout;)),
        vars: merged(base.vars, case.vars, |base, case| {
            let kept = base.into_iter().filter(|(name, _)| !case.contains_key(name));
            let kept: BTreeMap<_, _> = kept.collect();
            kept.into_iter().chain(case).collect()
        }),
        golden: merged(base.golden, case.golden, |base, case| over!(RawGolden, base, case;
            detail, show, collapse, unordered, ordered, ignore, text, comments, lengths, words, after_last, loose, headers,
            event_name;
        )),
        case: None
    )
}

/// Merges two tables. If only one is there, returns it.
fn merged<T>(base: Option<T>, over: Option<T>, merge: impl FnOnce(T, T) -> T) -> Option<T> {
    match (base, over) {
        (Some(base), Some(over)) => Some(merge(base, over)),
        (base, over) => over.or(base),
    }
}
