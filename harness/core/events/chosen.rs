//! The places that a golden pins because of what stands there: words of the service's own vocabulary under any key, and points
//! in time, and numbers. A committed golden names the places that it pins, since its lines show the words in quotes and the forms of times.
//! Which places these are is found out only when a golden is written: whether a text is a word may depend on chance.

use std::collections::{BTreeSet, HashMap};

use super::foreign::{CUT, Foreign, MODEL};
use super::golden::{Kind, Node, Tree};
use super::held::{Holding, Holdings};
use super::ids::Ids;
use super::labels::{Captures, Label, place};
use super::notation::{self, Normalize};
use super::options::{Detail, ShapeOptions};
use super::order;
use super::series::Series;
use super::shape::Known;
use super::times;
use super::words::{Exactly, UNITS, is_bare, is_exact, is_measure, is_plain_word, without_numbers};
use crate::json::Json;

/// The most words of one place that are still a vocabulary.
const WORDS: usize = 12;

/// The places that a golden pins in what an answer says under one label, by the names on the lines to them. In another answer, the same
/// place may tell a clock.
#[derive(Clone, Debug, Default)]
pub(super) struct Places(HashMap<String, Pin>);

impl Places {
    pub(super) fn of(tree: &Tree) -> Places {
        let mut places = Places::default();
        places.add(&tree.root, tree.label());
        places
    }

    fn add(&mut self, node: &Node, line: &str) {
        let mut pin = self.0.get(line).copied().unwrap_or_default();
        let mut see = |kind: &Kind| {
            if let Kind::Quoted(quoted) = kind {
                pin.words = true;
                pin.texts.add(Json::parse(quoted.as_bytes()).ok().as_ref().and_then(Json::as_str).unwrap_or(quoted));
            }
            pin.times |= kind.is_instant() || matches!(kind, Kind::Time(..));
            pin.texts.exactly |= kind.is_instant() || kind.is_away();
            pin.booleans |= matches!(kind, Kind::Plain(word) if word == "true" || word == "false");
            pin.counts |= matches!(kind, Kind::From(_));
            pin.numbers |= kind.is_number();
        };
        node.kinds.iter().for_each(|kind| kind.each(&mut see));
        if pin != Pin::default() {
            self.0.insert(line.to_owned(), pin);
        }
        node.below.iter().for_each(|below| self.add(below, &line_below(line, &below.name)));
    }
}

/// The places that are pinned because of what stands there, and what a text says of its own.
pub(super) struct Chosen<'a> {
    /// Those of this run, by label and JSON pointer, if no committed golden tells them.
    places: Option<HashMap<(String, String), Pin>>,
    foreign: Option<&'a Foreign>,
    pub(super) normalize: &'a Normalize<'a>,
    /// Whether the order of lists is held.
    pub(super) holds_order: bool,
    /// How texts are told that are told exactly.
    exactly: Exactly,
}

/// What is pinned at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is pinned by itself")]
pub(super) struct Pin {
    pub(super) words: bool,
    pub(super) texts: Texts,
    pub(super) times: bool,
    /// Whether the committed golden shows booleans.
    pub(super) booleans: bool,
    /// Whether numbers count.
    pub(super) counts: bool,
    /// Whether numbers are held.
    pub(super) numbers: bool,
}

/// What is told of the texts at a place that are no words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is told by itself")]
pub(super) struct Texts {
    /// Those without letters and digits.
    signs: bool,
    /// Those without letters, but with digits.
    numbers: bool,
    /// Words with digits, too, and points in time as they are, and how far away.
    pub(super) exactly: bool,
    /// But not their days.
    without_days: bool,
}

impl Texts {
    /// Adds what a golden tells.
    fn add(&mut self, said: &str) {
        self.exactly |= is_exact(said);
        self.without_days |= [notation::TIME, "<DATE>"].iter().any(|name| said.contains(name));
        if is_bare(said) {
            let has_digits = said.contains(char::is_numeric);
            (self.signs, self.numbers) = (self.signs || !has_digits, self.numbers || has_digits);
        }
    }

    fn tell(self, said: &str) -> bool {
        !is_bare(said) || if said.contains(char::is_numeric) { self.numbers } else { self.signs }
    }
}

/// A place in a shape.
#[derive(Clone, Debug)]
pub(super) struct At {
    pub(super) label: String,
    /// The JSON pointer of the place in their payloads.
    pub(super) pointer: String,
    /// The names on the lines from the label to the line on which the place stands.
    pub(super) line: String,
}

