//! What a model asked for at once has no order: events of different tool calls of one answer come as their tools happen to finish.
//! So neighbouring events that belong to such calls are put into the order of the calls, before anything else of a golden is made.
//!
//! An event belongs to a call if its payload contains the call's id and that of no other call of the same answer, at any depth. The
//! events of one call keep their order. An event that belongs to none of the calls stays where it is, and nothing is moved past it.
//! Answers are taken in recorded order, so events of an agent that a tool runs are first put together, and then into their order.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::captured::Captured;
use super::labels::{ReadEvent, read};
use super::notation::Normalize;
use super::options::ShapeOptions;
use crate::conversation::Answer;
use crate::json::Json;

/// The tool calls of recorded answers that made several at once.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    /// The places at which an id occurs.
    places: HashMap<String, Places>,
    /// The number of calls in each answer. Answers with the same ids count once.
    answers: Vec<usize>,
    /// Whether calls of an answer have no ids, or the same.
    without_ids: bool,
}

/// Places among the calls: the index of an answer, and the position of a call in it.
type Places = Vec<(usize, usize)>;

impl Calls {
    pub fn of<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> Calls {
        let mut calls = Calls::default();
        let mut known: BTreeSet<Vec<&str>> = BTreeSet::new();
        for made in answers.into_iter().map(Answer::tool_calls).filter(|made| made.len() > 1) {
            let mut ids: Vec<&str> = Vec::new();
            for id in made.iter().map(|call| &*call.id).filter(|id| !id.is_empty()) {
                if !ids.contains(&id) {
                    ids.push(id);
                }
            }
            calls.without_ids |= ids.len() < made.len();
            if ids.len() < 2 || known.contains(&ids) {
                continue;
            }
            for (position, id) in ids.iter().enumerate() {
                calls.places.entry((*id).to_owned()).or_default().push((calls.answers.len(), position));
            }
            calls.answers.push(ids.len());
            known.insert(ids);
        }
        calls
    }

    /// Returns the captures with the events of these calls in their order.
    pub fn in_order<'a>(
        &self,
        captures: &'a [Captured],
        options: &ShapeOptions,
        normalize: &Normalize,
    ) -> Cow<'a, [Captured]> {
        let mut sorted = Cow::Borrowed(captures);
        let whole = ShapeOptions { until_last: false, ..options.clone() };
        for (nth, mut events) in read(captures, &whole, normalize).into_iter().enumerate() {
            let slots: Vec<usize> = events.iter().map(|event| event.at).collect();
            self.order(&mut events, options);
            let moved: Vec<(usize, ReadEvent<'_>)> =
                slots.into_iter().zip(events).filter(|(slot, event)| *slot != event.at).collect();
            for (slot, event) in moved {
                let Captured { events, after, .. } = &mut sorted.to_mut()[nth];
                let before = events.len();
                let place = if slot < before { events.get_mut(slot) } else { after.events.get_mut(slot - before) };
                if let Some(place) = place {
                    place.clone_from(event.event);
                }
            }
        }
        sorted
    }

    /// Whether the ids in events tell the order of all calls: in some stream each call of an answer has events of its own, and in no
    /// stream there is another event between those of the answer's calls, which might come at another time.
    pub fn are_told_apart(&self, captures: &[Captured], options: &ShapeOptions, normalize: &Normalize) -> bool {
        if self.without_ids || options.ordered {
            return self.answers.is_empty() && !self.without_ids;
        }
        let captures = read(captures, &ShapeOptions { until_last: false, ..options.clone() }, normalize);
        let streams = captures.iter().flat_map(|events| events.chunk_by(|a, b| a.is_late == b.is_late));
        let streams: Vec<Vec<Places>> =
            streams.map(|events| events.iter().map(|event| self.places_in(event)).collect()).collect();
        let is_told = |(answer, calls): (usize, &usize)| {
            let call_of = |places: &Places| places.iter().find(|(of, _)| *of == answer).map(|(_, call)| *call);
            let mut has_all = false;
            for lines in &streams {
                let mut runs = lines.split(|line| call_of(line).is_none()).filter(|run| !run.is_empty());
                let run = runs.next().unwrap_or_default();
                has_all |= (0..*calls).all(|call| run.iter().any(|line| call_of(line) == Some(call)));
                if runs.next().is_some() {
                    return false;
                }
            }
            has_all
        };
        self.answers.iter().enumerate().all(is_told)
    }

    /// Puts the events of a capture into the order of the calls.
    pub(super) fn order(&self, events: &mut Vec<ReadEvent<'_>>, options: &ShapeOptions) {
        if options.ordered || self.answers.is_empty() {
            return;
        }
        let late = events.split_off(events.iter().position(|event| event.is_late).unwrap_or(events.len()));
        for part in [std::mem::take(events), late] {
            let order = self.order_of(&part);
            let mut part: Vec<Option<ReadEvent<'_>>> = part.into_iter().map(Some).collect();
            events.extend(order.into_iter().filter_map(|line| part[line].take()));
        }
    }

    /// Returns the indices of events in the order of the calls.
    fn order_of(&self, events: &[ReadEvent<'_>]) -> Vec<usize> {
        let mut answers: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        for (line, event) in events.iter().enumerate() {
            for (answer, call) in self.places_in(event) {
                answers.entry(answer).or_default().push((line, call));
            }
        }
        // The line at each slot, and the slot of each line.
        let mut at: Vec<usize> = (0..events.len()).collect();
        let mut slots = at.clone();
        for found in answers.into_values() {
            let mut placed: Vec<_> = found.into_iter().map(|(line, call)| (slots[line], call, line)).collect();
            placed.sort_unstable();
            for run in placed.chunk_by_mut(|(a, ..), (b, ..)| a + 1 == *b) {
                let first = run[0].0;
                run.sort_by_key(|(_, call, _)| *call);
                for (slot, (.., line)) in (first..).zip(&*run) {
                    (at[slot], slots[*line]) = (*line, slot);
                }
            }
        }
        at
    }

    /// Returns the calls to which an event belongs, of one answer each.
    fn places_in(&self, event: &ReadEvent<'_>) -> Places {
        let mut found = Places::new();
        if let Some(json) = &event.json {
            self.find(json, &mut found);
        }
        found.sort_unstable();
        found.dedup();
        // An event with the ids of several calls of an answer belongs to none of them.
        found.chunk_by(|(a, _), (b, _)| a == b).filter(|of_answer| of_answer.len() == 1).flatten().copied().collect()
    }

    fn find(&self, value: &Json, found: &mut Places) {
        let places = |text: &str| self.places.get(text).into_iter().flatten();
        match value {
            Json::Str(text) => found.extend(places(text)),
            Json::Array(items) => items.iter().for_each(|item| self.find(item, found)),
            Json::Object(entries) => {
                for (key, value) in entries.iter() {
                    found.extend(places(key));
                    self.find(value, found);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
