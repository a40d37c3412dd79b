use proptest::prelude::*;

use super::*;

mod ids;

/// Returns the changes between two texts, as sentences.
#[track_caller]
fn changed(golden: &str, run: &str) -> Vec<String> {
    let read = |text: &str| Golden::parse(text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    changes(&read(golden), &read(run)).iter().map(Change::words).collect()
}

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
    assert_eq!(changed(GOLDEN, &GOLDEN.replacen(from, to, 1)), words, "{from:?} → {to:?}");
}

#[test]
fn each_kind_of_change_has_its_description() {
    assert!(changed(GOLDEN, GOLDEN).is_empty());
    said("200 text", "202 text", &["the status is 202, not 200, in the answer to `POST /runs/stream`"]);
    said(
        "text/event-stream",
        "text/plain",
        &["the content type is text/plain, not text/event-stream, in the answer to `POST /runs/stream`"],
    );
    said("event-stream\n", "event-stream, with ids\n", &["the events of the stream have ids now"]);
    let twice = "event-stream, with ids, which repeat\n";
    assert_eq!(
        changed(
            &GOLDEN.replace("event-stream\n", "event-stream, with ids\n"),
            &GOLDEN.replace("event-stream\n", twice)
        ),
        ["an id of the stream's events is sent twice"]
    );
    said("tool_result  {content}\n", "", &["the event `tool_result` did not come"]);
    said(
        "end          null",
        "end          null\nbye          null",
        &["the event `bye` came, which the golden lacks"],
    );
    said("end          null", "end          null\n(broke off)", &["the stream now breaks off"]);
    said("end          null", "done         null", &["the event `end` is now called `done`"]);
    said("{messages} ×2", "{messages} ×3", &["the event `values` came 3 times, not 2 times"]);
    said(
        "metadata     {run_id}\nvalues       {messages} ×2\n",
        "values       {messages} ×2\nmetadata     {run_id}\n",
        &["the event `metadata` came in a different place: after `values`"],
    );
    said(
        "  run_id  string\n",
        "  run_id  number\n",
        &["the event `metadata` has a different shape: `/run_id` is `number`, not `string`"],
    );
    said("    ai.id  string\n", "", &["the event `values` has a different shape: `/messages/ai.id` is gone"]);
    said(
        "    id  string\n",
        "    id  string\n    name  string\n",
        &["the body of `GET /runs` has a different shape: `/runs/name` is new"],
    );
}

#[test]
fn the_same_set_of_values_at_different_places_is_a_change() {
    let golden = "GET /a\n200\n\nvalues    {a} ×2\n\nvalues     as a whole 4f1c\n  a          \"x\" | \"y\"\n";
    let said = |from, to| changed(golden, &golden.replace(from, to)).remove(0);
    let moved = "the event `values` has the same values, but at different places, in a different order or number";
    assert_eq!(said("4f1c", "4f1d"), moved);
    let both = golden.replace("4f1c", "4f1d").replace("| \"y\"", "| \"z\"");
    let both = changed(golden, &both).remove(0);
    assert_eq!(both, "the event `values` has a different shape: `/a` is `\"x\" | \"z\"`, not `\"x\" | \"y\"`");
    let list = "GET /a\n200\n\nbody      [2]\n\nbody       [2 × string], as a whole 4f1c\n";
    let said = |to| changed(list, &list.replace("[2 × string], as a whole 4f1c", to)).remove(0);
    assert_eq!(
        said("[2 × string], as a whole 4f1d"),
        "the body of `GET /a` has the same values, but at different places, in a different order or number"
    );
    assert_eq!(
        said("[2 × number], as a whole 4f1d"),
        "the body of `GET /a` has a different shape: it is `[2 × number]`, not `[2 × string]`"
    );
}

#[test]
fn a_changed_value_is_described_with_its_place() {
    let golden = "GET /a\n200\n\nvalues  {a}\n        /a = \"x\"\nend  null\n";
    let found = changed(golden, &golden.replace("\"x\"", "\"y\""));
    assert_eq!(found[0], "the event `values` has a different `/a`: \"y\", not \"x\"");
}

