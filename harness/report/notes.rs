//! Notes on a run that do not make it fail, without repetitions.

use retake_base::text::counted;
use retake_model::{CallFlaw, DriftOf};
use retake_wire::fixture::Fixture;

/// One line for each kind of difference from the recording, and one for each flaw of the calls.
pub fn notes<'a>(
    fixture: Option<&Fixture>,
    drift: impl IntoIterator<Item = &'a (usize, DriftOf)>,
    flaws: &[CallFlaw],
) -> Vec<String> {
    // If several fixtures are joined, the index alone does not identify a turn.
    let place = |turn: usize| match fixture {
        Some(fixture) if !fixture.joined.is_empty() => fixture.place_of(turn),
        _ => format!("turns[{turn}]"),
    };
    let mut said: Vec<Note> = Vec::new();
    for (turn, drift) in drift {
        let caller = fixture.and_then(|fixture| fixture.table.turns().get(*turn)?.caller.as_deref());
        let about = format!("drift: {} changed", drift.check);
        Note::add(&mut said, about, caller, Some(place(*turn)), || drift.in_short());
    }
    for flaw in flaws {
        let about = format!("{}: {}", flaw.kind, flaw.what);
        Note::add(&mut said, about, flaw.caller.as_deref(), flaw.turn.map(place), String::new);
    }
    said.into_iter().map(Note::text).collect()
}

/// A note, and the calls that it is about.
struct Note {
    about: String,
    first: String,
    detail: String,
    /// How many more calls there are.
    more: usize,
}

impl Note {
    fn add(
        notes: &mut Vec<Note>,
        about: String,
        caller: Option<&str>,
        turn: Option<String>,
        detail: impl FnOnce() -> String,
    ) {
        if let Some(note) = notes.iter_mut().find(|note| note.about == about) {
            note.more += 1;
            return;
        }
        let by = caller.map(|caller| format!(" by `{caller}`")).unwrap_or_default();
        let turn = turn.map(|turn| format!(", {turn}")).unwrap_or_default();
        notes.push(Note { about, first: format!("in the call{by}{turn}"), detail: detail(), more: 0 });
    }

    fn text(self) -> String {
        let more = if self.more > 0 { format!(" and {}", counted(self.more, "more call")) } else { String::new() };
        let detail = if self.detail.is_empty() { String::new() } else { format!(": {}", self.detail) };
        format!("{} {}{more}{detail}", self.about, self.first)
    }
}

#[cfg(test)]
mod tests;
