//! Which changes a golden notices other than those of names, keys and types, and which it must not notice.

use crate::events::{
    AfterLast, Capture, Captured, Detail, Ending, Event, Golden, Known, Loose, ShapeOptions, Shaped, changes,
};

const RUN: &str = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const OTHER: &str = "0b5e0a6e-6b1c-4f0f-9d7a-1f0c2d3e4f5a";

/// Returns events from lines of `name payload`.
fn events(lines: &str) -> Vec<Event> {
    let event = |line: &str| {
        let (name, data) = line.trim().split_once(' ').unwrap();
        format!("event: {name}\ndata: {data}\n\n")
    };
    let body = lines.lines().map(event).collect::<Vec<_>>().concat();
    Capture::new().push(body.as_bytes())
}

fn captured(events: Vec<Event>) -> Captured {
    Captured::stream("POST /runs", events)
}

fn normalize(text: &str) -> String {
    let text = text.replace("11111111-1111-4111-8111-111111111111", "<thread>");
    crate::key::Normalizer::default().apply(&text).into_owned()
}

fn options() -> ShapeOptions {
    let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    ShapeOptions {
        collapse: of(&["chunk"]),
        unordered: of(&["result"]),
        ignore: of(&["ping", "plugin.*"]),
        ..ShapeOptions::default()
    }
}

fn shaped(captures: &[Captured], options: &ShapeOptions) -> Shaped {
    Shaped::of(captures, options, &Known::default(), &normalize)
}

fn golden_of(lines: &str, options: &ShapeOptions) -> Shaped {
    shaped(&[captured(events(lines))], options)
}

/// Returns the golden without its first two lines.
fn golden(lines: &str) -> String {
    golden_of(lines, &options()).golden.to_string().split_once("\n\n").unwrap().1.to_owned()
}

#[track_caller]
fn noticed(one: &str, other: &str) {
    assert_ne!(golden(one), golden(other));
}

#[track_caller]
fn unnoticed(one: &str, other: &str) {
    assert_eq!(golden(one), golden(other));
}

fn loose(place: &str) -> ShapeOptions {
    ShapeOptions { loose: vec![Loose::of(place)], ..options() }
}

#[test]
fn neighbours_that_differ_only_in_lengths_are_one_line_with_a_range() {
    let event = |count: usize| format!("values {{\"messages\": [{}]}}\n", vec!["{}"; count].join(", "));
    let lines = |counts: &[usize]| golden(&counts.iter().map(|count| event(*count)).collect::<String>());
    let all: Vec<usize> = (1..=40).collect();
    assert_eq!(lines(&all), "values    {messages[1..40]} ×40\n\nvalues\n  messages   [1..40 × object]\n");
    assert!(lines(&[3, 3]).starts_with("values    {messages[3]} ×2\n"));
    assert!(lines(&[1, 3, 2]).starts_with("values    {messages[1, 3, 2]} ×3\n"));
    assert!(lines(&[9, 1, 8, 2, 7, 3]).starts_with("values    {messages[1…9]} ×6\n"));
}

#[test]
fn a_shorter_or_longer_list_is_noticed_at_each_depth_and_in_bodies() {
    noticed("values {\"messages\": [1, 2]}", "values {\"messages\": [1]}");
    noticed("values {\"a\": {\"b\": [{\"c\": [1, 2]}]}}", "values {\"a\": {\"b\": [{\"c\": [1]}]}}");
    noticed("body [{}, {}, {}]", "body [{}]");
    let without = ShapeOptions { without_lengths: true, ..options() };
    let text = |lines| golden_of(lines, &without).golden.to_string();
    assert_eq!(text("body [{\"l\": [\"a\", \"b\"]}]"), text("body [{\"l\": [\"a\"]}, {\"l\": [\"b\", \"c\"]}]"));
}

