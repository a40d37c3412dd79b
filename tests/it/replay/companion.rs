//! `retake serve` as a companion of other test tools: repeated turns, and the server's own endpoints.

use retake::Message;
use serde_json::{Value, json};

use super::serve::{Serving, greeting, said};
use crate::support::fixtures::{self, turn};
use crate::support::loopback::send;
use crate::support::tree::Tree;

tests! { with_repeat_turns_answer_again_starting_with_the_first,
    a_repeated_server_compares_a_call_that_misses_with_any_turn,
    a_server_that_runs_for_long_keeps_the_last_thousand_calls_and_counts_the_others,
    a_replay_in_rust_can_repeat_too,
    without_repeat_a_turn_answers_once,
    a_reset_forgets_misses_and_serves_each_turn_again,
    a_reset_can_name_the_fixtures_to_serve_and_the_test_that_uses_them,
    a_reset_that_names_an_unknown_fixture_changes_nothing,
    a_health_check_is_not_a_miss,
    a_page_of_another_server_may_not_use_the_endpoints,
    a_name_that_was_pointed_at_loopback_may_not_use_the_endpoints,
    a_reset_serves_fixtures_of_the_project_alone_and_tells_nothing_of_other_files,
    fixtures_can_be_named_as_in_the_project,
    an_unknown_fixture_is_an_error_that_suggests_the_nearest_name,
    with_json_only_the_report_is_printed_and_it_names_the_fixtures,
    with_until_eof_it_ends_when_its_standard_input_is_closed,
    a_miss_names_the_file_and_the_index_of_the_nearest_turn,
}

/// Returns the text of the model's answer.
fn content(serving: &Serving, hears: &str) -> Value {
    serving.ask(&[], &said(hears), false).json()["choices"][0]["message"]["content"].clone()
}

/// Returns a project whose fixture has two turns of one conversation and one turn of another.
fn asked_twice() -> Tree {
    let tree = Tree::empty();
    let turns = vec![turn(None, "More", "One"), turn(None, "More", "Two"), turn(None, "Enough", "So be it")];
    fixtures::write(&tree, "counting", turns);
    tree
}

fn with_repeat_turns_answer_again_starting_with_the_first() {
    let tree = asked_twice();
    let mut serving = Serving::start(tree.retake().args(&["serve", "fixtures/counting.json", "--repeat"]));
    for says in ["One", "Two", "One", "Two", "One"] {
        assert_eq!(content(&serving, "More"), says);
    }
    assert_eq!(
        serving.ask(&[], &said("Nothing of the kind"), false).status,
        404,
        "a conversation that was never recorded is still a miss"
    );
    let report = serving.asked("report", None).json();
    assert_eq!(report["unused"], json!([{ "turn": 2, "caller": null }]));
    assert_eq!(serving.end("-TERM").code(), Some(1));
}

fn a_repeated_server_compares_a_call_that_misses_with_any_turn() {
    let tree = asked_twice();
    let serving = Serving::start(tree.retake().args(&["serve", "fixtures/counting.json", "--repeat"]));
    for says in ["One", "Two", "One"] {
        assert_eq!(content(&serving, "More"), says);
    }
    assert_eq!(content(&serving, "Enough"), "So be it");
    let missed = |hears: &str| {
        let missed = serving.ask(&[], &said(hears), false).json();
        missed["error"]["message"].as_str().unwrap().to_owned()
    };
    let told = missed("Nothing of the kind");
    assert!(
        told.contains("says different text than recorded (\"More\" → \"Nothing of the kind\")")
            && !told.contains("once more"),
        "{told}"
    );
    let told = missed("Enough!");
    assert!(told.contains("words \"Enough\" → \"Enough!\"") && told.contains("served before, to call 4"), "{told}");
}

fn a_server_that_runs_for_long_keeps_the_last_thousand_calls_and_counts_the_others() {
    let tree = asked_twice();
    let serving = Serving::start(tree.retake().args(&["serve", "counting", "--repeat"]));
    (0..1_030).for_each(|_| assert_eq!(serving.ask(&[], &said("More"), false).status, 200));
    let report = serving.asked("report", None).json();
    assert_eq!(report["earlier"], json!({ "served": 30, "missed": 0, "drift": 30 }));
    // The oldest are forgotten: the first turn was served at every other call.
    let served = report["served"].as_array().unwrap();
    assert_eq!((served.len(), &served[0]["turn"], &served[999]["turn"]), (1_000, &json!(0), &json!(1)));
    assert!(report["drift"][0]["text"].as_str().unwrap().contains(" and 999 more calls: "), "{}", report["drift"]);
}

fn a_replay_in_rust_can_repeat_too() {
    let tree = asked_twice();
    let replay = retake::ReplayModel::of(tree.path("fixtures/counting.json")).repeat().replay().unwrap();
    for says in ["One", "Two", "One"] {
        assert_eq!(replay.answer(&[Message::new("human", "More")], None).unwrap().text(), says);
    }
}

