//! `[case.NAME]`: fields that replace those of the scenario in one case.

use std::collections::BTreeMap;

use super::raw::{RawDrift, RawGolden, RawRecord, RawScenario};
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
        return Err(source.error(case.span().start, "a case cannot have cases of its own"));
    }
    Ok(overlaid(base, case.get_ref()))
}

/// Replaces fields of a scenario by those of a case. Tables are merged key by key; lists are replaced.
fn overlaid(base: &RawScenario, case: &RawScenario) -> RawScenario {
    let (base, over) = (base.clone(), case.clone());
    RawScenario {
        description: over.description.or(base.description),
        kind: over.kind.or(base.kind),
        recording: over.recording.or(base.recording),
        conversation: over.conversation.or(base.conversation),
        unobserved: over.unobserved.or(base.unobserved),
        tools: over.tools.or(base.tools),
        system: over.system.or(base.system),
        fixture: over.fixture.or(base.fixture),
        skip: over.skip.or(base.skip),
        tags: over.tags.or(base.tags),
        retries: over.retries.or(base.retries),
        timeout: over.timeout.or(base.timeout),
        settle: over.settle.or(base.settle),
        linger: over.linger.or(base.linger),
        panics: over.panics.or(base.panics),
        unused: over.unused.or(base.unused),
        drift: merged(base.drift, over.drift, |base, over| RawDrift {
            prompt: over.prompt.or(base.prompt),
            tools: over.tools.or(base.tools),
            model: over.model.or(base.model),
            settings: over.settings.or(base.settings),
            form: over.form.or(base.form),
            results: over.results.or(base.results),
            observation: over.observation.or(base.observation),
        }),
        delays: over.delays.or(base.delays),
        worlds: over.worlds.or(base.worlds),
        secrets: over.secrets.or(base.secrets),
        record: merged(base.record, over.record, |base, over| RawRecord {
            errors: over.errors.or(base.errors),
            timeout: over.timeout.or(base.timeout),
        }),
        vars: merged(base.vars, over.vars, |base, over| {
            let kept = base.into_iter().filter(|(name, _)| !over.contains_key(name));
            let kept: BTreeMap<_, _> = kept.collect();
            kept.into_iter().chain(over).collect()
        }),
        before: over.before.or(base.before),
        step: over.step.or(base.step),
        golden: merged(base.golden, over.golden, |base, over| RawGolden {
            detail: over.detail.or(base.detail),
            show: over.show.or(base.show),
            collapse: over.collapse.or(base.collapse),
            unordered: over.unordered.or(base.unordered),
            ordered: over.ordered.or(base.ordered),
            ignore: over.ignore.or(base.ignore),
            text: over.text.or(base.text),
            comments: over.comments.or(base.comments),
            lengths: over.lengths.or(base.lengths),
            words: over.words.or(base.words),
            after_last: over.after_last.or(base.after_last),
            loose: over.loose.or(base.loose),
            headers: over.headers.or(base.headers),
            event_name: over.event_name.or(base.event_name),
        }),
        case: None,
    }
}

/// Merges two tables. If only one is there, returns it.
fn merged<T>(base: Option<T>, over: Option<T>, merge: impl FnOnce(T, T) -> T) -> Option<T> {
    match (base, over) {
        (Some(base), Some(over)) => Some(merge(base, over)),
        (base, over) => over.or(base),
    }
}