#[test]
fn events_without_a_name_are_distinguished_by_their_keys() {
    let golden = "POST /chat\n200 text/event-stream\n\nmessage   {delta, parts[2]} ×3\nmessage   {args, tool}\nmessage   {done}\n";
    let said = |from: &str, to: &str| changed(golden, &golden.replace(from, to));
    assert_eq!(said("message   {args, tool}\n", ""), ["the event `message {args, tool}` did not come"]);
    assert_eq!(said("×3", "×2"), ["the event `message {delta, parts}` came 2 times, not 3 times"]);
    assert_eq!(said("{done}", "{done, usage}"), ["the event `message {done}` is `{done, usage}`"]);
}

#[test]
fn a_renamed_event_has_the_same_payload() {
    said("tool_result  {content}", "tool_done  {content}", &["the event `tool_result` is now called `tool_done`"]);
    said(
        "tool_result  {content}",
        "notice  {text}",
        &["the event `tool_result` did not come", "the event `notice` came, which the golden lacks"],
    );
}

#[test]
fn a_changed_text_of_collapsed_events_is_named_by_its_place() {
    let golden = |texts: &str| format!("GET /a\n200 text/event-stream\n\nmessages  …  {texts}\n");
    let said = |was: &str, is: &str| changed(&golden(was), &golden(is)).remove(0);
    let start = "x".repeat(60);
    assert_eq!(
        said("/a, /b by /id = \"x\" (1, 0001)", "/a = \"x\" (1, 0001)\n          /b by /id = \"y\" (1, 0002)"),
        "the event `messages` has a different text at `/b`: \"y\" (1, 0002), not \"x\" (1, 0001)"
    );
    let long = said(&format!("/a = \"{start}…\" (61, 0001)"), &format!("/a = \"{start}…\" (62, 0002)"));
    assert!(long.contains("… (62, 0002), not ") && long.ends_with("… (61, 0001)"), "{long}");
    assert_eq!(
        said("/a = \"x\" (1, 0001)", "(text not held)"),
        "the event `messages` lacks the text at `/a`: \"x\" (1, 0001)"
    );
    assert_eq!(
        said("(text not held)", "/a = \"x\" (1, 0001)"),
        "the event `messages` has a text at `/a` that the golden lacks: \"x\" (1, 0001)"
    );
}

#[track_caller]
fn of_events(before: &str, after: &str) -> Vec<String> {
    let golden = |events: &str| format!("POST /a\n200 text/event-stream\n\n{events}\n");
    changed(&golden(before), &golden(after))
}

#[test]
fn the_title_of_a_section_is_no_event() {
    let before = "start  {id}\nend  null";
    assert_eq!(
        of_events(before, &format!("{before}\n(after the last event)\nusage  {{tokens}}")),
        ["the event `usage` came, which the golden lacks"]
    );
    assert_eq!(
        of_events(
            "start  {id}\ntitle  {text}\nend  null",
            "start  {id}\nend  null\n(after the last event)\ntitle  {text}"
        ),
        ["the event `title` came in a different place: after `end`"]
    );
    assert_eq!(of_events("ping ×3\nend", "ping ×2\nend"), ["the event `ping` came 2 times, not 3 times"]);
}

#[test]
fn an_event_that_is_more_or_less_does_not_change_the_others() {
    let before = "values  {messages[1]}\n        /text = \"a\"\ntool  {name}\nvalues  {messages[2]}\n        /text = \"b\"\nend  null";
    let said = |from: &str, to: &str| of_events(before, &before.replace(from, to));
    assert_eq!(said("tool  {name}\n", "tool  {name}\nnote  null\n"), ["the event `note` came, which the golden lacks"]);
    assert_eq!(
        said("end  null", "values  {messages[3]}\n        /text = \"c\"\nend  null"),
        ["the event `values` came 3 times, not 2 times"]
    );
    assert_eq!(said("\"b\"", "\"c\""), ["the event `values` has a different `/text`: \"c\", not \"b\""]);
    // Neighbours that became equal are one line.
    let tools =
        "tool  {name, result}\n      /result = \"1\"\ntool  {name, result}\n      /result = \"2\"\nanswer  {text}";
    let equal = "tool  {name, result} ×2\n      /result = \"1\"\nanswer  {text}";
    assert_eq!(of_events(tools, equal), ["the event `tool` has a different `/result`: \"1\", not \"2\""]);
}

