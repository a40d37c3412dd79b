//! Finds the texts that collapsed events deliver in pieces: the places whose pieces, joined, are what the model answered.
//!
//! Neither the names of keys nor the form of ids decide this, but the recording. What tells the texts at a place apart (its
//! lanes) is what makes most of them recorded texts: an id, an index, or their order alone.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::captured::content;
use super::held::{Held, Holding, Holdings, Lane, LaneValue, Manner};
use super::ids::is_id;
use super::joined::joined;
use super::labels::{Captures, ReadEvent};
use super::marked::Tells;
use super::notation::{Normalize, TIME};
use super::options::ShapeOptions;
use super::path::{At, Path, Step, leaves};
use super::recorded::{Cover, Recorded};
use super::shape::Known;
use super::words::{Holds, WordKeys, is_word};
use crate::json::Json;

/// The fewest bytes of a recorded text that came in one piece, if it alone shows that a place contains texts.
const ONE_PIECE: usize = 6;
/// The fewest bytes of a part of a recorded text that came in several pieces, if it alone shows that.
const PART: usize = 8;
/// The fewest bytes of a part of a recorded text that came in one piece.
const PART_ALONE: usize = 16;
/// The share of a place's texts, in thousandths, that are recorded if its lanes are right.
const MOST: usize = 900;
/// The longest text that can be an id.
const LONGEST_ID: usize = 128;

/// Returns what is found in the run for collapsed events of which nothing is `named`, and what is.
pub(super) fn holdings(
    named: Holdings,
    captures: &Captures<'_>,
    options: &ShapeOptions,
    known: &Known<'_>,
    normalize: &Normalize,
) -> Holdings {
    let mut holdings = named;
    let unknown = of_labels(captures, &|label| !holdings.contains_key(label));
    if unknown.is_empty() {
        return holdings;
    }
    let recurring = Recurring::of(captures.iter().flatten().filter_map(|event| event.json.as_ref()), normalize);
    let words = WordKeys::new(&options.words);
    for (label, events) in unknown {
        let (events, recorded) = (&events[..], &known.recorded);
        let search = Search { events, recorded, tells: known.tells, recurring: &recurring, words: &words, normalize };
        holdings.insert(label, search.holding());
    }
    holdings
}

/// A collapsed event.
struct Chunk {
    capture: usize,
    /// The number of its run of events with the same label.
    run: usize,
    content: Json,
}

/// Returns the collapsed events of each label that is `wanted`.
fn of_labels(captures: &Captures<'_>, wanted: &dyn Fn(&str) -> bool) -> BTreeMap<String, Vec<Chunk>> {
    let mut found: BTreeMap<String, Vec<Chunk>> = BTreeMap::new();
    let mut run = 0;
    for (capture, events) in captures.iter().enumerate() {
        let mut last = None;
        for ReadEvent { event, label, json, is_late, .. } in events {
            run += usize::from(last != Some((&label.text, is_late)));
            last = Some((&label.text, is_late));
            if label.collapsed
                && wanted(&label.text)
                && let Some(content) = content(&event.payload, json.as_ref())
            {
                let content = content.into_owned();
                found.entry(label.text.clone()).or_default().push(Chunk { capture, run, content });
            }
        }
    }
    found
}

/// The values that are in several events of a run. Only these can tell texts apart: an id of its own for each event cannot.
struct Recurring {
    texts: HashSet<String>,
    /// Numbers are equal by chance, so they count only under the same key.
    numbers: HashSet<(String, i64)>,
}

impl Recurring {
    fn of<'a>(payloads: impl Iterator<Item = &'a Json>, normalize: &Normalize) -> Recurring {
        // The first event that has each value.
        let (mut first_texts, mut first_numbers) = (HashMap::new(), HashMap::new());
        let mut recurring = Recurring { texts: HashSet::new(), numbers: HashSet::new() };
        for (nth, json) in payloads.enumerate() {
            leaves(json, &mut |path, _, leaf| match (LaneValue::of(leaf), path.key()) {
                (Some(LaneValue::Text(text)), _) if text.len() <= LONGEST_ID && !text.contains(' ') => {
                    let first = *first_texts.entry(text.clone()).or_insert(nth);
                    if first != nth && !recurring.texts.contains(&text) && normalize(&text) != TIME {
                        recurring.texts.insert(text);
                    }
                }
                (Some(LaneValue::Number(number)), Some(key)) => {
                    let number = (key.to_owned(), number);
                    if *first_numbers.entry(number.clone()).or_insert(nth) != nth {
                        recurring.numbers.insert(number);
                    }
                }
                _ => {}
            });
        }
        recurring
    }

    fn has(&self, path: &Path, value: &LaneValue) -> bool {
        match value {
            LaneValue::Text(text) => self.texts.contains(text),
            LaneValue::Number(number) => {
                path.key().is_some_and(|key| self.numbers.contains(&(key.to_owned(), *number)))
            }
            LaneValue::Position(_) | LaneValue::None => false,
        }
    }
}

