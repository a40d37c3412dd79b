use super::line::differences;
use super::*;
use time::{Date, Month};

/// A call of `lead_agent` with this body.
fn call(turn: usize, body: &str) -> SentCall {
    let request = Request::read(&ORDER, body.as_bytes(), &|text| text.replace("/home/me/app", "<retake:root>"));
    SentCall { caller: "lead_agent".to_owned(), turn, request, input: Some(1_000), output: 10 }
}

/// The body of a call to Anthropic, with these messages after the user's.
fn body(system: &str, tools: &str, more: &str) -> String {
    let prompt = "You are careful. ".repeat(40);
    let system = format!(r#"[{{"type": "text", "text": "{prompt}{system}"}}]"#);
    format!(
        r#"{{"messages": [{{"role": "user", "content": "Sum it up"}}{more}], "max_tokens": 9, "system": {system}, "tools": {tools}}}"#
    )
}

const TOOLS: &str = r#"[{"name": "read", "input_schema": {"properties": {"path": {"type": "string"}, "end": {"type": "string"}}}},
    {"name": "write"}]"#;
const ANSWER: &str = r#", {"role": "assistant", "content": "Yes"}, {"role": "user", "content": "And now?"}"#;

fn one(calls: Vec<SentCall>) -> CallerCost {
    of(calls, &[])
}

fn of(calls: Vec<SentCall>, again: &[SentCall]) -> CallerCost {
    measured(calls, Some(&(again.to_vec(), Days::default())), &[]).remove(0)
}

fn two(first: &str, second: &str) -> CallerCost {
    one(vec![call(0, first), call(1, second)])
}

#[test]
fn a_conversation_that_goes_on_is_kept_as_far_as_the_call_before() {
    let cost = two(&body("", TOOLS, ""), &body("", TOOLS, ANSWER));
    assert_eq!((cost.calls, cost.input, cost.output, cost.ends.clone()), (2, 2_000, 20, None));
    assert!(cost.prefix.is_some_and(|percent| percent > 90), "{cost}");
    assert_eq!(one(vec![call(0, &body("", TOOLS, ""))]).prefix, None);
}

