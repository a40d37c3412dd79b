use super::*;

fn shape(frames: &str) -> WireShape {
    let mut shape = WireShape::default();
    let kind = if frames.starts_with('{') { "application/json" } else { "text/event-stream" };
    shape.add(&Response::received(200, kind, frames.as_bytes().to_vec()));
    shape
}

/// What differs between two bodies, with `!` before what breaks clients.
fn changes(recorded: &str, today: &str) -> Vec<String> {
    let changes = shape(recorded).changes(&shape(today));
    changes.iter().map(|change| format!("{}{change}", if change.breaks { "! " } else { "" })).collect()
}

const STREAM: &str = "event: start\ndata: {\"type\":\"start\",\"id\":\"a\"}\n\nevent: delta\ndata: \
                      {\"type\":\"delta\",\"text\":\"Hel\"}\n\nevent: delta\ndata: \
                      {\"type\":\"delta\",\"text\":\"lo\"}\n\nevent: stop\ndata: {\"type\":\"stop\"}\n\n";

#[test]
fn other_texts_ids_and_chunking_are_no_change() {
    let today =
        STREAM.replace("event: delta\ndata: {\"type\":\"delta\",\"text\":\"lo\"}\n\n", "").replace("Hel", "Bye");
    assert_eq!(changes(STREAM, &today), [""; 0]);
    let pings = STREAM.replace("event: stop", "event: ping\ndata: {\"type\":\"ping\"}\n\nevent: stop");
    assert!(changes(&pings, STREAM).iter().all(|change| !change.starts_with('!')));
}

#[test]
fn fields_that_go_or_change_their_type_break_and_new_ones_are_noted() {
    let recorded = r#"{"id": "a", "usage": {"in": 1, "out": 2}, "tags": [], "of": null, "why": null}"#;
    let today = r#"{"id": 7, "usage": {"in": 3, "cached": 0}, "of": null, "why": "x", "more": [], "a/b": 1}"#;
    assert_eq!(
        changes(recorded, today),
        [
            "! /tags is no longer sent (recorded: array)",
            "! /usage/out is no longer sent (recorded: number)",
            "! /id: recorded string, today number",
            "/why: recorded null, today string",
            "/a~1b is new (number)",
            "/usage/cached is new (number)",
        ]
    );
}

#[test]
fn lists_are_merged_and_a_null_beside_a_known_type_is_a_note() {
    assert_eq!(changes(r#"{"of": [{"a": 1}, {"b": 1}]}"#, r#"{"of": [{"b": 2, "a": 3}]}"#), [""; 0]);
    assert_eq!(changes(r#"{"of": [1]}"#, r#"{"of": [2, null]}"#), ["/of/*: recorded number, today null or number"]);
    assert_eq!(changes(r#"{"of": [1, null]}"#, r#"{"of": [null]}"#), ["/of/*: recorded null or number, today null"]);
    assert_eq!(changes(r#"{"of": [1]}"#, r#"{"of": [null]}"#), ["! /of/*: recorded number, today null"]);
}

#[test]
fn keys_that_are_data_are_closed() {
    let (recorded, today) =
        (r#"{"input": {"code": "1"}, "name": "x"}"#, r#"{"input": {"command": "ls"}, "name": "x"}"#);
    assert_eq!(
        changes(recorded, today),
        ["/input/code: recorded string, today nothing", "/input/command: recorded nothing, today string"]
    );
    assert_eq!(changes(recorded, r#"{"input": "ls", "name": "x"}"#)[0], "! /input: recorded object, today string");
}

#[test]
fn the_framing_is_compared() {
    assert_eq!(
        changes(STREAM, &STREAM.replacen("event: delta\n", "", 1)),
        ["! [delta] `event:` line: recorded `delta`, today `delta` or missing"]
    );
    assert_eq!(
        changes(&STREAM.replace("event: delta\n", ""), STREAM),
        ["[delta] `event:` line: recorded missing, today `delta`"]
    );
    assert_eq!(changes(STREAM, &STREAM.replace('\n', "\r\n")), ["! line ends: recorded LF, today CR LF"]);
    assert_eq!(changes(STREAM, &format!(": hi\n\n{STREAM}")), ["comments: recorded not sent, today sent"]);
    let done = format!("{STREAM}data: [DONE]\n\n");
    assert_eq!(changes(&done, STREAM), ["! [DONE]: recorded sent, today not sent"]);
    assert_eq!(changes(STREAM, &done), ["[DONE]: recorded not sent, today sent"]);
    assert_eq!(changes(STREAM, r#"{"type": "stop"}"#)[0], "! [delta]/text is no longer sent (recorded: string)");
}

#[test]
fn events_that_change_places_break() {
    let (start, rest) = STREAM.split_at(STREAM.find("event: delta").unwrap());
    let swapped = [rest, start].concat();
    let changes = changes(STREAM, &swapped);
    assert_eq!(changes[0], "! order of events: recorded `start` before `delta`, today `delta` before `start`");
    // A second block of the same kind is none.
    let again = STREAM.replace("event: stop", "event: start\ndata: {\"type\":\"start\",\"id\":\"b\"}\n\nevent: stop");
    assert!(shape(STREAM).changes(&shape(&again)).iter().all(|change| !change.breaks));
}

#[test]
fn what_a_list_holds_that_is_empty_today_and_a_null_that_has_a_value_are_notes() {
    let recorded = r#"{"id": "a", "notes": [{"text": "x", "by": {"name": "y"}}], "error": null, "more": null}"#;
    let changes = changes(recorded, r#"{"id": "a", "notes": [], "error": "z", "more": {"at": 1}}"#);
    assert!(changes.iter().all(|change| !change.starts_with('!')), "{changes:?}");
    assert!(changes.iter().any(|change| change.starts_with("/notes/*/text is no longer sent")), "{changes:?}");
    assert!(changes.iter().any(|change| change.contains("/error: recorded null, today string")), "{changes:?}");
}
