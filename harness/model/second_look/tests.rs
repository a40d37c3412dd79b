use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use time::{Date, Month};

use super::Clock;
use crate::tests::turn;
use crate::{Conversation, Lookup, MissReason, Replay, Scope};
use retake_core::conversation::Message;
use retake_core::json::Json;
use retake_core::key::{CheckTexts, Rules, dates};
use retake_core::places::RunValues;
use retake_wire::fixture::{Fixture, Minute, Recorded};
use retake_wire::{Api, Shared};

fn day(day: u8) -> Date {
    Date::from_calendar_date(2026, Month::November, day).unwrap()
}

/// A replay on a day of November 2026 of what was recorded on the 24th.
fn on(today: u8, turns: Vec<Recorded>) -> Replay {
    let rules = Arc::new(Rules::default());
    let mut fixture = Fixture::of_turns(Path::new("fixtures/a.json"), BTreeMap::default(), turns, &rules);
    fixture.recorded = Some("2026-11-24T12:00+00:00".parse().unwrap());
    let clock = Clock { day: Some(day(today)), ..Clock::default() };
    Replay::new(Arc::new(fixture), rules, Scope::new("a")).by(clock)
}

fn lookup(prompt: &str, messages: &[Shared], caller: Option<&str>) -> Lookup {
    let rules = Arc::new(Rules::default());
    Lookup {
        via: "POST /v1/chat/completions".into(),
        api: Some(Api::OpenAiChat),
        caller: caller.map(str::to_owned),
        conversation: Conversation::of(messages.to_vec(), None, &rules),
        checks: Some(Arc::new(CheckTexts::new(&rules.normalizer, prompt, &Json::Null, "m", &Json::Null).into())),
        first_caller: None,
        flaws: Vec::new(),
        values: RunValues::default(),
    }
}

fn says(replay: &Replay, prompt: &str, message: &str, caller: Option<&str>) -> Result<String, MissReason> {
    let message = Shared::from(Message::new("human", message));
    let served = replay.take(None, &lookup(prompt, &[message], caller), None).map_err(|miss| miss.reason.clone())?;
    assert_eq!(served.drift, [], "{prompt}");
    Ok(served.turn().output.text())
}

#[test]
fn a_call_that_says_today_gets_the_turn_that_said_the_day_of_the_recording() {
    let recorded = |caller| vec![turn(caller, "It is Tue Nov 24.", "Today is Tuesday, 24 November.", "hi")];
    for caller in [None, Some("planner")] {
        let replay = on(26, recorded(caller));
        assert_eq!(says(&replay, "It is Thu Nov 26.", "Today is Thursday, 26 November.", caller), Ok("hi".into()));
        // What is said of another day than today is another call.
        let wrong = says(&on(26, recorded(caller)), "", "Today is Friday, 27 November.", caller);
        assert_eq!(wrong, Err(MissReason::NotRecorded));
        let other_day = says(&on(27, recorded(caller)), "", "Today is Thursday, 26 November.", caller);
        assert_eq!(other_day, Err(MissReason::NotRecorded));
    }
    // The first look comes first.
    let both = vec![
        turn(None, "", "Today is Tuesday, 24 November.", "then"),
        turn(None, "", "Today is Thursday, 26 November.", "now"),
    ];
    let replay = on(26, both);
    assert_eq!(says(&replay, "", "Today is Thursday, 26 November.", None), Ok("now".into()));
    // A prompt that differs in more than its day is noted.
    let replay = on(26, recorded(None));
    let message = Shared::from(Message::new("human", "Today is Thursday, 26 November."));
    let served = replay.take(None, &lookup("It was Thu Nov 26.", &[message], None), None).unwrap();
    assert_eq!(served.drift.len(), 1);
}