#[test]
fn the_order_of_a_request_is_that_in_which_providers_read_it() {
    for (what, first, second, ends) in [
        ("a clock", body("It is 14:03.", TOOLS, ""), body("It is 14:04.", TOOLS, ANSWER), "/system/0/text"),
        (
            "the order of tools",
            body("", r#"[{"name": "read"}, {"name": "write"}]"#, ""),
            body("", r#"[{"name": "write"}, {"name": "read"}]"#, ANSWER),
            "/tools/0/name",
        ),
        ("one tool more", body("", "[]", ""), body("", TOOLS, ANSWER), "/tools/0/name"),
        (
            "keys in another order",
            body("", TOOLS, ""),
            body(
                "",
                r#"[{"name": "read", "input_schema": {"properties": {"end": {"type": "string"}, "path": {"type": "string"}}}},
                {"name": "write"}]"#,
                ANSWER,
            ),
            "/tools/0/input_schema/properties/end",
        ),
        (
            "a history that is rewritten",
            body("", TOOLS, ANSWER),
            body("", TOOLS, &ANSWER.replace("Yes", "[cut]")),
            "/messages/1/content",
        ),
    ] {
        let cost = two(&first, &second);
        assert_eq!(cost.ends.as_deref(), Some(ends), "{what}: {cost}");
    }
    let cost = two(&body("It is 14:03.", TOOLS, ""), &body("It is 14:04.", TOOLS, ANSWER));
    assert!(cost.words.contains(r#"("…It is 14:03." → "…It is 14:04."), "#), "{}", cost.words);
}

#[test]
fn how_a_text_is_wrapped_and_marked_is_no_difference() {
    let plain = body("", TOOLS, "");
    let listed = body("", TOOLS, ANSWER).replace(
        r#""content": "Sum it up""#,
        r#""content": [{"type": "text", "text": "Sum it up", "cache_control": {"type": "ephemeral"}}]"#,
    );
    assert_eq!(two(&plain, &listed).ends, None);
}

#[test]
fn a_service_that_marks_what_may_be_kept_keeps_no_more() {
    let marked =
        |text: String| text.replace(r#"careful. "}"#, r#"careful. ", "cache_control": {"type": "ephemeral"}}"#);
    let (first, second) = (marked(body("", TOOLS, "")), marked(body("", TOOLS, ANSWER)));
    let both = two(&first, &second);
    assert_eq!(both.marks, Some((2, "/system/0".to_owned())));
    assert!(both.prefix.is_some_and(|percent| percent > 80), "{both}");
    let lost = two(&first, &body("", TOOLS, ANSWER));
    assert_eq!((lost.prefix, lost.marks.clone()), (Some(0), Some((1, "/system/0".to_owned()))));
    let told = differences(&[both], &[lost]);
    assert_eq!(
        told[1],
        "lead_agent: 2 calls, 1 marked for the cache, from /system/0; 2 marked for the cache, from /system/0 before"
    );
}

#[test]
fn a_mark_that_is_a_block_of_its_own_is_after_what_stands_before_it() {
    let system =
        format!(r#"[{{"text": "{}"}}, {{"cachePoint": {{"type": "default"}}}}]"#, "You are careful. ".repeat(40));
    let say = |system: &str, more: &str| {
        format!(
            r#"{{"messages": [{{"role": "user", "content": [{{"text": "Sum it up"}}]}}{more}], "system": {system}}}"#
        )
    };
    let more =
        r#", {"role": "assistant", "content": [{"text": "Yes"}]}, {"role": "user", "content": [{"text": "And?"}]}"#;
    let both = two(&say(&system, ""), &say(&system, more));
    assert_eq!((both.marks.clone(), both.ends.clone()), (Some((2, "/system/1".to_owned())), None), "{both}");
    assert!(both.prefix.is_some_and(|percent| percent > 80), "{both}");
    let lost = say(&system.replace(r#", {"cachePoint": {"type": "default"}}"#, ""), more);
    let lost = two(&say(&system, ""), &lost);
    assert_eq!((lost.prefix, lost.marks), (Some(0), Some((1, "/system/1".to_owned()))));
}

#[test]
fn what_a_golden_knows_is_not_estimated_anew() {
    let calls = || vec![call(0, &body("It is 14:03.", TOOLS, "")), call(1, &body("It is 14:04.", TOOLS, ANSWER))];
    let mut known = one(calls());
    (known.input, known.bytes) = (3_000, known.bytes - 40);
    assert_eq!(measured(calls(), None, &[known.clone()])[0].input, 3_010);
    (known.varies, known.prefix) = (true, Some(7));
    let told = measured(calls(), None, &[known.clone()]).remove(0);
    assert_eq!((told.varies, told.prefix, told.ends), (true, Some(7), known.ends.clone()));
    assert!(!measured(calls(), Some(&(calls(), Days::default())), &[known])[0].varies);
}

#[test]
fn what_differs_in_another_run_ends_the_prefix_unless_it_is_the_day() {
    let first = body("It is 14:03.", TOOLS, "");
    let runs = |now: &str| of(vec![call(0, &first)], &[call(0, &body(now, TOOLS, ""))]);
    let varied = runs("It is 02:10.");
    assert!(varied.varies && varied.ends.as_deref() == Some("/system/0/text"), "{varied}");
    assert!(!runs("It is 14:03.").varies);

    let at = |month, day| Date::from_calendar_date(2026, month, day).unwrap();
    let days = Days::new([(at(Month::November, 25), at(Month::December, 30))]);
    let told = |then: &str, now: &str| {
        let again = [call(0, &body(now, TOOLS, ""))];
        measured(vec![call(0, &body(then, TOOLS, ""))], Some(&(again.to_vec(), days.clone())), &[]).remove(0)
    };
    assert!(!told("It is 2026-11-25.", "It is 2026-12-30.").varies);
    let varied = told("It is 2026-11-25 14:03.", "It is 2026-12-30 02:10.");
    assert!(varied.words.contains(r#"("…026-11-25 14:03." → "…026-11-25 02:10.")"#), "{}", varied.words);
    // What a tool said is new in each conversation.
    let late = |text: &str| body("", TOOLS, &ANSWER.replace("And now?", text));
    assert!(!of(vec![call(0, &late("took 3 s"))], &[call(0, &late("took 4 s"))]).varies);
}

#[test]
fn a_longer_home_costs_nothing_and_a_call_that_nobody_counted_is_estimated() {
    let (here, there) = (body("In /home/me/app", TOOLS, ""), body("In <retake:root>", TOOLS, ""));
    assert_eq!(call(0, &here).request.bytes, call(0, &there).request.bytes);
    let uncounted = SentCall { input: None, ..call(1, &here) };
    let bytes = uncounted.request.bytes as u64;
    assert_eq!(one(vec![uncounted]).input, bytes / 4);
}

#[test]
fn a_line_is_read_as_it_was_written() {
    let whole = CallerCost {
        caller: "middleware:title of a thread".to_owned(),
        calls: 1,
        bytes: 31_240,
        input: 9_100,
        output: 512,
        ..CallerCost::default()
    };
    let ends = CallerCost { prefix: Some(96), ends: Some("/messages/1/content".to_owned()), ..whole.clone() };
    let marked = CallerCost { marks: Some((3, "/system/0".to_owned())), varies: true, calls: 3, ..ends.clone() };
    for cost in [whole, ends, marked] {
        assert_eq!(CallerCost::parse(&cost.to_string()), Some(cost.clone()), "{cost}");
    }
    for wrong in ["", "lead_agent", "lead_agent  many calls", "lead_agent  3 calls, more"] {
        assert_eq!(CallerCost::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn a_little_more_is_the_same_and_what_is_more_is_named() {
    let was = CallerCost {
        caller: "lead_agent".to_owned(),
        calls: 3,
        bytes: 30_000,
        input: 9_000,
        output: 500,
        prefix: Some(96),
        ..CallerCost::default()
    };
    let near = CallerCost { bytes: 31_400, input: 9_420, prefix: Some(90), output: 510, ..was.clone() };
    assert_eq!(near.beside(std::slice::from_ref(&was)), was);
    let told = |is: &CallerCost| differences(std::slice::from_ref(&was), std::slice::from_ref(is)).join("; ");
    let clock = CallerCost { prefix: Some(4), ends: Some("/system/0/text".to_owned()), ..was.clone() };
    let words = clock.in_words(&("… 14:03".to_owned(), "… 14:04".to_owned()));
    let clock = CallerCost { words, ..clock };
    assert_eq!(
        told(&clock),
        "lead_agent: the cacheable prefix ends at /system/0/text (\"… 14:03\" → \"… 14:04\"), 4 % of 9,000 tokens; 96 % before"
    );
    let more = CallerCost { calls: 4, bytes: 45_000, input: 13_500, ..was.clone() };
    assert_eq!(told(&more), "lead_agent: 4 calls; 3 before; lead_agent: 13,500 tokens read; 9,000 before");
    assert_eq!(differences(std::slice::from_ref(&was), &[]), ["lead_agent: no call; 3 before"]);
    // Where the golden says that it varies, nobody tries whether it still does.
    let varies = CallerCost { varies: true, ..clock };
    assert_eq!(was.beside(std::slice::from_ref(&varies)), varies);
    assert!(differences(&[], &[was]).join("").contains("the golden does not hold what its 3 calls cost"));
}
