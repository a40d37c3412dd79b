use super::*;

fn exchange(method: &str, params: &str, result: &str) -> ToolExchange {
    let json = |text: &str| Json::parse(text.as_bytes()).unwrap();
    let (method, answer) = (method.to_owned(), Some(Ok(json(result))));
    ToolExchange { method, params: json(params), messages: Vec::new(), answer, status: None, then: Vec::new() }
}

fn answers(exchanges: &[ToolExchange]) -> Answers {
    Answers::new(exchanges, &Normalizer::default(), &Scrub::known())
}

fn take(answers: &mut Answers, method: &str, params: &str) -> Option<Json> {
    let params = Json::parse(params.as_bytes()).unwrap();
    answers.take(method, &params, false).ok().map(|(_, exchange)| exchange.answer.unwrap().unwrap())
}

const CALL: &str = r#"{"name": "read", "arguments": {"path": "/tmp/abc/a.txt", "n": 1}}"#;

#[test]
fn calls_are_answered_by_normalized_arguments_first_in_first_out() {
    let mut answers = answers(&[exchange("tools/call", CALL, "1"), exchange("tools/call", CALL, "2")]);
    // The temporary folder and the order of the keys are different.
    let again = r#"{"arguments": {"n": 1, "path": "/tmp/def/a.txt"}, "name": "read"}"#;
    assert_eq!(take(&mut answers, "tools/call", again), Some(Json::Int(1)));
    assert_eq!(take(&mut answers, "tools/call", CALL), Some(Json::Int(2)));
    let params = Json::parse(CALL.as_bytes()).unwrap();
    let (reason, _) = answers.take("tools/call", &params, false).unwrap_err();
    let call = "`tools/call` of `read`".to_owned();
    assert_eq!(reason, MissReason::ToolAllServed { call, times: 2 });
}

#[test]
fn a_request_that_was_not_recorded_gets_the_one_answer_that_says_the_same() {
    let call = |path: &str| format!(r#"{{"name": "read", "arguments": {{"path": "{path}"}}}}"#);
    let recorded = [exchange("tools/call", &call("/app"), "1"), exchange("tools/call", &call("/other"), "2")];
    let same = |then: &str, now: &str| then.replace("/app", "/srv/here") == now;
    let mut answers = answers(&recorded).with_second_look(same);
    assert_eq!(take(&mut answers, "tools/call", &call("/srv/here")), Some(Json::Int(1)));
    assert_eq!(take(&mut answers, "tools/call", &call("/srv/there")), None);
}

#[test]
fn lists_and_handshakes_are_answered_any_number_of_times() {
    let list = exchange("tools/list", "null", "[]");
    let greeting = exchange("initialize", r#"{"clientInfo": {"version": "1"}}"#, "{}");
    let mut answers = answers(&[greeting, list]);
    for _ in 0..3 {
        assert!(take(&mut answers, "tools/list", "null").is_some());
        assert!(take(&mut answers, "tools/list", "{}").is_some(), "a client may leave out what is empty");
        assert!(take(&mut answers, "initialize", r#"{"clientInfo": {"version": "2"}}"#).is_some());
    }
    assert_eq!(answers.unused(), Vec::new());
}

#[test]
fn a_miss_names_the_nearest_call_and_the_difference() {
    let mut answers = answers(&[exchange("tools/call", CALL, "1")]);
    let other = Json::parse(CALL.replace('1', "2").as_bytes()).unwrap();
    let (reason, evidence) = answers.take("tools/call", &other, false).unwrap_err();
    assert_eq!(reason, MissReason::ToolNotRecorded { call: "`tools/call` of `read`".to_owned() });
    assert_eq!(evidence.last().unwrap(), "difference at /arguments/n: 1 → 2");
    assert_eq!(answers.unused().len(), 1);
}
