//! What a service did in a world, derived from what it sent beside the recorded run. Pure.

use std::collections::BTreeSet;

use super::sent::{Came, Place, WhatWasSent, says_error};
use retake_base::text::{clipped, counted};

/// How much of a text a line quotes.
pub(super) const QUOTED: usize = 24;
/// How a break-off is told apart from a report.
pub(super) const WITHOUT: &str = "without a word";

/// Declares the verdicts: a row for each, with its word in tables, whether it fails until somebody accepts it, and what it means.
macro_rules! verdicts {
    ($($did:ident $word:literal $fails:literal $doc:literal;)+) => {
        /// What a service did.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) enum Did { $(#[doc = $doc] $did),+ }

        impl Did {
            /// The word in tables.
            pub(super) fn word(self) -> &'static str {
                match self { $(Did::$did => $word),+ }
            }

            /// Whether it fails until somebody accepts it.
            pub(super) fn fails(self) -> bool {
                match self { $(Did::$did => $fails),+ }
            }
        }
    };
}

verdicts! {
    Recovered "recovered" false "Its client got what was recorded.";
    Resumed "resumed" false "It went on after it was killed, and its client got what was recorded.";
    Reported "reported" false "It said that something failed.";
    Silent "SILENT" true "It ended as if all was well, with less than was recorded.";
    Repeated "REPEATED" true "It sent the beginning of a text, and then all of it once more.";
    Acted "ACTED" true "A tool ran with arguments that the model did not give.";
    Other "other" false "It ended well, and said something else.";
    WentOn "went on" false "It asked the model what was never recorded.";
    Lost "LOST" true "Its client did not get all that was recorded, over both of its connections.";
    Doubled "DOUBLED" true "Its client got something twice.";
    NeverEnds "NEVER ENDS" true "It goes on for a client that has left, or the client that came back waits for ever.";
    PaidTwice "PAID TWICE" true "It asked the model once more for what it had got.";
    ActedTwice "ACTED TWICE" true "A tool acted once more than it should.";
    Hung "hung" true "It did not end.";
    Crashed "crashed" true "Its process ended, or it panicked.";
    Sick "sick" true "It did not work any more afterwards.";
    Storm "storm" true "It asked again and again.";
}

/// What a service did, and what says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) did: Did,
    pub(super) why: String,
}

impl Did {
    /// The verdict, with what says so.
    pub(super) fn since(self, why: impl Into<String>) -> Verdict {
        Verdict { did: self, why: why.into() }
    }
}

/// What differs from run to run without any fault.
#[derive(Clone, Debug, Default)]
pub(super) struct Noise {
    texts: BTreeSet<Place>,
    words: BTreeSet<(String, String)>,
}

impl Noise {
    /// What differs between two runs without any fault.
    pub(super) fn between(one: &WhatWasSent, other: &WhatWasSent) -> Noise {
        let places = one.texts.keys().chain(other.texts.keys());
        let texts = places.filter(|place| !is_same(texts_at(one, place), texts_at(other, place))).cloned().collect();
        let words = one.words.keys().chain(other.words.keys());
        let of_both = |word: &&(String, String)| one.words.contains_key(*word) && other.words.contains_key(*word);
        Noise { texts, words: words.filter(|word| !of_both(word)).cloned().collect() }
    }

    /// What was sent without it; or without what is like it, in whatever answer.
    pub(super) fn out_of(&self, mut sent: WhatWasSent, anywhere: bool) -> WhatWasSent {
        let is_like = |place: &Place| self.texts.iter().any(|noise| (&noise.1, &noise.2) == (&place.1, &place.2));
        let noisy = |place: &Place| if anywhere { is_like(place) } else { self.texts.contains(place) };
        sent.texts.iter_mut().filter(|(place, _)| noisy(place)).for_each(|(_, texts)| texts.clear());
        sent.words.retain(|word, _| !self.words.contains(word));
        sent
    }

    /// Whether another one has all of it.
    pub(super) fn is_within(&self, other: &Noise) -> bool {
        self.texts.is_subset(&other.texts) && self.words.is_subset(&other.words)
    }
}

/// A run in a world, as far as it can be judged by what was sent, without noise.
pub(super) struct Compared<'a> {
    pub(super) recorded: &'a WhatWasSent,
    pub(super) now: &'a WhatWasSent,
    /// The status of the last answer.
    pub(super) status: String,
    /// More words by which the service says that something failed.
    pub(super) error_words: &'a [String],
    /// The first line of the golden that is another one, and is not about texts.
    pub(super) changed: Option<String>,
    /// A value that did not become what a step waited for, although nothing happened any more.
    pub(super) stuck: Option<String>,
    /// The text of the model's answer that was damaged.
    pub(super) damaged: Option<String>,
}

