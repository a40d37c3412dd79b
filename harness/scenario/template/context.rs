//! The values that templates are rendered with.

use std::collections::BTreeMap;

use retake_core::json::Json;

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
