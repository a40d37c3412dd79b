//! Which places of collapsed events contain texts, as a golden names them: `/delta by /id` is the texts at `/delta`, joined for
//! each value of `/id`.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use super::path::{At, Path};
use crate::json::Json;

/// A place that contains texts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Held {
    pub(super) path: Path,
    /// What tells the texts apart whose pieces are at this place; empty if they come one after the other.
    pub(super) lanes: Vec<Lane>,
}

/// What the pieces of one text have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lane {
    /// A value beside them: an id, or a small number.
    Value(Path),
    Position,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum LaneValue {
    Text(String),
    Number(i64),
    Position(At),
    None,
}

/// The largest number that can tell texts apart. Larger ones are times, sizes and the like.
const LARGEST: i64 = 9_999;

impl LaneValue {
    /// Returns the value if it can tell texts apart.
    pub(super) fn of(json: &Json) -> Option<LaneValue> {
        match json {
            Json::Str(text) if !text.is_empty() => Some(LaneValue::Text(text.clone())),
            Json::Int(number) if (0..=LARGEST).contains(number) => Some(LaneValue::Number(*number)),
            _ => None,
        }
    }
}

impl Lane {
    /// The value of this lane for the piece at a place.
    pub(super) fn value(&self, json: &Json, path: &Path, at: &[usize]) -> LaneValue {
        match self {
            Lane::Position => LaneValue::Position(at.to_vec()),
            Lane::Value(lane) => lane.beside(json, path, at).and_then(LaneValue::of).unwrap_or(LaneValue::None),
        }
    }
}

/// What is common to the pieces of one text: the run of events in which they are, unless an id tells the texts apart, and the
/// values of their lanes. Numbers begin again with each message.
pub(super) type TextKey = (Option<usize>, Vec<LaneValue>);

impl Held {
    /// The key of the text to which a piece belongs. `run` is the number of its run of events.
    pub(super) fn key(&self, json: &Json, at: &[usize], run: usize) -> TextKey {
        let values: Vec<LaneValue> = self.lanes.iter().map(|lane| lane.value(json, &self.path, at)).collect();
        (values.iter().all(|value| !matches!(value, LaneValue::Text(_))).then_some(run), values)
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path)?;
        for (nth, lane) in self.lanes.iter().enumerate() {
            f.write_str(if nth == 0 { " by " } else { " and " })?;
            match lane {
                Lane::Value(path) => write!(f, "{path}")?,
                Lane::Position => f.write_str("*")?,
            }
        }
        Ok(())
    }
}

/// How the texts at a place come. One piece does not show it, nor do equal pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::struct_excessive_bools, reason = "each is told by itself")]
pub(super) struct Manner {
    /// Whether each piece repeats everything so far.
    pub(super) grows: bool,
    /// Whether the whole text comes after its pieces.
    pub(super) then_whole: bool,
    /// Whether events that are not collapsed contain its pieces, and not the whole of it.
    pub(super) in_pieces: bool,
    /// Whether each piece comes twice.
    pub(super) twice: bool,
}

/// The manners that are told, one at a time.
pub(super) const MANNERS: [Manner; 4] = [
    Manner { grows: true, then_whole: false, twice: false, in_pieces: false },
    Manner { grows: false, then_whole: true, twice: false, in_pieces: false },
    Manner { grows: false, then_whole: false, twice: true, in_pieces: false },
    Manner { grows: false, then_whole: false, twice: false, in_pieces: true },
];

impl Manner {
    /// Either of two.
    pub(super) fn or(self, other: Manner) -> Manner {
        Manner {
            grows: self.grows || other.grows,
            then_whole: self.then_whole || other.then_whole,
            in_pieces: self.in_pieces || other.in_pieces,
            twice: self.twice || other.twice,
        }
    }
}

impl fmt::Display for Manner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Manner { grows: true, .. } => ", growing",
            Manner { then_whole: true, .. } => ", then whole",
            Manner { in_pieces: true, .. } => ", in pieces",
            Manner { twice: true, .. } => ", each piece twice",
            Manner { .. } => "",
        })
    }
}

/// What is held of the collapsed events of one label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Holding {
    /// The places, each with what is known of how its texts come.
    pub(super) held: BTreeMap<Held, Manner>,
    /// Whether these events contain texts of which none is held.
    pub(super) not_held: bool,
}

/// What is held of the collapsed events of each label.
pub(super) type Holdings = HashMap<String, Holding>;

#[cfg(test)]
mod tests;
