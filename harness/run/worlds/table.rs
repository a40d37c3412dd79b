//! The verdicts of a scenario's worlds as lines, which are a golden. Pure.

use std::collections::BTreeSet;

use super::batch::Judged;
use super::matrix::Matrix;
use super::places::World;
use crate::report::unified;
use retake_model::Fault;

/// A line: a world, or worlds of one fault that are alike but for their turns and places.
pub(super) struct Line<'a> {
    worlds: Vec<&'a Judged>,
    /// Whether it is marked, as worlds that are not may be no part of it.
    pub(super) marked: bool,
}

impl<'a> Line<'a> {
    fn distinct(&self, of: impl Fn(&World) -> Option<usize>) -> Vec<usize> {
        self.worlds.iter().filter_map(|it| of(&it.world)).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The turns, if it is the model that fails.
    fn turns(&self) -> Vec<usize> {
        self.distinct(|world| world.spot.is_none().then_some(world.turn + 1))
    }

    /// The places in an answer or on a side, counted from 1.
    fn places(&self) -> Vec<usize> {
        self.distinct(|world| world.fault.after)
    }

    /// What is the same for all worlds of a line, but for their turns and places.
    fn what(&self) -> impl PartialEq + use<'a> {
        let Judged { world, verdict, .. } = self.worlds[0];
        (Fault { after: None, ..world.fault }, &world.order, verdict, &self.worlds[0].caller, self.marked)
    }

    /// Its turn or side, the fault, what the service did, and why.
    pub(super) fn cells(&self) -> [String; 4] {
        let Judged { world, verdict, caller, .. } = self.worlds[0];
        let caller = caller.as_ref().map(|caller| format!(" {caller}")).unwrap_or_default();
        let place = match &*self.turns() {
            [] => world.side().to_owned(),
            [turn] => format!("turn {turn}{caller}"),
            [first, .., last] => format!("turns {first}..{last}{caller}"),
        };
        let fault = match &*self.places() {
            [] => world.said(),
            places => format!("{} {}/{}", world.fault.kind.name(), ranges(places), world.fault.of),
        };
        [place, fault, verdict.did.word().to_owned(), verdict.why.clone()]
    }

    fn text(&self) -> String {
        self.cells().join("  ").trim_end().to_owned()
    }
}

/// Numbers with their ranges: `1,4..7,9`.
fn ranges(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|one, next| one + 1 == *next);
    let said = runs.map(|run| match run {
        [first, _, .., last] => format!("{first}..{last}"),
        few => few.iter().map(usize::to_string).collect::<Vec<_>>().join(","),
    });
    said.collect::<Vec<_>>().join(",")
}

/// The numbers that such a text says; `None` if it is none, or says more than any table holds.
fn numbers(text: &str) -> Option<Vec<usize>> {
    let all = text.split(',').map(|part| {
        let (first, last) = part.split_once("..").unwrap_or((part, part));
        let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
        (last.saturating_sub(first) < 1 << 16).then_some(first..=last)
    });
    Some(all.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect())
}

/// The line of one world, as it stands in an unfolded table.
fn line_of(judged: &Judged) -> String {
    Line { worlds: vec![judged], marked: false }.text()
}

/// The lines of the worlds, those of one fault by their turns. What is equal in a turn but for its places is one line, and so is then what
/// is equal but for its turns, if they follow each other.
pub(super) fn lines(matrix: &Matrix, marked: impl Fn(&Judged) -> bool) -> Vec<Line<'_>> {
    let mut judged: Vec<&Judged> = matrix.judged.iter().collect();
    for of_fault in judged.chunk_by_mut(|one, next| one.world.fault.kind == next.world.fault.kind) {
        of_fault.sort_by_key(|it| it.world.spot.is_none().then_some(it.world.turn));
    }
    let lines = judged.into_iter().map(|judged| Line { worlds: vec![judged], marked: marked(judged) }).collect();
    let of_turns = folded(lines, |before, next| before.turns() == next.turns());
    folded(of_turns, |before, next| {
        before.places() == next.places() && before.turns().last().map(|last| last + 1) == next.turns().first().copied()
    })
}

fn folded<'a>(lines: Vec<Line<'a>>, belongs: impl Fn(&Line<'a>, &Line<'a>) -> bool) -> Vec<Line<'a>> {
    let mut all: Vec<Line<'a>> = Vec::new();
    for line in lines {
        match all.iter_mut().rev().find(|before| before.what() == line.what() && belongs(before, &line)) {
            Some(before) => before.worlds.extend(line.worlds),
            None => all.push(line),
        }
    }
    all
}

