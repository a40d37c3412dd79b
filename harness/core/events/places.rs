//! Finds the places of events that are not collapsed at which the model's words stand, whole or in pieces.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::captured::content;
use super::held::{Held, Holdings, Lane, LaneValue, Manner};
use super::labels::{Captures, ReadEvent};
use super::notation::Normalize;
use super::path::Path;
use super::recorded::Source;
use super::search::{Pieces, pieces_and_scalars, rank_as_id};
use super::turns::{Here, Turns};
use crate::json::Json;

/// The events of one label, each with the number of its capture.
struct Events<'a> {
    contents: Vec<(usize, Cow<'a, Json>)>,
    normalize: &'a Normalize<'a>,
    /// The longest text that can consist of the model's.
    size: usize,
    words: &'a Here<'a>,
}

/// Adds the places that are found in a run.
pub(super) fn add_places(holdings: &mut Holdings, captures: &Captures<'_>, normalize: &Normalize, turns: &Turns<'_>) {
    let words = turns.here(None);
    let mut labels: BTreeMap<&str, Events<'_>> = BTreeMap::new();
    for (capture, events) in captures.iter().enumerate() {
        for ReadEvent { event, label, json, .. } in events.iter().filter(|event| !event.label.collapsed) {
            let Some(content) = content(&event.payload, json.as_ref()) else { continue };
            let none = || Events { contents: Vec::new(), normalize, size: turns.size, words: &words };
            labels.entry(&label.text).or_insert_with(none).contents.push((capture, content));
        }
    }
    for (label, events) in labels {
        let places = events.places();
        if !places.is_empty() {
            holdings.entry(label.to_owned()).or_default().held.extend(places);
        }
    }
}

impl Events<'_> {
    fn places(&self) -> Vec<(Held, Manner)> {
        let (texts, scalars) = pieces_and_scalars(self.contents.iter().map(|(_, content)| &**content));
        texts.iter().filter_map(|(path, pieces)| self.place(path, pieces, &scalars)).collect()
    }

    /// The place, if the model's words stand there: as whole values, or in pieces if that way more of them do.
    fn place(&self, path: &Path, pieces: &Pieces<'_>, scalars: &BTreeSet<Path>) -> Option<(Held, Manner)> {
        let told: Vec<_> = pieces.iter().filter_map(|(.., text)| self.words.told(&(self.normalize)(text))).collect();
        let whole: BTreeSet<Source> = told.iter().filter(|it| it.how.is_whole()).flat_map(|it| it.of.clone()).collect();
        let mut lanes: Vec<&Path> = scalars.iter().filter(|lane| *lane != path && lane.can_be_beside(path)).collect();
        lanes.retain(|lane| pieces.iter().all(|(nth, at, _)| self.value(*nth, lane, path, at).is_some()));
        let rank = |lane: &&Path| rank_as_id(lane, path);
        lanes.sort_by_key(|lane| rank(lane).unwrap_or(usize::MAX));
        let ids = lanes.iter().filter(|lane| rank(lane).is_some()).count();
        // An id tells texts apart that come at once in another run, so it comes before none.
        let mut ways: Vec<Vec<Lane>> = lanes.into_iter().map(|lane| vec![Lane::Value(lane.clone())]).collect();
        ways.insert(ids, Vec::new());
        let mut best: Option<(Held, usize)> = None;
        for lanes in ways {
            let held = Held { path: path.clone(), lanes };
            let count = self.joined(&held, pieces);
            if count > best.as_ref().map_or(whole.len(), |(_, most)| *most) {
                best = Some((held, count));
            }
        }
        match best {
            Some((held, _)) => Some((held, Manner { in_pieces: true, ..Manner::default() })),
            None => (!told.is_empty()).then(|| (Held { path: path.clone(), lanes: Vec::new() }, Manner::default())),
        }
    }

    fn value(&self, nth: usize, lane: &Path, path: &Path, at: &[usize]) -> Option<LaneValue> {
        lane.beside(&self.contents[nth].1, path, at).and_then(LaneValue::of)
    }

    /// How many texts of the model the pieces are if they are joined in a way.
    fn joined(&self, held: &Held, pieces: &Pieces<'_>) -> usize {
        let mut texts: BTreeMap<_, String> = BTreeMap::new();
        for (nth, at, text) in pieces {
            let (capture, content) = &self.contents[*nth];
            let joined = texts.entry((capture, held.key(content, at, 0))).or_default();
            // What is longer than all words is none of them.
            if joined.len() <= self.size {
                joined.push_str(text);
            }
        }
        let told = texts.values().filter_map(|text| self.words.whole(&(self.normalize)(text)));
        told.flat_map(|told| told.of).collect::<BTreeSet<_>>().len()
    }
}
