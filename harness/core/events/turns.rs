//! Finds which turns of the model a text of the service repeats, and how.

use std::borrow::Cow;
use std::cell::{LazyCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use super::held::Held;
use super::marked::{Passed, Tells};
use super::notation::{Normalize, html};
use super::recorded::Source;
use super::shape::Known;
use super::told::{Beside, How, Said, Told, Words, quoted};
use crate::json::{Json, Layout};

/// The fewest characters of a text that was cut.
const LEAST: usize = 12;

/// The words of all turns, normalized as a golden's texts are.
#[derive(Default)]
pub(super) struct Turns<'a> {
    texts: Vec<Text>,
    /// The longest text that can consist of them.
    pub(super) size: usize,
    tells: Tells<'a>,
    /// Where which of them stand, if that is known.
    pub(super) passed: Option<Cow<'a, Passed>>,
    /// What texts repeat, by place: answers say the same at the same places.
    known: RefCell<BTreeMap<(String, Held), Rc<ToldTexts>>>,
}

/// What is told of texts.
type ToldTexts = RefCell<HashMap<String, Option<Told>>>;

/// A text of the model, in the forms in which services repeat it.
struct Text {
    source: Source,
    said: String,
    /// As in HTML, if that differs.
    html: Option<String>,
    /// As in JSON, if that differs.
    json: Option<String>,
}

/// The words that can stand at a place.
pub(super) struct Here<'a> {
    /// The longest text that can consist of them.
    size: usize,
    /// Those that can stand there by themselves.
    alone: Vec<&'a Text>,
    /// Those that can stand beside others.
    beside: Vec<&'a Text>,
    known: Rc<ToldTexts>,
}

