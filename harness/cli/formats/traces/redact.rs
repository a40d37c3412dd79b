//! Finds personal data in traces, and puts stand-ins in its place: the same text always gets the same one, so keys still agree.

use std::collections::{BTreeSet, HashMap};

use clap::ValueEnum;
use regex::{Captures, Regex};

use super::span::opened;
use retake_base::text::counted;
use retake_core::json::{Json, Layout};

/// A kind of personal data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ValueEnum)]
pub(crate) enum Personal {
    /// Addresses of mail
    Email,
    /// Telephone numbers that are written with `+`, or in groups
    Phone,
    /// Numbers of payment cards
    Card,
}

/// Each kind with what one is called, which begins with the word of the option, and what it looks like.
const KINDS: [(Personal, &str, &str); 3] = [
    (Personal::Email, "email", r"\b[A-Za-z0-9][A-Za-z0-9._%+-]*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b"),
    (Personal::Card, "card number", r"\b\d(?:[ -]?\d){12,18}\b"),
    (Personal::Phone, "phone number", PHONE),
];
const PHONE: &str = r"\+\d{1,3}(?:[ ().-]{0,2}\d{2,4}){2,5}\b|(?:\(\d{3}\) ?|\b\d{3}[ .-])\d{3}[ .-]\d{4}\b";

/// Replaces what it was told to, and finds what it was not.
#[derive(Debug, Default)]
pub(crate) struct Redactor {
    /// What is replaced: kinds of data, and patterns of the user's own.
    patterns: Vec<(Option<Personal>, Regex)>,
    /// The stand-ins so far, by kind and text.
    known: HashMap<(Option<Personal>, String), String>,
}

impl Redactor {
    pub(crate) fn new(kinds: &[Personal], own: Vec<Regex>) -> Redactor {
        let of_kinds = KINDS.iter().filter(|(kind, ..)| kinds.contains(kind));
        let of_kinds = of_kinds.filter_map(|(kind, _, looks)| Some((Some(*kind), Regex::new(looks).ok()?)));
        Redactor { patterns: of_kinds.chain(own.into_iter().map(|own| (None, own))).collect(), ..Redactor::default() }
    }

    pub(super) fn json(&mut self, value: &mut Json) {
        match value {
            Json::Str(text) => match opened(&Json::Str(text.clone())) {
                // A stand-in for a number would not be JSON without quotes.
                Ok(inner) if inner.as_str().is_none() => {
                    let mut changed = inner.clone();
                    self.json(&mut changed);
                    if changed != inner {
                        *text = changed.print(Layout::Python);
                    }
                }
                _ => *text = self.text(text).unwrap_or_else(|| std::mem::take(text)),
            },
            Json::Int(_) | Json::BigInt(_) => {
                *value = self.text(&value.print(Layout::Python)).map_or_else(|| std::mem::take(value), Json::from);
            }
            Json::Array(list) => list.iter_mut().for_each(|value| self.json(value)),
            Json::Object(fields) => fields.iter_mut().for_each(|(_, value)| self.json(value)),
            _ => {}
        }
    }

    /// The text with stand-ins; `None` if nothing was replaced.
    fn text(&mut self, text: &str) -> Option<String> {
        let mut now = text.to_owned();
        for (kind, pattern) in self.patterns.clone() {
            let of_kind = |found: &Captures<'_>| match kind {
                Some(kind) if !kind.is(&found[0]) => found[0].to_owned(),
                kind => self.stand_in(kind, &found[0]),
            };
            now = pattern.replace_all(&now, of_kind).into_owned();
        }
        (now != text).then_some(now)
    }

    fn stand_in(&mut self, kind: Option<Personal>, text: &str) -> String {
        // The same address may be written with capitals, the same number with other separators.
        let same: String = match kind {
            Some(Personal::Email) => text.to_lowercase(),
            Some(_) => text.chars().filter(|c| c.is_ascii_digit() || *c == '+').collect(),
            None => text.to_owned(),
        };
        let number = self.known.keys().filter(|(of, _)| *of == kind).count() + 1;
        let (before, width, after) = match kind {
            Some(Personal::Email) => ("person", 0, "@example.com"),
            Some(Personal::Phone) => ("+1 555 01", 5, ""),
            Some(Personal::Card) => ("<CARD:", 0, ">"),
            None => ("<REDACTED:", 0, ">"),
        };
        self.known.entry((kind, same)).or_insert_with(|| format!("{before}{number:0width$}{after}")).clone()
    }

    /// Names what was left in a text, and what replaces it.
    pub(crate) fn left(&self, text: &str) -> Option<String> {
        let is_left = |kind: Personal| self.patterns.iter().all(|(of, _)| *of != Some(kind));
        let (mut counts, mut words) = (Vec::new(), Vec::new());
        for (kind, what, looks) in KINDS.into_iter().filter(|(kind, ..)| is_left(*kind)) {
            let Ok(pattern) = Regex::new(looks) else { continue };
            let found = pattern.find_iter(text).map(|found| found.as_str()).filter(|found| kind.is(found));
            let found = found.collect::<BTreeSet<_>>().len();
            counts.extend((found > 0).then(|| counted(found, what)));
            words.extend(what.split(' ').next().filter(|_| found > 0));
        }
        let (counts, words) = (counts.join(", "), words.join(","));
        let warning = "warning: personal data will be in the fixture";
        (!words.is_empty()).then(|| format!("{warning}: {counts}\n  to replace it: --redact {words}"))
    }

    /// How many different stand-ins a text holds.
    pub(crate) fn replaced(&self, text: &str) -> usize {
        self.known.values().filter(|known| text.contains(known.as_str())).collect::<BTreeSet<_>>().len()
    }
}

impl Personal {
    /// Whether a text that looks like this kind is one: the numbers of cards have a check digit, stand-ins are not data.
    fn is(self, text: &str) -> bool {
        match self {
            Personal::Email => !text.ends_with("@example.com"),
            Personal::Phone => true,
            Personal::Card => {
                let digits = text.chars().rev().filter_map(|c| c.to_digit(10)).enumerate();
                // Each second digit counts twice, by the sum of its digits.
                let sum: u32 =
                    digits.map(|(at, digit)| if at % 2 == 0 { digit } else { digit * 2 - digit / 5 * 9 }).sum();
                sum.is_multiple_of(10) && !text.starts_with('0')
            }
        }
    }
}