impl Compared<'_> {
    /// Whether the client got all that was recorded, and was told nothing else.
    pub(super) fn is_as_recorded(&self) -> bool {
        let Compared { recorded, now, .. } = self;
        self.stuck.is_none()
            && Noise::between(recorded, now).is_within(&Noise::default())
            && !now.labels.keys().any(|label| !recorded.labels.contains_key(label) && self.says_error(label))
    }

    fn says_error(&self, word: &str) -> bool {
        says_error(word, self.error_words)
    }

    /// The verdict on a run that came to an end, and in which the client did not get what was recorded.
    pub(super) fn verdict(&self) -> Verdict {
        let Compared { recorded, now, status, .. } = self;
        let new_labels = || now.labels.iter().filter(|(label, _)| !recorded.labels.contains_key(*label));
        if let Some((label, came)) = new_labels().find(|(label, _)| self.says_error(label)) {
            return Did::Reported.since(told(&format!("event `{label}`"), came.said.as_deref()));
        }
        let new_words = || now.words.iter().filter(|(word, _)| !recorded.words.contains_key(*word));
        if let Some(((key, word), came)) = new_words().find(|((_, word), _)| self.says_error(word)) {
            let what = if key.is_empty() { format!("an `{word}`") } else { format!("{key} {word:?}") };
            return Did::Reported.since(told(&what, came.said.as_deref()));
        }
        let ended = now.ends.iter().filter_map(|(part, end)| Some((end, recorded.ends.get(part)?)));
        let ended = ended.into_iter().find(|(now, recorded)| now != recorded);
        if let Some((last, expected)) = ended.filter(|(_, expected)| !expected.is_empty()) {
            let last = if last.is_empty() { "nothing" } else { last };
            let what = format!("breaks off after `{last}`, before `{expected}`, {WITHOUT}");
            return Did::Reported.since(what);
        }
        let other_word = new_words().map(|(word, _)| word).find(|(_, word)| self.stuck.is_none() || !is_still(word));
        if let Some(stuck) = self.stuck.as_ref().filter(|_| other_word.is_none()) {
            return Did::Hung.since(stuck);
        }
        if let Some((label, _)) = new_labels().next() {
            return Did::Other.since(format!("{status}, event `{label}`"));
        }
        if let Some((key, word)) = other_word {
            return Did::Other.since(format!("{status}, {key} {word:?}"));
        }
        if let Some(what) = self.repeated() {
            return Did::Repeated.since(format!("{status}, ends, {what}"));
        }
        for (place, texts) in &now.texts {
            let recorded = texts_at(recorded, place);
            if let Some(new) = new_text(texts, recorded).filter(|_| !only_lacks(&whole(texts), &whole(recorded))) {
                // What is left of an answer that was to be followed by others is not the service's own.
                let begins = |text: &String| !new.trim().is_empty() && text.starts_with(new.trim());
                let is_left = self.damaged.as_ref().is_some_and(begins);
                let (did, of) = if is_left { (Did::Silent, " of the damaged answer") } else { (Did::Other, "") };
                return did.since(format!("{status}, ends, {}{of}", quoted(new)));
            }
        }
        if let Some(saw) = cut(recorded, now, "0") {
            return Did::Silent.since(format!("the client saw {saw}, and no error"));
        }
        let changed = self.changed.as_deref().unwrap_or("something differs");
        Did::Other.since(format!("{status}, ends, all texts, but {changed}"))
    }

    /// What came once more after its beginning had come: the whole text of a place whose texts are pieces. An event between the two that
    /// comes more often than recorded may say that it begins again.
    fn repeated(&self) -> Option<String> {
        let Compared { recorded, now, .. } = self;
        let carries = |label: &String| recorded.texts.keys().any(|(_, of, _)| of == label);
        let more_often = |(label, came): (&String, &Came)| {
            !carries(label) && recorded.labels.get(label).is_some_and(|before| before.times < came.times)
        };
        if now.labels.iter().any(more_often) {
            return None;
        }
        let places = recorded.texts.iter().filter(|(_, texts)| are_pieces(texts));
        let repeated = |(place, texts): (&Place, &Vec<String>)| {
            let (whole, came) = (texts.concat(), texts_at(now, place).concat());
            let mut before = came.strip_suffix(whole.as_str()).filter(|before| !before.is_empty())?;
            let first = before;
            while !before.is_empty() {
                let shared =
                    before.chars().zip(whole.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
                before = before.get(shared..).filter(|_| shared > 0)?;
            }
            Some(format!("{} and then all {}", quoted(first), counted(whole.chars().count(), "character")))
        };
        places.into_iter().find_map(repeated)
    }
}

