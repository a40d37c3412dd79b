//! Recording: `retake record`, and the runner that it starts.

use axum::Router;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};

use crate::runner::discovery::{asking, greeting};
use crate::support::loopback::Service;
use crate::support::program::Program;
use crate::support::tree::{SCENARIOS, Tree};

tests! { recording_again_gives_the_committed_fixtures_and_goldens_to_the_byte,
    a_first_recording_writes_the_fixture_and_the_golden,
    a_provider_that_cannot_be_reached_is_named_and_nothing_is_written,
    a_provider_is_reached_through_the_proxy_of_the_machine,
    a_recording_has_its_own_time_limit,
    a_provider_that_answers_with_an_error_is_not_recorded,
    without_a_provider_the_error_names_the_variables_to_set,
    an_unknown_scenario_is_reported_with_the_nearest_name,
    the_providers_key_is_not_in_any_file,
    a_system_whose_tool_results_contain_a_new_id_is_not_recorded_without_a_rule,
    a_stream_that_varies_is_not_recorded,
    a_scenario_that_fails_does_not_stop_others_from_being_recorded,
    importing_the_journal_gives_the_same_fixture,
    a_failure_of_the_provider_is_the_first_line_and_cannot_be_accepted,
    a_recording_whose_fixture_cannot_be_written_is_resumed_at_no_cost,
    journals_of_earlier_recordings_are_kept,
    two_recordings_with_the_same_name_do_not_write_to_the_same_journal,
    git_ignores_the_folder_of_journals,
    the_fixture_notes_the_model_and_the_case,
}

const NAME: &str = "write_read_file";

/// Returns the command that records scenarios from a provider.
fn recording(tree: &Tree, system: &str, names: &str, provider: &str) -> Program {
    resuming(tree, system, "record", names, provider)
}

fn resuming(tree: &Tree, system: &str, action: &str, names: &str, provider: &str) -> Program {
    tree.recorder(system, action, names)
        .env("RETAKE_UPSTREAM_OPENAI", provider)
        .env("OPENAI_API_KEY", "sk-of-the-provider")
}

/// Starts a provider that numbers its answers.
pub(crate) fn counting_provider() -> Service {
    let calls = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    Service::start(Router::new().fallback(async move || {
        let number = calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
        let message = serde_json::json!({ "role": "assistant", "content": format!("answer {number}") });
        let choice = serde_json::json!({ "index": 0, "message": message, "finish_reason": "stop" });
        let answer = serde_json::json!({ "id": "c", "object": "chat.completion", "model": "m", "choices": [choice] });
        ([(axum::http::header::CONTENT_TYPE, "application/json")], answer.to_string())
    }))
}

/// Returns all files except the journals.
fn without_journals(tree: &Tree) -> Vec<(String, String)> {
    tree.files().into_iter().filter(|(name, _)| !name.starts_with("fixtures/.journal/")).collect()
}

/// Records all scenarios except `two_callers`, whose calls are concurrent and so have no fixed order, and `refused`, which calls
/// no model.
fn recording_again_gives_the_committed_fixtures_and_goldens_to_the_byte() {
    let provider = Service::provider();
    let names: Vec<&str> = SCENARIOS.into_iter().filter(|name| !["two_callers", "refused"].contains(name)).collect();
    let tree = Tree::of(&names);
    let is_of_values = |(name, _): &(String, String)| name.starts_with("fixtures/") && !name.ends_with("json");
    let committed = without_journals(&tree);
    let mut values = Vec::new();
    for names in [&names.join(","), NAME] {
        let run = recording(&tree, "gateway", names, &provider.openai()).run().exits(0);
        run.says(&["write_read_file: 4 turns recorded to fixtures/write_read_file.json, two replays agree"]);
        let (of_recording, rest): (Vec<_>, Vec<_>) = without_journals(&tree).into_iter().partition(is_of_values);
        assert_eq!(rest, committed);
        // What is true of the recording is written beside it, the same each time.
        assert!(!of_recording.is_empty() && (values.is_empty() || values == of_recording), "{of_recording:?}");
        values = of_recording;
    }
}

