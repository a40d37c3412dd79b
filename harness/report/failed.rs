//! The failures of one run together: those with the same first line are one group, and what they advise is as few commands as possible.

use std::collections::{BTreeMap, BTreeSet};

use super::failure::{Advice, Deed};
use super::run_data::RunData;
use retake_base::env::RETAKE;
use retake_base::text::counted;

/// The runs that failed.
#[derive(Debug, Default)]
pub struct Failed {
    /// The names of the scenarios with each first line, in the order in which they failed.
    groups: BTreeMap<String, Vec<String>>,
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
        self.groups.entry(failure.headline.clone()).or_default().push(run.scenario.clone());
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

    /// The scenario that failed first with the first line of this one, if that is another.
    pub fn first_like(&self, scenario: &str) -> Option<&str> {
        let group = self.groups.values().find(|names| names.iter().any(|name| name == scenario))?;
        Some(group.first()?.as_str()).filter(|first| *first != scenario)
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

    /// What is told at the end of a run: each first line with its scenarios, then the commands. Empty if one scenario failed, of which
    /// all was just told.
    pub fn lines(&self) -> Vec<String> {
        let count = self.groups.values().map(Vec::len).sum();
        if count < 2 {
            return Vec::new();
        }
        let mut groups: Vec<(Vec<&String>, &String)> = self
            .groups
            .iter()
            .map(|(headline, names)| (BTreeSet::from_iter(names).into_iter().collect(), headline))
            .collect();
        groups.sort();
        let causes = if groups.len() == 1 { "one cause".to_owned() } else { counted(groups.len(), "cause") };
        let mut lines = vec![format!("{} failed, for {causes}:", counted(count, "scenario"))];
        for (names, headline) in groups {
            let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
            lines.push(format!("  {}: {headline}", names.join(", ")));
        }
        for Advice { case, command, .. } in self.advice() {
            lines.extend([format!("{case}:"), format!("    {command}")]);
        }
        lines
    }
}

#[cfg(test)]
mod tests;
