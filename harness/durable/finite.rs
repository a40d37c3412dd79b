//! Finds what JSON cannot express: NaN and the infinities, which serde_json writes as null, a `Some` around a value that is null itself,
//! which it reads as `None`, and keys of maps that are no strings, which it writes as such.

use std::fmt::{Display, Error};

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

/// Returns the floats of a value that are not finite, each with its index among the value's floats: `3: NaN`. A value that
/// cannot be serialized has none here; serde_json reports why it cannot.
pub(super) fn not_finite(value: &(impl Serialize + ?Sized)) -> Vec<String> {
    Search::of(value).found
}

/// Returns how many `Some` a value contains. If it contains fewer after it was read back, JSON has lost one: `Some(None)` and
/// `Some(())` come back as `None`.
pub(super) fn somes(value: &(impl Serialize + ?Sized)) -> usize {
    Search::of(value).somes
}

/// Returns the places of keys that are no strings, in the order of their names, since a map may have any.
pub(super) fn other_keys(value: &(impl Serialize + ?Sized)) -> Vec<String> {
    let mut keys = Search::of(value).other_keys;
    keys.sort();
    keys
}

/// A serializer that visits a value and writes nothing.
#[derive(Default)]
struct Search {
    floats: usize,
    found: Vec<String>,
    somes: usize,
    /// Where it is: in each compound the number of the value, or its key.
    path: Vec<(usize, Option<serde_json::Value>)>,
    other_keys: Vec<String>,
}

impl Search {
    fn of(value: &(impl Serialize + ?Sized)) -> Search {
        let mut search = Search::default();
        let _ = value.serialize(&mut search);
        search
    }

    fn float(&mut self, is_finite: bool, value: impl Display) {
        if !is_finite {
            self.found.push(format!("{}: {value}", self.floats));
        }
        self.floats += 1;
    }
}

/// Skips values that contain no float.
macro_rules! skipped {
    ($($method:ident($($of:ty),*)),* $(,)?) => {
        $(fn $method(self $(, _: $of)*) -> Result<(), Error> { Ok(()) })*
    };
}

/// Begins compounds, whose values are visited one by one.
macro_rules! begun {
    ($($method:ident($($of:ty),*)),* $(,)?) => {
        $(fn $method(self $(, _: $of)*) -> Result<Self, Error> {
            self.path.push((0, None));
            Ok(self)
        })*
    };
}

impl<'a> Serializer for &'a mut Search {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = &'a mut Search;
    type SerializeTuple = &'a mut Search;
    type SerializeTupleStruct = &'a mut Search;
    type SerializeTupleVariant = &'a mut Search;
    type SerializeMap = &'a mut Search;
    type SerializeStruct = &'a mut Search;
    type SerializeStructVariant = &'a mut Search;

    skipped! {
        serialize_bool(bool), serialize_char(char), serialize_str(&str), serialize_bytes(&[u8]),
        serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64), serialize_i128(i128),
        serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64), serialize_u128(u128),
        serialize_none(), serialize_unit(), serialize_unit_struct(&'static str),
        serialize_unit_variant(&'static str, u32, &'static str),
    }

    begun! {
        serialize_seq(Option<usize>), serialize_map(Option<usize>), serialize_tuple(usize),
        serialize_struct(&'static str, usize), serialize_tuple_struct(&'static str, usize),
        serialize_struct_variant(&'static str, u32, &'static str, usize),
        serialize_tuple_variant(&'static str, u32, &'static str, usize),
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        self.float(value.is_finite(), value);
        Ok(())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        self.float(value.is_finite(), value);
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.somes += 1;
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }
}

/// Visits each value in a compound.
macro_rules! visited {
    ($($of:ident: $method:ident($($before:ty)?)),* $(,)?) => {
        $(impl $of for &mut Search {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, $(_: $before,)? value: &T) -> Result<(), Error> {
                if let Some((number, _)) = self.path.last_mut() {
                    *number += 1;
                }
                value.serialize(&mut **self)
            }

            fn end(self) -> Result<(), Error> {
                self.path.pop();
                Ok(())
            }
        })*
    };
}

visited! {
    SerializeSeq: serialize_element(),
    SerializeTuple: serialize_element(),
    SerializeTupleStruct: serialize_field(),
    SerializeTupleVariant: serialize_field(),
    SerializeStruct: serialize_field(&'static str),
    SerializeStructVariant: serialize_field(&'static str),
}

impl SerializeMap for &mut Search {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        let key = serde_json::to_value(key).unwrap_or_default();
        let is_text = key.is_string();
        if let Some((_, of)) = self.path.last_mut() {
            *of = Some(key);
        }
        if !is_text {
            self.other_keys.extend(serde_json::to_string(&self.path));
        }
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), Error> {
        self.path.pop();
        Ok(())
    }
}
