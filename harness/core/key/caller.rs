//! Who made a model call (KEY.md, section 3).

use std::collections::BTreeMap;

use super::normalize::{Normalizer, is_python_space};

/// The name that reports use for the caller of a call that does not declare one.
pub const UNKNOWN_CALLER: &str = "unknown";

/// A caller that was declared, in words: ``attributed(", by", …)`` is ``, by `writer` ``. Empty for a call that declares none.
pub fn attributed(word: &str, caller: Option<&str>) -> String {
    caller.map(|caller| format!("{word} `{caller}`")).unwrap_or_default()
}

const DEFAULT: &str = "lead_agent";
const TAG_PREFIXES: [&str; 2] = ["middleware:", "subagent:"];

/// Other names of callers. Version 1 has one alias, `title_agent` for `middleware:title`; a suite can add its own.
#[derive(Clone, Debug)]
pub struct Aliases(BTreeMap<String, String>);

impl Default for Aliases {
    fn default() -> Aliases {
        Aliases(BTreeMap::from([("title_agent".to_owned(), "middleware:title".to_owned())]))
    }
}

impl Aliases {
    /// Adds aliases to those of version 1.
    pub fn with(mut self, more: impl IntoIterator<Item = (String, String)>) -> Aliases {
        self.0.extend(more);
        self
    }

    pub(super) fn canonical(&self, caller: Option<&str>, normalizer: &Normalizer) -> String {
        let name = normalizer.version_1(caller.unwrap_or_default().trim_matches(is_python_space)).into_owned();
        let name = if name.is_empty() { DEFAULT.to_owned() } else { name };
        self.0.get(&name).cloned().unwrap_or(name)
    }
}

/// Returns the caller of an in-process call: the first of its tags that is the name of a caller, otherwise the call's name.
///
/// `lead_agent` and tags that begin with `middleware:` or `subagent:` are names of callers.
pub fn caller_of_tags<'a>(tags: impl IntoIterator<Item = &'a str>, name: Option<&'a str>) -> Option<&'a str> {
    tags.into_iter().find(|tag| *tag == DEFAULT || TAG_PREFIXES.iter().any(|prefix| tag.starts_with(prefix))).or(name)
}

#[cfg(test)]
mod tests;
