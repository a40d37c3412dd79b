//! Finds what changed between two goldens. Pure.
//!
//! Each part of a golden is compared in its own way: `head` has status, content type and headers, `sequence` the events, which are
//! aligned, `trees` the shapes of their payloads, and `values` what a golden shows of an event. Within one response an earlier part
//! hides the later ones: a different number of events changes every tree. A change is data; `words` puts it into a sentence.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

mod head;
mod sequence;
mod trees;
mod values;
mod words;

use super::captured::{Ending, is_body};
use super::golden::{Block, EventIds, EventLine, Golden, Repeat, Text, Tree};
use super::held::Manner;
use super::recorded::Source;
use crate::cost::differences;
use crate::key::normalize::regex;
use retake_base::cause::CauseKind;
use sequence::Aligned;
use trees::different_ids;

/// The largest number of characters of a value in a description.
const VALUE: usize = 40;

/// One change between two goldens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    what: What,
    subject: Subject,
    /// The place in the subject: a path of keys, a name, a pointer.
    place: String,
    /// Whether only texts differ there, other than words.
    is_prose: bool,
    /// What tells the event apart from others of its name: its keys, or one of its values.
    with: String,
    before: String,
    now: String,
    /// The number of further differences that the change stands for.
    more: usize,
    /// Where the first of these are; empty if they have no places.
    others: String,
    /// The request in whose stream the event came, if others have such events; otherwise empty.
    stream: String,
    /// The number of other places that have the same change.
    also: usize,
    /// Whether the change only removes something, as when the system did less.
    pub is_less: bool,
    /// What has to be the same at another place, so that it shows this change again; empty if nothing does.
    same: String,
    /// For words of the model that are there no more: what the golden holds, and what stands there now.
    words: Option<(Text, Option<Text>)>,
    /// For a text in pieces, where the id is that tells its pieces from those of other texts.
    by: Option<String>,
}

/// What is changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    /// The response or the whole golden.
    #[default]
    Response,
    /// The answer to a request, as far as it is no event.
    Answer(String),
    /// The body of the answer to a request.
    Body(String),
    Event(String),
}

/// How it is changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum What {
    Request,
    ResponseMissing,
    ResponseExtra,
    Status,
    Media,
    /// No text of a turn came before its end.
    AtItsEnd(usize),
    /// A part of a turn came before its end.
    Early(usize),
    EventIds(EventIds),
    /// Which ids the events had, and have.
    IdsRepeat(Repeat, Repeat),
    HeaderAttribute,
    Header,
    Page,
    Ending,
    Renamed,
    Missing,
    Extra,
    /// An event came although the golden has no event of its name, and the stream broke off.
    Unknown,
    Moved,
    CollapsedGone,
    CollapsedMoved,
    /// What stands on the line of the event.
    Top,
    NamelessTop,
    SameNow,
    Keys,
    Length,
    Shape,
    /// Numbers do not count any more.
    Counts,
    /// The elements of a list are in another order.
    Order,
    ShapeRenamed,
    /// A key is absent where it was null, or the other way round.
    NullGone,
    NullNew,
    Value,
    TextLine,
    Text,
    /// A text is no longer what a turn of the model said.
    Words,
    /// A text comes in another manner.
    Manner(Manner, Manner),
    TextOrder,
    Hash,
    /// The events of a label say the same together, but not each of them.
    Each,
    Ids,
    /// Model calls cost more, or less. The sentence stands in `with`.
    Cost,
    /// Texts differ, and nothing else was found.
    #[default]
    Something,
}

impl Change {
    fn new(what: What, subject: Subject, place: impl Into<String>) -> Change {
        let is_less = what.kind() == CauseKind::EventMissing;
        Change { what, subject, place: place.into(), is_less, ..Change::default() }
    }

    fn of_response(what: What) -> Change {
        Change::new(what, Subject::Response, "")
    }

    fn between(mut self, before: impl Into<String>, now: impl Into<String>) -> Change {
        (self.before, self.now) = (before.into(), now.into());
        self
    }

    /// Whether a text differs.
    pub fn is_of_text(&self) -> bool {
        self.what == What::Text && self.words.is_none()
    }

