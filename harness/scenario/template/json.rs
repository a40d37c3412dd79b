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

    /// Returns every template inside.
    pub(crate) fn templates(&self) -> Vec<&Template> {
        match self {
            TemplateJson::Value(_) => Vec::new(),
            TemplateJson::Text(template) => vec![template],
            TemplateJson::Array(items) => items.iter().flat_map(TemplateJson::templates).collect(),
            TemplateJson::Object(entries) => {
                entries.iter().flat_map(|(key, value)| [vec![key], value.templates()].concat()).collect()
            }
        }
    }
}
