//! The printed report of a tool replay. Pure.

use super::replay::{Drifted, Outcome};
use retake_base::text::{clipped, counted};
use retake_core::json::Layout;

/// How many differences of one action are printed. The log has all of them.
const QUOTED: usize = 3;
/// The most characters of a value that are printed.
const LONGEST: usize = 160;

/// Returns the outcome of a run in one line.
pub fn summary(outcome: &Outcome) -> String {
    let not_executed = match outcome.not_executed.len() {
        0 => String::new(),
        count => format!(", {count} not executed"),
    };
    let never_reached = match outcome.never_reached {
        0 => String::new(),
        count => format!(", {} never reached", counted(count, "observation")),
    };
    let drift = match outcome.drifted {
        0 => "no drift".to_owned(),
        count => format!("drift in {count}"),
    };
    let executed = counted(outcome.executed, "action");
    format!("{executed} executed, {drift}{not_executed}{never_reached}, 0 model calls")
}

/// Returns the first actions that drifted, each with its differences.
pub fn drifts(outcome: &Outcome) -> String {
    let mut lines: Vec<String> = outcome.quoted.iter().flat_map(drifted).collect();
    let more = outcome.drifted - outcome.quoted.len();
    if more > 0 {
        lines.push(format!("  and {} more", counted(more, "action")));
    }
    if outcome.never_reached > 0 {
        let count = counted(outcome.never_reached, "recorded observation");
        lines.push(format!("  {count} belong to no recorded action, so they were not compared"));
    }
    lines.join("\n")
}

/// Returns what else is worth knowing about a run, one line for each note.
pub fn notes(outcome: &Outcome) -> Vec<String> {
    let mut lines = outcome.warnings.clone();
    let mut reasons: Vec<&str> = outcome.not_executed.iter().map(|(_, reason)| *reason).collect();
    reasons.sort_unstable();
    reasons.dedup();
    for reason in reasons {
        let tools: Vec<&str> =
            outcome.not_executed.iter().filter(|(_, why)| *why == reason).map(|(tool, _)| &**tool).collect();
        lines.push(format!("not executed, {reason}: {}", tools.join(", ")));
    }
    lines
}

fn drifted(drifted: &Drifted) -> Vec<String> {
    let Drifted { number, tool, args, differences } = drifted;
    let mut lines = vec![format!("  action {number}, `{tool}` {}", clipped(&args.print(Layout::Python), LONGEST))];
    for difference in differences.iter().take(QUOTED) {
        let [then, now] = difference.shown(LONGEST);
        lines.push(format!("    at {}", difference.pointer));
        lines.push(format!("      recorded  {then}"));
        lines.push(format!("      now       {now}"));
    }
    if differences.len() > QUOTED {
        lines.push(format!("    and {} more", counted(differences.len() - QUOTED, "difference")));
    }
    lines
}
