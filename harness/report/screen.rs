//! A failure on one screen of a terminal: its first line and what resolves it stay, evidence is cut to fit, and diffs have
//! colours. Where nobody looks at a screen, in CI and in pipes, all of it is printed.

use std::env;
use std::io::{IsTerminal as _, stdout};

use super::failure::Failure;
use crate::text::{clipped, counted};

/// The columns and rows of a terminal that does not say how large it is.
const SIZE: (usize, usize) = (80, 24);
/// The rows of a screen that hold what a runner and cargo print around a failure: names, counts.
const AROUND: usize = 11;
const RED: &str = "\u{1b}[31m";
const GREEN: &str = "\u{1b}[32m";
const PLAIN: &str = "\u{1b}[0m";

/// How failures are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Screen {
    /// Columns and rows, where a failure is cut to fit.
    size: Option<(usize, usize)>,
    colours: bool,
}

impl Screen {
    /// The screen that stdout is; `COLUMNS` and `LINES` say how large, of a pipe too.
    pub(crate) fn of_stdout() -> Screen {
        let number = |name: &str| env::var(name).ok()?.parse::<usize>().ok();
        let (columns, rows) = (number("COLUMNS"), number("LINES"));
        let looked_at = stdout().is_terminal();
        let cut = env::var_os("CI").is_none() && (looked_at || rows.is_some());
        let size = cut.then_some((columns.unwrap_or(SIZE.0).max(20), rows.unwrap_or(SIZE.1)));
        Screen { size, colours: looked_at && env::var_os("NO_COLOR").is_none() }
    }

    /// A failure of a scenario, as it is printed.
    pub(crate) fn show(self, failure: &Failure, scenario: &str) -> String {
        let text = self.size.map_or_else(|| failure.to_string(), |size| cut(failure, scenario, size));
        if self.colours { coloured(&text) } else { text }
    }
}

/// As much of the evidence as fits beside the first line and the advice.
fn cut(failure: &Failure, scenario: &str, (columns, rows): (usize, usize)) -> String {
    let height = |text: &str| text.lines().map(|line| line.chars().count().div_ceil(columns).max(1)).sum::<usize>();
    let whole = failure.to_string();
    let room = rows.saturating_sub(AROUND);
    if height(&whole) <= room {
        return whole;
    }
    let bare = Failure { evidence: Vec::new(), ..failure.clone() }.to_string();
    let (head, advice) = bare.split_once("\n\n").unwrap_or((&bare, ""));
    let lines: Vec<&str> =
        failure.evidence.iter().flat_map(|block| block.lines()).filter(|line| !line.is_empty()).collect();
    // Two empty lines, and the one that says what is left out.
    let mut left = room.saturating_sub(height(head) + height(advice) + 3);
    let mut shown: Vec<String> = Vec::new();
    for line in &lines {
        let line = clipped(line, columns - 1);
        if left == 0 {
            break;
        }
        left -= 1;
        shown.push(line.into_owned());
    }
    let more = lines.len() - shown.len();
    if more > 0 {
        shown.push(format!("  … {}: retake explain {scenario}", counted(more, "more line")));
    }
    let advice = if advice.is_empty() { String::new() } else { format!("\n\n{advice}") };
    format!("{head}\n\n{}{advice}", shown.join("\n"))
}

/// The lines of diffs in red and green.
fn coloured(text: &str) -> String {
    let line = |line: &str| match line.trim_start().as_bytes() {
        // What the signs mean.
        b"- golden, + this run" => line.to_owned(),
        [b'-', b' ', ..] => format!("{RED}{line}{PLAIN}"),
        [b'+', b' ', ..] => format!("{GREEN}{line}{PLAIN}"),
        _ => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