fn a_first_recording_writes_the_fixture_and_the_golden() {
    let provider = Service::provider();
    let tree = Tree::of(&[NAME, "two_callers"]);
    for name in [NAME, "two_callers"] {
        tree.write(&format!("fixtures/{name}.snap"), "");
    }
    let right = without_journals(&tree);
    for name in [NAME, "two_callers"] {
        tree.remove(&format!("fixtures/{name}.snap"));
        tree.remove(&format!("fixtures/{name}.json"));
        tree.remove(&format!("goldens/{name}.snap"));
    }
    let run = recording(&tree, "gateway", "write_read_file,two_callers", &provider.openai()).run().exits(0);
    run.says(&["write_read_file: golden new", "two_callers: 2 turns recorded", "two_callers: golden new"]);
    let names = |files: &[(String, String)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&without_journals(&tree)), names(&right));
    tree.runner("gateway").env("CI", "true").run().exits(0);
}

fn a_provider_that_cannot_be_reached_is_named_and_nothing_is_written() {
    // Nobody listens on this port. A port that was free a moment ago could belong to another test by now.
    let gone = "http://127.0.0.1:1/v1";
    let tree = Tree::of(&[NAME]);
    let before = without_journals(&tree);
    recording(&tree, "gateway", NAME, gone).run().exits(1).says(&[
        &format!("error: write_read_file: not recorded: the provider at {gone} cannot be reached: "),
        "refused",
    ]);
    assert_eq!(without_journals(&tree), before);
}

fn a_provider_is_reached_through_the_proxy_of_the_machine() {
    let proxy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());
    let asked = std::thread::spawn(move || {
        let (stream, _) = proxy.accept().unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stream), &mut line).unwrap();
        line
    });
    let tree = Tree::of(&[NAME]);
    let provider = recording(&tree, "gateway", NAME, "https://provider.invalid/v1");
    provider.env("HTTPS_PROXY", &address).env("NO_PROXY", "").run().exits(1);
    assert_eq!(asked.join().unwrap().trim_end(), "CONNECT provider.invalid:443 HTTP/1.1");
}

fn a_recording_has_its_own_time_limit() {
    let provider = Service::start(Router::new().fallback(async || std::future::pending::<()>().await));
    let tree = Tree::of(&[NAME]);
    let file = format!("scenarios/{NAME}/scenario.toml");
    tree.write(&file, &format!("record = {{ timeout = \"2s\" }}\n{}", tree.read(&file)));
    let run = recording(&tree, "gateway", NAME, &provider.openai()).run().exits(1);
    run.says(&["the scenario took longer than 2s", "raise `record.timeout` in scenario.toml"]);
    tree.runner("gateway").run().exits(0);
}

fn a_provider_that_answers_with_an_error_is_not_recorded() {
    let provider = Service::start(Router::new().fallback(async || (StatusCode::UNAUTHORIZED, "no such key")));
    let tree = Tree::of(&[NAME]);
    let before = without_journals(&tree);
    recording(&tree, "gateway", NAME, &provider.openai())
        .run()
        .exits(1)
        .says(&["error: write_read_file: not recorded: "]);
    assert_eq!(without_journals(&tree), before);
}

fn without_a_provider_the_error_names_the_variables_to_set() {
    let tree = Tree::of(&[NAME]);
    tree.recorder("gateway", "record", NAME).run().exits(2).says(&[
        "error: recording needs a provider, but none is configured",
        "set OPENAI_API_KEY",
        "or RETAKE_UPSTREAM_OPENAI",
    ]);
}

fn an_unknown_scenario_is_reported_with_the_nearest_name() {
    let tree = Tree::of(&[NAME]);
    recording(&tree, "gateway", "write_raed_file", "http://127.0.0.1:9/v1")
        .run()
        .exits(2)
        .says(&["error: no scenario is called `write_raed_file`", "did you mean `write_read_file`?"]);
}

fn the_providers_key_is_not_in_any_file() {
    let provider = Service::provider();
    let tree = Tree::of(&[NAME]);
    recording(&tree, "gateway", NAME, &provider.openai()).run().exits(0);
    assert!(tree.has("fixtures/.journal/write_read_file.jsonl"));
    for (name, text) in tree.files() {
        assert!(!text.contains("sk-of-the-provider") && !text.contains("sk-retake-"), "{name}: {text}");
    }
}

