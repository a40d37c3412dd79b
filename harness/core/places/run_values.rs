//! Values that a run makes up, such as the number of an order, beside those of the recording. Pure.
//!
//! A model says such a value again: "cancel order 7f3a". Its recorded answer says the recorded value, which no tool of the run knows.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::Places;
use crate::json::Json;
use crate::key::Normalizer;

/// Values of a recording, each with what a run has in its place, or the other way round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunValues(Places);

impl RunValues {
    /// The recorded values that a call has otherwise where the rules replace them: whole words. The messages of both are as they were
    /// sent, and equal by the rules. A value that stands elsewhere, too, where the call has the same, is none.
    pub fn between(recorded: &[Json], called: &[Json], rules: &Normalizer) -> RunValues {
        let told = |message| Json::str_of(message, "content").filter(|_| message.str_of("type") != Some("ai"));
        let texts = recorded.iter().zip(called).filter_map(|(one, other)| told(one).zip(told(other)));
        let kinds = texts.clone().filter(|(one, other)| one != other);
        let kinds = kinds.flat_map(|(one, other)| rules.values(one).into_iter().zip(rules.values(other)));
        let pairs =
            kinds.filter(|(one, other)| one.len() == other.len()).flat_map(|(one, other)| one.into_iter().zip(other));
        let found: BTreeSet<_> = pairs.filter_map(|(one, other)| differing(one, other)).collect();
        let count = |text, value: &str| Places::new([("", value.to_owned())]).put(text, "\0").matches('\0').count();
        let is_one = |(one, other): &(&str, &str)| texts.clone().all(|(was, is)| count(was, one) == count(is, other));
        RunValues(Places::new(found.into_iter().filter(is_one).map(|(one, other)| (other, one.to_owned()))))
    }

    /// Returns a text with the other value in place of each.
    pub fn put<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.0.put_names(text)
    }

    /// The same values the other way round.
    #[must_use]
    pub fn reversed(&self) -> RunValues {
        RunValues(Places::new(self.0.iter().map(|(name, place)| (place, name.to_owned()))))
    }

    /// The values that stand in a text.
    #[must_use]
    pub fn in_text(&self, text: &str) -> RunValues {
        let values = self.0.iter().filter(|(_, place)| text.contains(place));
        RunValues(Places::new(values.map(|(name, place)| (name, place.to_owned()))))
    }

    /// Adds values, the newest first, and forgets all but the first `most`.
    pub fn add(&mut self, more: &RunValues, most: usize) {
        let is_new = |(_, place): &(&str, &str)| more.0.iter().all(|(_, other)| other != *place);
        let all = more.0.iter().chain(self.0.iter().filter(is_new)).take(most);
        self.0 = Places::new(all.map(|(name, place)| (name, place.to_owned())));
    }
}

/// The parts of two texts that differ, as whole words.
fn differing<'a>(one: &'a str, other: &'a str) -> Option<(&'a str, &'a str)> {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let length = |equal: &mut dyn Iterator<Item = (char, char)>| -> usize {
        equal.take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum()
    };
    let start = length(&mut one.chars().zip(other.chars()));
    let start = one[..start].trim_end_matches(is_of_word).len();
    let (one, other) = (&one[start..], &other[start..]);
    let end = length(&mut one.chars().rev().zip(other.chars().rev()));
    let end = one[one.len() - end..].trim_start_matches(is_of_word).len();
    let (one, other) = (one.get(..one.len() - end)?, other.get(..other.len().checked_sub(end)?)?);
    (!one.is_empty() && !other.is_empty()).then_some((one, other))
}

#[cfg(test)]
mod tests;
