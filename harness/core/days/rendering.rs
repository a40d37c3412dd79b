//! Which parts together are a rendering of a day: a name, a week, or two numbers of year, month and day that stand close.

use super::calendar::{Clock, Fortnight, TODAY};
use super::part::{ALL_DAYS, Form, Mask, digit, kind, parts_at};

/// The most characters between two parts.
const APART: usize = 16;
/// The most characters between two numbers, where nothing else says that they are a day.
const CLOSE: usize = 3;

/// A rendering of a day in one text, or the same rendering of two days in two texts.
#[derive(Clone, Debug)]
pub(super) struct Rendering {
    /// Where it ends in each text.
    pub(super) ends: (usize, usize),
    /// The days that it may tell.
    mask: Mask,
    /// Its parts, and where each stands in the first text.
    parts: Vec<(usize, usize, Form)>,
    /// What its parts tell of a day.
    kinds: u8,
    /// Whether all parts stand close.
    close: bool,
    /// Whether a colon stands between two parts, as in a time of day.
    colon: bool,
}

impl Rendering {
    /// Returns the longest rendering that begins at an offset of each text: of a day around the recorded one in the first text, and
    /// of the day as far from the called one in the second.
    pub(super) fn in_both(clock: &Clock, texts: (&str, &str), at: (usize, usize)) -> Option<Rendering> {
        Search { texts, days: &clock.recorded, others: Some(&clock.called) }.longest(at)
    }

    /// Returns the longest rendering of a day around another one that begins at an offset of a text.
    pub(super) fn in_one(days: &Fortnight, text: &str, at: usize) -> Option<Rendering> {
        Search { texts: (text, text), days, others: None }.longest((at, at))
    }

    /// Whether this rendering ends or begins within a whole date of its text: it has some of the date's numbers, but not all.
    pub(super) fn cuts(&self, date: &Rendering) -> bool {
        let (Some((start, ..)), Some((first, ..))) = (self.parts.first(), date.parts.first()) else { return false };
        let is_date = date.kinds & kind::DATE == kind::DATE || date.kinds & kind::WEEK != 0;
        let meets = *first < self.ends.0 && *start < date.ends.0;
        let last_number = date.parts.iter().rev().find(|(.., form)| !matches!(form, Form::Name { .. }));
        let ends_before = last_number.is_some_and(|(_, end, _)| self.ends.0 < *end);
        let misses = self.numbers() & date.numbers() != date.numbers() || ends_before;
        is_date && meets && self.numbers() != 0 && misses
    }

    /// Where it begins in the first text.
    pub(super) fn start(&self) -> usize {
        self.parts.first().map_or(self.ends.0, |(start, ..)| *start)
    }

    /// The name of its weekday, and where it stands in the first text.
    pub(super) fn into_weekday(self) -> Option<(usize, usize, Form)> {
        self.parts.into_iter().find(|(.., form)| matches!(form, Form::Name { of_month: false, .. }))
    }

    /// Whether it has a month, a day, and the year or the weekday, so that few days have it.
    pub(super) fn is_date(&self) -> bool {
        self.kinds & kind::DATE == kind::DATE && self.kinds & (kind::YEAR | kind::WEEKDAY) != 0
    }

    /// Whether a part of it is a name of one letter, as the `p` of `<p>1 May 2027` may be.
    pub(super) fn has_letter(&self) -> bool {
        self.parts.iter().any(|(start, end, form)| matches!(form, Form::Name { .. }) && end - start == 1)
    }

    /// Whether it has the month and the day, and the year or the name of the month, so that it is a date of its own.
    pub(super) fn is_whole_date(&self) -> bool {
        let is_named = || self.parts.iter().any(|(.., form)| matches!(form, Form::Name { of_month: true, .. }));
        self.kinds & kind::DATE == kind::DATE && (self.kinds & kind::YEAR != 0 || is_named())
    }

    /// Whether a text tells the day itself, and not only a name that many days have.
    pub(super) fn is_certain(&self, text: &str) -> bool {
        let is_word = |(start, end, form): &(usize, usize, Form)| {
            !matches!(form, Form::Name { .. })
                || text[*start..*end].chars().nth(2).is_some()
                || !text[*start..*end].is_ascii()
        };
        let is_one = self.parts.len() > 1 && self.kinds != kind::YEAR | kind::WEEKDAY;
        self.parts.iter().all(is_word) && (is_one || self.mask & 1 << TODAY != 0)
    }

    /// Writes the rendering for the day as far from another one, if need be with `zeros` where a number has two digits.
    pub(super) fn written(&self, text: &str, days: &Fortnight, zeros: bool) -> String {
        let near = |index: &usize| index.abs_diff(TODAY);
        let index = (0..days.len()).filter(|index| self.mask & 1 << index != 0).min_by_key(near).unwrap_or(TODAY);
        let mut out = String::new();
        let mut at = self.parts.first().map_or(0, |(start, ..)| *start);
        for (start, end, form) in &self.parts {
            out.push_str(&text[at..*start]);
            let of = form.of(days[index]);
            let of_two = zeros && end - start == 2 && matches!(form, Form::Number { .. });
            out.push_str(if of_two && of.len() == 1 { "0" } else { "" });
            out.push_str(&of);
            at = *end;
        }
        out
    }

