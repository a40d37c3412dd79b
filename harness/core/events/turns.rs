//! Where the model's words go: which turns a text of the service repeats, and how. The words themselves stand in the fixture, so a
//! recording with other words changes no golden, and a service that changes the words does.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

use super::notation::{self, Normalize};
use super::recorded::{Recorded, Source};
use super::words::is_word;
use crate::json::{Json, Layout};
use retake_base::text::clipped;

/// The fewest characters of a text that is not in two places by chance: of a whole one, and of one inside another.
pub(super) const WHOLE: usize = 6;
const INSIDE: usize = 12;
/// The largest number of characters of a turn's words that a difference quotes.
const QUOTED: usize = 60;

/// How a text of the service comes from the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum How {
    Equal,
    Trimmed,
    Cut,
    Html,
    Json,
    /// It contains the words, beside others.
    Has,
    HasHtml,
    HasJson,
}

/// Which words of the model a text repeats.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Told {
    pub(super) how: How,
    /// Several if their words follow one another.
    pub(super) of: Vec<Source>,
}

impl How {
    pub(super) const ALL: [How; 8] =
        [How::Equal, How::Trimmed, How::Cut, How::Html, How::Json, How::Has, How::HasHtml, How::HasJson];

    /// What stands between a place and the turns.
    pub(super) fn verb(self) -> &'static str {
        if self.is_beside() { " has " } else { " = " }
    }

    /// Whether the text contains the words beside others.
    pub(super) fn is_beside(self) -> bool {
        matches!(self, How::Has | How::HasHtml | How::HasJson)
    }

    /// What follows the turns.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            How::Trimmed => ", trimmed",
            How::Cut => ", cut",
            How::Html | How::HasHtml => ", escaped as HTML",
            How::Json | How::HasJson => ", escaped as JSON",
            How::Equal | How::Has => "",
        }
    }

    /// Whether the words are there as a whole, and nothing else.
    pub(super) fn is_whole(self) -> bool {
        matches!(self, How::Equal | How::Trimmed | How::Html | How::Json)
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, source) in self.of.iter().enumerate() {
            write!(f, "{}{source}", if nth == 0 { "" } else { " and " })?;
        }
        f.write_str(self.how.suffix())
    }
}

/// What the turns say, by how a golden names them: the beginning of each. A difference quotes it; it is no part of a golden, and so
/// equal to any other.
#[derive(Clone, Debug, Default)]
pub(super) struct Said(pub(super) BTreeMap<String, String>);

impl PartialEq for Said {
    fn eq(&self, _: &Said) -> bool {
        true
    }
}

impl Eq for Said {}

/// The words of all turns, normalized as a golden's texts are.
#[derive(Default)]
pub(super) struct Turns {
    texts: Vec<(Source, String)>,
    /// The longest text that can consist of them.
    pub(super) size: usize,
    known: RefCell<HashMap<String, Option<Told>>>,
}

