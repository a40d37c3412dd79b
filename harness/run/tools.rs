//! Runs recorded tool calls again, for a scenario with `kind = "tools"` and for `retake tools`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::declared_secrets;
use crate::project::OpenProject;
use crate::report::Failure;
use crate::run::project::Project;
use retake_base::error::{Error, Result};
use retake_core::key::Rules;
use retake_engine::tools::openhands::{self, Conversation};
use retake_engine::tools::{DriftLog, Live, Outcome, Script, explain, observe, of_conversation, of_fixture, replay};
use retake_scenario::{Level, Scenario, Suite, Unobserved};
use retake_wire::fixture::Fixture;

/// Where the recorded calls are.
#[derive(Debug)]
pub enum Recording {
    /// In the conversations of a fixture.
    Fixture(Arc<Fixture>),
    /// In a conversation's folder. The id chooses one if the folder contains several.
    Folder(PathBuf, Option<String>),
}

/// One run of recorded calls.
pub struct ToolsReplay<'a> {
    /// The project's folder.
    pub root: &'a Path,
    /// The project's suite.
    pub suite: &'a Suite,
    /// The recorded calls.
    pub recording: Recording,
    /// What to do with calls that have no recorded result.
    pub unobserved: Unobserved,
    /// The drift log to write. `None` means a new one under `.retake/tools/`, in the folder of this name.
    pub log: Option<PathBuf>,
    /// The name of the scenario or fixture.
    pub name: &'a str,
}

impl ToolsReplay<'_> {
    /// Runs the calls, on an async runtime of its own.
    ///
    /// # Errors
    /// If the recording cannot be read, or a tool is not declared. In both cases no call has been made.
    pub fn run(self) -> Result<Outcome> {
        let runtime = retake_model::threads::runtime()?;
        let outcome = runtime.block_on(self.execute());
        runtime.shutdown_background();
        outcome
    }

    async fn execute(self) -> Result<Outcome> {
        let project = OpenProject::of_suite(self.root, self.suite);
        let script = self.script(&project.rules)?;
        let all = self.unobserved == Unobserved::Execute;
        let secrets = project.secrets()?;
        let scrub = secrets.scrub().clone();
        let values = declared_secrets::real_values(&project);
        let live =
            Live::start(self.suite, &script, self.root, &values, &project.rules.normalizer, scrub.clone()).await?;
        let folder = retake_base::files::run_folder(self.root, &format!("tools/{}", self.name))?;
        let next = || DriftLog::next_in(&folder, &scrub);
        let log = || self.log.map_or_else(next, |file| DriftLog::create(file, &scrub));
        let outcome = replay(script, &live.targets, &live.comparison, all, log).await;
        live.end().await;
        outcome
    }

    fn script(&self, rules: &Rules) -> Result<Script> {
        match &self.recording {
            Recording::Fixture(fixture) => {
                let mut script = of_fixture(fixture, rules)?;
                let prefix = |server: &str| self.suite.tools.get(server).map_or("", |spec| spec.prefix.as_str());
                observe(&mut script, &fixture.tools, prefix, &rules.normalizer);
                Ok(script)
            }
            Recording::Folder(folder, id) => {
                Conversation::read(&openhands::find(folder, id.as_deref())?).map(of_conversation)
            }
        }
    }
}

/// Runs a scenario with `kind = "tools"`; `None` if it is another kind.
pub(crate) fn test(project: &Project, scenario: &Scenario) -> Option<Result<(), Failure>> {
    let tools = scenario.tools.as_ref()?;
    let run = || {
        let recording = if let Some(folder) = &tools.recording {
            Recording::Folder(project.root.join(folder), tools.conversation.clone())
        } else {
            let none = || Error::new("the scenario has no recording").in_file(&scenario.file);
            Recording::Fixture(project.fixtures.of(scenario)?.ok_or_else(none)?)
        };
        let suite = &project.discovered.suite;
        let (unobserved, name) = (tools.unobserved, scenario.name.as_str());
        let replay = ToolsReplay { root: &project.root, suite, recording, unobserved, log: None, name };
        let outcome = replay.run().map_err(|error| error.in_file(&scenario.file))?;
        project.note_log(&scenario.name, &outcome.log);
        let mut notes = explain::notes(&outcome);
        let drifted = !outcome.is_same();
        if drifted && scenario.options.drift.of_observation() == Level::Note {
            notes.push(format!("{}: {}", explain::summary(&outcome), project.shown(&outcome.log).display()));
        }
        project.note(&scenario.name, notes);
        if drifted && scenario.options.drift.of_observation() == Level::Fail {
            return Err(failure(project, scenario, &outcome));
        }
        Ok(())
    };
    Some(run())
}

fn failure(project: &Project, scenario: &Scenario, outcome: &Outcome) -> Failure {
    let log = project.shown(&outcome.log);
    let note = format!("drift = {{ observation = \"note\" }} in {}", scenario.file.display());
    Failure::new(format!("drift: in scenario `{}`: {}", scenario.name, explain::summary(outcome)))
        .evidence(format!("{}\n  the whole log: {}", explain::drifts(outcome), log.display()))
        .resolve("if the tools are right", note)
}
