use super::*;
use retake_core::events::{AfterLast, Capture, Captured, Ending, Known, Status};

/// The options proposed for two runs whose only event has these payloads.
fn proposed(runs: [&str; 2], options: &ShapeOptions) -> Option<String> {
    of_streams(runs.map(|data| format!("event: v\ndata: {data}\n\n")).each_ref().map(String::as_str), options)
}

/// The options proposed for two runs with these streams.
fn of_streams(runs: [&str; 2], options: &ShapeOptions) -> Option<String> {
    let captured = runs.map(|data| Captured {
        request: "GET /".to_owned(),
        status: Status::Http(200),
        content_type: "text/event-stream".to_owned(),
        events: Capture::new().push(data.as_bytes()),
        after: AfterLast {
            events: Vec::new(),
            ending: if data.contains("open") { Ending::Open } else { Ending::Ended },
        },
        tree: None,
        delivery: retake_core::events::Delivery::default(),
    });
    let golden = |options: &ShapeOptions| {
        let shaped = |run| Shaped::of(std::slice::from_ref(run), options, &Known::default(), &str::to_owned);
        captured.iter().map(shaped).collect()
    };
    Some(Loosening::between(options, &golden)?.toml)
}

#[test]
fn only_the_place_that_varies_is_left_open() {
    let options = ShapeOptions::default();
    let lists = [r#"{"l": [1], "m": [1, 2]}"#, r#"{"l": [1, 2], "m": [1, 2]}"#];
    assert_eq!(proposed(lists, &options).unwrap(), "loose = [\"v:/l\"]");
    let known = ShapeOptions { loose: vec![Loose::of("v:/x")], ..options.clone() };
    assert_eq!(proposed(lists, &known).unwrap(), "loose = [\"v:/x\", \"v:/l\"]");
    let words = [r#"{"s": {"status": "a"}, "m": [1]}"#, r#"{"s": {"status": "b"}, "m": [1, 1]}"#];
    assert_eq!(proposed(words, &options).unwrap(), "loose = [\"v:/m\", \"v:/s/status\"]");
}

#[test]
fn ids_that_are_only_renumbered_because_of_another_place_stay_pinned() {
    let (a, b, c) = ("aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc");
    let run = |one: &str| format!(r#"{{"a": "{a}", "b": "{one}", "c": "{c}", "d": "{c}"}}"#);
    assert_eq!(proposed([&run(a), &run(b)], &ShapeOptions::default()).unwrap(), "loose = [\"v:/a\"]");
}

#[test]
fn after_last_is_switched_off_only_if_nothing_else_helps() {
    assert_eq!(
        proposed([r#"{"a": "open"}"#, r#"{"a": "b"}"#], &ShapeOptions::default()).unwrap(),
        "after_last = false"
    );
    assert_eq!(proposed([r#"{"a": 1}"#, r#"{"b": 1}"#], &ShapeOptions::default()), None);
}

#[test]
fn events_whose_order_or_number_varies_are_named() {
    let events = |names: &str| {
        let event =
            |name: &str| format!("event: {name}\ndata: {{\"{}\": 1}}\n\n", name.trim_end_matches(char::is_numeric));
        names.split(' ').map(event).collect::<Vec<_>>().concat()
    };
    let between = |one: &str, other: &str, options: &ShapeOptions| of_streams([&events(one), &events(other)], options);
    let plain = ShapeOptions::default();
    assert_eq!(between("a search read z", "a read search z", &plain).unwrap(), "unordered = [\"read\", \"search\"]");
    let known = ShapeOptions { unordered: vec!["x".into()], ..plain.clone() };
    assert_eq!(between("a b", "b a", &known).unwrap(), "unordered = [\"x\", \"a\", \"b\"]");
    assert_eq!(between("a chunk chunk z", "a chunk chunk chunk z", &plain).unwrap(), "collapse = [\"chunk\"]");
    // A run of collapsed events changes places with its neighbours.
    let collapsed = ShapeOptions { collapse: vec!["m".into()], ..plain.clone() };
    assert_eq!(between("s m u m u z", "s m m u u z", &collapsed).unwrap(), "unordered = [\"m\", \"u\"]");
    assert_eq!(
        between("a b chunk z", "b a chunk chunk z", &plain).unwrap(),
        "unordered = [\"a\", \"b\"]\n    collapse = [\"chunk\"]"
    );
}
