//! Reads values of a TOML or JSON file, and the templates in them.

use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::spanned::Spanned;
use super::values::read_as;
use crate::source::Source;
use crate::template::{Template, TemplateJson};
use retake_base::error::Result;
use retake_core::json::{Json, Layout};

/// A TOML value that can be written as JSON. Each value in it has its place.
#[derive(Clone, Debug)]
pub(super) enum RawJson {
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    List(Vec<Spanned<RawJson>>),
    Table(Vec<(Spanned<String>, Spanned<RawJson>)>),
}

/// Parses the templates in a value of a TOML file.
pub(super) fn of_toml(raw: &Spanned<RawJson>, source: &Source) -> Result<TemplateJson> {
    Ok(match raw.get_ref() {
        RawJson::Bool(value) => TemplateJson::Value(Json::Bool(*value)),
        RawJson::Float(value) => TemplateJson::Value(Json::Float(*value)),
        RawJson::Int(value) => TemplateJson::Value(
            i64::try_from(*value).map_or_else(|_| Json::BigInt(value.to_string().into()), Json::Int),
        ),
        RawJson::Text(text) => TemplateJson::Text(Template::parse(text, source, raw.span())?),
        RawJson::List(items) => {
            TemplateJson::Array(items.iter().map(|item| of_toml(item, source)).collect::<Result<_>>()?)
        }
        RawJson::Table(entries) => {
            let entry = |(key, value): &(Spanned<String>, Spanned<RawJson>)| {
                Ok((Template::parse(key.get_ref(), source, key.span())?, of_toml(value, source)?))
            };
            TemplateJson::Object(entries.iter().map(entry).collect::<Result<_>>()?)
        }
    })
}

/// Parses the templates in a JSON file. The JSON reader keeps no places, so each string is searched for in the source.
pub(super) fn of_json(json: &Json, source: &Source) -> Result<TemplateJson> {
    let template = |text: &str| {
        let literal = Json::from(text).print(Layout::Compact);
        let start = source.text.find(&literal).unwrap_or_default();
        Template::parse(text, source, start..start + literal.len())
    };
    Ok(match json {
        Json::Str(text) => TemplateJson::Text(template(text)?),
        Json::Array(items) => {
            TemplateJson::Array(items.iter().map(|item| of_json(item, source)).collect::<Result<_>>()?)
        }
        Json::Object(entries) => TemplateJson::Object(
            entries.iter().map(|(key, value)| Ok((template(key)?, of_json(value, source)?))).collect::<Result<_>>()?,
        ),
        other => TemplateJson::Value(other.clone()),
    })
}

read_as!(RawJson, "a value", {
    fn visit_bool<E>(self, value: bool) -> Result<RawJson, E> {
        Ok(RawJson::Bool(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<RawJson, E> {
        Ok(RawJson::Int(value.into()))
    }
    fn visit_u64<E>(self, value: u64) -> Result<RawJson, E> {
        Ok(RawJson::Int(value.into()))
    }
    fn visit_i128<E>(self, value: i128) -> Result<RawJson, E> {
        Ok(RawJson::Int(value))
    }
    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<RawJson, E> {
        if value.is_finite() {
            Ok(RawJson::Float(value))
        } else {
            Err(E::custom(format!("JSON has no number {value}")))
        }
    }
    fn visit_str<E>(self, value: &str) -> Result<RawJson, E> {
        Ok(RawJson::Text(value.to_owned()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<RawJson, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(RawJson::List)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawJson, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            entries.push((key, map.next_value()?));
        }
        Ok(RawJson::Table(entries))
    }
});
