use super::*;

fn exchange(method: &str, params: &str, result: &str) -> ToolExchange {
    let json = |text: &str| Json::parse(text.as_bytes()).unwrap();
    let (method, answer) = (method.to_owned(), Some(Ok(json(result))));
    ToolExchange { method, params: json(params), answer, ..ToolExchange::default() }
}

fn answers(exchanges: &[ToolExchange]) -> Answers {
    Answers::new(exchanges, &Normalizer::default(), &Scrub::known())
}

fn asks(method: &str, params: &Json) -> ToolExchange {
    ToolExchange { method: method.to_owned(), params: params.clone(), ..ToolExchange::default() }
}

fn take(answers: &mut Answers, method: &str, params: &str) -> Option<Json> {
    let params = Json::parse(params.as_bytes()).unwrap();
    answers.take(&asks(method, &params), false).ok().map(|(_, exchange)| exchange.answer.unwrap().unwrap())
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
    let (reason, _) = answers.take(&asks("tools/call", &params), false).unwrap_err();
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
    let of_version = |version: &str| format!(r#"{{"protocolVersion": "{version}", "clientInfo": {{"version": "1"}}}}"#);
    let greeting = exchange("initialize", &of_version("2025-06-18"), "{}");
    let mut answers = answers(&[ToolExchange { dates_stay: Some(true), ..greeting }, list]);
    for _ in 0..3 {
        assert!(take(&mut answers, "tools/list", "null").is_some());
        assert!(take(&mut answers, "tools/list", "{}").is_some(), "a client may leave out what is empty");
        assert!(take(&mut answers, "initialize", &of_version("2026-07-28")).is_some(), "a client that is newer");
    }
    assert_eq!(answers.unused(), Vec::new());
}

#[test]
fn what_changes_nothing_may_be_asked_less_often() {
    let of =
        |method: &str, answers: [&str; 3]| answers.map(|answer| exchange(method, r#"{"path": "/prices"}"#, answer));
    for (method, texts, unused) in
        [("GET", ["1", "1", "1"], vec![]), ("GET", ["1", "2", "1"], vec![1]), ("POST", ["1", "1", "1"], vec![1, 2])]
    {
        let mut answers = answers(&of(method, texts));
        take(&mut answers, method, r#"{"path": "/prices"}"#).unwrap();
        assert_eq!(
            answers.unused().into_iter().map(|(index, _)| index).collect::<Vec<_>>(),
            unused,
            "{method} {texts:?}"
        );
    }
}

fn ask(day: &str) -> String {
    format!(r#"{{"path": "/free", "query": {{"day": "{day}"}}}}"#)
}

/// Asked for a day, the answer is that day.
fn of(day: &str, stays: Option<bool>) -> ToolExchange {
    ToolExchange { dates_stay: stays, ..exchange("GET", &ask(day), &format!("{day:?}")) }
}

#[test]
fn dates_that_stay_are_part_of_a_request_and_others_choose_among_equal_ones() {
    let told = |day: &str| Some(Json::from(day));
    for stays in [None, Some(false), Some(true)] {
        let mut answers = answers(&[of("2029-03-04", stays), of("2029-03-09", stays)]);
        assert_eq!(take(&mut answers, "GET", &ask("2029-03-09")), told("2029-03-09"));
        let other = take(&mut answers, "GET", &ask("2029-03-10"));
        assert_eq!(other, told("2029-03-04").filter(|_| stays.is_none()));
        // Where it is not known, an answer that another day got says that it moves.
        let stay = if stays.is_some() { vec![(0, true), (1, true)] } else { vec![(1, true)] };
        assert_eq!(answers.dates_stay().collect::<Vec<_>>(), stay);
    }
}

#[test]
fn a_request_gets_the_answer_of_its_own_days_and_not_of_those_as_far_from_today() {
    let tomorrow = |recorded: &str, called: &str| called == recorded.replace("-04", "-05").replace("-03", "-04");
    for stays in [None, Some(false), Some(true)] {
        let exchanges = [of("2029-11-03", stays), of("2029-11-04", stays)];
        let anew = || answers(&exchanges).with_second_look(tomorrow);
        assert_eq!(take(&mut anew(), "GET", &ask("2029-11-04")), Some("2029-11-04".into()));
        // What stays in each replay does not move, and what moves is as far from today.
        let mut answers = anew();
        let other = take(&mut answers, "GET", &ask("2029-11-05"));
        assert_eq!(other, Some(Json::from("2029-11-04")).filter(|_| stays != Some(true)));
        assert!(answers.dates_stay().any(|of| of == (1, stays == Some(true))));
        assert_eq!(take(&mut answers, "GET", &ask("2029-11-09")).is_some(), stays.is_none());
    }
}

#[test]
fn a_miss_names_the_nearest_call_and_the_difference() {
    let mut answers = answers(&[exchange("tools/call", CALL, "1")]);
    let other = Json::parse(CALL.replace('1', "2").as_bytes()).unwrap();
    let (reason, evidence) = answers.take(&asks("tools/call", &other), false).unwrap_err();
    assert_eq!(reason.to_string(), "`tools/call` of `read` has a different `/arguments/n` than recorded (1 → 2)");
    assert_eq!(evidence.last().unwrap(), "difference at /arguments/n: 1 → 2");
    assert_eq!(answers.unused().len(), 1);
    // One that was made again differs in nothing that counts.
    let sent = |at: &str| format!(r#"{{"path": "/hook", "json": {{"at": "{at}"}}}}"#);
    let mut answers = self::answers(&[exchange("POST", &sent("2026-01-02T03:04:05Z"), "1")]);
    let params = Json::parse(sent("2026-01-02T04:05:06Z").as_bytes()).unwrap();
    answers.take(&asks("POST", &params), false).unwrap();
    let (reason, evidence) = answers.take(&asks("POST", &params), false).unwrap_err();
    assert!(reason.to_string().contains("was made again"), "{reason}");
    assert!(!evidence.iter().any(|line| line.starts_with("difference")), "{evidence:?}");
}

#[test]
fn a_request_on_top_of_the_recorded_ones_is_no_change_of_one_that_was_made() {
    let post = |course: &str| format!(r#"{{"path": "/seats", "json": {{"course": "{course}"}}}}"#);
    let get = |course: &str| format!(r#"{{"path": "/courses/{course}"}}"#);
    let of = |course: &str| [exchange("GET", &get(course), "1"), exchange("POST", &post(course), "1")];
    let mut answers = answers(&[of("A"), of("B")].concat());
    let said = |answers: &mut Answers, method: &str, params: &str| {
        let params = Json::parse(params.as_bytes()).unwrap();
        answers.take(&asks(method, &params), false).unwrap_err().0.to_string()
    };
    let changed =
        |from: &str| format!("`POST` of `/seats` has a different `/json/course` than recorded ({from:?} → \"X\")");
    assert_eq!(said(&mut answers, "POST", &post("X")), changed("A"));
    take(&mut answers, "GET", &get("A"));
    take(&mut answers, "POST", &post("A"));
    // The course of the next one was not asked for yet.
    let more = "`POST` of `/seats` was never recorded with `/json/course` \"X\"";
    assert_eq!(said(&mut answers, "POST", &post("X")), more);
    assert_eq!(
        said(&mut answers, "POST", r#"{"path": "/seats", "json": {}}"#),
        "`POST` of `/seats` was never recorded without `/json/course`"
    );
    assert_eq!(said(&mut answers, "POST", &post("A").replace("seats", "beds")), "`POST` of `/beds` was never recorded");
    take(&mut answers, "GET", &get("B"));
    assert_eq!(said(&mut answers, "POST", &post("X")), changed("B"));
    take(&mut answers, "POST", &post("B"));
    assert_eq!(said(&mut answers, "POST", &post("X")), more);
}

#[test]
fn the_first_line_of_a_miss_says_what_counts() {
    let post = |path: &str, json: &str| format!(r#"{{"path": "{path}", "json": {json}}}"#);
    let sent = r#"{"severity": 1, "at": "2026-01-02T03:04:05Z", "to": "ops"}"#;
    let gone = exchange("DELETE", r#"{"path": "/rota", "query": {"by": "ops"}}"#, "2");
    let mut answers = answers(&[exchange("POST", &post("/pages", sent), "1"), gone]);
    let mut said = |path: &str, json: &str| {
        let params = Json::parse(post(path, json).as_bytes()).unwrap();
        answers.take(&asks("POST", &params), false).unwrap_err().0.to_string()
    };
    let severe = sent.replace('1', "3").replace("03:04", "04:05");
    assert_eq!(said("/pages", &severe), "`POST` of `/pages` has a different `/json/severity` than recorded (1 → 3)");
    let both = severe.replace("\"ops\"", "\"\"");
    assert_eq!(
        said("/pages", &both),
        "`POST` of `/pages` has a different `/json/severity` than recorded (1 → 3), and 1 more"
    );
    assert_eq!(said("/page", sent), "`POST` of `/page` has a different `/path` than recorded (\"/pages\" → \"/page\")");
    assert_eq!(said("/bookings", "{}"), "`POST` of `/bookings` was never recorded");
    assert_eq!(said("/rota", "{}"), "`POST` of `/rota` was recorded as `DELETE`");
}

#[test]
fn headers_that_a_request_lacks_are_told_and_choose_among_equal_ones() {
    let names = |names: &[&str]| -> Vec<String> { names.iter().map(|name| (*name).to_owned()).collect() };
    let params = r#"{"path": "/tickets"}"#;
    let of = |headers: &[&str]| ToolExchange { headers: names(headers), ..exchange("POST", params, "1") };
    let ask = |answers: &mut Answers, headers: &[&str]| answers.take(&of(headers), false).unwrap().0;
    let mut answers = answers(&[of(&["authorization", "idempotency-key"]), of(&["authorization"]), of(&[])]);
    assert_eq!(answers.lacking(), []);
    assert_eq!(ask(&mut answers, &["authorization", "x-new"]), 1);
    assert_eq!(ask(&mut answers, &["authorization"]), 2);
    assert_eq!(answers.lacking(), []);
    assert_eq!(ask(&mut answers, &["authorization"]), 0);
    assert_eq!(answers.lacking(), [(0, "idempotency-key".to_owned())]);
    let served: Vec<_> = answers.served().into_iter().map(|exchange| exchange.headers).collect();
    assert_eq!(served, [names(&["authorization"]), names(&["authorization", "x-new"]), names(&["authorization"])]);
}

#[test]
fn a_body_that_only_lost_its_content_type_is_the_same() {
    let sent = r#"{"path": "/pages", "json": {"severity": 1, "at": "2026-01-02T03:04:05Z"}}"#;
    let mut answers = answers(&[exchange("POST", sent, "1")]);
    let mut said = |text: &str| {
        let params = Json::object([("path", "/pages".into()), ("text", text.into())]);
        answers.take(&asks("POST", &params), false).unwrap_err().0.to_string()
    };
    assert_eq!(
        said(r#"{"at":"2026-03-04T05:06:07Z","severity":1}"#),
        "`POST` of `/pages` has the recorded body, but no content type of JSON any more"
    );
    assert!(said("severity=1").contains(" has a different `/json` than recorded "));
}