impl Turns {
    pub(super) fn of(recorded: &Recorded, normalize: &Normalize) -> Turns {
        let text = |(source, text): &(Source, String)| (source.clone(), normalize(text));
        let texts = recorded.said.iter().map(text).filter(|(_, text)| is_telling(text, WHOLE));
        let texts: Vec<(Source, String)> = texts.collect();
        let size = texts.iter().map(|(_, text)| 2 * text.len()).sum();
        Turns { texts, size, known: RefCell::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The beginning of what each turn says.
    pub(super) fn said(&self) -> Said {
        let quoted = |text: &str| notation::json_quoted(&clipped(text.trim(), QUOTED));
        Said(self.texts.iter().map(|(source, text)| (source.to_string(), quoted(text))).collect())
    }

    /// Returns which words a normalized text repeats; `None` if it repeats none.
    pub(super) fn told(&self, text: &str) -> Option<Told> {
        if !is_telling(text, WHOLE) {
            return None;
        }
        if let Some(told) = self.known.borrow().get(text) {
            return told.clone();
        }
        let told = self.whole(text).or_else(|| self.partly(text));
        self.known.borrow_mut().insert(text.to_owned(), told.clone());
        told
    }

    /// The same, if the text consists of the words.
    pub(super) fn whole(&self, text: &str) -> Option<Told> {
        if text.len() > self.size {
            return None;
        }
        let bare = text.trim();
        self.first(How::Equal, |said| said == text)
            .or_else(|| self.first(How::Trimmed, |said| said.trim() == bare))
            .or_else(|| self.first(How::Html, |said| html(said).is_some_and(|form| form == plain_quotes(bare))))
            .or_else(|| self.first(How::Json, |said| json(said).is_some_and(|form| form == unquoted(bare))))
            .or_else(|| Some(Told { how: How::Equal, of: self.joined(text)? }))
    }

    fn partly(&self, text: &str) -> Option<Told> {
        let stem = text.trim().trim_end_matches(['…', '.']).trim_end();
        let cut = || self.first(How::Cut, |said| said.trim().starts_with(stem));
        (if is_telling(stem, INSIDE) { cut() } else { None }).or_else(|| self.inside(text))
    }

    fn first(&self, how: How, is_it: impl Fn(&str) -> bool) -> Option<Told> {
        let (source, _) = self.texts.iter().find(|(_, said)| is_it(said))?;
        Some(Told { how, of: vec![source.clone()] })
    }

    /// The turns whose words, one after the other, are the text. White space between them does not count.
    fn joined(&self, text: &str) -> Option<Vec<Source>> {
        let (mut rest, mut of) = (text.trim(), Vec::new());
        while !rest.is_empty() {
            let fits = self.texts.iter().filter(|(_, said)| rest.starts_with(said.trim()));
            // Of equal words, those of the turn that comes next.
            let next = fits.max_by_key(|(source, said)| (said.trim().len(), of.last() < Some(source)))?;
            of.push(next.0.clone());
            rest = rest[next.1.trim().len()..].trim_start();
        }
        Some(of)
    }

    /// The turns whose words are in the text, in their order there.
    fn inside(&self, text: &str) -> Option<Told> {
        let plain = plain_quotes(text);
        let at = |said: &str| {
            let find = |how, text: &str, form: String| Some((text.find(&form)?, form.len(), how));
            find(How::Has, text, said.trim().to_owned())
                .or_else(|| find(How::HasJson, text, json(said)?))
                .or_else(|| find(How::HasHtml, &plain, html(said)?))
        };
        let long = self.texts.iter().filter(|(_, said)| is_telling(said, INSIDE));
        let found = long.filter_map(|(source, said)| at(said).map(|(at, length, how)| (at, at + length, source, how)));
        let mut found: Vec<(usize, usize, &Source, How)> = found.collect();
        // What is inside of other words is not told.
        let all = found.clone();
        found.retain(|(from, to, source, _)| {
            !all.iter().any(|(start, end, other, _)| {
                start <= from && to <= end && ((end - start) > (to - from) || other < source)
            })
        });
        found.sort();
        let how = found.iter().map(|(.., how)| *how).max()?;
        Some(Told { how, of: found.into_iter().map(|(_, _, source, _)| source.clone()).collect() })
    }
}

/// Returns what tells whether a text repeats words of the model.
pub fn is_said<'a>(recorded: &Recorded, normalize: &'a Normalize<'a>) -> impl Fn(&str) -> bool + 'a {
    let turns = Turns::of(recorded, normalize);
    move |text| turns.told(&normalize(text)).is_some()
}

/// Whether a text can be told from others: it is no word, and long enough.
pub(super) fn is_telling(text: &str, least: usize) -> bool {
    let text = text.trim();
    text.chars().nth(least - 1).is_some() && !is_word(text)
}

/// The text as HTML; `None` if that is the same.
fn html(text: &str) -> Option<String> {
    let escaped = text.trim().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    (text.contains(['&', '<', '>', '"', '\''])).then_some(escaped)
}

/// HTML without the forms of quotes, which may be escaped or not.
fn plain_quotes(html: &str) -> String {
    [("&#x27;", "'"), ("&#39;", "'"), ("&#34;", "\""), ("&quot;", "\"")]
        .iter()
        .fold(html.to_owned(), |html, (form, c)| html.replace(form, c))
}

/// The text as in JSON, without the quotes around it; `None` if that is the same.
fn json(text: &str) -> Option<String> {
    let printed = Json::from(text.trim()).print(Layout::Compact);
    Some(unquoted(&printed).to_owned()).filter(|escaped| escaped != text)
}

fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

#[cfg(test)]
mod tests;
