//! Whether replays agree, and on what.

use crate::report::Failure;
use crate::run::project::Project;
use crate::run::trial::Replayed;
use crate::run::verdict::{self, Sides};
use retake_core::events::Golden;
use retake_core::key::Varying;
use retake_engine::tools::CallOfTool;
use retake_scenario::Scenario;
use retake_wire::fixture::Lack;

/// The number of replays of a proof.
pub(super) const TWO: usize = 2;
/// The same if tool calls were made at once, and only chance decides in which order their events come. If each of two orders comes
/// half of the time, two replays miss one of them every other time, five once in sixteen times.
pub(super) const FIVE: usize = 5;

/// A request to a tool with days, and whether these stay.
pub(super) type Dated = (CallOfTool, bool);
/// A header or an id that a request to a tool may lack.
pub(super) type Lacking = (CallOfTool, Lack);

/// Replays that agree.
pub(crate) struct Agreed {
    /// The golden; `None` if the scenario has none.
    pub(crate) golden: Option<Golden>,
    /// The first replay.
    pub(crate) run: Box<Replayed>,
    /// What a committed golden of an older format holds.
    pub(super) older: Option<Sides>,
    pub(super) replays: usize,
    /// What of the settings, and of what is sent beside the calls, differs between replays.
    pub(crate) varying: Vec<Varying>,
    /// The requests to tools whose days stay under another clock, or move with it.
    pub(crate) dates_stay: Vec<Dated>,
    /// The headers of requests to tools that not all replays send.
    pub(crate) lacking: Vec<Lacking>,
}

impl Agreed {
    /// Compares the golden with the committed one, and writes it if the policy says so.
    /// Fails if it differs, or cannot be written.
    pub(crate) fn compared(&self, project: &Project, scenario: &Scenario) -> Result<(), Failure> {
        let compare = |it| verdict::compare(project, scenario, it, self.older.as_ref(), self.run.clock.recorded);
        self.golden.as_ref().map_or(Ok(()), compare)
    }

    /// The result of the proof, as it is printed.
    pub(crate) fn in_words(&self) -> String {
        format!("{} replays agree", number(self.replays))
    }
}

pub(super) fn number(replays: usize) -> &'static str {
    if replays >= FIVE { "five" } else { "two" }
}

/// Why replays are not a proof.
pub(super) enum Disagreement {
    Failed {
        replayed: Box<Replayed>,
        failure: Failure,
        first: bool,
    },
    /// All passed, but with different goldens: those of the first replay and of one that differs from it.
    Differ {
        runs: Vec<Replayed>,
        goldens: Box<[Golden; 2]>,
    },
    /// A replay could not start.
    NoStage(Failure),
}

impl Disagreement {
    /// Whether the system itself fails, or does not get as far, and asks nothing else than before.
    pub(super) fn is_of_system(&self) -> bool {
        match self {
            Disagreement::Failed { replayed, .. } => {
                let asks_less = !replayed.log.unused.is_empty();
                replayed.misses.is_empty() && (asks_less || replayed.played.driven.failure.is_some())
            }
            Disagreement::NoStage(_) => true,
            Disagreement::Differ { .. } => false,
        }
    }

    pub(super) fn headline(&self) -> String {
        match self {
            Disagreement::Failed { failure, .. } | Disagreement::NoStage(failure) => failure.headline(),
            Disagreement::Differ { .. } => String::new(),
        }
    }
}
