use super::*;

const GOLDEN: &str = "POST /runs/stream
200 text/event-stream

metadata     {run_id}
values       {messages} ×2
tool_result  {content}
messages     …
end          null

metadata
  run_id  string
values
  messages  [ai | human]
    ai.id  string

GET /runs
200 application/json

body  {runs}

body
  runs  [object]
    id  string
";

#[track_caller]
fn said(from: &str, to: &str, words: &[&str]) {
    assert!(GOLDEN.contains(from), "{from}");
    let found: Vec<String> = changes(GOLDEN, &GOLDEN.replacen(from, to, 1)).into_iter().map(|c| c.cause.what).collect();
    assert_eq!(found, words, "{from:?} → {to:?}");
}

#[test]
fn each_change_is_said_by_its_name() {
    assert_eq!(changes(GOLDEN, GOLDEN), []);
    said("200 text", "202 text", &["the status is 202, not 200"]);
    said("text/event-stream", "text/plain", &["the content type is text/plain, not text/event-stream"]);
    said("tool_result  {content}\n", "", &["the event `tool_result` did not come"]);
    said(
        "end          null",
        "end          null\nbye          null",
        &["the event `bye` came, which the golden lacks"],
    );
    said("end          null", "end          null\n(broke off)", &["the stream now breaks off"]);
    said("end          null", "done         null", &["the event `end` is called `done`"]);
    said("{messages} ×2", "{messages} ×3", &["the event `values` came 3 times, not 2 times"]);
    said(
        "metadata     {run_id}\nvalues       {messages} ×2\n",
        "values       {messages} ×2\nmetadata     {run_id}\n",
        &["the event `metadata` came in another place: behind `values`"],
    );
    said(
        "  run_id  string\n",
        "  run_id  number\n",
        &["the event `metadata` has another shape: `/run_id` is `number`, not `string`"],
    );
    said("    ai.id  string\n", "", &["the event `values` has another shape: `/messages/ai.id` is gone"]);
    said(
        "    id  string\n",
        "    id  string\n    name  string\n",
        &["the body of `GET /runs` has another shape: `/runs/name` is new"],
    );
}

#[test]
fn values_that_are_the_same_as_a_set_are_told_to_be_at_other_places() {
    let golden = "GET /a\n200\n\nvalues    {a} ×2\n\nvalues     as a whole 4f1c\n  a          \"x\" | \"y\"\n";
    let said = |from, to| changes(golden, &golden.replace(from, to)).remove(0).cause.what;
    let moved = "the event `values` has its values at other places, in another order or number";
    assert_eq!(said("4f1c", "4f1d"), moved);
    let changed = golden.replace("4f1c", "4f1d");
    let changed = changes(golden, &changed.replace("| \"y\"", "| \"z\"")).remove(0).cause.what;
    assert_eq!(changed, "the event `values` has another shape: `/a` is `\"x\" | \"z\"`, not `\"x\" | \"y\"`");
    let list = "GET /a\n200\n\nbody      [2]\n\nbody       [2 × string], as a whole 4f1c\n";
    let said = |to| changes(list, &list.replace("[2 × string], as a whole 4f1c", to)).remove(0).cause.what;
    assert_eq!(
        said("[2 × string], as a whole 4f1d"),
        "the body of `GET /a` has its values at other places, in another order or number"
    );
    assert_eq!(
        said("[2 × number], as a whole 4f1d"),
        "the body of `GET /a` has another shape: it is `[2 × number]`, not `[2 × string]`"
    );
}

#[test]
fn a_value_that_is_shown_is_told_with_its_place() {
    let golden = "GET /a\n200\n\nvalues  {a}\n        /a = \"x\"\nend  null\n";
    let found = changes(golden, &golden.replace("\"x\"", "\"y\""));
    assert_eq!(found[0].cause.what, "the event `values` has another `/a`: \"y\", not \"x\"");
}

#[test]
fn events_without_a_name_are_told_apart_by_what_they_carry() {
    let golden = "POST /chat\n200 text/event-stream\n\nmessage   {delta, parts[2]} ×3\nmessage   {args, tool}\nmessage   {done}\n";
    let said = |from: &str, to: &str| {
        let found = changes(golden, &golden.replace(from, to));
        found.into_iter().map(|change| change.cause.what).collect::<Vec<_>>()
    };
    assert_eq!(said("message   {args, tool}\n", ""), ["the event `message {args, tool}` did not come"]);
    assert_eq!(said("×3", "×2"), ["the event `message {delta, parts}` came 2 times, not 3 times"]);
    assert_eq!(said("{done}", "{done, usage}"), ["the event `message {done}` is `{done, usage}`"]);
}

#[test]
fn an_event_with_another_name_carries_the_same() {
    said("tool_result  {content}", "tool_done  {content}", &["the event `tool_result` is called `tool_done`"]);
    said(
        "tool_result  {content}",
        "notice  {text}",
        &["the event `tool_result` did not come", "the event `notice` came, which the golden lacks"],
    );
}
