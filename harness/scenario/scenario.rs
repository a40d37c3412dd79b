//! One scenario, or one of its cases: how to drive the system, and what to look at.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use super::options::{Delays, Drift, Panics, Unused};
use super::step::{Action, Step};
use super::template::{Context, OfFixture, Vars};
use crate::error::{Error, Place, Result};
use crate::events::ShapeOptions;

/// One trial: how to drive the system, and what to look at.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The trial's name: the folder's, or `folder.case`.
    pub name: String,
    /// The folder, relative to the root.
    pub dir: PathBuf,
    /// The `scenario.toml`, relative to the root.
    pub file: PathBuf,
    /// What it shows, in the words of its author.
    pub description: String,
    /// The system; [`check_systems`](super::Discovered::check_systems) fills in the only one of a suite.
    pub system: Option<String>,
    /// Whose turns it replays.
    pub fixture: FixtureRef,
    /// The name of its golden.
    pub golden_name: String,
    /// How long it may take.
    pub timeout: Duration,
    /// How long no call may have come before the verdict.
    pub settle: Duration,
    /// How long its stage stays when it has settled, for calls that come late.
    pub linger: Duration,
    /// What a panic of its router is.
    pub panics: Panics,
    /// Which turns may stay unserved.
    pub unused: Unused,
    /// What drift weighs.
    pub drift: Drift,
    /// Whether recorded pauses are replayed.
    pub delays: Delays,
    /// Environment variables whose values never reach a file.
    pub secrets: Vec<String>,
    /// Those whose values its templates take as `{{ secret.NAME }}`.
    pub used_secrets: BTreeSet<String>,
    /// Whether a provider's error becomes a turn when it is recorded.
    pub record_errors: bool,
    /// How long it may take while it is recorded, where that is another time.
    pub record_timeout: Option<Duration>,
    /// Values of its own, for its templates.
    pub vars: Vars,
    /// Where its agent's tool servers answer from.
    pub tools_from: ToolsFrom,
    /// The recorded calls of tools that it executes again; it has no steps then.
    pub tools: Option<ToolsRun>,
    /// What it does, in order; at least one step, or none where it executes recorded calls of tools.
    pub steps: Vec<Step>,
    /// What its golden holds.
    pub golden: ShapeOptions,
    /// The tool servers that its templates name.
    pub(super) used_tools: BTreeSet<String>,
    /// What its templates take of the fixture.
    pub(super) of_fixture: Vec<OfFixture>,
    /// Where `system` stands.
    pub(super) system_place: Option<Place>,
}

/// Recorded calls of tools, to be executed again (`kind = "tools"`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolsRun {
    /// The folder of a conversation, relative to the root; the fixture's own conversations where absent.
    pub recording: Option<PathBuf>,
    /// Which conversation of the folder.
    pub conversation: Option<String>,
    /// What becomes of actions that did not run when they were recorded.
    pub unobserved: Unobserved,
}

/// Where tool servers answer from, in a scenario that drives a system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolsFrom {
    /// From the fixture: doubles.
    #[default]
    Recorded,
    /// From the real ones; what differs from the fixture is noted.
    Live,
}

/// What becomes of actions that were rejected, or recorded without an observation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unobserved {
    /// They are listed.
    #[default]
    Skip,
    /// They are executed.
    Execute,
}

/// Whose turns a scenario replays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FixtureRef {
    /// Nobody's: no model is called.
    None,
    /// Those of the fixture of that name.
    Named(String),
}

/// A scenario that cannot run, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The trial's name; of a stray file the file's.
    pub name: String,
    /// What is wrong.
    pub error: Error,
}

impl Scenario {
    /// Whether any step needs a system: only commands do without.
    pub(crate) fn needs_system(&self) -> bool {
        self.steps.iter().any(Step::needs_system)
    }

    /// The systems that steps with pages name.
    pub(crate) fn systems_of_pages(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().filter_map(|step| match &step.action {
            Action::Browse(visit) => visit.system.as_deref(),
            _ => None,
        })
    }

    /// Whether any step opens a page.
    pub(crate) fn needs_browser(&self) -> bool {
        self.steps.iter().any(Step::needs_browser)
    }

    /// The name of its case, where it is one of a folder's cases.
    #[cfg(feature = "record")]
    pub(crate) fn case(&self) -> Option<&str> {
        self.name.strip_prefix(self.dir.file_name()?.to_str()?)?.strip_prefix('.')
    }

    /// The context with the scenario's vars in it.
    ///
    /// # Errors
    /// As [`Vars::resolve`], and where a template takes what the fixture has not.
    pub fn resolve_vars(&self, context: &Context) -> Result<Context> {
        self.of_fixture.iter().try_for_each(|value| value.check(context))?;
        self.vars.resolve(context)
    }
}
