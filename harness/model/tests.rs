mod alignment;
mod callers_apart;
mod closed_loop;
mod declared;
mod extra;
mod form;
mod keyless;
mod left;
mod methods;
mod over_wires;
mod recorder;
mod recording;

pub(crate) use over_wires::recorded;

use std::path::Path;
use std::sync::Arc;

use super::*;
use retake_core::conversation::{Answer, Block, Message};
use retake_core::json::Json;
use retake_core::key::{Check, CheckTexts, Rules, dates};
use retake_core::places::RunValues;
use retake_wire::fixture::{Fixture, Recorded, Wire};
use retake_wire::{Api, Response};

fn checks(prompt: &str) -> CheckTexts {
    CheckTexts::new(&Rules::default().normalizer, prompt, &Json::Null, "m", &Json::Null)
}

/// Makes a turn that answers a caller's question under a system prompt.
pub(crate) fn turn(caller: Option<&str>, prompt: &str, question: &str, answer: &str) -> Recorded {
    let body = Json::object([("said", Json::from(answer))]);
    Recorded {
        request: None,
        caller: caller.map(str::to_owned),
        conversation: Rules::default().canonical(vec![Message::new("human", question)]),
        texts: Some(checks(prompt).0),
        output: Answer { blocks: vec![Block::Text(answer.into())], ..Answer::default() },
        wire: Some(Wire::of(Api::OpenAiChat, Response::json(200, body))),
    }
}

pub(crate) fn replay_of(turns: Vec<Recorded>) -> Replay {
    let rules = Arc::new(Rules::default());
    let fixture = Fixture::of_turns(Path::new("fixtures/a.json"), std::collections::BTreeMap::default(), turns, &rules);
    Replay::new(Arc::new(fixture), rules, Scope::new("a"))
}

pub(crate) fn lookup(caller: Option<&str>, prompt: &str, question: &str) -> Lookup {
    Lookup {
        flaws: Vec::new(),
        values: RunValues::default(),
        first_caller: None,
        via: "POST /v1/chat/completions".into(),
        api: Some(Api::OpenAiChat),
        caller: caller.map(str::to_owned),
        conversation: Rules::default().canonical(vec![Message::new("human", question)]).into(),
        checks: Some(std::sync::Arc::new(checks(prompt).into())),
    }
}

fn ask(replay: &Replay, caller: Option<&str>, prompt: &str, question: &str) -> Result<String, MissReason> {
    let taken = replay.take(None, &lookup(caller, prompt, question), None);
    taken.map(|served| served.turn().output.text()).map_err(|miss| miss.reason.clone())
}

#[test]
fn of_turns_under_one_key_the_one_with_the_dates_of_the_call_answers_it() {
    let dated = |day: &str| checks("p").with_dates(&Rules::default().normalizer, dates(day));
    let days = ["2029-03-04", "2029-03-05", "2029-03-06"];
    for caller in [Some("a"), None] {
        let recorded = |day: &&str| Recorded { texts: Some(dated(day).0), ..turn(caller, "p", day, day) };
        let replay = replay_of(days.iter().map(recorded).collect());
        let asked = |day: &str| {
            let lookup = Lookup { checks: Some(Arc::new(dated(day).into())), ..lookup(caller, "p", day) };
            replay.take(None, &lookup, None).map(|served| served.turn().output.text()).unwrap()
        };
        assert_eq!(["2029-03-06", "2029-03-04"].map(asked), ["2029-03-06", "2029-03-04"]);
        // Another day finds its turn, too: that it is another one is drift.
        assert_eq!(asked("2029-12-24"), "2029-03-05");
    }
}

#[test]
fn turns_under_one_key_are_served_in_recorded_order_and_once() {
    let replay = replay_of(vec![turn(Some("a"), "p", "q", "1"), turn(Some("a"), "p", "q", "2")]);
    assert_eq!(ask(&replay, Some("a"), "p", "q"), Ok("1".into()));
    assert_eq!(replay.unused(), [1]);
    assert_eq!(ask(&replay, Some("a"), "p", "q"), Ok("2".into()));
    assert!(replay.all_served());
    assert_eq!(ask(&replay, Some("a"), "p", "q"), Err(MissReason::AllServed { turns: vec![0, 1], more: 0 }));
}

#[test]
fn calls_that_have_only_a_prompt_are_told_apart_by_it() {
    for caller in [Some("a"), None] {
        let replay = replay_of(vec![turn(caller, "Plan.", "", "1"), turn(caller, "Title.", "", "2")]);
        assert_eq!(ask(&replay, caller, "Title.", ""), Ok("2".into()));
        assert_eq!(ask(&replay, caller, "Other.", ""), Err(MissReason::NotRecorded));
        assert!(matches!(ask(&replay, caller, "Title.", ""), Err(MissReason::AllServed { .. })));
        assert_eq!(ask(&replay, caller, "Plan.", ""), Ok("1".into()));
    }
}

