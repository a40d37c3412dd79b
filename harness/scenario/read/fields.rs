//! The fields that `suite.toml` and `scenario.toml` may have: the one list of them, and nobody writes it. Each type of
//! `raw` is asked for its fields as a reader of TOML asks, which serde's `deny_unknown_fields` answers with all that it knows.

use std::fmt;

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer as _, MapAccess, SeqAccess, Visitor,
};

use super::raw::{RawScenario, RawSuite};

/// The fields of `suite.toml` with those of its tables, each as its path from the top: `systems.*.ready.http`. A `*` stands
/// for a name that the user gives; lists have no step of their own.
#[must_use]
pub fn suite_fields() -> Vec<String> {
    below::<RawSuite>(&mut Vec::new())
}

/// The fields of `scenario.toml` likewise: `step.cancel.after`. Those of a case are those of a scenario, and those of the
/// steps in `together` those of a step; they are not listed again.
#[must_use]
pub fn scenario_fields() -> Vec<String> {
    below::<RawScenario>(&mut Vec::new())
}

/// The fields that one type has itself.
pub(super) fn of<T: DeserializeOwned>() -> &'static [&'static str] {
    match T::deserialize(Probe(&[])) {
        Err(Found::Fields(fields)) => fields,
        _ => &[],
    }
}

/// The paths of all fields below one, whose path is given with the fields of each type on it.
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

/// Gives a type one value: tables with the one field that the path goes on by, and an unknown field at its end.
#[derive(Clone, Copy)]
struct Probe<'a>(&'a [&'static str]);

/// What was found at the end of a path.
#[derive(Debug)]
enum Found {
    /// A table with these fields.
    Fields(&'static [&'static str]),
    /// A table whose names the user gives.
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

/// How the TOML reader calls a value with its place, which is a table for serde.
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

/// A key, as it is and as a text with its place.
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

/// A table of one value. Where that has its place, the place comes before it.
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

#[cfg(test)]
mod tests;
