//! Merges all values at one place into one shape. Values are added one after another, and not kept.

use std::collections::BTreeMap;
use std::mem::{replace, take};
use std::rc::Rc;

use super::golden;
use super::ids::{Ids, ShownId};
use super::lists::Lists;
use super::notation::Normalize;
use super::options::Detail;
use super::order::{Print, both, mixed, print_of, print_of_list, under};
use super::recorded::Recorded;
use super::remembered::Remembered;
use super::scalars::{Scalars, TextKind};
use super::times;
use super::words::{self, Holds, WordKeys};
use crate::json::{Json, Layout, Object};
use time::OffsetDateTime;

/// The keys that can distinguish the kinds of elements of a list. The first of these that all its objects have as a string
/// is used.
const DISCRIMINATORS: [&str; 2] = ["type", "role"];

/// What a shape shows of scalars.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    Types,
    Values,
    /// Types, without counts: the number of these events depends on where a text was cut.
    Chunks,
}

impl Keep {
    /// Returns the variant for a level of detail. At the level of keys, nothing is merged.
    pub(super) fn of(detail: Detail) -> Keep {
        if detail == Detail::Values { Keep::Values } else { Keep::Types }
    }
}

/// What a text says, as two hashes (see [`Print`]), and what the model said.
pub(super) type Says<'a> = (&'a dyn Fn(&str) -> [u64; 2], &'a Recorded);

/// Merges values. One merger serves all places.
pub(super) struct Merger<'a> {
    keep: Keep,
    normalize: &'a Normalize<'a>,
    ids: &'a Ids,
    words: &'a WordKeys,
    /// What a text says, as a hash, if the order of lists is wanted.
    says: Option<Says<'a>>,
    prints: Remembered<[u64; 2]>,
    numbers: Remembered<u64>,
    /// When the values were told.
    told: Option<OffsetDateTime>,
    /// Whether they are compared with a golden.
    compared: bool,
    /// The earliest point in time of the object that is being added.
    earliest: Option<i128>,
    /// The number of scalars so far, which is the turn of the next one.
    turns: usize,
}

/// What was seen at one place.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) scalars: Scalars,
    pub(super) object: Option<Objects>,
    pub(super) list: Option<Elements>,
}

/// The objects at one place.
#[derive(Default)]
pub(super) struct Objects {
    pub(super) count: usize,
    /// Their fields, by normalized key.
    pub(super) fields: BTreeMap<Rc<str>, Field>,
}

/// The values under one normalized key.
pub(super) struct Field {
    holds: Holds,
    pub(super) seen: Seen,
    /// The number of objects that have the field.
    pub(super) objects: usize,
    /// The last object that has it: several raw keys of an object can normalize to the same key, but count once.
    last: usize,
}

/// The elements of the lists at one place. Their discriminator is chosen when all elements are known.
#[derive(Default)]
pub(super) struct Elements {
    // Values can be nested deeply, so they are small.
    lists: Box<Lists>,
    kinds: BTreeMap<Kind, (Objects, [Scalars; 2])>,
    /// What a shape shows of the lists, once all are known: their lengths and their order.
    pub(super) shown: Box<golden::List>,
    /// From then on, the objects of each kind, by the value of the discriminator, which is left out of their fields.
    pub(super) variants: BTreeMap<Rc<str>, Objects>,
    /// All other elements.
    pub(super) rest: Option<Box<Seen>>,
}

/// The normalized values of an object's discriminators that are strings. They are stored separately from its other fields.
type Kind = [Option<Rc<str>>; 2];

