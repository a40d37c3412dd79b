//! Notes on a run that do not make it fail, without repetitions.

use retake_base::text::{counted, nth_turn};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use retake_core::key::attributed;
use retake_model::{CallFlaw, DriftOf};
use retake_wire::fixture::Fixture;

/// One line for each kind of difference from the recording, and one for each flaw of the calls.
pub fn notes<'a>(
    fixture: Option<&Fixture>,
    drift: impl IntoIterator<Item = &'a (usize, DriftOf)>,
    flaws: &[CallFlaw],
) -> Vec<Note> {
    // If several fixtures are joined, the index alone does not identify a turn.
    let place = |turn: usize| match fixture {
        Some(fixture) if !fixture.joined.is_empty() => fixture.place_of(turn),
        _ => nth_turn(turn),
    };
    let mut said: Vec<Note> = Vec::new();
    for (turn, drift) in drift {
        let caller = fixture.and_then(|fixture| fixture.table.turns().get(*turn)?.caller.as_deref());
        let about = format!("drift: {} changed", drift.check);
        Note::add(&mut said, about, caller, Some(place(*turn)), Some(drift));
    }
    for flaw in flaws {
        let about = format!("{}: {}", flaw.kind, flaw.what);
        Note::add(&mut said, about, flaw.caller.as_deref(), flaw.turn.map(place), None);
    }
    said
}

/// Returns notes as lines.
pub fn note_lines(notes: &[Note]) -> Vec<String> {
    notes.iter().map(Note::to_string).collect()
}

/// A note, and the calls that it is about.
#[derive(Clone, Debug)]
pub struct Note {
    about: String,
    /// The first call; empty if the note is about no call.
    first: String,
    detail: String,
    /// How many more calls there are.
    more: usize,
    /// What `allow` has to list so that nothing is noted.
    allow: BTreeSet<String>,
}

impl From<String> for Note {
    fn from(about: String) -> Note {
        Note { about, first: String::new(), detail: String::new(), more: 0, allow: BTreeSet::new() }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Note { about, first, detail, more, allow } = self;
        f.write_str(about)?;
        if !first.is_empty() {
            write!(f, " {first}")?;
        }
        if *more > 0 {
            write!(f, " and {}", counted(*more, "more call"))?;
        }
        if !detail.is_empty() {
            write!(f, ": {detail}")?;
        }
        if allow.is_empty() { Ok(()) } else { write!(f, "; if it may: allow = {:?}", Vec::from_iter(allow)) }
    }
}

impl Note {
    fn add(notes: &mut Vec<Note>, about: String, caller: Option<&str>, turn: Option<String>, drift: Option<&DriftOf>) {
        if let Some(note) = notes.iter_mut().find(|note| note.about == about) {
            note.more += 1;
            return;
        }
        let by = attributed(" by", caller);
        let turn = turn.map(|turn| format!(", {turn}")).unwrap_or_default();
        let first = format!("in the call{by}{turn}");
        let detail = drift.map(DriftOf::in_short).unwrap_or_default();
        notes.push(Note { first, detail, ..Note::from(about) });
    }

    /// A note on what a scenario did, which `allow` quiets.
    pub fn quieted(about: &str, first: String, allow: BTreeSet<String>) -> Note {
        Note { first, allow, ..Note::from(about.to_owned()) }
    }

    /// What the note says, whatever calls it is about.
    fn of_all(&self) -> String {
        let first = if self.allow.is_empty() { String::new() } else { counted(self.allow.len(), "other server") };
        Note { first, more: 0, ..self.clone() }.to_string()
    }
}

/// Returns the notes of scenarios as lines. What several scenarios are told is one line.
pub fn lines_of_run(notes: &BTreeMap<String, Vec<Note>>) -> Vec<String> {
    let mut told: Vec<(Note, Vec<&str>)> = Vec::new();
    let mut known: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (scenario, note) in notes.iter().flat_map(|(scenario, all)| all.iter().map(move |note| (scenario, note))) {
        let at = *known.entry((&note.about, &note.detail)).or_insert(told.len());
        match told.get_mut(at) {
            Some((_, names)) if names.last() == Some(&scenario.as_str()) => {}
            Some((all, names)) => {
                all.allow.extend(note.allow.iter().cloned());
                names.push(scenario);
            }
            None => told.push((note.clone(), vec![scenario])),
        }
    }
    // What all are told stands first.
    told.sort_by_key(|(_, names)| names.len() < notes.len() || names.len() == 1);
    let line = |(note, names): (Note, Vec<&str>)| match names[..] {
        [one] => format!("{one}: {note}"),
        _ if names.len() == notes.len() => format!("all {}: {}", counted(names.len(), "scenario"), note.of_all()),
        _ => format!("{}: {}", names.join(", "), note.of_all()),
    };
    told.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests;
