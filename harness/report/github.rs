//! Runs as GitHub shows them: an annotation for each failed run, and a summary of the job. Pure.

use std::fmt::Write as _;

use super::check::CheckResult;
use super::run_data::{RunData, RunResult};
use retake_base::line::{Line, Side};
use retake_base::text::{counted, printed};
use retake_core::cost::HEAD;

/// The workflow command that marks the file of a failed or flaky scenario; `None` for any other.
pub fn annotation(run: &RunData) -> Option<String> {
    let (file, title) = (property(&run.file.display().to_string()), property(&run.scenario));
    if let Some(flaky) = &run.flaky {
        let message = message(&format!("flaky: {}", flaky.failures.join("; ")));
        return Some(format!("::warning file={file},title={title}::{message}"));
    }
    let failure = run.failure.as_ref()?;
    let advice = failure.advice.first().map(|advice| format!("\n{}:\n    {}", advice.case, advice.command));
    let message = message(&format!("{}{}", failure.headline, advice.unwrap_or_default()));
    // What could not be checked is no fault of the scenario.
    let unchecked = run.check.as_ref().is_some_and(|check| check.result() == CheckResult::Unchecked);
    let level = if unchecked { "warning" } else { "error" };
    Some(format!("::{level} file={file},title={title}::{message}"))
}

/// A summary in Markdown: how many scenarios failed, and why each one did.
pub fn markdown(runs: &[RunData]) -> String {
    let runs: Vec<&RunData> = runs.iter().filter(|run| run.is_shown()).collect();
    let failed: Vec<&RunData> = runs.iter().copied().filter(|run| run.result == RunResult::Failed).collect();
    let calls: usize = runs.iter().map(|run| run.calls.len()).sum();
    let skipped: Vec<&RunData> = runs.iter().copied().filter(|run| run.result == RunResult::Skipped).collect();
    let mut text = match (failed.len(), runs.len() - skipped.len()) {
        (0, 0) => "### No scenario ran\n".to_owned(),
        (0, 1) => "### The scenario passed\n".to_owned(),
        (0, ran) => format!("### All {ran} scenarios passed\n"),
        (count, ran) => format!("### {count} of {} failed\n", counted(ran, "scenario")),
    };
    let asked = runs.iter().filter_map(|run| run.check.as_ref()).map(|check| check.calls).fold(0, u64::saturating_add);
    let asked = if asked == 0 { "none".to_owned() } else { asked.to_string() };
    let _ = write!(text, "\n{}, {asked} to a provider.\n", counted(calls, "model call"));
    let headline = |run: &RunData| run.failure.as_ref().map(|failure| failure.headline.clone()).unwrap_or_default();
    text += &table("scenario | what happened", failed.iter().map(|run| (*run, headline(run))));
    for run in &failed {
        let Some(failure) = &run.failure else { continue };
        let _ = write!(text, "\n<details><summary><code>{}</code></summary>\n\n", escaped(&run.scenario));
        for evidence in &failure.evidence {
            text += &fenced("diff", &evidence.lines().iter().map(in_diff).collect::<Vec<_>>().join("\n"));
        }
        for advice in &failure.advice {
            let _ = write!(text, "\n{}:\n{}", advice.case, fenced("", &advice.command));
        }
        text += "\n</details>\n";
    }
    let flaky = runs.iter().filter_map(|run| Some((*run, run.flaky.as_ref()?.failures.join("\n"))));
    text += &table("flaky scenario | what happened before it was green", flaky);
    if runs.iter().any(|run| !run.cost.is_empty()) {
        let _ = writeln!(text, "\n| scenario | {} |\n{}|", HEAD.join(" | "), "|---".repeat(1 + HEAD.len()));
        for (run, of) in runs.iter().flat_map(|run| run.cost.iter().map(move |of| (run, of))) {
            let _ = writeln!(text, "| {} | {} |", named(run), of.row().map(|text| cell(&text)).join(" | "));
        }
    }
    text += &table("not run | why", skipped.iter().map(|run| (*run, run.notes.join("\n"))));
    let drifted = runs.iter().filter(|run| run.calls.iter().any(|call| !call.drift.is_empty()));
    let names: Vec<String> = drifted.map(|run| named(run)).collect();
    if !names.is_empty() {
        let _ = write!(text, "\nWith drift: {}.\n", names.join(", "));
    }
    for (run, days) in runs.iter().filter_map(|run| Some((run, run.days_old?))) {
        let _ = write!(text, "\nOlder than `max_age`: {}, {days} days.\n", named(run));
    }
    printed(&text).into_owned()
}

/// A table of runs, each with what is told of it; nothing if there are none.
fn table<'a>(head: &str, rows: impl Iterator<Item = (&'a RunData, String)>) -> String {
    let rows: Vec<String> = rows.map(|(run, what)| format!("| {} | {} |\n", named(run), cell(&what))).collect();
    if rows.is_empty() { String::new() } else { format!("\n| {head} |\n|---|---|\n{}", rows.concat()) }
}

/// A line as GitHub colours it: its sign is in the first column.
fn in_diff(line: &Line) -> String {
    let sign = match line.side {
        Side::Both => return line.to_string(),
        Side::Gone => '-',
        Side::Come => '+',
    };
    format!("{sign} {:indent$}{}", "", line.text, indent = line.indent)
}

/// A code block with a text. Its fence is longer than any in the text.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("\n{fence}{language}\n{}\n{fence}\n", text.trim_end())
}

/// The name of a scenario, which data of another job may have chosen.
fn named(run: &RunData) -> String {
    if run.scenario.contains(['`', '|', '<', '&']) {
        return format!("<code>{}</code>", cell(&run.scenario).replace('`', "&#96;"));
    }
    format!("`{}`", run.scenario)
}

fn cell(text: &str) -> String {
    escaped(text).replace('|', "\\|").replace('\n', "<br>")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn message(text: &str) -> String {
    printed(&text.replace("\r\n", "\n")).replace('%', "%25").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests;