#[test]
fn it_is_not_noticed_where_a_text_was_cut() {
    unnoticed(
        r#"chunk {"id": "m1", "content": "hello", "tokens": [1, 2], "piece": "aaaaaaaaaaaa"}"#,
        r#"chunk {"id": "m1", "content": "he", "tokens": [1], "piece": "bbbbbbbbbbbb"}
           chunk {"id": "m1", "content": "llo", "tokens": [2, 3, 4], "piece": "cccccccccccc"}"#,
    );
    // Even if another event comes between two pieces.
    unnoticed(
        "chunk {\"id\": \"m1\", \"delta\": \"he\"}\nprogress 1\nchunk {\"id\": \"m1\", \"delta\": \"llo\"}",
        "chunk {\"id\": \"m1\", \"delta\": \"hell\"}\nprogress 1\nchunk {\"id\": \"m1\", \"delta\": \"o\"}",
    );
    noticed(r#"chunk {"id": "m1", "content": "hello"}"#, r#"chunk {"id": "m1", "content": "hell"}"#);
}

#[test]
fn parallel_messages_in_pieces_have_no_order() {
    let (a, b) = (r#"chunk {"id": "a1", "delta": "x"}"#, r#"chunk {"id": "b1", "delta": "y"}"#);
    unnoticed(&format!("{a}\n{b}\n{a}\n{b}"), &format!("{b}\n{b}\n{a}\n{a}"));
}

#[test]
fn a_repeated_id_that_is_replaced_by_a_different_one_is_noticed() {
    let run = |start: &str, end: &str| format!("start {{\"run_id\": \"{start}\"}}\nend {{\"run_id\": \"{end}\"}}");
    noticed(&run(RUN, RUN), &run(RUN, OTHER));
    unnoticed(&run(RUN, RUN), &run(OTHER, OTHER));
    unnoticed(&run(RUN, OTHER), &run(OTHER, RUN));
    assert!(golden(&run(RUN, RUN)).ends_with("end\n  run_id     id 1\nstart\n  run_id     id 1\n"));
    // A captured value is shown by its name.
    let named = "start {\"thread_id\": \"11111111-1111-4111-8111-111111111111\"}";
    assert!(golden(named).ends_with("  thread_id  <thread>\n"));
    // Also in another response.
    let two = |ids: [&str; 2]| {
        let captures = ids.map(|id| captured(events(&format!("start {{\"run_id\": \"{id}\"}}"))));
        shaped(&captures, &options()).golden.to_string()
    };
    assert_ne!(two([RUN, RUN]), two([RUN, OTHER]));
}

#[test]
fn ids_in_sorted_neighbours_and_in_pieces_have_no_order() {
    let result = |id: &str| format!("result {{\"id\": \"{id}\"}}\n");
    let ends = format!("one {{\"id\": \"{RUN}\"}}\ntwo {{\"id\": \"{OTHER}\"}}");
    unnoticed(&(result(RUN) + &result(OTHER) + &ends), &(result(OTHER) + &result(RUN) + &ends));
    // Ids that already had a number keep it.
    let known = format!("call {{\"id\": \"{RUN}\"}}\n");
    assert!(golden(&(known + &result(RUN))).contains("result\n  id         id 1\n"));
    let piece = |id: &str| format!("chunk {{\"piece_id\": \"{id}\", \"parent\": \"{RUN}\"}}\n");
    unnoticed(&piece(RUN), &(piece(OTHER) + &piece("aaaaaaaaaaaa")).replace(OTHER, RUN));
}

#[test]
fn at_values_repeated_uuids_have_numbers() {
    let options = ShapeOptions { detail: Detail::Values, ..options() };
    let lines =
        format!("start {{\"run\": \"{RUN}\", \"at\": \"{OTHER}\"}}\nend {{\"of\": \"run {RUN}\", \"run\": \"{RUN}\"}}");
    let text = golden_of(&lines, &options).golden.to_string();
    assert!(text.ends_with(
        "end\n  of         \"run <UUID:1>\"\n  run        \"<UUID:1>\"\nstart\n  at         \"<UUID>\"\n  run        \"<UUID:1>\"\n"
    ), "{text}");
}

#[test]
fn only_words_under_certain_keys_are_noticed() {
    noticed(r#"end {"status": "success"}"#, r#"end {"status": "error"}"#);
    noticed(r#"end {"result": {"finishReason": "stop"}}"#, r#"end {"result": {"finishReason": "length"}}"#);
    noticed(r#"call {"name": "read", "tool_call_id": "c1"}"#, r#"call {"name": "write", "tool_call_id": "c1"}"#);
    noticed(
        r#"call {"function": {"name": "f", "arguments": "{}"}}"#,
        r#"call {"function": {"name": "g", "arguments": "{}"}}"#,
    );
    unnoticed(r#"user {"name": "Ada"}"#, r#"user {"name": "Bob"}"#);
    unnoticed(r#"end {"phase": "a"}"#, r#"end {"phase": "b"}"#);
    // Not prose, and not texts that vary between runs.
    unnoticed(r#"end {"status": "3 of 7 done"}"#, r#"end {"status": "4 of 7 done"}"#);
    unnoticed(&format!(r#"end {{"status": "{RUN}"}}"#), &format!(r#"end {{"status": "{OTHER}"}}"#));
    let more = ShapeOptions { words: vec!["phase".into()], ..options() };
    assert!(golden_of(r#"end {"phase": "a"}"#, &more).golden.to_string().ends_with("  phase      \"a\"\n"));
}

#[test]
fn events_after_the_last_one_are_printed_below_a_separate_line() {
    let text = |after: &str, ending: Ending, options: &ShapeOptions| {
        let after = AfterLast { events: events(after), ending };
        shaped(&[Captured { after, ..captured(events("end null")) }], options).golden.to_string()
    };
    let head = "POST /runs\n200 text/event-stream\n\nend       null\n";
    assert_eq!(text("", Ending::Ended, &options()), head);
    assert_eq!(text("ping 1\nplugin.x 2", Ending::Ended, &options()), head, "ignored events may come then too");
    assert_eq!(
        text("end null\nend null", Ending::Ended, &options()),
        format!("{head}(after the last event)\nend       null ×2\n")
    );
    assert_eq!(text("", Ending::BrokeOff, &options()), format!("{head}(broke off)\n"));
    assert_eq!(text("", Ending::Open, &options()), format!("{head}(left open)\n"));
    let without = ShapeOptions { until_last: true, ..options() };
    assert_eq!(text("end null", Ending::BrokeOff, &without), head);
}

#[test]
fn the_status_line_says_whether_events_have_ids() {
    let text = |body: &str| {
        let golden = shaped(&[captured(Capture::new().push(body.as_bytes()))], &options());
        golden.golden.to_string().lines().nth(1).unwrap().to_owned()
    };
    assert_eq!(text("id: 1\ndata: 1\n\nid: 2\ndata: 1\n\n: beat\n\n"), "200 text/event-stream, with ids");
    assert_eq!(text("id: 1\ndata: 1\n\ndata: 1\n\n"), "200 text/event-stream, some with ids");
    assert_eq!(text("data: 1\n\n"), "200 text/event-stream");
    assert_eq!(text("id: 2\ndata: 1\n\nid: 1\ndata: 1\n\n"), "200 text/event-stream, with ids, which do not rise");
    assert_eq!(text("id: b\ndata: 1\n\nid: a1\ndata: 1\n\n"), "200 text/event-stream, with ids");
}

#[test]
fn where_ids_begin_to_count_is_held_where_a_golden_says_so() {
    let stream = |ids: &[&str]| ids.iter().map(|id| format!("id: {id}\ndata: 1\n\n")).collect::<Vec<_>>().concat();
    let of = |ids: &[&str], committed: Option<&Golden>| {
        let known = Known { committed, ..Known::default() };
        let capture = captured(Capture::new().push(stream(ids).as_bytes()));
        Shaped::of(&[capture], &options(), &known, &|text: &str| text.to_owned()).golden
    };
    let head = |golden: &Golden| golden.to_string().lines().nth(1).unwrap().to_owned();
    for (ids, said) in [
        (&["1", "2", "3"][..], ", from 1"),
        (&["0", "1", "2"], ", from 0"),
        (&["5", "6", "7"], ""),
        (&["1", "2"], ""),
        (&["1", "2", "4"], ""),
    ] {
        assert_eq!(head(&of(ids, None)), format!("200 text/event-stream, with ids{said}"));
    }
    let counted = of(&["1", "2", "3"], None);
    let found = |ids: &[&str]| {
        changes(&counted, &of(ids, Some(&counted)))
            .iter()
            .map(crate::events::Change::words)
            .collect::<Vec<_>>()
            .join("; ")
    };
    assert_eq!(found(&["1", "2", "3"]), "");
    assert!(found(&["0", "1", "2"]).contains("the ids of the stream's events begin at 0, not at 1"));
    assert!(found(&["27", "28", "29"]).contains("the ids of the stream's events begin at 27, not at 1"));
    assert_eq!(head(&of(&["27", "28", "29"], Some(&counted))), "200 text/event-stream, with ids");
    assert!(found(&["27", "29", "30"]).contains("the ids of the stream's events do not count one by one any more"));
    assert!(found(&["1", "3", "5"]).contains("the ids of the stream's events do not count one by one any more"));
    // What a golden does not say is not held.
    let open = of(&["1", "2", "4"], None);
    assert_eq!(head(&of(&["0", "1", "2"], Some(&open))), "200 text/event-stream, with ids");
    // What differs in two runs is not said, either.
    let (mut one, mut other) = (counted.clone(), of(&["0", "1", "2"], None));
    Golden::agree_on_what_varies(&mut [&mut one, &mut other], Detail::Types);
    assert_eq!([head(&one), head(&other)], [head(&open), head(&open)]);
}

#[test]
fn where_numbers_begin_to_count_is_noticed_and_how_far_is_not() {
    let steps = |numbers: &[i64]| {
        let step = |number: &i64| format!("step {{\"n\": {number}, \"a\": {{\"b\": [1]}}}}\n");
        numbers.iter().map(step).collect::<Vec<_>>().concat()
    };
    assert!(golden(&steps(&[0, 1, 2])).contains("  n          from 0\n"));
    noticed(&steps(&[0, 1, 2]), &steps(&[1, 2, 3]));
    noticed(&steps(&[0, 1, 2]), &steps(&[0, 0, 0]));
    let list = |ranks: &str| format!("body {{\"items\": [{ranks}]}}");
    noticed(&list("{\"n\": 1}, {\"n\": 2}, {\"n\": 3}"), &list("{\"n\": 0}, {\"n\": 1}, {\"n\": 2}"));
    unnoticed(&list("1, 2"), &list("5, 7"));
    let loose = golden_of(&steps(&[0, 1, 2]), &loose("step:/n")).golden.to_string();
    assert!(loose.contains("  n          number\n"), "{loose}");
}

#[test]
fn an_object_that_has_a_key_twice_is_noticed() {
    noticed("a {\"b\": 1}", "a {\"b\": 1, \"b\": 1}");
    noticed("a {\"b\": {\"c\": 1}}", "a {\"b\": {\"c\": 1, \"c\": 1}}");
    assert_eq!(golden("a {\"b\": 1, \"b\": 1}"), "a         JSON with a key twice\n");
}

#[test]
fn a_loose_place_shows_only_types_and_all_other_places_are_unchanged() {
    let one = r#"values {"messages": [{"type": "ai", "status": "done"}], "more": [1]}"#;
    let two = r#"values {"messages": [{"type": "ai", "status": "open"}], "more": [1]}"#;
    let golden = |lines, place: &str| golden_of(lines, &loose(place)).golden.to_string();
    assert_eq!(golden(one, "values:/messages/*/status"), golden(two, "values:/messages/*/status"));
    assert_ne!(golden(one, "values:/messages"), golden(two, "values:/messages"));
    let longer = one.replace("[{", "[{\"type\": \"ai\", \"status\": \"done\"}, {");
    assert_eq!(golden(one, "values:/messages"), golden(&longer, "values:/messages"));
    assert_ne!(golden(one, "values:/more"), golden(&longer, "values:/more"));
    let text = |delta: &str| format!("chunk {{\"id\": \"m1\", \"delta\": \"{delta}\"}}");
    assert_eq!(golden(&text("a"), "chunk"), golden(&text("b"), "chunk"));
}

#[test]
fn the_places_that_differ_between_two_runs_are_named_as_options_name_them() {
    let differing = |one: &str, two: &str| -> Vec<String> {
        let (one, two) = (golden_of(one, &options()), golden_of(two, &options()));
        one.differing_pins(&two).iter().map(ToString::to_string).collect()
    };
    assert_eq!(differing(r#"v {"l": [1], "m": [1]}"#, r#"v {"l": [1, 2], "m": [1]}"#), ["v:/l"]);
    assert_eq!(differing(r#"v {"l": [{"status": "a"}]}"#, r#"v {"l": [{"status": "b"}]}"#), ["v:/l/*/status"]);
    assert_eq!(differing(r#"v {"a/b": [1]}"#, r#"v {"a/b": []}"#), ["v:/a~1b"]);
    assert_eq!(differing("v [1]", "v [1, 2]"), ["v:"]);
    assert_eq!(differing(r#"chunk {"id": "1", "delta": "a"}"#, r#"chunk {"id": "1", "delta": "b"}"#), ["chunk"]);
    for place in ["v:/l", "v:/l/*/status", "v:/a~1b", "v:", "chunk"] {
        assert_eq!(Loose::of(place).to_string(), place);
    }
}

#[test]
fn a_large_tree_is_printed_once_and_later_places_refer_to_it() {
    let state = |more: &str| format!("{{\"a\": 1, \"b\": 1, \"c\": 1, \"d\": 1, \"e\": 1, \"f\": {{\"g\": 1}}{more}}}");
    let lines =
        |one: &str, two: &str| golden(&format!("one {{\"state\": {}}}\ntwo {{\"state\": {}}}", state(one), state(two)));
    let end = |text: String| text.rsplit_once("\ntwo\n").unwrap().1.to_owned();
    assert_eq!(end(lines("", "")), "  state      object, as in one.state\n");
    assert_eq!(end(lines("", ", \"h\": 1")), "  state      object, as in one.state, but\n    h          number\n");
    assert_eq!(end(lines(", \"h\": 1", "")), "  state      object, as in one.state, but\n    h          –\n");
}

#[test]
fn a_run_of_five_hundred_events_fits_on_a_screen() {
    let message = "{\"type\": \"ai\", \"id\": \"7c9e6679-7425-40de-944b-e07fc1f90ae7\"}";
    let values = |n: usize| format!("values {{\"messages\": [{}]}}\n", vec![message; n].join(", "));
    let chunk =
        |n: usize| format!("chunk {{\"id\": \"m{}\", \"delta\": \"word{n} \", \"piece\": \"{n:012x}\"}}\n", n / 4);
    let lines = (1..=100).map(values).chain((0..400).map(chunk)).collect::<Vec<_>>().concat();
    let text = golden(&lines);
    assert!(text.lines().count() < 40, "{text}");
}

fn at_values(lines: &str) -> String {
    golden_of(lines, &ShapeOptions { detail: Detail::Values, ..options() }).golden.to_string()
}

#[test]
fn at_values_it_is_noticed_which_values_belong_together_and_how_often_they_appear() {
    let message = |id: &str, text: &str| format!("{{\"id\": \"{id}\", \"text\": \"{text}\"}}");
    let event = |messages: &[String]| format!("values {{\"messages\": [{}]}}\n", messages.join(", "));
    let (a, b) = (message("m1", "x"), message("m2", "y"));
    let base = event(&[a.clone(), b.clone()]).repeat(2);
    assert_eq!(at_values(&base), at_values(&base));
    for other in [
        event(&[a.clone(), b.clone()]) + &event(&[b.clone(), a.clone()]),
        event(&[a.clone(), b.clone()]) + &event(&[message("m1", "y"), message("m2", "x")]),
        event(&[a.clone(), b.clone()]) + &event(&[a.clone(), a.clone()]),
    ] {
        assert_ne!(at_values(&base), at_values(&other), "{other}");
    }
    assert!(at_values(&base).contains("\nvalues  as a whole "), "{}", at_values(&base));
    // A changed value changes only its own line.
    let other = at_values(&base.replace("\"x\"", "\"z\""));
    let lines = at_values(&base).replace("text: \"x\"", "text: \"z\"");
    assert_eq!(other, lines);
    // If each value appears once, the tree describes everything, and there is no hash.
    assert!(!at_values("values {\"id\": \"m1\", \"tags\": [\"x\"]}").contains("as a whole"));
}

#[test]
fn at_values_the_hash_does_not_depend_on_normalized_texts_or_on_the_order_of_unordered_events() {
    let events =
        |ids: [&str; 2], at: u64| ids.map(|id| format!("values {{\"id\": \"{id}\", \"at\": {at}}}\n")).concat();
    assert_eq!(at_values(&events([RUN, OTHER], 1_790_000_000)), at_values(&events([OTHER, RUN], 1_790_000_777)));
    let run_twice = events([RUN, RUN], 1_790_000_000);
    assert_ne!(at_values(&events([RUN, OTHER], 1_790_000_000)), at_values(&run_twice));
    let known = format!("values {{\"ids\": [\"{RUN}\", \"{OTHER}\"]}}\n");
    let result = |id: &str| format!("result {{\"id\": \"{id}\", \"text\": \"ok\"}}\n");
    let (one, other) = (result(RUN) + &result(OTHER), result(OTHER) + &result(RUN));
    assert_eq!(at_values(&(known.clone() + &one)), at_values(&(known + &other)));
}

#[test]
fn at_values_a_loose_place_shows_its_type_and_is_not_part_of_the_hash() {
    let events =
        |at: u64| format!("values {{\"took\": {at}, \"text\": \"x\"}}\nvalues {{\"took\": 2, \"text\": \"x\"}}\n");
    let of = |lines: &str, places: &[&str]| {
        let loose = places.iter().map(|place| Loose::of(place)).collect();
        golden_of(lines, &ShapeOptions { detail: Detail::Values, loose, ..options() })
    };
    let (one, other) = (events(1), events(3));
    let differing = of(&one, &[]).differing_pins(&of(&other, &[]));
    assert_eq!(differing, ["values:/took"].map(Loose::of));
    assert_eq!(of(&one, &["values:/took"]).golden.to_string(), of(&other, &["values:/took"]).golden.to_string());
    assert!(of(&one, &["values:/took"]).golden.to_string().contains("  took       number\n"));
    // With loose counts, it does not matter which values belong together.
    let uncounted = ShapeOptions { detail: Detail::Values, without_lengths: true, ..options() };
    assert!(!golden_of(&one, &uncounted).golden.to_string().contains("as a whole"));
    // The hash alone.
    let moved = events(1).lines().rev().map(|line| line.to_owned() + "\n").collect::<String>() + &events(1);
    let twice = events(1) + &events(1);
    assert_ne!(of(&twice, &[]).golden.to_string(), of(&moved, &[]).golden.to_string());
}

/// A place may be found to be pinned in one run, and be read from its golden in the next one.
#[test]
fn a_loose_place_in_a_list_looks_the_same_whether_it_is_pinned_or_not() {
    let lines = r#"values {"items":[{"id":1,"at":"2026-01-01T10:00:00Z"},{"id":2,"at":"2026-01-01"}]}"#;
    let options = loose("values:/items/*/at");
    let first = golden_of(lines, &options);
    let known = Known { committed: Some(&first.golden), ..Known::default() };
    let again = Shaped::of(&[captured(events(lines))], &options, &known, &normalize);
    assert_eq!(again.golden, first.golden);
    let text = first.golden.to_string();
    assert!(text.contains("{at: string, id: number}"), "{text}");
}