fn without_repeat_a_turn_answers_once() {
    let tree = asked_twice();
    let serving = Serving::of(&tree.path("fixtures/counting.json"));
    assert_eq!([content(&serving, "More"), content(&serving, "More")], ["One", "Two"]);
    assert_eq!(serving.ask(&[], &said("More"), false).status, 404);
}

fn a_reset_forgets_misses_and_serves_each_turn_again() {
    let tree = greeting();
    let mut serving = Serving::of(&tree.path("fixtures/greeting.json"));
    assert_eq!(content(&serving, "Hello"), "Good morning");
    assert_eq!(serving.ask(&[], &said("Hello"), false).status, 404);
    let misses = serving.asked("misses", None).json();
    assert_eq!(misses.as_array().unwrap().len(), 1, "{misses}");
    let told = misses[0]["explanation"].as_str().unwrap();
    assert!(told.starts_with("replay miss: ") && told.contains("asks once more than recorded"), "{told}");

    let reset = serving.asked("reset", Some(&json!({})));
    assert_eq!((reset.status, &reset.json()["fixtures"]), (200, &json!(["greeting"])));
    assert_eq!(serving.asked("misses", None).json(), json!([]));
    let turn = |index: usize, caller: &str| json!([{ "turn": index, "caller": caller }]);
    assert_eq!(content(&serving, "Hello"), "Good morning");
    let report = serving.asked("report", None).json();
    assert_eq!((&report["served"], &report["unused"]), (&turn(0, "lead_agent"), &turn(1, "middleware:title")));
    assert_eq!(serving.end("-TERM").code(), Some(0), "misses before the reset do not count");
}

fn a_reset_can_name_the_fixtures_to_serve_and_the_test_that_uses_them() {
    let tree = greeting();
    fixtures::write(&tree, "parting", vec![turn(None, "Goodbye", "So long")]);
    let serving = Serving::start(tree.retake().arg("serve"));
    assert_eq!(serving.asked("health", None).json()["fixtures"], json!([]));
    assert_eq!(serving.ask(&[], &said("Goodbye"), false).status, 404);
    for (named, hears, says) in [("parting", "Goodbye", "So long"), ("fixtures/greeting.json", "Hello", "Good morning")]
    {
        assert_eq!(serving.asked("reset", Some(&json!({ "fixtures": [named], "name": "test_it" }))).status, 200);
        assert_eq!(content(&serving, hears), says);
    }
    assert_eq!(serving.ask(&[], &said("Goodbye"), false).status, 404, "the earlier fixture is no longer served");
    let misses = serving.asked("misses", None).json();
    let told = misses[0]["explanation"].as_str().unwrap();
    assert!(told.starts_with("replay miss: ") && told.contains("in scenario `test_it`"), "{told}");
}

fn a_reset_that_names_an_unknown_fixture_changes_nothing() {
    let tree = greeting();
    let serving = Serving::start(tree.retake().args(&["serve", "greeting"]));
    let wrong = [
        (json!({ "fixtures": ["greetin"] }), "did you mean `greeting`?"),
        (json!({ "fixture": ["greeting"] }), "unknown field `fixture`"),
        (json!({ "fixtures": ["fixtures/none.json"] }), "fixtures/none.json: failed to read it"),
    ];
    for (body, says) in wrong {
        let refused = serving.asked("reset", Some(&body));
        let error = refused.json()["error"].as_str().unwrap().to_owned();
        assert!(refused.status == 400 && error.contains(says), "{error}");
    }
    assert_eq!(content(&serving, "Hello"), "Good morning");
}

fn a_health_check_is_not_a_miss() {
    let tree = greeting();
    let mut serving = Serving::of(&tree.path("fixtures/greeting.json"));
    for path in ["", "/", "/health", "/__retake/health"] {
        assert_eq!(send(&format!("{}{path}", serving.ready("url")), &[], None).status, 200, "{path:?}");
    }
    assert_eq!(serving.asked("nothing", None).status, 404);
    assert_eq!(serving.asked("misses", None).json(), json!([]));
    assert_eq!(serving.end("-TERM").code(), Some(0));
}

fn a_page_of_another_server_may_not_use_the_endpoints() {
    let tree = greeting();
    let serving = Serving::of(&tree.path("fixtures/greeting.json"));
    assert_eq!(serving.ask(&[], &said("Hi"), false).status, 404);
    let of_page = [("origin", "http://elsewhere.example")];
    let reset = send(&format!("{}/__retake/reset", serving.ready("url")), &of_page, Some(&json!({})));
    assert_eq!(reset.status, 403);
    assert_eq!(serving.asked("misses", None).json().as_array().unwrap().len(), 1);
}