/// The table.
pub(super) fn print(matrix: &Matrix) -> String {
    let lines = lines(matrix, |_| false);
    lines.iter().map(Line::text).chain(notes(matrix)).map(|line| line + "\n").collect()
}

/// What is said of all worlds together.
pub(super) fn notes(matrix: &Matrix) -> Vec<String> {
    let Matrix { judged, found, unlike, unmet, left_out, .. } = matrix;
    let found = found.map(|found| format!("{} of {found} worlds, chosen evenly", judged.len() + unmet.len()));
    let when = |world: &World| if world.side() == "process" { " in time" } else { "" };
    let unmet = unmet.iter().map(|world| format!("no verdict: no call met {}{}", world.id(), when(world)));
    let sick = unlike.map(|unlike| format!("{NOT_SICK}, since a second run on the same system {unlike}"));
    found.into_iter().chain(left_out.iter().cloned()).chain(unmet).chain(sick).collect()
}

/// What is said where a sick system cannot be told.
const NOT_SICK: &str = "sick: not looked for";

/// Whether what a committed table says is so: each of its worlds has the line that it had. Worlds of faults that it does not know came
/// later; returns how many there are. `None` if it is not so.
pub(super) fn holds(committed: &str, matrix: &Matrix) -> Option<usize> {
    let before = unfolded(committed);
    let fault_of = |line: &str| Some(line.split("  ").nth(1)?.split(' ').next()?.to_owned());
    let faults: BTreeSet<String> = before.iter().filter_map(|line| fault_of(line)).collect();
    let is_new = |line: &String| fault_of(line).is_some_and(|fault| !faults.contains(&fault));
    let (new, known): (Vec<String>, Vec<String>) = matrix.judged.iter().map(line_of).partition(is_new);
    // Their number, and which of them are chosen, change with those that came later.
    let counts = |line: &&String| new.is_empty() || !line.contains(" worlds, chosen");
    let notes = notes(matrix);
    let now: Vec<&String> = known.iter().chain(notes.iter().filter(counts)).collect();
    let before: Vec<&String> = before.iter().filter(counts).collect();
    let is_same = before.len() == now.len() && before.iter().all(|before| now.iter().any(|now| says(now, before)));
    is_same.then_some(new.len())
}

/// What differs from a committed table, world by world.
pub(super) fn difference(committed: &str, now: &str) -> String {
    let each = |table: &str| Vec::from_iter(BTreeSet::from_iter(unfolded(table))).join("\n");
    unified(&each(committed), &each(now))
}

/// Whether a line says what one of an earlier version says, and possibly more.
fn says(now: &str, before: &str) -> bool {
    let sick = [now, before].iter().all(|line| line.starts_with(NOT_SICK));
    // What became of who began anew was not known once.
    let known = before.split_once("went on").is_some_and(|(world, _)| now.starts_with(&format!("{world}recovered")));
    let more = now.strip_prefix(before).filter(|it| it.is_empty() || it.starts_with(": ") || it.starts_with(", "));
    sick || known || more.is_some()
}

/// The worlds whose lines do not stand in a committed table.
pub(super) fn not_accepted<'a>(matrix: &'a Matrix, committed: &str) -> Vec<&'a Judged> {
    let accepted = unfolded(committed);
    let is_new = |judged: &&Judged| !accepted.iter().any(|before| says(&line_of(judged), before));
    matrix.judged.iter().filter(is_new).collect()
}

/// The lines of a committed table, each for one world.
fn unfolded(table: &str) -> Vec<String> {
    let each = |line: &str| -> Option<Vec<String>> {
        let (place, rest) = line.split_once("  ")?;
        let (fault, did) = rest.split_once("  ")?;
        let turns = place.strip_prefix("turns ").and_then(|rest| {
            let (turns, caller) = rest.split_at(rest.find(' ').unwrap_or(rest.len()));
            Some(numbers(turns)?.into_iter().map(|turn| format!("turn {turn}{caller}")).collect())
        });
        let faults = fault.split_once(' ').and_then(|(kind, rest)| {
            let (places, of) = rest.split_once('/')?;
            Some(numbers(places)?.into_iter().map(|at| format!("{kind} {at}/{of}")).collect())
        });
        let (turns, faults) =
            (turns.unwrap_or_else(|| vec![place.to_owned()]), faults.unwrap_or_else(|| vec![fault.to_owned()]));
        Some(turns.iter().flat_map(|turn| faults.iter().map(move |fault| format!("{turn}  {fault}  {did}"))).collect())
    };
    table.lines().flat_map(|line| each(line).unwrap_or_else(|| vec![line.to_owned()])).collect()
}

#[cfg(test)]
mod tests;
