//! Values that a run makes up, such as the number of an order, beside those of the recording. Pure.
//!
//! A model says such a value again: "cancel order 7f3a". Its recorded answer says the recorded value, which no tool of the run knows.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use time::format_description::well_known::Iso8601;
use time::{Date, Duration};

use super::Places;
use crate::days::{Days, is_of_word};
use crate::json::Json;
use crate::key::{Normalizer, dates, put_dates};

/// Values of a recording, each with what a run has in its place, or the other way round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunValues {
    made_up: Places,
    /// Days and points in time.
    dates: BTreeMap<String, String>,
    /// How far all other days moved.
    away: Option<Duration>,
}

/// What a recorded call and one that gets its turn tell, text by text: their messages, but for the model's, and their prompts.
#[derive(Clone, Debug)]
pub struct Told<'a>(Vec<[&'a str; 2]>);

impl<'a> Told<'a> {
    /// The messages are as they were sent, and equal by the rules or by the day.
    pub fn new([recorded, called]: [&'a [Json]; 2], prompts: [&'a str; 2]) -> Told<'a> {
        let told = |message: &'a Json| message.str_of("content").filter(|_| message.str_of("type") != Some("ai"));
        let messages = recorded.iter().zip(called).filter_map(|(one, other)| Some([told(one)?, told(other)?]));
        Told(messages.chain([prompts]).collect())
    }

    /// Whether the recorded call tells the day of a point in time.
    pub fn tells_day_of(&self, date: &str) -> bool {
        self.0.iter().any(|[recorded, _]| recorded.contains(day_of(date).0))
    }

    /// The values of the call, strings of JSON or whole texts, that tell days which the recorded one does not tell, and no clock.
    pub fn new_days(&self) -> BTreeSet<String> {
        let strings = |text: &str| {
            let mut all = BTreeSet::new();
            let json = Json::parse(text.as_bytes()).unwrap_or_else(|_| text.into());
            json.each_text(&mut |text| _ = all.insert(text.to_owned()));
            all
        };
        let is_dated = |text: &String| {
            let dates = dates(text);
            let mut days = dates.as_array().into_iter().flatten().filter_map(Json::as_str).peekable();
            days.peek().is_some() && days.all(|date| day_of(date).1.is_empty())
        };
        let told = self.0.iter().filter(|[one, other]| one != other && dates(other).is_truthy());
        told.flat_map(|[one, other]| &strings(other) - &strings(one)).filter(is_dated).collect()
    }
}

impl RunValues {
    /// The recorded values that a call has otherwise where the rules replace them, or where it tells another day: whole words. A value
    /// that stands elsewhere, too, where the call has the same, is none.
    pub fn between(Told(texts): &Told<'_>, rules: &Normalizer, days: &Days) -> RunValues {
        let differing_texts = || texts.iter().filter(|[one, other]| one != other);
        let kinds = differing_texts().flat_map(|[one, other]| rules.values(one).into_iter().zip(rules.values(other)));
        let pairs = kinds.filter(|(one, other)| one.len() == other.len());
        let pairs = pairs.flat_map(|(one, other)| one.into_iter().zip(other));
        let pairs = pairs.filter_map(|(one, other)| differing(one, other));
        let mut found = RunValues::of_pairs(pairs.collect(), texts);
        let taken_back = found.reversed();
        for [one, other] in differing_texts() {
            let other = taken_back.put(other);
            // Others than these are told in a list.
            let dates = days.moved(one, &other).into_iter().filter(|[one, _]| !dates(one).is_truthy());
            found.add(&RunValues::of_pairs(dates.collect(), texts), usize::MAX);
        }
        found
    }

    /// Those pairs of values that stand equally often in each of these texts.
    fn of_pairs(pairs: BTreeSet<[&str; 2]>, texts: &[[&str; 2]]) -> RunValues {
        let count = |text, value: &str| Places::new([("", value.to_owned())]).put(text, "\0").matches('\0').count();
        let is_one = |[one, other]: &[&str; 2]| texts.iter().all(|[was, is]| count(was, one) == count(is, other));
        RunValues::of(pairs.into_iter().filter(is_one).map(|[one, other]| (other, one)))
    }

