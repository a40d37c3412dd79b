use super::*;
use crate::Setting;
use retake_core::conversation::{Answer, Block, ToolCall};
use retake_core::events::{AfterLast, Delivery, Detail, Event, Known, Payload, Shaped, Status};
use retake_core::json::Json;
use retake_core::key::Normalizer;

fn event(name: &str, data: &str) -> Event {
    Event { name: Some(name.into()), id: None, payload: Payload::Data(data.into()) }
}

fn stream(events: Vec<Event>) -> Captured {
    Captured {
        request: "POST /run".to_owned(),
        status: Status::Http(200),
        content_type: "text/event-stream".to_owned(),
        events,
        after: AfterLast::default(),
        tree: None,
        delivery: Delivery {
            headers: vec![("set-cookie".to_owned(), "a=b; Secure".to_owned())],
            ..Delivery::default()
        },
    }
}

fn scored(events: Vec<Event>, options: &ShapeOptions) -> Scored {
    with_calls(events, options, &Calls::default())
}

fn with_calls(events: Vec<Event>, options: &ShapeOptions, calls: &Calls) -> Scored {
    let normalizer = Normalizer::default();
    let normalize = |text: &str| normalizer.apply(text).into_owned();
    let known = Known { calls: calls.clone(), ..Known::default() };
    let made = |captures: &[Captured], options: &ShapeOptions| {
        (false, Shaped::of(captures, options, &known, &normalize).golden)
    };
    let is_own = |_: &str, text: &str| text == "busy";
    score(
        &[stream(events)],
        options,
        &Rendering { made: &made, normalize: &normalize, is_own: &is_own, is_said: &|_| false, calls },
    )
}

fn of(detail: Detail) -> ShapeOptions {
    ShapeOptions { detail, ..ShapeOptions::default() }
}

