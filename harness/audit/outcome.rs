//! What an audit of a project found, as it is printed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use time::Date;

use super::fixture::{Secret, Shared};
use super::recorded::{ByKeys, ByPart};
use super::rules::Merged;
use super::score::{ByKind, Scored, mean};
use super::settings::Setting;
use crate::events::Detail;

/// The audit of a project, or of some of its scenarios.
#[derive(Clone, Debug)]
pub(crate) struct Audit {
    /// In the order of their names.
    pub(crate) scenarios: Vec<ScenarioAudit>,
    /// Their fixtures, each once.
    pub(crate) fixtures: Vec<FixtureAudit>,
    /// The suite's `[[normalize]]` rules, in order.
    pub(crate) rules: Vec<RuleAudit>,
    /// Whether each scenario of the project was replayed: only then a rule can be called dead.
    pub(crate) whole: bool,
    /// The day of the audit.
    pub(crate) today: Date,
}

/// One scenario.
#[derive(Clone, Debug)]
pub(crate) struct ScenarioAudit {
    pub(crate) name: String,
    pub(crate) fixture: Option<PathBuf>,
    pub(crate) outcome: Outcome,
}

/// What came of auditing a scenario.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// It was replayed, and changes were tried.
    Audited(Box<Audited>),
    /// It cannot be audited here, which is nobody's fault.
    Left(String),
    /// It is red: what it would hold is not known.
    Red(String),
}

/// What was found of a scenario.
#[derive(Clone, Debug)]
pub(crate) struct Audited {
    /// How much its golden was taken to hold.
    pub(crate) detail: Detail,
    /// What its golden notices.
    pub(crate) scored: Scored,
    /// What keys notice of recorded answers; `None` where the fixture keeps no conversations, or there is none.
    pub(crate) answers: Option<ByPart>,
    /// What keys notice of tool results.
    pub(crate) results: ByKeys,
    /// What of prompt, tools and model is not as it was recorded: a line each.
    pub(crate) drift: Vec<String>,
    /// The rules that make calls of it equal.
    pub(crate) merged: Vec<Merged>,
}

/// One fixture.
#[derive(Clone, Debug)]
pub(crate) struct FixtureAudit {
    /// From the project's folder.
    pub(crate) file: PathBuf,
    /// The day of its last answer, or of its last commit.
    pub(crate) recorded: Option<Date>,
    pub(crate) secrets: Vec<Secret>,
    /// The turns whose response is not there as it came, and how many turns there are.
    pub(crate) without_response: Vec<usize>,
    pub(crate) turns: usize,
    pub(crate) shared: Vec<Shared>,
}

/// One rule of the suite.
#[derive(Clone, Debug)]
pub(crate) struct RuleAudit {
    pub(crate) pattern: String,
    pub(crate) replace: String,
    /// Whether it changed a text in any replay.
    pub(crate) fired: bool,
}

/// An option of a golden that leaves changes unnoticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hidden {
    /// `collapse`, `ignore`, `unordered`.
    pub(crate) option: &'static str,
    /// The name in it.
    pub(crate) name: String,
    /// How many changes go unnoticed by it.
    pub(crate) hidden: usize,
    /// How many changes of these events were tried.
    pub(crate) tried: usize,
}

impl Audit {
    /// The tallies of all scenarios together.
    pub(crate) fn kinds(&self) -> ByKind {
        let mut kinds = ByKind::new();
        for (kind, tally) in self.audited().flat_map(|(_, audited)| &audited.scored.kinds) {
            let all = kinds.entry(*kind).or_default();
            all.tried += tally.tried;
            all.noticed += tally.noticed;
        }
        kinds
    }

    /// The score of all scenarios together; `None` where no golden was tried.
    pub(crate) fn score(&self) -> Option<f64> {
        mean(&self.kinds())
    }

    /// The scenarios that were audited.
    pub(crate) fn audited(&self) -> impl Iterator<Item = (&ScenarioAudit, &Audited)> {
        self.scenarios.iter().filter_map(|scenario| match &scenario.outcome {
            Outcome::Audited(audited) => Some((scenario, audited.as_ref())),
            Outcome::Left(_) | Outcome::Red(_) => None,
        })
    }

    /// Whether a scenario is red.
    pub(crate) fn is_red(&self) -> bool {
        self.scenarios.iter().any(|scenario| matches!(scenario.outcome, Outcome::Red(_)))
    }

    /// Changes of recorded answers and tool results, of all scenarios.
    pub(crate) fn by_part(&self) -> BTreeMap<super::Part, ByKeys> {
        let mut parts = ByPart::new();
        for (_, audited) in self.audited() {
            let answers = audited.answers.iter().flatten().map(|(part, tally)| (*part, tally));
            for (part, tally) in answers.chain([(super::Part::ToolResult, &audited.results)]) {
                parts.entry(part).or_default().add_all(tally);
            }
        }
        parts.retain(|_, tally| tally.tried + tally.last > 0);
        parts
    }
}

impl Audited {
    /// What the options of the golden hide, the most first.
    pub(crate) fn hidden(&self) -> Vec<Hidden> {
        let mut found: BTreeMap<(&'static str, &str), (usize, BTreeMap<&str, usize>)> = BTreeMap::new();
        for one in &self.scored.unnoticed {
            let Some(Setting::Without(option, name)) = &one.setting else { continue };
            let (hidden, events) = found.entry((option, name)).or_default();
            *hidden += one.count;
            events.insert(&one.event, self.scored.events.get(&one.event).map_or(0, |tally| tally.tried));
        }
        let hidden = |((option, name), (hidden, events)): ((_, &str), (usize, BTreeMap<&str, usize>))| Hidden {
            option,
            name: name.to_owned(),
            hidden,
            tried: events.values().sum(),
        };
        let mut all: Vec<Hidden> = found.into_iter().map(hidden).collect();
        all.sort_by_key(|one| std::cmp::Reverse(one.hidden));
        all
    }
}

impl FixtureAudit {
    /// How many days ago it was recorded.
    pub(crate) fn age(&self, today: Date) -> Option<i64> {
        Some((today - self.recorded?).whole_days())
    }
}
