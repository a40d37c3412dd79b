//! Renderings of days as others write them (`Intl` of Node 20 and Python's `strftime`), and what has to stay apart.

use time::{Date, Month};

use super::{Clocks, Days, Which, tells};

fn day(text: &str) -> Date {
    let mut parts = text.split('-').map(|part| part.parse::<u8>().unwrap_or_else(|_| part[2..].parse().unwrap()));
    let (year, month, day) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
    Date::from_calendar_date(2000 + i32::from(year), Month::try_from(month).unwrap(), day).unwrap()
}

fn days(recorded: &str, called: &str) -> Days {
    Days::new([(day(recorded), day(called))])
}

fn equal(recorded_on: &str, called_on: &str, recorded: &str, called: &str) -> bool {
    !days(recorded_on, called_on).equal(recorded, called).is_none()
}

/// The rows of a table: a name, and a rendering of each day of its first line.
fn renderings(table: &str) -> (Vec<&str>, Vec<(&str, Vec<&str>)>) {
    let mut lines = table.lines().map(|line| line.split('\t'));
    let days = lines.next().unwrap().skip(1).collect();
    (days, lines.map(|mut line| (line.next().unwrap(), line.collect())).collect())
}

/// Texts in which a rendering stands.
const AROUND: [(&str, &str); 5] = [
    ("", ""),
    ("Today's date is ", ". Say hi"),
    ("{\"content\": \"line\\n", "\", \"type\": \"human\"}"),
    ("Meet 12 people on ", " at the latest, 3 of them new"),
    ("It is ", " today. It was Monday 3 March 2025 when we met 24 friends."),
];

/// Holds each rendering of each day against the same one of each other day, and against the other days.
fn hold(table: &str) -> Vec<String> {
    let (on, rows) = renderings(table);
    let mut wrong = Vec::new();
    for (row, (name, texts)) in rows.iter().enumerate() {
        for (r, c) in (0..on.len())
            .flat_map(|r| (0..on.len()).map(move |c| (r, c)))
            .filter(|(r, c)| r != c && (*r == 0 || *c == 0))
        {
            let days = days(on[r], on[c]);
            let (before, after) = AROUND[(row + r + c) % AROUND.len()];
            let (recorded, called) = (format!("{before}{}{after}", texts[r]), format!("{before}{}{after}", texts[c]));
            if days.equal(&recorded, &called).is_none() {
                wrong.push(format!("{name}: {} → {}: {recorded} → {called}", on[r], on[c]));
            }
            // Another day than today is not today. What was said in the recording is equal, and stays.
            // A week or a month alone may be that of another day of it, and a number beside a weekday a number.
            let told = texts.iter().filter(|other| **other != texts[r] && **other != texts[c]);
            let told = told.filter(|_| !["week", "month year", "weekday the nth"].contains(name));
            for other in told {
                if !days.equal(texts[r], other).is_none() {
                    wrong.push(format!("{name}: {} → {} takes {other} for {}", on[r], on[c], texts[c]));
                }
            }
        }
    }
    wrong
}

#[test]
fn renderings_move_with_the_day() {
    let wrong = hold(include_str!("tests/seen.tsv"));
    assert!(wrong.is_empty(), "{}\n{} wrong", wrong[..wrong.len().min(12)].join("\n"), wrong.len());
}

#[test]
fn renderings_that_nobody_looked_at_while_this_was_built_move_too() {
    let wrong = hold(include_str!("tests/unseen.tsv"));
    assert!(wrong.is_empty(), "{}\n{} wrong", wrong[..wrong.len().min(12)].join("\n"), wrong.len());
}

#[test]
fn a_literal_day_beside_a_moving_one_stays() {
    let same = |recorded: &str, called: &str| equal("2026-11-24", "2026-11-25", recorded, called);
    assert!(same("Today is Tuesday. Bins: Tuesday, Friday.", "Today is Wednesday. Bins: Tuesday, Friday."));
    assert!(same("24 Nov 2026. Due: 24 Nov 2026.", "25 Nov 2026. Due: 24 Nov 2026."));
    assert!(same("On Tuesday, 24 people met", "On Wednesday, 24 people met"));
    assert!(same("Tue 24 / tomorrow Wed 25", "Wed 25 / tomorrow Thu 26"));
    assert!(same("from Tue 17 to Tue 1 Dec", "from Wed 18 to Wed 2 Dec"));
}