    /// Says of a text in which Unicode form it is, if that is all that differs: in the other form, only the changes `left` are there.
    pub fn in_form(&mut self, left: &[Change], words: &str) {
        if self.is_of_text() && !left.iter().any(|other| other.is_at(self)) {
            words.clone_into(&mut self.with);
        }
    }

    /// Whether only the numbers of ids differ in a header.
    fn is_of_numbers(&self) -> bool {
        static NUMBERED: LazyLock<Regex> = LazyLock::new(|| regex(r"\b(id|UUID)[ :]\d+\b"));
        let bare = |text| NUMBERED.replace_all(text, "$1");
        self.what == What::Header && bare(&self.before) == bare(&self.now)
    }

    /// Whether it is of the text in which another change has words.
    fn is_around(&self, words: &Change) -> bool {
        let Some((Text::Turns(told, _), None | Some(Text::Start(..)))) = &words.words else { return false };
        told.how.is_beside() && self.subject == words.subject && self.place == words.place.trim_matches('"')
    }

    /// Whether another change is of the same place in the same subject.
    fn is_at(&self, other: &Change) -> bool {
        let has_place = matches!(self.subject, Subject::Body(_) | Subject::Event(_));
        has_place && (&self.subject, &self.place) == (&other.subject, &other.place)
    }
}

/// Returns the changes from a golden to that of a run, in the order of the responses. Empty if they are the same.
pub fn changes(golden: &Golden, run: &Golden) -> Vec<Change> {
    // Trees that are written as differing from others can have their lines in another order.
    if golden == run || golden.to_string() == run.to_string() {
        return Vec::new();
    }
    let (old, new) = (&in_lines(golden), &in_lines(run));
    let mut found = Found::default();
    for (was, is) in old.iter().zip(new) {
        let known = found.0.len();
        found.compare(was, is);
        let others = old.iter().chain(new).filter(|of| of.request != was.request);
        let labels: BTreeSet<&String> = others.flat_map(|of| &of.events).map(|event| &event.label).collect();
        let is_shared = |of: &&mut Change| matches!(&of.subject, Subject::Event(label) if labels.contains(label));
        found.0[known..].iter_mut().filter(is_shared).for_each(|change| change.stream.clone_from(&was.request));
    }
    for missing in old.iter().skip(new.len()) {
        found.push(Change::of_response(What::ResponseMissing).between(&missing.request, ""));
    }
    for extra in new.iter().skip(old.len()) {
        found.push(Change::of_response(What::ResponseExtra).between("", &extra.request));
    }
    // Ids are numbered through a whole golden, so any other change may number those in headers anew.
    if !found.0.iter().all(Change::is_of_numbers) {
        found.0.retain(|change| !change.is_of_numbers());
    }
    // Where payloads are no objects any more, neither words nor ids are found in them.
    if found.0.iter().any(|change| change.what == What::SameNow) {
        found.0.retain(|change| !matches!(change.what, What::AtItsEnd(_) | What::Moved));
    }
    // Which answer's text a piece has is told by how the pieces are cut.
    if found.0.iter().any(|change| matches!(change.what, What::Manner(..))) {
        found.0.retain(|change| !matches!(change.what, What::AtItsEnd(_)));
    }
    let cost = differences(&golden.cost, &run.cost);
    // So it may those in payloads. But if the ids of a text's pieces
    // changed, the pieces are put together differently; and what goes on at a time is put in order by its ids.
    let of_pieces = match &found.0[..] {
        [Change { by: Some(by), subject, .. }] => Some((subject.clone(), by.clone())),
        _ => None,
    };
    let moved = !found.0.is_empty() && found.0.iter().all(|change| change.what == What::Moved);
    if (found.0.is_empty() && cost.is_empty()) || of_pieces.is_some() || moved {
        let ids = different_ids(old, new, of_pieces.as_ref(), moved);
        let is_it = |ids: &Change| of_pieces.as_ref().is_none_or(|of| (&ids.subject, &ids.place) == (&of.0, &of.1));
        if let Some(ids) = ids.filter(is_it) {
            found = Found(vec![ids]);
        }
    }
    for change in found.0.iter_mut().filter(|change| change.what == What::Hash && golden.recording.is_some()) {
        change.what = What::Each;
    }
    found.0.extend(cost.into_iter().map(|with| Change { with, ..Change::of_response(What::Cost) }));
    if found.0.is_empty() {
        found.push(Change::of_response(What::Something));
    }
    for change in found.0.iter_mut().filter(|change| change.words.is_some()) {
        // What the turn says, of which a golden has only the number.
        let Some((Text::Turns(told, _), now)) = &change.words else { continue };
        let is_there = |of: &Source| matches!(now, Some(Text::Turns(now, _)) if now.of.contains(of));
        let lost = told.of.iter().find(|of| !is_there(of)).or(told.of.first());
        change.with = lost.and_then(|of| run.said.0.get(of)).cloned().unwrap_or_default();
    }
    found.0
}