#[test]
fn events_in_another_order_are_told_with_their_own_names() {
    let before = "start  null\nplan  {steps}\ntool  {name, result}\ntool  {text}\nend  null";
    let swapped = before.replace("plan  {steps}\ntool  {name, result}", "tool  {name, result}\nplan  {steps}");
    assert_eq!(of_events(before, &swapped), ["the event `plan` came in a different place: after `tool`"]);
    let swapped = before.replace("tool  {name, result}\ntool  {text}", "tool  {text}\ntool  {name, result}");
    let place = "the event `tool` with `{name, result}` came in a different place: after `tool` (1 of 2)";
    assert_eq!(of_events(before, &swapped), [place]);
    // A run of equal events that another one interrupts.
    assert_eq!(
        of_events("piece  {text} ×2\nnote  null\nend  null", "piece  {text}\nnote  null\npiece  {text}\nend  null"),
        ["the event `piece` came in a different place: after `note`"]
    );
}

#[test]
fn two_values_are_never_cut_to_the_same_text() {
    let long = "x".repeat(60);
    let golden = format!("GET /a\n200\n\nbody  {{t}}\n\nbody\n  t  \"{long}-a\"\n");
    let other = changed(&golden, &golden.replace("-a", "-b")).remove(0);
    assert!(other.ends_with("xxxx-b\"`, not `…xxxxxxxxx-a\"`"), "{other}");
    let of_values =
        |was: &str, is: &str| of_events(&format!("a  {{t}}\n   /t = {was}"), &format!("a  {{t}}\n   /t = {is}"));
    assert_eq!(of_values("\"free.\"", "\"free. \""), ["the event `a` has a different `/t`: \"free.·\", not \"free.\""]);
}

#[test]
fn how_pieces_come_is_told_rather_than_that_other_words_are_there() {
    let block =
        |path: &str, said: &str| format!("POST /{path}\n200 text/event-stream\n\na  {{text}} ×2\n   /text {said}\n");
    let golden = |first: &str, second: &str| format!("{}\n\n{}", block("a", first), block("b", second));
    let was = golden("= turn 1 and turn 2, in pieces", "= turn 3, in pieces");
    let now = golden("has turn 1 and turn 2, in pieces", "= turn 3, growing");
    assert_eq!(changed(&was, &now), ["the event `a`: each piece of `/text` repeats everything before it"]);
    // So are those that nobody waited for, since they are not told by the text that was waited for.
    let early = block("a", "= turn 3, in pieces").replace("event-stream", "event-stream, before turn 3 ends");
    let growing = block("a", "= turn 3, growing");
    assert_eq!(changed(&early, &growing), ["the event `a`: each piece of `/text` repeats everything before it"]);
}

#[test]
fn payloads_that_are_no_objects_any_more_are_told_alone() {
    let block =
        |path: &str, early: &str, events: &str| format!("POST /{path}\n200 text/event-stream{early}\n\n{events}");
    let was = [
        block("a", ", before turn 1 ends", "a  {x}\ngot  {id}\na  {x}\ngot  {id}\n"),
        block("b", "", "a  {x}\ngot  {id}\n"),
    ];
    let now = [block("a", "", "a  text ×2\ngot  text ×2\n"), block("b", "", "a  text\ngot  text\n")];
    assert_eq!(changed(&was.join("\n\n"), &now.join("\n\n")), ["the events `a`, `got` are `text` now"]);
    let alone = changed(&was[0], &was[0].replace(", before turn 1 ends", ""));
    assert_eq!(alone, ["text of the answer comes only when the model has ended (turn 1)"]);
}

