//! Calls without a caller that have the same conversation under different system prompts.

use std::sync::Arc;

use regex::Regex;

use super::over_wires::recorded;
use super::replay_of;
use crate::*;
use retake_core::json::{Json, Layout};
use retake_wire::fixture::Recorded;
use retake_wire::{Api, Response};

/// Makes a request that asks the same question under a system prompt, with a tool.
fn request(prompt: &str, tool: &str, model: &str) -> String {
    let tools =
        Json::parse(format!(r#"[{{"type": "function", "function": {{"name": "{tool}"}}}}]"#).as_bytes()).unwrap();
    let message = |role: &str, text: &str| Json::object([("role", Json::from(role)), ("content", text.into())]);
    let mut fields = vec![
        ("model", Json::from(model)),
        ("messages", vec![message("system", prompt), message("user", "What now?")].into()),
    ];
    if !tool.is_empty() {
        fields.push(("tools", tools));
    }
    Json::object(fields).print(Layout::Compact)
}

fn turn(caller: &str, request: &str, answer: &str) -> Recorded {
    let body = format!(r#"{{"choices": [{{"message": {{"content": "{answer}"}}, "finish_reason": "stop"}}]}}"#);
    let response = Response::json(200, Json::parse(body.as_bytes()).unwrap());
    Recorded { caller: Some(caller.to_owned()), ..recorded(Api::OpenAiChat, "/v1/chat/completions", request, response) }
}

async fn ask(client: &reqwest::Client, server: &ModelServer, request: &str) -> Result<String, String> {
    let call = client.post(format!("{}/chat/completions", server.urls().openai)).header("x-api-key", server.key());
    let text = call.body(request.to_owned()).send().await.unwrap().text().await.unwrap();
    let body = Json::parse(text.as_bytes()).unwrap();
    let said = |pointer: &str| body.pointer(pointer).and_then(Json::as_str).map(str::to_owned);
    said("/choices/0/message/content").ok_or_else(|| said("/error/message").unwrap())
}

fn on_a_server(turns: Vec<Recorded>, callers: CallerRules, test: impl AsyncFnOnce(&reqwest::Client, &ModelServer)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mode = Mode::Replay(Arc::new(replay_of(turns)));
        let server = ModelServer::start(mode, ServerOptions { callers, ..ServerOptions::default() }).await.unwrap();
        test(&reqwest::Client::builder().no_proxy().build().unwrap(), &server).await;
    });
}

#[test]
fn two_callers_in_parallel_each_get_their_own_turns_a_thousand_times() {
    const TIMES: usize = 1000;
    let (planner, critic) = (request("You plan.", "", "m"), request("You criticize.", "", "m"));
    let turns = (0..TIMES).flat_map(|i| {
        [turn("planner", &planner, &format!("plan {i}")), turn("critic", &critic, &format!("critique {i}"))]
    });
    on_a_server(turns.collect(), CallerRules::default(), async |client, server| {
        let all = async |request: &str, word: &str| {
            for i in 0..TIMES {
                assert_eq!(ask(client, server, request).await, Ok(format!("{word} {i}")));
            }
        };
        futures_util::future::join(all(&planner, "plan"), all(&critic, "critique")).await;
        assert_eq!(server.seat().drift(), []);
    });
}

/// Reads the rules in a miss as a project does after they were pasted into its `suite.toml`.
fn pasted(miss: &str) -> CallerRules {
    let from = miss.find("[[callers]]\n").unwrap_or_else(|| panic!("no rule in:\n{miss}"));
    let suite: toml::Table = toml::from_str(&miss[from..]).unwrap();
    let rules = suite["callers"].as_array().unwrap().iter().map(|rule| {
        let when = rule["when"].as_table().unwrap();
        let text = |key: &str| when.get(key).map(|text| Regex::new(text.as_str().unwrap()).unwrap());
        let tools = when.get("tools").map(|tools| match tools.as_bool() {
            Some(any) => OfferedTools::Any(any),
            None => OfferedTools::Named(tools.clone().try_into().unwrap()),
        });
        let known = ["model", "system", "message", "tools"];
        assert!(when.keys().all(|key| known.contains(&key.as_str())), "{when:?}");
        let when =
            When { model: text("model"), system: text("system"), message: text("message"), tools, ..When::default() };
        CallerRule { name: rule["name"].as_str().unwrap().to_owned(), when }
    });
    CallerRules::new(rules.collect())
}

#[test]
fn a_call_whose_prompt_was_edited_belongs_to_the_turns_that_it_differs_least_from() {
    let long =
        |end: &str| format!("You are one of the assistants of a travel agency that plans trips for its guests, {end}");
    // Each case is recorded with two prompts, tools or models, and asked in another form of the first.
    let cases = [
        (
            ("Be brief. You plan the trip.", "", "m"),
            ("Be brief. You check the plan's budget.", "", "m"),
            ("Be very brief. You plan the trip.", "", "m"),
        ),
        (
            (&*long("as the planner"), "", "m"),
            (&*long("as the critic"), "", "m"),
            (&*format!("{}!", long("as the planner")), "", "m"),
        ),
        (("Same.", "search", "m"), ("Same.", "write", "m"), ("Another.", "search", "m")),
        (("Same.", "", "m"), ("Same.", "write", "m"), ("Another.", "", "m")),
        (("Same.", "", "big-1.5"), ("Same.", "", "small"), ("Another.", "", "big-1.5")),
        // The fewest checks differ, however much of one text does.
        (
            ("You plan.", "search", "m"),
            ("You judge.", "write", "n"),
            ("You judge, now in many more words.", "search", "m"),
        ),
    ];
    for ((prompt_a, tool_a, model_a), (prompt_b, tool_b, model_b), (prompt, tool, model)) in cases {
        let (first, second) = (request(prompt_a, tool_a, model_a), request(prompt_b, tool_b, model_b));
        let edited = request(prompt, tool, model);
        for callers in [["planner", "critic"], ["", ""]] {
            let of = |caller: &str, request: &str, answer: &str| Recorded {
                caller: Some(caller.to_owned()).filter(|caller| !caller.is_empty()),
                ..turn(caller, request, answer)
            };
            let recorded = || vec![of(callers[0], &first, "plan"), of(callers[1], &second, "critique")];
            for order in [[&edited, &second], [&second, &edited]] {
                on_a_server(recorded(), CallerRules::default(), async |client, server| {
                    for call in order {
                        let says = if *call == edited { "plan" } else { "critique" };
                        assert_eq!(ask(client, server, call).await, Ok(says.into()), "{prompt}, {callers:?}");
                    }
                });
            }
            // A call that was made again does not get the other caller's turn.
            on_a_server(recorded(), CallerRules::default(), async |client, server| {
                assert_eq!(ask(client, server, &edited).await, Ok("plan".into()));
                assert!(ask(client, server, &edited).await.is_err());
            });
        }
    }
}

#[test]
fn a_call_that_is_equally_near_to_two_callers_names_the_rules_that_tell_them_apart() {
    let (plan, check) = ("Be brief. You plan the trip.", "Be brief. You check the costs.");
    let recorded =
        || vec![turn("planner", &request(plan, "", "m"), "plan"), turn("critic", &request(check, "", "m"), "critique")];
    let call = request("Be brief. You plan the trip. Mind costs, check.", "", "m");
    let mut miss = String::new();
    on_a_server(recorded(), CallerRules::default(), async |client, server| {
        miss = ask(client, server, &call).await.unwrap_err();
    });
    assert!(
        miss.contains("`critic`, `planner` had this conversation, and the call does not say whose it is"),
        "{miss}"
    );
    let rule = "[[callers]]\n  name = \"planner\"\n  when = { system = 'You plan the trip\\.' }";
    assert!(miss.contains(rule), "expected {rule}\nin {miss}");
    // With the rule pasted, the caller is right.
    on_a_server(recorded(), pasted(&miss), async |client, server| {
        assert_eq!(ask(client, server, &call).await, Ok("plan".into()), "{miss}");
        assert_eq!(ask(client, server, &request(check, "", "m")).await, Ok("critique".into()), "{miss}");
    });
    // Callers that have no names yet get some.
    let unnamed = recorded().into_iter().map(|turn| Recorded { caller: None, ..turn }).collect();
    on_a_server(unnamed, CallerRules::default(), async |client, server| {
        let miss = ask(client, server, &call).await.unwrap_err();
        assert!(miss.contains("`caller-1`, `caller-2` had this conversation"), "{miss}");
        assert!(miss.contains("name = \"caller-1\"") && miss.contains("record it again"), "{miss}");
    });
}

#[test]
fn a_prompt_that_resembles_none_leads_to_a_rule_that_leaves_the_name_to_the_reader() {
    let turns =
        || vec![turn("a", &request("You plan.", "", "m"), "1"), turn("b", &request("You judge.", "", "m"), "2")];
    let call = request("Now all is \"new\".", "", "m");
    let mut miss = String::new();
    on_a_server(turns(), CallerRules::default(), async |client, server| {
        miss = ask(client, server, &call).await.unwrap_err();
    });
    assert!(miss.contains("[[callers]]\n  name = \"a\"  # or \"b\"\n  when = { system = "), "{miss}");
    on_a_server(turns(), pasted(&miss), async |client, server| {
        assert_eq!(ask(client, server, &call).await, Ok("1".into()), "{miss}");
    });
}

#[test]
fn calls_that_are_equal_in_everything_need_a_header() {
    let same = request("Same.", "", "m");
    on_a_server(vec![turn("a", &same, "1"), turn("b", &same, "2")], CallerRules::default(), async |client, server| {
        let miss = ask(client, server, &same).await.unwrap_err();
        assert!(miss.contains("nothing in these calls tells them apart"), "{miss}");
        assert!(
            miss.contains("let the system send the header x-retake-caller") && !miss.contains("[[callers]]\n"),
            "{miss}"
        );
    });
}

#[test]
fn a_prompt_of_another_call_is_compared_with_that_of_the_open_turn() {
    let (acme, globex) = (request("You speak for ACME.", "", "m"), request("You speak for Globex.", "", "m"));
    let of_nobody = |request: &str, answer: &str| Recorded { caller: None, ..turn("", request, answer) };
    let turns = vec![of_nobody(&acme, "one"), of_nobody(&globex, "two")];
    on_a_server(turns, CallerRules::default(), async |client, server| {
        assert_eq!(ask(client, server, &acme).await, Ok("one".to_owned()));
        let missed = ask(client, server, &acme).await.unwrap_err();
        let first = missed.lines().next().unwrap();
        assert!(["the system prompt of", "Globex", "ACME"].iter().all(|said| first.contains(said)), "{missed}");
    });
    // What was asked twice while it was recorded is asked once more.
    let turns = vec![of_nobody(&acme, "one"), of_nobody(&acme, "two"), of_nobody(&globex, "three")];
    on_a_server(turns, CallerRules::default(), async |client, server| {
        for answer in ["one", "two"] {
            assert_eq!(ask(client, server, &acme).await, Ok(answer.to_owned()));
        }
        let missed = ask(client, server, &acme).await.unwrap_err();
        assert!(missed.contains("asks once more than recorded: turn 2 and 1 more had already answered it"), "{missed}");
    });
}
