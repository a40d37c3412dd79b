//! A `[[normalize]]` rule that is proposed, as it is tried and as it is written.

use std::fmt::Write as _;

use regex::Regex;

/// A `[[normalize]]` rule.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) regex: Regex,
    pub(crate) replace: String,
}

impl Rule {
    /// A rule of a pattern; none where it is not a pattern, or fits the empty text.
    pub(super) fn new(pattern: &str, replace: String) -> Option<Rule> {
        let regex = Regex::new(pattern).ok()?;
        (!regex.is_match("")).then_some(Rule { regex, replace })
    }

    /// A text with the rule applied.
    pub(crate) fn apply(&self, text: &str) -> String {
        self.regex.replace_all(text, &self.replace).into_owned()
    }

    /// The rule as it stands in `suite.toml`.
    pub(crate) fn toml(&self) -> String {
        let pattern = self.regex.as_str();
        let literal = !pattern.contains('\'') && !pattern.contains(char::is_control);
        let pattern = if literal { format!("'{pattern}'") } else { toml_basic_string(pattern) };
        format!("[[normalize]]\npattern = {pattern}\nreplace = {}", toml_basic_string(&self.replace))
    }
}

/// A basic string of TOML.
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