#[test]
fn what_is_not_the_day_stays_apart() {
    let same = |recorded: &str, called: &str| equal("2026-11-24", "2026-11-25", recorded, called);
    for (recorded, called) in [
        ("Tuesday", "Thursday"),
        ("Tuesday", "Monday"),
        ("Tuesday", "Mittwoch"),
        ("TUESDAY", "Wednesday"),
        ("24", "25"),
        ("24 files", "25 files"),
        ("2026", "2027"),
        ("11 files, 24 lines", "11 files, 25 lines"),
        ("at 11:24", "at 11:25"),
        ("Tuesday 24", "Wednesday 26"),
        ("Tuesday 24", "Tuesday 25"),
        ("November 24", "December 25"),
        ("24.11.2026", "25/11/2026"),
        ("05/24", "05/25"),
        ("order 24", "order 25"),
        ("Sunny", "Monny"),
        ("Tue", "Wednesday"),
        ("Tuesday", ""),
        ("", "Wednesday"),
        ("8 days ahead: 2 December", "8 days ahead: 4 December"),
        ("8 days ahead: 02/12", "8 days ahead: 03/12"),
        ("in 8 days: Wednesday 2 December", "in 8 days: Thursday 4 December"),
        ("on 31 December 2026", "on 1 January 2026"),
        ("from 13 December 2026 to 2 January 2027", "from 14 December 2026 to 4 January 2027"),
    ] {
        assert!(!same(recorded, called), "{recorded} → {called}");
    }
    // Nothing moves on the day itself.
    assert!(!equal("2026-11-24", "2026-11-24", "Tuesday", "Wednesday"));
}

#[test]
fn whole_dates_may_be_far_away() {
    let same = |recorded: &str, called: &str| equal("2026-11-24", "2028-01-03", recorded, called);
    for (recorded, called) in [
        ("due on 13 December 2026: 349.40 EUR", "due on 22 January 2028: 349.40 EUR"),
        ("Due Sunday, 13 December 2026.", "Due Saturday, 22 January 2028."),
        ("Sun, Dec 13, 10:00", "Sat, Jan 22, 10:00"),
        ("13.12.2026 (12 Plätze)", "22.01.2028 (12 Plätze)"),
        ("12/13/2026", "01/22/2028"),
        ("le 13 décembre 2026", "le 22 janvier 2028"),
        ("2026年12月13日", "2028年1月22日"),
        ("from 13 December 2026 to 2 January 2027", "from 22 January 2028 to 11 February 2028"),
        ("since 1 March 2025, until 13 December 2026", "since 1 March 2025, until 22 January 2028"),
        ("since 1 March 2025, until 13 December 2026", "since 10 April 2026, until 22 January 2028"),
    ] {
        assert!(same(recorded, called), "{recorded} → {called}");
        assert!(!same(recorded, &called.replace("22", "23").replace("11", "12")), "{recorded} → {called}");
    }
}

#[test]
fn one_clock_has_to_do() {
    let days = Days::new([(day("2026-11-24"), day("2026-11-26")), (day("2026-11-23"), day("2026-11-25"))]);
    let by_local = days.equal("24 Nov", "26 Nov");
    let by_utc = days.equal("Mon 23 Nov", "Wed 25 Nov");
    assert!(!by_local.is_none() && !by_utc.is_none());
    assert_eq!(days.equal("the same", "the same"), Clocks::ANY);
    // By both clocks it is two days later.
    assert!(!by_local.and(by_utc).is_none());
    let days = Days::new([(day("2026-11-24"), day("2026-11-26")), (day("2026-11-23"), day("2026-11-26"))]);
    let (two, three) = (days.equal("24 Nov", "26 Nov"), days.equal("23 Nov", "26 Nov"));
    assert!(!two.is_none() && !three.is_none() && two.and(three).is_none());
}

#[test]
fn the_day_of_the_recording_is_put_back() {
    let put = |text: &str| days("2026-11-24", "2026-12-02").put_back(text, Which::All);
    assert_eq!(put("Today is Wednesday, December 2nd, 2026."), "Today is Tuesday, November 24th, 2026.");
    assert_eq!(put("02.12.2026, KW 49, 2 of 12 done"), "24.11.2026, KW 48, 2 of 12 done");
    assert_eq!(put("2026年12月2日水曜日"), "2026年11月24日火曜日");
    assert_eq!(put("nothing of a day, 2 apples"), "nothing of a day, 2 apples");
}

#[test]
fn whole_dates_that_are_far_away_are_put_back() {
    let days = days("2026-11-29", "2028-01-03");
    let called = "<p>Ordered Mon, 3 Jan 2028,</p><p>on 17 January 2028 (2028-01-17), 12 pieces";
    let recorded = "<p>Ordered Sun, 29 Nov 2026,</p><p>on 13 December 2026 (2026-12-13), 12 pieces";
    assert_eq!(days.put_back(called, Which::WholeDates), recorded);
    assert_eq!(
        days.put_back("since 3 Jan 2028 or 17 January 2028", Which::Dates),
        "since 29 Nov 2026 or 17 January 2028"
    );
}

