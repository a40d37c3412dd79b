//! A run as text for a terminal, step by step and call by call, from its data. Pure.

use super::columns::{self, in_a_line, wrapped};
use retake::__private::report::{CallData, Deed, RunAction, RunData, RunResult, StepData, TurnData, table};
use retake_base::line::texts;
use retake_base::text::{counted, nth_turn};
use retake_core::cost::{CallerCost, HEAD};
use retake_core::key::attributed;

/// How many lines of a message or an answer are shown.
const LINES: usize = 3;
/// The column in which titles and labels begin, after the time.
const TITLE: usize = 13;

/// A run as text, in lines of at most `width` characters.
pub(crate) fn explained(run: &RunData, width: usize) -> String {
    let mut lines = head(run, width);
    if let Some(egress) = &run.egress {
        lines.extend([String::new(), in_a_line(&format!("egress: {}", egress.seen()), width)]);
        lines.extend(egress.attempts.iter().map(|it| format!("  {}", in_a_line(&it.to_string(), width - 2))));
    }
    lines.extend(part("steps", run.steps.iter().flat_map(|step| step_lines(step, width))));
    let calls = run.calls.iter().enumerate();
    lines.extend(part("model calls", calls.flat_map(|(index, call)| call_lines(index + 1, call, width))));
    let requests = run.tool_requests.iter().flat_map(|asked| {
        let failed = if asked.failed { "failed: " } else { "" };
        let line = in_a_line(&format!("{}: {}", asked.server, asked.request), width - TITLE);
        let answered = labelled("answered", &format!("{failed}{}", asked.answer), width);
        std::iter::once(format!("{}  {line}", at(asked.at_ms))).chain(answered)
    });
    lines.extend(part("requests to tool servers", requests));
    let unused = run.unused.iter().map(|turn| {
        let by = attributed(" by", turn.caller.as_deref());
        let line = in_a_line(&format!("{}{by}: {}", nth_turn(turn.index), says(turn)), width - 2);
        format!("  {line}")
    });
    lines.extend(part("turns that no call asked for", unused));
    if let Some(golden) = &run.golden {
        lines.push(String::new());
        let file = golden.file.display();
        lines.push(match (&golden.committed, &golden.run, &run.failure) {
            (None, Some(_), _) => format!("golden: {file} does not exist; this run would write it"),
            (Some(_), Some(_), _) => format!("golden: {file} differs (- golden, + this run)"),
            (None, None, Some(_)) => format!("golden: {file} does not exist, and the run ended too early to write it"),
            (Some(_), None, Some(_)) if run.steps.iter().any(|step| step.failure.is_some()) => {
                format!("golden: {file}: not compared, the run ended early")
            }
            (Some(_), None, Some(_)) => format!("golden: {file}: nothing in this run differs from it"),
            (_, None, None) => format!("golden: {file}: unchanged"),
        });
        if let (Some(_), Some(diff)) = (&golden.committed, &golden.diff) {
            lines.extend(diff.lines().flat_map(|line| wrapped(line, 2, width)));
        }
    }
    lines.extend(part("notes", run.notes.iter().flat_map(|note| wrapped(note, 2, width))));
    lines.extend(part("see also", run.logs.iter().map(|file| format!("  {}", file.display()))));
    // Whoever reads this has followed the advice to explain the run.
    let advice = run.failure.iter().flat_map(|failure| &failure.advice);
    for advice in advice.filter(|advice| advice.does != Some(Deed::Explain)) {
        lines.extend([String::new(), format!("{}:", advice.case), format!("    {}", advice.command)]);
    }
    lines.join("\n")
}

/// What the calls of each caller of a run cost, and where what a cache can keep of them ends, in lines of at most `width` characters.
pub(crate) fn cost_table(run: &RunData, width: usize) -> String {
    let head = format!("{}: what its model calls cost", run.scenario);
    if run.cost.is_empty() {
        return format!("{head} was not measured; to measure it: cost = true in {}", run.file.display());
    }
    let rows = std::iter::once(HEAD.map(str::to_owned)).chain(run.cost.iter().map(CallerCost::row));
    let rows = table(&rows.collect::<Vec<_>>()).into_iter().map(|row| format!("  {row}"));
    let words = run.cost.iter().filter(|of| of.ends.is_some()).flat_map(|of| wrapped(&of.words, 2, width));
    std::iter::once(head).chain(rows).chain(words).collect::<Vec<_>>().join("\n")
}

/// The lines of a part of the explanation below its title; none if nothing is in it.
fn part(title: &str, lines: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    let mut lines = lines.peekable();
    let title = lines.peek().map(|_| [String::new(), title.to_owned()]);
    title.into_iter().flatten().chain(lines)
}