#[test]
fn a_tree_that_refers_to_another_one_is_compared_with_it() {
    let keys = "  a  string\n  b  string\n  c  string\n";
    let golden = |second: &str| {
        format!(
            "GET /a\n200\n\nstate  {{a, b, c}}\n\nstate\n{keys}\n\nGET /b\n200\n\nstate  {{a, b, c}}\n\nstate{second}"
        )
    };
    let said = |is: &str| changed(&golden("  as above\n"), &golden(is));
    assert_eq!(
        said("  as above, but\n  b  –\n"),
        ["the event `state` has a different shape: `/b` is gone, in `GET /b`"]
    );
    assert_eq!(
        said("\n  a  string\n  b  number\n  c  string\n"),
        ["the event `state` has a different shape: `/b` is `number`, not `string`, in `GET /b`"]
    );
    // What "as above" means is the tree that is written out, not one that itself is as above.
    let fewer = golden("  as above, but\n  b  –\n");
    let third = |state: &str| format!("{fewer}\n\nGET /c\n200\n\nstate  {{a, b, c}}\n\nstate{state}");
    let found = changed(&third("  as above\n"), &third("  as above, but\n  b  –\n"));
    assert_eq!(found, ["the event `state` has a different shape: `/b` is gone, in `GET /c`"]);
}

proptest! {
    #[test]
    fn any_two_texts_are_compared(one in "(?s)[ -~\n×…]{0,300}", other in "(?s)[ -~\n×…]{0,300}") {
        if let (Ok(one), Ok(other)) = (Golden::parse(&one), Golden::parse(&other)) {
            prop_assert_eq!(changes(&one, &other).is_empty(), one.to_string() == other.to_string());
            let _ = changes_until_break(&one, &other, &["a"]);
        }
    }

    #[test]
    fn two_sides_of_a_change_are_never_the_same_text(
        one in proptest::collection::vec((0..4usize, 0..4usize), 1..9),
        other in proptest::collection::vec((0..4usize, 0..4usize), 1..9),
    ) {
        let long = "a word that is said often ".repeat(5);
        let payloads = ["null".to_owned(), "{id}".to_owned(), format!("{{text}}\n      /text = \"{long}1\""), format!("{{text}}\n      /text = \"{long}2\"")];
        let events = |of: &[(usize, usize)]| -> String {
            let labels = ["a", "b", "message", "tool"];
            let line = |(label, payload): &(usize, usize)| [labels[*label], "  ", &payloads[*payload], "\n"].concat();
            of.iter().map(line).collect()
        };
        let found = of_events(&events(&one), &events(&other));
        prop_assert_eq!(found.is_empty(), one == other);
        for what in found {
            let sides = what.split_once(", not ").map(|(is, was)| (is.to_owned(), was.to_owned()));
            prop_assert!(sides.is_none_or(|(is, was)| !is.ends_with(&format!(": {was}")) && !is.ends_with(&format!(" {was}"))), "{what}");
        }
    }
}

#[test]
fn an_event_with_a_deeper_name_in_the_golden_is_known_by_its_own() {
    let golden =
        Golden::parse("GET /events\n200 text/event-stream\n\nstate/running   {key}\nstate/stats   {key}\n").unwrap();
    let words = |came: &[&str]| {
        let found = changes_until_break(&golden, &Golden::parse("").unwrap(), came);
        found.iter().map(Change::words).collect::<Vec<_>>()
    };
    assert_eq!(words(&["state"]), Vec::<String>::new());
    assert_eq!(words(&["state", "stat", "rejected"]).len(), 2);
    assert_eq!(words(&["rejected"]), ["the event `rejected` came, which the golden lacks"]);
    // A stream that was still open keeps its place, and of its events nothing is said.
    let stream = "POST /messages\n200 text/event-stream\n\na  null\n";
    let answer = "POST /messages\n409 application/json\n\nbody  {error}\n";
    let open = "POST /messages\n200 text/event-stream\n\n(left open)\n";
    let [golden, run] = [stream, open].map(|first| Golden::parse(&format!("{first}\n\n{answer}")).unwrap());
    assert_eq!(changes_until_break(&golden, &run, &[]).len(), 0);
}