    fn of<'a>(made_up: impl Iterator<Item = (&'a str, &'a str)>) -> RunValues {
        let made_up = Places::new(made_up.map(|(name, place)| (name, place.to_owned())));
        RunValues { made_up, ..RunValues::default() }
    }

    /// Adds the days and points in time that the call tells otherwise. One that stands elsewhere, too, for another or the same, stays. A
    /// day counts as well where only points in time on it are told. Days that the call does not tell move as far as one of those that
    /// it tells, if that moved by one of the clocks of `days`.
    pub fn with_dates(mut self, Told(texts): &Told<'_>, days: &Days) -> RunValues {
        let mut all = BTreeMap::<String, BTreeSet<String>>::new();
        for [one, other] in texts {
            let away = |one, other| if one == other { None } else { days.away(one, other) };
            self.away = self.away.or_else(|| away(one, other));
            let (Json::Array(one), Json::Array(other)) = (dates(one), dates(other)) else { continue };
            let told = one.iter().filter_map(Json::as_str).zip(other.iter().filter_map(Json::as_str));
            for (one, other) in told.filter(|_| one.len() == other.len()) {
                let days = (day_of(one).0, day_of(other).0);
                self.away = self.away.or_else(|| away(days.0, days.1));
                for (one, other) in [(one, other), days] {
                    all.entry(one.to_owned()).or_default().insert(other.to_owned());
                }
            }
        }
        let only = |(one, others): (String, BTreeSet<String>)| {
            let other = others.first().filter(|_| others.len() == 1).unwrap_or(&one).clone();
            (one, other)
        };
        let counts = |(one, other): &(String, String)| self.away.is_some() || one != other;
        self.dates = all.into_iter().map(only).filter(counts).collect();
        self
    }

    /// Returns a text with the other value in place of each.
    pub fn put<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let other = |date: &str| {
            let (day, clock) = day_of(date);
            let moved = || Some(Date::parse(day, &Iso8601::DATE).ok()?.checked_add(self.away?)?.to_string());
            let other = || Some(format!("{}{clock}", self.dates.get(day).cloned().or_else(moved)?));
            self.dates.get(date).cloned().or_else(other)
        };
        match self.made_up.put_names(text) {
            text if self.dates.is_empty() && self.away.is_none() => text,
            Cow::Borrowed(text) => put_dates(text, other),
            Cow::Owned(text) => put_dates(&text, other).into_owned().into(),
        }
    }

    /// The same values the other way round, without days: these count for no key.
    pub fn reversed(&self) -> RunValues {
        RunValues::of(self.made_up.iter().map(|(name, place)| (place, name)))
    }

    /// The values that stand in a text.
    pub fn in_text(&self, text: &str) -> RunValues {
        RunValues::of(self.made_up.iter().filter(|(_, place)| text.contains(place)))
    }

    /// Adds values, the newest first, and forgets all but the first `most`.
    pub fn add(&mut self, more: &RunValues, most: usize) {
        let is_new = |(_, place): &(&str, &str)| more.made_up.iter().all(|(_, other)| other != *place);
        let all = more.made_up.iter().chain(self.made_up.iter().filter(is_new)).take(most);
        self.made_up = RunValues::of(all).made_up;
    }
}

/// The day of a point in time, and its clock.
fn day_of(date: &str) -> (&str, &str) {
    date.split_at(date.find(['T', ' ']).unwrap_or(date.len()))
}

/// The parts of two texts that differ, as whole words.
fn differing<'a>(one: &'a str, other: &'a str) -> Option<[&'a str; 2]> {
    let length = |equal: &mut dyn Iterator<Item = (char, char)>| -> usize {
        equal.take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum()
    };
    let start = length(&mut one.chars().zip(other.chars()));
    let start = one[..start].trim_end_matches(is_of_word).len();
    let (one, other) = (&one[start..], &other[start..]);
    let end = length(&mut one.chars().rev().zip(other.chars().rev()));
    let end = one[one.len() - end..].trim_start_matches(is_of_word).len();
    let (one, other) = (one.get(..one.len() - end)?, other.get(..other.len().checked_sub(end)?)?);
    (!one.is_empty() && !other.is_empty()).then_some([one, other])
}

#[cfg(test)]
mod tests;