#[test]
fn each_kind_that_applies_to_a_place_is_tried() {
    let events = || {
        vec![
            event("start", r#"{"run": "9f3b4c1d-8e5a-4b1c-8d5a-0b1c2d3e4f50", "call": "call_9f3b4c1d8e5a"}"#),
            event(
                "state",
                r#"{"messages": [{"type": "human"}, {"type": "ai"}], "call": "call_0123456789ab", "state": "busy", "at": 1790000000}"#,
            ),
            event("piece", r#"{"text": "It rains"}"#),
            event("end", "null"),
        ]
    };
    let of = |detail| ShapeOptions { collapse: vec!["piece".to_owned()], ..of(detail) };
    let tried: Vec<Kind> = scored(events(), &of(Detail::Values)).kinds.into_keys().collect();
    assert_eq!(tried, Kind::ALL);
    let tried: Vec<Kind> = scored(events(), &of(Detail::Types)).kinds.into_keys().collect();
    assert_eq!(tried.len(), Kind::ALL.len() - 1, "types do not pin values");
}

#[test]
fn the_texts_of_collapsed_events_are_changed_with_and_without_ids() {
    let scored = |id: &str| {
        let piece = |text: &str| {
            event("piece", &format!(r#"{{{id}"text": "{text}", "model": "m", "key": "8e5a4b1c8d5a0b1c"}}"#))
        };
        let options = ShapeOptions { collapse: vec!["piece".to_owned()], ..of(Detail::Types) };
        let scored = scored(vec![piece("It"), piece(" rains.")], &options);
        let of_texts = scored.unnoticed.iter().filter(|one| one.kind == Kind::ChangeText);
        let unnoticed: Vec<String> = of_texts.map(|one| one.pointer.clone()).collect();
        (scored.kinds[&Kind::ChangeText], unnoticed)
    };
    // Nothing was recorded here, so the usual keys decide.
    assert_eq!(scored("\"id\": \"m\", "), (Tally { tried: 1, noticed: 1 }, vec![]));
    assert_eq!(scored(""), (Tally { tried: 1, noticed: 0 }, vec!["/text".to_owned()]));
}

#[test]
fn what_is_equal_after_normalization_is_left_out() {
    let once = scored(vec![event("a", r#"{"at": "2026-11-22T10:00:00Z"}"#)], &of(Detail::Values));
    assert_eq!(once.kinds.get(&Kind::ChangeValue), None);
    let equal = scored(vec![event("a", "{}"), event("a", "{}")], &of(Detail::Types));
    assert_eq!(equal.kinds.get(&Kind::SwapEvents), None);
}

#[test]
fn another_order_of_tool_calls_that_were_made_at_once_is_no_change() {
    let calls = ["call_1", "call_2"].map(|id| ToolCall { id: id.to_owned(), name: "t".to_owned(), args: Json::Null });
    let calls = Calls::of([&Answer { blocks: calls.map(Block::ToolCall).into(), ..Answer::default() }]);
    let events = || vec![event("a", r#"{"of": "call_1"}"#), event("b", r#"{"of": "call_2"}"#)];
    let swapped = |options: &ShapeOptions| with_calls(events(), options, &calls).kinds.get(&Kind::SwapEvents).copied();
    assert_eq!(swapped(&of(Detail::Types)), None);
    let ordered = ShapeOptions { ordered: true, ..of(Detail::Types) };
    assert_eq!(swapped(&ordered), Some(Tally { tried: 1, noticed: 1 }));
}

#[test]
fn a_setting_that_would_notice_is_tried_and_named() {
    let events = || vec![event("a", r#"{"x": 1}"#), event("b", r#"{"y": {"z": 1}}"#), event("a", r#"{"x": 2}"#)];
    let dropped = |scored: &Scored| scored.unnoticed.iter().find(|one| one.kind == Kind::RenameKey).cloned();
    let keys = dropped(&scored(events(), &of(Detail::Keys))).unwrap();
    assert_eq!((keys.event.as_str(), keys.pointer.as_str()), ("b", "/y/z"));
    assert_eq!(keys.setting, Some(Setting::With("detail = \"types\"".to_owned())));
    assert_eq!(dropped(&scored(events(), &of(Detail::Types))), None);
    let unordered = ShapeOptions { unordered: vec!["a".to_owned(), "b".to_owned()], ..of(Detail::Types) };
    let swapped = scored(events(), &unordered);
    let swapped = swapped.unnoticed.iter().find(|one| one.kind == Kind::SwapEvents).unwrap();
    assert!(matches!(&swapped.setting, Some(Setting::Without("unordered", _))), "{swapped:?}");
}

#[test]
fn each_kind_has_the_same_weight_however_many_changes_were_tried() {
    let tally = |tried, noticed| Tally { tried, noticed };
    let kinds = ByKind::from([(Kind::Status, tally(1, 0)), (Kind::DropKey, tally(100, 100))]);
    assert_eq!(mean(&kinds), Some(0.5));
    assert_eq!(mean(&ByKind::new()), None);
}

#[test]
fn a_header_of_a_request_that_is_made_again_is_noticed_where_it_is() {
    let normalizer = Normalizer::default();
    let normalize = |text: &str| normalizer.apply(text).into_owned();
    let mut again = stream(vec![event("end", "null")]);
    again.delivery.headers.push(("idempotent-replayed".to_owned(), "true".to_owned()));
    let captures = [stream(vec![event("end", "null")]), again];
    let options = of(Detail::Types);
    let committed = Shaped::of(&captures, &options, &Known::default(), &normalize).golden;
    let known = Known { committed: Some(&committed), ..Known::default() };
    let made = |captures: &[Captured], options: &ShapeOptions| {
        (false, Shaped::of(captures, options, &known, &normalize).golden)
    };
    let calls = Calls::default();
    let (is_own, is_said) = (|_: &str, _: &str| false, |_: &str| false);
    let rendering = Rendering { made: &made, normalize: &normalize, is_own: &is_own, is_said: &is_said, calls: &calls };
    let scored = score(&captures, &options, &rendering);
    assert_eq!(scored.kinds[&Kind::DropHeaderPart], Tally { tried: 3, noticed: 3 }, "{:?}", scored.unnoticed);
}
