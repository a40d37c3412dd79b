//! What a service did in a world, derived from what it sent beside the recorded run. Pure.

use std::collections::BTreeSet;

use super::sent::{Place, WhatWasSent, says_error};
use retake_base::text::{clipped, counted};

/// How much of a text a line quotes.
const QUOTED: usize = 24;

/// What a service did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Did {
    /// Its client got what was recorded.
    Recovered,
    /// It said that something failed.
    Reported,
    /// It ended as if all was well, with less than was recorded.
    Silent,
    /// It ended well, and said something else.
    Other,
    /// It asked the model what was never recorded.
    WentOn,
    /// It did not end.
    Hung,
    /// Its process ended, or it panicked.
    Crashed,
    /// It did not work any more afterwards.
    Sick,
    /// It asked again and again.
    Storm,
}

impl Did {
    /// The word in tables.
    pub(super) fn word(self) -> &'static str {
        match self {
            Did::Recovered => "recovered",
            Did::Reported => "reported",
            Did::Silent => "SILENT",
            Did::Other => "other",
            Did::WentOn => "went on",
            Did::Hung => "hung",
            Did::Crashed => "crashed",
            Did::Sick => "sick",
            Did::Storm => "storm",
        }
    }

    /// Whether it fails until somebody accepts it.
    pub(super) fn fails(self) -> bool {
        matches!(self, Did::Silent | Did::Hung | Did::Crashed | Did::Sick | Did::Storm)
    }
}

/// What a service did, and what says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) did: Did,
    pub(super) why: String,
}

impl Verdict {
    pub(super) fn new(did: Did, why: impl Into<String>) -> Verdict {
        Verdict { did, why: why.into() }
    }
}

/// A run in a world, as far as it can be judged by what was sent.
pub(super) struct Compared<'a> {
    pub(super) recorded: &'a WhatWasSent,
    pub(super) now: &'a WhatWasSent,
    /// The status of the last answer.
    pub(super) status: String,
    /// The texts of places that differ from run to run without any fault.
    pub(super) noise: &'a BTreeSet<Place>,
    /// More words by which the service says that something failed.
    pub(super) error_words: &'a [String],
    /// The first line of the golden that is another one, and is not about texts.
    pub(super) changed: Option<String>,
}

impl Compared<'_> {
    /// The verdict on a run that came to an end, and whose golden differs.
    pub(super) fn verdict(&self) -> Verdict {
        let Compared { recorded, now, status, .. } = self;
        let new_labels: Vec<&String> = now.labels.difference(&recorded.labels).collect();
        if let Some(label) = new_labels.iter().find(|label| says_error(label, self.error_words)) {
            return Verdict::new(Did::Reported, format!("event `{label}`"));
        }
        let new_words: Vec<&(String, String)> = now.words.difference(&recorded.words).collect();
        if let Some((key, word)) = new_words.iter().find(|(_, word)| says_error(word, self.error_words)) {
            let what = if key.is_empty() { format!("an `{word}`") } else { format!("{key} {word:?}") };
            return Verdict::new(Did::Reported, what);
        }
        let ended = now.ends.iter().zip(&recorded.ends).find(|(now, recorded)| now != recorded);
        if let Some((last, expected)) = ended.filter(|(_, expected)| !expected.is_empty()) {
            let last = if last.is_empty() { "nothing" } else { last };
            return Verdict::new(Did::Reported, format!("breaks off after `{last}`, before `{expected}`"));
        }
        if let Some(label) = new_labels.first() {
            return Verdict::new(Did::Other, format!("{status}, event `{label}`"));
        }
        if let Some((key, word)) = new_words.first() {
            return Verdict::new(Did::Other, format!("{status}, {key} {word:?}"));
        }
        let places = now.texts.iter().filter(|(place, _)| !self.noise.contains(*place));
        for (place, texts) in places {
            let recorded = recorded.texts.get(place).map(Vec::as_slice).unwrap_or_default();
            if let Some(new) = new_text(texts, recorded) {
                return Verdict::new(Did::Other, format!("{status}, ends, {}", quoted(new)));
            }
        }
        if let Some(what) = self.cut() {
            return Verdict::new(Did::Silent, format!("{status}, ends, {what}"));
        }
        let changed = self.changed.as_deref().unwrap_or("the golden differs");
        Verdict::new(Did::Other, format!("{status}, ends, all texts, but {changed}"))
    }

    /// What is left of the text of which the most is missing, or `None` if all texts came.
    fn cut(&self) -> Option<String> {
        let recorded = self.recorded.texts.iter().filter(|(place, _)| !self.noise.contains(*place));
        let missing = recorded.filter_map(|(place, recorded)| {
            let now = self.now.texts.get(place).map(Vec::as_slice).unwrap_or_default();
            let (whole, came) = (whole(recorded), whole(now));
            let (all, left) = (whole.chars().count(), came.chars().count());
            (left < all).then(|| (all - left, came, all))
        });
        // Of equal ones the first counts, as in each run.
        let (_, came, all) = missing.reduce(|most, next| if next.0 > most.0 { next } else { most })?;
        let came = if came.is_empty() { "nothing".to_owned() } else { quoted(&came) };
        Some(format!("{came} of {}", counted(all, "character")))
    }
}

/// The text at a place: its pieces joined, or the longest if each begins with the one before it, as states do.
fn whole(texts: &[String]) -> String {
    let grows = texts.windows(2).all(|pair| pair[1].starts_with(&pair[0]) || pair[0].starts_with(&pair[1]));
    if grows { texts.iter().max_by_key(|text| text.len()).cloned().unwrap_or_default() } else { texts.concat() }
}

/// The first text at a place that is neither a recorded one nor the beginning of one.
fn new_text<'a>(texts: &'a [String], recorded: &[String]) -> Option<&'a str> {
    let begins = |text: &String| recorded.iter().any(|recorded| recorded.starts_with(text.as_str()));
    // A stream may cut the same text at other places.
    if texts.iter().all(begins) || recorded.concat().starts_with(&texts.concat()) {
        return None;
    }
    texts.iter().find(|text| !begins(text)).map(String::as_str)
}

/// The beginning of a text, in quotes.
pub(super) fn quoted(text: &str) -> String {
    format!("{:?}", clipped(&text.split_whitespace().collect::<Vec<_>>().join(" "), QUOTED))
}

#[cfg(test)]
mod tests;
