//! The texts of a run that are not the service's own words: what the model answered, what tools returned, and what the scenario
//! sent. A recording with other texts may change all of them.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::ids::is_id;
use super::notation::{Normalize, html};
use super::recorded::Recorded;
use super::words::{Exactly, SHOWN, WHOLE, is_plain_word, plain, said};
use crate::json::Json;
use crate::key::normalize::{self, regex};

/// What stands in place of a text that is not the service's own.
pub(super) const CUT: char = '…';
/// What stands in place of the name of the model.
pub(super) const MODEL: &str = "<model>";
/// A day with a clock behind it.
static TIMED: LazyLock<Regex> = LazyLock::new(|| regex(r"(?-u)(\b\d{4}-\d{2}-\d{2})[T ]\d{2}:\d{2}(?::\d{2})?"));
/// The most levels of JSON in texts.
const LEVELS: usize = 4;

/// Texts that come from somewhere else than the service.
#[derive(Clone, Debug, Default)]
pub struct Foreign {
    /// Whole texts, in lower case.
    texts: HashSet<String>,
    /// The languages of the machine, in lower case.
    languages: HashSet<String>,
    /// The longer texts, of which pieces can be found.
    whole: HashSet<String>,
    /// What the machine and its user are called.
    machine: Vec<String>,
    /// The names of the models that were asked.
    models: BTreeSet<String>,
    /// The key and the text of each value in responses of the model.
    passed_on: HashSet<(String, String)>,
}

/// What a text says of its own, and all that it says, if that is more.
pub(super) type OwnAndAll = (String, Option<String>);

impl Foreign {
    /// Adds a text, and all texts in it if it is JSON.
    pub fn add_text(&mut self, text: &str) {
        self.text(text, LEVELS);
    }

    /// Adds what the model said.
    pub fn add_recorded(&mut self, recorded: &Recorded) {
        recorded.said.iter().for_each(|(_, text)| self.add_text(text));
    }

    pub fn add(&mut self, value: &Json) {
        value.each_text(&mut |text| self.add_text(text));
    }

    /// Adds the name of a model.
    pub fn add_model(&mut self, name: &str) {
        self.add_text(name);
        self.models.insert(name.to_owned());
    }

    /// Adds a language of the machine. Some systems speak it.
    pub fn add_language(&mut self, name: &str) {
        self.languages.insert(name.to_lowercase());
    }

    /// Adds what the machine, its platform, its zone or its user is called. Words that say what something is stay the service's own.
    pub fn add_machine(&mut self, name: &str) {
        self.machine.push(name.to_owned());
    }

