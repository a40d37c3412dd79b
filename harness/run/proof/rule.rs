//! A proposed `[[normalize]]` rule: how to apply it, and its text for `suite.toml`.

use std::collections::BTreeSet;

use regex::Regex;
use retake_core::json::Json;

/// A `[[normalize]]` rule.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub regex: Regex,
    pub replace: String,
    /// Whether the pattern lacks the text around the place that varies, so that it may match anything.
    pub alone: bool,
}

impl Rule {
    /// A rule with a pattern; `None` if the pattern is invalid or matches the empty text.
    pub(super) fn new(pattern: &str, replace: String) -> Option<Rule> {
        let regex = Regex::new(pattern).ok()?;
        (!regex.is_match("")).then_some(Rule { regex, replace, alone: false })
    }

    /// Like [`Rule::new`], for a pattern without the text around the place.
    pub(super) fn alone(pattern: &str, word: &str) -> Option<Rule> {
        Some(Rule { alone: true, ..Rule::new(pattern, word.to_owned())? })
    }

    /// Whether the rule replaces some text in both of these conversations that is the same in both, so it does not vary.
    pub(super) fn takes_what_stays(&self, one: &[Json], other: &[Json]) -> bool {
        let matches = |messages: &[Json]| {
            let mut found = BTreeSet::new();
            for message in messages {
                message.each_text(&mut |text| found.extend(self.regex.find_iter(text).map(|m| m.as_str().to_owned())));
            }
            found
        };
        !matches(one).is_disjoint(&matches(other))
    }

    /// Whether two texts still differ at the first place in which they do, though the rule replaces what the first has there.
    pub(super) fn leaves_apart(&self, a: &str, b: &str) -> bool {
        let at = common(a, b);
        let end = |text| self.regex.find_iter(text).find(|m| m.start() <= at && at <= m.end()).map(|m| m.end());
        // What follows a value is the same, if the value has come to its end.
        let next = |text: &str, end: usize| text[end..].chars().next();
        end(a).is_some_and(|of_a| end(b).is_none_or(|of_b| next(a, of_a) != next(b, of_b)))
    }

    pub(super) fn apply(&self, text: &str) -> String {
        self.regex.replace_all(text, &self.replace).into_owned()
    }

    /// The rule as text for `suite.toml`.
    pub(super) fn toml(&self) -> String {
        let [pattern, replace] = [self.regex.as_str(), &*self.replace].map(toml::Value::from);
        format!("[[normalize]]\npattern = {pattern}\nreplace = {replace}")
    }
}

/// The length in bytes of the beginning that two texts share, in whole characters.
pub(super) fn common(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum()
}
