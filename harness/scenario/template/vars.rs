//! `[vars]`: values that may refer to each other in any order.

use std::collections::{BTreeMap, BTreeSet};

use super::engine::MOST_BYTES;
use super::json::TemplateJson;
use super::template::Template;
use retake_base::error::{Error, Result};
use retake_core::json::Json;

/// The vars of a scenario, each after those that it needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Vars(Vec<(String, TemplateJson)>);

impl Vars {
    /// Puts the vars into an order in which they can be rendered.
    /// Fails if vars need each other.
    pub(crate) fn in_order(mut waiting: BTreeMap<String, TemplateJson>) -> Result<Vars> {
        let mut ordered = Vec::with_capacity(waiting.len());
        while !waiting.is_empty() {
            let ready: Vec<String> = waiting
                .iter()
                .filter(|(_, value)| needed(value, &waiting).is_none())
                .map(|(name, _)| name.clone())
                .collect();
            if ready.is_empty() {
                return Err(circle(&waiting));
            }
            ordered.extend(ready.into_iter().filter_map(|name| waiting.remove_entry(&name)));
        }
        Ok(Vars(ordered))
    }

    /// Returns the names, each after those that it needs.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the value of a var that can be rendered without any other value.
    pub fn fixed(&self, name: &str) -> Option<Json> {
        let (_, value) = self.0.iter().find(|(known, _)| known == name)?;
        value.render(&Context::new()).ok()
    }

    /// Returns the context with all vars added.
    /// As [`TemplateJson::render`].
    pub fn resolve(&self, context: &Context) -> Result<Context> {
        let mut context = context.clone();
        for (name, value) in &self.0 {
            let rendered = value.render(&context)?;
            // Without a limit, vars that each contain the previous one twice would fill the memory.
            if size(&rendered) > MOST_BYTES {
                let what = format!("the var `{name}` holds more than {} MB", MOST_BYTES >> 20);
                let error = value.templates().first().map(|template| template.error(what.clone()));
                return Err(error.unwrap_or_else(|| Error::new(what)));
            }
            context.insert(name.as_str(), rendered);
        }
        Ok(context)
    }
}

/// Returns the number of bytes of text in a value, plus one for each value in it.
fn size(value: &Json) -> usize {
    1 + match value {
        Json::Str(text) => text.len(),
        Json::Array(items) => items.iter().map(size).sum(),
        Json::Object(entries) => entries.iter().map(|(key, value)| key.len() + size(value)).sum(),
        _ => 0,
    }
}

/// Returns a template of `value` that uses one of the `waiting` vars, and the name of that var.
fn needed<'a>(value: &'a TemplateJson, waiting: &'a BTreeMap<String, TemplateJson>) -> Option<(&'a Template, &'a str)> {
    value.templates().into_iter().find_map(|template| {
        let (name, _) = template.uses.iter().find_map(|name| waiting.get_key_value(name.root()))?;
        Some((template, name.as_str()))
    })
}

/// Returns the error that names one circle among vars that all wait for another.
fn circle(waiting: &BTreeMap<String, TemplateJson>) -> Error {
    let mut seen = BTreeSet::new();
    let mut path: Vec<&str> = Vec::new();
    let mut next = waiting.keys().next().map(String::as_str);
    while let Some(name) = next {
        path.push(name);
        if !seen.insert(name) {
            break;
        }
        next = waiting.get(name).and_then(|value| needed(value, waiting)).map(|(_, name)| name);
    }
    let last = path.last().copied().unwrap_or_default();
    let start = path.iter().position(|name| *name == last).unwrap_or_default();
    let what = format!("vars that need each other: {}", path[start..].join(" → "));
    let first = waiting.get(last).and_then(|value| needed(value, waiting));
    first.map_or_else(|| Error::new(what.clone()), |(template, _)| template.error(what.clone()))
}

/// The values that templates are rendered with, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Context {
    values: BTreeMap<String, Json>,
}

impl Context {
    /// Makes an empty context.
    pub fn new() -> Context {
        Context::default()
    }

    /// Sets the value of a name, replacing an earlier one.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Json>) {
        self.values.insert(name.into(), value.into());
    }

    pub fn get(&self, name: &str) -> Option<&Json> {
        self.values.get(name)
    }

    /// Returns all names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }
}
