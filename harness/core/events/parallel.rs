//! What a model asked for at once has no order: events of different tool calls of one answer come as their tools happen to finish.
//! So neighbouring events that belong to such calls are put into the order of the calls, before anything else of a golden is made.
//!
//! An event belongs to a call if its payload contains the call's id and that of no other call of the same answer, at any depth. The
//! events of one call keep their order. An event that belongs to none of the calls stays where it is, and nothing is moved past it.
//! Answers are taken in recorded order, so events of an agent that a tool runs are first put together, and then into their order.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::captured::{Captured, Event};
use super::labels::Labels;
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

/// An event that a golden shows.
struct Line {
    /// Its index among all events of its list.
    event: usize,
    /// The calls to which it belongs, of one answer each.
    places: Places,
}

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
        if options.ordered || self.answers.is_empty() {
            return sorted;
        }
        let mut labels = Labels::new(options, normalize);
        for (nth, capture) in captures.iter().enumerate() {
            if let Some(events) = self.sorted(&capture.events, &mut labels) {
                sorted.to_mut()[nth].events = events;
            }
            if let Some(events) = self.sorted(&capture.after.events, &mut labels) {
                sorted.to_mut()[nth].after.events = events;
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
        let mut labels = Labels::new(options, normalize);
        let streams = captures.iter().flat_map(|capture| [&capture.events, &capture.after.events]);
        let streams: Vec<Vec<Line>> = streams.map(|events| self.lines(events, &mut labels)).collect();
        let is_told = |(answer, calls): (usize, &usize)| {
            let call_of = |line: &Line| line.places.iter().find(|(of, _)| *of == answer).map(|(_, call)| *call);
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

    /// Returns the events in the order of the calls; `None` if they are already.
    fn sorted(&self, events: &[Event], labels: &mut Labels<'_>) -> Option<Vec<Event>> {
        let lines = self.lines(events, labels);
        let mut answers: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        for (line, Line { places, .. }) in lines.iter().enumerate() {
            for (answer, call) in places {
                answers.entry(*answer).or_default().push((line, *call));
            }
        }
        // The line at each slot, and the slot of each line.
        let mut at: Vec<usize> = (0..lines.len()).collect();
        let mut slots = at.clone();
        for found in answers.into_values() {
            let mut placed: Vec<(usize, usize, usize)> =
                found.into_iter().map(|(line, call)| (slots[line], call, line)).collect();
            placed.sort_unstable();
            for run in placed.chunk_by_mut(|(a, ..), (b, ..)| a + 1 == *b) {
                let first = run[0].0;
                run.sort_by_key(|(_, call, _)| *call);
                for (slot, (.., line)) in (first..).zip(&*run) {
                    (at[slot], slots[*line]) = (*line, slot);
                }
            }
        }
        if at.is_sorted() {
            return None;
        }
        let mut sorted = events.to_vec();
        for (slot, line) in at.into_iter().enumerate() {
            sorted[lines[slot].event] = events[lines[line].event].clone();
        }
        Some(sorted)
    }

    /// Returns the events that a golden shows. Others, such as heartbeats, come at any time and separate nothing.
    fn lines(&self, events: &[Event], labels: &mut Labels<'_>) -> Vec<Line> {
        let mut lines = Vec::new();
        for (nth, event) in events.iter().enumerate() {
            let Some((_, json)) = labels.shown(event) else { continue };
            let mut found = Places::new();
            if let Some(json) = &json {
                self.find(json, &mut found);
            }
            found.sort_unstable();
            found.dedup();
            // An event with the ids of several calls of an answer belongs to none of them.
            let of_one = found.chunk_by(|(a, _), (b, _)| a == b).filter(|of_answer| of_answer.len() == 1);
            lines.push(Line { event: nth, places: of_one.flatten().copied().collect() });
        }
        lines
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
