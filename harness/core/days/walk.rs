//! Two texts walked together: they are equal, or tell days that are as far from each other as the recording and the run.

use std::ops::Range;

use time::format_description::well_known::Iso8601;
use time::{Date, Duration};

use super::calendar::{COMPARED, Clock, Clocks, Days, Fortnight, TODAY, around};
use super::part::{Form, may_begin};
use super::rendering::Rendering;
use super::whole;

/// How far back the beginning of a rendering may be from the place where two texts part, in characters: more than the longest date.
const BACK: usize = 48;
/// The length of a day such as `2026-11-24`.
const ISO: usize = 10;

impl Days {
    /// Returns the clocks by which a text says today what another one said in the recording.
    pub fn equal(&self, recorded: &str, called: &str) -> Clocks {
        if recorded == called {
            return Clocks::ANY;
        }
        let equal = self.clocks.iter().enumerate().filter(|(_, clock)| walk(clock, recorded, called).is_ok());
        equal.fold(Clocks::NONE, |found, (index, _)| Clocks(found.0 | 1 << index))
    }

    /// How far the days of a text moved that says today what another one said in the recording.
    pub fn away(&self, recorded: &str, called: &str) -> Option<Duration> {
        let clock = self.clocks.iter().find(|clock| walk(clock, recorded, called).is_ok())?;
        Some(clock.called[TODAY] - clock.recorded[TODAY])
    }

    /// The dates of two texts that say the same, as each writes them, with what else is in the same word, by the first clock by which
    /// they do.
    pub fn moved<'t>(&self, recorded: &'t str, called: &'t str) -> Vec<[&'t str; 2]> {
        fn whole(text: &str, Range { start, end }: Range<usize>) -> &str {
            let before = text[..start].trim_end_matches(is_of_word);
            &text[before.len()..text.len() - text[end..].trim_start_matches(is_of_word).len()]
        }
        let dates = self.clocks.iter().find_map(|clock| walk(clock, recorded, called).ok()).unwrap_or_default();
        dates.into_iter().map(|[one, other]| [whole(recorded, one), whole(called, other)]).collect()
    }

    /// Whether two lists of days and points in time, as [`dates`](crate::key::dates) returns them, tell the same by one clock. There is one
    /// way only to read these, so they may be as far away as they like.
    pub fn same_dates(&self, recorded: &str, called: &str) -> bool {
        self.clocks.iter().any(|clock| {
            let (away, mut moved) = (clock.called[TODAY] - clock.recorded[TODAY], recorded.to_owned());
            for (at, _) in recorded.match_indices('-').filter_map(|(dash, it)| Some((dash.checked_sub(4)?, it))) {
                let day = recorded.get(at..at + ISO).filter(|day| called.get(at..at + ISO) != Some(day));
                let day = day.and_then(|day| Date::parse(day, &Iso8601::DATE).ok()?.checked_add(away));
                if let Some(day) = day {
                    moved.replace_range(at..at + ISO, &day.to_string());
                }
            }
            moved == called
        })
    }

    /// Returns a text of today with the renderings of the day of the recording put in, by the first clock. If that is the recorded
    /// text, its hash says so.
    pub fn put_back(&self, called: &str, which: Which) -> String {
        self.clocks.first().map_or_else(|| called.to_owned(), |clock| put_back(clock, called, which, false))
    }

    /// Returns a text that does not say what another one said in the recording, as it would be said on the day of the recording: as far as
    /// the two are equal, as the recorded one says it.
    pub fn nearer(&self, recorded: &str, called: &str) -> String {
        let parted = |clock| Some((walk(clock, recorded, called).err()?, clock));
        let furthest = self.clocks.iter().filter_map(parted).max_by_key(|((at, _), _)| *at);
        let Some(((at, other), clock)) = furthest else { return called.to_owned() };
        // Whether 12 is written for 1 or for 01 is as in the recorded one.
        let said = |zeros| recorded[..at].to_owned() + &put_back(clock, &called[other..], Which::WholeDates, zeros);
        [true, false].map(said).into_iter().max_by_key(|said| common(recorded, said)).unwrap_or_default()
    }
}