#[test]
fn dates_that_moved_with_the_day_are_no_drift() {
    let rules = Rules::default();
    let dated = |question: &str, dates: Json| -> Lookup {
        let texts = CheckTexts::new(&rules.normalizer, "", &Json::Null, "m", &Json::Null);
        let checks = Some(Arc::new(texts.with_dates(&rules.normalizer, dates).into()));
        Lookup { checks, ..lookup("", &[Message::new("human", question).into()], None) }
    };
    let recorded = |question: &str, told: &str| {
        let texts = dated(question, dates(told)).checks.unwrap().texts.clone();
        Recorded { texts: Some(texts.0), ..turn(None, "", question, "hi") }
    };
    let turns = || vec![recorded("a", "2026-11-24, 2027-02-27"), recorded("b", "2026-11-25, 2027-02-28")];
    let drift = |question: &str, told: &str| {
        let served = on(25, turns()).take(None, &dated(question, dates(told)), None).unwrap();
        served.drift.len()
    };
    assert_eq!(drift("a", "2026-11-25, 2027-02-28"), 0, "though that is what `b` said in the recording");
    assert_eq!(drift("b", "2026-11-26, 2027-03-01"), 0);
    assert_eq!(drift("a", "2026-11-25, 2027-03-01"), 1);
    assert_eq!(drift("b", "2026-11-27, 2027-03-01"), 1);
}

#[test]
fn two_conversations_that_say_the_same_today_are_a_miss() {
    let both = vec![turn(None, "", "Tue 24 Nov, Tue 24 Nov", "a"), turn(None, "", "Tue 24 Nov, Thu 26 Nov", "b")];
    assert_eq!(says(&on(26, both), "", "Thu 26 Nov, Thu 26 Nov", None), Err(MissReason::NotRecorded));
}

#[test]
fn a_fixture_without_a_day_is_looked_at_once() {
    let rules = Arc::new(Rules::default());
    let turns = vec![turn(None, "", "Tuesday", "hi")];
    let fixture = Fixture::of_turns(Path::new("a.json"), BTreeMap::default(), turns, &rules);
    let replay =
        Replay::new(Arc::new(fixture), rules, Scope::new("a")).by(Clock { day: Some(day(26)), ..Clock::default() });
    assert_eq!(says(&replay, "", "Thursday", None), Err(MissReason::NotRecorded));
}

