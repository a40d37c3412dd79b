//! What is told of points in time: those that stay, those that are later than another, and how far away the others are.

use super::told::{always, first, known, written};
use super::{captured, lines_of, normalized, texts};
use crate::days::Days;
use crate::events::{Foreign, Golden, Known, Recorded, ShapeOptions, Shaped};
use time::{Date, Month, UtcOffset};

#[test]
fn a_time_that_no_clock_changes_is_held_as_it_is() {
    let [utc, berlin] = ["2029-03-23T14:00:00.000Z", "2029-03-23T14:00:00.000+01:00"];
    let line = |begin: &str, now: &str| {
        format!(r#"{{"begin": "{begin}", "day": "2029-03-23", "ends": 1869055200, "now": "{now}", "note": null}}"#)
    };
    let golden = written(&line(utc, "2026-11-27T09:00:00.123Z"), &line(utc, "2028-01-01T09:00:00.123Z"));
    let begin = format!("begin      {utc:?}");
    let lines = [&*begin, r#"day        "2029-03-23""#, "ends       1869055200", "note       null"];
    let held = lines_of(&golden);
    assert_eq!(
        held.iter().filter(|line| !line.starts_with("now")).collect::<Vec<_>>(),
        lines.iter().collect::<Vec<_>>()
    );
    assert!(held.iter().any(|line| line == "now        yyyy-mm-ddThh:mm:ss.fZ"), "{golden}");
    let run = |line: &str| texts(line, Some(&golden));
    let same = line(utc, "2027-05-05T10:00:00.5Z");
    assert_eq!(run(&same), golden);
    for (from, to) in [(utc, berlin), (r#"y": "2029-03-23"#, r#"y": "2029-03-24"#), ("1869055200", "1869055201")] {
        assert_ne!(run(&same.replacen(from, to, 1)), golden, "{to}");
    }
    let said = first(&golden, &run(&same.replace(utc, berlin)));
    assert!(said.ends_with(&format!("`/begin` is `{berlin:?}`, not `{utc:?}`")), "{said}");
    // A place of the same name in another answer may be a clock.
    let two = |now: &str, exactly: bool, committed: Option<&Golden>| {
        let known = known(exactly, committed);
        let answers = [line(utc, now), line(now, now)].map(|line| captured(&[&line]));
        Shaped::of(&answers, &ShapeOptions::default(), &known, &normalized).golden
    };
    let [mut both, mut exactly] = [false, true].map(|exactly| two("2026-11-27T09:00:00.123Z", exactly, None));
    exactly.agree_on_values(&two("2028-01-01T09:00:00.123Z", true, None));
    let mut of_one_clock = both.clone();
    of_one_clock.tell_exactly(exactly.clone(), false, None);
    assert_eq!(of_one_clock, both, "where no clock was moved, each may be one");
    both.tell_exactly(exactly, true, None);
    assert_eq!(lines_of(&both).iter().filter(|line| line.starts_with("begin") && line.contains('"')).count(), 1);
    assert_eq!(two("2027-05-05T10:00:00.5Z", false, Some(&both)), both);
}

#[test]
fn a_time_that_is_later_than_one_beside_it_has_to_stay_so() {
    let line = |updated: &str| format!(r#"{{"created": 1795728610000, "updated": {updated}}}"#);
    let held = written(&line("1795728610500"), &line("1795728610020"));
    assert_eq!(lines_of(&held)[1], "updated    time in ms later than one beside it");
    assert_eq!(texts(&line("1795728610001"), Some(&held)), held);
    let said = first(&held, &texts(&line("1795728610000"), Some(&held)));
    assert_eq!(
        said,
        "the event `task` has a different shape: `/updated` is `no later`, not `later than one beside it`"
    );
    let now = Golden::parse(&held.to_string().replace(" later than one beside it", " now")).unwrap();
    assert_eq!(first(&Golden::parse(&held.to_string()).unwrap(), &now), said);
    // Two clocks that were read at once are as often the same.
    let open = written(&line("1795728610500"), &line("1795728610009"));
    assert_eq!(lines_of(&open)[1], "updated    time in ms");
    assert_eq!(texts(&line("1795728610000"), Some(&open)), open);
}

#[test]
fn a_clock_that_drops_zeros_does_so_once_in_a_while() {
    let line = |ends: [&str; 2]| {
        let [one, other] = ends.map(|end| format!(r#"{{"made": "2026-11-22T10:00:00{end}"}}"#));
        format!(r#"{{"rows": [{one}, {other}]}}"#)
    };
    let held = written(&line([".5Z", ".25Z"]), &line([".5Z", ".25Z"]).replace("2026", "2027"));
    assert_eq!(lines_of(&held)[1], "[].made    yyyy-mm-ddThh:mm:ss.fZ");
    assert_eq!(texts(&line(["Z", ".25Z"]), Some(&held)), held);
    // That all do is found in another run.
    let all = texts(&line(["Z", "Z"]), Some(&held));
    assert!(all != held && all.clone().drops_fractions(&held) && !held.clone().drops_fractions(&all));
    let proven = |mut one: Golden, other: &Golden| {
        one.agree_on_values(other);
        lines_of(&one)
    };
    let one = texts(&line(["Z", "Z"]), None);
    assert_eq!(proven(one.clone(), &texts(&line([".5Z", ".25Z"]), None)), lines_of(&held));
    assert_eq!(proven(texts(&line([".5Z", ".25Z"]), None), &one), lines_of(&held));
}

#[test]
fn a_time_that_is_when_it_was_told_has_to_stay_so() {
    let run = |created: &str, told: &str, exactly: bool, committed: Option<&Golden>| {
        let mut answer = captured(&[&format!(r#"{{"created": "{created}"}}"#)]);
        answer.delivery.headers.push(("date".to_owned(), told.to_owned()));
        let foreign = Some(Foreign::default());
        let known = Known { foreign, has_others: true, exactly: always(exactly), committed, ..Known::default() };
        Shaped::of(&[answer], &ShapeOptions::default(), &known, &normalized).golden
    };
    let told = ["Fri, 27 Nov 2026 09:00:02 GMT", "Sat, 01 Jan 2028 21:07:02 GMT"];
    let written = |created: [&str; 2]| {
        let mut golden = run(created[0], told[0], false, None);
        let mut exactly = run(created[0], told[0], true, None);
        exactly.agree_on_values(&run(created[1], told[1], true, None));
        golden.tell_exactly(exactly, true, None);
        Golden::parse(&golden.to_string()).unwrap()
    };
    let line = |golden: &Golden| lines_of(golden).pop().unwrap();
    let now = written(["2026-11-27T09:00:01.5Z", "2028-01-01T21:07:02.25Z"]);
    assert_eq!(line(&now), "created    yyyy-mm-ddThh:mm:ss.fZ now");
    assert_eq!(run("2026-11-27T08:55:00.5Z", told[0], false, Some(&now)), now, "a machine may be slow");
    let said = first(&now, &run("1970-01-01T00:00:00.0Z", told[0], false, Some(&now)));
    let was = "not `yyyy-mm-ddThh:mm:ss.fZ now`";
    assert!(said.ends_with(&format!("`/created` is `yyyy-mm-ddThh:mm:ss.fZ - 498825 h`, {was}")), "{said}");
    // Two clocks that were read at once are as often the same.
    let two = r#"2026-11-27T09:00:01.500Z", "updated": "2026-11-27T09:00:01."#;
    let both = written([&format!("{two}505Z"), r#"2028-01-01T21:07:02.250Z", "updated": "2028-01-01T21:07:02.250Z"#]);
    assert_eq!(line(&both), "updated    yyyy-mm-ddThh:mm:ss.fZ now");
    assert_eq!(run(&format!("{two}900Z"), told[0], false, Some(&both)), both);
    // The last full hour is now only by chance.
    let hour = written(["2026-11-27T09:00:00.5Z", "2028-01-01T21:00:00.5Z"]);
    assert_eq!(line(&hour), "created    yyyy-mm-ddThh:mm:ss.fZ");
    assert_eq!(run("2026-11-27T09:00:01.5Z", told[0], false, Some(&hour)), hour, "nor is it anything else");
}

#[test]
fn a_day_that_moves_is_told_by_how_far_away_it_is() {
    let run = |due: &str, told: &str, zones: &[i8], exactly: bool, committed: Option<&Golden>| {
        let mut answer = captured(&[&format!(r#"{{"due": "{due}", "since": "2026-11-26"}}"#)]);
        answer.delivery.headers.push(("date".to_owned(), told.to_owned()));
        let zones = zones.iter().map(|hours| UtcOffset::from_hms(*hours, 0, 0).unwrap()).collect();
        Shaped::of(&[answer], &ShapeOptions::default(), &Known { zones, ..known(exactly, committed) }, &normalized)
            .golden
    };
    let told = ["Fri, 27 Nov 2026 09:00:02 GMT", "Sat, 01 Jan 2028 21:07:02 GMT"];
    let written = |zones: &[i8]| {
        let (mut golden, mut exactly) =
            (run("2026-11-30", told[0], zones, false, None), run("2026-11-30", told[0], zones, true, None));
        let other = run("2028-01-04", told[1], zones, true, None);
        // By the day, both are equal.
        let day = |year, month, day| Date::from_calendar_date(year, month, day).unwrap();
        let days = Days::new([(day(2026, Month::November, 27), day(2028, Month::January, 1))]);
        exactly.agree_on_values(&other.clone().with_day_of(&exactly, &other, &days));
        exactly.leave_out_moving(&other);
        golden.tell_exactly(exactly, true, None);
        Golden::parse(&golden.to_string()).unwrap()
    };
    let golden = written(&[]);
    assert_eq!(lines_of(&golden), ["due        yyyy-mm-dd + 3 d", "since      \"2026-11-26\""]);
    assert_eq!(run("2026-11-30", told[0], &[], false, Some(&golden)), golden);
    assert_ne!(run("2026-11-29", told[0], &[], false, Some(&golden)), golden);
    assert_eq!(run("2026-12-01", told[0], &[-8, 16], false, Some(&golden)), golden, "there it may be another day");
    // Where some clock of the system has another day, how far away it is is not known.
    assert_eq!(lines_of(&written(&[0, 6]))[0], "due        \"2026-11-30\"");
}

/// The golden of answers with these times under one name, each given at noon.
fn at_noon(times: &[&str], exactly: bool, committed: Option<&Golden>) -> Golden {
    let answer = |time: &&str| {
        let mut answer = captured(&[&format!(r#"{{"at": "{time}"}}"#)]);
        answer.delivery.headers.push(("date".to_owned(), "Wed, 25 Nov 2026 12:00:00 GMT".to_owned()));
        answer
    };
    let answers: Vec<_> = times.iter().map(answer).collect();
    let known = known(exactly, committed);
    Shaped::of(&answers, &ShapeOptions::default(), &known, &normalized).golden
}

/// The lines of a golden about these times.
fn told_at(golden: &Golden) -> Vec<String> {
    let text = golden.to_string();
    text.lines().filter_map(|line| line.strip_prefix("  at ")).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn what_is_told_of_a_time_is_that_of_its_place() {
    let [one, other] =
        [["2026-11-25T12:00:00.5Z", "2026-11-25T12:00:30.5Z"], ["2026-11-25T12:00:01.5Z", "2026-11-25T12:05:00.5Z"]];
    let mut golden = at_noon(&one, false, None);
    golden.agree_on_values(&at_noon(&other, false, None));
    let mut exactly = at_noon(&one, true, None);
    exactly.agree_on_values(&at_noon(&other, true, None));
    golden.tell_exactly(exactly, true, None);
    assert_eq!(told_at(&golden), ["yyyy-mm-ddThh:mm:ss.fZ now", "yyyy-mm-ddThh:mm:ss.fZ"]);
    for run in [one, other] {
        assert_eq!(at_noon(&run, false, Some(&golden)), golden, "{run:?}");
    }
    let early = at_noon(&["2026-11-25T10:00:00.5Z", one[1]], false, Some(&golden));
    assert_eq!(told_at(&early), ["yyyy-mm-ddThh:mm:ss.fZ - 2 h", "yyyy-mm-ddThh:mm:ss.fZ"]);
}

#[test]
fn a_time_that_moves_is_told_where_no_clock_was_moved() {
    let stays = "2026-11-25T16:00:00.5Z";
    let runs = [["2026-11-25T12:00:00.5Z", stays], ["2026-11-25T12:00:02.5Z", stays]];
    let [exactly, again] = runs.map(|run| at_noon(&run, true, None));
    let mut golden = at_noon(&runs[0], false, None);
    let mut agreed = exactly.clone();
    agreed.agree_on_values(&again);
    golden.tell_moving(&agreed.with_moving(exactly, &[again]));
    // What is the same in both runs may be as far away in each by chance.
    assert_eq!(told_at(&golden), ["yyyy-mm-ddThh:mm:ss.fZ now", "yyyy-mm-ddThh:mm:ss.fZ"]);
}

#[test]
fn a_time_that_the_model_names_is_held_as_that_of_the_recording() {
    let of = |day: &str, exactly: bool, committed: Option<&Golden>| {
        let mut foreign = Foreign::default();
        foreign.add_text("2027-03-12");
        let known =
            Known { foreign: Some(foreign), has_others: true, exactly: always(exactly), committed, ..Known::default() };
        let line = format!(r#"{{"date": "{day}"}}"#);
        Shaped::of(&[captured(&[&line])], &ShapeOptions::default(), &known, &normalized).golden
    };
    let mut golden = of("2027-03-12", false, None);
    golden.tell_exactly(of("2027-03-12", true, None), true, None);
    golden.tell_derived(&golden.clone(), &Recorded::default());
    let (general, values) = golden.apart();
    assert!(general.to_string().contains("date       yyyy-mm-dd\n"), "{general}");
    assert!(values.unwrap().to_string().contains("date       \"2027-03-12\" of this recording"), "{golden}");
    assert_eq!(of("2027-03-12", false, Some(&golden)), golden);
    let said = first(&golden, &of("2027-03-13", false, Some(&golden)));
    assert!(said.ends_with("`/date` is `\"2027-03-13\"`, not `\"2027-03-12\"`"), "{said}");
}