/// A page of `evil.example` may let its own name lead to 127.0.0.1, and is then its own server to the browser.
fn a_name_that_was_pointed_at_loopback_may_not_use_the_endpoints() {
    let tree = greeting();
    let serving = Serving::of(&tree.path("fixtures/greeting.json"));
    let port = serving.ready("url").rsplit(':').next().unwrap();
    let as_host = |host: &str, path: &str| {
        send(&format!("{}/__retake/{path}", serving.ready("url")), &[("host", &format!("{host}:{port}"))], None)
    };
    for path in ["health", "misses", "report"] {
        for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", "0.0.0.0"] {
            let refused = as_host(host, path);
            assert!(refused.status == 403 && refused.body.contains("loopback"), "{host}: {}", refused.body);
        }
        for host in ["127.0.0.1", "127.8.8.8", "localhost", "LocalHost", "retake.localhost", "[::1]"] {
            assert_eq!(as_host(host, path).status, 200, "{host}");
        }
    }
}

fn a_reset_serves_fixtures_of_the_project_alone_and_tells_nothing_of_other_files() {
    let (tree, other) = (greeting(), greeting());
    tree.write(".env", "KEY=1");
    other.write("fixtures/text.json", "KEY=1");
    let outside = |file: &str| other.path(file).to_str().unwrap().to_owned();
    let mut named = vec![".env".to_owned(), outside("fixtures/text.json"), outside("fixtures/greeting.json")];
    named.extend([outside("fixtures/none.json"), outside("none/none.json"), "fixtures/../../none.json".to_owned()]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(other.path("fixtures/text.json"), tree.path("fixtures/linked.json")).unwrap();
        named.push("linked".to_owned());
    }
    let serving = Serving::start(tree.retake().args(&["serve", "greeting"]));
    for named in named {
        let refused = serving.asked("reset", Some(&json!({ "fixtures": [named] })));
        let error = refused.json()["error"].as_str().unwrap().to_owned();
        assert!(refused.status == 400 && error.contains("is not a fixture of this project"), "{named}: {error}");
    }
    // What the command itself was told to serve may be anywhere, and what is next to it.
    let serving = Serving::start(tree.retake().args(&["serve", &outside("fixtures/greeting.json")]));
    for named in ["fixtures/greeting.json".to_owned(), outside("fixtures/greeting.json")] {
        assert_eq!(serving.asked("reset", Some(&json!({ "fixtures": [named] }))).status, 200);
    }
}

fn fixtures_can_be_named_as_in_the_project() {
    let tree = greeting();
    tree.write("scenarios/suite.toml", "");
    tree.write("services/web/app.py", "");
    fixtures::write(&tree, "parting", vec![turn(None, "Goodbye", "So long")]);
    let program = tree.retake().in_folder(&tree.path("services/web")).args(&["serve", "parting", "greeting"]);
    let serving = Serving::start(program);
    assert_eq!([content(&serving, "Goodbye"), content(&serving, "Hello")], ["So long", "Good morning"]);
}

fn an_unknown_fixture_is_an_error_that_suggests_the_nearest_name() {
    greeting()
        .retake()
        .args(&["serve", "greting"])
        .run()
        .exits(2)
        .says(&["error: there is no fixture `greting`: neither a file", "did you mean `greeting`?"]);
}

fn with_json_only_the_report_is_printed_and_it_names_the_fixtures() {
    let tree = greeting();
    fixtures::write(&tree, "parting", vec![turn(None, "Goodbye", "So long")]);
    let mut serving = Serving::start(tree.retake().args(&["serve", "greeting", "parting", "--json"]));
    assert_eq!(content(&serving, "Goodbye"), "So long");
    assert_eq!(serving.ask(&[], &said("Hi"), false).status, 404);
    let (code, printed) = serving.end_printing("-TERM");
    let report: Value = serde_json::from_str(&printed).unwrap_or_else(|e| panic!("{e}: {printed}"));
    assert_eq!(report["served"], json!([{ "turn": 0, "caller": null, "fixture": "parting" }]));
    assert_eq!(report["unused"][0], json!({ "turn": 0, "caller": "lead_agent", "fixture": "greeting" }));
    assert_eq!(report["missed"][0]["reason"], "this conversation was never recorded");
    let text = report["drift"][0]["text"].as_str().unwrap();
    assert_eq!(report["drift"][0]["level"], "note");
    assert!(text.starts_with("drift: prompt changed in the call, turn 1 of "), "{text}");
    assert!(text.ends_with("fixtures/parting.json: nothing → \"Be brief\""), "{text}");
    assert_eq!(code, Some(1));
}

fn a_miss_names_the_file_and_the_index_of_the_nearest_turn() {
    let tree = greeting();
    fixtures::write(&tree, "parting", vec![turn(None, "Goodbye for now", "So long")]);
    let serving = Serving::start(tree.retake().args(&["serve", "greeting", "parting"]));
    let missed = serving.ask(&[], &said("Goodbye for ever"), false).json();
    let told = missed["error"]["message"].as_str().unwrap();
    assert!(told.contains("turn 1 of ") && told.contains("fixtures/parting.json"), "{told}");
}

fn with_until_eof_it_ends_when_its_standard_input_is_closed() {
    let tree = greeting();
    let mut serving = Serving::held(tree.retake().args(&["serve", "greeting", "--until-eof"]));
    assert_eq!(content(&serving, "Hello"), "Good morning");
    assert_eq!(serving.let_go().code(), Some(0));
}
