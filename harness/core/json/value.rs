//! One JSON value.

use litemap::LiteMap;
use smol_str::SmolStr;

/// The entries of an object. Most objects and most keys are small, so a sorted list with the keys stored inline takes a
/// third of the memory of a tree, and is faster to build.
pub type Object = LiteMap<SmolStr, Json>;

/// One JSON value. The keys of an object are unique and sorted by code point; a repeated key has its last value.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Json {
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer that fits into 64 bits.
    Int(i64),
    /// The digits of an integer that does not fit into 64 bits.
    BigInt(Box<str>),
    /// Any number written with a fraction or an exponent; may be infinite or NaN, as in Python.
    Float(f64),
    Str(String),
    Array(Vec<Json>),
    Object(Object),
}

impl Json {
    /// Returns the value of a key; `None` if this is not an object, or lacks the key.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.as_object()?.get(key)
    }

    /// Returns the value of a key if it is a string.
    pub fn str_of(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    /// Returns the text if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Json::Str(s) = self { Some(s) } else { None }
    }

    /// Returns the elements if this is an array.
    pub fn as_array(&self) -> Option<&[Json]> {
        if let Json::Array(a) = self { Some(a) } else { None }
    }

    /// Returns the entries if this is an object.
    pub fn as_object(&self) -> Option<&Object> {
        if let Json::Object(o) = self { Some(o) } else { None }
    }

    /// Returns the mutable entries if this is an object.
    pub fn as_object_mut(&mut self) -> Option<&mut Object> {
        if let Json::Object(o) = self { Some(o) } else { None }
    }

    /// Returns the owned text if this is a string.
    pub fn into_string(self) -> Option<String> {
        if let Json::Str(s) = self { Some(s) } else { None }
    }

    /// Returns the owned entries if this is an object.
    pub fn into_object(self) -> Option<Object> {
        if let Json::Object(o) = self { Some(o) } else { None }
    }

    /// Gives each string of the value, but no key.
    pub fn each_text(&self, found: &mut dyn FnMut(&str)) {
        match self {
            Json::Str(text) => found(text),
            Json::Array(items) => items.iter().for_each(|item| item.each_text(found)),
            Json::Object(fields) => fields.iter().for_each(|(_, field)| field.each_text(found)),
            _ => {}
        }
    }

    /// As [`Json::each_text`], for strings that are changed in place.
    pub fn each_text_mut(&mut self, change: &mut dyn FnMut(&mut String)) {
        match self {
            Json::Str(text) => change(text),
            Json::Array(items) => items.iter_mut().for_each(|item| item.each_text_mut(change)),
            Json::Object(fields) => fields.iter_mut().for_each(|(_, field)| field.each_text_mut(change)),
            _ => {}
        }
    }

    /// Returns the number if this is a non-negative integer of at most 63 bits.
    pub fn as_u64(&self) -> Option<u64> {
        if let Json::Int(i) = self { u64::try_from(*i).ok() } else { None }
    }

    /// Whether Python treats the value as true.
    pub fn is_truthy(&self) -> bool {
        match self {
            Json::Null => false,
            Json::Bool(b) => *b,
            Json::Int(i) => *i != 0,
            Json::BigInt(_) => true,
            Json::Float(f) => *f != 0.0,
            Json::Str(s) => !s.is_empty(),
            Json::Array(a) => !a.is_empty(),
            Json::Object(o) => !o.is_empty(),
        }
    }

    /// Returns the name of the value's type, as shapes and errors print it.
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "boolean",
            Json::Int(_) | Json::BigInt(_) | Json::Float(_) => "number",
            Json::Str(_) => "string",
            Json::Array(_) => "array",
            Json::Object(_) => "object",
        }
    }

    /// Returns the value at a JSON pointer (RFC 6901). In addition to the RFC, `-1` is the last element of an array, `-2` the
    /// one before it, and so on.
    pub fn pointer(&self, pointer: &str) -> Option<&Json> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(self, |value, token| {
            let token = token.replace("~1", "/").replace("~0", "~");
            match value {
                Json::Object(o) => o.get(&*token),
                Json::Array(a) => match token.strip_prefix('-') {
                    Some(back) => a.get(a.len().checked_sub(back.parse().ok()?)?),
                    None => a.get(token.parse::<usize>().ok()?),
                },
                _ => None,
            }
        })
    }

    pub fn object<K: Into<SmolStr>>(entries: impl IntoIterator<Item = (K, Json)>) -> Json {
        Json::Object(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}

impl From<&str> for Json {
    fn from(s: &str) -> Json {
        Json::Str(s.to_owned())
    }
}

impl From<String> for Json {
    fn from(s: String) -> Json {
        Json::Str(s)
    }
}

impl From<bool> for Json {
    fn from(b: bool) -> Json {
        Json::Bool(b)
    }
}

impl From<u64> for Json {
    fn from(n: u64) -> Json {
        i64::try_from(n).map_or_else(|_| Json::BigInt(n.to_string().into()), Json::Int)
    }
}

impl From<usize> for Json {
    fn from(n: usize) -> Json {
        Json::from(n as u64)
    }
}

impl From<Vec<Json>> for Json {
    fn from(a: Vec<Json>) -> Json {
        Json::Array(a)
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(o: Option<T>) -> Json {
        o.map_or(Json::Null, Into::into)
    }
}

impl serde::Serialize for Json {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => s.serialize_unit(),
            Json::Bool(b) => s.serialize_bool(*b),
            Json::Int(i) => s.serialize_i64(*i),
            Json::BigInt(digits) => match digits.parse::<i128>() {
                Ok(i) => s.serialize_i128(i),
                Err(_) => s.serialize_f64(digits.parse().unwrap_or(f64::INFINITY)),
            },
            Json::Float(f) => s.serialize_f64(*f),
            Json::Str(v) => s.serialize_str(v),
            Json::Array(a) => s.collect_seq(a),
            Json::Object(o) => s.collect_map(o.iter().map(|(key, value)| (key.as_str(), value))),
        }
    }
}
