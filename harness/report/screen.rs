//! Fits a failure on one screen of a terminal: the first line and the advice stay whole, the evidence is cut, and diffs have
//! colours. In CI and in pipes, the whole failure is printed without colours.

use std::env;
use std::io::{IsTerminal as _, stdout};

use super::evidence::Evidence;
use super::failure::Failure;
use super::terminal::coloured;
use retake_base::env::RETAKE;
use retake_base::line::{Line, Side};
use retake_base::text::{clipped, counted, printed, visible};

/// The columns and rows that are assumed if neither `COLUMNS` and `LINES` nor the terminal say how many there are.
const SIZE: (usize, usize) = (80, 24);
/// The rows that the runner and cargo need for their own output around a failure.
const AROUND: usize = 11;
const RED: &str = "31";
const GREEN: &str = "32";

/// How to show failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// The columns and rows that a failure has to fit; `None` to print all of it.
    size: Option<(usize, usize)>,
    colours: bool,
}

impl Screen {
    /// The screen of standard output. `COLUMNS` and `LINES` set its size, even for a pipe.
    pub fn of_stdout() -> Screen {
        let number = |name: &str| env::var(name).ok()?.parse::<usize>().ok();
        let (columns, rows) = (number("COLUMNS"), number("LINES"));
        let is_terminal = stdout().is_terminal();
        let cut = !retake_base::env::in_ci() && (is_terminal || rows.is_some());
        let (of_columns, of_rows) = terminal_size().unwrap_or(SIZE);
        let size = cut.then_some((columns.unwrap_or(of_columns).max(20), rows.unwrap_or(of_rows)));
        Screen { size, colours: is_terminal && env::var_os("NO_COLOR").is_none() }
    }

    /// The text of a scenario's failure.
    pub fn show(self, failure: &Failure, scenario: &str) -> String {
        let lines = self.size.map_or_else(|| failure.lines(), |size| cut(failure, scenario, size));
        lines.iter().map(|line| self.line(line)).collect::<Vec<_>>().join("\n")
    }

    /// A line, in the colour of its side.
    fn line(self, line: &Line) -> String {
        match line.side {
            Side::Gone if self.colours => coloured(RED, &line.to_string()),
            Side::Come if self.colours => coloured(GREEN, &line.to_string()),
            _ => printed(&line.to_string()).into_owned(),
        }
    }
}

/// The columns and rows that the terminal of standard output reports; `None` if it is not a terminal or does not know its size.
#[cfg(unix)]
pub fn terminal_size() -> Option<(usize, usize)> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    Some((usize::from(size.ws_col), usize::from(size.ws_row))).filter(|(columns, rows)| *columns > 0 && *rows > 0)
}

#[cfg(not(unix))]
pub fn terminal_size() -> Option<(usize, usize)> {
    None
}

/// The lines of a failure with only as much evidence as fits between the first line and the advice.
fn cut(failure: &Failure, scenario: &str, (columns, rows): (usize, usize)) -> Vec<Line> {
    let height_of = |line: &str| line.chars().count().div_ceil(columns).max(1);
    let height = |lines: &[Line]| lines.iter().map(|line| height_of(&line.to_string())).sum::<usize>();
    let whole = failure.lines();
    let room = rows.saturating_sub(AROUND);
    if height(&whole) <= room {
        return whole;
    }
    let (mut shown, advice) = (failure.head(), failure.advice_lines());
    let (mut lines, mut log): (Vec<Line>, _) = (Vec::new(), 0..0);
    // Nothing is told twice.
    let is_told = |line: &Line| failure.causes.iter().any(|cause| cause.what == line.text.trim());
    let is_new = |line: &Line| !line.text.is_empty() && (line.side != Side::Both || !is_told(line));
    for evidence in &failure.evidence {
        let begin = lines.len();
        lines.extend(evidence.lines().into_iter().filter(is_new));
        if matches!(evidence, Evidence::Log { .. }) {
            log = begin + 1..lines.len();
        }
    }
    // Leave room for two empty lines, and for the line that counts what is left out.
    let left = room.saturating_sub(height(&shown) + height(&advice) + 3);
    let over = lines.len().saturating_sub(left);
    // What a log says last tells most.
    lines.drain(log.start..(log.start + over).min(log.end));
    shown.push("".into());
    for line in lines.iter().take(left) {
        let width = (columns - 1).saturating_sub(line.indent + SIGN);
        shown.push(Line { text: clipped(&visible(&line.text), width).into_owned(), ..line.clone() });
    }
    if over > 0 {
        shown.push(format!("  … {}: {RETAKE} explain {scenario}", counted(over, "more line")).into());
    }
    if !advice.is_empty() {
        shown.push("".into());
        shown.extend(advice);
    }
    shown
}

/// The width of a sign and the space after it.
const SIGN: usize = 2;

#[cfg(test)]
mod tests;
