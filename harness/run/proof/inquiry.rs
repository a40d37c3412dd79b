//! Finds out what varies, in rounds: the rules found so far are tried in more replays, which may show the next difference.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use super::agreement::Disagreement;
use super::diagnosis::{self, Diagnosis, Finding};
use super::loosening::Loosening;
use super::replays::Proof;
use super::rule::Rule;
use super::tried::{self, Tried};
use crate::run::trial::{self, How, Replayed};
use retake_model::Pacing;

/// How many times rules are tried in replays.
const ROUNDS: usize = 5;

/// The result of all rounds.
#[derive(Default)]
pub(super) struct Inquiry {
    pub(super) findings: Vec<Finding>,
    pub(super) rules: Vec<Rule>,
    /// The fixtures of other scenarios that the rules change.
    pub(super) changed: BTreeSet<PathBuf>,
    /// The `[golden]` options that are needed in addition.
    pub(super) loosening: Option<Loosening>,
    pub(super) outcome: Outcome,
}

/// Whether the rules are enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The rules could not be tried, since the fixture contains only hashes.
    #[default]
    Untried,
    /// This many replays with the rules agree.
    Agree(usize),
    /// Something still varies for which no rule was found.
    Left,
}

impl Proof<'_> {
    /// Finds rules and replays the recording with them, as if it had been recorded so, until nothing varies or no further rule is
    /// found.
    pub(super) fn look_into(&self, disagreement: Disagreement) -> Inquiry {
        let mut inquiry = Inquiry::default();
        let mut fixture = self.fixture.cloned();
        let mut rules = self.project.rules.clone();
        let mut here = disagreement;
        for _ in 0..ROUNDS {
            let tried = Tried::new(self.project, fixture.as_deref(), &rules);
            // Two values may look alike by chance, so there is a third.
            let how = How { pacing: Pacing::Shaken, ..How::default() };
            let again = || trial::replay(self.project, self.scenario, fixture.clone(), &rules, how).ok();
            let diagnosis = match (here, &fixture) {
                (Disagreement::Failed { replayed, .. }, Some(fixture)) => {
                    let again = again();
                    let all: Vec<&Replayed> = std::iter::once(&*replayed).chain(&again).collect();
                    diagnosis::of_misses(&all, fixture, &tried)
                }
                (Disagreement::Differ { mut runs, .. }, _) => {
                    let committed = runs.last().and_then(|run| run.committed.clone());
                    runs.extend(again().map(|again| Replayed { committed, ..again }));
                    diagnosis::of_goldens(&runs, self.scenario, &tried)
                }
                _ => Diagnosis::default(),
            };
            if diagnosis.rules.is_empty() {
                inquiry.findings.extend(diagnosis.findings);
                inquiry.loosening = diagnosis.loosening;
                break;
            }
            // The other misses may be consequences. If not, they show up again in the next round.
            inquiry.findings.extend(diagnosis.findings.into_iter().filter(|finding| finding.mended));
            if let Some(old) = &fixture {
                let Some(with_rules) = tried::rekeyed(old, &rules, &diagnosis.rules) else { return inquiry };
                fixture = Some(with_rules);
            }
            inquiry.changed.extend(tried.changed(&diagnosis.rules));
            rules = Arc::new(tried::with(&rules, &diagnosis.rules));
            inquiry.rules.extend(diagnosis.rules);
            match self.replays(fixture.as_ref(), &rules) {
                Ok(agreed) => {
                    inquiry.outcome = Outcome::Agree(agreed.replays);
                    return inquiry;
                }
                Err(next) => here = next,
            }
        }
        inquiry.outcome = Outcome::Left;
        inquiry
    }
}