/// Like [`changes`], for a run that broke off. Only what came before the break is compared, so nothing after it counts as
/// missing. `came` has the names of the events in the response that broke off.
pub fn changes_until_break(golden: &Golden, run: &Golden, came: &[&str]) -> Vec<Change> {
    let mut found = Found::default();
    let (old, new) = (in_lines(golden), in_lines(run));
    let mut rest: Vec<&Block> = old.iter().collect();
    for is in &new {
        let Some(at) = rest.iter().position(|was| was.request == is.request) else { continue };
        let was = rest.remove(at);
        if !is.events.is_empty() || is.ending != Ending::Open {
            found.compare(was, is);
        }
    }
    // A label may have the name that an event came by, and a deeper one behind it.
    let labels: Vec<&str> = rest.iter().flat_map(|was| &was.events).map(|event| &*event.label).collect();
    let of = |of: &str, name: &str| of.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    for name in came.iter().filter(|name| !labels.is_empty() && !labels.iter().any(|label| of(label, name))) {
        found.push(Change::of_response(What::Unknown).between("", *name));
    }
    found.0
}

/// The responses of a golden in one form, since how wide a list of objects is decides whether it stands on one line.
fn in_lines(golden: &Golden) -> Vec<Block> {
    golden.blocks.iter().cloned().map(Block::in_lines).collect()
}

/// The changes found so far.
#[derive(Default)]
struct Found(Vec<Change>);

impl Found {
    /// Adds a change. The same place in a later response shows the same change again.
    fn push(&mut self, found: Change) {
        if let Some(known) = self.0.iter_mut().find(|known| **known == found || known.is_at(&found)) {
            // How pieces come tells more than that other words are there.
            if known.what == What::Words && matches!(found.what, What::Manner(..)) {
                *known = found;
            }
            return;
        }
        match self.0.iter_mut().find(|known| !found.same.is_empty() && known.same == found.same) {
            Some(known) => known.also += 1,
            None => self.0.push(found),
        }
    }

