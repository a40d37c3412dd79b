use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use super::project;
use retake::__private::project::OpenProject;
use retake::__private::report::terminal;
use retake::__private::run::{Recording, ToolsReplay};
use retake::__private::tools::explain;
use retake_base::error::{Error, Result};
use retake_scenario::{FixtureRef, Level, Scenario, Suite, Unobserved, discover, suite_of};
use retake_wire::fixture::Fixture;

/// Run recorded tool calls again, against live tools and without a model
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retake tools write_read_file\n  \
    retake tools recordings --conversation 6f2d7a4e9f3b4c1d8e5a0b1c2d3e4f50\n\n\
    NAME is a scenario with kind = \"tools\", a fixture, or the folder of an OpenHands conversation. \
    scenarios/suite.toml declares how to run each tool; a recorded tool that it does not declare is an error before \
    the first call:\n  [tools.files]\n  mcp = { command = [\"mcp-server-filesystem\", \"{{ workdir }}\"] }\n\n\
    Each run writes a drift log to .retake/tools/NAME, with one line of JSON for each tool call.\n\n\
    Exit code 0 if nothing drifted, 1 if something did, 2 if a file is wrong.")]
pub(super) struct Tools {
    /// A scenario, a fixture, or the folder of a conversation
    name: PathBuf,
    /// The id of the conversation, if the folder contains several
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
    /// Write the drift log to this file, which must not exist yet
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Also run calls that were rejected or recorded without an observation
    #[arg(long)]
    unobserved: bool,
}

impl Tools {
    pub(super) fn run(self) -> Result<ExitCode> {
        let root = project::root()?;
        let root = root.canonicalize().map_err(|e| retake_base::files::failed("open", &root, &e))?;
        let suite = suite_of(&root)?;
        let scenario = self.scenario(&root);
        let recording = self.recording(&root, &suite, scenario.as_ref())?;
        let of_scenario = scenario.as_ref().and_then(|scenario| scenario.tools.as_ref());
        let unobserved = match of_scenario {
            Some(tools) if !self.unobserved => tools.unobserved,
            _ if self.unobserved => Unobserved::Execute,
            _ => Unobserved::Skip,
        };
        let name = self.name.file_stem().unwrap_or(self.name.as_os_str()).to_string_lossy().into_owned();
        let name = scenario.as_ref().map_or(name, |scenario| scenario.name.clone());
        let replay = ToolsReplay { root: &root, suite: &suite, recording, unobserved, log: self.log, name: &name };
        let outcome = replay.run()?;
        let level = scenario.map_or(suite.defaults.drift, |scenario| scenario.options.drift).of_observation();
        project::note_each(&format!("note: {name}"), explain::notes(&outcome));
        let log = outcome.log.strip_prefix(&root).unwrap_or(&outcome.log).display();
        let drifted = !outcome.is_same();
        if drifted && level != Level::Ignore {
            terminal::note(explain::drifts(&outcome));
        }
        terminal::note(format!("{name}: {} ({log})", explain::summary(&outcome)));
        Ok(ExitCode::from(u8::from(drifted && level == Level::Fail)))
    }

    fn scenario(&self, root: &Path) -> Option<Scenario> {
        let name = self.name.to_str()?;
        // Errors do not matter here: a project without scenarios may still have recordings.
        discover(root).ok()?.sound().find(|scenario| scenario.name == name).cloned()
    }

    fn recording(&self, root: &Path, suite: &Suite, scenario: Option<&Scenario>) -> Result<Recording> {
        let id = self.conversation.clone();
        if let Some(tools) = scenario.and_then(|scenario| scenario.tools.as_ref())
            && let Some(folder) = &tools.recording
        {
            return Ok(Recording::Folder(root.join(folder), id.or_else(|| tools.conversation.clone())));
        }
        if scenario.is_none() && self.name.is_dir() {
            return Ok(Recording::Folder(self.name.clone(), id));
        }
        if id.is_some() {
            return Err(Error::new("--conversation chooses one conversation of a folder")
                .help(format!("`{}` is not a folder", self.name.display())));
        }
        let named = |name: &str| root.join("fixtures").join(format!("{name}.json"));
        let file = match (scenario.map(|scenario| &scenario.fixture), self.name.to_str()) {
            (Some(FixtureRef::Named(name)), _) => named(name),
            (Some(FixtureRef::None), _) => {
                return Err(Error::new(format!("scenario `{}` calls no model", self.name.display()))
                    .help("its fixture is \"none\", so there are no recorded tool calls"));
            }
            (None, Some(name)) if !self.name.is_file() && named(name).is_file() => named(name),
            _ => self.name.clone(),
        };
        if !file.exists() {
            let error = Error::new(format!("`{}` is neither a scenario, a fixture nor a folder", self.name.display()));
            return Err(error.help("fixtures are in `fixtures/`; a conversation's folder contains `events/`"));
        }
        Ok(Recording::Fixture(Arc::new(Fixture::read(&file, &OpenProject::of_suite(root, suite).rules)?)))
    }
}
