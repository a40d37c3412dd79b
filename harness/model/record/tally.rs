//! The tally of a recording: what it has asked providers for so far, for the person who waits and pays.

use std::collections::{BTreeMap, BTreeSet};

use retake_core::conversation::{Answer, Usage};

/// The calls of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many calls have come.
    pub calls: usize,
    /// How many of them are not answered yet.
    pub in_flight: usize,
    /// The callers that are known.
    pub callers: BTreeSet<String>,
    /// The calls of each model.
    pub models: BTreeMap<String, OfModel>,
}

/// The calls of one model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OfModel {
    /// How many calls have ended, including those that failed.
    pub calls: usize,
    /// The tokens of the calls whose answers report them.
    pub tokens: Usage,
}

impl Tally {
    pub(super) fn begin(&mut self, caller: Option<&str>) {
        self.calls += 1;
        self.in_flight += 1;
        self.callers.extend(caller.map(str::to_owned));
    }

    /// Counts a call that ended. `asked` is the model that the call named; if the answer names one, that one counts.
    pub(super) fn paid(&mut self, asked: &str, answer: Option<&Answer>) {
        let named = answer.and_then(|answer| answer.model.as_deref()).filter(|model| !model.is_empty());
        let name = named.unwrap_or(if asked.is_empty() { "(no model)" } else { asked });
        let of_model = self.models.entry(name.to_owned()).or_default();
        of_model.calls += 1;
        let Usage { input, output, .. } = answer.and_then(|answer| answer.usage).unwrap_or_default();
        of_model.tokens.input = of_model.tokens.input.saturating_add(input);
        of_model.tokens.output = of_model.tokens.output.saturating_add(output);
    }
}
