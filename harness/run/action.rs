//! The actions of a runner, and how the command hands one over to the runner of a Rust project: in environment variables, since
//! the arguments belong to libtest.

pub use super::filter::{TestOptions, Wanted, fits};
use retake_base::error::{Error, Result};
use retake_core::events::Detail;
use retake_model::Limits;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The environment variable that contains the action.
const ACTION: &str = "RETAKE_ACTION";
/// The environment variable that contains the names of the action's scenarios, separated by commas.
const NAMES: &str = "RETAKE_ACTION_NAMES";
/// The action that tests. The runner's arguments are meant for scenarios only, not for every test program of a crate.
const TEST: &str = "test";
/// The action that tests the scenarios that match the filters in [`NAMES`].
const TEST_OF: &str = "test-of";
/// The action that accepts goldens and fixtures that wait for a decision.
const ACCEPT: &str = "accept";
/// The action that forks, before its options as JSON.
const FORK: &str = "fork";
/// The action that accepts a run of a fork.
const ACCEPT_FORK: &str = "accept-fork";
const AUDIT: &str = "audit";
const CHECK: &str = "check";
const WORLDS: &str = "worlds";
const RECORD: &str = "record";
/// The environment variable that makes a runner start no further scenario after the first failure.
const FAIL_FAST: &str = "RETAKE_FAIL_FAST";
/// The environment variable with the wanted tags, separated by commas.
const TAGS: &str = "RETAKE_TAGS";
/// The environment variable with the part of the scenarios that this job runs.
const SHARD: &str = "RETAKE_SHARD";