#[test]
fn a_turn_with_the_same_whole_request_comes_first() {
    let rules = Rules::default();
    let body = |temperature: i64| Json::object([("temperature", Json::Int(temperature))]);
    let recorded = |temperature, answer| Recorded {
        request: Some(rules.request_hash(&body(temperature))),
        ..turn(Some("a"), "p", "q", answer)
    };
    let replay = replay_of(vec![recorded(0, "0"), recorded(1, "1"), recorded(2, "2")]);
    let ask = |temperature| {
        let lookup = lookup(Some("a"), "p", "q");
        let asked = body(temperature);
        replay.take(None, &lookup, Some(&|| &asked)).map(|served| served.turn().output.text()).ok()
    };
    assert_eq!(ask(2), Some("2".into()));
    // A request that equals none gets the next turn in recorded order: the hash only ranks turns, it is never verified.
    assert_eq!(ask(7), Some("0".into()));
    assert_eq!(ask(1), Some("1".into()));
}

#[test]
fn a_deerflow_fixture_of_the_first_rules_is_found_by_them() {
    let hidden = Message { hidden: true, ..Message::new("human", "a reminder of the middleware") };
    let marked = Message::new("human", "--- BEGIN USER INPUT ---\nhello\n--- END USER INPUT ---");
    for messages in
        [vec![Message::new("human", "User:\nhello")], vec![marked], vec![Message::new("human", "hello"), hidden]]
    {
        let key = Rules::first_key(messages.clone(), Some("lead_agent"));
        let rules = Arc::new(Rules::default());
        assert_ne!(rules.key(&rules.canonical(messages.clone()), Some("lead_agent")), key);
        let text = format!(
            r#"{{"turns": [{{"caller": "lead_agent", "conversation_hash": "{}", "input_hash": "{}",
            "output": {{"type": "ai", "data": {{"content": "hi"}}}}}}]}}"#,
            key.conversation_hash, key.input_hash
        );
        let fixture = Fixture::parse(Path::new("fixtures/a.json"), text.as_bytes(), &rules).unwrap();
        let replay = Replay::new(Arc::new(fixture), rules, Scope::new("a"));
        assert_eq!(replay.answer(&messages, Some("lead_agent")).unwrap().text(), "hi");
        assert!(replay.answer(&[Message::new("human", "other")], Some("lead_agent")).is_err());
    }
}

#[test]
fn a_call_that_is_made_again_and_again_names_the_first_turns_only() {
    let replay = replay_of(vec![turn(Some("a"), "p", "q", "1"); 10]);
    for _ in 0..10 {
        assert_eq!(ask(&replay, Some("a"), "p", "q"), Ok("1".into()));
    }
    let reason = ask(&replay, Some("a"), "p", "q").unwrap_err();
    assert_eq!(
        reason.to_string(),
        "the call was made again: turn 1, turn 2, turn 3, turn 4, turn 5, turn 6, turn 7, turn 8 and 2 more \
         answered it before"
    );
}

#[test]
fn equal_checks_come_before_recorded_order() {
    let replay = replay_of(vec![turn(Some("a"), "p1", "q", "1"), turn(Some("a"), "p2", "q", "2")]);
    assert_eq!(ask(&replay, Some("a"), "p2", "q"), Ok("2".into()));
    assert_eq!(ask(&replay, Some("a"), "p2", "q"), Ok("1".into()), "the prompt is not part of the key");
}

#[test]
fn a_known_caller_never_gets_the_turn_of_another_caller() {
    let replay = replay_of(vec![turn(Some("a"), "p", "q", "1")]);
    assert_eq!(ask(&replay, Some("b"), "p", "q"), Err(MissReason::OtherCaller { callers: vec!["a".into()] }));
    assert_eq!(ask(&replay, Some("lead_agent"), "p", "x"), Err(MissReason::NotRecorded));
}

#[test]
fn an_unknown_caller_gets_the_only_turn_that_fits() {
    let replay = replay_of(vec![
        turn(Some("a"), "p1", "q", "1"),
        turn(Some("b"), "p2", "q", "2"),
        turn(Some("a"), "p", "r", "3"),
    ]);
    assert_eq!(ask(&replay, None, "any", "r"), Ok("3".into()));
    assert_eq!(ask(&replay, None, "p2", "q"), Ok("2".into()));
    assert_eq!(
        ask(&replay, None, "p2", "q"),
        Err(MissReason::AllServed { turns: vec![1], more: 0 }),
        "not the turn of `a`"
    );
    assert_eq!(ask(&replay, None, "p1", "q"), Ok("1".into()));
}

