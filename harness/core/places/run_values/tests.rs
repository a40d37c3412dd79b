use regex::Regex;
use time::{Date, Month};

use super::{RunValues, Told};
use crate::days::Days;
use crate::json::Json;
use crate::key::Normalizer;

fn message(kind: &str, content: &str) -> Json {
    Json::object([("type", kind.into()), ("content", content.into())])
}

fn rules(pattern: &str) -> Normalizer {
    Normalizer::default().with([(Regex::new(pattern).unwrap(), "<it>".to_owned())])
}

fn between(recorded: &[Json], called: &[Json], rules: &Normalizer) -> RunValues {
    RunValues::between(&Told::new([recorded, called], [""; 2]), rules, &Days::default())
}

const RECORDED: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";
const CALLED: &str = "7c9e6679-7425-40de-944b-e07fc1f90ae7";

#[test]
fn a_value_that_a_tool_made_up_is_put_and_taken_back() {
    let said = |id: &str| {
        [message("human", "Buy it"), message("ai", RECORDED), message("tool", &format!(r#"{{"id": "{id}"}}"#))]
    };
    let values = between(&said(RECORDED), &said(CALLED), &Normalizer::default());
    let answer = format!("Order {RECORDED} of x{RECORDED} is paid.");
    let put = values.put(&answer).into_owned();
    assert_eq!(put, format!("Order {CALLED} of x{RECORDED} is paid."), "a part of a longer word is another value");
    assert_eq!(values.reversed().put(&put), answer);
    assert_eq!(values.in_text(&answer), values);
    assert_eq!(values.in_text("x"), RunValues::default());
}

#[test]
fn what_a_rule_of_the_suite_matches_is_narrowed_to_whole_words() {
    let said = |id: &str| [message("tool", &format!(r#"{{"ref": "BK-{id}", "at": "Lyon"}}"#))];
    let values = between(&said("7F94A8"), &said("5211E4"), &rules(r#"ref": "BK-[0-9A-F]{6}", "at"#));
    assert_eq!(values.put(r#"{\"ref\":\"BK-7F94A8\"}\nBK-7F94A8"#), r#"{\"ref\":\"BK-5211E4\"}\nBK-5211E4"#);
}

#[test]
fn a_value_that_stands_elsewhere_too_is_none() {
    let said = |order: &str| [message("human", "7 bikes"), message("tool", &format!("order {order}"))];
    let values = between(&said("7"), &said("12"), &rules(r"order \d+"));
    assert_eq!(values, RunValues::default(), "seven bikes are no order");
    let said = |of: [&str; 2]| [message("tool", &format!("order {} and order {}", of[0], of[1]))];
    let none = between(&said(["7", "7"]), &said(["8", "9"]), &rules(r"order \d+"));
    assert_eq!(none, RunValues::default());
    // Two that are exchanged are put at once.
    let values = between(&said(["7", "8"]), &said(["8", "7"]), &rules(r"order \d+"));
    assert_eq!(values.put("7, 8, 78"), "8, 7, 78");
}

#[test]
fn days_and_points_in_time_are_those_that_the_call_tells() {
    let told = |days: [&str; 3]| {
        let slots = format!(r#"{{"slots": ["{}T09:00", "{}", "{}T17:30:00Z"]}}"#, days[0], days[1], days[2]);
        [message("human", "From 2026-12-24 on"), message("ai", days[2]), message("tool", &slots)]
    };
    let recorded = told(["2026-12-02", "2026-12-24", "2027-02-27"]);
    let called = told(["2026-12-07", "2026-12-29", "2027-03-04"]);
    let told = Told::new([&recorded, &called], ["Today is 2026-11-29.", "Today is 2026-12-04."]);
    let values = RunValues::default().with_dates(&told, &Days::default());
    for (recorded, called) in [
        ("2026-12-02T09:00", "2026-12-07T09:00"),
        ("2026-12-02 at nine", "2026-12-07 at nine"),
        ("2027-02-27T17:30:00Z, 2027-02-27T18:00:00Z", "2027-03-04T17:30:00Z, 2027-03-04T18:00:00Z"),
        ("2026-11-29", "2026-12-04"),
        ("2026-12-24", "2026-12-24"),
        ("2026-12-03", "2026-12-03"),
    ] {
        assert_eq!(values.put(recorded), called);
    }
    assert_eq!(values.reversed(), RunValues::default(), "a key has no days");
}

#[test]
fn days_in_other_words_and_what_only_a_prompt_tells_are_values_too() {
    let date = |day| Date::from_calendar_date(2026, Month::November, day).unwrap();
    let days = Days::new([(date(24), date(26))]);
    let told = |ids: [&str; 3], when: &str| {
        [message(
            "tool",
            &format!(r#"{{"id": "{}", "free": ["{} on {when}", "{}"], "seats": 25}}"#, ids[0], ids[1], ids[2]),
        )]
    };
    let recorded = told([RECORDED, "hb-20261125-0900", "hb-20261126-0900"], "25 November 2026");
    let called = told([CALLED, "hb-20261127-0900", "hb-20261128-0900"], "27 November 2026");
    let prompts = [&*format!("The claim is {}.", &RECORDED), &*format!("The claim is {}.", &CALLED)];
    for told in [Told::new([&recorded, &called], [""; 2]), Told::new([&[], &[]], prompts)] {
        let values = RunValues::between(&told, &Normalizer::default(), &days);
        assert_eq!(values.put(RECORDED), CALLED);
    }
    let values = RunValues::between(&Told::new([&recorded, &called], prompts), &Normalizer::default(), &days);
    for (recorded, called) in [
        (r#"{"slot": "hb-20261125-0900"}"#, r#"{"slot": "hb-20261127-0900"}"#),
        ("hb-20261126-0900, 25 seats", "hb-20261128-0900, 25 seats"),
        ("On 25 November 2026, 25", "On 27 November 2026, 25"),
    ] {
        assert_eq!(values.put(recorded), called);
        assert_eq!(values.reversed().put(called), recorded);
    }
}

#[test]
fn what_a_call_tells_of_other_days_are_its_whole_values_without_a_clock() {
    let told = |days: [&str; 2]| {
        let due =
            format!(r#"{{"due": ["{}", "{}T09:00"], "made": "{}T12:31:09Z", "no": "A1"}}"#, days[0], days[1], days[1]);
        [message("tool", &due), message("tool", "2026-12-24"), message("tool", &format!("On {}", days[0]))]
    };
    let (recorded, called) = (told(["2026-12-01", "2026-12-24"]), told(["2027-01-01", "2026-12-30"]));
    let days = Told::new([&recorded, &called], [""; 2]).new_days();
    assert_eq!(days.iter().collect::<Vec<_>>(), ["2026-12-30T09:00", "2027-01-01", "On 2027-01-01"]);
}

#[test]
fn days_that_nothing_told_move_as_far_as_those_that_were_told() {
    let date = |day| Date::from_calendar_date(2026, Month::November, day).unwrap();
    let days = Days::new([(date(24), date(26))]);
    let recorded = [message("human", "Not before 2026-12-24")];
    let told = Told::new([&recorded, &recorded], ["Today is Tuesday, 24 November.", "Today is Thursday, 26 November."]);
    let values = RunValues::default().with_dates(&told, &days);
    for (recorded, called) in [
        ("2026-11-25", "2026-11-27"),
        ("2026-12-30T10:00:00Z", "2027-01-01T10:00:00Z"),
        ("2026-12-24", "2026-12-24"),
        ("9999-12-31", "9999-12-31"),
        ("2026-02-30", "2026-02-30"),
    ] {
        assert_eq!(values.put(recorded), called);
    }
    let same = Told::new([&recorded, &recorded], ["It is Tuesday."; 2]);
    assert_eq!(RunValues::default().with_dates(&same, &days).put("2026-11-25"), "2026-11-25");
}
