//! The names that a template may use, with their values.

use std::collections::BTreeMap;

use crate::json::Json;

/// Values by name: what templates are rendered with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Context {
    values: BTreeMap<String, Json>,
}

impl Context {
    /// A context without a value.
    #[must_use]
    pub fn new() -> Context {
        Context::default()
    }

    /// Gives a name its value, in place of an earlier one.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Json>) {
        self.values.insert(name.into(), value.into());
    }

    /// The value of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.values.get(name)
    }

    /// All names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }
}
