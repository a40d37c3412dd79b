//! What a golden holds, as data. [`Display`](fmt::Display) writes its text, and [`Golden::parse`] reads it: nothing else knows the
//! notation. Everything that asks a golden, or compares two of them, works on these types.
//!
//! A kind of line that goldens get is a field or a variant here, one place in `writer` and one in `reader`, and a row in `formats`
//! that says which older goldens do not hold it.

use std::collections::HashSet;

use super::captured::Ending;
use super::held::{Held, Manner};
use super::order::Order;
use super::told::{Beside, Said, Told};
use super::words::is_plain_word;
use crate::cost::CallerCost;

mod by_day;
mod clocks;
mod derived;
mod formats;
mod reader;
mod values;
mod varying;
mod writer;

pub use formats::{Format, Part};
pub(super) use varying::{of_any_recording, of_this_recording, without_orders};
pub(super) use writer::{Printed, VARIES};

/// The golden of a scenario: one block for each captured response or page, in the order of the steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Golden {
    pub(super) blocks: Vec<Block>,
    /// What the turns say that it names.
    pub(super) said: Said,
    /// What model calls cost, where that is asked for: a line for each caller.
    pub cost: Vec<CallerCost>,
    /// The hash of the recording of which some values are true.
    pub(super) recording: Option<String>,
}

/// One captured response, or the content of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    /// The method and the path; or the page.
    pub(super) request: String,
    /// The line of the status; `None` for a page.
    pub(super) head: Option<Head>,
    pub(super) headers: Vec<Header>,
    pub(super) events: Vec<EventLine>,
    /// Whether its body is nothing but white space.
    pub(super) is_blank: Beside<bool>,
    pub(super) ending: Ending,
    pub(super) trees: Vec<Tree>,
    /// The lines of a page's accessibility tree.
    pub(super) page: Vec<String>,
}

/// How a response was answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// A code, or `exit` and a code.
    pub(super) status: String,
    /// The media type; empty if there is none.
    pub(super) media: String,
    pub(super) ids: EventIds,
    pub(super) ids_repeat: Repeat,
    /// The turns of which a part came before they ended, counted from 1.
    pub(super) early: Vec<usize>,
}

/// Which events of a stream have ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum EventIds {
    #[default]
    None,
    Some,
    All,
}

/// Whether two events of a stream have the same id, or a number that is lower than one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Repeat {
    #[default]
    No,
    Yes,
    /// None has, but they are numbers that do not rise.
    Falls,
    /// None has: they count, each one more than the one before it, in a golden from 0 or from 1.
    From(u64),
    /// It differs from run to run.
    Varies,
}

/// A header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) name: String,
    /// Its value, with names in place of what differs from run to run; `None` if all of it does.
    pub(super) value: Option<String>,
}

/// One line of a sequence: an event, or several equal ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EventLine {
    /// The label, as it is written.
    pub(super) label: String,
    pub(super) top: Top,
    pub(super) times: usize,
    /// What is shown of its values.
    pub(super) shown: Vec<Shown>,
    /// Whether it came after the last event for which the step waited.
    pub(super) is_late: bool,
}

/// What a line says of a payload: its top level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Top {
    /// Collapsed events, of which no payload is shown.
    Collapsed,
    /// The keys of an object, each with the lengths of its list if it is one.
    Keys(Vec<(String, Option<String>)>),
    /// The lengths of a list; empty if they are not held.
    List(String),
    /// A type, or a text; empty without data.
    Word(String),
}

/// A value of an event that is shown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shown {
    /// A text of the model, joined if events have its pieces, with the places at which it stands.
    Text(Vec<Held>, Text),
    /// Collapsed events contain texts of which none is held.
    NotHeld,
    /// A pointer, as it is written, and the value there.
    Value(String, String),
    /// A line of a text that is not JSON.
    Line(String),
}

/// A text, or several, as they are shown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Text {
    /// The quoted beginning, the number of characters, and the beginning of the hash.
    Start(String, usize, String, Manner),
    /// The number of further texts, and the beginning of their hash.
    More(usize, String),
    /// The turns of the model whose words it has.
    Turns(Told, Manner),
}

/// The shapes of the payloads of one label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tree {
    /// The root. Its name is the label.
    pub(super) root: Node,
    /// The hash of all payloads, at the level of values; at that of types, of what each says, in no order, in one recording.
    pub(super) whole: Option<Order>,
}

