//! The public API to replay recorded tool calls in a test that brings its own tools.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::comparison::Comparison;
use super::drift_log::DriftLog;
use super::executor::{Bound, Closure, TIMEOUT, Targets};
use super::explain;
use super::replay::{Outcome, replay};
use super::script::Script;
use super::source::{observe, of_conversation, of_fixture};
use crate::tools::openhands::{self, Conversation};
use retake_base::error::{Error, Result};
use retake_core::json::Json;
use retake_core::key::Rules;
use retake_core::secrets::Scrub;
use retake_wire::fixture::Fixture;

/// Executes the tool calls of a recording again, with tools of your own and without a model, and compares what they return
/// with what was recorded.
///
/// ```no_run
/// # use retake_engine::tools as retake;
/// # async fn test() -> retake_base::error::Result<()> {
/// let run = retake::ToolReplay::new()
///     .folder("recordings/conversation")
///     .tool("get_weather", |args| async move {
///         Ok(format!("The sun shines in {}.", args["city"].as_str().unwrap_or_default()).into())
///     })
///     .run()
///     .await?;
/// run.verify(); // fails with each drift explained
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct ToolReplay {
    fixture: Option<PathBuf>,
    folder: Option<PathBuf>,
    conversation: Option<String>,
    events: Option<Vec<Value>>,
    targets: Targets,
    comparison: Comparison,
    unobserved: bool,
    logs: Option<PathBuf>,
}

impl ToolReplay {
    /// Starts with no recording and no tools.
    pub fn new() -> ToolReplay {
        let comparison = Comparison { scrub: Scrub::known(), ..Comparison::default() };
        ToolReplay { comparison, ..ToolReplay::default() }
    }

    /// Replays the tool calls in the conversations of this fixture.
    pub fn fixture(mut self, file: impl AsRef<Path>) -> ToolReplay {
        self.fixture = Some(file.as_ref().to_owned());
        self
    }

    /// Replays an OpenHands conversation from this folder, or from a folder inside it.
    pub fn folder(mut self, folder: impl AsRef<Path>) -> ToolReplay {
        self.folder = Some(folder.as_ref().to_owned());
        self
    }

    /// Chooses a conversation of the folder by its id.
    pub fn conversation(mut self, id: impl Into<String>) -> ToolReplay {
        self.conversation = Some(id.into());
        self
    }

    /// Replays events in the format of OpenHands from memory. They are used if neither a fixture nor a folder is given.
    pub fn events(mut self, events: Vec<Value>) -> ToolReplay {
        self.events = Some(events);
        self
    }

    /// Sets the function that executes the calls of a tool. It takes the arguments and returns the result or an error. A text
    /// becomes the content of the observation, an object its fields, and a list of events several observations. The calls of one
    /// model answer run at the same time on the task of [`run`](Self::run), so blocking work belongs in
    /// `tokio::task::spawn_blocking`.
    pub fn tool<F, T>(mut self, name: &str, function: F) -> ToolReplay
    where
        F: Fn(Value) -> T + Send + Sync + 'static,
        T: Future<Output = Result<Value, String>> + Send + 'static,
    {
        let target = Arc::new(Closure::new(function));
        self.targets.insert(name, Bound::Live { target, name: name.to_owned(), timeout: TIMEOUT });
        self
    }

    /// Declares that a tool is one of the agent's own, for example to think or to finish. Its calls are not executed.
    pub fn as_recorded(mut self, name: &str) -> ToolReplay {
        self.targets.insert(name, Bound::AsRecorded);
        self
    }

    /// Leaves one place of a tool's observations out of the comparison. The place is a JSON pointer as it appears in the log,
    /// but without the number of the observation: `/observation/metadata/pid`.
    pub fn ignore(mut self, tool: &str, pointer: &str) -> ToolReplay {
        self.comparison.tools.entry(tool.to_owned()).or_default().ignore.push(pointer.to_owned());
        self
    }

    /// Also executes actions that were rejected, or recorded without an observation.
    pub fn with_unobserved(mut self) -> ToolReplay {
        self.unobserved = true;
        self
    }

    /// Sets the folder for the logs of runs. The default is `.retake/tools`.
    pub fn logs_in(mut self, folder: impl AsRef<Path>) -> ToolReplay {
        self.logs = Some(folder.as_ref().to_owned());
        self
    }

    /// Executes the recorded tool calls and compares their results.
    ///
    /// # Errors
    /// If there is no recording, if it is empty or cannot be loaded, or if one of its tools has no function. Then nothing was
    /// executed. Also if the log cannot be written.
    pub async fn run(mut self) -> Result<ToolRun> {
        let script = self.script()?;
        let logs = self.logs.unwrap_or_else(|| PathBuf::from(".retake/tools"));
        let scrub = self.comparison.scrub.clone();
        let log = || DriftLog::next_in(&logs, &scrub);
        let outcome = replay(script, &self.targets, &self.comparison, self.unobserved, log).await?;
        Ok(ToolRun { outcome })
    }

    fn script(&mut self) -> Result<Script> {
        if let Some(file) = &self.fixture {
            let rules = Rules::default();
            let fixture = Fixture::read(file, &rules)?;
            let mut script = of_fixture(&fixture, &rules)?;
            observe(&mut script, &fixture.tools, |_| "", &rules.normalizer);
            return Ok(script);
        }
        if let Some(folder) = &self.folder {
            let folder = openhands::find(folder, self.conversation.as_deref())?;
            return Ok(of_conversation(Conversation::read(&folder)?));
        }
        let Some(events) = self.events.take() else {
            let error = Error::new("there is no recording to replay");
            return Err(error.help("give a fixture, a folder or events to ToolReplay"));
        };
        let events = events.into_iter().map(|event| Json::parse(event.to_string().as_bytes()));
        let events = events.collect::<Result<Vec<_>, _>>().map_err(|e| Error::new(format!("an event: {e}")))?;
        Ok(of_conversation(Conversation::of_events(events)?))
    }
}

/// The outcome of a [`ToolReplay`].
#[derive(Debug)]
pub struct ToolRun {
    outcome: Outcome,
}

impl ToolRun {
    /// How many actions were executed.
    pub fn executed(&self) -> usize {
        self.outcome.executed
    }

    /// How many of them returned something other than what was recorded.
    pub fn drifted(&self) -> usize {
        self.outcome.drifted
    }

    /// How many recorded observations answered no recorded action.
    pub fn never_reached(&self) -> usize {
        self.outcome.never_reached
    }

    /// The tools of the actions that were not executed, in order.
    pub fn not_executed(&self) -> Vec<&str> {
        self.outcome.not_executed.iter().map(|(tool, _)| &**tool).collect()
    }

    /// What else is worth knowing about the run, one line for each note.
    pub fn notes(&self) -> Vec<String> {
        explain::notes(&self.outcome)
    }

    /// The path of the drift log. Next to it is a file about the run as a whole, with the extension `run.json`.
    pub fn log(&self) -> &Path {
        &self.outcome.log
    }

    /// Fails the test if a tool drifted, or if a recorded observation could not be compared.
    ///
    /// # Panics
    /// With the first drifts, each of them explained, and the path of the log.
    #[track_caller]
    pub fn verify(&self) {
        assert!(
            self.outcome.is_same(),
            "{}\n{}\nthe whole log: {}",
            explain::summary(&self.outcome),
            explain::drifts(&self.outcome),
            self.outcome.log.display()
        );
    }
}

#[cfg(test)]
mod tests;
