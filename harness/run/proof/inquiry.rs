//! What varies, found out in rounds: rules are tried in replays, since each may bring the next thing to light.

use std::sync::Arc;

use super::diagnosis::{self, Diagnosis, Finding};
use super::loosening::Loosening;
use super::replays::{Disagreement, Proof};
use super::rule::Rule;
use super::tried::{self, Tried};

/// How often rules are tried in replays.
const ROUNDS: usize = 5;

/// What was found in all rounds.
#[derive(Default)]
pub(super) struct Inquiry {
    pub(super) findings: Vec<Finding>,
    pub(super) rules: Vec<Rule>,
    /// What of the golden is to be left open besides.
    pub(super) loosening: Option<Loosening>,
    pub(super) outcome: Outcome,
}

/// How far the rules got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Outcome {
    /// They could not be tried: the fixture keeps hashes only.
    #[default]
    Untried,
    /// Two replays with the rules agree.
    Agree,
    /// Something varies that no rule was found for.
    Left,
}

impl Proof<'_> {
    /// Finds rules, and tries them in replays of the recording as it would have been with them, until nothing varies any
    /// more or nothing mends it.
    pub(super) fn look_into(&self, disagreement: Disagreement) -> Inquiry {
        let mut inquiry = Inquiry::default();
        let mut fixture = self.fixture.cloned();
        let mut rules = self.project.rules.clone();
        let mut disagreement = Some(disagreement);
        for _ in 0..ROUNDS {
            let Some(here) = disagreement.take() else { break };
            let tried = Tried::new(fixture.as_deref(), &rules);
            let diagnosis = match (&here, &fixture) {
                (Disagreement::Failed { replayed, .. }, Some(fixture)) => {
                    diagnosis::of_misses(replayed, fixture, &tried)
                }
                (Disagreement::Differ { first, second, .. }, _) => {
                    diagnosis::of_goldens(first, second, self.scenario, &tried)
                }
                _ => Diagnosis::default(),
            };
            if diagnosis.rules.is_empty() {
                inquiry.findings.extend(diagnosis.findings);
                inquiry.loosening = diagnosis.loosening;
                inquiry.outcome = Outcome::Left;
                return inquiry;
            }
            // What else missed may have been a consequence: the next round tells.
            inquiry.findings.extend(diagnosis.findings.into_iter().filter(|finding| finding.mended));
            let new = Arc::new(tried::with(&rules, &diagnosis.rules));
            if let Some(old) = &fixture {
                let Some(with_rules) = tried::rekeyed(old, &rules, &diagnosis.rules) else { return inquiry };
                fixture = Some(with_rules);
            }
            rules = new;
            inquiry.rules.extend(diagnosis.rules);
            match self.replays(fixture.as_ref(), &rules) {
                Ok(_) => {
                    inquiry.outcome = Outcome::Agree;
                    return inquiry;
                }
                Err(next) => disagreement = Some(next),
            }
        }
        inquiry.outcome = Outcome::Left;
        inquiry
    }
}
