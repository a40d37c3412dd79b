//! Finds what JSON cannot express: NaN and the infinities, which serde_json writes as null, a `Some` around a value that is null itself,
//! which it reads as `None`, and keys of maps that are no strings, which it writes as such.

use std::fmt::Error;

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

/// What JSON cannot express of a value, as a serializer finds it that visits the value and writes nothing. A value that cannot be
/// serialized has nothing of that; serde_json reports why it cannot.
#[derive(Default)]
pub(super) struct Search {
    floats: usize,
    /// The floats that are not finite, each with its index among the value's floats: `3: NaN`.
    pub(super) not_finite: Vec<String>,
    /// How many `Some` there are. If there are fewer after the value was read back, JSON has lost one: `Some(None)` and `Some(())` come
    /// back as `None`.
    pub(super) somes: usize,
    /// Where it is: in each compound the number of the value, or its key.
    path: Vec<(usize, Option<serde_json::Value>)>,
    /// The places of keys that are no strings, in the order of their names, since a map may have any.
    pub(super) other_keys: Vec<String>,
}

impl Search {
    pub(super) fn of(value: &(impl Serialize + ?Sized)) -> Search {
        let mut search = Search::default();
        let _ = value.serialize(&mut search);
        search.other_keys.sort();
        search
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
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        if !value.is_finite() {
            self.not_finite.push(format!("{}: {value}", self.floats));
        }
        self.floats += 1;
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