impl<'a> Turns<'a> {
    pub(super) fn of(known: &Known<'a>, normalize: &Normalize) -> Turns<'a> {
        let said = known.recorded.said.iter().map(|(source, text)| (source.clone(), normalize(text)));
        let text = |(source, said): (Source, String)| Text { html: html(&said), json: json(&said), source, said };
        let texts: Vec<Text> = said.filter(|(_, said)| !said.trim().is_empty()).map(text).collect();
        let size = texts.iter().map(|text| 2 * text.said.len()).sum();
        let passed = match (known.tells, known.committed) {
            (Tells::Shown(passed), _) => Some(Cow::Borrowed(passed)),
            (_, committed) => committed.map(|committed| Cow::Owned(Passed::of(committed))),
        };
        Turns { texts, size, tells: known.tells, passed, known: RefCell::default() }
    }

    /// The turns that say all of a normalized text, one after the other.
    pub(super) fn which(&self, text: &str) -> Option<String> {
        let text = text.trim();
        let says = |of: &&Text| of.said.trim() == text || without_quotes(&of.said) == text;
        let one = self.texts.iter().find(says).map(|of| vec![of.source.clone()]);
        let all = one.or_else(|| Some(joined(&self.texts.iter(), text)?.of).filter(|all| !all.is_empty()))?;
        Some(all.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and "))
    }

    /// The turn that a normalized text begins, which was cut.
    pub(super) fn begins(&self, text: &str) -> Option<String> {
        Some(self.here(None).cut(text.trim())?.of[0].to_string())
    }

    /// The words at a place.
    pub(super) fn at(&'a self, label: &str, held: &Held) -> Here<'a> {
        let none = BTreeSet::new();
        let known = Rc::clone(self.known.borrow_mut().entry((label.to_owned(), held.clone())).or_default());
        Here { known, ..self.here(self.passed.as_deref().map(|passed| passed.at(label, held).unwrap_or(&none))) }
    }

    /// The words that `named` names; if that is `None`, it is not known where they stand.
    pub(super) fn here(&self, named: Option<&BTreeSet<Words>>) -> Here<'_> {
        let can_be = |text: &&Text, is_beside| match named {
            Some(named) => named.contains(&(text.source.clone(), is_beside)),
            None => is_telling(&text.said) || self.tells.shows(&text.said),
        };
        let [alone, beside] = [false, true].map(|is| self.texts.iter().filter(|text| can_be(text, is)).collect());
        Here { size: self.size, alone, beside, known: Rc::default() }
    }

    /// The beginning of what each turn says.
    pub(super) fn said(&self) -> Said {
        Beside(self.texts.iter().map(|text| (text.source.clone(), quoted(&text.said))).collect())
    }
}

impl Here<'_> {
    /// Returns which words a normalized text repeats; `None` if it repeats none.
    pub(super) fn told(&self, text: &str) -> Option<Told> {
        if self.alone.is_empty() && self.beside.is_empty() || text.trim().is_empty() {
            return None;
        }
        let told = || self.whole(text).or_else(|| self.partly(text));
        self.known.borrow_mut().entry(text.to_owned()).or_insert_with(told).clone()
    }

    /// The same, if the text consists of the words.
    pub(super) fn whole(&self, text: &str) -> Option<Told> {
        if text.len() > self.size {
            return None;
        }
        let bare = text.trim();
        let plain = LazyCell::new(|| plain_quotes(bare));
        self.first(How::Equal, |of| of.said == text)
            .or_else(|| self.first(How::Trimmed, |of| of.said.trim() == bare))
            .or_else(|| self.first(How::Unquoted, |of| without_quotes(&of.said) == bare))
            .or_else(|| self.first(How::Html, |of| of.html.as_ref().is_some_and(|form| *form == *plain)))
            .or_else(|| self.first(How::Json, |of| of.json.as_deref() == Some(unquoted(bare))))
            .or_else(|| joined(&self.alone.iter().copied(), text))
    }

    fn partly(&self, text: &str) -> Option<Told> {
        self.cut(text.trim()).or_else(|| self.inside(text))
    }

    fn cut(&self, bare: &str) -> Option<Told> {
        let how = if bare.ends_with('…') || bare.ends_with("...") { How::Elided } else { How::Cut };
        let stem = bare.trim_end_matches(['…', '.']).trim_end();
        // A piece of a stream is the beginning of a text, too.
        let can_be = stem.chars().nth(LEAST - 1).is_some() && is_telling(stem);
        let begins = |of: &Text| of.said.trim().starts_with(stem) || without_quotes(&of.said).starts_with(stem);
        can_be.then(|| self.first(how, begins)).flatten()
    }

    fn first(&self, how: How, is_it: impl Fn(&Text) -> bool) -> Option<Told> {
        Some(Told { how, of: vec![self.alone.iter().find(|text| is_it(text))?.source.clone()] })
    }

    /// The turns whose words are in the text, in their order there.
    fn inside(&self, text: &str) -> Option<Told> {
        let plain = LazyCell::new(|| plain_quotes(text));
        let at = |of: &Text| {
            let find = |how, text: &str, form: &str| Some((text.find(form)?, form.len(), how));
            find(How::Has, text, of.said.trim())
                .or_else(|| find(How::HasJson, text, of.json.as_deref()?))
                .or_else(|| find(How::HasHtml, &plain, of.html.as_deref()?))
        };
        let found = self.beside.iter();
        let found = found.filter_map(|text| at(text).map(|(at, length, how)| (at, at + length, &text.source, how)));
        let mut found: Vec<(usize, usize, &Source, How)> = found.collect();
        // What is inside of other words is not told.
        let all = found.clone();
        found.retain(|(from, to, source, _)| {
            let is_in = |start, end, other| start <= from && to <= end && (end - start > to - from || other < source);
            !all.iter().any(|(start, end, other, _)| is_in(start, end, other))
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
        let told = || turns.here(named.as_ref()).told(&normalize(text)).is_some();
        *known.borrow_mut().entry(text.to_owned()).or_insert_with(told)
    }
}

/// The turns whose words, one after the other, are the text, and whether there is white space between them that is not their own.
fn joined<'a>(texts: &(impl Iterator<Item = &'a Text> + Clone), text: &str) -> Option<Told> {
    let (mut rest, mut told, mut own) = (text.trim(), Told { how: How::Equal, of: Vec::new() }, 0);
    while !rest.is_empty() {
        let bare = rest.trim_start();
        let fits = texts.clone().filter(|of| bare.starts_with(of.said.trim()));
        // Of equal words, those of the turn that comes next.
        let next = fits.max_by_key(|text| (text.said.trim().len(), told.of.last() < Some(&text.source)))?;
        own += next.said.len() - next.said.trim_start().len();
        if rest.len() - bare.len() > own {
            told.how = How::Apart;
        }
        told.of.push(next.source.clone());
        rest = &bare[next.said.trim().len()..];
        own = next.said.len() - next.said.trim_end().len();
    }
    Some(told)
}

/// A text without white space at its ends, and the quotes around it.
fn without_quotes(text: &str) -> &str {
    let quotes = ['"', '\'', '`', '“', '”', '„', '‘', '’', '«', '»'];
    let text = text.trim();
    text.strip_prefix(quotes).and_then(|text| text.strip_suffix(quotes)).unwrap_or(text).trim()
}

/// Whether a text is more than a word. One word is in two places by chance.
fn is_telling(text: &str) -> bool {
    text.split_whitespace().nth(1).is_some() || !text.is_ascii()
}

/// HTML without the forms of quotes, which may be escaped or not.
fn plain_quotes(html: &str) -> String {
    let forms = [("&#x27;", "'"), ("&#39;", "'"), ("&#34;", "\""), ("&quot;", "\"")];
    forms.iter().fold(html.to_owned(), |html, (form, c)| html.replace(form, c))
}

/// The text as in JSON, without the quotes around it; `None` if that is the same.
fn json(text: &str) -> Option<String> {
    Some(unquoted(&Json::from(text.trim()).print(Layout::Compact)).to_owned()).filter(|escaped| escaped != text)
}

fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

#[cfg(test)]
mod tests;