/// The search in the collapsed events of one label.
struct Search<'a> {
    events: &'a [Chunk],
    recorded: &'a Recorded,
    tells: Tells<'a>,
    recurring: &'a Recurring,
    words: &'a WordKeys,
    normalize: &'a Normalize<'a>,
}

/// The pieces at one path: the index of the event, the elements of lists, and the text.
pub(super) type Pieces<'a> = Vec<(usize, At, &'a str)>;

/// The pieces in the contents of events, and the paths of their scalars.
pub(super) fn pieces_and_scalars<'a>(
    contents: impl Iterator<Item = &'a Json>,
) -> (BTreeMap<Path, Pieces<'a>>, BTreeSet<Path>) {
    let (mut pieces, mut scalars): (BTreeMap<Path, Pieces<'_>>, BTreeSet<Path>) = Default::default();
    for (nth, content) in contents.enumerate() {
        leaves(content, &mut |path, at, leaf| {
            if LaneValue::of(leaf).is_some() && !scalars.contains(path) {
                scalars.insert(path.clone());
            }
            if let Some(text) = leaf.as_str().filter(|text| !text.is_empty()) {
                match pieces.get_mut(path) {
                    Some(pieces) => pieces.push((nth, at.to_vec(), text)),
                    None => drop(pieces.insert(path.clone(), vec![(nth, at.to_vec(), text)])),
                }
            }
        });
    }
    (pieces, scalars)
}

/// How well the texts at a path fit the recording.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Fit {
    /// The shares, in thousandths, that are whole recorded texts, and that are recorded at all.
    whole: usize,
    known: usize,
    /// The number of texts, if they are whole: the more, the better they are told apart. Otherwise the fewer, the better.
    texts: Reverse<isize>,
    evidence: Evidence,
}

/// What shows that a place contains texts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Evidence {
    None,
    /// A short text, or one word, that can be equal by chance.
    Weak,
    Strong,
}