/// What is left of the text of which the most is missing, in this word if that is nothing; or `None` if all texts came.
pub(super) fn cut(recorded: &WhatWasSent, now: &WhatWasSent, nothing: &str) -> Option<String> {
    let missing = recorded.texts.iter().filter_map(|(place, recorded)| {
        let (all, came) = read_alike(recorded, texts_at(now, place));
        let (all, left) = (all.chars().count(), came.chars().count());
        (left < all).then(|| (all - left, came, all))
    });
    // Of equal ones the first counts, as in each run.
    let (_, came, all) = missing.reduce(|most, next| if next.0 > most.0 { next } else { most })?;
    let came = if came.is_empty() { nothing.to_owned() } else { quoted(&came) };
    Some(format!("{came} of {}", counted(all, "character")))
}

/// The recorded text at a place, and what came there now, read in the same way.
pub(super) fn read_alike(recorded: &[String], now: &[String]) -> (String, String) {
    let read = |texts: &[String]| if are_pieces(recorded) { texts.concat() } else { whole(texts) };
    (read(recorded), read(now))
}

/// Whether a word says that something has not ended.
pub(super) fn is_still(word: &str) -> bool {
    let still = ["run", "pend", "progress", "process", "queue", "start", "creat", "work", "active"];
    still.iter().any(|still| word.to_lowercase().contains(still))
}

/// That a run is not there, if a status says so.
pub(super) fn is_not_there(status: u16) -> Option<Verdict> {
    matches!(status, 404 | 410).then(|| Did::Lost.since(format!("status {status}: the run is not there")))
}

pub(super) fn texts_at<'a>(sent: &'a WhatWasSent, place: &Place) -> &'a [String] {
    sent.texts.get(place).map(Vec::as_slice).unwrap_or_default()
}

/// Whether each text begins with the one before it, as states do.
fn grow(texts: &[String]) -> bool {
    texts.windows(2).all(|pair| pair[1].starts_with(&pair[0]) || pair[0].starts_with(&pair[1]))
}

/// Whether texts are the pieces of one. A single text may also be a state.
pub(super) fn are_pieces(texts: &[String]) -> bool {
    texts.len() > 1 && !grow(texts)
}

/// The text at a place: its pieces joined, or the longest if they are states.
fn whole(texts: &[String]) -> String {
    if grow(texts) { texts.iter().max_by_key(|text| text.len()).cloned().unwrap_or_default() } else { texts.concat() }
}

/// Whether two runs brought the same texts to a place. A stream may cut the same text at other places, and the pieces of answers
/// that came at the same time may be mixed in another way.
fn is_same(one: &[String], other: &[String]) -> bool {
    let (a, b) = (whole(one), whole(other));
    let sorted = |text: &str| {
        let mut all: Vec<char> = text.chars().collect();
        all.sort_unstable();
        all
    };
    a == b || one.concat() == other.concat() || (are_pieces(one) && are_pieces(other) && sorted(&a) == sorted(&b))
}

/// Whether a text is another one but for a part that is missing, in the middle or at an end.
fn only_lacks(text: &str, whole: &str) -> bool {
    let (text, whole): (Vec<char>, Vec<char>) = (text.chars().collect(), whole.chars().collect());
    let same = |pairs: &mut dyn Iterator<Item = (&char, &char)>| pairs.take_while(|(one, other)| one == other).count();
    let before = same(&mut text.iter().zip(&whole));
    let after = same(&mut text.iter().rev().zip(whole.iter().rev()));
    text.len() < whole.len() && before + after >= text.len()
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

/// A word, unless it is an address or another number that no run has twice, such as that of a process.
pub(super) fn steady(word: &str) -> String {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    if word.contains("0x") || digits > 5 { "…".to_owned() } else { word.to_owned() }
}

/// What a client was told, with the beginning of the text that tells it.
pub(super) fn told(what: &str, said: Option<&str>) -> String {
    let said = said.map(|said| said.split_whitespace().map(steady).collect::<Vec<_>>().join(" "));
    let said = said.filter(|said| !said.is_empty()).map(|said| format!(": {:?}", clipped(&said, 60)));
    format!("{what}{}", said.unwrap_or_default())
}

/// The beginning of a text, in quotes.
pub(super) fn quoted(text: &str) -> String {
    format!("{:?}", clipped(&text.split_whitespace().collect::<Vec<_>>().join(" "), QUOTED))
}

#[cfg(test)]
mod tests;
