//! The report on replays that are not a proof: what varies, and what to do about it.

use super::agreement::{Disagreement, number};
use super::diagnosis::Finding;
use super::inquiry::{Inquiry, Outcome};
use super::replays::Proof;
use super::rule::Rule;
use crate::report::{Evidence, Failure, unified_lines};
use crate::run::commands::{key_command, record_command};
use crate::run::verdict::SHOWN;
use retake_core::events::Golden;
use retake_scenario::ClockFrom;
use std::sync::Arc;

/// Two replays that disagree, or of which one failed.
#[derive(Debug)]
pub(crate) struct Unproven {
    pub failure: Failure,
    /// What varies, one line each, without values. Empty if something else failed.
    pub why: Vec<String>,
    /// The golden, if no call missed.
    pub golden: Option<Golden>,
}

impl Proof<'_> {
    /// Reports why two replays are not a proof. If something varies, finds out what, in more replays.
    pub(super) fn report(&self, disagreement: Disagreement) -> Unproven {
        let name = &self.scenario.name;
        let (replayed, failure, golden) = match &disagreement {
            Disagreement::NoStage(failure) => return failed(failure.clone()),
            Disagreement::Failed { failure, first: true, .. } if !self.of_recording => return failed(failure.clone()),
            Disagreement::Failed { replayed, failure, .. } => (Some(replayed), failure.clone(), None),
            Disagreement::Differ { runs, goldens } => {
                let [one, other] = &**goldens;
                let replays = number(runs.len());
                let what = format!("unstable: {replays} replays of scenario `{name}` differ, so nothing was written");
                let lines = Evidence::diff(
                    "these lines vary from run to run:",
                    unified_lines(&one.to_string(), &other.to_string()),
                );
                (None, Failure::new(what).evidence(lines), runs[0].golden_by(self.scenario, &self.project.rules))
            }
        };
        let events = || vec!["the events that the service sends".to_owned()];
        let why = replayed.map_or_else(events, |replayed| replayed.instability(self.scenario));
        // Recording again does not help: the next recording would vary too.
        let again = record_command(name);
        let mut failure = failure;
        failure.advice.retain(|advice| advice.command != again);
        if why.is_empty() {
            return failed(failure);
        }
        let golden_varies = matches!(disagreement, Disagreement::Differ { .. });
        let inquiry = self.look_into(disagreement);
        let mut unproven = Unproven { failure, why, golden };
        if !inquiry.findings.is_empty() {
            unproven.why = inquiry.findings.iter().map(|finding| finding.short.clone()).collect();
            unproven.failure = shown(name, &inquiry, unproven.failure);
        }
        unproven.failure = self.resolved(unproven.failure, golden_varies, &inquiry);
        unproven
    }

    /// Whether the replays agree if none of them has another clock than the recording.
    fn agrees_by_one_clock(&self) -> bool {
        let Proof { project, scenario, fixture, .. } = *self;
        let (systems, mut set) = (&project.systems, scenario.clone());
        set.options.clock = ClockFrom::Recorded;
        // Rules that are not the project's own are told nothing of.
        let rules = Arc::new((*project.rules).clone());
        fixture.is_some()
            && systems.may_set_clock(scenario)
            && Proof { scenario: &set, ..*self }.replays(fixture, &rules).is_ok()
    }

    /// Adds the advice. `golden_varies` says that all calls were answered.
    fn resolved(&self, mut failure: Failure, golden_varies: bool, inquiry: &Inquiry) -> Failure {
        let name = &self.scenario.name;
        let of_golden = golden_varies && inquiry.findings.is_empty();
        let Inquiry { findings, rules, changed, loosening, outcome } = inquiry;
        let again = if self.of_recording || !of_golden {
            format!("{} --resume", record_command(name))
        } else {
            self.project.commands.update(name)
        };
        if self.agrees_by_one_clock() {
            let case = format!("if the day or the hour counts, set in {} or suite.toml", self.scenario.file.display());
            failure = failure
                .evidence("tried: if each replay has the clock of the recording, two replays agree")
                .resolve(case, "clock = \"recorded\"")
                .resolve("and then, without paying again", again.clone());
        }
        if findings.iter().any(|finding| finding.reordered) {
            let what = "a rule cannot undo a different order: let the tool or the system sort what it returns";
            failure = failure.resolve("for the same items in a different order", what);
        }
        if let Some(loosening) = loosening {
            let replays = number(loosening.runs);
            let tried = format!("tried: with the option below, the goldens of the {replays} replays are equal");
            let case = format!("if it may vary, add under [golden] in {}", self.scenario.file.display());
            failure = failure.evidence(tried).resolve(case, &*loosening.toml);
        } else if of_golden {
            let tried = "tried: neither `unordered`, `collapse` nor `loose` under [golden] makes the goldens equal";
            let rule = "a [[normalize]] rule in scenarios/suite.toml";
            failure = failure.evidence(tried).resolve("if a value may vary", rule);
        }
        if !rules.is_empty() {
            match outcome {
                Outcome::Agree(replays) => {
                    let tried = format!("tried: with the rules below, {} replays agree", number(*replays));
                    failure = failure.evidence(tried);
                }
                Outcome::Left => {
                    failure = failure.evidence(
                        "the rules below make the calls above equal to the recorded ones; no rule was found for the rest",
                    );
                }
                Outcome::Untried => {}
            }
            let rules: Vec<String> = rules.iter().map(Rule::toml).collect();
            let text = rules.join("\n\n").replace('\n', "\n    ").replace("\n    \n", "\n\n");
            failure = failure.resolve("if it may vary, add to scenarios/suite.toml", text);
            failure = failure.resolve("and then, without paying again", again);
            for fixture in changed {
                failure = failure.resolve("for another recording that the rules change", key_command(fixture));
            }
        }
        if self.project.systems.is_shared(self.scenario) {
            let why = "the first replay used the shared system, which may remember earlier scenarios; \
                       the second one used a process of its own";
            failure = failure.evidence(why);
        }
        let systems = &self.project.systems;
        if systems.moves_clock(self.scenario) && !systems.keeps_clock(self.scenario) {
            let why = "by libfaketime, the clock of the second replay is 400 days, 12 hours and 7 minutes ahead; \
                       RETAKE_FAKETIME=off leaves it as it is";
            failure = failure.evidence(why);
        }
        // A fixture with which a call misses is red in each run.
        if self.of_recording && golden_varies {
            let anyway = format!("{} --resume --accept-unstable", record_command(name));
            failure = failure.resolve("to write it anyway, marked as unstable", anyway);
        }
        failure
    }
}

fn failed(failure: Failure) -> Unproven {
    Unproven { failure, why: Vec::new(), golden: None }
}

/// The failure for calls that vary: each place with both values.
fn shown(name: &str, inquiry: &Inquiry, missed: Failure) -> Failure {
    let headline =
        format!("unstable: what scenario `{name}` asks the model varies from run to run, so nothing was written");
    let mut failure = Failure::new(headline);
    for finding in inquiry.findings.iter().take(SHOWN) {
        let Finding { place, lines: (recorded, replayed), causes, .. } = finding;
        let mut lines: Vec<String> = place.iter().map(|line| format!("  {line}")).collect();
        lines.push(format!("  recorded  {recorded}"));
        lines.push(format!("  replayed  {replayed}"));
        lines.push(format!("  it is     {}", causes.join(", ")));
        failure = failure.evidence(lines.join("\n"));
    }
    if inquiry.findings.len() > SHOWN {
        failure = failure.evidence(format!("… and {} more places", inquiry.findings.len() - SHOWN));
    }
    Failure { advice: missed.advice, ..failure }
}