/// What was half right on the first line before.
#[test]
fn the_sentence_says_what_happened_and_not_what_follows() {
    // Pieces come later than they did.
    said(
        "values       {messages} ×2\ntool_result  {content}\nmessages     …\n",
        "messages     …\nvalues       {messages} ×2\ntool_result  {content}\n",
        &["the event `messages` came in a different place: after `metadata`, not after `tool_result`"],
    );
    // Which of several events of one name they come behind.
    let text = |piece: &str| format!("a  …  /delta by /id = \"Hi.\" (3, 4f1c{piece})\n");
    let stream = |events: &str| format!("GET /a\n200 text/event-stream\n\n{events}");
    let golden = stream(&format!("b  null\n{}b  null\na  …\nend  null\n", text("")));
    let told = |events: &str| changed(&golden, &stream(events)).join("; ");
    assert_eq!(
        told(&format!("b  null ×2\n{}end  null\n", text(""))),
        "the event `a` no longer comes after `b` (1 of 2)"
    );
    assert_eq!(
        told(&format!("b  null\n{}b  null\nend  null\n", text(""))),
        "the event `a` no longer comes after `b` (2 of 2)"
    );
    assert_eq!(
        told(&format!("b  null\n{}b  null\na  …\nend  null\na  …\n", text(""))),
        "the event `a` also comes after `end`"
    );
    for (manner, sentence) in [
        (", each piece twice", "each piece of `/delta` comes twice"),
        (", growing", "each piece of `/delta` repeats everything before it"),
        (", then whole", "the text at `/delta` comes again as a whole after its pieces"),
    ] {
        let run = format!("b  null\n{}b  null\na  …\nend  null\n", text(manner));
        assert_eq!(told(&run), format!("the event `a`: {sentence}"));
    }
    let golden = "GET /a\n200 application/json\n  cache-control: no-cache\n\nbody  {created_at, note, tag}\n\nbody\n  \
                  created_at  yyyy-mm-dd\n  note        \"bald\" | null\n  tag         null\n";
    let told = |from: &str, to: &str| {
        assert!(golden.contains(from), "{from}");
        changed(golden, &golden.replacen(from, to, 1)).join("; ")
    };
    let shape = "the body of `GET /a` has a different shape: ";
    assert_eq!(
        told("note        \"bald\" | null", "note?       \"bald\""),
        format!("{shape}`/note` is gone where it was null")
    );
    assert_eq!(told("  tag         null\n", ""), format!("{shape}`/tag` is gone where it was null"));
    assert_eq!(
        told("created_at  yyyy-mm-dd", "createdAt   string"),
        format!("{shape}`/created_at` is now called `/createdAt`")
    );
    assert_eq!(
        told("  cache-control: no-cache\n", ""),
        "`cache-control` of the answer to `GET /a`: \"no-cache\" → gone"
    );
    assert_eq!(
        told("cache-control: no-cache", "cache-control: private"),
        "`cache-control` of the answer to `GET /a`: \"no-cache\" → \"private\""
    );
    assert_eq!(
        told("  cache-control: no-cache\n", "  content-type: application/json; charset=utf-8\n  x-b: (varies)\n"),
        "`cache-control` of the answer to `GET /a`: \"no-cache\" → gone; \
         the answer to `GET /a` has the header `content-type`, which the golden lacks: \
         \"application/json; charset=utf-8\"; \
         the answer to `GET /a` has the header `x-b`, which the golden lacks: \"(varies)\""
    );
    let golden = "GET /a\n200 text/plain\n  content-type: text/plain; charset=utf-8\n  x-b: (varies)\n";
    let told = |run: &str| changed(golden, run).join("; ");
    assert_eq!(
        told(&golden.replace("charset=utf-8", "charset=latin1")),
        "`content-type` of the answer to `GET /a`: \"charset=utf-8\" → \"charset=latin1\""
    );
    assert_eq!(told(&golden.replace("  x-b: (varies)\n", "")), "the answer to `GET /a` has no header `x-b` any more");
    // The content type says it already.
    assert_eq!(
        told("GET /a\n200 text/html\n  x-b: (varies)\n"),
        "the content type is text/html, not text/plain, in the answer to `GET /a`"
    );
}

