//! The verdicts of a scenario's worlds as lines, which are a golden. Pure.

use std::fmt::Write as _;

use super::batch::Judged;

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
pub(super) fn print(judged: &[Judged], callers: &[Option<String>], found: Option<usize>, repeats: bool) -> String {
    let mut text = String::new();
    let mut lines = judged.iter().map(|judged| Line::of(judged, callers)).peekable();
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
    if let Some(found) = found {
        let _ = writeln!(text, "{} of {found} worlds, chosen evenly", judged.len());
    }
    if !repeats {
        let _ = writeln!(text, "sick: not looked for, since a second run on the same system differs without any fault");
    }
    text
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
