use proptest::prelude::*;

use super::*;
use crate::events::{AfterLast, Capture, Detail, Payload, Status};
use crate::json::Layout;

const RUN: &str = r#": joined

event: metadata
data: {"run_id": "r-1", "thread_id": "t-1"}

event: values
data: {"messages": [{"type": "human", "content": "hi"}]}

event: values
data: {"messages": [{"type": "human", "content": "hi"}, {"type": "ai", "content": "", "tool_calls": [{"name": "f", "args": {}, "id": "c"}]}]}

event: messages
data: [{"content": "a"}]

event: messages
data: [{"content": "a", "id": "x"}]

event: values
data: {"messages": [{"type": "tool", "content": "2"}, {"type": "ai", "content": "hi from r-1."}], "title": "Hi"}

event: end
data: null

"#;

fn events(body: &str) -> Vec<Event> {
    let mut capture = Capture::new();
    let mut events = capture.push(body.as_bytes());
    events.extend(capture.finish());
    events
}

fn captured(events: Vec<Event>) -> Captured {
    let content_type = "text/event-stream; charset=utf-8".into();
    Captured {
        request: "POST /threads/<thread>/runs".into(),
        status: Status::Http(200),
        content_type,
        events,
        after: AfterLast::default(),
        tree: None,
        delivery: crate::events::Delivery::default(),
    }
}

fn replay(text: &str) -> String {
    text.replace("r-1", "<run>")
}

fn list(items: &[&str]) -> Vec<String> {
    items.iter().map(|&item| item.to_owned()).collect()
}

/// Returns the golden of a body, without its first two lines.
fn shape(body: &str, options: &ShapeOptions) -> String {
    let text = text_of(&[captured(events(body))], options, &replay);
    text.strip_prefix("POST /threads/<thread>/runs\n200 text/event-stream\n\n").unwrap().to_owned()
}

/// Returns only the sequence of the golden.
fn sequence(body: &str, options: &ShapeOptions) -> String {
    shape(body, &ShapeOptions { detail: Detail::Keys, ..options.clone() })
}

/// Returns the lines that two texts do not have in common.
fn changed(a: &str, b: &str) -> (Vec<String>, Vec<String>) {
    let only = |a: &str, b: &str| a.lines().filter(|l| !b.lines().any(|m| m == *l)).map(str::to_owned).collect();
    (only(a, b), only(b, a))
}

#[test]
fn a_golden_has_a_sequence_and_trees() {
    let options = ShapeOptions {
        show: list(&["/title", "/messages/-1/content"]),
        collapse: list(&["messages"]),
        comments: true,
        ..ShapeOptions::default()
    };
    let text = text_of(&[captured(events(RUN))], &options, &replay);
    assert_eq!(
        text,
        r#"POST /threads/<thread>/runs
200 text/event-stream

:         joined
metadata  {run_id, thread_id}
values    {messages[1]}
          /messages/-1/content = "hi"
values    {messages[2]}
          /messages/-1/content = ""
messages  …  (text not held)
values    {messages[2], title}
          /title = "Hi"
          /messages/-1/content = "hi from <run>."
end       null

messages  [{content: string, id?: string}]
metadata
  run_id     string
  thread_id  string
values
  messages   [1..2 × ai | human | tool]
    ai.content         string
    ai.tool_calls?     [{args: object, id: string, name: "f"}]
    human.content      string
    tool.content       string
  title?     string
"#
    );
}

#[test]
fn runs_of_equal_lines_are_counted() {
    let text = sequence(RUN, &ShapeOptions::default());
    assert_eq!(
        text,
        "metadata  {run_id, thread_id}\nvalues    {messages[1..2]} ×2\nmessages  [1] ×2\n\
         values    {messages[2], title}\nend       null\n"
    );
}

#[test]
fn each_kind_of_payload_has_its_own_notation() {
    let body = "data: [DONE]\n\ndata: 1.5\n\ndata: \"x\"\n\ndata: false\n\ndata: []\n\ndata: {}\n\ndata: prose\n\n\
                event: ping\n\nevent: ping\n\n:beat \n:beat \n:\n\nevent: ':'\n\nevent: :\n\ndata: {\"a b\": 1, \"\": 2, \"r-1\": 3}\n\nevent: x";
    let lines = [
        "message   \"[DONE]\"",
        "message   number",
        "message   string",
        "message   boolean",
        "message   [0]",
        "message   {}",
        "message   text",
        "ping ×2",
        ":         \"beat \" ×2",
        ":",
        "':'",
        "\":\"",
        "message   {\"\", <run>, \"a b\"}",
        "(unterminated)    text",
        "",
    ];
    assert_eq!(sequence(body, &ShapeOptions { comments: true, ..ShapeOptions::default() }), lines.join("\n"));
}