impl<'a> Merger<'a> {
    pub(super) fn new(keep: Keep, normalize: &'a Normalize<'a>, ids: &'a Ids, words: &'a WordKeys) -> Merger<'a> {
        let (prints, numbers, turns) = Default::default();
        let (says, told, earliest, compared) = (None, None, None, false);
        Merger { keep, normalize, ids, words, says, prints, numbers, told, compared, earliest, turns }
    }

    /// Also finds the order of lists, by what `says` returns of a text, and by the numbers that are not tokens of the model's; and how far
    /// points in time are from when they were told.
    pub(super) fn with(self, says: Option<Says<'a>>, told: Option<OffsetDateTime>, compared: bool) -> Merger<'a> {
        Merger { says: says.filter(|_| self.keep == Keep::Types), told, compared, ..self }
    }

    /// Adds a value, and returns what it says. `of_words` says whether it is under a key whose words are shown.
    pub(super) fn add(&mut self, value: &Json, of_words: bool, seen: &mut Seen) -> Print {
        match value {
            Json::Object(object) => self.add_object(object, [false; 2], seen.object.get_or_insert_default()),
            Json::Array(array) => {
                let list = seen.list.get_or_insert_default();
                list.lists.add(array);
                let prints: Vec<Print> = array.iter().map(|element| self.add_element(element, list)).collect();
                list.lists.neighbours.add(if self.says.is_some() { &prints } else { &[] });
                print_of_list(&prints)
            }
            scalar => {
                self.add_scalar(scalar, of_words, &mut seen.scalars);
                self.print(scalar)
            }
        }
    }

    fn print(&mut self, scalar: &Json) -> Print {
        match (scalar, self.says) {
            (Json::Bool(value), _) => [1 + u64::from(*value), 0, 0, 1 + u64::from(*value)],
            (Json::Str(text), Some((says, _))) => match self.ids.shown(text) {
                None => {
                    let [says, turns] = *self.prints.of(text, || says(text));
                    [says, 0, 0, turns]
                }
                Some(ShownId::Named(name)) => [0, print_of(name), 0, 0],
                Some(ShownId::Numbered(number) | ShownId::Short(Some(number))) => [0, *number as u64, 0, 0],
                Some(_) => [0; 4],
            },
            (Json::Int(_) | Json::BigInt(_) | Json::Float(_), Some((_, recorded)))
                if times::of_number(scalar).is_none() =>
            {
                // Another recording has other tokens.
                let number = scalar.print(Layout::Compact);
                let tokens = || recorded.tokens(number.parse().ok()?, &|_, _| true);
                let print = || print_of(&tokens().unwrap_or_else(|| number.clone()));
                [0, 0, *self.numbers.of(&number, print), 0]
            }
            _ => [0; 4],
        }
    }

    fn add_scalar(&mut self, scalar: &Json, of_words: bool, scalars: &mut Scalars) {
        match self.keep {
            Keep::Types | Keep::Chunks => {
                let (kind, time) = match scalar.as_str() {
                    Some(text) => (self.text_kind(text, of_words), self.time(text)),
                    None => (TextKind::Other, times::of_number(scalar).map(str::to_owned)),
                };
                let is_later = || self.earliest.is_some_and(|at| times::is_later(scalar, at, self.compared));
                let away = || {
                    let far = self.told.and_then(|told| times::away(scalar, told, self.compared));
                    let is_later = far.as_deref().is_none_or(|far| far == times::NOW) && is_later();
                    if is_later { Some(times::LATER.to_owned()) } else { far }
                };
                scalars.add_type(scalar, kind, time.map(|form| (form, away())), self.ids);
            }
            Keep::Values => scalars.add_value(self.turns, scalar, self.ids, self.normalize),
        }
        self.turns += 1;
    }

    fn text_kind(&mut self, text: &str, of_words: bool) -> TextKind {
        // A text that varies between runs is not a word.
        match self.ids.shown(text).is_none() && !text.is_empty() {
            true if !of_words => TextKind::Own,
            true if words::is_word(text) && *self.name(text) == *text => TextKind::Word,
            _ => TextKind::Other,
        }
    }

    /// Returns the form of a point in time, unless a rule of the suite gives it a name.
    fn time(&mut self, text: &str) -> Option<String> {
        let form = times::of_text(text)?;
        matches!(&*self.name(text), "<TS>" | "<DATE>").then_some(form)
    }

    fn add_element(&mut self, element: &Json, list: &mut Elements) -> Print {
        let Json::Object(object) = element else {
            let [says, ids, numbers, turns] = self.add(element, false, list.rest.get_or_insert_default());
            return [says.wrapping_add(numbers), ids, 0, turns.wrapping_add(numbers)];
        };
        let values = DISCRIMINATORS.map(|key| object.get(key).filter(|value| value.as_str().is_some()));
        let (objects, of) = list.kinds.entry(values.map(|value| Some(self.name(value?.as_str()?)))).or_default();
        let mut print = 0_u64;
        for (value, scalars) in values.into_iter().zip(of).filter_map(|(value, scalars)| Some((value?, scalars))) {
            self.add_scalar(value, true, scalars);
            print = mixed(print, self.print(value)[0]);
        }
        both([print, 0, 0, print], self.add_object(object, values.map(|value| value.is_some()), objects))
    }

    /// Adds an object, without its discriminators for which `apart` says that they are stored separately.
    fn add_object(&mut self, object: &Object, apart: [bool; 2], objects: &mut Objects) -> Print {
        let (number, mut print) = (objects.count, [1, 0, 0, 1]);
        objects.count += 1;
        let above = replace(&mut self.earliest, object.iter().filter_map(|(_, value)| times::instant(value)).min());
        let is_apart = |key: &str| DISCRIMINATORS.into_iter().zip(apart).any(|(name, apart)| apart && name == key);
        for (key, value) in object.iter().filter(|(key, _)| !is_apart(key)) {
            let (name, holds) = (self.name(key), self.words.under(key));
            let field = objects.field(name.clone(), holds);
            let of_words = match field.holds {
                Holds::Words => true,
                Holds::ToolName => words::is_of_tool(object),
                Holds::Nothing => false,
            };
            field.objects += usize::from(field.last != number);
            field.last = number;
            print = both(print, under(&name, self.add(value, of_words, &mut field.seen)));
        }
        self.earliest = above;
        print
    }

    fn name(&self, raw: &str) -> Rc<str> {
        (self.normalize)(raw).into()
    }

    /// Puts the elements of lists into their kinds, now that all are known.
    pub(super) fn finish(&self, Seen { object, list, .. }: &mut Seen) {
        if let Some(list) = list {
            self.choose(list);
        }
        let variants = list.iter_mut().flat_map(|list| list.variants.values_mut());
        for field in object.iter_mut().chain(variants).flat_map(|objects| objects.fields.values_mut()) {
            self.finish(&mut field.seen);
        }
        if let Some(rest) = list.as_mut().and_then(|list| list.rest.as_mut()) {
            self.finish(rest);
        }
    }

    fn choose(&self, list: &mut Elements) {
        let kinds = take(&mut list.kinds);
        let chosen = (0..DISCRIMINATORS.len()).find(|&nth| kinds.keys().all(|kind| kind[nth].is_some()));
        for (kind, (mut objects, scalars)) in kinds {
            for (nth, scalars) in scalars.into_iter().enumerate() {
                if chosen != Some(nth) && kind[nth].is_some() {
                    objects.add_to_each(self.name(DISCRIMINATORS[nth]), scalars);
                }
            }
            match chosen.and_then(|nth| kind[nth].clone()) {
                Some(name) => list.variants.entry(name).or_default().add_all(objects),
                None => list.rest.get_or_insert_default().object.get_or_insert_default().add_all(objects),
            }
        }
        *list.shown = list.lists.finish();
    }
}

