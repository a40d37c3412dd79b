//! JSON with templates in it, for request bodies and vars.

use std::collections::BTreeMap;

use super::template::Template;
use super::vars::Context;
use retake_base::error::Result;
use retake_core::json::Json;

/// A JSON value whose strings and keys are templates.
#[derive(Clone, Debug, PartialEq)]
pub enum TemplateJson {
    /// A number, a boolean or null.
    Value(Json),
    /// A string.
    Text(Template),
    /// A list.
    Array(Vec<TemplateJson>),
    Object(Vec<(Template, TemplateJson)>),
}

impl TemplateJson {
    /// Renders every string and key inside.
    /// As [`Template::render`], and if two keys of an object render to the same text.
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

    /// Calls `visit` with every template inside, until it returns an error.
    pub(crate) fn each<'a>(&'a self, visit: &mut dyn FnMut(&'a Template) -> Result<()>) -> Result<()> {
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
