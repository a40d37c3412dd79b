//! The fields that `suite.toml` and `scenario.toml` may have, in the order of their declarations. Nobody maintains them by hand:
//! each type of `raw` is deserialized from a table with an unknown field, and the error of serde's `deny_unknown_fields` lists all
//! that are known.

use std::fmt;

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer as _, MapAccess, SeqAccess, Visitor,
};

use crate::read::raw::{RawScenario, RawSuite};

/// Returns the fields of `suite.toml` and of its tables, each as a path from the top: `systems.*.ready.http`. A `*` stands for a
/// name that the user chooses. Lists do not add a part to the path. Shared steps have the fields of a step; these are not listed
/// again.
pub(super) fn suite_fields() -> Vec<String> {
    let mut fields = below::<RawSuite>(&mut Vec::new());
    fields.retain(|field| !field.starts_with("steps.*."));
    fields
}

/// Returns the fields of `scenario.toml` in the same form: `step.cancel.after`. A case has the fields of a scenario, and a step
/// in `together` those of a step; these are not listed again.
pub(super) fn scenario_fields() -> Vec<String> {
    let mut fields = below::<RawScenario>(&mut Vec::new());
    fields.retain(|field| !EVENTS.iter().any(|of_event| field.starts_with(of_event)));
    fields
}

/// Where a step names an event, with the fields of `after`, which are not listed again.
const EVENTS: [&str; 3] = ["step.last.", "step.stream.last.", "step.cancel.after."];

/// Returns the paths of all fields below a field. `path` has the names of the fields that lead to it, each with all fields of
/// the type that it belongs to.
fn below<T: DeserializeOwned>(path: &mut Vec<(&'static str, &'static [&'static str])>) -> Vec<String> {
    let names: Vec<&str> = path.iter().map(|(name, _)| *name).collect();
    let (fields, is_map): (&[&str], bool) = match T::deserialize(Probe(&names)) {
        Err(Found::Fields(fields)) => (fields, false),
        Err(Found::Map) => (&["*"], true),
        _ => return Vec::new(),
    };
    if path.iter().any(|(_, of)| *of == fields && !is_map) {
        return Vec::new();
    }
    let mut all = Vec::new();
    for field in fields {
        path.push((field, fields));
        if !is_map {
            all.push(path.iter().map(|(name, _)| *name).collect::<Vec<_>>().join("."));
        }
        all.extend(below::<T>(path));
        path.pop();
    }
    all
}

/// A deserializer that follows a path: each table has only the next field of the path, and the table at its end has an unknown
/// field.
#[derive(Clone, Copy)]
struct Probe<'a>(&'a [&'static str]);

/// What is at the end of a path.
#[derive(Debug)]
enum Found {
    /// A table with these fields.
    Fields(&'static [&'static str]),
    /// A table whose names the user chooses.
    Map,
    /// Anything else.
    Other,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for Found {}

impl serde::de::Error for Found {
    fn custom<T: fmt::Display>(_: T) -> Found {
        Found::Other
    }

    fn unknown_field(_: &str, expected: &'static [&'static str]) -> Found {
        Found::Fields(expected)
    }
}

/// The name under which the TOML reader hands a value with its place to serde, as a struct.
const SPANNED: &str = "$__serde_spanned_private_Spanned";

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = Found;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Found> {
        match self.0.split_first() {
            Some((field, rest)) => visitor.visit_map(Table { fields: &[*field], at: 0, value: Probe(rest) }),
            None => visitor.visit_map(Table { fields: &["no field has this name"], at: 0, value: Key("") }),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Found> {
        match name {
            SPANNED => visitor.visit_map(Table { fields, at: 0, value: self }),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Found> {
        if self.0.is_empty() { Err(Found::Map) } else { self.deserialize_any(visitor) }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Found> {
        visitor.visit_some(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Found> {
        visitor.visit_seq(One(Some(self)))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct
        tuple tuple_struct enum identifier ignored_any
    }
}

/// A key, with or without its place.
#[derive(Clone, Copy)]
struct Key(&'static str);

impl<'de> Deserializer<'de> for Key {
    type Error = Found;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Found> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Found> {
        visitor.visit_map(Table { fields, at: 0, value: self })
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// A table with one value, which comes last. For a value with its place, the fields of the place come before it.
struct Table<'a, V> {
    fields: &'a [&'static str],
    at: usize,
    value: V,
}

impl<'de, D: Deserializer<'de, Error = Found> + Copy> MapAccess<'de> for Table<'_, D> {
    type Error = Found;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Found> {
        let Some(field) = self.fields.get(self.at) else { return Ok(None) };
        self.at += 1;
        seed.deserialize(Key(field)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Found> {
        if self.at < self.fields.len() {
            seed.deserialize(0_usize.into_deserializer())
        } else {
            seed.deserialize(self.value)
        }
    }
}

/// A list of one element.
struct One<'a>(Option<Probe<'a>>);

impl<'de> SeqAccess<'de> for One<'_> {
    type Error = Found;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Found> {
        self.0.take().map(|element| seed.deserialize(element)).transpose()
    }
}

#[test]
fn the_fields_of_all_tables_are_found_through_lists_options_and_names() {
    let (suite, scenario) = (suite_fields(), scenario_fields());
    for field in ["settle", "systems.*.ready.http", "tools.*.mcp.url", "callers.when.header", "normalize.pattern"] {
        assert!(suite.iter().any(|known| known == field), "{field}");
    }
    for field in ["step.cancel.after", "step.stream.last", "step.do.within", "golden.show", "drift.results", "case"] {
        assert!(scenario.iter().any(|known| known == field), "{field}");
    }
    // Names that the user chooses are not fields, and the fields of a type that contains itself are listed once.
    for field in ["step.headers.*", "step.together.post", "case.*.vars", "vars.*"] {
        assert!(!scenario.iter().any(|known| known == field), "{field}");
    }
}
