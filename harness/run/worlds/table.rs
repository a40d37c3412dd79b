//! The verdicts of a scenario's worlds as lines, which are a golden. Pure.

use std::fmt::Write as _;

use super::batch::Judged;
use super::matrix::Matrix;
use retake_model::{Fault, FaultKind};

/// One line: the turn and its caller or the side, the fault, what the service did, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// The turn, or the number of the event at which the client does something.
    at: usize,
    /// What stands before its number, and after it.
    before: String,
    after: String,
}

impl Line {
    fn of(judged: &Judged, callers: &[Option<String>]) -> Line {
        let Judged { world, verdict, .. } = judged;
        let did = [verdict.did.word(), &verdict.why].join("  ");
        let (at, before, after) = if let (Some(_), Fault { kind, after: Some(at), of }) = (&world.spot, world.fault) {
            (at, format!("{}  {} ", kind.side(), kind.name()), format!("/{of}  {did}"))
        } else {
            let caller = callers.get(world.turn).cloned().flatten().map(|caller| format!(" {caller}"));
            let after = format!("{}  {}  {did}", caller.unwrap_or_default(), world.said());
            (world.turn + 1, "turn ".to_owned(), after)
        };
        Line { at, before, after: after.trim_end().to_owned() }
    }

    fn is_like(&self, other: &Line) -> bool {
        (&self.before, &self.after) == (&other.before, &other.after)
    }
}

/// The line of one world in cells, for a table with columns: its place, the fault, what the service did, and why.
pub(super) fn cells(judged: &Judged, callers: &[Option<String>]) -> [String; 4] {
    let Judged { world, verdict, .. } = judged;
    let (place, fault) = if let (Some(_), Fault { kind, after: Some(at), of }) = (&world.spot, world.fault) {
        (kind.side().to_owned(), format!("{} {at}/{of}", kind.name()))
    } else {
        let caller = callers.get(world.turn).cloned().flatten().map(|caller| format!(" {caller}"));
        (format!("turn {}{}", world.turn + 1, caller.unwrap_or_default()), world.said())
    };
    [place, fault, verdict.did.word().to_owned(), verdict.why.clone()]
}

/// The line of one world, as it stands in an unfolded table.
pub(super) fn line_of(judged: &Judged, callers: &[Option<String>]) -> String {
    let Line { at, before, after } = Line::of(judged, callers);
    format!("{before}{at}{after}")
}

/// The table. Neighbouring lines that are equal but for their turn, or the event of the client, are one line.
pub(super) fn print(matrix: &Matrix, callers: &[Option<String>]) -> String {
    let mut text = String::new();
    let mut lines = matrix.judged.iter().map(|judged| Line::of(judged, callers)).peekable();
    while let Some(first) = lines.next() {
        let of_turns = first.before == "turn ";
        let mut places = vec![first.at];
        while let Some(next) = lines.next_if(|next| {
            next.is_like(&first) && (!of_turns || places.last().is_some_and(|last| next.at == last + 1))
        }) {
            places.push(next.at);
        }
        let (from, to) = (places[0], places[places.len() - 1]);
        let _ = match (of_turns, from == to) {
            (_, true) => writeln!(text, "{}{from}{}", first.before, first.after),
            (true, false) => writeln!(text, "turns {from}..{to}{}", first.after),
            (false, false) => {
                let places: Vec<String> = places.iter().map(usize::to_string).collect();
                writeln!(text, "{}{}{}", first.before, places.join(","), first.after)
            }
        };
    }
    for note in notes(matrix) {
        let _ = writeln!(text, "{note}");
    }
    text
}

/// What is said of all worlds together.
pub(super) fn notes(matrix: &Matrix) -> Vec<String> {
    let Matrix { judged, found, unlike, unmet, left_out, .. } = matrix;
    let found = found.map(|found| format!("{} of {found} worlds, chosen evenly", judged.len() + unmet.len()));
    let unmet = unmet.iter().map(|world| format!("no verdict: no call met {}", world.id()));
    let sick = unlike.map(|unlike| format!("{NOT_SICK}, since a second run on the same system {unlike}"));
    found.into_iter().chain(left_out.iter().cloned()).chain(unmet).chain(sick).collect()
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
        // `client  leave 1,2,5/9  …`
        let of_side = line.split_once("  ").and_then(|(side, rest)| {
            let (kind, rest) = rest.split_once(' ').filter(|(kind, _)| FaultKind::of_word(kind).is_some())?;
            let (places, rest) = rest.split_once('/').filter(|_| !side.contains(' '))?;
            Some(places.split(',').map(|at| format!("{side}  {kind} {at}/{rest}")).collect())
        });
        match folded {
            None if of_side.is_some() => of_side.unwrap_or_default(),
            Some((first, last, rest)) => (first..=last).map(|turn| format!("turn {turn} {rest}")).collect(),
            None => vec![line.to_owned()],
        }
    };
    table.lines().flat_map(each).collect()
}

#[cfg(test)]
mod tests;