#[test]
fn comments_collapse_too() {
    let options = ShapeOptions { collapse: list(&[":"]), comments: true, ..ShapeOptions::default() };
    assert_eq!(sequence(":a\n:b\n:c\ndata: 1\n\n:d\n", &options), ":         …\nmessage   number\n:         …\n");
}

#[test]
fn comments_are_shown_only_if_the_option_is_set() {
    let options = ShapeOptions { unordered: list(&["b", "a"]), ..ShapeOptions::default() };
    let beats = "event: b\ndata: 1\n\n: heartbeat\n\n: heartbeat\n\nevent: a\ndata: 1\n\n:\n\n";
    assert_eq!(sequence(beats, &options), sequence(&beats.replace(": heartbeat\n\n", ""), &options));
    assert_eq!(sequence(beats, &options), "a         number\nb         number\n");
    assert_eq!(
        text_of(&[captured(events(": beat\n\n"))], &options, &replay),
        text_of(&[captured(vec![])], &options, &replay)
    );
    let shown = sequence(beats, &ShapeOptions { comments: true, ..ShapeOptions::default() });
    assert_eq!(shown, "b         number\n:         heartbeat ×2\na         number\n:\n");
}

#[test]
fn values_of_collapsed_events_do_not_depend_on_where_a_text_was_cut() {
    let body = |pieces: &[&str]| -> String {
        let chunk = |text: &&str| format!("event: messages\ndata: [{{\"content\": \"{text}\"}}]\n\n");
        pieces.iter().map(chunk).collect::<String>() + "event: end\ndata: {\"text\": \"hello\"}\n\n"
    };
    let collapse = list(&["messages"]);
    let options = ShapeOptions { detail: Detail::Values, collapse, ..ShapeOptions::default() };
    let text = shape(&body(&["hel", "lo"]), &options);
    assert_eq!(text, shape(&body(&["h", "e", "llo"]), &options));
    assert!(text.ends_with("\nend\n  text       \"hello\"\nmessages  [{content: string}]\n"), "{text}");
}

#[test]
fn the_level_of_keys_has_no_trees_and_the_level_of_values_has_values() {
    let keys = ShapeOptions { detail: Detail::Keys, ..ShapeOptions::default() };
    assert!(shape(RUN, &keys).ends_with("end       null\n"));
    let values = ShapeOptions { detail: Detail::Values, ..ShapeOptions::default() };
    let text = shape(RUN, &values);
    assert!(text.contains("\nmetadata\n  run_id     \"<run>\"\n  thread_id  \"t-1\"\n"), "{text}");
    assert!(text.contains("\n    ai.content         \"\" | \"hi from <run>.\"\n"), "{text}");
}

