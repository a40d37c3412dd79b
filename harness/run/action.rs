//! The actions of a runner, and how the command hands one over to the runner of a Rust project: in an environment variable, since
//! the arguments belong to libtest.

pub use super::filter::{TestOptions, Wanted, fits};
use retake_base::error::{Error, Result};
use retake_core::events::Detail;
use retake_model::Limits;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The environment variable that contains the action.
const VARIABLE: &str = "RETAKE_ACTION";
/// A command and a library know the same actions if these numbers are equal.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"));

/// What a runner does with a project. Scenarios are given by their names or parts of them; an empty list stands for all.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Tests scenarios.
    Test(Wanted),
    /// Audits scenarios.
    Audit(Vec<String>, AuditOptions),
    /// Runs the worlds of scenarios.
    Worlds(Vec<String>, WorldsOptions),
    /// Accepts what waits for scenarios with these names.
    Accept(Vec<String>),
    /// Compares the recordings of scenarios with the provider of today.
    Check(Vec<String>, CheckOptions),
    /// Runs a scenario on its recording up to a turn, and then with the provider.
    Fork(Vec<String>, ForkOptions),
    /// Makes the run of a fork with this id the recording.
    AcceptFork(String),
    /// Records scenarios.
    Record(Vec<String>, RecordOptions),
}

/// An action on its way to the runner.
#[derive(Serialize, Deserialize)]
struct HandedOver<A> {
    version: String,
    action: A,
}

impl Action {
    /// The environment variable that makes a runner carry out this action.
    pub fn variable(&self) -> (&'static str, String) {
        let handed_over = HandedOver { version: VERSION.to_owned(), action: self };
        (VARIABLE, serde_json::to_string(&handed_over).unwrap_or_default())
    }

    /// The action that the command handed over in the environment, otherwise a test with these arguments.
    /// Fails if the command is of another version.
    pub(super) fn asked_for(args: Vec<String>) -> Result<Action> {
        let Ok(text) = std::env::var(VARIABLE) else {
            return Ok(Action::Test(Wanted::of_crate(args).with(TestOptions::default().or_of_environment()?)));
        };
        let unknown = |_| {
            Error::new(format!("{VARIABLE}={text:?}: this runner cannot do that"))
                .help("the `retake` command and the `retake` library differ in version")
        };
        let HandedOver { version, action } = serde_json::from_str::<HandedOver<Value>>(&text).map_err(unknown)?;
        if version != VERSION {
            let differs = format!("the `retake` command is of version {version}, and this runner of {VERSION}");
            let help = format!("in Cargo.toml, below [dev-dependencies]: retake = \"{version}\"");
            return Err(Error::new(differs).help(help));
        }
        let mut action = serde_json::from_value(action).map_err(unknown)?;
        if let Action::Test(wanted) = &mut action {
            wanted.args = args;
        }
        Ok(action)
    }

    /// Whether the action writes fixtures.
    pub(super) fn records(&self) -> bool {
        matches!(self, Action::Record(..) | Action::AcceptFork(_))
    }

    /// Whether the action writes no goldens and no fixtures.
    pub(super) fn only_reads(&self) -> bool {
        matches!(self, Action::Audit(..) | Action::Check(..) | Action::Fork(..) | Action::Worlds(..))
    }

    /// Whether systems get the real values of secrets, and a signal ends the action in an orderly way.
    pub(super) fn is_live(&self) -> bool {
        self.records() || matches!(self, Action::Fork(..))
    }
}

/// Which worlds to run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorldsOptions {
    /// The only turn, counted from 1.
    pub turn: Option<usize>,
    /// The only side that fails.
    pub side: Option<String>,
    /// The only fault or family of faults.
    pub world: Option<String>,
    /// How many worlds to run at the same time.
    pub jobs: Option<usize>,
    /// Whether to print JSON.
    pub json: bool,
}

/// How to audit scenarios.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// Whether tool servers answer as the fixture that is there has it, instead of being asked.
    #[serde(default)]
    pub recorded_tools: bool,
}