impl Seen {
    fn add_all(&mut self, other: Seen) {
        self.scalars.add_all(other.scalars);
        if let Some(objects) = other.object {
            self.object.get_or_insert_default().add_all(objects);
        }
        let Some(Elements { lists, kinds, rest, .. }) = other.list else { return };
        let list = self.list.get_or_insert_default();
        list.lists.add_all(*lists);
        for (kind, (objects, scalars)) in kinds {
            let (own, own_scalars) = list.kinds.entry(kind).or_default();
            own.add_all(objects);
            own_scalars.iter_mut().zip(scalars).for_each(|(own, scalars)| own.add_all(scalars));
        }
        let Some(rest) = rest else { return };
        list.rest.get_or_insert_default().add_all(*rest);
    }
}

impl Objects {
    /// Returns what is under a key, which is added if it is new.
    fn field(&mut self, name: Rc<str>, holds: Holds) -> &mut Field {
        let new = || Field { holds, seen: Seen::default(), objects: 0, last: usize::MAX };
        self.fields.entry(name).or_insert_with(new)
    }

    /// Adds scalars that each of the objects has under a key.
    fn add_to_each(&mut self, name: Rc<str>, scalars: Scalars) {
        let count = self.count;
        let field = self.field(name, Holds::Words);
        field.objects = count;
        field.seen.scalars.add_all(scalars);
    }

    fn add_all(&mut self, other: Objects) {
        self.count += other.count;
        for (name, field) in other.fields {
            let own = self.field(name, field.holds);
            own.objects += field.objects;
            own.seen.add_all(field.seen);
        }
    }
}