    /// How long it is, and how much of it its parts are.
    fn length(&self) -> (usize, usize) {
        (self.ends.0 + self.ends.1, self.parts.iter().map(|(start, end, _)| end - start).sum())
    }

    /// What the rendering tells of the date.
    fn numbers(&self) -> u8 {
        self.kinds & (kind::YEAR | kind::DATE | kind::WEEK)
    }

    /// Whether the rendering may be a part of a date that is longer.
    pub(super) fn is_partial(&self) -> bool {
        self.numbers() != 0 && self.numbers() & (kind::YEAR | kind::DATE) != kind::YEAR | kind::DATE
    }

    /// Whether the parts are a day.
    fn is_whole(&self) -> bool {
        let needs_week = self.parts.iter().any(|(.., form)| form.needs_week());
        let named = self.parts.iter().any(|(.., form)| form.is_telling());
        let of_date = self.kinds & (kind::YEAR | kind::DATE);
        let long_year = self.parts.iter().any(|(start, end, _)| end - start >= 4);
        let numbers = of_date.count_ones() >= 2 && self.close && (!self.colon || long_year);
        (!needs_week || self.kinds & kind::WEEK != 0) && (named || numbers || (of_date.count_ones() == 3 && long_year))
    }
}

struct Search<'a> {
    texts: (&'a str, &'a str),
    days: &'a Fortnight,
    /// The days of the second text, if there is one.
    others: Option<&'a Fortnight>,
}

impl Search<'_> {
    fn longest(&self, at: (usize, usize)) -> Option<Rendering> {
        let none = Rendering { ends: at, mask: ALL_DAYS, parts: Vec::new(), kinds: 0, close: true, colon: false };
        let mut longest = None;
        self.extend(&none, at, &mut longest);
        longest
    }

    /// Tries each part that may come next at an offset, and what may follow it.
    fn extend(&self, so_far: &Rendering, at: (usize, usize), longest: &mut Option<Rendering>) {
        for (form, mask, ends) in self.parts_in_both(at) {
            let (kinds, mask) = (form.kinds(), mask & so_far.mask);
            if mask == 0 || kinds & so_far.kinds != 0 {
                continue;
            }
            let mut parts = so_far.parts.clone();
            parts.push((at.0, ends.0, form));
            let found = Rendering { ends, mask, parts, kinds: so_far.kinds | kinds, ..*so_far };
            if found.is_whole() && longest.as_ref().is_none_or(|longest| found.length() > longest.length()) {
                *longest = Some(found.clone());
            }
            self.after_separator(&found, longest);
        }
    }

    /// Goes on behind each separator that both texts have next: a few characters, with one word at most.
    fn after_separator(&self, found: &Rendering, longest: &mut Option<Rendering>) {
        let (first, second) = (&self.texts.0[found.ends.0..], &self.texts.1[found.ends.1..]);
        let (mut length, mut words, mut letters, mut chars) = (0, 0, false, 0);
        let mut next = found.clone();
        loop {
            self.extend(&next, (found.ends.0 + length, found.ends.1 + length), longest);
            let Some(c) = first[length..].chars().next().filter(|c| second[length..].starts_with(*c)) else { return };
            chars += 1;
            // A word of one letter that is not Latin stands for itself: 年, 월.
            words += usize::from(c.is_alphabetic() && !letters);
            letters = c.is_alphabetic();
            if digit(c).is_some() || chars > APART || words > 1 {
                return;
            }
            next.close &= chars <= CLOSE && !c.is_ascii_alphanumeric();
            next.colon |= c == ':';
            length += c.len_utf8();
        }
    }

    /// Returns the parts at an offset that both texts have, those that differ in nothing that counts once: each of them would be
    /// followed by everything that may come next.
    fn parts_in_both(&self, at: (usize, usize)) -> Vec<(Form, Mask, (usize, usize))> {
        let mut found: Vec<(Form, Mask, (usize, usize))> = Vec::new();
        for (form, mask, end) in parts_at(self.texts.0, at.0, self.days) {
            let same = |known: &(Form, Mask, (usize, usize)), ends: (usize, usize)| {
                known.2 == ends && known.0.kinds() == form.kinds() && known.0.needs_week() == form.needs_week()
            };
            let Some(others) = self.others else {
                // Of the forms that one text has here for the same days, the first is written.
                if !found.iter().any(|known| known.1 == mask && same(known, (end, end))) {
                    found.push((form, mask, (end, end)));
                }
                continue;
            };
            for (index, day) in others.iter().enumerate().filter(|(index, _)| mask & 1 << index != 0) {
                let Some(other) = form.ends_at(self.texts.1, at.1, *day) else { continue };
                // Which form it was does not matter for two texts.
                match found.iter_mut().find(|known| same(known, (end, other))) {
                    Some(known) => known.1 |= 1 << index,
                    None => found.push((form.clone(), 1 << index, (end, other))),
                }
            }
        }
        found
    }
}