/// A place in payloads, which has a line of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Node {
    /// The name, as it is written: `content`, or `ai.content` in the elements of a list.
    pub(super) name: String,
    pub(super) optional: bool,
    pub(super) kinds: Kinds,
    pub(super) below: Vec<Node>,
    /// A value of this run that stands here, if a golden holds none.
    pub(super) sample: Beside<Option<Kind>>,
}

/// What stands at a place: the kinds of its values, from left to right.
pub(super) type Kinds = Vec<Kind>;

/// One kind of values at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A type, the name of a kind of elements, or at the level of values a value other than a text.
    Plain(String),
    /// A word or a text, quoted.
    Quoted(String),
    /// The number of further words or values.
    More(usize),
    /// The form of a point in time, and how far away it is, if that is told: ` + 14 d`.
    Time(String, String),
    /// Numbers that count from this one.
    From(i64),
    Id(Id),
    /// An id without a form: see [`IdPlaces`](super::id_places::IdPlaces).
    Short(Id),
    /// An object whose fields are on the same line.
    Object(Vec<Field>),
    List(List),
    /// A value that follows from what the model said or took, and is true of one recording.
    Derived(Box<Kind>),
    /// What a text says of its own, and all that it says in one recording.
    Whole(Box<Kind>, Box<Kind>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Id {
    /// One that occurs at one place only.
    One,
    /// That many of these.
    Several(usize),
    /// The numbers of ids that also occur elsewhere: the first and the last.
    Numbered(usize, usize),
    /// That many ids that also occur elsewhere.
    Known(usize),
    /// The name of a value of the run.
    Named(String),
}

/// A field of an object on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) optional: bool,
    pub(super) kinds: Kinds,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct List {
    /// The shortest and the longest list; `None` if each has one element, or the lengths are not held.
    pub(super) range: Option<(usize, usize)>,
    pub(super) elements: Kinds,
    /// The number of elements of all lists.
    pub(super) total: Option<usize>,
    pub(super) reordered: bool,
    /// The order of the elements, if it is held.
    pub(super) order: Option<Order>,
}

/// The type of numbers that are not held.
pub(super) const NUMBER: &str = "number";

/// The type of texts that are not held.
pub(super) const STRING: &str = "string";

/// What stands before the hash of the recording, on the last line.
pub(super) const RECORDING: &str = "recording ";

/// The line above what model calls cost.
pub(super) const COST: &str = "cost";

impl Golden {
    /// Returns the golden whose text is what `change` makes of this one's, unless it holds what is `committed`.
    pub fn with_text(self, committed: Option<&Golden>, change: &dyn Fn(&str) -> String) -> Golden {
        if committed.is_some_and(|committed| committed.blocks == self.blocks) {
            return self;
        }
        let text = self.to_string();
        let changed = change(&text);
        if changed == text {
            return self;
        }
        // What cannot be read any more is kept as it is written.
        Golden::parse(&changed).unwrap_or_else(|_| {
            let (request, rest) = changed.split_once('\n').unwrap_or((&changed, ""));
            let page = rest.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
            let block = Block { request: request.to_owned(), page, ..Block::default() };
            Golden { blocks: vec![block], ..Golden::default() }
        })
    }

    /// Whether it holds an answer or a page.
    pub fn holds_any(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// Whether it holds texts of the service, or their order.
    pub fn holds_texts(&self) -> bool {
        self.kinds().into_iter().any(|kind| match kind {
            Kind::Quoted(text) => !is_plain_word(text.trim_matches('"')),
            kind => matches!(kind, Kind::List(List { order: Some(_), .. })),
        })
    }

    /// Returns all kinds in its trees, each before those inside of it.
    pub(super) fn kinds(&self) -> Vec<&Kind> {
        let mut found = Vec::new();
        self.blocks.iter().flat_map(|block| &block.trees).for_each(|tree| tree.root.each(&mut |kind| found.push(kind)));
        found
    }

    /// Whether it holds values that follow from the model.
    pub fn holds_derived(&self) -> bool {
        self.kinds().into_iter().any(|kind| matches!(kind, Kind::Derived(_)))
    }

    /// Whether it names turns whose words the service passes on.
    pub(super) fn names_turns(&self) -> bool {
        let mut shown = self.blocks.iter().flat_map(|block| &block.events).flat_map(|event| &event.shown);
        shown.any(|shown| matches!(shown, Shown::Text(_, Text::Turns(..))))
    }

    /// Returns the names of the values of the run that are ids.
    pub(super) fn values_of_run(&self) -> HashSet<&str> {
        let kinds = self.kinds().into_iter();
        kinds.filter_map(|kind| if let Kind::Id(Id::Named(name)) = kind { Some(&**name) } else { None }).collect()
    }

    /// Returns the texts that it quotes, as they are written.
    pub(super) fn quoted(&self) -> HashSet<&str> {
        let kinds = self.kinds().into_iter();
        kinds.filter_map(|kind| if let Kind::Quoted(text) = kind.bare() { Some(&**text) } else { None }).collect()
    }

    /// Whether there is an event with this label.
    pub fn has_event(&self, label: &str) -> bool {
        self.blocks.iter().flat_map(|block| &block.events).any(|event| event.label == label)
    }
}

impl Block {
    /// The texts at each of their places, with their lines.
    pub(super) fn texts_held(&self) -> impl Iterator<Item = (usize, &EventLine, &Held, &Text)> {
        let lines = self.events.iter().enumerate();
        let shown = lines.flat_map(|(line, event)| event.shown.iter().map(move |shown| (line, event, shown)));
        let texts = shown.filter_map(|(line, event, shown)| match shown {
            Shown::Text(places, text) => Some(places.iter().map(move |held| (line, event, held, text))),
            _ => None,
        });
        texts.flatten()
    }
}

impl Text {
    pub(super) fn manner(&self) -> Manner {
        match self {
            Text::Start(.., manner) | Text::Turns(_, manner) => *manner,
            Text::More(..) => Manner::default(),
        }
    }

    /// Whether it is the beginning of what another text repeats as a whole.
    pub(super) fn is_part_of(&self, whole: &Text) -> bool {
        let (Text::Turns(part, _), Text::Turns(whole, _)) = (self, whole) else { return false };
        part.how.is_cut() && whole.how.is_whole() && whole.of == part.of
    }
}

impl Tree {
    pub(super) fn label(&self) -> &str {
        &self.root.name
    }

    /// Whether it is of objects or lists.
    pub(super) fn is_nested(&self) -> bool {
        let is_nested = |kind: &Kind| matches!(kind, Kind::Object(_) | Kind::List(_)) || *kind == Kind::plain("object");
        !self.root.below.is_empty() || self.root.kinds.iter().any(is_nested)
    }
}

impl Node {
    fn each<'a>(&'a self, found: &mut dyn FnMut(&'a Kind)) {
        self.kinds.iter().for_each(|kind| kind.each(found));
        self.below.iter().for_each(|below| below.each(found));
    }

    /// Changes what stands at this place and below it.
    fn change(&mut self, act: &dyn Fn(&mut Kinds)) {
        change(&mut self.kinds, act);
        self.below.iter_mut().for_each(|below| below.change(act));
    }
}

/// Changes what stands at each place inside of these kinds, and then these.
pub(super) fn change(kinds: &mut Kinds, act: &dyn Fn(&mut Kinds)) {
    kinds.iter_mut().flat_map(Kind::inside_mut).for_each(|inside| change(inside, act));
    act(kinds);
}

impl Kind {
    pub(super) fn plain(text: &str) -> Kind {
        Kind::Plain(text.to_owned())
    }

    /// The kind itself, without what is true of one recording only.
    pub(super) fn bare(&self) -> &Kind {
        if let Kind::Derived(kind) | Kind::Whole(kind, _) = self { kind } else { self }
    }

    /// All that it says in the recording of which it is true.
    pub(super) fn whole(&self) -> &Kind {
        if let Kind::Whole(_, whole) = self { whole } else { self.bare() }
    }

    /// Whether it is a text, held or not.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.bare(), Kind::Quoted(_)) || *self == Kind::plain(STRING)
    }

    /// Whether it is true of one recording only, or a part of it.
    pub(super) fn is_of_recording(&self) -> bool {
        matches!(self, Kind::Derived(_) | Kind::Whole(..))
    }

    /// What stands at each place inside of it.
    pub(super) fn inside_mut(&mut self) -> Vec<&mut Kinds> {
        match self {
            Kind::Object(fields) => fields.iter_mut().map(|field| &mut field.kinds).collect(),
            Kind::List(list) => vec![&mut list.elements],
            _ => Vec::new(),
        }
    }

    /// Calls `found` with this kind and with each one inside of it.
    pub(super) fn each<'a>(&'a self, found: &mut dyn FnMut(&'a Kind)) {
        found(self);
        let inside: &mut dyn FnMut(&'a Kind) = &mut |kind| kind.each(found);
        match self {
            Kind::Object(fields) => fields.iter().flat_map(|field| &field.kinds).for_each(inside),
            Kind::List(list) => list.elements.iter().for_each(inside),
            Kind::Derived(kind) => inside(kind),
            Kind::Whole(own, whole) => [own, whole].into_iter().for_each(|kind| inside(kind)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
