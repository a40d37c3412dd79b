use crate::days::Which;
use time::Date;

use super::*;
use crate::events::{Capture, Captured, Change, Detail, Known, ShapeOptions, Shaped, changes};

fn day(ordinal: u16) -> Date {
    Date::from_ordinal_date(2026, ordinal).unwrap()
}

/// The days of Tuesday 24 November 2026 and Wednesday 2 December.
fn days() -> Days {
    Days::new([(day(328), day(336))])
}

fn golden(lines: &[&str], options: &ShapeOptions, known: &Known<'_>, put: &dyn Fn(&str) -> String) -> Golden {
    let body: Vec<String> = lines.iter().map(|line| format!("event: day\ndata: {line}\n\n")).collect();
    let capture = Captured::stream("GET /", Capture::new().push(body.concat().as_bytes()));
    Shaped::of(&[capture], options, known, put).golden
}

/// Returns the changes between the golden of one day and a run of another.
fn changed(was: &[&str], is: &[&str], options: &ShapeOptions) -> Vec<String> {
    let foreign = || Some(crate::events::Foreign::default());
    let same = |text: &str| text.to_owned();
    let was = golden(was, options, &Known { foreign: foreign(), ..Known::default() }, &same);
    let of = |put: &dyn Fn(&str) -> String| {
        golden(is, options, &Known { foreign: foreign(), committed: Some(&was), ..Known::default() }, put)
    };
    let is = of(&same).with_day_of(&was, &of(&|text| days().put_back(text, Which::All)), &days());
    changes(&was, &is).iter().map(Change::words).collect()
}

fn words(was: &[&str], is: &[&str]) -> usize {
    changed(was, is, &ShapeOptions::default()).len()
}

#[test]
fn a_word_that_moves_with_the_day_is_equal() {
    let (was, is) = (r#"{"day": "Tuesday", "month": "Nov"}"#, r#"{"day": "Wednesday", "month": "Dec"}"#);
    assert_eq!(words(&[was], &[is]), 0);
    assert_eq!(words(&[was], &[was]), 0);
    assert_eq!(words(&[was], &[r#"{"day": "Tuesday", "month": "Dec"}"#]), 0);
    let all = changed(&[was], &[r#"{"day": "Friday", "month": "Dec"}"#], &ShapeOptions::default());
    assert_eq!(all, ["the event `day` has a different shape: `/day` is `\"Friday\"`, not `\"Tuesday\"`"]);
    // A literal day beside a moving one, which are one day on one of the days.
    let of = |moving: &str| [r#"{"day": "Wednesday"}"#.to_owned(), format!(r#"{{"day": "{moving}"}}"#)];
    let (was, is) = (of("Tuesday"), of("Wednesday"));
    let [was, is] = [&was, &is].map(|lines| lines.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(words(&was, &is), 0);
    // In lists, in objects on one line.
    assert_eq!(words(&[r#"{"a": [{"x": ["Tuesday"]}]}"#], &[r#"{"a": [{"x": ["Wednesday"]}]}"#]), 0);
    // As a key.
    assert_eq!(words(&[r#"{"a": {"Tuesday": 1}}"#], &[r#"{"a": {"Wednesday": 1}}"#]), 0);
    assert_eq!(words(&[r#"{"Tuesday": 1}"#], &[r#"{"Wednesday": 1}"#]), 0);
    assert_eq!(words(&[r#"{"a": {"Tuesday": 1}}"#], &[r#"{"a": {"Friday": 1}}"#]), 1);
}

#[test]
fn values_and_hashes_move_too() {
    let values = ShapeOptions { detail: Detail::Values, ..ShapeOptions::default() };
    let lines = |day: &str| [format!(r#"{{"at": "{day}", "n": [1, 2]}}"#), r#"{"at": "", "n": [1, 3]}"#.to_owned()];
    let (was, is) = (lines("Tuesday, 24 November"), lines("Wednesday, 2 December"));
    let [was, is] = [&was, &is].map(|lines| lines.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(changed(&was, &is, &values), Vec::<String>::new());
    assert_eq!(changed(&was, &[is[1], is[0]], &values).len(), 1);
    let shown = ShapeOptions { show: vec!["/at".to_owned()], ..ShapeOptions::default() };
    assert_eq!(changed(&was, &is, &shown), Vec::<String>::new());
    // In pieces, of which none is a day.
    let collapsed = ShapeOptions { collapse: vec!["day".to_owned()], ..ShapeOptions::default() };
    let pieces = |day: &str| {
        let (one, two) = day.split_at(3);
        [
            format!(r#"{{"id": "a", "content": "It is {one}"}}"#),
            format!(r#"{{"id": "a", "content": "{two}, and it rains."}}"#),
        ]
    };
    let (was, is, other) = (pieces("Tuesday"), pieces("Wednesday"), pieces("Friday"));
    let [was, is, other] = [&was, &is, &other].map(|lines| lines.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(changed(&was, &is, &collapsed), Vec::<String>::new());
    assert_eq!(changed(&was, &other, &collapsed).len(), 1);
}
