//! Fits a failure on one screen of a terminal: the first line and the advice stay whole, the evidence is cut, and diffs have
//! colours. In CI and in pipes, the whole failure is printed without colours.

use std::env;
use std::io::{IsTerminal as _, stdout};

use super::failure::Failure;
use retake_base::text::{clipped, counted};

/// The columns and rows that are assumed if neither `COLUMNS` and `LINES` nor the terminal say how many there are.
const SIZE: (usize, usize) = (80, 24);
/// The rows that the runner and cargo need for their own output around a failure.
const AROUND: usize = 11;
const RED: &str = "\u{1b}[31m";
const GREEN: &str = "\u{1b}[32m";
const PLAIN: &str = "\u{1b}[0m";

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
        let cut = env::var_os("CI").is_none() && (is_terminal || rows.is_some());
        let (of_columns, of_rows) = terminal_size().unwrap_or(SIZE);
        let size = cut.then_some((columns.unwrap_or(of_columns).max(20), rows.unwrap_or(of_rows)));
        Screen { size, colours: is_terminal && env::var_os("NO_COLOR").is_none() }
    }

    /// The text of a scenario's failure.
    pub fn show(self, failure: &Failure, scenario: &str) -> String {
        let text = self.size.map_or_else(|| failure.to_string(), |size| cut(failure, scenario, size));
        if self.colours { coloured(&text) } else { text }
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

/// The text of a failure with only as much evidence as fits between the first line and the advice.
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
    // Leave room for two empty lines, and for the line that counts what is left out.
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

/// A text with the lines of diffs in red and green.
fn coloured(text: &str) -> String {
    let line = |line: &str| match line.trim_start().as_bytes() {
        // This line explains the signs.
        b"- golden, + this run" => line.to_owned(),
        [b'-', b' ', ..] => format!("{RED}{line}{PLAIN}"),
        [b'+', b' ', ..] => format!("{GREEN}{line}{PLAIN}"),
        _ => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
