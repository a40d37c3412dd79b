//! Finds which turns of the model a text of the service repeats, and how.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use super::held::Held;
use super::marked::{Passed, Tells};
use super::notation::{Normalize, html};
use super::recorded::Source;
use super::shape::Known;
use super::told::{How, Said, Told, Words, quoted};
use crate::json::{Json, Layout};

/// The fewest characters of a text that was cut.
const LEAST: usize = 12;

/// The words of all turns, normalized as a golden's texts are.
#[derive(Default)]
pub(super) struct Turns<'a> {
    texts: Vec<(Source, String)>,
    /// The longest text that can consist of them.
    pub(super) size: usize,
    tells: Tells<'a>,
    /// Where which of them stand, if that is known.
    pub(super) passed: Option<Cow<'a, Passed>>,
}

/// The words that can stand at a place.
pub(super) struct Here<'a> {
    turns: &'a Turns<'a>,
    /// Whose words stand there, if that is known.
    named: Option<Cow<'a, BTreeSet<Words>>>,
    known: RefCell<HashMap<String, Option<Told>>>,
}

impl<'a> Turns<'a> {
    pub(super) fn of(known: &Known<'a>, normalize: &Normalize) -> Turns<'a> {
        let text = |(source, text): &(Source, String)| (source.clone(), normalize(text));
        let texts = known.recorded.said.iter().map(text).filter(|(_, text)| !text.trim().is_empty());
        let texts: Vec<(Source, String)> = texts.collect();
        let size = texts.iter().map(|(_, text)| 2 * text.len()).sum();
        let passed = match (known.tells, known.committed) {
            (Tells::Shown(passed), _) => Some(Cow::Borrowed(passed)),
            (_, committed) => committed.map(|committed| Cow::Owned(Passed::of(committed))),
        };
        Turns { texts, size, tells: known.tells, passed }
    }

    /// The turn that says all of a normalized text.
    pub(super) fn which(&self, text: &str) -> Option<&Source> {
        let text = text.trim();
        self.texts.iter().find(|(_, said)| said.trim() == text).map(|(source, _)| source)
    }

    /// The words at a place.
    pub(super) fn at(&'a self, label: &str, held: &Held) -> Here<'a> {
        let named =
            self.passed.as_deref().map(|passed| passed.at(label, held).map_or_else(Cow::default, Cow::Borrowed));
        Here { turns: self, named, known: RefCell::default() }
    }

    /// The words at any place, of which it is not known where they stand.
    pub(super) fn anywhere(&'a self) -> Here<'a> {
        Here { turns: self, named: None, known: RefCell::default() }
    }

    /// The beginning of what each turn says.
    pub(super) fn said(&self) -> Said {
        Said(self.texts.iter().map(|(source, text)| (source.clone(), quoted(text))).collect())
    }
}

impl Here<'_> {
    /// Returns which words a normalized text repeats; `None` if it repeats none.
    pub(super) fn told(&self, text: &str) -> Option<Told> {
        if self.named.as_ref().is_some_and(|named| named.is_empty()) || text.trim().is_empty() {
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
        if text.len() > self.turns.size {
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
        // A piece of a stream is the beginning of a text, too.
        let is_long = stem.chars().nth(LEAST - 1).is_some();
        (if is_long && is_telling(stem) { cut() } else { None }).or_else(|| self.inside(text))
    }

    /// The words that can be the model's here, by themselves or beside others.
    fn texts(&self, is_beside: bool) -> impl Iterator<Item = &(Source, String)> {
        self.turns.texts.iter().filter(move |(source, said)| match &self.named {
            Some(named) => named.contains(&(source.clone(), is_beside)),
            None => is_telling(said) || self.turns.tells.shows(said),
        })
    }

    fn first(&self, how: How, is_it: impl Fn(&str) -> bool) -> Option<Told> {
        let (source, _) = self.texts(false).find(|(_, said)| is_it(said))?;
        Some(Told { how, of: vec![source.clone()] })
    }

    /// The turns whose words, one after the other, are the text. White space between them does not count.
    fn joined(&self, text: &str) -> Option<Vec<Source>> {
        let (mut rest, mut of) = (text.trim(), Vec::new());
        while !rest.is_empty() {
            let fits = self.texts(false).filter(|(_, said)| rest.starts_with(said.trim()));
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
        let found = self.texts(true);
        let found = found.filter_map(|(source, said)| at(said).map(|(at, length, how)| (at, at + length, source, how)));
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

/// Returns what tells whether a text repeats words of the model that the golden has.
pub fn is_said<'a>(known: &Known<'a>, normalize: &'a Normalize<'a>) -> impl Fn(&str) -> bool + 'a {
    let turns = Turns::of(known, normalize);
    let named = turns.passed.as_deref().map(Passed::all);
    let known = RefCell::new(HashMap::new());
    move |text| {
        let here = || Here { named: named.as_ref().map(Cow::Borrowed), ..turns.anywhere() };
        *known.borrow_mut().entry(text.to_owned()).or_insert_with(|| here().told(&normalize(text)).is_some())
    }
}

/// Whether a text is more than a word. One word is in two places by chance.
fn is_telling(text: &str) -> bool {
    text.split_whitespace().nth(1).is_some() || !text.is_ascii()
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
