//! What a golden holds of points in time: their forms, how far away they are, and those that stay as they are.

use std::cell::Cell;

use super::varying::{replace, tell};
use super::{Golden, Kind, Kinds};
use crate::events::times::{self, IN_SOME_ZONE, LATER, NOW, drops_zeros};
use crate::json::Json;

impl Golden {
    /// Leaves out points in time that another clock moves, as far as it is told how far away they are: that is told by each clock, and
    /// equal by the day is also what stays.
    pub fn leave_out_moving(&mut self, other: &Golden) {
        self.at_places(other, &|kinds, other| {
            let is_untold = |kind: &Kind| is_time(kind) && !kind.as_far_as("").is_away();
            if !kinds.iter().any(is_untold) {
                kinds.retain(|kind| !kind.is_instant() || other.iter().any(|of| of.bare() == kind.bare()));
            }
        });
    }

    /// Tells how far away times are as another golden does.
    pub fn keep_away(&mut self, known: &Golden) {
        self.at_places(known, &|kinds, known| {
            let there = |time: &Kind| known.iter().find(|of| of.form() == time.form()).cloned();
            tell(kinds, &|kind| is_time(kind) && !known.contains(kind), &there);
        });
    }

    /// Tells how far away times are as `exact` does, where no clock was moved.
    pub fn tell_moving(&mut self, exact: &Golden) {
        self.at_places(exact, &|kinds, exact| tell_away(kinds, exact));
    }

    /// Returns it with how far away only those times are that are another one in each of these runs, which name all times as they are.
    pub fn with_moving(mut self, mut named: Golden, others: &[Golden]) -> Golden {
        for other in others {
            named.at_places(other, &|kinds, other| {
                let stays = kinds.iter().any(|kind| kind.is_instant() && other.contains(kind));
                kinds.retain(|kind| !stays || !kind.is_instant());
            });
        }
        self.at_places(&named, &|kinds, named| {
            if !named.iter().any(Kind::is_instant) {
                tell(kinds, &is_time, &|time| Some(time.form()));
            }
        });
        self
    }

    /// Whether times of this golden are so far away that another one does not tell.
    pub fn tells_times_otherwise(self, other: &Golden) -> bool {
        self.has_place(other, &|kinds, other| kinds.iter().any(Kind::is_away) && !other.iter().any(Kind::is_away))
    }

    /// Whether a point in time has no fraction of a second where another golden has one: some clocks drop zeros.
    pub fn drops_fractions(self, other: &Golden) -> bool {
        self.has_place(other, &|kinds, other| kinds.iter().any(|kind| drops_fraction(kind, other)))
    }

    fn has_place(mut self, other: &Golden, is_one: &dyn Fn(&[Kind], &[Kind]) -> bool) -> bool {
        let has = Cell::new(false);
        self.at_places(other, &|kinds, other| has.set(has.get() || is_one(kinds, other)));
        has.get()
    }
}

/// Tells of times as much as a committed golden does at the same place: how far away they are only if that tells it, and of one that is later
/// than another beside it that it is now, where that tells no more.
pub(super) fn keep_times(kinds: &mut Kinds, known: &[Kind]) {
    let has = |of: &str| known.iter().any(|kind| matches!(kind, Kind::Time(_, away) if away == of));
    let is_open = known.iter().any(is_time) && !known.iter().any(Kind::is_away);
    let all = kinds.clone();
    kinds.retain(|kind| !drops_fraction(kind, &all) || known.iter().any(|known| known.form() == kind.form()));
    tell(kinds, &is_time, &|time| match time {
        Kind::Time(_, away) if is_open || has("") && (away == LATER || away == NOW) => Some(time.form()),
        Kind::Time(form, away) if away == LATER && has(NOW) && !has(LATER) => {
            Some(Kind::Time(form.clone(), NOW.into()))
        }
        _ => None,
    });
}

/// Whether it is a point in time without a fraction of a second, and the others at its place have one.
pub(super) fn drops_fraction(kind: &Kind, others: &[Kind]) -> bool {
    let is_in = |form: &str| others.iter().any(|kind| matches!(kind, Kind::Time(of, _) if of == form));
    matches!(kind, Kind::Time(form, _) if drops_zeros(form, &is_in))
}

/// Tells how far away the times at a place are, if that is known.
pub(super) fn tell_away(kinds: &mut Kinds, exact: &[Kind]) {
    if exact.iter().any(Kind::is_away) {
        replace(kinds, &is_time, exact.iter().filter(|kind| is_time(kind)).map(|time| time.as_far_as("")));
    }
}

pub(super) fn is_time(kind: &Kind) -> bool {
    matches!(kind, Kind::Time(..))
}

impl Kind {
    /// Whether it is a point in time as it is, which no clock changes.
    pub(in crate::events) fn is_instant(&self) -> bool {
        self.time().is_some()
    }

    /// The form of such a point in time.
    pub(super) fn time(&self) -> Option<Kind> {
        let (Kind::Quoted(written) | Kind::Plain(written)) = self.bare() else { return None };
        Some(Kind::Time(times::form(&Json::parse(written.as_bytes()).ok()?)?, String::new()))
    }

    /// Whether it is a point in time of which is told how far away it is.
    pub(in crate::events) fn is_away(&self) -> bool {
        matches!(self, Kind::Time(_, away) if !away.is_empty())
    }

    /// A point in time without how far away it is.
    pub(super) fn form(&self) -> Kind {
        if let Kind::Time(form, _) = self { Kind::Time(form.clone(), String::new()) } else { self.clone() }
    }

    /// A point in time, with how far away it is where that is not known.
    pub(super) fn as_far_as(&self, away: &str) -> Kind {
        match self {
            Kind::Time(form, far) if far == IN_SOME_ZONE => Kind::Time(form.clone(), away.to_owned()),
            other => other.clone(),
        }
    }
}
