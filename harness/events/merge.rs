//! All the values that were seen at one place become one shape.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::notation::{self, Normalize};
use crate::json::{Json, Layout, Object};

/// How many distinct values of a place are shown.
const SHOWN_VALUES: usize = 20;

/// The keys by which the elements of a list are told apart, the first one that fits.
const DISCRIMINATORS: [&str; 2] = ["type", "role"];

/// What was seen at one place.
pub(super) struct Shape {
    /// The types of the scalars, sorted; or their values, in order of their first appearance.
    pub(super) scalars: Vec<String>,
    /// The objects, merged.
    pub(super) object: Option<Fields>,
    /// The lists, merged.
    pub(super) list: Option<List>,
}

/// The fields of merged objects, by normalized key.
pub(super) type Fields = BTreeMap<String, Field>;

/// One field of merged objects.
pub(super) struct Field {
    /// Some of the objects lack it.
    pub(super) optional: bool,
    /// What was seen in it.
    pub(super) shape: Shape,
}

/// The elements of merged lists.
pub(super) struct List {
    /// Objects that are told apart by a discriminator, which is left out of their fields.
    pub(super) variants: BTreeMap<String, Fields>,
    /// All other elements.
    pub(super) rest: Option<Box<Shape>>,
}

/// What a shape keeps of scalars.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    Types,
    Values,
}

impl Shape {
    /// Merges values into one shape. Each value is visited once, and none is copied.
    pub(super) fn of(values: &[&Json], keep: Keep, normalize: &Normalize) -> Shape {
        let (mut objects, mut elements) = (Vec::new(), Vec::new());
        let mut is_list = false;
        let mut scalars = Scalars::default();
        for value in values {
            match value {
                Json::Object(object) => objects.push(object),
                Json::Array(array) => {
                    is_list = true;
                    elements.extend(array);
                }
                scalar if keep == Keep::Values => scalars.add_value(scalar, normalize),
                scalar => scalars.add_type(scalar),
            }
        }
        Shape {
            scalars: scalars.finish(),
            object: (!objects.is_empty()).then(|| fields(&objects, None, keep, normalize)),
            list: is_list.then(|| List::of(&elements, keep, normalize)),
        }
    }
}

impl List {
    fn of(elements: &[&Json], keep: Keep, normalize: &Normalize) -> List {
        let told_apart = |key: &&str| elements.iter().all(|e| e.as_object().is_none() || e.str_of(key).is_some());
        let key = DISCRIMINATORS.into_iter().find(told_apart);
        let mut names: HashMap<&str, String> = HashMap::new();
        let mut kinds: BTreeMap<String, Vec<_>> = BTreeMap::new();
        let mut rest = Vec::new();
        for &element in elements {
            match (element, key.and_then(|key| element.str_of(key))) {
                (Json::Object(object), Some(kind)) => {
                    let name = names.entry(kind).or_insert_with(|| normalize(kind));
                    kinds.entry(name.clone()).or_default().push(object);
                }
                _ => rest.push(element),
            }
        }
        let variants = kinds.into_iter().map(|(kind, objects)| (kind, fields(&objects, key, keep, normalize)));
        List {
            variants: variants.collect(),
            rest: (!rest.is_empty()).then(|| Box::new(Shape::of(&rest, keep, normalize))),
        }
    }
}

/// The values under one normalized key.
struct Group<'a> {
    values: Vec<&'a Json>,
    /// How many objects have the key, and the last of them: several raw keys of one object can be one when normalized.
    objects: usize,
    last: usize,
}

fn fields(objects: &[&Object], without: Option<&str>, keep: Keep, normalize: &Normalize) -> Fields {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    let mut groups: Vec<Group> = Vec::new();
    // Objects of one place mostly have the same keys: where a key was last time is where to look first.
    let mut guesses: Vec<(&str, usize)> = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        for (nth, (key, value)) in object.iter().filter(|(key, _)| Some(*key) != without).enumerate() {
            let place = match guesses.get(nth) {
                Some((guess, place)) if *guess == key => *place,
                _ => {
                    let place =
                        *places.entry(key).or_insert_with(|| *names.entry(normalize(key)).or_insert(groups.len()));
                    guesses.truncate(nth);
                    guesses.push((key, place));
                    place
                }
            };
            if place == groups.len() {
                groups.push(Group { values: Vec::new(), objects: 0, last: usize::MAX });
            }
            let group = &mut groups[place];
            group.values.push(value);
            group.objects += usize::from(group.last != number);
            group.last = number;
        }
    }
    let field = |place: usize| {
        let group = &groups[place];
        let shape = Shape::of(&group.values, keep, normalize);
        Field { optional: group.objects < objects.len(), shape }
    };
    names.into_iter().map(|(name, place)| (name, field(place))).collect()
}

/// The scalars of one place.
#[derive(Default)]
struct Scalars {
    shown: Vec<String>,
    raw: HashSet<String>,
    distinct: HashSet<String>,
}

impl Scalars {
    fn add_type(&mut self, scalar: &Json) {
        let kind = scalar.kind();
        if let Err(place) = self.shown.binary_search_by(|shown| shown.as_str().cmp(kind)) {
            self.shown.insert(place, kind.to_owned());
        }
    }

    fn add_value(&mut self, scalar: &Json, normalize: &Normalize) {
        if !self.raw.insert(scalar.print(Layout::Python)) {
            return;
        }
        let value = notation::value(scalar, normalize);
        if self.distinct.contains(&value) {
            return;
        }
        if self.shown.len() < SHOWN_VALUES {
            self.shown.push(value.clone());
        }
        self.distinct.insert(value);
    }

    fn finish(mut self) -> Vec<String> {
        if let more @ 1.. = self.distinct.len().saturating_sub(SHOWN_VALUES) {
            self.shown.push(format!("… {more} more"));
        }
        self.shown
    }
}
