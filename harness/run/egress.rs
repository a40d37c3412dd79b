//! What is said about connections to anything but the stage's own servers. Pure.

use crate::report::{Failure, Note};
use retake_base::cause::{Cause, CauseKind};
use retake_engine::system::{Attempts, EgressData, Proof, allowing};
use retake_scenario::{Egress as Level, Scenario};

/// The notes about what a replay reached, and that what was to be refused was not seen whole.
pub(super) fn notes(egress: &EgressData, scenario: &Scenario) -> impl Iterator<Item = Note> {
    // Under `proven`, the failure says so. Who asks for no refusal finds it in the explanation.
    let says_so = egress.proof != Proof::Filter && scenario.options.egress == Level::Fail;
    let unseen = says_so.then(|| Note::from(format!("egress: {}", egress.seen())));
    let passed: Vec<&Attempts> = egress.attempts.iter().filter(|it| !it.attempt.refused).collect();
    let allow = || allowing(passed.iter().copied()).into_iter().map(str::to_owned).collect();
    let reached = listed(&passed).map(|listed| Note::quieted("egress: reached", listed, allow()));
    unseen.into_iter().chain(reached)
}

/// The note about what was reached while recording: exactly that is missing in a replay that refuses.
pub(super) fn recorded(egress: &EgressData) -> Option<String> {
    let all: Vec<&Attempts> = egress.attempts.iter().collect();
    let line = format!("egress: while it was recorded, the service also reached {}", listed(&all)?);
    Some(format!("{line}; no recording has that, so for a replay that may: {}", allow(&all)))
}

/// The failure of a scenario whose programs tried to leave, or of which nothing proves that they did not.
pub(super) fn failure(egress: &EgressData, scenario: &Scenario) -> Option<Failure> {
    let refused: Vec<&Attempts> = egress.attempts.iter().filter(|it| it.attempt.refused).collect();
    let of = |what: String| Failure::of(vec![Cause::new(CauseKind::Egress, what)]);
    if let Some(listed) = listed(&refused) {
        let were = if refused.len() > 1 { "were" } else { "was" };
        let failure = of(format!("egress: the service tried to reach {listed}, which {were} refused"));
        let lines: Vec<String> = refused.iter().map(|it| format!("  {it}")).collect();
        let failure = if lines.len() > 1 { failure.evidence(lines.join("\n")) } else { failure };
        return Some(failure.resolve("if it may, in suite.toml or scenario.toml", allow(&refused)));
    }
    if scenario.options.egress == Level::Proven && egress.proof != Proof::Filter {
        let why = egress.why.as_deref().unwrap_or_default();
        let failure = of(format!("egress: nothing proves that the service reached nothing else: {why}"));
        return Some(failure.resolve("to do without the proof, in scenario.toml", "egress = \"fail\""));
    }
    None
}

/// The first of some attempts, and how many more there are. `None` if there are none.
fn listed(attempts: &[&Attempts]) -> Option<String> {
    let (first, more) = attempts.split_first()?;
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    Some(format!("{first}{more}"))
}

/// The line of a file that lets programs reach this.
fn allow(attempts: &[&Attempts]) -> String {
    format!("allow = {:?}", allowing(attempts.iter().copied()))
}
