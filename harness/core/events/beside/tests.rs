use super::*;
use crate::events::captured::{AfterLast, Delivery, Event, Status};
use crate::events::{Detail, Foreign, Known, ShapeOptions, Shaped, changes};

fn answer(request: &str, body: &str, is_captured: bool) -> Captured {
    let headers = vec![("x-plan".to_owned(), "basic".to_owned())];
    let captured = Captured {
        request: request.to_owned(),
        status: Status::Http(201),
        content_type: "application/json".to_owned(),
        events: vec![Event::body(body.as_bytes())],
        after: AfterLast::default(),
        tree: None,
        delivery: Delivery { headers, is_beside: false },
    };
    if is_captured { captured } else { captured.beside(true) }
}

/// The golden of a run that signs in, makes a thread, and asks.
fn golden(login: &str, committed: Option<&Golden>) -> Golden {
    let all = [
        answer("POST /login", login, false),
        answer("POST /threads", r#"{"state": "open"}"#, false),
        answer("POST /ask", r#"{"state": "done"}"#, true),
    ];
    let known = Known { foreign: Some(Foreign::default()), has_others: true, committed, ..Known::default() };
    Shaped::of(&all, &ShapeOptions::default(), &known, &str::to_owned).golden
}

const LOGIN: &str = r#"{"plan": "basic", "limits": {"tickets": 20}}"#;

fn words(was: &Golden, is: &Golden) -> Vec<String> {
    changes(was, is).iter().map(crate::events::Change::words).collect()
}

#[test]
fn the_answer_to_a_step_that_is_not_captured_is_held() {
    let held = Golden::parse(&golden(LOGIN, None).to_string()).unwrap();
    assert_eq!(golden(LOGIN, Some(&held)), held);
    let now = golden(&LOGIN.replace("basic", "pro"), Some(&held));
    assert_eq!(
        words(&held, &now),
        ["the body of `POST /login` has a different shape: `/plan` is `\"pro\"`, not `\"basic\"`"]
    );
}

#[test]
fn what_varies_there_is_said_and_fails_nothing() {
    let (mut one, mut two) = (golden(LOGIN, None), golden(r#"{"plan": "basic"}"#, None));
    Golden::agree_on_what_varies(&mut [&mut one, &mut two], Detail::Types);
    assert_eq!(one, two);
    let held = Golden::parse(&one.to_string()).unwrap();
    assert!(held.to_string().contains("(beside)  (varies)\n"), "{held}");
    assert_eq!(golden(r#"{"more": true}"#, Some(&held)), held);
    // Once it varied, it is open.
    let mut later = golden(LOGIN, None);
    later.keep_varying(&held);
    assert_eq!(later, held);
}

#[test]
fn a_golden_that_holds_fewer_answers_is_compared_without_them() {
    let whole = golden(LOGIN, None);
    for left in [vec![2], vec![1, 2], vec![0, 2]] {
        let blocks = left.iter().map(|at| whole.blocks[*at].clone()).collect();
        let older = Golden::parse(&Golden { blocks, ..Golden::default() }.to_string()).unwrap();
        assert_eq!(golden(LOGIN, Some(&older)).to_string(), older.to_string(), "{left:?}");
    }
    // Before bodies were held, a header that an option names was.
    let mut older = whole;
    older.blocks[0].events.clear();
    older.blocks[0].trees.clear();
    let older = Golden::parse(&older.to_string()).unwrap();
    assert_eq!(golden(r#"{"other": 1}"#, Some(&older)), older);
}

#[test]
fn an_answer_without_events_is_known_by_its_request() {
    let mut opens = answer("SOCKET /live", "", true);
    opens.events.clear();
    let all = [answer("POST /login", LOGIN, false), opens.clone(), answer("SOCKET /live, continued", "{}", true)];
    let of = |captures: &[Captured], committed: Option<&Golden>| {
        let known = Known { foreign: Some(Foreign::default()), has_others: true, committed, ..Known::default() };
        Shaped::of(captures, &ShapeOptions::default(), &known, &str::to_owned).golden
    };
    let mut held = of(&all, None);
    held.blocks[1].headers[0].value = None;
    let held = Golden::parse(&held.to_string()).unwrap();
    assert_eq!(of(&all, Some(&held)), held);
}

#[test]
fn what_one_answer_says_at_a_place_tells_nothing_of_another() {
    for is_captured in [false, true] {
        let run = |id: &str, committed: Option<&Golden>| {
            let all = [
                answer("POST /sessions", &format!(r#"{{"id": "ses_{id}", "word": ""}}"#), is_captured),
                answer("POST /pickups", r#"{"id": "PU-000001", "word": "free"}"#, is_captured),
            ];
            let known = Known { foreign: Some(Foreign::default()), has_others: true, committed, ..Known::default() };
            Shaped::of(&all, &ShapeOptions::default(), &known, &str::to_owned).golden
        };
        let one = run("4f1c09ab4f1c09ab", None);
        assert_eq!(run("90aa1b7c90aa1b7c", Some(&one)), one, "a number is no id because the other answer has one");
        assert!(one.to_string().contains("\"free\""), "{one}");
    }
}
