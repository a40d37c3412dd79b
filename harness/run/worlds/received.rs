//! What came to a client that left and came back, or to two of them, beside the recorded stream. Pure.

use super::places::real;
use super::sent::{Came, WhatWasSent};
use super::verdict::{Did, Noise, Verdict, are_pieces, cut, is_not_there, quoted, read_alike, steady, texts_at, told};
use retake_base::text::counted;
use retake_core::events::{Captured, Event, Payload, ShapeOptions};
use retake_model::FaultKind;

/// What came to the client of a world, beside the recorded stream.
pub(super) struct Received<'a> {
    pub(super) recorded: &'a [Event],
    /// What came to it before it left, or all that came to the first of two.
    pub(super) first: &'a [Event],
    /// The status with which it was received the second time, and what came then.
    pub(super) again: Option<&'a (u16, Vec<Event>)>,
    pub(super) noise: &'a Noise,
    pub(super) options: &'a ShapeOptions,
    /// Replaces what differs from run to run in what came, and in what was recorded.
    pub(super) normalize: &'a dyn Fn(&str) -> String,
    pub(super) normalize_recorded: &'a dyn Fn(&str) -> String,
    /// Whether it sent its request once more, and reads another stream.
    pub(super) anew: bool,
    /// Why a step failed.
    pub(super) failure: Option<String>,
}

