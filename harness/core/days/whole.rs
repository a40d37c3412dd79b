//! Whole dates that a text tells near a place, however far away: their month has a name, or their year four digits.

use std::ops::Range;

use time::{Date, Month};

use super::names::Names;
use super::part::{digit, may_begin};

/// How many digits the number of a year has.
const YEAR: usize = 4;

/// Returns the dates that the numbers and the names of months in a part of a text may be. Without a year, a date is the
/// one that is nearest to `on`.
pub(super) fn dates(text: &str, part: Range<usize>, on: Date) -> Vec<Date> {
    let (mut years, mut months, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    let starts = text[part.clone()].char_indices().map(|(at, _)| part.start + at);
    for at in starts.filter(|at| may_begin(text, *at)) {
        let digits: Vec<u32> = text[at..].chars().map_while(digit).map(|(_, value)| value).collect();
        let number = |digits: &[u32]| digits.iter().fold(0, |number, digit| 10 * number + digit);
        match digits.len() {
            0 => {
                let names = Names::all().at(&text[at..]).filter(|(name, ..)| Names::all().is_of_month(*name));
                months.extend(names.filter_map(|(_, place, _)| u8::try_from(place + 1).ok()));
            }
            1 | 2 => numbers.extend(u8::try_from(number(&digits))),
            YEAR => years.extend(i32::try_from(number(&digits))),
            _ => {}
        }
    }
    if years.is_empty() && months.is_empty() {
        return Vec::new();
    }
    if months.is_empty() {
        months.clone_from(&numbers);
    }
    let mut found = Vec::new();
    for (month, number) in months.iter().flat_map(|month| numbers.iter().map(move |number| (*month, *number))) {
        let Ok(month) = Month::try_from(month) else { continue };
        let in_year = |year: i32| Date::from_calendar_date(year, month, number).ok();
        let nearest = || (-1..=1).filter_map(|away| in_year(on.year() + away)).min_by_key(|date| (*date - on).abs());
        let of_years = years.iter().filter_map(|year| in_year(*year)).chain(years.is_empty().then(nearest).flatten());
        for date in of_years {
            if !found.contains(&date) {
                found.push(date);
            }
        }
    }
    found
}