/// Which renderings of days near the run's are put back. A name alone may be another word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// All that are certain.
    All,
    /// Dates.
    Dates,
    /// The same, and whole dates however far away.
    WholeDates,
}

/// Whether a text tells a day that is at most a week, and so many weeks more, before or after another, and not only what many days have:
/// the name of a weekday or a month, a week.
pub fn tells(text: &str, day: Date, weeks: i64) -> bool {
    let starts = text.char_indices().map(|(at, _)| at).filter(|at| may_begin(text, *at));
    let mut fortnights = (-weeks..=weeks).step_by(2).filter_map(|away| around(day.checked_add(Duration::weeks(away))?));
    let is_date = |days: &Fortnight, at| Rendering::in_one(days, text, at).is_some_and(|rendering| rendering.is_date());
    fortnights.any(|days| starts.clone().any(|at| is_date(&days, at)))
}

/// In how many places a text tells this very day as a date.
pub fn times_told(text: &str, day: Date) -> usize {
    let is_date = |at: &usize| Rendering::in_one(&[day; COMPARED], text, *at).is_some_and(|of| of.is_date());
    text.char_indices().map(|(at, _)| at).filter(|at| may_begin(text, *at)).filter(is_date).count()
}

/// Returns a text with the weekday of each of these days in place of the right one in the dates that tell a day: in each such date alone, and in
/// all.
pub fn with_weekdays(text: &str, day: Date, others: &[Date]) -> Vec<String> {
    let starts = text.char_indices().map(|(at, _)| at).filter(|at| may_begin(text, *at));
    let dates = starts.filter_map(|at| Rendering::in_one(&[day; COMPARED], text, at)).filter(Rendering::is_date);
    let mut names: Vec<_> = dates.filter_map(Rendering::into_weekday).collect();
    // A date may begin at each of its numbers.
    names.sort_by_key(|(start, ..)| *start);
    names.dedup_by_key(|(start, ..)| *start);
    let put = |names: &[(usize, usize, Form)], other: Date| {
        let mut text = text.to_owned();
        names.iter().rev().for_each(|(start, end, form)| text.replace_range(*start..*end, &form.of(other)));
        text
    };
    let ways = names.chunks(1).chain([&names[..]]);
    ways.flat_map(|names| others.iter().map(|other| put(names, *other))).collect()
}

/// Whether a value of a run that stands in a text goes on with this character.
pub(crate) fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

/// Returns where the dates stand that two texts have otherwise, if they say the same.
///
/// # Errors
/// Otherwise, how far they do.
fn walk(clock: &Clock, recorded: &str, called: &str) -> Result<Vec<[Range<usize>; 2]>, (usize, usize)> {
    // Where the texts were last known to say the same.
    let (mut from, mut parted, mut dates) = ((0, 0), (0, 0), Vec::new());
    loop {
        let (rest, other) = (&recorded[from.0..], &called[from.1..]);
        let same = common(rest, other);
        if same == rest.len() && same == other.len() {
            return Ok(dates);
        }
        let moved = moved(clock, (recorded, called), from, same).ok_or(parted)?;
        if moved.is_date() {
            let start = moved.start();
            dates.push([start..moved.ends.0, start - from.0 + from.1..moved.ends.1]);
        }
        from = moved.ends;
        // A year and a month that are equal may be those of a date that is not.
        if ![&recorded[from.0..], &called[from.1..]].iter().any(|rest| rest.starts_with(is_of_word)) {
            parted = from;
        }
    }
}