#[test]
fn of_an_event_that_two_streams_have_it_is_told_in_which() {
    let stream = |path: &str, events: &str| format!("GET {path}\n200 text/event-stream\n\n{events}\n");
    let golden = |later: &str| stream("/a", "one  {}\ntwo  {}\n") + "\n" + &stream("/b", later);
    let said = |later: &str| changed(&golden("two  {}\n"), &golden(later));
    assert_eq!(said("two  {}\ntwo  {}\n"), ["the event `two` came 2 times, not once, in `GET /b`"]);
    assert_eq!(said("two  {}\nend  {}\n"), ["the event `end` came, which the golden lacks"]);
}

#[test]
fn which_elements_a_list_has_is_told_before_what_they_have() {
    let golden = |due: u8, ids: &str| {
        let items = format!("[2 × object]\n    [].due  {due}\n    [].id   {ids}\n");
        format!("GET /a\n200\n\nbody  {{items[2]}}\n\nbody\n  items  {items}")
    };
    assert_eq!(
        changed(&golden(1, "<one> | <two>"), &golden(2, "<three> | <two>")),
        [
            "the body of `GET /a` has a different shape: `/items/[].id` is `<three> | <two>`, not `<one> | <two>`, and 1 more: `/items/[].due`"
        ]
    );
}

#[test]
fn a_list_on_one_line_is_compared_by_its_keys() {
    let golden = |list: &str| format!("GET /a\n200\n\nbody  {{items[2]}}\n\nbody\n  items  {list}\n");
    let wide = golden("[2 × object]\n    [].id    number\n    [].note  null | string");
    assert_eq!(
        changed(&wide, &golden("[2 × {id: number, note: string}]")),
        ["the body of `GET /a` has a different shape: `/items/[].note` is `string`, not `null | string`"]
    );
    assert_eq!(
        changed(&golden("[{id: number}]"), &golden("[2 × {id: number}]")),
        ["the body of `GET /a` has a different shape: `/items` is `[2 × object]`, not `[object]`"]
    );
}

#[test]
fn an_event_more_that_has_something_new_is_told_by_that() {
    let golden = |times: usize, kinds: &str| {
        format!("POST /a\n200 text/event-stream\n\ndelta  {{text}} ×{times}\n\ndelta\n  text  {kinds}\n")
    };
    let was = golden(3, "string");
    assert_eq!(
        changed(&was, &golden(4, "null | string")),
        [
            "the event `delta` has a different shape: `/text` is `null | string`, not `string`, since it came 4 times, not 3 times"
        ]
    );
    assert_eq!(changed(&was, &golden(4, "string")), ["the event `delta` came 4 times, not 3 times"]);
    assert_eq!(changed(&was, &golden(2, "null")), ["the event `delta` came 2 times, not 3 times"]);
}

#[test]
fn the_mark_that_ends_a_stream_has_its_name() {
    let golden = |end: &str, ids: &str| format!("POST /a\n200 text/event-stream, {ids}\n\na  {{b}}\n{end}");
    let done = golden("message  \"[DONE]\"\n", "some with ids");
    let said = ["the event `message \"[DONE]\"` did not come"];
    assert_eq!(changed(&done, &golden("", "with ids")), said);
}

#[test]
fn words_of_the_model_at_a_new_place_are_quoted() {
    let golden = "PATCH /a\n200 application/json\n\nbody      {title}\n\nbody\n  title      string\n";
    let with = golden.replace("{title}\n", "{title}\n          /title = turn 3, cut\n");
    let mut run = Golden::parse(&with).unwrap();
    run.said.0.insert(Source { turn: 3, part: String::new() }, "Honig und Kerzen".to_owned());
    let found = changes(&Golden::parse(golden).unwrap(), &run);
    assert_eq!(
        found.iter().map(Change::words).collect::<Vec<_>>(),
        ["the body of `PATCH /a` has turn 3, cut, at `/title`, which was not there: Honig und Kerzen"]
    );
}
