//! Values of one run, and the names that goldens show in place of them.

use std::borrow::Cow;

use retake_core::key::Normalizer;
use retake_core::places::Places;

/// Captured strings of fewer characters are shown as they are in goldens, because they may be ordinary words.
pub(super) const NAMED_FROM: usize = 8;

/// Whether a value is a path of one component, such as `/app`, which may also be a part of other words.
fn is_short(value: &str) -> bool {
    value.strip_prefix('/').is_some_and(|name| !name.contains('/'))
}

/// Values that differ from run to run, and the names that goldens show in place of them.
#[derive(Clone, Debug, Default)]
pub struct NamedValues(Vec<(String, String)>);

impl NamedValues {
    pub(super) fn add(&mut self, value: String, name: String) {
        self.0.push((value, name));
        // Longer values come first, because another value may be a part of them.
        self.0.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
    }

    /// Returns the name of a value that a text contains, or that contains the text. A text that is only a port also matches an
    /// address with that port.
    pub fn name_of(&self, text: &str) -> Option<&str> {
        let is_port = !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
        let fits = |value: &str| {
            let is_in =
                || !is_short(value) || matches!(Places::new([("", value.to_owned())]).put(text, ""), Cow::Owned(_));
            text.contains(value) && is_in()
                || (text.len() >= NAMED_FROM && value.contains(text))
                || (is_port && value.rsplit_once(':').is_some_and(|(_, port)| port == text))
        };
        self.0.iter().find(|(value, _)| fits(value)).map(|(_, name)| name.as_str())
    }

    /// Replaces the values in a text by their names, then normalizes it like the input of keys.
    pub fn apply(&self, text: &str, normalizer: &Normalizer) -> String {
        let mut text = text.to_owned();
        for (value, name) in &self.0 {
            if is_short(value) {
                text = Places::new([("", value.clone())]).put(&text, name).into_owned();
            } else if text.contains(value.as_str()) {
                text = text.replace(value.as_str(), name);
            }
        }
        normalizer.apply(&text).into_owned()
    }
}
