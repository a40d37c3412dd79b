//! The failures of one run together: those with the same cause are one group, and what they advise is as few commands as possible.

use std::collections::{BTreeMap, BTreeSet};

use super::failure::{Advice, Deed};
use super::run_data::RunData;
use retake_base::env::RETAKE;
use retake_base::text::counted;

/// The runs that failed.
#[derive(Debug, Default)]
pub struct Failed {
    /// The scenarios with each cause, in the order in which they failed, with what is told of them: their first line, or the cause where
    /// they have others. A cause is what the causes of a failure have behind them, or its first line.
    groups: BTreeMap<String, (Vec<String>, String)>,
    /// What each scenario is advised: its name, the file that a recording would write, and the command.
    advised: BTreeMap<(Deed, String), (String, Advice)>,
}

impl Failed {
    /// The failures of these runs.
    pub fn of<'a>(runs: impl IntoIterator<Item = &'a RunData>) -> Failed {
        let mut failed = Failed::default();
        runs.into_iter().for_each(|run| failed.add(run));
        failed
    }

    /// Adds a run, if it failed.
    pub fn add(&mut self, run: &RunData) {
        let Some(failure) = &run.failure else { return };
        let root = failure.causes.iter().find_map(|cause| cause.root.as_ref());
        let root = root.unwrap_or(&failure.headline);
        let (names, told) = self.groups.entry(root.clone()).or_insert((Vec::new(), failure.headline.clone()));
        names.push(run.scenario.clone());
        if *told != failure.headline {
            told.clone_from(root);
        }
        let hinted = failure.does.map(|deed| {
            let command = format!("{RETAKE} record {}", run.scenario);
            Advice::new("to record what has no recording", command).does(deed)
        });
        for advice in failure.advice.iter().cloned().chain(hinted) {
            let Some(deed) = advice.does.filter(|deed| *deed != Deed::Explain) else { continue };
            let written = match deed {
                Deed::Update | Deed::Explain => run.scenario.clone(),
                Deed::Record | Deed::Resume => run.fixture.clone().unwrap_or_default().display().to_string(),
            };
            self.advised.insert((deed, run.scenario.clone()), (written, advice));
        }
    }

    /// The scenario that failed first with the cause of this one, if that is another.
    pub fn first_like(&self, scenario: &str) -> Option<&str> {
        let (names, _) = self.groups.values().find(|(names, _)| names.iter().any(|name| name == scenario))?;
        Some(names.first()?.as_str()).filter(|first| *first != scenario)
    }

    /// The commands that resolve the failures, one for each thing to do. Scenarios that share a fixture are recorded once.
    pub fn advice(&self) -> Vec<Advice> {
        let mut all: BTreeMap<Deed, (BTreeSet<&str>, Vec<&str>, &Advice)> = BTreeMap::new();
        for ((deed, scenario), (written, advice)) in &self.advised {
            let (files, names, _) = all.entry(*deed).or_insert((BTreeSet::new(), Vec::new(), advice));
            if files.insert(written) {
                names.push(scenario);
            }
        }
        let merged = |(deed, (_, names, first)): (Deed, (BTreeSet<&str>, Vec<&str>, &Advice))| {
            if names.len() == 1 {
                return first.clone();
            }
            let names = names.join(" ");
            let command = match deed {
                Deed::Record => format!("{RETAKE} record {names}"),
                Deed::Resume => format!("{RETAKE} record {names} --resume"),
                Deed::Update => format!("{RETAKE} test {names} --update"),
                Deed::Explain => format!("{RETAKE} explain {names}"),
            };
            Advice { command, ..first.clone() }
        };
        all.into_iter().map(merged).collect()
    }

    /// What is told at the end of a run: each cause with its scenarios, then the commands. Empty if one scenario failed, of which
    /// all was just told.
    pub fn lines(&self) -> Vec<String> {
        let count = self.groups.values().map(|(names, _)| names.len()).sum();
        if count < 2 {
            return Vec::new();
        }
        let groups = self.groups.values().map(|(names, told)| (BTreeSet::from_iter(names), told));
        let mut groups: Vec<(BTreeSet<&String>, &String)> = groups.collect();
        groups.sort();
        let causes = if groups.len() == 1 { "one cause".to_owned() } else { counted(groups.len(), "cause") };
        let mut lines = vec![format!("{} failed, for {causes}:", counted(count, "scenario"))];
        for (names, told) in groups {
            let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
            lines.push(format!("  {}: {told}", names.join(", ")));
        }
        for Advice { case, command, .. } in self.advice() {
            lines.extend([format!("{case}:"), format!("    {command}")]);
        }
        lines
    }
}

#[cfg(test)]
mod tests;
