use super::*;
use crate::audit::Setting;
use crate::conversation::{Answer, Block, ToolCall};
use crate::events::{AfterLast, Detail, Event, Golden, Payload, Status};
use crate::json::Json;
use crate::key::Normalizer;

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
    }
}

fn scored(events: Vec<Event>, options: &ShapeOptions) -> Scored {
    with_calls(events, options, &Calls::default())
}

fn with_calls(events: Vec<Event>, options: &ShapeOptions, calls: &Calls) -> Scored {
    let normalizer = Normalizer::default();
    let normalize = |text: &str| normalizer.apply(text).into_owned();
    let text = |captures: &[Captured], options: &ShapeOptions| Golden::on(captures, options, &normalize, calls).text;
    score(&[stream(events)], options, &Rendering { text: &text, normalize: &normalize, calls })
}

fn of(detail: Detail) -> ShapeOptions {
    ShapeOptions { detail, ..ShapeOptions::default() }
}

#[test]
fn each_kind_that_applies_to_a_place_is_tried() {
    let events = || {
        vec![
            event("start", r#"{"run": "9f3b4c1d-8e5a-4b1c-8d5a-0b1c2d3e4f50", "call": "call_9f3b4c1d8e5a"}"#),
            event("state", r#"{"messages": [{"type": "human"}, {"type": "ai"}], "call": "call_0123456789ab"}"#),
            event("end", "null"),
        ]
    };
    let tried: Vec<Kind> = scored(events(), &of(Detail::Values)).kinds.into_keys().collect();
    assert_eq!(tried, Kind::ALL);
    let tried: Vec<Kind> = scored(events(), &of(Detail::Types)).kinds.into_keys().collect();
    assert_eq!(tried.len(), Kind::ALL.len() - 1, "types do not pin values");
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
