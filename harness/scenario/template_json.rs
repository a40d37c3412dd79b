//! Request bodies and vars: JSON with templates in it.

use std::collections::BTreeMap;

use super::context::Context;
use super::raw::RawJson;
use super::source::Source;
use super::template::Template;
use crate::error::Result;
use crate::json::{Json, Layout};

/// A JSON value with templates for its texts and keys.
#[derive(Clone, Debug, PartialEq)]
pub enum TemplateJson {
    /// What holds no text.
    Value(Json),
    /// A text.
    Text(Template),
    /// A list.
    Array(Vec<TemplateJson>),
    /// An object.
    Object(Vec<(Template, TemplateJson)>),
}

impl TemplateJson {
    /// Renders every text and key inside.
    ///
    /// # Errors
    /// As [`Template::render`]; and where two keys of an object render to the same text.
    pub fn render(&self, context: &Context) -> Result<Json> {
        match self {
            TemplateJson::Value(value) => Ok(value.clone()),
            TemplateJson::Text(template) => template.render(context),
            TemplateJson::Array(items) => {
                items.iter().map(|item| item.render(context)).collect::<Result<_>>().map(Json::Array)
            }
            TemplateJson::Object(entries) => {
                let mut object = BTreeMap::new();
                for (key, value) in entries {
                    let name = key.render_text(context)?;
                    if object.contains_key(&name) {
                        return Err(key.error(format!("two keys of this object render to `{name}`")));
                    }
                    object.insert(name, value.render(context)?);
                }
                Ok(Json::object(object))
            }
        }
    }

    /// The templates of a value from a TOML file.
    pub(super) fn from_toml(raw: &toml::Spanned<RawJson>, source: &Source) -> Result<TemplateJson> {
        Ok(match raw.get_ref() {
            RawJson::Bool(value) => TemplateJson::Value(Json::Bool(*value)),
            RawJson::Float(value) => TemplateJson::Value(Json::Float(*value)),
            RawJson::Int(value) => TemplateJson::Value(
                i64::try_from(*value).map_or_else(|_| Json::BigInt(value.to_string().into()), Json::Int),
            ),
            RawJson::Text(text) => TemplateJson::Text(Template::parse(text, source, raw.span())?),
            RawJson::List(items) => TemplateJson::Array(
                items.iter().map(|item| TemplateJson::from_toml(item, source)).collect::<Result<_>>()?,
            ),
            RawJson::Table(entries) => TemplateJson::Object(
                entries
                    .iter()
                    .map(|(key, value)| {
                        let key = Template::parse(key.get_ref(), source, key.span())?;
                        Ok((key, TemplateJson::from_toml(value, source)?))
                    })
                    .collect::<Result<_>>()?,
            ),
        })
    }

    /// The templates of a JSON file. The reader of JSON keeps no places, so a text is looked up in the source.
    pub(super) fn from_json(json: &Json, source: &Source) -> Result<TemplateJson> {
        let template = |text: &str| {
            let literal = Json::from(text).print(Layout::Compact);
            let start = source.text.find(&literal).unwrap_or_default();
            Template::parse(text, source, start..start + literal.len())
        };
        Ok(match json {
            Json::Str(text) => TemplateJson::Text(template(text)?),
            Json::Array(items) => TemplateJson::Array(
                items.iter().map(|item| TemplateJson::from_json(item, source)).collect::<Result<_>>()?,
            ),
            Json::Object(entries) => TemplateJson::Object(
                entries
                    .iter()
                    .map(|(key, value)| Ok((template(key)?, TemplateJson::from_json(value, source)?)))
                    .collect::<Result<_>>()?,
            ),
            other => TemplateJson::Value(other.clone()),
        })
    }

    /// Hands every template inside to `visit`, until one is refused.
    pub(super) fn each<'a>(&'a self, visit: &mut dyn FnMut(&'a Template) -> Result<()>) -> Result<()> {
        match self {
            TemplateJson::Value(_) => Ok(()),
            TemplateJson::Text(template) => visit(template),
            TemplateJson::Array(items) => items.iter().try_for_each(|item| item.each(visit)),
            TemplateJson::Object(entries) => entries.iter().try_for_each(|(key, value)| {
                visit(key)?;
                value.each(visit)
            }),
        }
    }
}
