//! `retake record --resume`: calls that were paid for once are not paid for again.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::record::processes::{children_of, is_gone};
use crate::record::rounds::{JOURNAL, LOG, Provider, agent, scenario};
use crate::support::program::{Program, Ran};
use crate::support::tree::{Tree, undated};

tests! { a_recorder_that_is_killed_loses_only_the_call_in_flight,
    a_relay_that_is_killed_alone_ends_its_runner_which_loses_only_the_call_in_flight,
    a_recording_that_is_interrupted_says_what_it_has_saved_and_how_to_go_on,
    an_answer_is_on_disk_before_the_agent_gets_its_last_frame,
    a_changed_prompt_sends_exactly_the_calls_that_have_it,
    a_changed_tool_sends_exactly_the_calls_that_offer_it,
    a_changed_model_sends_exactly_the_calls_to_it,
    a_changed_tool_result_sends_exactly_the_calls_that_contain_it,
    nothing_changed_sends_nothing,
    concurrent_callers_are_distinguished_by_their_keys,
    equal_calls_get_their_answers_in_recorded_order,
    the_expected_cost_is_printed_before_the_first_paid_call,
    recording_resumes_from_a_torn_journal,
    recording_resumes_after_a_failure_of_the_provider,
    a_newer_fixture_takes_precedence_over_an_older_journal,
}

/// The variable that says how many recorders are killed.
const KILLED: &str = "RETAKE_KILLED_RECORDERS";

fn tree(agents: &Value) -> Tree {
    let tree = Tree::empty();
    tree.write("scenarios/suite.toml", "settle = \"100ms\"\n");
    tree.write("scenarios/work/scenario.toml", &scenario(agents));
    tree
}

fn recorder(tree: &Tree, provider: &Provider, action: &str) -> Program {
    tree.recorder("rounds", action, "work").env("RETAKE_UPSTREAM_OPENAI", provider.openai())
}

/// The fixture without the minute in which it was recorded.
fn work(tree: &Tree) -> String {
    let text = tree.read("fixtures/work.json");
    text.lines().filter(|line| !line.contains("\"recorded\"")).collect::<Vec<_>>().join("\n")
}

fn record(tree: &Tree, provider: &Provider) -> Ran {
    recorder(tree, provider, "record").run().exits(0)
}

fn resume(tree: &Tree, provider: &Provider) -> Ran {
    recorder(tree, provider, "record --resume").run().exits(0)
}

/// The agent does not wait for the end of the body: it continues at `[DONE]`.
fn an_answer_is_on_disk_before_the_agent_gets_its_last_frame() {
    let provider = Provider::start();
    let tree = tree(&agent("lead", 3));
    let journal = tree.path("fixtures/.journal/work.jsonl");
    recorder(&tree, &provider, "record --accept-unstable").env(JOURNAL, &journal).run();
    let asked = provider.take();
    let last = asked.last().unwrap()["messages"].to_string();
    assert!(last.contains(", 1 on disk") && last.contains(", 2 on disk"), "{last}");
}

/// Records `from`, then `to` with `--resume`, and returns the calls that reached the provider the second time. Asserts that the
/// fixture is the same as that of a new recording of `to`.
fn changed(from: &Value, to: &Value) -> Vec<(String, usize)> {
    let provider = Provider::start();
    let (tree, fresh) = (tree(from), tree(to));
    record(&tree, &provider);
    record(&fresh, &provider);
    provider.take();
    tree.write("scenarios/work/scenario.toml", &scenario(to));
    resume(&tree, &provider);
    // What the rules make equal stays as it was sent first.
    let said = |tree: &Tree| work(tree).replace("2026-11-22", "2026-11-21");
    assert_eq!(said(&tree), said(&fresh));
    tree.runner("rounds").run().exits(0);
    provider.take_rounds()
}

/// Returns these rounds of a caller, in the form of `take_rounds`.
fn calls(caller: &str, rounds: impl IntoIterator<Item = usize>) -> Vec<(String, usize)> {
    rounds.into_iter().map(|round| (caller.to_owned(), round)).collect()
}

/// Returns the agent with one field of one round changed.
fn with(mut agent: Value, round: usize, field: &str, value: &str) -> Value {
    agent["rounds"][round][field] = json!(value);
    agent
}