/// Returns the rendering that two texts have where they part: of a day near the clock's, or else of a whole date. `same` is how far they
/// are equal from an offset on.
fn moved(clock: &Clock, texts: (&str, &str), from: (usize, usize), same: usize) -> Option<Rendering> {
    let far = || {
        let (before, after) = texts.0[from.0..].split_at(same);
        let start = before.char_indices().rev().take(BACK).last().map_or(same, |(at, _)| at);
        let end = after.char_indices().nth(BACK).map_or(after.len(), |(at, _)| at);
        let dates = whole::dates(texts.0, from.0 + start..from.0 + same + end, clock.recorded[TODAY]);
        let clocks = dates.into_iter().filter_map(|date| clock.on(date));
        let moved = clocks.filter_map(|clock| near(&clock, texts, from, same).filter(Rendering::is_whole_date));
        moved.max_by_key(|it| it.ends.0 + it.ends.1)
    };
    let near = near(clock, texts, from, same);
    let is_whole = near.as_ref().is_some_and(Rendering::is_whole_date);
    if is_whole { near } else { far().or(near) }
}

/// The same for days near the clock's.
fn near(clock: &Clock, texts: (&str, &str), from: (usize, usize), same: usize) -> Option<Rendering> {
    let parted = (from.0 + same, from.1 + same);
    let back = texts.0[from.0..parted.0].char_indices().rev().take(BACK).map(|(at, _)| at);
    let starts: Vec<usize> = [same].into_iter().chain(back).filter(|at| may_begin(texts.0, from.0 + at)).collect();
    let found = starts.iter().filter_map(|at| Rendering::in_both(clock, texts, (from.0 + at, from.1 + at)));
    let covers = |ends: (usize, usize)| ends != parted && ends.0 >= parted.0 && ends.1 >= parted.1;
    let moved = found.filter(|rendering| covers(rendering.ends)).max_by_key(|it| it.ends.0 + it.ends.1)?;
    // A date moves as a whole: `1 January 2027` is not `1 December 2026` because the month moved.
    let day = [clock.recorded[TODAY]; COMPARED];
    let mut dates = starts.iter().filter_map(|at| Rendering::in_one(&day, texts.0, from.0 + at));
    let is_cut = moved.is_partial() && dates.any(|date| moved.cuts(&date));
    (!is_cut).then_some(moved)
}

/// The length in bytes of the beginning that two texts share, in whole characters.
fn common(a: &str, b: &str) -> usize {
    let mut same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    while !a.is_char_boundary(same) || !b.is_char_boundary(same) {
        same -= 1;
    }
    same
}

fn put_back(clock: &Clock, called: &str, which: Which, zeros: bool) -> String {
    let back = Clock { recorded: clock.called, called: clock.recorded };
    let far = |at: usize| {
        let end = called[at..].char_indices().nth(BACK).map_or(called.len(), |(end, _)| at + end);
        let clocks = whole::dates(called, at..end, clock.called[TODAY]).into_iter().filter_map(|date| back.on(date));
        let found = clocks.filter_map(|clock| Some((Rendering::in_one(&clock.recorded, called, at)?, clock)));
        let found = found.filter(|(found, _)| found.is_whole_date() && !found.has_letter());
        let (found, day) = found.max_by_key(|(found, _)| found.ends.0)?;
        Some((found.ends.0, found.written(called, &day.called, zeros)))
    };
    let near = |at: usize| {
        let found = Rendering::in_one(&clock.called, called, at)?;
        let is_date = || found.is_date() && !found.has_letter();
        let is_one = if which == Which::All { found.is_certain(called) } else { is_date() };
        is_one.then(|| (found.ends.0, found.written(called, &clock.recorded, zeros)))
    };
    let mut out = String::with_capacity(called.len());
    let mut at = 0;
    while let Some(c) = called[at..].chars().next() {
        let begins = may_begin(called, at);
        let found = if begins { near(at) } else { None };
        let far = || if begins && which == Which::WholeDates { far(at) } else { None };
        if let Some((end, written)) = found.or_else(far) {
            out.push_str(&written);
            at = end;
        } else {
            out.push(c);
            at += c.len_utf8();
        }
    }
    out
}
