//! What goldens of older formats do not hold. Such a golden is compared in what it does hold: a run is made into a golden as far as
//! possible in the old way ([`Format::options`]), and of both sides only what they have in common counts.
//!
//! A new format is a row in [`LACKED`] with the parts that the one before it does not hold, and in [`Block::without`] what to leave
//! out of a golden that holds them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::{Block, EventIds, Field, Golden, Header, Kind, Kinds, List, Node, Repeat, Shown, Text, Top};
use crate::events::captured::Ending;
use crate::events::held::Manner;
use crate::events::notation::TIME;
use crate::events::options::{Detail, ShapeOptions};
use crate::key::normalize::regex;

/// The format of a golden.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Format(pub u32);

/// A part of what goldens hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The lengths of lists, the order of their elements, and the numbers of ids.
    Lengths,
    /// Which ids are equal.
    Ids,
    /// Words under the usual keys.
    Words,
    /// Whether events have ids.
    EventIds,
    /// What comes after the last event for which a step waits.
    AfterLast,
    /// The joined texts of collapsed events.
    Texts,
    /// Where these texts stand, and how they come.
    TextPlaces,
    /// Headers, also those of steps that are not in the golden otherwise.
    Headers,
    /// The forms of points in time.
    Times,
    /// The order of events of tools that were called at once, as that of the calls.
    CallOrder,
    /// The values of headers, and not only what they look like.
    HeaderValues,
    /// The values of booleans, and from where numbers count.
    Booleans,
    /// Whether an event has the id of another one.
    RepeatedIds,
    /// Where the model's words go.
    Turns,
}

/// What each format lacks, as opposed to the next one: that of 0.1, that of 0.2, and one from before 0.3.
const LACKED: [&[Part]; 3] = [
    &[Part::Lengths, Part::Ids, Part::Words, Part::EventIds, Part::AfterLast, Part::Texts],
    &[Part::TextPlaces, Part::Headers, Part::Times, Part::CallOrder],
    &[Part::HeaderValues, Part::Booleans, Part::RepeatedIds, Part::Turns],
];

impl Format {
    /// The format of this version.
    pub const THIS: Format = Format(3);

    pub fn holds(self, part: Part) -> bool {
        !LACKED.iter().skip(self.0 as usize).any(|lacked| lacked.contains(&part))
    }

    /// Returns the options for a golden that is compared with one of this format.
    pub fn options(self, options: &ShapeOptions) -> ShapeOptions {
        ShapeOptions {
            without_lengths: options.without_lengths || !self.holds(Part::Lengths),
            ordered: options.ordered || !self.holds(Part::CallOrder),
            until_last: options.until_last || !self.holds(Part::AfterLast),
            without_turns: options.without_turns || !self.holds(Part::Turns),
            ..options.clone()
        }
    }

    /// Returns a golden of this format and that of a run, without what only one of them holds.
    pub fn in_common(self, golden: &Golden, run: &Golden, detail: Detail) -> (Golden, Golden) {
        let without = |golden: &Golden| Golden {
            blocks: golden.blocks.iter().map(|block| block.clone().without(self, detail)).collect(),
            ..Golden::default()
        };
        let (golden, mut run) = (without(golden), without(run));
        if !self.holds(Part::TextPlaces) {
            for (was, is) in golden.blocks.iter().zip(&mut run.blocks) {
                is.keep_texts_of(was);
            }
        }
        (golden, run)
    }
}

