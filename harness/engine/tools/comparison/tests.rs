use super::*;

fn json(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

/// Returns the pointers at which a live value differs from one recorded event.
fn pointers(comparison: &Comparison, then: &str, now: &str) -> Vec<String> {
    let now = Observed::of_value(json(now));
    comparison.differences("t", &[json(then)], &now).into_iter().map(|difference| difference.pointer).collect()
}

fn drift(then: &str, now: &str) -> Vec<String> {
    pointers(&Comparison::default(), then, now)
}

fn recorded(content: &str) -> String {
    format!(r#"{{"kind": "ObservationEvent", "tool_name": "t", "observation": {{"content": {content}}}}}"#)
}

const NONE: [&str; 0] = [];

#[test]
fn ids_and_times_of_a_whole_event_are_not_compared() {
    let event = |id: &str, text: &str| {
        format!(
            r#"{{"kind": "ObservationEvent", "id": "{id}", "timestamp": "{id}", "action_id": "{id}", "tool_call_id": "{id}",
                "observation": {{"content": "{text}", "id": "{id}"}}}}"#
        )
    };
    assert_eq!(drift(&event("a", "x"), &event("a", "y")), ["/0/observation/content"]);
    // Fields of the same name further down belong to the tool.
    assert_eq!(drift(&event("a", "x"), &event("b", "x")), ["/0/observation/id"]);
}

#[test]
fn a_text_equals_a_single_text_block() {
    assert_eq!(drift(&recorded(r#"[{"type": "text", "text": "x", "cache_prompt": false}]"#), r#""x""#), NONE);
    assert_eq!(drift(&recorded(r#"[{"type": "text", "text": "x"}]"#), r#""y""#), ["/0/observation/content/0/text"]);
}

#[test]
fn a_result_equals_each_text_that_an_agent_makes_of_it() {
    let content = Json::parse(br#"[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]"#).unwrap();
    let structured = Some(json(r#"{"n": 1}"#));
    let now = [Observed::Content { content, is_error: false, structured }];
    for text in [
        r#""ab""#,
        r#""a\nb""#,
        r#""{\"n\":1}""#,
        r#""[{\"text\":\"a\",\"type\":\"text\"},{\"type\":\"text\",\"text\":\"b\"}]""#,
    ] {
        assert_eq!(Comparison::default().differences("t", &[json(&recorded(text))], &now), [], "{text}");
    }
    assert_eq!(Comparison::default().differences("t", &[json(&recorded(r#""ac""#))], &now).len(), 1);
}

#[test]
fn the_heading_that_openhands_puts_above_a_servers_answer_is_not_drift() {
    let then = r#"{"kind": "ObservationEvent", "observation": {"kind": "MCPToolObservation", "tool_name": "t", "is_error": false,
        "content": [{"type": "text", "text": "[Tool 't' executed.]"}, {"type": "text", "text": "x"}]}}"#;
    assert_eq!(drift(then, r#""x""#), NONE);
    assert_eq!(drift(then, r#""z""#), ["/0/observation/content/0/text"]);
}

#[test]
fn the_same_error_again_is_not_drift() {
    let then = json(r#"{"kind": "AgentErrorEvent", "tool_name": "t", "error": "no such file"}"#);
    let comparison = Comparison::default();
    assert_eq!(comparison.differences("t", std::slice::from_ref(&then), &[Observed::error("no such file")]), []);
    let other = comparison.differences("t", &[then], &[Observed::text("no such file")]);
    assert_eq!(other[0].pointer, "/0/observation/is_error");
}

#[test]
fn all_fields_that_a_tool_returns_are_compared() {
    let then = r#"{"kind": "ObservationEvent", "observation": {"kind": "TerminalObservation", "content": "", "is_error": false,
        "exit_code": 0, "metadata": {"pid": 7}}}"#;
    assert_eq!(drift(then, r#"{"exit_code": 0, "metadata": {"pid": 7}}"#), NONE);
    assert_eq!(drift(then, r#"{"exit_code": 1, "metadata": {"pid": 7}}"#), ["/0/observation/exit_code"]);
    assert_eq!(drift(then, r#"{"exit_code": 0}"#), ["/0/observation/metadata"]);
}

#[test]
fn a_tools_rules_leave_out_what_differs_from_run_to_run() {
    let then =
        r#"{"kind": "ObservationEvent", "observation": {"content": "on host-a in /tmp/abc", "metadata": {"pid": 7}}}"#;
    let now = r#"{"content": "on host-b in /tmp/def", "metadata": {"pid": 8}}"#;
    assert_eq!(drift(then, now), ["/0/observation/content", "/0/observation/metadata/pid"]);
    let host = regex::Regex::new("host-[a-z]").unwrap();
    let normalizer = Normalizer::default().with([(host, "<HOST>".to_owned())]);
    let rules = ToolRules { ignore: vec!["/observation/metadata/pid".to_owned()], normalizer: Some(normalizer) };
    let comparison = Comparison { tools: [("t".to_owned(), rules)].into(), ..Comparison::default() };
    assert_eq!(pointers(&comparison, then, now), NONE);
}

#[test]
fn a_suites_rules_apply_to_both_sides_for_each_tool() {
    let order = regex::Regex::new("order-[0-9]+").unwrap();
    let normalizer = Normalizer::default().with([(order, "<ORDER>".to_owned())]);
    let comparison = Comparison { normalizer, ..Comparison::default() };
    let (then, now) = (recorded("\"order-1 is on its way\""), r#""order-2 is on its way""#);
    assert_eq!(drift(&then, now), ["/0/observation/content"]);
    assert_eq!(pointers(&comparison, &then, now), NONE);
    assert_eq!(pointers(&comparison, &then, r#""order-2 is lost""#), ["/0/observation/content"]);
}

#[test]
fn length_and_order_count() {
    let event = |text: &str| Observed::Event(json(&recorded(&format!("\"{text}\""))));
    let then = [json(&recorded("\"a\"")), json(&recorded("\"b\""))];
    let comparison = Comparison::default();
    assert_eq!(comparison.differences("t", &then, &[event("a"), event("b")]), []);
    assert_eq!(comparison.differences("t", &then, &[event("b"), event("a")]).len(), 2);
    assert_eq!(comparison.differences("t", &then, &[event("a")])[0].pointer, "/1");
    assert_eq!(comparison.differences("t", &then[..1], &[event("a"), event("b")])[0].pointer, "/1");
}

#[test]
fn a_secret_that_was_removed_from_the_recording_is_not_drift() {
    let comparison = Comparison { scrub: Scrub::known(), ..Comparison::default() };
    let key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH";
    let mut then = json(&recorded(&format!("\"key {key}\"")));
    comparison.scrub.json(&mut then, &mut Fired::new());
    assert_ne!(then, json(&recorded(&format!("\"key {key}\""))));
    assert_eq!(comparison.differences("t", &[then], &[Observed::text(format!("key {key}"))]), []);
}