#[test]
fn a_history_is_compared_once() {
    const CALLS: usize = 40;
    let long = "nothing of a day ".repeat(20);
    let history = |day: &str, calls: usize| -> Vec<Message> {
        let said = |index: usize| {
            let kind = if index.is_multiple_of(2) { "human" } else { "ai" };
            Message::new(kind, format!("{long} {index} on {day}"))
        };
        (0..=2 * calls).map(said).collect()
    };
    let recorded = (0..CALLS).map(|calls| Recorded {
        conversation: Rules::default().canonical(history("Tuesday", calls)),
        ..turn(None, "", "", &format!("answer {calls}"))
    });
    let replay = on(26, recorded.collect());
    let all: Vec<Shared> = history("Thursday", CALLS).into_iter().map(Shared::from).collect();
    let start = std::time::Instant::now();
    for calls in 0..CALLS {
        let served = replay.take(None, &lookup("", &all[..=(2 * calls)], None), None).unwrap();
        assert_eq!(served.turn().output.text(), format!("answer {calls}"));
    }
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn a_weekday_that_is_not_that_of_today_is_another_day() {
    let written: Minute = "2026-12-01T12:00+00:00".parse().unwrap();
    let tells = |at: &str, recorded: &str, called: &str| {
        let clock = Clock { recorded: Some(at.parse().unwrap()), ..Clock::default() };
        clock.tells_another_day(written, recorded, called)
    };
    let open = "The shop is open Monday to Saturday.";
    let text = |day: &str| format!("Today is {day}. {open}");
    let tells_all = |day: &str| tells("2026-12-01T12:00+00:00", "On Tuesday, 1 December 2026. Tue, 01 Dec 2026", day);
    assert!(
        tells_all("On Monday, 1 December 2026. Mon, 01 Dec 2026")
            && tells_all("On Tuesday, 1 December 2026. Mon, 01 Dec 2026")
    );
    // A prompt that was edited, and a weekday without a date.
    assert!(!tells_all("At Monday, 1 December 2026. Tue, 01 Dec 2026"));
    assert!(!tells(
        "2026-12-01T12:00+00:00",
        "2026-12-01. Closed on Tuesdays, sadly.",
        "2026-12-01. Closed on Mondays, sadly."
    ));
    for (at, today, wrong) in [
        ("2026-12-01T12:00+00:00", "Tuesday, 2026-12-01", "Wednesday, 2026-12-01"),
        ("2026-12-04T12:00+00:00", "Friday, 2026-12-04", "Saturday, 2026-12-04"),
    ] {
        assert!(!tells(at, &text("Tuesday, 2026-12-01"), &text(today)), "{today}");
        assert!(tells(at, &text("Tuesday, 2026-12-01"), &text(wrong)), "{wrong}");
    }
}

#[test]
fn a_run_that_goes_past_midnight_has_two_days() {
    let now = time::OffsetDateTime::now_utc();
    let clock = Clock { began: Some(now - time::Duration::days(1)), ..Clock::default() };
    let written: Minute = "2026-11-24T12:00+00:00".parse().unwrap();
    let tells = |day: time::Date| clock.tells_another_day(written, "Today is 2026-11-24.", &format!("Today is {day}."));
    let back = |days| (now - time::Duration::days(days)).date();
    assert_eq!([0, 1, 2].map(|days| tells(back(days))), [false, false, true]);
    let began = now - time::Duration::hours(2);
    let zones = Clock { began: Some(began), ..Clock::default() }.zones();
    assert!([2, -2].iter().all(|hours| zones.iter().any(|zone| zone.whole_hours() == *hours)), "{zones:?}");
}

#[test]
fn a_day_by_one_of_two_clocks_is_today() {
    let there = Clock { recorded: Some("2026-11-26T20:00+00:00".parse().unwrap()), ..Clock::default() };
    let there = there.with_zones_of("Asia/Tokyo");
    let written: Minute = "2026-11-24T12:00+00:00".parse().unwrap();
    let tells = |day| there.tells_another_day(written, "Today is 2026-11-24.", &format!("Today is 2026-11-{day}."));
    assert_eq!([25, 26, 27, 28].map(tells), [true, false, false, true]);
}

#[test]
fn a_weekday_of_today_by_another_clock_is_today() {
    let there = Clock { recorded: Some("2026-12-01T20:00+00:00".parse().unwrap()), ..Clock::default() };
    let there = there.with_zones_of("Asia/Tokyo");
    let written: Minute = "2026-12-01T12:00+00:00".parse().unwrap();
    let tells =
        |day| there.tells_another_day(written, "It is Tuesday, 2026-12-01.", &format!("It is {day}, 2026-12-01."));
    assert_eq!(["Monday", "Wednesday", "Thursday"].map(tells), [true, false, true]);
}

#[test]
fn zones_that_a_scenario_names_and_that_of_the_recorder_are_clocks() {
    let written: Minute = "2026-11-29T19:12+00:00".parse().unwrap();
    let clock = |text: &str, at: &str| {
        Clock { recorded: Some(at.parse().unwrap()), ..Clock::default() }.with_zones_of(text).by_each(written)
    };
    let days = |text: &str, at: &str| -> Vec<(String, String)> {
        let mut days: Vec<_> = clock(text, at).iter().map(|(then, now)| (then.to_string(), now.to_string())).collect();
        days.dedup();
        days
    };
    let pair = |then: &str, now: &str| (then.to_owned(), now.to_owned());
    // In Tokyo it was the next day.
    let text = "json = { zone = \"Asia/Tokyo\", path = \"a/b\" }";
    if tz::TimeZone::from_posix_tz("Asia/Tokyo").is_ok() {
        assert!(days(text, "2026-12-02T08:00+00:00").contains(&pair("2026-11-30", "2026-12-02")));
        assert!(!days("", "2026-12-02T08:00+00:00").contains(&pair("2026-11-30", "2026-12-02")));
    }
    let there = Clock { recorded: Some("2026-12-02T14:00+00:00".parse().unwrap()), ..Clock::default() };
    let there = there.by_each("2026-11-29T19:12+11:00".parse().unwrap());
    assert!(there.iter().any(|(then, now)| (then.day(), now.day()) == (29, 3)));
}