    /// Compares two responses, in the order of what hides what.
    fn compare(&mut self, old: &Block, new: &Block) {
        if old.request != new.request {
            return self.push(Change::of_response(What::Request).between(&old.request, &new.request));
        }
        let mut heads = head::changes(old, new);
        let is_other_body = heads.iter().any(|change| change.what == What::Media);
        let aligned = Aligned::of(old, new);
        let mut changes = aligned.changes();
        if changes.iter().all(|change| change.what == What::Renamed) && !is_other_body {
            let trees = trees::changes(old, new, &|label| aligned.new_name(label));
            // What stands around them may be known as a whole, which shows where they differ.
            let whole = |change: Change| trees.iter().find(|of| of.is_around(&change)).cloned().unwrap_or(change);
            let of_values = || values::changes(&aligned).into_iter().map(whole).collect();
            // A text around the model's words differs where these do, which says more.
            let values = if trees.iter().all(|change| change.is_prose) { of_values() } else { Vec::new() };
            changes.extend(if values.is_empty() { values::by_events(trees, &aligned) } else { values });
            // The words of an event with another name are sought under its old one.
            changes.retain(|change| {
                let is_sought = matches!(change.words, Some((_, None)));
                !(is_sought && matches!(&change.subject, Subject::Event(label) if aligned.new_name(label) != label))
            });
        } else {
            let is_count = |change: &Change| matches!(change.what, What::Missing | What::Extra);
            for change in changes.iter_mut().filter(|change| is_count(change)) {
                // What only the additional events have says more than how many there are.
                let of_event = |was: &&Tree| change.subject == Subject::of(old, was.label());
                let was = old.trees.iter().find(of_event);
                let added = was.and_then(|was| trees::added(old, was, new.tree_of(aligned.new_name(was.label()))?));
                // So does how a text is changed that comes in pieces, of which the number is no contract.
                let is_it = |label: &str| change.subject == Subject::of(old, label);
                let is_cut = old.texts().iter().any(|(label, _, text)| is_it(label) && text.manner().in_pieces);
                let text = || values::changes(&aligned).into_iter().find(|of| is_cut && of.subject == change.subject);
                let added = added.map(|of| of.since(change));
                *change = added.or_else(text).unwrap_or_else(|| change.clone());
            }
            // Which events have ids follows from which events there are.
            heads.retain(|change| !matches!(change.what, What::EventIds(_)) || !changes.iter().any(is_count));
        }
        let of_blank = |change: &&mut Change| new.is_blank.0 && change.what == What::Top;
        changes.iter_mut().filter(of_blank).for_each(|change| change.now.clear());
        heads.into_iter().chain(changes).for_each(|change| self.push(change));
    }
}

impl Subject {
    fn of(block: &Block, label: &str) -> Subject {
        if is_body(label) { Subject::Body(block.request.clone()) } else { Subject::Event(label.to_owned()) }
    }
}

// Which events of two goldens stand in different places. The proof asks this to find what may vary.
/// Returns the names of the events whose positions differ between two goldens, and the names of those whose numbers differ.
pub fn moved_and_counted(one: &Golden, other: &Golden) -> (Vec<String>, Vec<String>) {
    let (mut moved, mut counted) = (BTreeSet::new(), BTreeSet::new());
    for (one, other) in one.blocks.iter().zip(&other.blocks) {
        let (before, after) = (counts(&one.events), counts(&other.events));
        let varies = |label: &str| before.get(label) != after.get(label);
        counted.extend(before.keys().filter(|label| varies(label)).map(|label| (*label).to_owned()));
        let each = |block: &Block| one_by_one(block).into_iter().filter(|event| !varies(&event.label)).collect();
        let (a, b): (Vec<EventLine>, Vec<EventLine>) = (each(one), each(other));
        let differing = a.iter().zip(&b).filter(|(a, b)| (&a.label, &a.top) != (&b.label, &b.top));
        moved.extend(differing.flat_map(|(a, b)| [a.label.clone(), b.label.clone()]));
    }
    (moved.into_iter().collect(), counted.into_iter().collect())
}

/// Returns the names of the events at which two goldens differ, and of their neighbours: events that change places with a run of
/// collapsed events are the same in both.
pub fn tangled(one: &Golden, other: &Golden) -> Vec<String> {
    let mut names = BTreeSet::new();
    for (one, other) in one.blocks.iter().zip(&other.blocks) {
        let (a, b) = (one_by_one(one), one_by_one(other));
        let before = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        let most = a.len().min(b.len()) - before;
        let after = a.iter().rev().zip(b.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
        if before + after == a.len().max(b.len()) {
            continue;
        }
        for events in [a, b] {
            let end = (events.len() - after + 1).min(events.len());
            names.extend(events[before.saturating_sub(1)..end].iter().map(|event| event.label.clone()));
        }
    }
    names.into_iter().collect()
}

/// Returns the events of a sequence, each as often as it repeats.
fn one_by_one(block: &Block) -> Vec<EventLine> {
    block.events.iter().flat_map(|event| vec![EventLine { times: 1, ..event.clone() }; event.times.min(MOST)]).collect()
}

/// The most times that an event is looked at: a golden may say `×4000000000`.
const MOST: usize = 100_000;

fn counts(events: &[EventLine]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for event in events {
        *counts.entry(event.label.as_str()).or_default() += event.times;
    }
    counts
}

#[cfg(test)]
mod tests;
