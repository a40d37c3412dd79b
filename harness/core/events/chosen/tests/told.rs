//! What is told of values beyond their place: digits, later times, whole texts; and how a change of them is told.

use super::{captured, lines_of, normalized, texts};
use crate::conversation::{Answer, Block};
use time::{Date, Month};

use crate::events::{
    Captured, Change, Event, Exactly, Foreign, Golden, Known, Recorded, ShapeOptions, Shaped, changes,
};

pub(super) fn always(exactly: bool) -> Exactly {
    if exactly { Exactly::Always } else { Exactly::No }
}

/// What is known of a run in which nobody but the service said anything.
pub(super) fn known(exactly: bool, committed: Option<&Golden>) -> Known<'_> {
    let foreign = Some(Foreign::default());
    Known { foreign, has_others: true, exactly: always(exactly), committed, ..Known::default() }
}

/// The golden of a run in which texts are told with the words that have digits.
fn exact(line: &str) -> Golden {
    let known = known(true, None);
    Shaped::of(&[captured(&[line])], &ShapeOptions::default(), &known, &normalized).golden
}

#[test]
fn what_a_text_counts_is_held_where_no_clock_changes_it() {
    let long = format!("Row 7 of 9. {}", "It goes on and on. ".repeat(8));
    let [one, other] = ["16:30", "04:37"].map(|clock| {
        format!(r#"{{"a": "12 of 40 seats", "b": "Open at {clock} h", "c": "{clock}", "d": "{long}", "e": "4:3"}}"#)
    });
    let written = |moved: bool, committed: Option<&Golden>| {
        let mut golden = texts(&one, None);
        golden.agree_on_values(&texts(&other, None));
        let mut exactly = exact(&one);
        exactly.agree_on_values(&exact(&other));
        golden.tell_exactly(exactly, moved, committed);
        golden
    };
    let golden = written(true, None);
    let lines = lines_of(&golden);
    let [a, b, c] = [r#""12 of 40 seats""#, "\"Open at #:# h\"", "string"];
    assert_eq!(lines[..3], [format!("a          {a}"), format!("b          {b}"), format!("c          {c}")]);
    assert!(lines[3].contains(r#""Row 7 of 9. It"#) && lines[3].contains("exactly "), "{}", lines[3]);
    assert!(lines[4].ends_with(r#" "4:3""#), "{}", lines[4]);
    // What it says is enough to make it again, and a change is one.
    let read = Golden::parse(&golden.to_string()).unwrap();
    assert_eq!(texts(&one, Some(&read)), read);
    for (part, changed) in [("12 of", "13 of"), ("of 9.", "of 8."), ("4:3", "4:4")] {
        assert_ne!(texts(&one.replace(part, changed), Some(&read)), read, "{part}");
    }
    assert_eq!(texts(&other, Some(&read)), read, "a clock is none");
    assert_eq!(written(false, Some(&golden)), golden, "where no clock is moved, what is held stays");
    let open = texts(&one.replace("12 of", "1 of"), None);
    assert_eq!(written(true, Some(&open)), open, "and what varied may do so again");
}

#[test]
fn a_text_that_names_the_zone_is_held_if_the_model_was_sent_it() {
    let of = |sent: &str| {
        let mut foreign = Foreign::default();
        foreign.add_machine("UTC");
        // As a recording has it.
        foreign.add_text(&normalized(sent));
        let known = Known { foreign: Some(foreign), has_others: true, ..Known::default() };
        let line = r#"{"a": "R opened, due 2027-01-31 23:00 UTC"}"#;
        lines_of(&Shaped::of(&[captured(&[line])], &ShapeOptions::default(), &known, &normalized).golden)
    };
    assert_eq!(of("nothing"), ["a          string"], "another machine may be in another zone");
    assert_eq!(of("R opened, due 2027-01-31 23:00 UTC"), ["a          \"R opened, due <DATE> #:# UTC\""]);
}

#[test]
fn where_no_clock_is_moved_only_what_it_may_tell_is_open() {
    let today = Date::from_calendar_date(2026, Month::November, 28).unwrap();
    let of = |line: &str, exactly: Exactly, committed: Option<&Golden>| {
        let mut foreign = Foreign::default();
        for text in [r#"{"start": "2027-03-05", "at": "18:30"}"#, "From 2027-03-07 on.", "2026-11-27"] {
            foreign.add_text(text);
        }
        let known = Known { foreign: Some(foreign), has_others: true, exactly, committed, ..Known::default() };
        Shaped::of(&[captured(&[line])], &ShapeOptions::default(), &known, &normalized).golden
    };
    let line = r#"{"a": "12 of 40 seats", "b": "Open at 16:30 h", "c": "Due on 12 December 2026", "d": "took 5 ms",
        "e": "Trip 7 of 2027-03-05", "f": "2027-03-05", "g": "2027-03-06", "h": "2026-11-27", "i": "18:30",
        "j": "Day 2 is 2027-03-07"}"#
        .replace('\n', "");
    let mut golden = of(&line, Exactly::No, None);
    golden.tell_exactly(of(&line, Exactly::Unless(today), None), false, None);
    golden.tell_derived(&golden.clone(), &Recorded::default());
    assert_eq!(
        lines_of(&golden),
        [
            r#"a          "12 of 40 seats""#,
            r#"b          "Open at #:# h""#,
            r#"c          "Due on # December #""#,
            r#"d          "took # ms""#,
            r#"e          "Trip 7 of …" = "Trip 7 of 2027-03-05" of this recording"#,
            r#"f          "2027-03-05" of this recording"#,
            "g          yyyy-mm-dd",
            "h          yyyy-mm-dd",
            r#"i          "…" = "18:30" of this recording"#,
            r#"j          "Day 2 is 2027-03-07""#,
        ]
    );
    let read = Golden::parse(&golden.to_string()).unwrap();
    assert_eq!(of(&line, Exactly::No, Some(&read)), read);
    for (was, is) in [
        ("12 of", "13 of"),
        ("p 7", "p 8"),
        ("of 2027-03-05", "of 2027-03-04"),
        ("is 2027-03-07", "is 2027-03-05"),
        (r#""2027-03-05""#, r#""2027-03-04""#),
        (r#""18:30""#, r#""16:30""#),
    ] {
        assert_ne!(of(&line.replace(was, is), Exactly::No, Some(&read)), read, "{is}");
    }
    for (was, is) in [
        ("16:30 h", "16:31 h"),
        ("12 December", "13 December"),
        ("took 5", "took 6"),
        ("2027-03-06", "2027-03-08"),
        ("2026-11-27", "2026-11-29"),
    ] {
        assert_eq!(of(&line.replace(was, is), Exactly::No, Some(&read)), read, "{is}");
    }
}

#[test]
fn a_place_may_tell_a_clock_in_one_answer_only() {
    let of = |lines: [&str; 2], exactly: bool, committed: Option<&Golden>| {
        let known = known(exactly, committed);
        Shaped::of(&lines.map(|line| captured(&[line])), &ShapeOptions::default(), &known, &normalized).golden
    };
    let lines = [r#"{"text": "It is 16:30 h"}"#, r#"{"text": "12 of 40 seats"}"#];
    let later = [r#"{"text": "It is 16:31 h"}"#, lines[1]];
    let (mut golden, mut exactly) = (of(lines, false, None), of(lines, true, None));
    exactly.agree_on_values(&of(later, true, None));
    golden.tell_exactly(exactly, true, None);
    let read = Golden::parse(&golden.to_string()).unwrap();
    assert_eq!(of(later, false, Some(&read)), read);
    assert_ne!(of([lines[0], r#"{"text": "13 of 40 seats"}"#], false, Some(&read)), read);
}

/// The golden of two replays, of which the second one had another clock.
pub(super) fn written(one: &str, other: &str) -> Golden {
    let mut golden = texts(one, None);
    golden.agree_on_values(&texts(other, None));
    let mut exactly = exact(one);
    exactly.agree_on_values(&exact(other));
    golden.tell_exactly(exactly, true, None);
    Golden::parse(&golden.to_string()).unwrap()
}

/// The first line of what a run has otherwise.
pub(super) fn first(golden: &Golden, run: &Golden) -> String {
    changes(golden, run).first().map(Change::words).unwrap_or_default()
}

#[test]
fn a_word_with_digits_is_held_where_no_clock_changes_it() {
    let line = |held: &str, open: &str| format!(r#"{{"ref": "{held}", "open": "{open}"}}"#);
    let golden = written(&line("AB-0008", "AB-1"), &line("AB-0008", "AB-2"));
    assert_eq!(lines_of(&golden), ["open       string", r#"ref        "AB-0008""#]);
    assert_eq!(texts(&line("AB-0008", "AB-3"), Some(&golden)), golden);
    assert_ne!(texts(&line("AB-0009", "AB-1"), Some(&golden)), golden);
}

#[test]
fn a_day_in_a_text_is_held_unless_a_golden_names_it() {
    let line = |until: &str, from: &str| {
        format!(r#"{{"until": "Cancel until {until}T08:45+01:00", "from": "Seat 7 from {from} on"}}"#)
    };
    let golden = written(&line("2031-03-29", "2026-11-27"), &line("2031-03-29", "2028-01-01"));
    let held = [r#"from       "Seat # from <DATE> on""#, r#"until      "Cancel until 2031-03-29T08:45+01:00""#];
    assert_eq!(lines_of(&golden), held);
    assert_eq!(texts(&line("2031-03-29", "2027-05-05"), Some(&golden)), golden);
    assert_ne!(texts(&line("2031-03-28", "2026-11-27"), Some(&golden)), golden);
    // As a golden has it that is older.
    let older = golden.to_string().replace("2031-03-29", "<DATE>").replace("# from", "7 from");
    let older = Golden::parse(&older).unwrap();
    assert_eq!(texts(&line("2031-03-28", "2027-05-05"), Some(&older)), older);
    assert_ne!(texts(&line("2031-03-28", "2027-05-05").replace("Seat 7", "Seat 8"), Some(&older)), older);
}

#[test]
fn a_part_of_what_a_tool_said_is_true_of_one_recording() {
    let answer = Answer { blocks: vec![Block::Text("It is a fine day, 20 degrees.".into())], ..Answer::default() };
    let recorded = Recorded::of([&answer]);
    let of = |price: &str, exactly: bool, committed: Option<&Golden>| {
        let mut foreign = Foreign::default();
        foreign.add_text(r#"{"total": "£349.67", "room": "the blue room 12 on the left"}"#);
        foreign.add_text("It is a fine day, 20 degrees.");
        let recorded = recorded.clone();
        let known = Known {
            foreign: Some(foreign),
            recorded,
            has_others: true,
            exactly: always(exactly),
            committed,
            ..Known::default()
        };
        let line = format!(r#"{{"price": "{price}", "name": "blue room 12", "said": "fine day", "of": "20 degrees"}}"#);
        Shaped::of(&[captured(&[&line])], &ShapeOptions::default(), &known, &normalized).golden
    };
    let mut golden = of("349.67", false, None);
    golden.agree_on_values(&of("349.67", false, None));
    let mut exactly = of("349.67", true, None);
    exactly.agree_on_values(&of("349.67", true, None));
    golden.tell_exactly(exactly, true, None);
    golden.tell_derived(&golden.clone(), &recorded);
    let (general, values) = golden.apart();
    assert_eq!(
        lines_of(&general),
        ["name       string", "of         string", "price      string", "said       string"]
    );
    let values = values.unwrap();
    assert_eq!(
        lines_of(&values),
        [
            r#"name       "blue room 12" of this recording"#,
            r#"of         "20 degrees" of this recording"#,
            r#"price      "349.67" of this recording"#,
            r#"said       "fine day" of this recording"#
        ]
    );
    let mut committed = Golden::parse(&general.to_string()).unwrap();
    committed.add_values(&Golden::parse(&values.to_string()).unwrap());
    assert_ne!(of("349.76", false, Some(&committed)), committed);
}

#[test]
fn a_change_behind_the_beginning_of_a_long_text_is_quoted() {
    let line = |end: &str| format!(r#"{{"page": "{}{end}"}}"#, "The way is long. ".repeat(12));
    let said = first(&texts(&line("It ends in Rome."), None), &texts(&line("It ends in Bonn."), None));
    assert!(
        said.contains("`/page` is `") && said.contains("ends in Bonn. (") && said.contains("ends in Rome. ("),
        "{said}"
    );
    // The golden itself has the beginning alone.
    let (golden, values) = texts(&line("It ends in Rome."), None).apart();
    assert!(!golden.to_string().contains("Rome") && values.unwrap().to_string().contains("Rome"), "{golden}");
}

#[test]
fn what_stands_in_place_of_a_value_is_quoted_and_not_its_type() {
    let held = Golden::parse(&texts(r#"{"code": "closed", "rating": null}"#, None).to_string()).unwrap();
    let said = |line: &str| first(&held, &texts(line, Some(&held)));
    let shape = "the event `task` has a different shape:";
    assert_eq!(said(r#"{"code": "409", "rating": null}"#), format!("{shape} `/code` is `\"409\"`, not `\"closed\"`"));
    assert_eq!(said(r#"{"code": "closed", "rating": 3}"#), format!("{shape} `/rating` is `3`, not `null`"));
    let open = Golden::parse(&held.to_string().replace("\"closed\"", "boolean")).unwrap();
    let run = texts(r#"{"code": "closed", "rating": null}"#, Some(&open));
    assert_eq!(first(&open, &run), format!("{shape} `/code` is `string`, not `boolean`"));
}

#[test]
fn a_text_that_is_the_same_as_a_whole_is_told_as_in_the_golden() {
    let of = |sent: &str, row: &str, committed: Option<&Golden>| {
        let mut foreign = Foreign::default();
        foreign.add_text(sent);
        let (foreign, exactly) = (Some(foreign), committed.is_none());
        let known = Known { foreign, has_others: true, exactly: always(exactly), committed, ..Known::default() };
        let line = format!(r#"{{"detail": "there is no row {row}"}}"#);
        Shaped::of(&[captured(&[&line])], &ShapeOptions::default(), &known, &normalized).golden
    };
    let mut golden = of("row 9", "9", None);
    golden.tell_derived(&golden.clone(), &Recorded::default());
    assert_eq!(lines_of(&golden), [r#"detail     "there is no …" = "there is no row 9" of this recording"#]);
    let golden = Golden::parse(&golden.to_string()).unwrap();
    assert_eq!(of("row 8", "9", Some(&golden)), golden, "what else was sent changes nothing");
    assert_ne!(of("row 9", "8", Some(&golden)), golden);
}

#[test]
fn where_words_of_the_model_are_cut_is_true_of_one_recording() {
    let of = |said: &str, title: &str, committed: Option<&Golden>| {
        let answer = Answer { blocks: vec![Block::Text(said.to_owned())], ..Answer::default() };
        let recorded = Recorded::of([&answer]);
        let mut foreign = Foreign::default();
        foreign.add_recorded(&recorded);
        let known = Known { foreign: Some(foreign), recorded, has_others: true, committed, ..Known::default() };
        let line = format!(r#"{{"title": "{title}"}}"#);
        let mut golden = Shaped::of(&[captured(&[&line])], &ShapeOptions::default(), &known, &normalized).golden;
        if committed.is_none() {
            golden.tell_derived(&golden.clone(), &known.recorded);
        }
        golden
    };
    let said = "Estate car over Easter in London for a week";
    let (general, values) = of(said, "Estate car over Easter in Lo…", None).apart();
    assert_eq!(lines_of(&general), ["/title = turn 1, cut with …", "title      string"]);
    let mut held = Golden::parse(&general.to_string()).unwrap();
    held.add_values(&Golden::parse(&values.unwrap().to_string()).unwrap());
    let shorter = "Estate car over Easter…";
    assert_eq!(
        first(&held, &of(said, shorter, Some(&held))),
        r#"the event `task` has a different shape: `/title` is `"Estate car over Easter…"`, not `"Estate car over Easter in Lo…"`"#
    );
    // With other words, and of a golden that does not have it, only that they are cut counts.
    assert_eq!(of("A van to Brighton and back", "A van to Brighton an…", Some(&held)), held);
    assert_eq!(of(said, shorter, Some(&general)), general);
}

#[test]
fn what_a_place_has_now_is_told_by_its_first_values() {
    let written = r#"{"phone": null, "until": null, "n": 0}"#;
    let of = |lines: &[&str], committed: Option<&Golden>| {
        Shaped::of(&[captured(lines)], &ShapeOptions::default(), &known(false, committed), &normalized).golden
    };
    let counted = ["0", "1", "2"].map(|n| written.replace('0', n));
    let golden = of(&counted.each_ref().map(|line| &**line), None);
    let said = |from: &str, to: &str, numbers: [&str; 3]| {
        let lines = numbers.map(|n| written.replace('0', n).replace(from, to));
        let run = of(&lines.each_ref().map(|line| &**line), Some(&golden));
        changes(&golden, &run).iter().map(Change::words).collect::<Vec<_>>().join("; ")
    };
    let shape = "the event `task` has a different shape:";
    assert_eq!(said("{", "{", ["0", "1", "2"]), "");
    assert_eq!(said("{", "{", ["0", "0", "0"]), format!("{shape} `/n` is 0 each time, where it counted one by one"));
    assert_eq!(
        said("{", "{", ["0", "2", "7"]),
        format!("{shape} `/n` does not count one by one from 0 any more: 0 | 2 | 7")
    );
    let empty = said("\"phone\": null", "\"phone\": \"\"", ["0", "1", "2"]);
    assert_eq!(empty, format!("{shape} `/phone` is an empty text, not `null`"));
    let time = said("\"until\": null", "\"until\": \"2031-05-06T07:08:09Z\"", ["0", "1", "2"]);
    assert_eq!(time, format!("{shape} `/until` is `yyyy-mm-ddThh:mm:ssZ`, not `null`"));
}

#[test]
fn a_body_of_white_space_is_empty() {
    let of = |body: &[u8], committed| {
        let answer = Captured { events: vec![Event::body(body)], ..captured(&[]) };
        Shaped::of(&[answer], &ShapeOptions::default(), &known(false, committed), &normalized).golden
    };
    let golden = of(br#"{"a": 1}"#, None);
    for body in ["", "\n"] {
        let found = changes(&golden, &of(body.as_bytes(), Some(&golden)));
        let words: Vec<String> = found.iter().map(Change::words).collect();
        assert_eq!(words, ["the body of `POST /` is empty, where it was `{a}`"], "{body:?}");
    }
}