fn head(run: &RunData, width: usize) -> Vec<String> {
    let result = match run.result {
        RunResult::Passed if run.flaky.is_some() => "passed, but FLAKY,",
        RunResult::Passed => "passed",
        RunResult::Failed => "FAILED",
        RunResult::Skipped => return vec![[&run.scenario, ": ", &run.notes.join("; ")].concat()],
    };
    let action = match run.action {
        RunAction::Test => "",
        RunAction::Update => ", replayed twice for its golden",
        RunAction::Record => ", recorded",
        RunAction::Check => ", checked against the provider",
    };
    let (took, started) = (time(run.took_ms), moment(&run.started));
    let mut lines = vec![format!("{}: {result} after {took}, {started}{action}", run.scenario)];
    lines.extend(run.description.iter().flat_map(|text| wrapped(text, 2, width)));
    for failure in run.flaky.iter().flat_map(|flaky| &flaky.failures) {
        lines.extend(wrapped(&format!("before it was green: {failure}"), 2, width));
    }
    if let Some(failure) = &run.failure {
        lines.push(String::new());
        lines.extend(wrapped(&failure.headline, 0, width));
        // A run that did not get to its first step has nothing else to show.
        if run.steps.is_empty() && run.calls.is_empty() {
            let evidence = failure.evidence.iter().flat_map(|it| texts(&it.lines()));
            lines.extend(evidence.flat_map(|line| wrapped(&line, 2, width)));
        }
    }
    lines
}

fn step_lines(step: &StepData, width: usize) -> Vec<String> {
    let events = step.events.len().saturating_add(step.more_events);
    let took = step.took_ms.map_or_else(|| "never ended".to_owned(), time);
    let events = if events == 0 { String::new() } else { format!(", {}", counted(events, "event")) };
    let status = step.status.as_deref().map(|status| format!("{status}, ")).unwrap_or_default();
    let mut lines = vec![in_a_line_with_end(&step.title, &format!("{status}{took}{events}"), step.at_ms, width)];
    lines.extend(step.failure.iter().flat_map(|failure| labelled("failed", failure, width)));
    lines
}

/// `   96 ms  title …… end`. A long title is cut, the end is not.
fn in_a_line_with_end(title: &str, end: &str, at_ms: f64, width: usize) -> String {
    let room = width.saturating_sub(TITLE + end.chars().count() + 2).max(20);
    format!("{}  {:<room$}  {end}", at(at_ms), in_a_line(title, room))
}

fn call_lines(number: usize, call: &CallData, width: usize) -> Vec<String> {
    let caller = call.caller.as_ref().map(|caller| format!("{caller}, ")).unwrap_or_default();
    let got = match (&call.turn, &call.miss) {
        (Some(turn), _) => format!("{}{}", nth_turn(turn.index), tokens(turn)),
        (None, Some(_)) => "MISS".to_owned(),
        (None, None) => "no turn".to_owned(),
    };
    let title = format!("{number}. {caller}{}", counted(call.messages, "message"));
    let mut lines = vec![in_a_line_with_end(&title, &got, call.at_ms, width)];
    for message in &call.asked {
        let text = message.text.split_whitespace().collect::<Vec<_>>().join(" ");
        lines.extend(labelled("asked", &format!("{}: {text}", message.kind), width));
    }
    if let Some(turn) = &call.turn {
        lines.extend(labelled("got", &says(turn), width));
    }
    for drift in &call.drift {
        lines.extend(labelled("drift", &format!("{} changed: {}", drift.check, drift.change), width));
    }
    if let Some(miss) = &call.miss {
        lines.extend(labelled("missed", &miss.headline, width));
        lines.extend(texts(&miss.evidence).iter().flat_map(|line| wrapped(line, TITLE + 10, width)));
    }
    lines
}

fn labelled(label: &str, text: &str, width: usize) -> Vec<String> {
    columns::labelled(&format!("{:TITLE$}{label}", ""), text, TITLE + 10, width, LINES)
}

/// The answer of a turn as one text.
pub(super) fn says(turn: &TurnData) -> String {
    let calls = turn.tool_calls.iter().map(|call| format!("calls {} {}", call.name, call.args));
    let text = Some(format!("{:?}", turn.text)).filter(|_| !turn.text.is_empty());
    let parts: Vec<String> = text.into_iter().chain(calls).collect();
    if parts.is_empty() { "an answer without text".to_owned() } else { parts.join("\n") }
}

fn tokens(turn: &TurnData) -> String {
    turn.tokens.map(|tokens| format!(", {} + {} tokens", tokens.input, tokens.output)).unwrap_or_default()
}

fn at(ms: f64) -> String {
    format!("  {:>9}", time(ms))
}

/// `8.2 ms`, `140 ms`, `2.31 s`.
pub(crate) fn time(ms: f64) -> String {
    if ms < 10.0 {
        format!("{ms:.1} ms")
    } else if ms < 1000.0 {
        format!("{ms:.0} ms")
    } else {
        format!("{:.2} s", ms / 1000.0)
    }
}

/// A time of the run data as `2026-11-22 14:15:54 UTC`.
pub(super) fn moment(started: &str) -> String {
    let seconds = started.split('.').next().unwrap_or_default();
    format!("{} UTC", seconds.replace('T', " "))
}