    /// Adds a response of the model as it came. Services pass some of it on under the same key, such as the service tier.
    pub fn add_response(&mut self, response: &Json) {
        match response {
            Json::Array(items) => items.iter().for_each(|item| self.add_response(item)),
            Json::Object(entries) => {
                for (key, value) in entries.iter() {
                    match value {
                        Json::Str(text) => drop(self.passed_on.insert((plain(key).into_owned(), text.clone()))),
                        other => self.add_response(other),
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether a text under a key looks like a word of the service's own vocabulary.
    pub fn is_own(&self, key: &str, text: &str) -> bool {
        let tells = ["role", "type", "kind", "event", "status", "object"].contains(&&*plain(key));
        is_plain_word(text) && !self.has(key, text) && (tells || self.machine.iter().all(|name| name != text))
    }

    /// Whether a word under a key comes from somewhere else.
    fn has(&self, key: &str, word: &str) -> bool {
        self.has_word(&word.to_lowercase()) || self.passed_on.contains(&(plain(key).into_owned(), word.to_owned()))
    }

    fn has_word(&self, lower: &str) -> bool {
        self.texts.contains(lower) || self.languages.contains(lower)
    }

    /// Whether a text comes from somewhere else, under any key.
    pub fn came(&self, text: &str) -> bool {
        self.has_word(&text.to_lowercase()) || self.passed_on.iter().any(|(_, passed)| passed == text)
    }

    /// Whether a text is the name of a model that was asked.
    pub(super) fn is_model(&self, text: &str) -> bool {
        self.models.contains(text)
    }

    /// Whether a text names the machine or its user.
    pub(super) fn names_machine(&self, text: &str) -> bool {
        // A zone can be called `-11`, which is in the 28th of November.
        let is_part = |c: &Option<char>| c.is_some_and(char::is_alphanumeric);
        let beside = |(at, of): (usize, &str)| [text[..at].chars().next_back(), text[at + of.len()..].chars().next()];
        self.machine.iter().any(|name| text.match_indices(name).any(|found| !beside(found).iter().any(is_part)))
    }

    /// What a text says of its own, `exactly` or not: with `…` in place of each of these texts, and names for what varies; and all that it
    /// says, if that is more. `None` if its own is nothing, or cannot be told. A day that one of these texts names varies for nobody, and
    /// none does if it is said exactly. Nor does a clock beside such a day, if that is none of this week.
    pub(super) fn said(&self, text: &str, normalize: &Normalize<'_>, exactly: Exactly) -> Option<OwnAndAll> {
        // What looks like an id and is none is a checksum, or another name of one thing.
        let exactly = if is_id(text) { Exactly::Always } else { exactly };
        let text = self.models.iter().fold(text.to_owned(), |text, of| replaced(&text, of, MODEL));
        let forms = self.whole.iter().flat_map(|of| [of.trim().to_owned()].into_iter().chain(html(of)));
        let mut found: Vec<String> = forms.filter(|of| !of.is_empty() && text.contains(of)).collect();
        found.sort_unstable_by(|a, b| (Reverse(a.len()), a).cmp(&(Reverse(b.len()), b)));
        let own = found.iter().fold(text.clone(), |text, of| replaced(&text, of, &CUT.to_string()));
        let normal = |text: &str| match exactly {
            Exactly::No => normalize(text),
            _ => around_days(text, normalize, &|day| exactly == Exactly::Always || self.has_piece(day), &str::to_owned),
        };
        let is_far = |day: &str| self.has_piece(day) && !exactly.is_near(day);
        let of_days = TIMED.replace_all(&own, |of: &Captures<'_>| of[usize::from(is_far(&of[1]))].to_owned());
        let of_own = around_days(&of_days, &str::to_owned, &|day| self.has_piece(day), &|_| CUT.to_string());
        let exactly = exactly.told(&of_own)?;
        let own = said(&normal(&own), exactly, SHOWN)?;
        let whole = said(&normal(&text), exactly, WHOLE).filter(|whole| *whole != own);
        Some((own, whole))
    }

    /// Whether a text is one of these as a whole.
    pub(super) fn is_whole(&self, text: &str) -> bool {
        self.whole.contains(text) && !self.machine.iter().any(|name| name == text)
    }

    /// The same in this case or another, with white space around it or without.
    pub(super) fn is_known(&self, text: &str) -> bool {
        self.texts.contains(&text.trim().to_lowercase()) && !self.machine.iter().any(|name| name == text)
    }

    /// The same in this case.
    pub(super) fn is_known_in_case(&self, text: &str) -> bool {
        self.is_known(text) && self.whole.iter().any(|of| of.trim() == text.trim())
    }

    /// Whether a text is a piece of one of these texts.
    pub fn has_piece(&self, piece: &str) -> bool {
        self.whole.iter().any(|text| text.contains(piece))
    }

    /// Whether words are in one of these texts, and are none as a whole.
    pub(super) fn has_words(&self, words: &str) -> bool {
        !self.whole.contains(words) && self.whole.iter().any(|text| says(text, words))
    }

    /// Whether a text of the service, which was edited or filled in otherwise, says other values now than before: it has the same words
    /// of its own, or lacks one of these texts that is no word, such as a name, a code or a sentence.
    pub fn says_other_values(&self, before: &str, now: &str) -> bool {
        let own = |text: &str| Some(self.said(text, &str::to_owned, Exactly::Always)?.0);
        own(before) == own(now) || self.lacks_value(before, now)
    }

    /// Whether a text lacks one of these that is no word.
    pub fn lacks_value(&self, before: &str, now: &str) -> bool {
        let is_of = |text: &str| text.contains(' ') || text.contains(char::is_numeric);
        let is_value = |of: &str| of.contains(char::is_alphabetic) && is_of(of);
        let [before, now] = [before, now].map(str::to_lowercase);
        self.texts.iter().any(|of| is_value(of) && says(&before, of) && !now.contains(of.as_str()))
    }

    fn text(&mut self, text: &str, levels: usize) {
        if !self.texts.insert(text.trim().to_lowercase()) {
            return;
        }
        self.whole.insert(text.to_owned());
        if let (Ok(json @ (Json::Object(_) | Json::Array(_))), 1..) = (Json::parse(text.as_bytes()), levels) {
            json.each_text(&mut |text| self.text(text, levels - 1));
        }
    }
}

/// A text that is changed around the days that are `known`, each of which becomes what `day` says.
fn around_days(text: &str, change: &Normalize<'_>, known: &dyn Fn(&str) -> bool, day: &Normalize<'_>) -> String {
    static DAY: LazyLock<Regex> = LazyLock::new(|| regex(r"(?-u)\b\d{4}-\d{2}-\d{2}"));
    let (mut out, mut done) = (String::new(), 0);
    for found in DAY.find_iter(text).filter(|found| known(found.as_str())) {
        out += &(change(&text[done..found.start()]) + &day(found.as_str()));
        done = found.end();
    }
    out + &change(&text[done..])
}

/// Returns a text with something in place of another one, wherever that is not part of a longer word.
fn replaced(text: &str, of: &str, by: &str) -> String {
    let found = text.match_indices(of).map(|(at, found)| at..at + found.len());
    let found = found.filter(|found| is_apart(text, found.clone())).map(|found| (found, by));
    normalize::replaced(text, found).into_owned()
}

/// Whether a text has words, and not only as a part of longer ones.
fn says(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| is_apart(text, at..at + words.len()))
}

/// Whether what stands at a place is no part of a longer word.
fn is_apart(text: &str, Range { start, end }: Range<usize>) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let goes_on = |at: usize| is_word(text[..at].chars().next_back()) && is_word(text[at..].chars().next());
    !goes_on(start) && !goes_on(end)
}

#[cfg(test)]
mod tests;
