//! The verdicts of a scenario's worlds as lines, which are a golden. Pure.

use std::fmt::Write as _;

use super::batch::Judged;
use super::matrix::Matrix;

/// One line: the turn, its caller, the fault, what the service did, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) turn: usize,
    caller: Option<String>,
    said: String,
}

impl Line {
    fn of(judged: &Judged, callers: &[Option<String>]) -> Line {
        let Judged { world, verdict, .. } = judged;
        let said = [world.said().as_str(), verdict.did.word(), &verdict.why].join("  ");
        Line { turn: world.turn, caller: callers.get(world.turn).cloned().flatten(), said: said.trim_end().to_owned() }
    }

    /// The text without the numbers of turns.
    fn rest(&self) -> String {
        let caller = self.caller.as_ref().map(|caller| format!(" {caller}")).unwrap_or_default();
        format!("{caller}  {}", self.said)
    }

    fn print(&self) -> String {
        format!("turn {}{}", self.turn + 1, self.rest())
    }
}

/// The line of one world, as it stands in an unfolded table.
pub(super) fn line_of(judged: &Judged, callers: &[Option<String>]) -> String {
    Line::of(judged, callers).print()
}

/// The table. Neighbouring lines that are equal but for their turn are one line.
pub(super) fn print(matrix: &Matrix, callers: &[Option<String>]) -> String {
    let mut text = String::new();
    let mut lines = matrix.judged.iter().map(|judged| Line::of(judged, callers)).peekable();
    while let Some(first) = lines.next() {
        let mut last = first.turn;
        while let Some(next) = lines.next_if(|next| next.turn == last + 1 && next.rest() == first.rest()) {
            last = next.turn;
        }
        let turns = if last == first.turn {
            format!("turn {}", last + 1)
        } else {
            format!("turns {}..{}", first.turn + 1, last + 1)
        };
        let _ = writeln!(text, "{turns}{}", first.rest());
    }
    for note in notes(matrix) {
        let _ = writeln!(text, "{note}");
    }
    text
}

/// What is said of all worlds together.
pub(super) fn notes(matrix: &Matrix) -> Vec<String> {
    let Matrix { judged, found, unlike, unmet, .. } = matrix;
    let found = found.map(|found| format!("{} of {found} worlds, chosen evenly", judged.len() + unmet.len()));
    let unmet = unmet.iter().map(|world| format!("no verdict: no call met {}", world.id()));
    let sick = unlike.map(|unlike| format!("{NOT_SICK}, since a second run on the same system {unlike}"));
    found.into_iter().chain(unmet).chain(sick).collect()
}

/// What is said where a sick system cannot be told.
const NOT_SICK: &str = "sick: not looked for";

/// Whether what a committed table says is so: each of its worlds has the line that it had. Worlds of faults that it does not know came
/// later; returns how many there are. `None` if it is not so.
pub(super) fn holds(committed: &str, matrix: &Matrix, callers: &[Option<String>]) -> Option<usize> {
    let before = unfolded(committed);
    let is_known = |judged: &&Judged| {
        let kind = judged.world.fault.kind.name();
        before.iter().any(|line| line.split("  ").nth(1).is_some_and(|fault| fault.split(' ').next() == Some(kind)))
    };
    let (known, new): (Vec<&Judged>, Vec<&Judged>) = matrix.judged.iter().partition(is_known);
    let lines = known.iter().map(|judged| line_of(judged, callers));
    // Their number, and which of them are chosen, change with those that came later.
    let notes = notes(matrix).into_iter().filter(|note| new.is_empty() || !note.contains(" worlds, chosen"));
    let now: Vec<String> = lines.chain(notes).collect();
    let before = before.iter().filter(|line| new.is_empty() || !line.contains(" worlds, chosen"));
    let before: Vec<&String> = before.collect();
    let is_same = before.len() == now.len() && before.iter().zip(&now).all(|(before, now)| says(now, before));
    is_same.then_some(new.len())
}

/// Whether a line says what one of an earlier version says, and possibly more.
fn says(now: &str, before: &str) -> bool {
    let sick = now.starts_with(NOT_SICK) && before.starts_with(NOT_SICK);
    sick || now
        .strip_prefix(before)
        .is_some_and(|more| more.is_empty() || more.starts_with(": ") || more.starts_with(", "))
}

/// Whether the line of a world stands in a committed table.
pub(super) fn is_accepted(judged: &Judged, callers: &[Option<String>], accepted: &[String]) -> bool {
    let line = line_of(judged, callers);
    accepted.iter().any(|before| says(&line, before))
}

/// The lines of a committed table, each for one turn.
pub(super) fn unfolded(table: &str) -> Vec<String> {
    let each = |line: &str| -> Vec<String> {
        let folded = line.strip_prefix("turns ").and_then(|rest| {
            let (turns, rest) = rest.split_once(' ')?;
            let (first, last) = turns.split_once("..")?;
            Some((first.parse::<usize>().ok()?, last.parse::<usize>().ok()?, rest))
        });
        match folded {
            Some((first, last, rest)) => (first..=last).map(|turn| format!("turn {turn} {rest}")).collect(),
            None => vec![line.to_owned()],
        }
    };
    table.lines().flat_map(each).collect()
}

#[cfg(test)]
mod tests;
