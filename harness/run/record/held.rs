//! Holds the run that was recorded to its replays. What the service sent while it was recorded is what it has to send from the
//! recording; otherwise the golden would hold what never was.

use std::collections::BTreeSet;

use crate::report::{Evidence, Failure, terminal, unified_lines};
use crate::run::commands::record_command;
use crate::run::golden::Committed;
use crate::run::proof::{Agreed, Loosening};
use crate::run::trial::Replayed;
use retake_core::events::{Captured, Change, Event, Golden, ShapeOptions, Status, changes, moved_and_counted};
use retake_scenario::{Action, Scenario, Step};

/// What the golden's line of a collapsed event says if its text is not known.
const NOT_HELD: &str = "(text not held)";

/// Compares the recorded run with a replay of the proof. Where the pieces of a text were cut is not compared. `written` is the golden that
/// will be, which then holds no number that was another one. Returns in what the two differ, and the failure about that.
pub(super) fn compare(
    mut recorded: Replayed,
    proven: Agreed,
    scenario: &Scenario,
    written: &mut Option<Golden>,
) -> Option<(String, Failure)> {
    let (golden, mut replayed) = (proven.golden?, proven.run);
    for run in [&mut recorded, &mut *replayed] {
        run.committed = Some(Committed::now(golden.clone()));
    }
    let of = |run: &Replayed, options: &ShapeOptions| run.golden(options, &run.rules).golden;
    // What the providers say in headers, such as a limit that is left, differs from the recording.
    let both = |options: &ShapeOptions| {
        let (mut then, mut now) = (of(&replayed, options), of(&recorded, options));
        Golden::agree_on_what_varies(&mut [&mut then, &mut now], options.detail);
        (then, now)
    };
    let options = &scenario.golden;
    if let Some(golden) = written.as_mut().filter(|_| replayed.has_others) {
        golden.agree_on_values(&of(&recorded, options));
    }
    let (then, now) = both(options);
    if let Some(golden) = written {
        golden.keep_varying_beside(&then);
    }
    if then == now {
        return None;
    }
    let (_, counted) = moved_and_counted(&then, &now);
    let uncut = ShapeOptions { collapse: [&options.collapse[..], &counted].concat(), ..options.clone() };
    let (a, b) = both(&uncut);
    if a == b && not_held(&a) == not_held(&then) {
        return None;
    }
    let causes = changes(&then, &now);
    let first = causes.first().map_or_else(|| "the texts differ".to_owned(), Change::words);
    let first = first.replace("the golden", "the replay");
    let what = format!("while it was recorded, the service sent something else: {first}");
    let name = &scenario.name;
    let diff = unified_lines(&then.to_string(), &now.to_string());
    let diff = Evidence::diff("- its replays, + while it was recorded", diff);
    let mut failure = Failure::new(format!("{what}; so nothing was written")).evidence(diff);
    let more = only_in(&recorded, &replayed);
    let ignoring = ShapeOptions { ignore: [&options.ignore[..], &more].concat(), ..options.clone() };
    let (a, b) = both(&ignoring);
    let option = if !more.is_empty() && a == b {
        Some(format!("ignore = {:?}", ignoring.ignore))
    } else {
        Loosening::of(&[&replayed, &recorded], options, &replayed.rules).map(|loosening| loosening.toml)
    };
    if let Some(option) = option {
        let case = format!("if only time brings this, add under [golden] in {}", scenario.file.display());
        failure = failure.resolve(case, option);
    }
    let again = format!("{} --resume", record_command(name));
    let failure = failure
        .resolve("to prove it again without paying", again.clone())
        .resolve("to write it anyway, marked as unstable", format!("{again} --accept-unstable"));
    Some((what, failure))
}

/// How often a golden says that the text of collapsed events is not known.
fn not_held(golden: &Golden) -> usize {
    golden.to_string().matches(NOT_HELD).count()
}

/// The names of events that came in one run and not in the other.
fn only_in(run: &Replayed, other: &Replayed) -> Vec<String> {
    let names = |run: &Replayed| -> BTreeSet<String> {
        let captured = run.played.driven.captured.iter();
        let events = captured.flat_map(|captured| captured.events.iter().chain(&captured.after.events));
        events.filter(|event| event.is_real()).map(|event: &Event| event.label().into_owned()).collect()
    };
    names(run).difference(&names(other)).cloned().collect()
}

/// Warns if the recorded run is of a failure, which each replay would repeat.
pub(super) fn warn_of_errors(recorded: &Replayed, scenario: &Scenario) {
    let name = &scenario.name;
    let steps = || scenario.steps.iter().flat_map(Step::parts);
    // Who names a status alone knows of it.
    let is_named = |status: u16| {
        steps().any(|step| matches!(&step.action, Action::Request(of) if of.status == Some(vec![status])))
    };
    let is_refused = |captured: &&Captured| {
        matches!(captured.status, Status::Http(status @ 400..) if !is_named(status)) && !captured.delivery.is_beside
    };
    let answered = |it: &Captured| format!("`{}` was answered with status {}", it.request, it.status);
    let refused = recorded.played.driven.captured.iter().filter(is_refused).map(answered);
    let of_events = recorded.error_event(None).map(|cause| cause.what);
    for what in of_events.into_iter().chain(refused) {
        terminal::note(format!("{name}: warning: {what}; this is what was recorded"));
    }
}