impl<'a> Chosen<'a> {
    /// Finds the places of a golden.
    pub(super) fn of(
        captures: &Captures<'_>,
        options: &ShapeOptions,
        normalize: &'a Normalize<'a>,
        ids: &Ids,
        is_committed: bool,
        (known, holdings): (&'a Known<'_>, &Holdings),
    ) -> Chosen<'a> {
        let places = (!is_committed).then(|| {
            let collector = Collector { normalize, ids, known, show: &options.show, holdings, places: HashMap::new() };
            if options.detail == Detail::Keys { HashMap::new() } else { collector.collected(captures) }
        });
        let exactly = if is_committed { Exactly::Always } else { known.exactly };
        let (foreign, holds_order) = (known.foreign.as_ref(), known.has_others || is_committed);
        Chosen { places, foreign, normalize, holds_order, exactly }
    }

    /// A hash of what a text says in a list, by `which` turn says it; 0 if that differs from run to run, or from machine to machine.
    pub(super) fn print(&self, text: &str, which: &dyn Fn(&str) -> Option<String>) -> u64 {
        let is = |it: &dyn Fn(&Foreign) -> bool| self.foreign.is_some_and(it);
        let normal = (self.normalize)(text);
        match which(&normal) {
            Some(turn) => order::print_of(&turn),
            None if is(&|foreign| foreign.names_machine(text)) || times::of_text(&normal).is_some() => 0,
            // What a tool or the scenario says as a whole has no numbers that vary. Another model has another name.
            None if is(&|foreign| foreign.is_whole(text) && !foreign.is_model(text)) => order::print_of(&normal),
            None => order::print_of(&without_numbers(&normal)),
        }
    }

    /// What a text says, as a golden holds it: a word of the service as it is, and of any other text what is its own, and all of it.
    pub(super) fn said(&self, text: &str, texts: Texts) -> Option<(String, Option<String>)> {
        if self.foreign.is_some_and(|foreign| foreign.is_model(text)) {
            return Some((MODEL.to_owned(), None));
        }
        let is_known = texts.signs && self.foreign.is_some_and(|foreign| foreign.is_known(text));
        if !is_known && is_plain_word(text) && (self.normalize)(text) == text {
            return Some((text.to_owned(), None));
        }
        let exactly = match self.exactly {
            _ if !texts.exactly => Exactly::No,
            Exactly::Always if texts.without_days => Exactly::AlwaysButDays,
            exactly => exactly,
        };
        let (own, whole) = self.foreign?.said(text, self.normalize, exactly)?;
        texts.tell(&own).then_some((own, whole))
    }

    /// Whether a text is true of this recording alone, since all of it is words that the model, a tool or the scenario said, too.
    pub(super) fn is_of_recording(&self, text: &str, own: &str) -> bool {
        let in_other_case = |of: &Foreign| of.is_known(text) && !of.is_whole(text);
        let has_words = |of: &Foreign| !is_plain_word(text) && of.has_words(text);
        let is_theirs = |of: &Foreign| !own.contains(CUT) && (in_other_case(of) || has_words(of));
        !self.is_committed() && self.foreign.is_some_and(is_theirs)
    }

    /// Whether the places are those of a committed golden.
    pub(super) fn is_committed(&self) -> bool {
        self.places.is_none()
    }

    /// Whether a point in time, as it is written, is the service's own, or a committed golden has one there.
    pub(super) fn is_own(&self, written: &str) -> bool {
        let text = written.trim_matches('"');
        // Where no clock was moved, whoever names its day, tells it.
        let day = text.get(..times::DATE.len()).filter(|_| matches!(self.exactly, Exactly::Unless(_)));
        let is_named = |of: &Foreign| of.has_piece(day.unwrap_or(text)) && !self.exactly.is_near(text);
        self.is_committed() || !self.foreign.is_some_and(is_named)
    }

    /// Returns what is pinned at a place: in this run, or in the same answer of the committed golden, `before`.
    pub(super) fn at(&self, at: &At, before: Option<&Places>) -> Pin {
        let pin = match &self.places {
            Some(places) => places.get(&(at.label.clone(), at.pointer.clone())),
            None => before.and_then(|before| before.0.get(&at.line)),
        };
        pin.copied().unwrap_or_default()
    }
}

impl At {
    /// Returns the place of the whole payload of a label, in the answer to a request.
    pub(super) fn label(label: &str, request: &str) -> At {
        At { label: place(label, request), pointer: String::new(), line: label.to_owned() }
    }

    /// Returns the place of an element of a list, which is described on the line of the list.
    pub(super) fn element(&self) -> At {
        At { pointer: format!("{}/*", self.pointer), ..self.clone() }
    }

    pub(super) fn key(&self, key: &str, name: &str) -> At {
        let pointer = format!("{}/{}", self.pointer, notation::pointer_token(key));
        At { pointer, line: line_below(&self.line, name), label: self.label.clone() }
    }
}

fn line_below(line: &str, name: &str) -> String {
    format!("{line}\n{name}")
}

/// Collects what stands at each place.
struct Collector<'a> {
    normalize: &'a Normalize<'a>,
    ids: &'a Ids,
    known: &'a Known<'a>,
    /// The places whose values stand below the lines of their events anyway.
    show: &'a [String],
    /// Where the model's words stand.
    holdings: &'a Holdings,
    places: HashMap<(String, String), Place>,
}

/// What was seen at one place.
#[derive(Default)]
struct Place {
    words: BTreeSet<String>,
    /// Whether some text is not a word of the service.
    other_words: bool,
    /// Whether some text says something of its own.
    says: bool,
    texts: usize,
    times: usize,
    numbers: usize,
    number_times: usize,
    /// Whether the key says that the numbers measure something.
    measures: bool,
    series: Series,
    last: String,
}