/// An action, and the names of its scenarios.
type Variables = [(&'static str, String); 2];

/// What a runner does with a project.
#[derive(Debug)]
pub enum Action {
    /// Tests the scenarios.
    Test(Wanted),
    /// Audits the scenarios with these names or parts of names, or all if the list is empty.
    Audit(Vec<String>, AuditOptions),
    /// Runs the worlds of the scenarios with these names or parts of names, or of all if the list is empty.
    Worlds(Vec<String>, WorldsOptions),
    /// Accepts what waits for the scenarios with these names, or everything if the list is empty.
    Accept(Vec<String>),
    /// Compares the recordings of the scenarios with these names or parts of names with the provider of today.
    Check(Vec<String>, CheckOptions),
    /// Runs a scenario on its recording up to a turn, and then with the provider.
    Fork(Vec<String>, ForkOptions),
    /// Makes the run of a fork with this id the recording.
    AcceptFork(String),
    /// Records the scenarios with these names or parts of names.
    Record(Vec<String>, RecordOptions),
}

impl Action {
    /// The action that the command handed over in the environment, otherwise a test with these arguments.
    /// Fails if this runner does not know the action.
    pub(super) fn asked_for(args: Vec<String>) -> Result<Action> {
        let set = |name: &str| std::env::var(name).ok().filter(|set| !set.is_empty());
        let options = TestOptions {
            fail_fast: set(FAIL_FAST).is_some_and(|set| set != "0"),
            tags: set(TAGS).iter().flat_map(|tags| tags.split(',')).map(str::to_owned).collect(),
            shard: set(SHARD).map(|shard| shard.parse()).transpose()?,
        };
        let test = |wanted: Wanted| Ok(Action::Test(wanted.with(options.clone())));
        let Ok(action) = std::env::var(ACTION) else { return test(Wanted::of_crate(args)) };
        let names = std::env::var(NAMES).unwrap_or_default();
        let names: Vec<String> = names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let (what, words) = action.split_once(' ').unwrap_or((&action, ""));
        let known = match what {
            TEST if words.is_empty() => return test(Wanted::of_scenarios(Vec::new(), args)),
            TEST_OF if words.is_empty() => return test(Wanted::of_scenarios(names, args)),
            ACCEPT if words.is_empty() => Some(Action::Accept(names)),
            ACCEPT_FORK if words.is_empty() => Some(Action::AcceptFork(names.concat())),
            FORK => serde_json::from_str(words).ok().map(|options| Action::Fork(names, options)),
            AUDIT => options_in(words).map(|options| Action::Audit(names, options)),
            CHECK => options_in(words).map(|options| Action::Check(names, options)),
            WORLDS => options_in(words).map(|options| Action::Worlds(names, options)),
            RECORD => options_in(words).map(|options| Action::Record(names, options)),
            _ => None,
        };
        known.ok_or_else(|| {
            Error::new(format!("{ACTION}={action:?}: this runner cannot do that"))
                .help("the `retake` command and the `retake` library differ in version, or a feature is off")
        })
    }

    /// Whether the action writes fixtures.
    pub(super) fn records(&self) -> bool {
        !matches!(
            self,
            Action::Test(_)
                | Action::Accept(_)
                | Action::Audit(..)
                | Action::Check(..)
                | Action::Fork(..)
                | Action::Worlds(..)
        )
    }

    /// Whether the action writes no goldens and no fixtures.
    pub(super) fn only_reads(&self) -> bool {
        matches!(self, Action::Audit(..) | Action::Check(..) | Action::Fork(..) | Action::Worlds(..))
    }

    /// Whether systems get the real values of secrets, and a signal ends the action in an orderly way.
    pub(super) fn is_live(&self) -> bool {
        self.records() || matches!(self, Action::Fork(..))
    }

    /// Whether the action writes goldens even if no update was asked for.
    pub(super) fn accepts(&self) -> bool {
        matches!(self, Action::Accept(_))
    }
}

/// The environment variables that make a runner test the scenarios that match the filters, and how.
pub fn to_test(filters: &[String], options: &TestOptions) -> Vec<(&'static str, String)> {
    let mut variables = match filters {
        [] => vec![(ACTION, TEST.to_owned())],
        filters => vec![(ACTION, TEST_OF.to_owned()), (NAMES, filters.join(","))],
    };
    variables.extend(options.fail_fast.then(|| (FAIL_FAST, "1".to_owned())));
    variables.extend((!options.tags.is_empty()).then(|| (TAGS, options.tags.join(","))));
    variables.extend(options.shard.map(|shard| (SHARD, shard.to_string())));
    variables
}

/// The environment variables that make a runner accept what waits.
pub fn to_accept(names: &[String]) -> Variables {
    [(ACTION, ACCEPT.to_owned()), (NAMES, names.join(","))]
}

/// The environment variables that make a runner record.
pub fn to_record(names: &[String], options: RecordOptions) -> Variables {
    with_options(RECORD, names, &options)
}

/// The environment variables that make a runner check recordings against the provider.
pub fn to_check(names: &[String], options: CheckOptions) -> Variables {
    with_options(CHECK, names, &options)
}

/// The environment variables that make a runner audit.
pub fn to_audit(names: &[String], options: AuditOptions) -> Variables {
    with_options(AUDIT, names, &options)
}

/// The environment variables that make a runner run worlds.
pub fn to_worlds(names: &[String], options: &WorldsOptions) -> Variables {
    with_options(WORLDS, names, options)
}

/// The environment variables that make a runner fork.
pub fn to_fork(name: &str, options: &ForkOptions) -> Variables {
    let options = serde_json::to_string(options).unwrap_or_default();
    [(ACTION, format!("{FORK} {options}")), (NAMES, name.to_owned())]
}

/// The environment variables that make a runner accept a run of a fork.
pub fn to_accept_fork(id: &str) -> Variables {
    [(ACTION, ACCEPT_FORK.to_owned()), (NAMES, id.to_owned())]
}

/// An action and its options as on a command line, `audit --all --min-score=0.9`, with the options' values as JSON.
fn with_options(action: &str, names: &[String], options: &impl Serialize) -> Variables {
    let options = serde_json::to_value(options).unwrap_or_default();
    let word = |(name, value): (&String, &Value)| match value {
        Value::Null | Value::Bool(false) => None,
        Value::Bool(true) => Some(format!("--{name}")),
        value => Some(format!("--{name}={value}")),
    };
    let words = options.as_object().into_iter().flatten().filter_map(word);
    let text = std::iter::once(action.to_owned()).chain(words).collect::<Vec<_>>().join(" ");
    [(ACTION, text), (NAMES, names.join(","))]
}

/// Reads such options; a word without quotes is a text, too. A runner that does not know an option refuses the whole action.
fn options_in<T: DeserializeOwned>(words: &str) -> Option<T> {
    let option = |word: &str| {
        let word = word.strip_prefix("--")?;
        let (name, value) = word.split_once('=').unwrap_or((word, "true"));
        Some((name.to_owned(), serde_json::from_str(value).unwrap_or_else(|_| Value::from(value))))
    };
    let options = words.split(' ').filter(|word| !word.is_empty()).map(option).collect::<Option<_>>()?;
    serde_json::from_value(Value::Object(options)).ok()
}

/// Which worlds to run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct WorldsOptions {
    /// The only turn, counted from 1.
    pub turn: Option<usize>,
    /// The only fault or family of faults.
    pub world: Option<String>,
    /// How many worlds to run at the same time.
    pub jobs: Option<usize>,
    /// Whether to print JSON.
    pub json: bool,
}

/// How to audit scenarios.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct AuditOptions {
    /// Whether to print JSON.
    pub json: bool,
    /// Whether to list every unnoticed change, not only the first ones.
    pub all: bool,
    /// The lowest score that passes, from 0 to 1.
    pub min_score: Option<f64>,
    /// The detail to assume for every golden, instead of its scenario's.
    pub detail: Option<Detail>,
}

/// How to fork a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkOptions {
    /// The turn before which the fork branches off: its number, or a caller with its own count.
    pub from: String,
    /// The models to ask instead, each for a caller or for all.
    pub models: Vec<(Option<String>, String)>,
    /// The system prompts to send instead, each for a caller or for all.
    pub prompts: Vec<(Option<String>, String)>,
    /// The fields of requests to set, each with its value as JSON or text.
    pub settings: Vec<(String, String)>,
    /// How many runs to make.
    pub times: usize,
    /// Whether to print JSON.
    pub json: bool,
}

/// How to check recordings against the provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct CheckOptions {
    /// Whether to check every scenario that has a recording of its own.
    pub all: bool,
    /// Whether to print JSON.
    pub json: bool,
    /// For how many scenarios of each API and model to ask; all of them if this is `None`.
    pub sample: Option<usize>,
    /// How much may be asked.
    pub limits: Limits,
}

/// How to record scenarios.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct RecordOptions {
    /// Whether to record every scenario that has a recording of its own.
    pub all: bool,
    /// Whether to answer calls that match a recorded call from the recording.
    pub resume: bool,
    /// Whether to write a recording that fails its proof, with a mark.
    pub accept_unstable: bool,
    /// Whether to write the recording next to the committed files, for a decision, instead of over them.
    pub propose: bool,
}