#[test]
fn an_unknown_caller_that_fits_several_is_a_miss_that_names_them() {
    let replay = replay_of(vec![turn(Some("a"), "p", "q", "1"), turn(Some("b"), "p", "q", "2")]);
    let both = MissReason::Ambiguous { callers: vec!["a".into(), "b".into()] };
    assert_eq!(ask(&replay, None, "p", "q"), Err(both.clone()));
    assert_eq!(ask(&replay, None, "other", "q"), Err(both));
    let told = replay.scope().misses()[0].to_string();
    assert!(told.contains("`a`, `b` had this conversation") && told.contains("[[callers]]"), "{told}");
}

#[test]
fn a_turn_older_than_callers_answers_anyone_after_the_callers_own() {
    let rules = Arc::new(Rules::default());
    let hash = rules.conversation_hash(&rules.canonical(vec![Message::new("human", "q")]));
    let own = rules.input_hash(hash, Some("a"));
    let output = |text| format!(r#"{{"type": "ai", "data": {{"content": "{text}"}}}}"#);
    let text = format!(
        r#"{{"turns": [{{"input_hash": "{hash}", "output": {}}},
            {{"caller": "a", "conversation_hash": "{hash}", "input_hash": "{own}", "output": {}}}]}}"#,
        output("old"),
        output("own")
    );
    let fixture = Fixture::parse(Path::new("f"), text.as_bytes(), &rules).unwrap();
    let replay = Replay::new(Arc::new(fixture), rules, Scope::new("a"));
    assert_eq!(ask(&replay, Some("a"), "p", "q"), Ok("own".into()));
    assert_eq!(ask(&replay, Some("b"), "p", "q"), Ok("old".into()));
}

#[test]
fn choosing_and_taking_are_one_step() {
    let turns: Vec<Recorded> = (0..200).map(|i| turn(Some("a"), "p", "q", &i.to_string())).collect();
    let replay = replay_of(turns);
    let mut answers: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| (0..25).map(|_| ask(&replay, Some("a"), "p", "q").unwrap()).collect::<Vec<_>>()))
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    answers.sort();
    answers.dedup();
    assert_eq!(answers.len(), 200);
}

#[test]
fn drift_names_the_check_and_both_texts() {
    let replay = replay_of(vec![turn(Some("a"), "Be brief on 2026-01-02", "q", "1")]);
    let lookup = |prompt: &str| Lookup {
        flaws: Vec::new(),
        values: RunValues::default(),
        first_caller: None,
        via: String::new(),
        api: Some(Api::OpenAiChat),
        caller: Some("a".into()),
        conversation: Rules::default().canonical(vec![Message::new("human", "q")]).into(),
        checks: Some(std::sync::Arc::new(checks(prompt).into())),
    };
    let served = replay.take(None, &lookup("Be long on 2026-03-04"), None).unwrap();
    let drift = DriftOf {
        check: Check::Prompt,
        recorded: "Be brief on <DATE>".into(),
        called: "Be long on <DATE>".into(),
        breakage: None,
    };
    assert_eq!(served.drift, [drift]);
}

#[test]
fn a_miss_without_a_model_says_so() {
    let replay = Replay::none(Arc::new(Rules::default()), Scope::new("a"));
    assert_eq!(ask(&replay, None, "p", "q"), Err(MissReason::NoFixture));
}

#[test]
fn an_agent_in_the_same_process_needs_no_http() {
    let replay = replay_of(vec![turn(Some("middleware:title"), "p", "q", "1")]);
    let caller = retake_core::key::caller_of_tags(["seq:1", "middleware:title"], Some("x"));
    assert_eq!(replay.answer(&[Message::new("human", "q")], caller).unwrap().text(), "1");
    assert!(replay.answer(&[Message::new("human", "q")], Some("title_agent")).is_err(), "an alias is the same caller");
}

/// Posts a request, and returns the status, the header `x-should-retry` and the body.
pub(super) async fn post(server: &ModelServer, path: &str, key: &str, body: &str) -> (u16, Option<String>, String) {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = client.post(format!("{}{path}", server.urls().url)).body(body.to_owned());
    let response = request.header("authorization", format!("Bearer {key}")).send().await.unwrap();
    let retry = response.headers().get("x-should-retry").map(|v| v.to_str().unwrap().to_owned());
    (response.status().as_u16(), retry, response.text().await.unwrap())
}

pub(super) fn on_a_server(turns: Vec<Recorded>, test: impl AsyncFnOnce(&ModelServer, &Replay)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let replay = Arc::new(replay_of(turns));
        let server = ModelServer::start(Mode::Replay(replay.clone()), ServerOptions::default()).await.unwrap();
        test(&server, &replay).await;
    });
}

const CALL: &str = r#"{"model": "m", "messages": [{"role": "user", "content": "q"}]}"#;