/// The replay creates another id, so it does not find the recorded turn. The proof fails, and nothing is written.
fn a_system_whose_tool_results_contain_a_new_id_is_not_recorded_without_a_rule() {
    let provider = Service::provider();
    let tree = greeting();
    tree.write("scenarios/ticket/scenario.toml", "[[step]]\npost = \"/mint\"\nstream = { last = \"end\" }\n");
    let before = without_journals(&tree);
    let refused = recording(&tree, "oddities", "ticket", &provider.openai()).run().exits(1).says(&[
        "error: ticket: not recorded: unstable: what scenario `ticket` asks the model varies from run to run",
        "(tool `ticket`), in `content`",
        "recorded  opened T-",
        "replayed  opened T-",
        "[[normalize]]",
    ]);
    assert_eq!(without_journals(&tree), before);
    let suite = tree.read("scenarios/suite.toml");
    tree.write("scenarios/suite.toml", &format!("{suite}{}", crate::record::varying::proposed(&refused.stderr)));
    recording(&tree, "oddities", "ticket", &provider.openai()).run().exits(0);
    tree.runner("oddities").run().exits(0);
}

fn a_stream_that_varies_is_not_recorded() {
    let provider = Service::provider();
    let tree = Tree::of(&[NAME]);
    tree.remove("fixtures/write_read_file.json");
    tree.remove("goldens/write_read_file.snap");
    let before = without_journals(&tree);
    let run =
        recording(&tree, "gateway", NAME, &provider.openai()).env(crate::runner::routers::VARY, "1").run().exits(1);
    run.says(&["not recorded: unstable: two replays of scenario `write_read_file` differ, so nothing was written"]);
    assert_eq!(without_journals(&tree), before);
}

fn a_scenario_that_fails_does_not_stop_others_from_being_recorded() {
    let provider = Service::provider();
    let tree = greeting();
    tree.write("scenarios/a_bad/scenario.toml", "[[step]]\npost = \"/fail\"\n");
    tree.write("scenarios/hello/scenario.toml", &asking("Hello there"));
    recording(&tree, "oddities", "a_bad,hello", &provider.openai()).run().exits(1).says(&[
        "error: a_bad: not recorded: scenarios/a_bad/scenario.toml:1:1: failed to take step 1 (POST /fail)",
        "hello: 1 turn recorded to fixtures/hello.json",
    ]);
    assert!(tree.has("fixtures/hello.json") && !tree.has("fixtures/a_bad.json"));
}

/// Starts a provider that answers every call with this failure.
fn failing(fails: Response) -> Service {
    let (parts, body) = fails.into_parts();
    let body = futures_util::FutureExt::now_or_never(axum::body::to_bytes(body, usize::MAX)).unwrap().unwrap();
    Service::start(Router::new().fallback(async move || {
        let mut response = Response::new(axum::body::Body::from(body.clone()));
        *response.status_mut() = parts.status;
        *response.headers_mut() = parts.headers.clone();
        response
    }))
}

fn a_failure_of_the_provider_is_the_first_line_and_cannot_be_accepted() {
    let stream = [(CONTENT_TYPE, "text/event-stream")];
    let begun = "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n";
    let cases = [
        (
            (StatusCode::INTERNAL_SERVER_ERROR, "out of order").into_response(),
            "the answer: status 500: the provider's error: out of order",
        ),
        (
            (StatusCode::TOO_MANY_REQUESTS, "slow down").into_response(),
            "the answer: status 429: the provider's error: slow down",
        ),
        ((stream.clone(), begun).into_response(), "the answer: "),
        ((stream, "data: {\"id\":\n\n").into_response(), "the answer: "),
    ];
    for (fails, reason) in cases {
        let provider = failing(fails);
        let tree = greeting();
        tree.scenario("hello", &asking("Hello there"));
        for action in ["record", "record --accept-unstable"] {
            let run = resuming(&tree, "oddities", action, "hello", &provider.openai()).run().exits(1);
            let first = format!("error: hello: not recorded: the provider failed: POST /v1/chat/completions: {reason}");
            run.says(&[first.as_str(), "retake record hello --resume"]).never_says("unstable");
            assert!(!tree.has("fixtures/hello.json"), "{action}");
        }
    }
}

fn a_recording_whose_fixture_cannot_be_written_is_resumed_at_no_cost() {
    let provider = counting_provider();
    let tree = greeting();
    tree.scenario("hello", &asking("Hello there"));
    tree.write("fixtures/hello.json/in_the_way", "");
    let run = recording(&tree, "oddities", "hello", &provider.openai()).run().exits(1);
    run.says(&["hello.json: failed to write it", "to continue from what was recorded", "retake record hello --resume"]);
    std::fs::remove_dir_all(tree.path("fixtures/hello.json")).unwrap();
    let resumed = resuming(&tree, "oddities", "record --resume", "hello", &provider.openai()).run();
    resumed.exits(0).says(&["hello: 1 call served from the recording, 0 calls sent to the provider"]);
}

