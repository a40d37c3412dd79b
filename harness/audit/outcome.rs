//! What an audit of a project found, as it is printed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use time::Date;

use super::fixture::{Secret, Shared};
use super::kind::Kind;
use super::recorded::{ByKeys, ByPart};
use super::rules::Merged;
use super::score::{ByKind, Scored, Unnoticed, mean};
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
    pub(crate) unnoticed: usize,
    /// How many changes of these events were tried.
    pub(crate) tried: usize,
    /// Whether most of a collapsed event's dropped ones go unnoticed: what they bring stands nowhere else then.
    pub(crate) too_wide: bool,
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
        let mut all: Vec<Hidden> = Vec::new();
        let mut named: BTreeMap<(&'static str, &str), Vec<&Unnoticed>> = BTreeMap::new();
        for one in &self.scored.unnoticed {
            if let Some(Setting::Without(option, name)) = &one.setting {
                named.entry((option, name)).or_default().push(one);
            }
        }
        for ((option, name), unnoticed) in named {
            let tried = |kinds: &[Kind]| -> usize {
                let of = |one: &&&Unnoticed| kinds.contains(&one.kind);
                let events: BTreeSet<&str> = unnoticed.iter().filter(of).map(|one| one.event.as_str()).collect();
                let tallies = self.scored.events.iter();
                let tallies =
                    tallies.filter(|((event, kind), _)| events.contains(event.as_str()) && kinds.contains(kind));
                tallies.map(|(_, tally)| tally.tried).sum()
            };
            let hidden = |kinds: &[Kind]| -> usize {
                unnoticed.iter().filter(|one| kinds.contains(&one.kind)).map(|one| one.count).sum()
            };
            let dropped = hidden(&[Kind::DropEvent]);
            all.push(Hidden {
                option,
                name: name.to_owned(),
                unnoticed: hidden(&Kind::ALL),
                tried: tried(&Kind::ALL),
                too_wide: option == "collapse" && dropped > 0 && 2 * dropped >= tried(&[Kind::DropEvent]),
            });
        }
        all.sort_by_key(|one| std::cmp::Reverse(one.unnoticed));
        all
    }
}

impl FixtureAudit {
    /// How many days ago it was recorded.
    pub(crate) fn age(&self, today: Date) -> Option<i64> {
        Some((today - self.recorded?).whole_days())
    }
}