impl Received<'_> {
    /// The verdict on a client that does this, if its run came to an end.
    pub(super) fn verdict(&self, does: FaultKind) -> Verdict {
        let Some((status, again)) = self.again else {
            let why = self.failure.clone().unwrap_or_else(|| "the client did not come back".to_owned());
            return Did::Lost.since(why);
        };
        let has_nothing = *status == 204;
        let refused = (*status >= 300 || has_nothing).then(|| Did::Reported.since(format!("status {status}")));
        if let Some(lost) = is_not_there(*status).filter(|_| does == FaultKind::Kill) {
            return lost;
        }
        let two = matches!(does, FaultKind::Viewers | FaultKind::Twice);
        let (recorded, now) = self.both(&[self.first, again]);
        let is_own = |label: &String| !recorded.labels.contains_key(label) && !self.options.ignores(label);
        let said = |(label, came): (&String, &Came)| told(&format!("event `{label}`"), came.said.as_deref());
        let of_own = now.labels.iter().find(|(label, _)| is_own(label)).map(said);
        let of_own = of_own.map(|said| Did::Reported.since(said));
        let problem = if !two && has_nothing && self.is_at_the_end() {
            of_own.clone()
        } else if two {
            let second = refused.clone().or_else(|| self.problem(&[again], "the second client: "));
            self.problem(&[self.first], "the first client: ").or(second)
        } else if self.anew {
            self.problem(&[&[], again], "")
        } else {
            self.problem(&[self.first, again], "")
        };
        let Some(problem) = problem else {
            if does == FaultKind::Kill {
                // Who is told something else at the end has not got its run back.
                let ends = real(again).last().is_some_and(|event| is_own(&event.label().into_owned()));
                return of_own.filter(|_| ends).unwrap_or_else(|| Did::Resumed.since(""));
            }
            return Did::Recovered.since(if again.is_empty() { "" } else { "to the last event" });
        };
        if problem.did == Did::Reported {
            return problem;
        }
        // After a kill, all of it may come once more, if an event says so.
        if does == FaultKind::Kill && of_own.is_some() && self.problem(&[&[], again], "").is_none() {
            return Did::Resumed.since("from the beginning");
        }
        refused.filter(|_| does != FaultKind::Kill || !has_nothing).or(of_own).unwrap_or(problem)
    }

    /// Whether the client had left at the event that ends the stream, and no other has its name: then it is owed nothing.
    fn is_at_the_end(&self) -> bool {
        let ends = |events: &[Event]| real(events).last().map(|event| event.label().into_owned());
        let last = ends(self.recorded).filter(|one| real(self.recorded).filter(|it| it.label() == **one).count() == 1);
        last.is_some() && ends(self.first) == last
    }

    /// What was recorded, and what came in parts.
    fn both(&self, parts: &[&[Event]]) -> (WhatWasSent, WhatWasSent) {
        let sent = |events, normalize| {
            let sent = WhatWasSent::of([(0, &Captured::stream("", events))], self.options, normalize);
            self.noise.out_of(sent, true)
        };
        (sent(self.recorded.to_vec(), self.normalize_recorded), sent(parts.concat(), self.normalize))
    }

    /// What is missing or comes twice in what came in parts.
    fn problem(&self, parts: &[&[Event]], who: &str) -> Option<Verdict> {
        let (before, again) = parts.split_first()?;
        let again = again.first().copied().unwrap_or_default();
        // A stream may begin as each of the run's streams does.
        let is_first = |event: &&Event| {
            let same = |other: &&Event| other.label() == event.label();
            real(self.recorded).next().is_some_and(|first| same(&first))
                && real(self.recorded).filter(same).count() == 1
        };
        let opens = real(again).next().filter(is_first);
        let is_opening = opens.is_some() && real(before).next().is_some();
        let from = if is_opening { again.iter().position(Event::is_real).map_or(0, |at| at + 1) } else { 0 };
        let again = &again[from..];
        let problem = |did: Did, why: String| Some(did.since(format!("{who}{why}")));
        if let Some(twice) = self.twice(before, again) {
            return problem(Did::Doubled, twice);
        }
        let (recorded, now) = self.both(&[before, again]);
        for (place, texts) in &recorded.texts {
            let (all, came) = read_alike(texts, texts_at(&now, place));
            let (length, is) = (all.chars().count(), came.chars().count());
            if is > length && are_pieces(texts) {
                return problem(Did::Doubled, format!("{} of {length}", counted(is, "character")));
            }
            if is >= length && all != came {
                return problem(Did::Other, format!("another text, {}", quoted(&came)));
            }
        }
        if let Some(lost) = cut(&recorded, &now, "nothing") {
            return problem(Did::Lost, lost);
        }
        let carries = |one: &String| recorded.texts.iter().any(|((_, of, _), texts)| of == one && are_pieces(texts));
        let missing = recorded.labels.iter().find(|(label, came)| {
            let times = now.labels.get(*label).map_or(0, |now| now.times);
            times < if carries(label) { 1 } else { came.times } && !self.options.ignores(label)
        });
        missing.and_then(|(label, _)| problem(Did::Lost, format!("event `{label}`")))
    }

    /// The first event that comes again: with the same id, or without ids one that is no piece of a text, and of which there was but one.
    /// The first one may be the state in which the client finds the run.
    fn twice(&self, before: &[Event], again: &[Event]) -> Option<String> {
        let said = |event: &Event, normalize: &dyn Fn(&str) -> String| match &event.payload {
            Payload::Data(text) => (event.label().into_owned(), normalize(text)),
            _ => (event.label().into_owned(), String::new()),
        };
        let now = |event: &Event| said(event, self.normalize);
        let is_same = |a: &Event, b: &Event| now(a) == now(b);
        let is_recorded = |event: &Event, recorded: &Event| said(recorded, self.normalize_recorded) == now(event);
        let once = |event: &Event| real(self.recorded).filter(|recorded| is_recorded(event, recorded)).count() == 1;
        let again = real(again).filter(|event| !self.options.ignores(&event.label())).enumerate();
        let doubled = again.into_iter().find(|(at, event)| {
            real(before).any(|before| match (&before.id, &event.id) {
                (Some(id), Some(other)) => id == other && is_same(before, event),
                _ => *at > 0 && is_same(before, event) && once(event),
            })
        });
        let (_, event) = doubled?;
        let id =
            event.id.as_ref().map(|id| format!(" with the id {}", steady(&(self.normalize)(id)))).unwrap_or_default();
        Some(format!("event `{}`{id} comes twice", event.label()))
    }
}

#[cfg(test)]
mod tests;
