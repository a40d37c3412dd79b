//! Finds the `[[normalize]]` rules with which calls would not have missed.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use super::diagnosis;
use super::rule::Rule;
use super::tried::{self, Tried};
use crate::run::project::Project;
use crate::run::trial::Replayed;
use retake_core::key::Rules;
use retake_wire::fixture::Fixture;

/// Placeholders of values that may also have been changed on purpose, so that only another run shows whether they vary.
const MAYBE: [&str; 2] = ["<NUMBER>", "<ID>"];

/// Rules that make calls equal to the recorded ones.
pub(crate) struct Mend {
    /// The rules as text for `suite.toml`.
    pub toml: String,
    /// The fixture as if it had been recorded with these rules.
    pub fixture: Arc<Fixture>,
    /// The fixtures of other scenarios whose texts these rules change.
    pub changed: BTreeSet<PathBuf>,
    /// The project's key rules together with these.
    pub rules: Arc<Rules>,
}

/// The rules for calls that missed because of values that vary, such as dates and random ids; `None` if there are none.
/// `again` is a second run of the scenario: a number or id that is equal in both runs does not vary.
pub(crate) fn mend(project: &Project, run: &Replayed, again: &Replayed) -> Option<Mend> {
    let fixture = run.fixture.as_ref().filter(|fixture| fixture.keeps_conversations())?;
    let tried = Tried::new(project, Some(fixture), &run.rules);
    let found = diagnosis::of_misses(&[again, run], fixture, &tried).rules;
    let said = |run: &Replayed| run.log.missed.first().map(|call| call.lookup.conversation.clone());
    let varies = said(run) != said(again);
    let is_sure = |rule: &Rule| varies || !MAYBE.iter().any(|word| rule.replace.contains(word));
    if found.is_empty() || !found.iter().all(is_sure) {
        return None;
    }
    let toml: Vec<String> = found.iter().map(Rule::toml).collect();
    let rekeyed = tried::rekeyed(fixture, &run.rules, &found)?;
    let (changed, rules) = (tried.changed(&found), Arc::new(tried::with(&run.rules, &found)));
    Some(Mend { toml: toml.join("\n"), fixture: rekeyed, changed, rules })
}