fn journals_of_earlier_recordings_are_kept() {
    let provider = counting_provider();
    let tree = greeting();
    tree.scenario("hello", &asking("Hello there"));
    for _ in 0..6 {
        recording(&tree, "oddities", "hello", &provider.openai()).run().exits(0);
    }
    let kept: Vec<String> = tree.files().into_keys().filter(|file| file.contains(".jsonl")).collect();
    let journal = |number: &str| format!("fixtures/.journal/hello{number}.jsonl");
    assert_eq!(kept, [journal(".1"), journal(".2"), journal(".3"), journal("")]);
    for (number, answer) in [("", "answer 6"), (".1", "answer 5"), (".3", "answer 3")] {
        assert!(tree.read(&journal(number)).contains(answer), "{answer}");
    }
}

fn two_recordings_with_the_same_name_do_not_write_to_the_same_journal() {
    let provider = counting_provider();
    let tree = greeting();
    tree.scenario("out", &asking("Hello there"));
    let proxy = crate::replay::serve::Serving::start(crate::record::proxy::proxy(&tree, &provider.openai()));
    let second = recording(&tree, "oddities", "out", &provider.openai()).run().exits(1);
    second.says(&["out.jsonl: another recording is writing this journal"]);
    drop(proxy);
    recording(&tree, "oddities", "out", &provider.openai()).run().exits(0);
}

fn git_ignores_the_folder_of_journals() {
    let provider = counting_provider();
    let tree = greeting();
    tree.scenario("hello", &asking("Hello there"));
    recording(&tree, "oddities", "hello", &provider.openai()).run().exits(0);
    assert_eq!(tree.read("fixtures/.journal/.gitignore"), "*\n");
}

fn the_fixture_notes_the_model_and_the_case() {
    let provider = counting_provider();
    let tree = greeting();
    tree.scenario("hello", &format!("{}[case.flash]\n[case.ultra]\n", asking("Hello there")));
    recording(&tree, "oddities", "hello.ultra", &provider.openai()).run().exits(0);
    let fixture: serde_json::Value = serde_json::from_str(&tree.read("fixtures/hello.ultra.json")).unwrap();
    let model = fixture["texts"]["model"][0].clone();
    assert!(model.is_string(), "{fixture}");
    assert_eq!((&fixture["model"], &fixture["mode"]), (&model, &serde_json::json!("ultra")));
}

fn importing_the_journal_gives_the_same_fixture() {
    let provider = Service::provider();
    let tree = Tree::of(&[NAME]);
    let read = || {
        let text = tree.read("fixtures/write_read_file.json");
        // An import keeps nothing of an older file, and the journal was written now.
        text.lines().filter(|line| !line.contains("\"recorded\"")).map(str::to_owned).collect::<Vec<_>>()
    };
    tree.remove("fixtures/write_read_file.json");
    recording(&tree, "gateway", NAME, &provider.openai()).run().exits(0);
    let recorded = read();
    let journal = "fixtures/.journal/write_read_file.jsonl";
    let import = || tree.retake().args(&["import", "journal", journal, "--out", "fixtures/write_read_file.json"]);
    import().run().exits(0).says(&["4 turns written to fixtures/write_read_file.json, 0 left out"]);
    assert_eq!(read(), recorded);
    // The last line is torn if the machine stopped while it was being written. It is reported and left out.
    let whole = tree.read(journal);
    let torn: String = whole.trim_end().chars().take(whole.chars().count() - 40).collect();
    tree.write(journal, &torn);
    import().run().exits(0).says(&[
        "left out: fixtures/.journal/write_read_file.jsonl:4: torn while it was written: ",
        "3 turns written to fixtures/write_read_file.json, 1 left out",
    ]);
    // A crash cannot tear a line before the last one.
    tree.write(journal, &format!("{torn}\n{whole}"));
    let before = tree.files();
    import().run().exits(2).says(&["fixtures/.journal/write_read_file.jsonl:4:1: not JSON"]);
    // Without any turn, nothing is written.
    tree.write(journal, "{\"began\": 0");
    import().run().exits(1).says(&["error: no turns: 1 left out, nothing was written"]);
    assert_eq!(tree.read("fixtures/write_read_file.json"), before["fixtures/write_read_file.json"]);
}