impl Search<'_> {
    fn holding(&self) -> Holding {
        let (mut pieces, mut scalars) = pieces_and_scalars(self.events.iter().map(|event| &event.content));
        pieces.retain(|path, pieces| self.can_be_text(path, pieces));
        // A text tells no other texts apart.
        scalars.retain(|path| {
            let fit = pieces.get(path).map(|pieces| self.fit(path, &[], pieces, &mut HashMap::new()));
            !fit.is_some_and(|fit| fit.evidence.suffices(path))
        });
        let found: Vec<_> = pieces.iter().filter_map(|(path, pieces)| self.held(path, pieces, &scalars)).collect();
        // Some services parse each piece of a tool's arguments by itself, and send what they have so far: how far that gets, and how
        // often it comes, depends on where the arguments were cut. They are held where they stand as the model wrote them.
        let is_parsed = |(held, _): &&(Held, Fit)| {
            !is_text(&held.path) && pieces[&held.path].iter().all(|(.., text)| self.recorded.is_parsed(text))
        };
        let all_parsed = found.iter().all(|one| is_parsed(&one));
        let texts = found.iter().filter(|one| all_parsed || !is_parsed(one));
        let mut held: BTreeMap<Held, Manner> = texts.map(|(held, _)| (held.clone(), Manner::default())).collect();
        if held.is_empty() {
            // The texts under the usual keys, each with the id of its message: without it, parallel messages could not be told apart.
            for (path, pieces) in pieces.iter().filter(|(path, _)| is_text(path)) {
                let is_id = |lane: &Path, (nth, at, _): &(usize, At, &str)| {
                    let value = lane.beside(&self.events[*nth].content, path, at).and_then(LaneValue::of);
                    matches!(value, Some(LaneValue::Text(_)))
                };
                let ranked = scalars.iter().filter_map(|lane| Some((rank_as_id(lane, path)?, lane)));
                let ids = ranked.filter(|(_, lane)| *lane != path && pieces.iter().all(|piece| is_id(lane, piece)));
                let lane = ids.min().map(|(_, lane)| vec![Lane::Value(lane.clone())]);
                held.extend(lane.map(|lanes| (Held { path: path.clone(), lanes }, Manner::default())));
            }
        }
        // More than a number or a mark.
        let is_mark = |text: &str| ["true", "false", "null", "[DONE]"].contains(&text);
        let mut texts = pieces.values().flatten().map(|(.., text)| *text);
        let is_text = |text: &str| text.contains(char::is_alphabetic) && !is_mark(text);
        Holding { not_held: held.is_empty() && texts.any(is_text), held }
    }

    /// Whether the strings at a path can be pieces of a text: not if they are only ids, times, or words that the tree of these
    /// events shows.
    fn can_be_text(&self, path: &Path, pieces: &Pieces<'_>) -> bool {
        let of_words = path.key().is_some_and(|key| self.words.under(key) == Holds::Words);
        let is_none = |text: &str| of_words && is_word(text) || is_id(text) || (self.normalize)(text) == TIME;
        !pieces.iter().all(|(.., text)| is_none(text))
    }

    /// The lanes of a path, if its texts are recorded ones.
    fn held(&self, path: &Path, pieces: &Pieces<'_>, scalars: &BTreeSet<Path>) -> Option<(Held, Fit)> {
        let values = scalars.iter().filter(|lane| *lane != path && lane.can_be_beside(path));
        let mut lanes: Vec<Lane> = values.map(|lane| Lane::Value(lane.clone())).collect();
        lanes.extend(path.0.contains(&Step::Each).then_some(Lane::Position));
        let mut known = HashMap::new();
        let (mut best, mut fit) = (Vec::new(), self.fit(path, &[], pieces, &mut known));
        // An id of a message that fits as well as no lane tells texts apart that come in parallel in another run.
        let as_id = |lane: &Lane| match lane {
            Lane::Value(lane) => rank_as_id(lane, path),
            Lane::Position => None,
        };
        lanes.retain(|lane| self.recurs(lane, path, pieces));
        lanes.sort_by_key(|lane| as_id(lane).unwrap_or(usize::MAX));
        // One lane that tells them apart best, then another one beside it.
        for _ in 0..2 {
            let before = best.clone();
            for lane in &lanes {
                let with_lane = [&before[..], std::slice::from_ref(lane)].concat();
                let of_lane = self.fit(path, &with_lane, pieces, &mut known);
                let adds_id = best == before && as_id(lane).is_some() && !before.iter().any(|of| as_id(of).is_some());
                if of_lane.rank() > fit.rank() || adds_id && of_lane.rank() == fit.rank() {
                    (best, fit) = (with_lane, of_lane);
                }
            }
        }
        best.sort_by_key(|lane| as_id(lane).unwrap_or(usize::MAX));
        fit.evidence.suffices(path).then(|| (Held { path: path.clone(), lanes: best }, fit))
    }

    /// Whether a lane has a value for each piece, and at least half of these are in several events: a text in one piece may be
    /// all that has its id.
    fn recurs(&self, lane: &Lane, path: &Path, pieces: &Pieces<'_>) -> bool {
        let Lane::Value(value) = lane else { return true };
        let of = |(nth, at, _): &(usize, At, &str)| lane.value(&self.events[*nth].content, path, at);
        let recurring = pieces.iter().filter(|piece| self.recurring.has(value, &of(piece))).count();
        2 * recurring >= pieces.len() && pieces.iter().all(|piece| of(piece) != LaneValue::None)
    }

    /// How well the texts at a path fit the recording. `known` has the result for each way to tell the pieces apart.
    fn fit(&self, path: &Path, lanes: &[Lane], pieces: &Pieces<'_>, known: &mut HashMap<Vec<usize>, Fit>) -> Fit {
        let held = Held { path: path.clone(), lanes: lanes.to_vec() };
        let mut numbers = HashMap::new();
        let number = |(nth, at, _): &(usize, At, &str)| {
            let Chunk { capture, run, content } = &self.events[*nth];
            let next = numbers.len();
            *numbers.entry((*capture, held.key(content, at, *run))).or_insert(next)
        };
        let numbered: Vec<usize> = pieces.iter().map(number).collect();
        if let Some(fit) = known.get(&numbered) {
            return *fit;
        }
        let mut texts = vec![Vec::new(); numbers.len()];
        for ((.., text), number) in pieces.iter().zip(&numbered) {
            texts[*number].push((*text).to_owned());
        }
        let fit = self.fit_of(&texts);
        known.insert(numbered, fit);
        fit
    }

    fn fit_of(&self, texts: &[Vec<String>]) -> Fit {
        let (mut sum, mut evidence) = (Cover::default(), Evidence::None);
        for pieces in texts {
            let joined = joined(pieces, self.recorded);
            let cover = self.recorded.cover(&joined.text);
            let is_shown = cover.whole == cover.all && self.tells.shows(&joined.text);
            let shown = if is_shown { Evidence::Strong } else { Evidence::of(pieces, &joined.text, &cover) };
            evidence = evidence.max(shown);
            (sum.whole, sum.part, sum.all) = (sum.whole + cover.whole, sum.part + cover.part, sum.all + cover.all);
        }
        let share = |known: usize| known * 1000 / sum.all.max(1);
        let whole = share(sum.whole);
        let count = isize::try_from(texts.len()).unwrap_or(isize::MAX);
        let texts = Reverse(if whole >= MOST { -count } else { count });
        Fit { whole, known: share(sum.known()), texts, evidence }
    }
}