#[test]
fn a_call_gets_the_recorded_response_and_a_second_one_the_error_envelope() {
    on_a_server(vec![turn(None, "", "q", "1")], async |server, replay| {
        let served = post(server, "/any/prefix/chat/completions", server.key(), CALL).await;
        assert_eq!(served, (200, None, r#"{"said":"1"}"#.into()));
        let (status, retry, body) = post(server, "/v1/chat/completions", server.key(), CALL).await;
        assert_eq!((status, retry.as_deref()), (404, Some("false")));
        let error = Json::parse(body.as_bytes()).unwrap();
        assert_eq!(error.pointer("/error/type"), Some(&Json::from("replay_miss")));
        assert!(error.pointer("/error/message").unwrap().as_str().unwrap().contains("turn 1 had already answered it"));
        assert_eq!(replay.scope().misses().len(), 1);
    });
}

#[test]
fn an_answer_recorded_as_json_is_streamed_on_request() {
    on_a_server(vec![turn(None, "", "q", "hello there")], async |server, _| {
        let call = CALL.replace("\"model\"", "\"stream\": true, \"model\"");
        let (status, _, body) = post(server, "/v1/chat/completions", server.key(), &call).await;
        assert_eq!(status, 200);
        let frames = retake_wire::split_frames(&body);
        assert_eq!(frames.last().map(String::as_str), Some("data: [DONE]\n\n"));
        let response = Response::stream(frames);
        assert_eq!(retake_wire::decode_response(Api::OpenAiChat, &response).unwrap().text(), "hello there");
    });
}

#[test]
fn a_request_that_is_not_a_call_is_refused_and_registered() {
    on_a_server(vec![turn(None, "", "q", "1")], async |server, replay| {
        let cases = [
            ("/v1/chat/completions", "wrong", CALL, 401, "did not bring the key"),
            ("/v1/chat/completions", server.key(), "{", 400, "not JSON: expected a key in quotes"),
            ("/v1/chat/completions", server.key(), "{}", 400, "messages"),
            ("/v1/chat/completions", server.key(), "[[[", 400, "not JSON"),
            (
                "/v1/unheard-of",
                server.key(),
                CALL,
                404,
                "calls `POST /v1/unheard-of`, which is not a path of a model that Retake knows",
            ),
        ];
        for (i, (path, key, body, status, reason)) in cases.into_iter().enumerate() {
            let (found, retry, text) = post(server, path, key, body).await;
            assert_eq!((found, retry.as_deref()), (status, Some("false")), "{text}");
            assert!(text.contains(reason), "{text}");
            assert_eq!(replay.scope().misses().len(), i + 1);
        }
        let deep = format!("{{\"messages\": {}", "[".repeat(1000));
        assert_eq!(post(server, "/v1/chat/completions", server.key(), &deep).await.0, 400);
        assert_eq!(post(server, "/v1/chat/completions", server.key(), CALL).await.0, 200, "the server goes on");
    });
}

#[test]
fn the_models_of_the_fixture_are_listed() {
    on_a_server(vec![turn(None, "", "q", "1")], async |server, _| {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let request = client.get(format!("{}/models", server.urls().openai)).header("x-api-key", server.key());
        let body = request.send().await.unwrap().text().await.unwrap();
        assert_eq!(Json::parse(body.as_bytes()).unwrap().str_of("object"), Some("list"));
    });
}

#[test]
fn the_server_listens_only_on_loopback() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mode = Mode::Replay(Arc::new(replay_of(vec![])));
    let options = ServerOptions { address: Some(([0, 0, 0, 0], 0).into()), ..ServerOptions::default() };
    let error = runtime.block_on(ModelServer::start(mode, options)).unwrap_err();
    assert!(error.to_string().contains("0.0.0.0:0 is not a loopback address"), "{error}");
}

#[test]
fn a_flood_of_misses_is_counted_and_the_first_are_explained() {
    let replay = replay_of(vec![turn(Some("a"), "p", "the question", "1")]);
    for _ in 0..1000 {
        ask(&replay, Some("a"), "p", "the queston").unwrap_err();
    }
    let misses = replay.scope().misses();
    assert_eq!(misses.len(), 1000);
    assert!(
        misses[0].evidence.iter().any(|line| line.contains("\"question\" → \"queston\"")),
        "{:?}",
        misses[0].evidence
    );
    assert!(misses[999].evidence.is_empty());
}

#[test]
fn a_request_with_half_an_emoji_is_answered() {
    on_a_server(vec![turn(None, "", "q \u{fffd}", "1")], async |server, replay| {
        let call = CALL.replace("\"q\"", r#""q \ud83d""#);
        let served = post(server, "/v1/chat/completions", server.key(), &call).await;
        assert_eq!((served.0, served.2.as_str()), (200, r#"{"said":"1"}"#));
        assert!(replay.all_served());
    });
}