fn nothing_changed_sends_nothing() {
    assert_eq!(changed(&agent("lead", 5), &agent("lead", 5)), []);
}

fn a_changed_prompt_sends_exactly_the_calls_that_have_it() {
    let lead = agent("lead", 5);
    assert_eq!(changed(&lead, &with(lead.clone(), 2, "prompt", "Be kind.")), calls("lead", [2]));
    let all = (0..5).fold(lead.clone(), |agent, round| with(agent, round, "prompt", "Be kind."));
    assert_eq!(changed(&lead, &all), calls("lead", 0..5));
    // A date in a prompt is not a change.
    let dated = |date: &str| with(lead.clone(), 2, "prompt", &format!("Today is {date}."));
    assert_eq!(changed(&dated("2026-11-21"), &dated("2026-11-22")), []);
}

fn a_changed_tool_sends_exactly_the_calls_that_offer_it() {
    let lead = agent("lead", 5);
    assert_eq!(changed(&lead, &with(lead.clone(), 3, "tool", "find")), calls("lead", [3]));
}

fn a_changed_model_sends_exactly_the_calls_to_it() {
    let lead = agent("lead", 5);
    let to = with(with(lead.clone(), 1, "model", "large"), 4, "model", "large");
    assert_eq!(changed(&lead, &to), calls("lead", [1, 4]));
}

fn a_changed_tool_result_sends_exactly_the_calls_that_contain_it() {
    let lead = agent("lead", 5);
    for round in 0..5 {
        let to = with(lead.clone(), round, "result", "found nothing");
        assert_eq!(changed(&lead, &to), calls("lead", round + 1..5), "round {round}");
    }
}

/// The two callers run at the same time, so the order of their calls differs from run to run.
fn concurrent_callers_are_distinguished_by_their_keys() {
    let provider = Provider::start();
    let (lead, title) = (agent("lead", 4), agent("title", 2));
    let tree = tree(&json!([lead, title]));
    record(&tree, &provider);
    assert_eq!(provider.take_rounds(), [calls("lead", 0..4), calls("title", 0..2)].concat());
    let answers = |tree: &Tree| {
        let fixture: Value = serde_json::from_str(&tree.read("fixtures/work.json")).unwrap();
        let turns = fixture["turns"].as_array().unwrap().iter();
        let mut answers: Vec<_> = turns.map(|t| (t["caller"].to_string(), t["wire"].to_string())).collect();
        answers.sort();
        answers
    };
    let before = answers(&tree);
    // The agents in reverse order.
    tree.write("scenarios/work/scenario.toml", &scenario(&json!([title, lead])));
    resume(&tree, &provider);
    assert_eq!((provider.take_rounds(), answers(&tree)), (vec![], before));
    tree.write("scenarios/work/scenario.toml", &scenario(&json!([with(title, 1, "model", "large"), lead])));
    resume(&tree, &provider);
    assert_eq!(provider.take_rounds(), calls("title", [1]));
}

