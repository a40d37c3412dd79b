//! The turn before which a fork branches off: its number in `retake show`, or a caller with its own count. Pure.

use crate::report::caller_of;
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};
use retake_base::text::counted;
use retake_wire::fixture::Fixture;

/// The index of the turn that is named: `2` is the second turn, and `lead_agent:2` the second turn of that caller.
/// Fails if there is no such turn.
pub(super) fn named(fixture: &Fixture, text: &str) -> Result<usize> {
    let turns = fixture.table.turns();
    if let Ok(number) = text.parse::<usize>() {
        let index = number.checked_sub(1).filter(|index| *index < turns.len());
        return index.ok_or_else(|| {
            let error = Error::new(format!("there is no turn {number}")).in_file(&fixture.path);
            error.help(format!("the fixture has {}", counted(turns.len(), "turn")))
        });
    }
    // Names of callers hold colons themselves.
    let parts = text.rsplit_once(':').and_then(|(caller, count)| Some((caller, count.parse::<usize>().ok()?)));
    let Some((caller, count)) = parts.filter(|(_, count)| *count > 0) else {
        let error = Error::new(format!("`--from {text}` names no turn"));
        return Err(error.help(format!(
            "expected a number as `{RETAKE} show` prints it, or a caller and its own count from 1: lead_agent:2"
        )));
    };
    known_caller(fixture, caller)?;
    let mut own = turns.iter().enumerate().filter(|(_, turn)| caller_of(turn) == caller).map(|(index, _)| index);
    own.clone().nth(count - 1).ok_or_else(|| {
        let have = counted(own.by_ref().count(), "turn");
        Error::new(format!("`{caller}` has {have}, so there is no {caller}:{count}")).in_file(&fixture.path)
    })
}

/// Checks that a caller made one of the recorded calls.
/// Fails if it did not, with the nearest name.
pub(super) fn known_caller(fixture: &Fixture, caller: &str) -> Result<()> {
    let callers: Vec<&str> = fixture.table.turns().iter().map(caller_of).collect();
    if callers.contains(&caller) {
        return Ok(());
    }
    let error = Error::new(format!("no recorded call is by `{caller}`")).in_file(&fixture.path);
    let first = callers.first().unwrap_or(&"nobody");
    Err(error.suggest_or(caller, callers.iter().copied(), format!("the first turn is by `{first}`")))
}
