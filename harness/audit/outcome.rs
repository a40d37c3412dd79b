//! The results of an audit, ready to be printed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use time::Date;

use super::fixture::{Secret, Shared};
use super::kind::Kind;
use super::recorded::{ByKeys, ByPart};
use super::rules::Merged;
use super::score::Setting;
use super::score::{ByKind, Scored, Unnoticed, mean};
use retake_core::events::Detail;

/// The audit of a project, or of some of its scenarios.
#[derive(Clone, Debug)]
pub struct Audit {
    /// The scenarios, sorted by name.
    pub scenarios: Vec<ScenarioAudit>,
    /// The fixtures of these scenarios, each of them once.
    pub fixtures: Vec<FixtureAudit>,
    /// The suite's `[[normalize]]` rules, in order.
    pub rules: Vec<RuleAudit>,
    /// Whether every scenario of the project was replayed. Only then can a rule be called dead.
    pub whole: bool,
    /// The day of the audit, from which ages count.
    pub today: Date,
}

/// The audit of one scenario.
#[derive(Clone, Debug)]
pub struct ScenarioAudit {
    /// The scenario's name, with that of its case.
    pub name: String,
    /// The path of its fixture, relative to the project; `None` if it replays none.
    pub fixture: Option<PathBuf>,
    /// What came of it.
    pub outcome: Outcome,
}

/// The outcome of auditing a scenario.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The scenario was replayed, and changes were tried.
    Audited(Box<Audited>),
    /// The scenario cannot be audited on this machine, for this reason. That is not a failure.
    Left(String),
    /// The scenario is red, with this message. What its golden would notice is not known.
    Red(String),
}

/// What the audit of a scenario found.
#[derive(Clone, Debug)]
pub struct Audited {
    /// The detail of the scenario's golden.
    pub detail: Detail,
    /// Which changes the golden notices.
    pub scored: Scored,
    /// The turns whose words the golden does not hold, with what they say.
    pub held_nowhere: Vec<(usize, String)>,
    /// Which changes of recorded answers the keys notice; `None` if there is no fixture or it keeps no conversations.
    pub answers: Option<ByPart>,
    /// Which changes of tool results the keys notice.
    pub results: ByKeys,
    /// How prompts, tools and models differ from the recording, one line for each difference.
    pub drift: Vec<String>,
    /// The rules that make different calls of this scenario equal.
    pub merged: Vec<Merged>,
}

/// What a fixture shows by itself.
#[derive(Clone, Debug)]
pub struct FixtureAudit {
    /// The file's path, relative to the project.
    pub file: PathBuf,
    /// The day of its last answer, or of its last commit.
    pub recorded: Option<Date>,
    /// What looks like a secret in it.
    pub secrets: Vec<Secret>,
    /// The turns that do not keep the provider's original response.
    pub without_response: Vec<usize>,
    /// How many turns it has.
    pub turns: usize,
    /// The turns that cannot be told apart by their conversation.
    pub shared: Vec<Shared>,
}

/// The audit of one `[[normalize]]` rule of the suite.
#[derive(Clone, Debug)]
pub struct RuleAudit {
    /// Its regular expression.
    pub pattern: String,
    /// What stands in the place of what it finds.
    pub replace: String,
    /// Whether the rule changed a text in any replay.
    pub fired: bool,
}

/// An option of a golden that leaves changes unnoticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// The option: `collapse`, `ignore`, `unordered` or `loose`.
    pub option: &'static str,
    /// What it names: an event, or a place in one.
    pub name: String,
    /// How many changes go unnoticed because of it.
    pub unnoticed: usize,
    /// How many changes of these events were tried.
    pub tried: usize,
    /// Whether at least half of the collapsed events can be dropped unnoticed: then nothing else in the golden shows what they
    /// carry.
    pub too_wide: bool,
}

impl Audit {
    /// Adds up the tallies of all scenarios.
    pub fn kinds(&self) -> ByKind {
        let mut kinds = ByKind::new();
        for (kind, tally) in self.audited().flat_map(|(_, audited)| &audited.scored.kinds) {
            let all = kinds.entry(*kind).or_default();
            all.tried += tally.tried;
            all.noticed += tally.noticed;
        }
        kinds
    }

    /// The score of all scenarios together, or `None` if no golden was tried.
    pub fn score(&self) -> Option<f64> {
        mean(&self.kinds())
    }

    /// The scenarios that were audited, each with what was found.
    pub fn audited(&self) -> impl Iterator<Item = (&ScenarioAudit, &Audited)> {
        self.scenarios.iter().filter_map(|scenario| match &scenario.outcome {
            Outcome::Audited(audited) => Some((scenario, audited.as_ref())),
            Outcome::Left(_) | Outcome::Red(_) => None,
        })
    }

    /// Whether one of its scenarios is red.
    pub fn is_red(&self) -> bool {
        self.scenarios.iter().any(|scenario| matches!(scenario.outcome, Outcome::Red(_)))
    }

    /// Adds up the changes of recorded answers and tool results over all scenarios.
    pub fn by_part(&self) -> BTreeMap<super::Part, ByKeys> {
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
    /// The options of the golden that hide changes, those that hide most first.
    pub fn hidden(&self) -> Vec<Hidden> {
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
    /// How many days ago the fixture was recorded, or `None` if that is not known.
    pub fn age(&self, today: Date) -> Option<i64> {
        Some((today - self.recorded?).whole_days())
    }
}
