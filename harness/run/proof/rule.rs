//! A proposed `[[normalize]]` rule: how to apply it, and its text for `suite.toml`.

use std::fmt::Write as _;

use regex::Regex;

/// A `[[normalize]]` rule.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub regex: Regex,
    pub replace: String,
}

impl Rule {
    /// A rule with a pattern; `None` if the pattern is invalid or matches the empty text.
    pub(super) fn new(pattern: &str, replace: String) -> Option<Rule> {
        let regex = Regex::new(pattern).ok()?;
        (!regex.is_match("")).then_some(Rule { regex, replace })
    }

    pub(super) fn apply(&self, text: &str) -> String {
        self.regex.replace_all(text, &self.replace).into_owned()
    }

    /// The rule as text for `suite.toml`.
    pub(super) fn toml(&self) -> String {
        let pattern = self.regex.as_str();
        let literal = !pattern.contains('\'') && !pattern.contains(char::is_control);
        let pattern = if literal { format!("'{pattern}'") } else { toml_basic_string(pattern) };
        format!("[[normalize]]\npattern = {pattern}\nreplace = {}", toml_basic_string(&self.replace))
    }
}

fn toml_basic_string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => drop(write!(out, "\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out + "\""
}