impl Block {
    /// Returns it without what a format does not hold, and in one form: with a line for each key.
    fn without(mut self, format: Format, detail: Detail) -> Block {
        let lacks = |part| !format.holds(part);
        if let Some(head) = &mut self.head {
            head.ids = if lacks(Part::EventIds) { EventIds::None } else { head.ids };
            head.ids_repeat = if lacks(Part::RepeatedIds) { Repeat::No } else { head.ids_repeat };
        }
        if matches!(self.ending, Ending::Closed(_)) && lacks(Part::HeaderValues) {
            self.ending = Ending::Ended;
        }
        if lacks(Part::HeaderValues) {
            self.headers = self.headers.into_iter().map(Header::into_shape).collect();
            self.headers.sort_by(|a, b| (&a.name, &a.value).cmp(&(&b.name, &b.value)));
        }
        for event in &mut self.events {
            match &mut event.top {
                Top::Keys(keys) if lacks(Part::Lengths) => keys.iter_mut().for_each(|(_, lengths)| *lengths = None),
                Top::List(lengths) if lacks(Part::Lengths) => lengths.clear(),
                _ => {}
            }
            let is_text = |shown: &Shown| matches!(shown, Shown::Text(..) | Shown::NotHeld);
            event.shown.retain(|shown| !lacks(Part::Texts) || !is_text(shown));
            event.shown.retain(|shown| !lacks(Part::TextPlaces) || *shown != Shown::NotHeld);
            for shown in event.shown.iter_mut().filter(|_| lacks(Part::TextPlaces)) {
                let Shown::Text(places, text) = shown else { continue };
                places.clear();
                if let Text::Start(.., manner) = text {
                    *manner = Manner::default();
                }
            }
        }
        for shown in self.events.iter_mut().flat_map(|event| &mut event.shown).filter(|_| lacks(Part::Times)) {
            let Shown::Value(_, value) = shown else { continue };
            *value = without_times(value);
        }
        let [words, booleans] = [Part::Words, Part::Booleans].map(|part| lacks(part) && detail != Detail::Values);
        // What is left out of trees: words, and not the values of which some look like words; booleans, and where numbers begin to count.
        let plain = |kinds: &mut Kinds| {
            for kind in kinds.iter_mut() {
                match kind {
                    Kind::Id(_) | Kind::Short(_) if lacks(Part::Ids) => *kind = Kind::plain("string"),
                    Kind::Quoted(_) | Kind::More(_) if words => *kind = Kind::plain("string"),
                    Kind::Plain(word) if booleans && ["false", "true"].contains(&&**word) => {
                        *kind = Kind::plain("boolean");
                    }
                    Kind::From(_) if booleans => *kind = Kind::plain("number"),
                    Kind::Time(..) | Kind::Quoted(_) if lacks(Part::Times) => {
                        *kind = Kind::of(&without_times(&kind.to_string()));
                    }
                    Kind::List(list) if lacks(Part::Lengths) => {
                        *list = List { elements: std::mem::take(&mut list.elements), ..List::default() };
                    }
                    _ => {}
                }
            }
            kinds.sort_by_cached_key(ToString::to_string);
            kinds.dedup();
        };
        self = self.in_lines();
        for tree in &mut self.trees {
            tree.root.change(&plain);
            tree.whole.take_if(|_| lacks(Part::Lengths) || detail != Detail::Values && lacks(Part::Turns));
        }
        self
    }

    /// Returns it in one form: with a line for each key.
    pub(in crate::events) fn in_lines(mut self) -> Block {
        self.trees.iter_mut().for_each(|tree| tree.root.outline());
        self
    }

    /// Leaves out texts of collapsed events that another golden does not hold, as far as they are not in the place of others.
    fn keep_texts_of(&mut self, other: &Block) {
        let mut held: BTreeMap<&str, Vec<&Shown>> = BTreeMap::new();
        for event in other.events.iter().filter(|event| event.top == Top::Collapsed) {
            held.entry(&event.label).or_default().extend(&event.shown);
        }
        for event in self.events.iter_mut().filter(|event| event.top == Top::Collapsed) {
            let Some(held) = held.get_mut(event.label.as_str()) else { continue };
            let known = |shown: &Shown, held: &mut Vec<&Shown>| {
                held.iter().position(|other| *other == shown).map(|at| held.remove(at)).is_some()
            };
            let mut kept: Vec<bool> = event.shown.iter().map(|shown| known(shown, held)).collect();
            for kept in kept.iter_mut().filter(|kept| !**kept) {
                *kept = held.pop().is_some();
            }
            let mut kept = kept.into_iter();
            event.shown.retain(|_| kept.next().unwrap_or_default());
        }
    }
}

impl Node {
    /// Moves the fields of objects on its line, and on those below it, to lines of their own.
    fn outline(&mut self) {
        fn outline(kinds: &mut [Kind], prefix: &str, lines: &mut Vec<Node>) {
            for kind in kinds {
                match kind {
                    Kind::Object(fields) => {
                        let line = |Field { name, optional, kinds }: Field| {
                            let name = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
                            Node { name, optional, kinds, ..Node::default() }
                        };
                        lines.extend(std::mem::take(fields).into_iter().map(line));
                        *kind = Kind::plain("object");
                    }
                    Kind::List(list) => outline(&mut list.elements, &format!("{prefix}[]"), lines),
                    _ => {}
                }
            }
        }
        outline(&mut self.kinds, "", &mut self.below);
        self.below.iter_mut().for_each(Node::outline);
        self.below.sort_by(|a, b| a.name.cmp(&b.name));
    }
}

/// Returns a value with the same name for all points in time, as older formats have it.
fn without_times(value: &str) -> String {
    static FORMS: LazyLock<Regex> = LazyLock::new(|| {
        regex(r#""<(?:TS|DATE)>"|yyyy-mm-dd(?:[T ]hh:mm:ss(?:\.f)?(?:Z|\+hh:?mm)?)?|time in (?:s|ms|µs|ns)"#)
    });
    FORMS.replace_all(value, TIME).into_owned()
}

#[cfg(test)]
mod tests;