impl Fit {
    /// How well the texts fit: the more, the better.
    fn rank(&self) -> (usize, usize, Reverse<isize>) {
        (self.whole, self.known, self.texts)
    }
}

impl Evidence {
    /// Whether it tells that there is a text at a path.
    fn suffices(self, path: &Path) -> bool {
        match self {
            Evidence::Strong => true,
            Evidence::Weak => is_text(path),
            Evidence::None => false,
        }
    }

    /// What a text shows, of which at least half is recorded.
    fn of(pieces: &[String], text: &str, cover: &Cover) -> Evidence {
        if 2 * cover.known() < cover.all || cover.all == 0 {
            return Evidence::None;
        }
        let several = pieces.iter().any(|piece| *piece != pieces[0]);
        let part = several && cover.part >= PART || !is_word(text) && cover.part >= PART_ALONE.max(cover.part_of / 2);
        if several && cover.whole > 0 || !is_word(text) && cover.whole >= ONE_PIECE || part {
            Evidence::Strong
        } else if cover.whole == cover.all {
            Evidence::Weak
        } else {
            Evidence::None
        }
    }
}

/// The keys under which the id of a message can be, the most specific ones first.
const IDS: [&str; 9] =
    ["message_id", "messageId", "item_id", "itemId", "tool_call_id", "toolCallId", "call_id", "callId", "id"];
/// The keys of objects in which an event wraps its piece.
const WRAPPERS: [&str; 3] = ["data", "chunk", "message"];
/// The keys under which a `delta` object can have its piece.
const PIECES: [&str; 5] = ["content", "text", "partial_json", "arguments", "thinking"];

/// Whether a path usually leads to a text.
pub(super) fn is_text(path: &Path) -> bool {
    let keys: Vec<_> = path.0.iter().map(|step| if let Step::Key(key) = step { key.as_str() } else { "*" }).collect();
    // LangGraph sends the chunk and what is known of it as a list.
    let keys = keys.strip_prefix(&["*"]).unwrap_or(&keys);
    let inner = keys.split_first().filter(|(key, inner)| WRAPPERS.contains(key) && !inner.is_empty());
    inner.is_some_and(|(_, inner)| is_piece(inner)) || is_piece(keys)
}

fn is_piece(keys: &[&str]) -> bool {
    match keys.strip_prefix(&["choices", "*"]).unwrap_or(keys) {
        [] | ["content", "*", "text"] => true,
        [key] => is_delta(key) || ["content", "text"].contains(key),
        [delta, piece] => is_delta(delta) && PIECES.contains(piece),
        _ => false,
    }
}

fn is_delta(key: &str) -> bool {
    key == "delta" || key.ends_with("Delta") || key.ends_with("_delta")
}

/// How well a path fits as the id of the message whose text is at another path: the lower, the better. `None` if it is not
/// called like an id, or is in another object.
pub(super) fn rank_as_id(lane: &Path, text: &Path) -> Option<usize> {
    let (last, object) = lane.0.split_last()?;
    let Step::Key(key) = last else { return None };
    text.0.starts_with(object).then_some(IDS.iter().position(|id| id == key)? * 100 + text.0.len() - object.len())
}

#[cfg(test)]
mod tests;
