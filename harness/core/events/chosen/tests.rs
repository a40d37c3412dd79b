//! Which places are pinned because of what stands there, and what a change there looks like.

use crate::conversation::{Answer, Block, Usage};
use crate::events::{Capture, Captured, Foreign, Golden, Known, Recorded, ShapeOptions, Shaped};

mod times;
mod told;

fn captured(lines: &[&str]) -> Captured {
    let events: Vec<String> = lines.iter().map(|line| format!("event: task\ndata: {line}\n\n")).collect();
    Captured::stream("POST /", Capture::new().push(events.concat().as_bytes()))
}

fn normalized(text: &str) -> String {
    crate::key::Normalizer::default().apply(text).into_owned()
}

/// Returns the shapes of a golden. The model's answer was "hello", and a tool returned `{"city": "Rome"}`.
fn shapes_of(lines: &[&str], options: &ShapeOptions, committed: Option<&str>) -> String {
    let mut foreign = Foreign::default();
    foreign.add_text("hello");
    foreign.add_text("Rome, the old town");
    foreign.add_language("en_US");
    foreign.add_machine("linux");
    foreign.add_machine("Europe/Berlin");
    foreign.add_text(r#"{"city": "Rome"}"#);
    foreign.add_response(&crate::json::Json::parse(br#"{"service_tier": "default"}"#).unwrap());
    let committed = committed.map(|golden| Golden::parse(golden).unwrap());
    let known = Known { foreign: Some(foreign), committed: committed.as_ref(), ..Known::default() };
    Shaped::of(&[captured(lines)], options, &known, &normalized).golden.to_string()
}

#[track_caller]
fn check(payloads: &[&str], lines: &[&str]) {
    let golden = shapes_of(payloads, &ShapeOptions::default(), None);
    let shapes: Vec<&str> = golden.split("\n\ntask\n").nth(1).unwrap().lines().map(str::trim).collect();
    assert_eq!(shapes, lines);
    // What the golden says is enough to make it again.
    assert_eq!(shapes_of(payloads, &ShapeOptions::default(), Some(&golden)), golden);
}

/// The golden of a run of a model whose two turns took 100 and 30 tokens. Other runs show which numbers vary.
fn numbers(lines: &[&str], committed: Option<&Golden>) -> Golden {
    let used = [(100, 4), (30, 6)].map(|(input, output)| Usage { input, output, ..Usage::default() });
    let answers = used.map(|usage| Answer { usage: Some(usage), ..Answer::default() });
    let recorded = Recorded::of(&answers);
    let known = Known { recorded, has_others: true, committed, ..Known::default() };
    Shaped::of(&[captured(lines)], &ShapeOptions::default(), &known, &str::to_owned).golden
}

fn lines_of(golden: &Golden) -> Vec<String> {
    golden.to_string().lines().filter(|line| line.starts_with("  ")).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn a_number_that_is_the_same_in_all_runs_is_held() {
    let line = r#"{"limit": 5, "size": 7, "list": [{"score": 0.5}, {"score": 0.25}], "took": 0, "toolDuration": 1, "at": 1764000000}"#;
    let mut golden = numbers(&[line], None);
    golden.agree_on_values(&numbers(&[&line.replace("\"size\": 7", "\"size\": 8")], None));
    let held = [
        "at         time in s",
        "limit      5",
        "list       [2 × object]",
        "[].score   0.25 | 0.5",
        "size       number",
    ];
    let measured = ["took       number", "toolDuration       number"];
    assert_eq!(lines_of(&golden), [&held[..], &measured].concat());
    // A later run is compared with it.
    let with = |was: &str, is: &str| numbers(&[&line.replace(was, is)], Some(&golden));
    assert_eq!(with("7", "9"), golden);
    let change = |run: &Golden| crate::events::changes(&golden, run)[0].words();
    assert!(change(&with(": 5", ": 6")).ends_with("`/limit` is `6`, not `5`"));
    assert!(change(&with("0.25", "0.2")).ends_with("`/list/[].score` is `0.2 | 0.5`, not `0.25 | 0.5`"));
    // What was open once stays open, and what was held may be another number.
    let mut later = numbers(&[&line.replace(": 5", ": 6")], None);
    later.keep_open(&golden);
    assert_eq!(
        lines_of(&later),
        lines_of(&golden).iter().map(|line| line.replace("limit      5", "limit      6")).collect::<Vec<_>>()
    );
}

/// Ids of one kind have a form, those of another count. Both stand in a list, and in events of one kind.
#[test]
fn a_random_id_without_digits_is_no_word_where_texts_vary() {
    let golden = |first: &str, id: &str, committed: Option<&Golden>| {
        let known = Known { foreign: Some(Foreign::default()), has_others: true, committed, ..Known::default() };
        let ids = format!(r#"{{"id": "one", "ids": ["{first}", "{id}"]}}"#);
        let lines = captured(&[&ids, &format!(r#"{{"id": "{id}", "ids": []}}"#)]);
        Shaped::of(&[lines], &ShapeOptions::default(), &known, &normalized).golden
    };
    let mut first = golden("one", "aitxt-9ZaUiNRXDIStyOxnNKWqI", None);
    first.agree_on_values(&golden("one", "aitxt-8ZaUiNRXDIStyOxnNKWqI", Some(&first)));
    let held = Golden::parse(&first.to_string()).unwrap();
    assert!(held.to_string().contains(r#"  id         "one" | string"#), "{held}");
    assert!(held.to_string().contains("task  as a whole ") && held.to_string().contains("in order "), "{held}");
    for id in ["aitxt-7ZaUiNRXDIStyOxnNKWqI", "aitxt-ZaUiNRXDIStyOxnNKWqI"] {
        let run = golden("one", id, Some(&held));
        assert!(run == held, "{id}: {run}");
        assert!(golden("two", id, Some(&held)) != held, "{id}");
    }
}

#[test]
fn a_number_of_tokens_is_told_by_its_turns() {
    let line = r#"{"in": 130, "out": 10, "first": 4, "four": 4, "all": 140}"#;
    let more = r#"{"in": 331, "out": 211, "first": 104, "four": 4, "all": 542}"#;
    let mut golden = numbers(&[line], None);
    let used = [(100, 4), (30, 6)].map(|(input, output)| Usage { input, output, ..Usage::default() });
    let answers = used.map(|usage| Answer { usage: Some(usage), ..Answer::default() });
    golden.tell_derived(&numbers(&[more], None), &Recorded::of(&answers));
    let told = [
        "all        all tokens of turns 1 to 2",
        "first      output tokens of turn 1",
        "four       4",
        "in         input tokens of turns 1 to 2",
        "out        output tokens of turns 1 to 2",
    ];
    assert_eq!(lines_of(&golden), told);
    let golden = Golden::parse(&golden.to_string()).unwrap();
    assert_eq!(numbers(&[line], Some(&golden)), golden);
    let run = numbers(&[&line.replace("130", "30")], Some(&golden));
    let words = crate::events::changes(&golden, &run)[0].words();
    assert!(words.ends_with("`/in` is `30`, not `input tokens of turns 1 to 2`"), "{words}");
    // A price that follows from them comes after them.
    let run = numbers(&[&line.replace("130", "30").replace("\"four\": 4", "\"four\": 5")], Some(&golden));
    let words = crate::events::changes(&golden, &run)[0].words();
    assert!(words.ends_with("`/in` is `30`, not `input tokens of turns 1 to 2`, and 1 more: `/four`"), "{words}");
}

#[test]
fn what_follows_from_the_model_is_true_of_its_recording() {
    let [line, more] = [("0.00042", "<b>Rome</b> is old", 7, "a"), ("0.00063", "<b>Rqme</b> is old", 9, "b")].map(
        |(cost, html, words, last)| {
            format!(r#"{{"cost": {cost}, "html": "{html}", "list": [{{"n": 5}}, {{"n": {words}}}], "took": 0, "x": "It ends in {last}."}}"#)
        },
    );
    let golden = |line: &str, recorded: &Recorded, committed: Option<&Golden>| {
        let (recorded, foreign) = (recorded.clone(), Some(Foreign::default()));
        let known = Known { recorded, foreign, has_others: true, committed, ..Known::default() };
        Shaped::of(&[captured(&[line])], &ShapeOptions::default(), &known, &str::to_owned).golden
    };
    let recorded = |output| {
        let usage = Some(Usage { output, ..Usage::default() });
        Recorded::of(&[Answer { usage, ..Answer::default() }])
    };
    let [this, other] = [3, 4].map(recorded);
    let mut held = golden(&line, &this, None);
    let mut with_more = golden(&more, &this, None);
    // The same words once more: what is not the same again varies by itself.
    with_more.agree_on_values(&golden(&more.replace("in b", "in c"), &this, None));
    held.tell_derived(&with_more, &this);
    let lines = [
        "cost       0.00042 of this recording",
        r#"html       "<b>Rome</b> is old" of this recording"#,
        "list       [2 × object]",
        "[].n       5 | 7 of this recording",
        "took       number",
        "x          string",
    ];
    assert_eq!(lines_of(&held), lines);
    assert!(held.to_string().ends_with(&format!("\n\n\nrecording {}\n", this.hash())), "{held}");
    let held = Golden::parse(&held.to_string()).unwrap();
    assert_eq!(golden(&line, &this, Some(&held)), held);
    let told = |run: &Golden| crate::events::changes(&held, run)[0].words();
    let changed = golden(&line.replace("42", "84"), &this, Some(&held));
    assert!(told(&changed).ends_with("`/cost` is `0.00084`, not `0.00042`"), "{}", told(&changed));
    assert_ne!(golden(&line.replace("<b>", "<i>"), &this, Some(&held)), held);
    // Of another recording, it is another, and has to be there.
    assert_eq!(golden(&more.replace("in b", "in a"), &other, Some(&held)), held);
    let without = golden(&line.replace("0.00042", "null"), &other, Some(&held));
    assert!(told(&without).ends_with("`/cost` is `null`, not `0.00042`"), "{}", told(&without));
}

#[test]
fn a_word_of_the_services_own_is_pinned_under_any_key() {
    check(
        &[r#"{"result": {"state": "submitted"}}"#, r#"{"result": {"state": "completed", "final": true}}"#],
        &["result     object", "final?     true", "state      \"completed\" | \"submitted\""],
    );
}

#[test]
fn a_text_of_the_model_a_tool_or_a_machine_is_not_pinned() {
    check(
        &[
            r#"{"a": "Hello", "b": "rome", "c": "linux", "d": "Europe/Berlin", "e": "en_US", "f": "x7", "g": "two words"}"#,
        ],
        &[
            "a          string",
            "b          string",
            "c          string",
            "d          string",
            "e          string",
            "f          string",
            "g          string",
        ],
    );
    check(
        &[r#"{"service_tier": "default", "mode": "default"}"#],
        &["mode       \"default\"", "service_tier       string"],
    );
    // One of the texts at a place is not a word.
    check(&[r#"{"a": "ready"}"#, r#"{"a": "it is ready"}"#], &["a          string"]);
    // A text in pieces.
    check(&[r#"{"a": "Ro"}"#, r#"{"a": "me"}"#], &["a          string"]);
}

#[test]
fn words_are_pinned_in_lists_and_in_lists_of_lists() {
    check(
        &[r#"{"a": ["fast", "slow"], "b": [{"c": [{"mode": "fast"}, {"mode": "slow", "id": 1}]}]}"#],
        &[
            "a          [2 × \"fast\" | \"slow\"]",
            "b          [object]",
            "[].c       [2 × object]",
            "[].id?     number",
            "[].mode    \"fast\" | \"slow\"",
        ],
    );
}

#[test]
fn a_tree_that_refers_to_another_one_pins_the_same_places() {
    let state = |word: &str| {
        format!(r#"{{"state": "{word}", "b": 1, "c": 1, "d": 1, "e": 1, "f": {{"at": "2026-11-22T10:00:00Z"}}}}"#)
    };
    let (one, two) = (state("fast"), state("slow").replace("\"d\": 1", "\"d\": \"two words\""));
    let payload = format!(r#"{{"a": {{"v": {one}}}, "b": {{"v": {two}}}}}"#);
    let golden = shapes_of(&[&payload], &ShapeOptions::default(), None);
    assert!(golden.contains("as in task.a.v, but"), "{golden}");
    assert_eq!(shapes_of(&[&payload], &ShapeOptions::default(), Some(&golden)), golden);
    let other = payload.replace("slow", "late").replace("10:00:00Z", "10:00:00");
    let other = shapes_of(&[&other], &ShapeOptions::default(), Some(&golden));
    assert!(other.contains("\"late\"") && other.contains("yyyy-mm-ddThh:mm:ss\n"), "{other}");
}

#[test]
fn the_committed_golden_decides_what_is_pinned() {
    let golden = |payload: &str, committed| shapes_of(&[payload], &ShapeOptions::default(), committed);
    let pinned = golden(r#"{"state": "completed"}"#, None);
    for (other, shown) in
        [("failed", "\"failed\""), ("hello", "\"hello\""), ("not at all", "\"not at all\""), ("x7", "string")]
    {
        let run = golden(&format!(r#"{{"state": "{other}"}}"#), Some(&pinned));
        assert!(run.ends_with(&format!("  state      {shown}\n")), "{run}");
    }
    // An id that happened to have digits when the golden was written is not held to having them.
    let open = golden(r#"{"slug": "brave7otter"}"#, None);
    assert_eq!(golden(r#"{"slug": "braveotter"}"#, Some(&open)), open);
    // Nor is a number that happened not to look like a time.
    let open = golden(r#"{"seed": 12}"#, None);
    assert_eq!(golden(r#"{"seed": 1790000000}"#, Some(&open)), open);
}

#[test]
fn the_form_of_a_time_is_pinned() {
    check(
        &[
            r#"{"a": "2026-11-22T10:00:00.5Z", "b": 1790000000123, "c": null, "d": "2026-11-22"}"#,
            r#"{"a": null, "b": null, "c": "2026-11-22 10:00:00", "d": "2026-11-22"}"#,
        ],
        &[
            "a          null | yyyy-mm-ddThh:mm:ss.fZ",
            "b          null | time in ms",
            "c          null | yyyy-mm-dd hh:mm:ss",
            "d          yyyy-mm-dd",
        ],
    );
    // A clock that drops zeros.
    let [some, without] = ["10:00:00.5Z", "10:00:00Z"].map(|at| format!(r#"{{"a": "2026-11-22T{at}"}}"#));
    check(&[&some, &without], &["a          yyyy-mm-ddThh:mm:ss.fZ"]);
    check(
        &[r#"{"a": 1790000000, "b": "at 2026-11-22"}"#, r#"{"a": 5, "b": "2026-11-22"}"#],
        &["a          number", "b          string"],
    );
}

#[test]
fn a_pinned_place_can_be_left_loose() {
    let loose = |text: &str| ShapeOptions { loose: vec![crate::events::Loose::of(text)], ..ShapeOptions::default() };
    let payload = r#"{"state": "busy", "at": 1790000000}"#;
    assert!(shapes_of(&[payload], &loose("task:/state"), None).contains("state      string\n"));
    assert!(shapes_of(&[payload], &loose("task:/at"), None).contains("at         number\n"));
}

/// The golden of a run whose model answered "hello there, friend"; other runs show what varies.
fn texts(line: &str, committed: Option<&Golden>) -> Golden {
    let mut foreign = Foreign::default();
    foreign.add_text("hello there, friend");
    let known = Known { foreign: Some(foreign), has_others: true, committed, ..Known::default() };
    Shaped::of(&[captured(&[line])], &ShapeOptions::default(), &known, &normalized).golden
}

#[test]
fn what_a_text_says_of_its_own_is_held_if_all_runs_say_it() {
    let line = &r#"{"all": "hello there, friend", "banner": "It says: hello there, friend", "joke": "A man walks", "note": "See page 12 of it.",
        "part": "hello there,"}"#.replace('\n', " ");
    let mut golden = texts(line, None);
    golden.agree_on_values(&texts(&line.replace("A man", "A cow"), None));
    let held = [
        r#"all        "…" = "hello there, friend" of this recording"#,
        r#"banner     "It says: …" = "It says: hello there, friend" of this recording"#,
        "joke       string",
        "note       \"See page # of it.\"",
        r#"part       "hello there," of this recording"#,
    ];
    assert_eq!(lines_of(&golden), held);
    let golden = Golden::parse(&golden.to_string()).unwrap();
    let with = |was: &str, is: &str| texts(&line.replace(was, is), Some(&golden));
    for (was, is) in [("A man", "A cow"), ("page 12", "page 13")] {
        assert_eq!(with(was, is), golden);
    }
    let change = |run: &Golden| crate::events::changes(&golden, run)[0].words();
    assert!(
        change(&with("It says", "It said"))
            .contains(r#"`/banner` is `"It said: hello there, friend"`, not `"It says: hello there, friend"`"#)
    );
    // What was open once stays open.
    let mut later = texts(line, None);
    later.keep_open(&golden);
    assert_eq!(later, golden);
}

#[test]
fn a_text_of_somebody_else_and_a_number_in_a_text_are_held() {
    let line = r#"{"at": "10:07", "clock": "0.5", "cost": "12,50 €", "note": "hello there, friend", "took": "12 €"}"#;
    let mut golden = texts(line, None);
    golden.agree_on_values(&texts(&line.replace("0.5", "0.25"), None));
    let held = [
        "at         string",
        "clock      string",
        "cost       \"12,50 €\"",
        r#"note       "…" = "hello there, friend" of this recording"#,
        "took       string",
    ];
    assert_eq!(lines_of(&golden), held);
    let golden = Golden::parse(&golden.to_string()).unwrap();
    let with = |was: &str, is: &str| texts(&line.replace(was, is), Some(&golden));
    for (was, is) in [("0.5", "0.75"), ("10:07", "10:08"), ("\"12 €", "\"15 €")] {
        assert_eq!(with(was, is), golden);
    }
    let change = |run: &Golden| crate::events::changes(&golden, run)[0].words();
    assert!(change(&with("12,50", "12,5")).contains("`/cost` is `\"12,5 €\"`, not `\"12,50 €\"`"));
    assert!(
        change(&with("there, f", "there f"))
            .contains("`/note` is `\"hello there friend\"`, not `\"hello there, friend\"`")
    );
    // An older golden, which held none of these, holds none of them.
    let note = r#""…" = "hello there, friend" of this recording"#;
    let older = Golden::parse(&golden.to_string().replace(note, "string").replace("\"12,50 €\"", "string"));
    assert_eq!(texts(line, older.as_ref().ok()), older.unwrap());
}

/// A word of the model is not passed on as it came, but still is true of this recording. The machine's language is nobody's word.
#[test]
fn a_word_of_somebody_else_in_another_case_is_held() {
    let of = |said: &str, line: &str, committed: Option<&Golden>| {
        let mut foreign = Foreign::default();
        foreign.add_text(said);
        foreign.add_language("de");
        let known = Known { foreign: Some(foreign), has_others: true, committed, ..Known::default() };
        Shaped::of(&[captured(&[line])], &ShapeOptions::default(), &known, &normalized).golden
    };
    let line = r#"{"category": "price", "lang": "de"}"#;
    let mut golden = of(" Price\n", line, None);
    golden.tell_derived(&golden.clone(), &Recorded::default());
    assert_eq!(lines_of(&golden), [r#"category   "price" of this recording"#, "lang       string"]);
    let golden = Golden::parse(&golden.to_string()).unwrap();
    assert_eq!(of(" Price\n", line, Some(&golden)), golden);
    for (is, told) in [("other", "\"other\""), (" price\\n", "\" price\\n\"")] {
        let run = of(" Price\n", &line.replace("price", is), Some(&golden));
        let words = crate::events::changes(&golden, &run)[0].words();
        assert!(words.ends_with(&format!("`/category` is `{told}`, not `\"price\"`")), "{words}");
    }
}

#[test]
fn which_of_somebody_elses_texts_it_is_is_true_of_one_recording() {
    let shaped = |line: &str, said: &[&str], committed: Option<&Golden>| {
        let answers =
            said.iter().map(|text| Answer { blocks: vec![Block::Text((*text).to_owned())], ..Answer::default() });
        let recorded = Recorded::of(&answers.collect::<Vec<_>>());
        let mut foreign = Foreign::default();
        for text in said {
            foreign.add_text(text);
        }
        let known = Known { foreign: Some(foreign), has_others: true, recorded, committed, ..Known::default() };
        Shaped::of(
            &[captured(&[line])],
            &ShapeOptions { without_turns: true, ..ShapeOptions::default() },
            &known,
            &str::to_owned,
        )
        .golden
    };
    let (this, other) = (["Tea & cake", "A cup"], ["Milk & rice", "A pot"]);
    let line = |said: [&str; 2]| {
        format!(
            r#"{{"card": "<b>{}</b>", "title": "{}", "what": "{}"}}"#,
            said[0].replace('&', "&amp;"),
            said[0],
            said[1]
        )
    };
    let mut golden = shaped(&line(this), &this, None);
    golden.tell_derived(
        &golden.clone(),
        &Recorded::of(&this.map(|text| Answer { blocks: vec![Block::Text(text.to_owned())], ..Answer::default() })),
    );
    let held = [
        r#"card       "<b>…</b>" = "<b>Tea &amp; cake</b>" of this recording"#,
        r#"title      "…" = "Tea & cake" of this recording"#,
        r#"what       "…" = "A cup" of this recording"#,
    ];
    assert_eq!(lines_of(&golden), held);
    let golden = Golden::parse(&golden.to_string()).unwrap();
    assert_eq!(shaped(&line(this), &this, Some(&golden)), golden);
    // Crossed, and not escaped.
    assert_ne!(shaped(&line([this[1], this[0]]), &this, Some(&golden)), golden);
    let told = |run: &Golden| crate::events::changes(&golden, run)[0].words();
    let bare = shaped(&line(this).replace("&amp;", "&"), &this, Some(&golden));
    assert!(
        told(&bare).ends_with(r#"`/card` is `"<b>Tea & cake</b>"`, not `"<b>Tea &amp; cake</b>"`"#),
        "{}",
        told(&bare)
    );
    // In another recording, other texts stand there; a part of one does not.
    assert_eq!(shaped(&line(other), &other, Some(&golden)), golden);
    assert_ne!(shaped(&line(["Milk", "A pot"]), &other, Some(&golden)), golden);
    // What varied once stays so.
    let mut varied = shaped(&line(this), &this, None);
    varied.agree_on_values(&shaped(&line([this[1], this[1]]), &this, None));
    assert_eq!(lines_of(&varied)[1..], [r#"title      "…""#, held[2]]);
    let mut later = shaped(&line(this), &this, None);
    later.keep_open(&varied);
    assert_eq!(lines_of(&later), lines_of(&varied));
}

#[test]
fn what_is_open_in_one_answer_may_be_held_in_another() {
    let of = |lengths: [&str; 2], committed: Option<&Golden>| {
        let known = Known { has_others: true, committed, ..Known::default() };
        let captures = lengths.map(|length| captured(&[&format!(r#"{{"length": {length}}}"#)]));
        Shaped::of(&captures, &ShapeOptions::default(), &known, &str::to_owned).golden
    };
    let mut golden = of(["20", "41"], None);
    golden.agree_on_values(&of(["20", "42"], None));
    assert_eq!(lines_of(&golden), ["length     20", "length     number"]);
    assert_eq!(of(["20", "43"], Some(&golden)), golden);
}

/// The golden of a body that is no JSON. The model `desk-2` said "A lamp & a bulb".
fn text(body: &str, committed: Option<&Golden>) -> Golden {
    let mut foreign = Foreign::default();
    foreign.add_model("desk-2");
    foreign.add_text("A lamp & a bulb");
    let mut captured = captured(&[]);
    captured.events = vec![crate::events::Event::body(body.as_bytes())];
    let known = Known { foreign: Some(foreign), has_others: true, committed, ..Known::default() };
    Shaped::of(&[captured], &ShapeOptions::default(), &known, &str::to_owned).golden
}

#[test]
fn what_stands_around_the_models_words_in_a_text_is_held() {
    let page = "<main>Your order</main>\n<p class=\"desk\">A lamp &amp; a bulb</p>\n";
    let held = Golden::parse(&text(page, None).to_string()).unwrap();
    assert_eq!(text(page, Some(&held)), held);
    assert!(held.to_string().contains(r#""<main>Your order</main>\n<p class=\"desk\">…</p>\n""#), "{held}");
    let change = |run: &Golden| crate::events::changes(&held, run).first().map(crate::events::Change::words);
    assert!(change(&text(&page.replace("Your order", "Order"), Some(&held))).is_some());
    assert!(change(&text(&page.replace("desk", "you"), Some(&held))).is_some());
    // A golden that holds nothing of it stays as it is.
    let line = held.to_string().lines().find(|line| line.contains("<main>")).unwrap().to_owned();
    let older = Golden::parse(&held.to_string().replace(&format!("\n{line}\n"), "")).unwrap();
    assert_eq!(text("<main>Order</main>", Some(&older)).to_string(), older.to_string());
    // What another run says otherwise is open, and stays so.
    let mut varying = text(page, None);
    varying.agree_on_values(&text(&page.replace("Your", "My"), None));
    assert!(varying.to_string().contains("\nbody  string\n"), "{varying}");
    assert_eq!(text(&page.replace("Your", "Our"), Some(&varying)), varying);
}

#[test]
fn the_name_of_the_model_is_held_as_what_it_is() {
    let body = r#"{"model": "desk-2", "via": "openai/desk-2", "language": "en"}"#;
    let held = Golden::parse(&text(body, None).to_string()).unwrap();
    assert_eq!(lines_of(&held), [r#"language   "en""#, r#"model      "<model>""#, r#"via        "openai/<model>""#]);
    assert_eq!(text(body, Some(&held)), held);
    for (was, is) in [("\"desk-2\"", "\"desk-1\""), ("openai/", ""), ("\"en\"", "\"de\"")] {
        assert_ne!(text(&body.replace(was, is), Some(&held)), held, "{is}");
    }
}
