//! Values of one run, for which goldens have names.

use crate::key::Normalizer;

/// Captured strings shorter than this stay as they are in goldens: they may be words.
pub(super) const NAMED_FROM: usize = 8;

/// Values that differ from run to run, and the names that stand for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct NamedValues(Vec<(String, String)>);

impl NamedValues {
    pub(super) fn add(&mut self, value: String, name: String) {
        self.0.push((value, name));
        // A longer value first: another may be a part of it.
        self.0.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
    }

    /// What a value is called that a text holds, or that holds the text; the port alone tells an address as well.
    pub(crate) fn name_of(&self, text: &str) -> Option<&str> {
        let is_port = !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
        let fits = |value: &str| {
            text.contains(value)
                || (text.len() >= NAMED_FROM && value.contains(text))
                || (is_port && value.rsplit_once(':').is_some_and(|(_, port)| port == text))
        };
        self.0.iter().find(|(value, _)| fits(value)).map(|(_, name)| name.as_str())
    }

    /// A text with names for values, then normalized as keys are.
    pub(crate) fn apply(&self, text: &str, normalizer: &Normalizer) -> String {
        let mut text = text.to_owned();
        for (value, name) in &self.0 {
            if text.contains(value.as_str()) {
                text = text.replace(value.as_str(), name);
            }
        }
        normalizer.apply(&text).into_owned()
    }
}