impl Collector<'_> {
    fn collected(mut self, captures: &Captures<'_>) -> HashMap<(String, String), Pin> {
        for (read, value) in captures.iter().flatten().filter_map(|read| Some((read, read.value()?))) {
            let normalize = self.normalize;
            notation::each_scalar(("", ""), &value, normalize, &mut |key, pointer, scalar| {
                self.scalar(scalar, key, pointer, &read.label);
            });
        }
        let exactly = self.known.exactly != Exactly::No;
        let told = |says| Texts { signs: says, numbers: says, exactly, without_days: false };
        let pin = |place: &Place| Pin {
            words: !place.other_words && place.says && (1..=WORDS).contains(&place.words.len()),
            times: place.times + place.number_times > 0
                && place.times == place.texts
                && place.number_times == place.numbers,
            texts: told(self.known.has_others && place.says),
            booleans: false,
            counts: place.series.is_telling(),
            numbers: self.known.has_others && !place.measures && place.numbers > place.number_times,
        };
        let pins = self.places.iter().map(|(at, place)| (at.clone(), pin(place)));
        pins.filter(|(_, pin)| *pin != Pin::default()).collect()
    }

    fn scalar(&mut self, value: &Json, key: &str, pointer: &str, label: &Label) {
        match value {
            Json::Str(text) => self.text(text, key, pointer, label),
            Json::Int(_) | Json::BigInt(_) | Json::Float(_) => {
                let is_measures = is_measure(pointer, &UNITS);
                let place = self.places.entry((label.place.clone(), pointer.to_owned())).or_default();
                place.numbers += 1;
                place.measures |= is_measures;
                place.number_times += usize::from(times::of_number(value).is_some());
                place.series.add(value);
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str, key: &str, pointer: &str, label: &Label) {
        let at = (label.place.clone(), pointer.to_owned());
        let known = self.places.get(&at);
        let is_new = known.is_none_or(|place| !place.other_words && !place.words.contains(text));
        let says = if is_new { self.says(text, key, pointer, label) } else { Some(Says::Nothing) };
        let is_time = times::of_text(text).is_some();
        let place = self.places.entry(at).or_default();
        place.texts += 1;
        place.times += usize::from(is_time);
        // A text in pieces: each of them may look like a word.
        let goes_on = !place.last.is_empty() && place.last != text;
        let goes_on = goes_on
            && self.known.foreign.as_ref().is_some_and(|foreign| foreign.has_piece(&format!("{}{text}", place.last)));
        place.other_words |= says.is_none() || goes_on;
        place.says |= says == Some(Says::Own);
        if !place.other_words && says != Some(Says::Id) && place.words.len() <= WORDS {
            place.words.insert(text.to_owned());
            text.clone_into(&mut place.last);
        }
    }

    /// What a text says. `None` if that may be somebody else's, so that nothing at its place is held.
    fn says(&self, text: &str, key: &str, pointer: &str, label: &Label) -> Option<Says> {
        let foreign = self.known.foreign.as_ref().filter(|_| !label.collapsed)?;
        let is_id = self.ids.shown(text).is_some();
        if !is_id && foreign.is_own(key, text) && (self.normalize)(text) == text {
            return Some(Says::Own);
        }
        let is_shown = self.show.iter().any(|shown| shown == pointer);
        if self.known.has_others && !is_shown && foreign.is_model(text) {
            return Some(Says::Own);
        }
        let is_known = foreign.is_known(text);
        let is_word = is_plain_word(text) && !is_known;
        let is_measured = !is_known && is_measure(pointer, &UNITS);
        // What the recording has as a whole is the same on each machine: a call with it would miss otherwise.
        let is_recorded = is_known || foreign.is_known(&(self.normalize)(text));
        let is_of_machine = !is_recorded && foreign.names_machine(text);
        if !self.known.has_others || is_shown || is_word || is_measured || is_of_machine {
            return None;
        }
        if is_id || times::of_text(text).is_some() {
            return Some(Says::Id);
        }
        let Some((said, _)) = foreign.said(text, self.normalize, self.known.exactly) else {
            return Some(Says::Nothing);
        };
        // The model's words, but not all of what it said.
        let holds = |holding: &Holding| holding.held.keys().any(|held| held.path.pointer() == pointer);
        let is_held = self.holdings.get(&label.text).is_some_and(holds);
        // Whole words that it has in common with the model may be the service's own, which the model was told.
        let is_part = is_held || self.known.recorded.has_piece(text) && !foreign.has_words(text);
        if is_bare(&said) {
            let is_nothing = if is_known { is_held } else { is_part };
            return Some(if is_nothing { Says::Nothing } else { Says::Own });
        }
        let is_cut = said.matches(CUT).count() > text.matches(CUT).count();
        (is_cut || !is_part).then_some(Says::Own)
    }
}

/// What a text says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Says {
    /// Something of the service's own.
    Own,
    /// An id, or a point in time.
    Id,
    Nothing,
}

#[cfg(test)]
mod tests;
