//! The actions of a runner, and how the command hands one over to the runner of a Rust project: in environment variables, since
//! the arguments belong to libtest.

pub use super::filter::{TestOptions, Wanted, fits};
use retake_base::error::{Error, Result};
use retake_core::events::Detail;
use retake_model::Limits;
use serde::{Deserialize, Serialize};

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
const FORK: &str = "fork ";
/// The action that accepts a run of a fork.
const ACCEPT_FORK: &str = "accept-fork";
/// The environment variable that makes a runner start no further scenario after the first failure.
const FAIL_FAST: &str = "RETAKE_FAIL_FAST";
/// The environment variable with the wanted tags, separated by commas.
const TAGS: &str = "RETAKE_TAGS";
/// The environment variable with the part of the scenarios that this job runs.
const SHARD: &str = "RETAKE_SHARD";

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
        if action == TEST {
            return test(Wanted::of_scenarios(Vec::new(), args));
        }
        let names = std::env::var(NAMES).unwrap_or_default();
        let names: Vec<String> = names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        if action == TEST_OF {
            return test(Wanted::of_scenarios(names, args));
        }
        if action == ACCEPT {
            return Ok(Action::Accept(names));
        }
        if let Some(options) = AuditOptions::parse(&action) {
            return Ok(Action::Audit(names, options));
        }
        if action == ACCEPT_FORK {
            return Ok(Action::AcceptFork(names.concat()));
        }
        if let Some(options) = action.strip_prefix(FORK).and_then(|options| serde_json::from_str(options).ok()) {
            return Ok(Action::Fork(names, options));
        }
        if let Some(options) = CheckOptions::parse(&action) {
            return Ok(Action::Check(names, options));
        }
        if let Some(options) = WorldsOptions::parse(&action) {
            return Ok(Action::Worlds(names, options));
        }
        if let Some(options) = RecordOptions::parse(&action) {
            return Ok(Action::Record(names, options));
        }
        Err(Error::new(format!("{ACTION}={action:?}: this runner cannot do that"))
            .help("the `retake` command and the `retake` library differ in version, or a feature is off"))
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
pub fn to_accept(names: &[String]) -> [(&'static str, String); 2] {
    [(ACTION, ACCEPT.to_owned()), (NAMES, names.join(","))]
}

/// The environment variables that make a runner record.
pub fn to_record(names: &[String], options: RecordOptions) -> [(&'static str, String); 2] {
    [(ACTION, options.print()), (NAMES, names.join(","))]
}

/// The environment variables that make a runner check recordings against the provider.
pub fn to_check(names: &[String], options: CheckOptions) -> [(&'static str, String); 2] {
    [(ACTION, options.print()), (NAMES, names.join(","))]
}

/// The environment variables that make a runner audit.
pub fn to_audit(names: &[String], options: AuditOptions) -> [(&'static str, String); 2] {
    [(ACTION, options.print()), (NAMES, names.join(","))]
}

/// The environment variables that make a runner run worlds.
pub fn to_worlds(names: &[String], options: &WorldsOptions) -> [(&'static str, String); 2] {
    [(ACTION, options.print()), (NAMES, names.join(","))]
}

/// Which worlds to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

impl WorldsOptions {
    const NAME: &str = "worlds";

    fn print(&self) -> String {
        let WorldsOptions { turn, world, jobs, json } = self;
        let values = [
            turn.map(|turn| format!(" --turn={turn}")),
            world.as_ref().map(|world| format!(" --world={world}")),
            jobs.map(|jobs| format!(" --jobs={jobs}")),
            json.then(|| " --json".to_owned()),
        ];
        values.into_iter().flatten().fold(Self::NAME.to_owned(), |all, value| all + &value)
    }

    fn parse(action: &str) -> Option<WorldsOptions> {
        let mut words = action.split(' ');
        let mut options = (words.next() == Some(Self::NAME)).then(WorldsOptions::default)?;
        for word in words {
            match word.split_once('=') {
                None if word == "--json" => options.json = true,
                Some(("--turn", turn)) => options.turn = Some(turn.parse().ok()?),
                Some(("--world", world)) => options.world = Some(world.to_owned()),
                Some(("--jobs", jobs)) => options.jobs = Some(jobs.parse().ok()?),
                _ => return None,
            }
        }
        Some(options)
    }
}

/// How to audit scenarios.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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

impl AuditOptions {
    const NAME: &str = "audit";

    /// The action and its options as the text of [`ACTION`].
    fn print(self) -> String {
        let AuditOptions { json, all, min_score, detail } = self;
        let words = [json.then(|| "--json".to_owned()), all.then(|| "--all".to_owned())];
        let values = [min_score.map(|least| format!("--min-score={least}")), detail.map(|it| format!("--detail={it}"))];
        let words = words.into_iter().chain(values).flatten();
        std::iter::once(Self::NAME.to_owned()).chain(words).collect::<Vec<_>>().join(" ")
    }

    fn parse(action: &str) -> Option<AuditOptions> {
        let mut words = action.split(' ');
        let mut options = (words.next() == Some(Self::NAME)).then(AuditOptions::default)?;
        for word in words {
            match word.split_once('=') {
                None if word == "--json" => options.json = true,
                None if word == "--all" => options.all = true,
                Some(("--min-score", least)) => options.min_score = Some(least.parse().ok()?),
                Some(("--detail", detail)) => options.detail = Some(detail.parse().ok()?),
                _ => return None,
            }
        }
        Some(options)
    }
}

/// The environment variables that make a runner fork.
pub fn to_fork(name: &str, options: &ForkOptions) -> [(&'static str, String); 2] {
    let options = serde_json::to_string(options).unwrap_or_default();
    [(ACTION, [FORK, &options].concat()), (NAMES, name.to_owned())]
}

/// The environment variables that make a runner accept a run of a fork.
pub fn to_accept_fork(id: &str) -> [(&'static str, String); 2] {
    [(ACTION, ACCEPT_FORK.to_owned()), (NAMES, id.to_owned())]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

impl CheckOptions {
    const NAME: &str = "check";

    /// The action and its options as the text of [`ACTION`].
    fn print(self) -> String {
        let CheckOptions { all, json, sample, limits } = self;
        let words = [all.then(|| "--all".to_owned()), json.then(|| "--json".to_owned())];
        let values = [
            sample.map(|most| format!("--sample={most}")),
            limits.calls.map(|most| format!("--max-calls={most}")),
            limits.tokens.map(|most| format!("--max-tokens={most}")),
        ];
        let words = words.into_iter().chain(values).flatten();
        std::iter::once(Self::NAME.to_owned()).chain(words).collect::<Vec<_>>().join(" ")
    }

    fn parse(action: &str) -> Option<CheckOptions> {
        let mut words = action.split(' ');
        let mut options = (words.next() == Some(Self::NAME)).then(CheckOptions::default)?;
        for word in words {
            match word.split_once('=') {
                None if word == "--all" => options.all = true,
                None if word == "--json" => options.json = true,
                Some(("--sample", most)) => options.sample = Some(most.parse().ok()?),
                Some(("--max-calls", most)) => options.limits.calls = Some(most.parse().ok()?),
                Some(("--max-tokens", most)) => options.limits.tokens = Some(most.parse().ok()?),
                _ => return None,
            }
        }
        Some(options)
    }
}

/// How to record scenarios.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

impl RecordOptions {
    const WORDS: [&str; 4] = ["--resume", "--accept-unstable", "--all", "--propose"];

    /// The action and its options as the text of [`ACTION`]. A runner that does not know an option refuses the whole action.
    fn print(self) -> String {
        let set = [self.resume, self.accept_unstable, self.all, self.propose];
        let words = Self::WORDS.into_iter().zip(set).filter(|(_, set)| *set).map(|(word, _)| word);
        std::iter::once("record").chain(words).collect::<Vec<_>>().join(" ")
    }

    fn parse(action: &str) -> Option<RecordOptions> {
        let mut words = action.split(' ');
        let mut options = (words.next() == Some("record")).then(RecordOptions::default)?;
        for word in words {
            match Self::WORDS.iter().position(|known| *known == word)? {
                0 => options.resume = true,
                1 => options.accept_unstable = true,
                2 => options.all = true,
                _ => options.propose = true,
            }
        }
        Some(options)
    }
}
