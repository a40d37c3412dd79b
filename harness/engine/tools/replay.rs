//! One run of a script against live tools.

use std::path::PathBuf;

use futures_util::future::join_all;

use super::comparison::Comparison;
use super::difference::Difference;
use super::drift_log::DriftLog;
use super::executor::Targets;
use super::script::{Action, Entry, Script};
use retake_base::error::{Error, Result};
use retake_core::json::Json;

/// How many drifts a summary quotes. The log has all of them.
const QUOTED: usize = 5;

/// The outcome of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// How many actions were executed.
    pub executed: usize,
    /// How many of them returned something other than what was recorded.
    pub drifted: usize,
    /// The first of those.
    pub quoted: Vec<Drifted>,
    /// The tools of the actions that were not executed, each with the reason.
    pub not_executed: Vec<(String, &'static str)>,
    /// How many recorded observations answered no recorded action.
    pub never_reached: usize,
    /// How many messages the agent sent.
    pub agent_messages: usize,
    /// What was noticed, a line each.
    pub warnings: Vec<String>,
    /// The file with the drift, as JSON lines.
    pub log: PathBuf,
}

/// One action that returned something other than what was recorded.
#[derive(Debug)]
pub struct Drifted {
    /// Its number among the executed actions, from 1.
    pub number: usize,
    pub tool: String,
    pub args: Json,
    pub differences: Vec<Difference>,
}

impl Outcome {
    /// Whether nothing drifted, and every recorded observation was compared.
    pub fn is_same(&self) -> bool {
        self.drifted == 0 && self.never_reached == 0
    }
}

/// Executes a script's actions in order, those of one model answer at the same time, and compares what they return with what was
/// recorded. With `all`, actions that were rejected or never observed are executed too. Drift does not stop the run.
/// Before anything is executed: if a tool has no target, or there is nothing to execute. Later: if the log cannot be written.
pub async fn replay(
    script: Script,
    targets: &Targets,
    comparison: &Comparison,
    all: bool,
    log: impl FnOnce() -> Result<DriftLog>,
) -> Result<Outcome> {
    targets.check(&script, all)?;
    if !script.actions().any(|action| action.runs(all)) {
        let error = Error::new("the recording has no action to execute");
        return Err(match script.actions().count() {
            0 => error.help("it contains no tool call"),
            n => error.help(format!("{} recorded, none of them executed", retake_base::text::counted(n, "action"))),
        });
    }
    let mut log = log()?;
    let mut outcome = Outcome {
        never_reached: script.never_reached.len(),
        agent_messages: script.agent_messages,
        warnings: script.warnings,
        log: log.path.clone(),
        ..Outcome::default()
    };
    for entry in script.entries {
        match entry {
            Entry::User(said) => log.user(said)?,
            Entry::Together(actions) => together(actions, targets, comparison, all, &mut log, &mut outcome).await?,
        }
    }
    log.run(about(&outcome, script.never_reached))?;
    Ok(outcome)
}

async fn together(
    actions: Vec<Action>,
    targets: &Targets,
    comparison: &Comparison,
    all: bool,
    log: &mut DriftLog,
    outcome: &mut Outcome,
) -> Result<()> {
    let calls = actions.iter().map(|action| async {
        let target = targets.get(&action.tool).filter(|_| action.runs(all))?;
        target.call(&action.args).await
    });
    for (action, observed) in actions.iter().zip(join_all(calls).await) {
        let Some(observed) = observed else {
            let reason = action.withheld.map_or("one of the agent's own tools, taken as recorded", |why| why.reason());
            outcome.not_executed.push((action.tool.clone(), reason));
            continue;
        };
        outcome.executed += 1;
        let differences = comparison.differences(&action.tool, &action.expected, &observed);
        log.action(action, &observed, &differences)?;
        if !differences.is_empty() {
            outcome.drifted += 1;
            if outcome.quoted.len() < QUOTED {
                let (tool, args) = (action.tool.clone(), action.args.clone());
                outcome.quoted.push(Drifted { number: outcome.executed, tool, args, differences });
            }
        }
    }
    Ok(())
}

/// Returns the content of the file about the whole run.
fn about(outcome: &Outcome, never_reached: Vec<Json>) -> Json {
    let not_executed = outcome.not_executed.iter().map(|(tool, reason)| {
        Json::object([("tool_name", Json::from(tool.as_str())), ("reason", Json::from(*reason))])
    });
    let warnings = outcome.warnings.iter().map(|line| Json::from(line.as_str())).collect::<Vec<_>>();
    Json::object([
        ("Executed", Json::from(outcome.executed)),
        ("Drifted", outcome.drifted.into()),
        ("Not executed", Json::Array(not_executed.collect())),
        ("Never reached", Json::Array(never_reached)),
        ("Agent messages passed over", outcome.agent_messages.into()),
        ("Warnings", Json::Array(warnings)),
    ])
}
