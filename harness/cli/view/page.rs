//! Runs as a page: one HTML file that contains its style and script and needs no network. Pure.

mod axis;
mod view;

use minijinja::value::Serde;
use minijinja::{Environment, Value};
use serde::Serialize;

use retake::__private::report::{RunData, RunResult};
use retake_base::error::{Error, Result};
use retake_base::line::{Line, Side};
use retake_base::text::{clipped, counted, in_thousands};
use view::RunView;

use super::explain::{moment, time};

/// How many failed runs may be open when the page is loaded. If more failed, all are closed, to keep the overview.
const OPEN: usize = 3;

/// How many characters of an event's payload are shown.
const PAYLOAD: usize = 160;

/// The data of the page's template.
#[derive(Serialize)]
struct Page<'a> {
    title: String,
    style: &'static str,
    script: &'static str,
    runs: Vec<RunView<'a>>,
    failed: usize,
    flaky: usize,
    skipped: usize,
    passed: usize,
    /// `12 scenarios`
    scenarios: String,
    /// `30 model calls`
    calls: String,
    tokens: String,
    started: String,
}

/// The page of these runs, failed ones first.
/// Fails if the page cannot be rendered, which would be a bug in Retake.
pub(crate) fn page(runs: &[RunData]) -> Result<String> {
    let runs: Vec<&RunData> = runs.iter().filter(|run| run.is_shown()).collect();
    let mut sorted = runs.clone();
    sorted.sort_by(|a, b| {
        (b.result == RunResult::Failed, &a.scenario).cmp(&(a.result == RunResult::Failed, &b.scenario))
    });
    let ended = |how: RunResult| runs.iter().filter(|run| run.result == how).count();
    let [failed, passed, skipped] = [RunResult::Failed, RunResult::Passed, RunResult::Skipped].map(ended);
    let turns = || runs.iter().flat_map(|run| &run.calls).filter_map(|call| call.turn.as_ref());
    let tokens = turns().filter_map(|turn| turn.tokens).flat_map(|tokens| [tokens.input, tokens.output]);
    let tokens = tokens.fold(0, u64::saturating_add);
    let started = runs.iter().map(|run| run.started.as_str()).max().unwrap_or_default();
    let page = Page {
        title: match failed {
            0 if passed == 0 => "No scenario ran".to_owned(),
            0 if passed == 1 => "The scenario passed".to_owned(),
            0 => format!("All {passed} scenarios passed"),
            _ => format!("{failed} of {} failed", counted(passed + failed, "scenario")),
        },
        style: include_str!("page/page.css"),
        script: include_str!("page/page.js"),
        runs: sorted
            .iter()
            .enumerate()
            .map(|(i, run)| RunView::of(run, i < OPEN && failed <= OPEN, runs.len()))
            .collect(),
        failed,
        flaky: runs.iter().filter(|run| run.flaky.is_some()).count(),
        skipped,
        passed,
        scenarios: counted(runs.len(), "scenario"),
        calls: counted(runs.iter().map(|run| run.calls.len()).sum(), "model call"),
        tokens: in_thousands(tokens),
        started: moment(started),
    };
    rendered(&page).map_err(|error| Error::new(format!("the page cannot be rendered: {error:#}")))
}

fn rendered(page: &Page<'_>) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.add_filter("time", time);
    environment.add_filter("thousands", in_thousands);
    environment.add_filter("moment", moment);
    environment.add_filter("brief", |payload: String| clipped(&payload, PAYLOAD).into_owned());
    environment.add_filter("tallied", tallied);
    environment.add_template("page.html", include_str!("page/page.html"))?;
    environment.get_template("page.html")?.render(Serde(page))
}

/// The names of events, each with how often it came, in the order in which they first came.
fn tallied(events: &Value) -> Result<String, minijinja::Error> {
    let mut names: Vec<(Value, usize)> = Vec::new();
    for event in events.try_iter()? {
        let name = event.get_attr("name")?;
        match names.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => names.push((name, 1)),
        }
    }
    let times = |(name, count): (Value, usize)| if count == 1 { name.to_string() } else { format!("{name} ×{count}") };
    Ok(names.into_iter().map(times).collect::<Vec<_>>().join(", "))
}

/// Evidence as HTML, with the lines of each side marked.
fn marked(lines: &[Line]) -> String {
    let line = |line: &Line| match line.side {
        Side::Both => escaped(&line.to_string()),
        Side::Gone => format!("<span class=\"del\">{}</span>", escaped(&line.to_string())),
        Side::Come => format!("<span class=\"add\">{}</span>", escaped(&line.to_string())),
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests;
