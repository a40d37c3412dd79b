//! One scenario, or one of its cases: how to drive the system, and what to check.

use std::path::PathBuf;
use std::time::Duration;

use super::options::Defaults;
use super::step::{Action, Step};
use super::template::{Context, Used, Vars};
use retake_base::error::{Error, Place, Result};
use retake_core::events::ShapeOptions;

/// One trial: how to drive the system, and what to check.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The trial's name: the folder's, or `folder.case`.
    pub name: String,
    /// The folder, relative to the root.
    pub dir: PathBuf,
    /// The `scenario.toml`, relative to the root.
    pub file: PathBuf,
    /// What the scenario is meant to show, in the words of its author.
    pub description: String,
    /// The system. [`check_systems`](super::Discovered::check_systems) fills it in where the scenario names none.
    pub system: Option<String>,
    /// The fixture whose turns it replays.
    pub fixture: FixtureRef,
    pub golden_name: String,
    /// Why it does not run.
    pub skip: Option<String>,
    /// The words by which it can be chosen.
    pub tags: Vec<String>,
    /// What it or its suite sets: its time limits, what differences count, and the like.
    pub options: Defaults,
    /// What its templates use.
    pub used: Used,
    /// Whether an error response of the provider becomes a turn while recording.
    pub record_errors: bool,
    /// How long it may take while it is recorded, if that differs from `options.timeout`.
    pub record_timeout: Option<Duration>,
    /// The scenario's own values for its templates.
    pub vars: Vars,
    /// Where the answers of its agent's tool servers come from.
    pub tools_from: ToolsFrom,
    /// The recorded tool calls that it executes again. Such a scenario has no steps.
    pub tools: Option<ToolsRun>,
    /// The steps, in order: at least one, or none if it executes recorded tool calls.
    pub steps: Vec<Step>,
    pub golden: ShapeOptions,
    /// The place of `system` in the file.
    pub(super) system_place: Option<Place>,
}

/// Recorded tool calls to execute again (`kind = "tools"`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolsRun {
    /// The folder of a conversation, relative to the root. If absent, the calls are those of the fixture.
    pub recording: Option<PathBuf>,
    /// The id of the conversation in the folder.
    pub conversation: Option<String>,
    /// What to do with actions that did not run when they were recorded.
    pub unobserved: Unobserved,
}

/// Where the answers of tool servers come from, in a scenario that drives a system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolsFrom {
    /// From the fixture: doubles replay them.
    #[default]
    Recorded,
    /// From the real servers. Differences from the fixture are noted.
    Live,
}

/// What to do with actions that were rejected, or recorded without an observation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unobserved {
    /// They are listed.
    #[default]
    Skip,
    Execute,
}

/// The fixture whose turns a scenario replays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FixtureRef {
    /// None: no model is called.
    None,
    Named(String),
}

/// A scenario that cannot run, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The trial's name, or the name of a file that does not belong to any scenario.
    pub name: String,
    /// What is wrong.
    pub error: Error,
}

impl Scenario {
    /// Whether it needs a system: to send it requests, or to tell a command where it is.
    pub fn needs_system(&self) -> bool {
        self.used.port || !self.used.systems.is_empty() || !self.only_runs()
    }

    /// Whether its templates use the folder of the stage.
    pub fn uses_workdir(&self) -> bool {
        self.used.workdir
    }

    /// Whether all its steps run commands.
    pub fn only_runs(&self) -> bool {
        !self.steps.iter().any(Step::needs_system)
    }

    /// Returns the systems that it uses besides the one that it drives: those of pages, and those whose URLs its templates use.
    pub fn other_systems(&self) -> impl Iterator<Item = &str> {
        let pages = self.steps.iter().filter_map(|step| match &step.action {
            Action::Browse(visit) => visit.system.as_deref(),
            _ => None,
        });
        let own = self.system.as_deref();
        pages.chain(self.used.systems.iter().map(String::as_str)).filter(move |name| Some(*name) != own)
    }

    /// Whether any step opens a page.
    pub fn needs_browser(&self) -> bool {
        self.steps.iter().any(Step::needs_browser)
    }

    /// Returns the name of its case, or `None` if its folder has no cases.
    pub fn case(&self) -> Option<&str> {
        self.name.strip_prefix(self.dir.file_name()?.to_str()?)?.strip_prefix('.')
    }

    /// Returns the context with the scenario's vars added.
    /// As [`Vars::resolve`], and if a template uses a value that the fixture lacks.
    pub fn resolve_vars(&self, context: &Context) -> Result<Context> {
        self.used.of_fixture.iter().try_for_each(|value| value.check(context))?;
        self.vars.resolve(context)
    }
}