/// The scenario asks the same question several times, and gets a different answer each time.
fn equal_calls_get_their_answers_in_recorded_order() {
    let provider = crate::record::recording::counting_provider();
    let tree = Tree::empty();
    tree.write("scenarios/suite.toml", "settle = \"100ms\"\n");
    let ask = crate::runner::discovery::asking("Hello");
    let write = |times: usize| tree.write("scenarios/work/scenario.toml", &ask.repeat(times));
    let record = |action: &str| {
        tree.recorder("oddities", action, "work").env("RETAKE_UPSTREAM_OPENAI", provider.openai()).run().exits(0)
    };
    let answers = || {
        let fixture: Value = serde_json::from_str(&tree.read("fixtures/work.json")).unwrap();
        let turns = fixture["turns"].as_array().unwrap().clone();
        turns
            .iter()
            .map(|turn| turn["wire"]["json"]["choices"][0]["message"]["content"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    write(2);
    record("record");
    assert_eq!(answers(), ["answer 1", "answer 2"]);
    write(3);
    record("record --resume").says(&["work: 2 calls served from the recording, 1 call sent to the provider"]);
    assert_eq!(answers(), ["answer 1", "answer 2", "answer 3"]);
    write(1);
    record("record --resume");
    assert_eq!(answers(), ["answer 1"]);
}

fn the_expected_cost_is_printed_before_the_first_paid_call() {
    let provider = Provider::start();
    let lead = agent("lead", 3);
    let tree = tree(&lead);
    resume(&tree, &provider).says(&["work: nothing is recorded yet, so each call goes to the provider"]);
    // These answers have no usage, so the tokens are estimated from the number of bytes.
    let expected = "work: expect 3 calls and about ";
    let again = record(&tree, &provider).says(&[expected, " tokens, as in fixtures/work.json"]);
    again.never_says("goes to the provider");
    tree.write("scenarios/work/scenario.toml", &scenario(&with(lead, 1, "prompt", "Be kind.")));
    resume(&tree, &provider).says(&[
        expected,
        "less the calls that equal a recorded one: 3 turns in fixtures/work.json",
        "work: POST /v1/chat/completions of `lead` equals no recorded call and goes to the provider; expect at most 2 calls and",
        "work: 2 calls served from the recording, 1 call sent to the provider",
    ]);
}

fn recording_resumes_from_a_torn_journal() {
    let provider = Provider::start();
    let tree = tree(&agent("lead", 4));
    record(&tree, &provider);
    provider.take();
    let whole = work(&tree);
    let journal = "fixtures/.journal/work.jsonl";
    let lines: Vec<String> = tree.read(journal).lines().map(str::to_owned).collect();
    tree.remove("fixtures/work.json");
    tree.write(journal, &format!("{}\n{}\n{}", lines[0], lines[1], &lines[2][..lines[2].len() / 2]));
    resume(&tree, &provider).says(&["warning: fixtures/.journal/work.jsonl:3: torn while it was written: "]);
    assert_eq!((provider.take_rounds(), work(&tree)), (calls("lead", [2, 3]), whole));
    // A crash can only tear the last line. For another torn line, resuming stops and keeps the journal.
    tree.write(journal, &format!("{}\n{}\n", &lines[2][..40], lines[0]));
    let before = tree.files();
    let torn = recorder(&tree, &provider, "record --resume").run().exits(1);
    torn.says(&["fixtures/.journal/work.jsonl:1:1: not JSON", "to record from the start: retake record work"]);
    assert_eq!(tree.files(), before);
}

/// The provider fails at the third call, and works again afterwards.
fn recording_resumes_after_a_failure_of_the_provider() {
    let provider = Provider::start();
    let lead = agent("lead", 4);
    let tree = tree(&lead);
    let whole = {
        record(&tree, &provider);
        provider.take();
        work(&tree)
    };
    tree.remove("fixtures/work.json");
    let journal = "fixtures/.journal/work.jsonl";
    let lines: Vec<String> = tree.read(journal).lines().map(str::to_owned).collect();
    // The journal as a recording leaves it when the provider fails.
    let failed = lines[2].replacen("\"status\":200", "\"status\":503", 1);
    assert_ne!(failed, lines[2]);
    tree.write(journal, &format!("{}\n{}\n{failed}\n", lines[0], lines[1]));
    resume(&tree, &provider)
        .says(&["less the calls that equal a recorded one: 2 calls recorded in fixtures/.journal/work.jsonl"]);
    assert_eq!((provider.take_rounds(), work(&tree)), (calls("lead", [2, 3]), whole));
}

/// Somebody else has recorded the scenario again in the meantime, and committed the new fixture.
fn a_newer_fixture_takes_precedence_over_an_older_journal() {
    let provider = Provider::start();
    let tree = tree(&agent("lead", 1));
    record(&tree, &provider);
    let theirs = tree.read("fixtures/work.json").replace("answer 1 ", "their answer ");
    tree.write("fixtures/work.json", &theirs);
    provider.take();
    resume(&tree, &provider);
    assert!(tree.read("fixtures/work.json").contains("their answer "));
    assert_eq!(provider.take_rounds(), []);
}

/// Ctrl-C, or the end that an editor or a CI system sends.
fn a_recording_that_is_interrupted_says_what_it_has_saved_and_how_to_go_on() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        // The provider answers two calls, and says with the third one that it is there, but never answers it.
        let (third, asked_again) = std::sync::mpsc::channel();
        let provider = Provider::stopping_at(3, third);
        let tree = tree(&agent("lead", 4));
        let mut command = recorder(&tree, &provider, "record").into_command();
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        asked_again.recv().unwrap();
        let sent = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{said}");
        let saved =
            "error: work: not recorded: interrupted; 2 complete answers are saved in fixtures/.journal/work.jsonl";
        for text in [saved, "to continue from what was recorded:\n    retake record work --resume"] {
            assert!(said.contains(text), "{text:?} is not in:\n{said}");
        }
        let provider = Provider::start();
        resume(&tree, &provider);
        assert_eq!(provider.take_rounds(), calls("lead", [2, 3]));
    }
}

/// Who is killed of a recording.
#[derive(Clone, Copy, PartialEq)]
enum Killed {
    /// The runner, which records. The command says so.
    Runner,
    /// The command, whose relay reaches the provider. The runner ends by itself.
    Relay,
}

fn a_recorder_that_is_killed_loses_only_the_call_in_flight() {
    kills_lose_only_the_call_in_flight(Killed::Runner);
}

fn a_relay_that_is_killed_alone_ends_its_runner_which_loses_only_the_call_in_flight() {
    kills_lose_only_the_call_in_flight(Killed::Relay);
}

/// Kills 5 of them, or as many as `RETAKE_KILLED_RECORDERS` says.
fn kills_lose_only_the_call_in_flight(who: Killed) {
    let kills = std::env::var(KILLED).ok().and_then(|kills| kills.parse().ok()).unwrap_or(5);
    let provider = Provider::start();
    let agent = agent("lead", 6);
    let undisturbed = tree(&agent);
    let began = Instant::now();
    record(&undisturbed, &provider);
    let long = began.elapsed();
    assert_eq!(provider.take().len(), 6);
    let whole = |tree: &Tree| (work(tree), undated(&tree.read("goldens/work.snap")));
    let mut moments = Moments(0x9E37_79B9_7F4A_7C15);
    let mut killed = 0;
    while killed < kills {
        let tree = tree(&agent);
        let told = tree.path("log");
        let mut here = 0;
        loop {
            let mut command = recorder(&tree, &provider, "record --resume").env(LOG, &told).into_command();
            let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
            let mut errors = child.stderr.take().unwrap();
            let reading = std::thread::spawn(move || std::io::read_to_string(&mut errors).unwrap());
            if here == 8 || killed == kills || ended_within(&mut child, moments.next(long)) {
                let status = child.wait().unwrap();
                let said = reading.join().unwrap();
                assert!(status.success(), "after {here} kills:\n{said}");
                break;
            }
            let runners = children_of(child.id());
            match runners.first() {
                Some(runner) if who == Killed::Runner => kill(*runner),
                _ => child.kill().unwrap(),
            }
            child.wait().unwrap();
            // The runner has the same standard error. If it ends by itself, it says why.
            let said = reading.join().unwrap();
            assert!(runners.iter().all(|runner| is_gone(*runner)), "{said}");
            (killed, here) = (killed + 1, here + 1);
            // Every answer that the agent has received is on disk: in the journal, or in the fixture that was made of it, after
            // which the next recorder starts a new journal.
            let held = |file: &str| std::fs::read_to_string(tree.path(file)).unwrap_or_default();
            let journal = held("fixtures/.journal/work.jsonl") + &held("fixtures/work.json");
            for answer in std::fs::read_to_string(&told).unwrap_or_default().lines() {
                let digest = answer.rsplit(' ').next().unwrap();
                assert!(journal.contains(digest), "{answer:?} is not in the journal after {here} kills:\n{journal}");
            }
        }
        assert_eq!(whole(&tree), whole(&undisturbed), "after {here} kills");
        let asked = provider.take().len();
        assert!((6..=6 + here).contains(&asked), "{asked} calls with {here} kills");
        assert_eq!(tree.left(), [""; 0]);
    }
}

/// Kills a process, unless it has just ended.
fn kill(process: u32) {
    std::process::Command::new("kill").args(["-KILL", &process.to_string()]).stderr(Stdio::null()).status().unwrap();
}

/// A pseudorandom sequence of moments within a time span. It is the same in each run.
struct Moments(u64);

impl Moments {
    fn next(&mut self, span: Duration) -> Duration {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        span * u32::try_from(self.0 >> 48).unwrap() / (1 << 16)
    }
}

/// Whether a process ends within this time.
fn ended_within(child: &mut Child, time: Duration) -> bool {
    let deadline = Instant::now() + time;
    while Instant::now() < deadline {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    false
}