#[test]
fn a_text_that_says_something_else_is_said_as_on_the_day_of_the_recording() {
    let days = days("2026-11-29", "2028-01-03");
    let recorded = "On 29 November 2026: 349.40 EUR, due 13 December 2026";
    for (called, nearer) in [
        (
            "On 03 January 2028: 349.41 EUR, due 17 January 2028",
            "On 29 November 2026: 349.41 EUR, due 13 December 2026",
        ),
        (
            "On 03 January 2028: 349.40 EUR, due 18 January 2028",
            "On 29 November 2026: 349.40 EUR, due 14 December 2026",
        ),
        ("something else", "something else"),
    ] {
        assert_eq!(days.nearer(recorded, called), nearer);
    }
    // The month of a date is not that of another one: what is said is what was sent, or the whole day moved.
    for (now, is) in [("2026-12-13", "2026-12-01"), ("2027-01-10", "2026-12-01"), ("2028-01-05", "2026-12-01")] {
        assert_eq!(self::days("2026-12-01", now).nearer("2026-12-02", now), is, "{now}");
    }
}

#[test]
fn a_text_tells_a_day_or_not() {
    let on = day("2026-11-02");
    for text in [
        "on 2 November 2026",
        "Mon, 02 Nov 2026 10:00:00 GMT",
        "November 2nd, 2026",
        "Nov 2, 2026",
        "02.11.2026",
        "2/11/26",
        "11/2/2026",
        "2026/11/02",
        "log-20261102.txt",
        "le 2 novembre 2026",
        "2. November 2026",
        "2026年11月2日",
        "Mon Nov  2 10:00:00 2026",
        "Mon Nov  2 10:00:00 UTC 2026",
    ] {
        assert!(tells(text, on, 0), "{text}");
    }
    for text in
        ["", "2026", "12 November 2026", "2 November 2025", "30/11/2026", "120261102", "Monday", "November 2026"]
    {
        assert!(!tells(text, on, 0), "{text}");
    }
}

#[test]
fn a_long_text_takes_as_long_as_it_is_long() {
    let text = |line: &str, times: usize| line.repeat(times);
    let time = |times: usize| {
        let start = std::time::Instant::now();
        let (recorded, called) =
            (text("It was 1 2 3 11 Tuesday, 24 a\n", times), text("It was 1 2 3 11 Wednesday, 25 a\n", times));
        assert!(equal("2026-11-24", "2026-11-25", &recorded, &called));
        start.elapsed()
    };
    let (short, long) = (time(20), time(200));
    assert!(long < short * 100, "{short:?}, then {long:?}");
}

#[test]
fn days_in_lists_may_be_far_away() {
    let same = |called: &str| {
        days("2026-11-24", "2026-11-25").same_dates(r#"[["2027-02-27", "2026-12-31T17:00:00Z"], [], []]"#, called)
    };
    assert!(same(r#"[["2027-02-28", "2027-01-01T17:00:00Z"], [], []]"#));
    assert!(same(r#"[["2027-02-27", "2027-01-01T17:00:00Z"], [], []]"#), "one stays");
    for other in [
        r#"[["2027-03-01", "2027-01-01T17:00:00Z"], [], []]"#,
        r#"[["2027-02-28", "2027-01-01T18:00:00Z"], [], []]"#,
        r#"[["2027-02-28"], ["2027-01-01T17:00:00Z"], []]"#,
        r#"[["2027-02-28", "2027-01-01T17:00:00Z"], []]"#,
        r#"[["2027-02-28", "tomorrow"], [], []]"#,
        "",
    ] {
        assert!(!same(other), "{other}");
    }
}

#[test]
fn what_is_put_back_keeps_its_spaces_and_other_words() {
    let days = days("2026-11-29", "2028-01-04");
    for (called, recorded) in [
        ("Bremen, Tuesday, 4 January 2028", "Bremen, Sunday, 29 November 2026"),
        ("Tue Jan  4 2028", "Sun Nov 29 2026"),
        // A weekday of Uzbek, behind what may be a year.
        ("we&#x27;ll pay you 5,000.00 EUR", "we&#x27;ll pay you 5,000.00 EUR"),
    ] {
        assert_eq!(days.put_back(called, Which::All), recorded);
    }
    // A weekday of Czech.
    let friday = self::days("2026-11-29", "2027-01-01");
    assert_eq!(friday.put_back("<p>1 January 2027", Which::Dates), "<p>29 November 2026");
    let thursday = self::days("2026-11-29", "2027-06-17");
    assert_eq!(thursday.put_back("pay on Thursday, 17 June 2027", Which::Dates), "pay on Sunday, 29 November 2026");
}
