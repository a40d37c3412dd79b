//! Tries rules on a recording: whether different calls stay different, and what the fixture would be with the rules.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use super::rule::Rule;
use crate::run::project::Project;
use retake_core::json::Json;
use retake_core::key::{Aliases, Hash, Normalizer, Rules, with_rules};
use retake_wire::fixture::Fixture;

/// The recorded calls on which rules are tried.
pub(super) struct Tried<'a> {
    /// The project's rules.
    pub(super) rules: &'a Rules,
    project: &'a Project,
    /// The file of the fixture.
    own: Option<PathBuf>,
    /// The caller and the conversation of each.
    calls: Vec<(Option<String>, Vec<Json>)>,
    /// The number of different keys with the project's rules.
    pub(super) distinct: usize,
}

impl<'a> Tried<'a> {
    pub(super) fn new(project: &'a Project, fixture: Option<&Fixture>, rules: &'a Rules) -> Tried<'a> {
        let own = fixture.map(|fixture| fixture.path.clone());
        let calls = fixture.into_iter().flat_map(|fixture| {
            let turns = fixture.table.turns().iter().enumerate();
            turns.filter_map(|(index, turn)| Some((turn.caller.clone(), fixture.conversation(index, rules)?)))
        });
        let mut tried = Tried { rules, project, own, calls: calls.collect(), distinct: 0 };
        tried.distinct = tried.keys(&[]).len();
        tried
    }

    /// The different keys of the calls with these rules added.
    pub(super) fn keys(&self, extra: &[Rule]) -> BTreeSet<(Option<String>, Hash)> {
        let with = with(self.rules, extra);
        let hash = |conversation: &[Json]| with.conversation_hash(&applied(conversation, extra));
        self.calls.iter().map(|(caller, conversation)| (caller.clone(), hash(conversation))).collect()
    }

    /// The same for one rule after others that were found before. Without the text around a place, it must not change what other
    /// scenarios recorded either.
    pub(super) fn fits(&self, before: &[Rule], rule: &Rule) -> bool {
        let rules: Vec<Rule> = before.iter().chain([rule]).cloned().collect();
        self.keys(&rules).len() == self.distinct && !(rule.alone && self.others().any(|other| changes(&rules, &other)))
    }

    /// Whether a rule changes a text of the calls, all of which were answered without it.
    pub(super) fn changes_calls(&self, rule: &Rule) -> bool {
        let rule = std::slice::from_ref(rule);
        self.calls.iter().any(|(_, conversation)| applied(conversation, rule) != *conversation)
    }

    /// The fixtures of other scenarios whose texts these rules change, so that their keys have to be computed anew. Those of
    /// `retake/2` hold none.
    pub(super) fn changed(&self, rules: &[Rule]) -> BTreeSet<PathBuf> {
        self.others().filter(|other| other.is_old && changes(rules, other)).map(|other| other.path.clone()).collect()
    }

    fn others(&self) -> impl Iterator<Item = Arc<Fixture>> {
        let all = self.project.discovered.sound().filter_map(|scenario| self.project.fixtures.of(scenario).ok()?);
        all.filter(|other| Some(&other.path) != self.own.as_ref())
    }
}

fn changes(rules: &[Rule], fixture: &Fixture) -> bool {
    fixture.is_changed_by(&Rules { normalizer: normalizer(rules), aliases: Aliases::default() })
}

/// The key rules with more rules after them.
pub(super) fn with(rules: &Rules, extra: &[Rule]) -> Rules {
    let more = extra.iter().map(|rule| (rule.regex.clone(), rule.replace.clone()));
    Rules { normalizer: rules.normalizer.clone().with(more), aliases: rules.aliases.clone() }
}

/// Canonical messages as they would be with more rules, applied after all earlier ones.
pub(super) fn applied(conversation: &[Json], extra: &[Rule]) -> Vec<Json> {
    let more = normalizer(extra);
    conversation.iter().filter_map(|message| with_rules(message, &more)).map(Cow::into_owned).collect()
}

/// These rules alone.
pub(super) fn normalizer(rules: &[Rule]) -> Normalizer {
    Normalizer::none().with(rules.iter().map(|rule| (rule.regex.clone(), rule.replace.clone())))
}

/// A fixture with more rules; `None` if it contains only hashes.
pub(super) fn rekeyed(fixture: &Fixture, rules: &Rules, extra: &[Rule]) -> Option<Arc<Fixture>> {
    let whole = fixture.table.turns().iter().all(|turn| turn.input.is_some());
    whole.then(|| Arc::new(fixture.under(&with(rules, extra))))
}
