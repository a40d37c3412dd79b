//! The `[[normalize]]` rules that would have kept calls from missing, with what a replay by them needs.

use std::sync::Arc;

use super::diagnosis;
use super::rule::Rule;
use super::tried::{self, Tried};
use crate::fixture::Fixture;
use crate::key::Rules;
use crate::run::trial::Replayed;

/// Words that stand for what only another run tells to vary: a number may as well have been changed.
const MAYBE: [&str; 2] = ["<NUMBER>", "<ID>"];

/// Rules that make calls equal to the recorded ones.
pub(crate) struct Mend {
    /// The rules, as they stand in `suite.toml`.
    pub(crate) toml: String,
    /// The fixture as a recording with them would have made it.
    pub(crate) fixture: Arc<Fixture>,
    /// The key rules with them.
    pub(crate) rules: Arc<Rules>,
}

/// The rules for calls that missed, where there are any and each mends what varies: a date, a random id. `again` is another
/// run of the same; what is equal in both does not vary, unless it is a point in time.
pub(crate) fn mend(run: &Replayed, again: &Replayed) -> Option<Mend> {
    let fixture = run.fixture.as_ref().filter(|fixture| fixture.keeps_conversations())?;
    let found = diagnosis::of_misses(again, fixture, &Tried::new(Some(fixture), &run.rules)).rules;
    let said = |run: &Replayed| run.missed_calls.first().map(|call| call.lookup.conversation.clone());
    let varies = said(run) != said(again);
    let is_sure = |rule: &Rule| varies || !MAYBE.iter().any(|word| rule.replace.contains(word));
    if found.is_empty() || !found.iter().all(is_sure) {
        return None;
    }
    let toml: Vec<String> = found.iter().map(Rule::toml).collect();
    let rekeyed = tried::rekeyed(fixture, &run.rules, &found)?;
    Some(Mend { toml: toml.join("\n"), fixture: rekeyed, rules: Arc::new(tried::with(&run.rules, &found)) })
}