#[test]
fn a_plain_response_is_a_body_and_blank_lines_separate_captures() {
    let body = Captured {
        request: "GET /health".into(),
        status: Status::Http(204),
        content_type: String::new(),
        events: vec![Event::body(br#"{"ok": true}"#)],
        after: AfterLast::default(),
        tree: None,
        delivery: crate::events::Delivery::default(),
    };
    let empty = Captured { events: Vec::new(), ..body.clone() };
    let text = text_of(&[body, empty], &ShapeOptions::default(), &replay);
    assert_eq!(text, "GET /health\n204\n\nbody      {ok}\n\nbody\n  ok         true\n\n\nGET /health\n204\n");
    assert_eq!(text_of(&[], &ShapeOptions::default(), &replay), "\n");
}

#[test]
fn a_nested_change_is_one_changed_line() {
    let body = r#"data: {"type": "T", "a": {"b": {"c": 1, "other": 2}}, "z": ""}"#.to_owned() + "\n\n";
    let before = shape(&body, &ShapeOptions::default());
    let after = |from: &str, to: &str| changed(&before, &shape(&body.replace(from, to), &ShapeOptions::default()));
    let lines = |gone: &[&str], new: &[&str]| (list(gone), list(new));
    assert_eq!(after("\"c\"", "\"d\""), lines(&["      c          number"], &["      d          number"]));
    assert_eq!(after("\"c\": 1", "\"c\": \"1\""), lines(&["      c          number"], &["      c          string"]));
    assert_eq!(after("\"c\": 1, ", ""), lines(&["      c          number"], &[]));
    assert_eq!(after("\"z\": \"\"", "\"z\": null"), lines(&["  z          string"], &["  z          null"]));
    let renamed = after("\"z\"", "\"y\"");
    assert_eq!(
        renamed,
        lines(&["T         {a, type, z}", "  z          string"], &["T         {a, type, y}", "  y          string"])
    );
}

#[test]
fn neighbours_without_order_are_sorted() {
    let options = ShapeOptions { unordered: list(&["result", "call"]), ..ShapeOptions::default() };
    let a = "event: result\ndata: {\"a\": 1}\n\nevent: call\ndata: 1\n\n";
    let b = "event: call\ndata: 1\n\nevent: result\ndata: {\"a\": 1}\n\n";
    let text = sequence(&format!("{a}{b}event: x\n\n{b}"), &options);
    let lines = ["call      number ×2", "result    {a} ×2", "x", "call      number", "result    {a}", ""];
    assert_eq!(text, lines.join("\n"));
}

#[test]
fn event_keys_are_the_shape_that_deer_flow_uses() {
    let keys =
        event_keys(&events(": c\n\nevent: a\ndata: {\"z\": 1, \"b\": 2}\n\ndata: [DONE]\n\nevent: p\n\ndata: x"));
    let expected = [("a", Some(list(&["b", "z"]))), ("message", None), ("p", None)];
    assert_eq!(keys, expected.map(|(label, keys)| (label.to_owned(), keys)));
}

#[test]
fn many_events_take_only_a_little_time() {
    let body = r#"data: {"type": "delta", "id": "r-1", "delta": {"text": "x", "index": 0}}"#.to_owned() + "\n\n";
    let capture = captured(events(&body.repeat(20_000)));
    let start = std::time::Instant::now();
    assert!(text_of(&[capture], &ShapeOptions::default(), &replay).contains("×20000"));
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

fn any_events() -> impl Strategy<Value = Vec<Event>> {
    let data = prop::sample::select(vec![
        r#"{"type": "a", "l": [{"type": "x", "n": 1}, {"type": "y"}]}"#,
        r#"{"type": "a", "l": [{"n": 2}], "r-1": "r-1"}"#,
        r#"{"type": "b", "o": {"p": {"q": "2"}}}"#,
        r#"{"type": "b", "o": {"p": {"q": null}}}"#,
        r#"{"type": "r-1", "l": [[{"k": 1}], 2]}"#,
        "[1]",
        "null",
        "prose",
        "[DONE]",
    ]);
    prop::collection::vec(
        data.prop_map(|data| Event { name: None, id: None, payload: Payload::Data(data.into()) }),
        0..12,
    )
}

proptest! {
    #[test]
    fn the_order_of_unordered_neighbours_does_not_matter(
        (events, shuffled) in any_events().prop_flat_map(|e| (Just(e.clone()), Just(e).prop_shuffle())),
        detail in prop::sample::select(vec![Detail::Keys, Detail::Types, Detail::Values]),
    ) {
        let options = ShapeOptions {
            detail,
            show: list(&["/l/0"]),
            collapse: list(&["message"]),
            unordered: list(&["a", "b", "<run>", "message"]),
            ..ShapeOptions::default()
        };
        let text = |events| text_of(&[captured(events)], &options, &replay);
        prop_assert_eq!(text(events), text(shuffled));
    }

    #[test]
    fn trees_do_not_depend_on_order(
        (events, shuffled) in any_events().prop_flat_map(|e| (Just(e.clone()), Just(e).prop_shuffle())),
    ) {
        let trees = |events| {
            let text = text_of(&[captured(events)], &ShapeOptions::default(), &replay);
            text.splitn(3, "\n\n").nth(2).map(str::to_owned)
        };
        prop_assert_eq!(trees(events), trees(shuffled));
    }

    #[test]
    fn any_bytes_make_a_clean_text(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        keys in prop::collection::vec(any::<String>(), 0..6),
    ) {
        let object = Json::object(keys.iter().map(|key| (key.as_str(), Json::from(key.as_str()))));
        let mut events = events(&String::from_utf8_lossy(&bytes));
        events.extend(keys.iter().map(|key| Event {
            name: Some(key.as_str().into()),
            id: None,
            payload: Payload::Comment(key.as_str().into()),
        }));
        events.extend(keys.iter().map(|key| Event { name: Some(key.as_str().into()), id: None, payload: Payload::Data(object.print(Layout::Compact).into()) }));
        for detail in [Detail::Keys, Detail::Types, Detail::Values] {
            let options = ShapeOptions { detail, show: list(&["", "/a"]), comments: true, ..ShapeOptions::default() };
            let text = text_of(&[captured(events.clone())], &options, &replay);
            prop_assert!(text.ends_with('\n') && !text.ends_with("\n\n"));
            prop_assert!(text.lines().all(|line| line.trim_end() == line && !line.contains(char::is_control)));
        }
    }
}

fn text_of(captures: &[Captured], options: &ShapeOptions, normalize: &dyn Fn(&str) -> String) -> String {
    golden(captures, options, normalize).to_string()
}

#[test]
fn an_id_that_is_sent_twice_is_said() {
    let head = |body: &str| {
        let golden = golden(&[captured(events(body))], &ShapeOptions::default(), &replay).to_string();
        golden.lines().nth(1).unwrap().to_owned()
    };
    assert_eq!(head("id: 1\ndata: 1\n\nid: 2\ndata: 1\n\n"), "200 text/event-stream, with ids");
    assert_eq!(head("id: 1\ndata: 1\n\nid: 1\ndata: 1\n\n"), "200 text/event-stream, with ids, which repeat");
    assert_eq!(
        head("id: 1\ndata: 1\n\nid: 1\n: beat\n\ndata: 1\n\n"),
        "200 text/event-stream, some with ids, which repeat"
    );
    // An empty id takes back the last one.
    assert_eq!(head("id\ndata: 1\n\nid\ndata: 1\n\n"), "200 text/event-stream, with ids");
}

#[test]
fn booleans_are_held_and_both_values_of_pieces_are_not() {
    let of = |lines: &[&str], collapse: &[&str], committed: Option<&Golden>| {
        let body: Vec<String> = lines.iter().map(|line| format!("event: a\ndata: {line}\n\n")).collect();
        let options = ShapeOptions { collapse: list(collapse), ..ShapeOptions::default() };
        let known = Known { committed, ..Known::default() };
        Shaped::of(&[captured(events(&body.concat()))], &options, &known, &replay).golden
    };
    let said = |golden: &Golden| golden.to_string().lines().last().unwrap().trim().to_owned();
    let one = r#"{"text": "It rains.", "last": true, "x": {"failed": false}}"#;
    assert_eq!(said(&of(&[one], &[], None)), "failed     false");
    assert_eq!(said(&of(&[one, &one.replace("false", "true")], &[], None)), "failed     false | true");
    let pieces = [r#"{"text": "It ", "last": false}"#, r#"{"text": "rains.", "last": true}"#];
    let both = of(&pieces, &["a"], None);
    assert!(both.to_string().contains("last       boolean\n"), "{both}");
    // A run in which it came as one piece does not differ.
    let whole = [r#"{"text": "It rains.", "last": true}"#];
    assert_eq!(of(&whole, &["a"], Some(&both)), both);
    assert!(of(&whole, &["a"], None).to_string().contains("last       true\n"));
}

#[test]
fn an_event_that_is_a_text_is_held_and_an_older_golden_holds_it_not() {
    let of = |text: &str, committed: Option<&Golden>| {
        let mut capture = Capture::new();
        let body = format!("event: note\ndata: {}\n\n", text.replace('\n', "\ndata: "));
        let captures = [Captured::stream("GET /", capture.push(body.as_bytes()))];
        let known = Known { foreign: Some(Foreign::default()), has_others: true, committed, ..Known::default() };
        Shaped::of(&captures, &ShapeOptions::default(), &known, &str::to_owned).golden
    };
    let text = "Pickup is free.\nSlot is free.";
    let golden = of(text, None);
    assert!(golden.to_string().contains("note  \"Pickup is free.\\nSlot is free.\""), "{golden}");
    assert_ne!(of("Pickup is free.", Some(&golden)), golden);
    let mut older = golden.clone();
    older.blocks[0].trees.clear();
    assert_eq!(of(text, Some(&older)), older);
}
