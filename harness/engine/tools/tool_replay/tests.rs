//! The rules of a tool replay, each tested on its own conversation.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;

use super::*;

fn user(id: &str, text: &str) -> Value {
    json!({"kind": "MessageEvent", "id": id, "source": "user",
        "llm_message": {"role": "user", "content": [{"type": "text", "text": text}]}})
}

fn agent(id: &str, text: &str) -> Value {
    json!({"kind": "MessageEvent", "id": id, "source": "agent",
        "llm_message": {"role": "assistant", "content": [{"type": "text", "text": text}]}})
}

fn action(id: &str, answer: &str, tool: &str, args: &Value) -> Value {
    let mut action = args.clone();
    action["kind"] = "SomeAction".into();
    json!({"kind": "ActionEvent", "id": id, "timestamp": "2026-01-01T00:00:00", "source": "agent", "tool_name": tool,
        "tool_call_id": format!("call-{id}"), "llm_response_id": answer, "action": action,
        "thought": [{"type": "text", "text": "a secret thought"}], "reasoning_content": "because",
        "summary": "in short",
        "tool_call": {"id": format!("call-{id}"), "name": tool, "arguments": "{\"summary\": \"in short\"}"}})
}

fn observation(of: &str, tool: &str, text: &str) -> Value {
    json!({"kind": "ObservationEvent", "id": format!("o-{of}"), "source": "environment", "tool_name": tool,
        "tool_call_id": format!("call-{of}"), "action_id": of,
        "observation": {"kind": "SomeObservation", "content": [{"type": "text", "text": text}], "is_error": false}})
}

/// Makes a replay of events with a tool `say`, which returns its argument `text`.
fn replay(events: Vec<Value>) -> (ToolReplay, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let replay = ToolReplay::new().events(events).logs_in(folder.path());
    (replay.tool("say", |args| async move { Ok(args["text"].clone()) }), folder)
}

fn lines(run: &ToolRun) -> Vec<Value> {
    let log = std::fs::read_to_string(run.log()).unwrap();
    log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn about(run: &ToolRun) -> Value {
    serde_json::from_slice(&std::fs::read(run.log().with_extension("run.json")).unwrap()).unwrap()
}

fn said(id: &str, recorded: &str) -> [Value; 2] {
    [action(id, &format!("r-{id}"), "say", &json!({"text": "x"})), observation(id, "say", recorded)]
}

#[tokio::test]
async fn the_log_has_a_line_for_each_action_in_the_promised_form() {
    let events = [said("a", "x"), said("b", "y")].concat();
    let (replay, _folder) = replay(events);
    let run = replay.run().await.unwrap();
    assert_eq!((run.executed(), run.drifted()), (2, 1));
    let log = std::fs::read_to_string(run.log()).unwrap();
    assert!(log.lines().next().unwrap().ends_with(r#""Drift from expected observation": "No drift"}"#), "{log}");
    let line = &lines(&run)[1];
    assert_eq!(line["Action"]["tool_name"], "say");
    assert_eq!(line["Actual Observation"][0]["observation"]["content"], "x");
    let drift = &line["Drift from expected observation"];
    assert_eq!(drift["Drift Present"], true);
    assert_eq!(drift["Expected"][0]["observation"]["content"][0]["text"], "y");
    let difference = json!([{"pointer": "/0/observation/content/0/text", "expected": "y", "actual": "x"}]);
    assert_eq!(drift["Difference"], difference);
}

#[tokio::test]
async fn an_agent_message_does_not_end_the_run() {
    let events =
        [said("a", "x").to_vec(), vec![agent("m", "done?")], said("b", "x").to_vec(), vec![agent("n", "done")]];
    let (replay, _folder) = replay(events.concat());
    let run = replay.run().await.unwrap();
    assert_eq!(run.executed(), 2);
    assert_eq!(about(&run)["Agent messages passed over"], 2);
}

#[tokio::test]
async fn user_turns_stay_in_the_log() {
    let events =
        [vec![user("u", "first")], said("a", "x").to_vec(), vec![user("v", "second")], said("b", "x").to_vec()];
    let (replay, _folder) = replay(events.concat());
    let run = replay.run().await.unwrap();
    let of_user: Vec<bool> = lines(&run).iter().map(|line| line.get("User").is_some()).collect();
    assert_eq!(of_user, [true, false, true, false]);
    assert_eq!(lines(&run)[2]["User"]["content"][0]["text"], "second");
}

#[tokio::test]
async fn reasoning_thoughts_and_summaries_are_not_in_the_log() {
    let think = json!({"kind": "ThinkAction", "thought": "hidden"});
    let mut thinking = action("t", "r-t", "think", &json!({}));
    thinking["action"] = think;
    let events = [said("a", "y").to_vec(), vec![thinking, observation("t", "think", "ok")]].concat();
    let (replay, _folder) = replay(events);
    let run = replay.tool("think", |_| async { Ok("ok".into()) }).run().await.unwrap();
    let log = std::fs::read_to_string(run.log()).unwrap();
    for word in ["secret thought", "because", "in short", "hidden"] {
        assert!(!log.contains(word), "{word}: {log}");
    }
}

#[tokio::test]
async fn actions_of_one_answer_run_at_the_same_time_and_stay_matched() {
    // Each waits for those behind it, so the first one ends last. One after the other, none would end.
    let three: Vec<Value> = ["a", "b", "c"]
        .iter()
        .zip([2, 1, 0])
        .map(|(id, after)| action(id, "one answer", "wait", &json!({"after": after})))
        .collect();
    let observed = [("c", "0"), ("b", "1"), ("a", "2")].map(|(id, text)| observation(id, "wait", text));
    let (replay, _folder) = replay([three, observed.to_vec()].concat());
    let ended = watch::Sender::new(0);
    let replay = replay.tool("wait", move |args| {
        let ended = ended.clone();
        async move {
            let after = args["after"].as_u64().unwrap();
            ended.subscribe().wait_for(|ended| *ended == after).await.unwrap();
            ended.send_replace(after + 1);
            Ok(after.to_string().into())
        }
    });
    let run =
        tokio::time::timeout(Duration::from_secs(60), replay.run()).await.expect("they run at the same time").unwrap();
    run.verify();
    assert_eq!(lines(&run)[0]["Action"]["action"]["after"], 2);
}

#[tokio::test]
async fn actions_of_different_answers_run_one_after_the_other() {
    let events = [said("a", "x"), said("b", "x")].concat();
    let running = Arc::new(Mutex::new(0));
    let folder = tempfile::tempdir().unwrap();
    let replay = ToolReplay::new().events(events).logs_in(folder.path()).tool("say", move |args| {
        let running = Arc::clone(&running);
        async move {
            *running.lock().unwrap() += 1;
            tokio::task::yield_now().await;
            assert_eq!(*running.lock().unwrap(), 1, "two at a time");
            *running.lock().unwrap() -= 1;
            Ok(args["text"].clone())
        }
    });
    replay.run().await.unwrap().verify();
}

#[tokio::test]
async fn a_tool_without_a_target_is_an_error_before_the_first_action() {
    let other = [action("b", "r-b", "delete", &json!({})), observation("b", "delete", "gone")];
    let (replay, _folder) = replay([said("a", "x").to_vec(), other.to_vec()].concat());
    let called = Arc::new(Mutex::new(false));
    let seen = Arc::clone(&called);
    let replay = replay.tool("say", move |_| {
        *seen.lock().unwrap() = true;
        async { Ok("x".into()) }
    });
    let error = replay.run().await.unwrap_err().to_string();
    assert!(error.contains("suite.toml does not say how to run this tool: `delete`; nothing was executed"), "{error}");
    assert!(error.contains("[tools.delete]"), "{error}");
    assert!(!*called.lock().unwrap());
}

#[tokio::test]
async fn what_was_rejected_or_never_observed_is_not_executed_unless_asked_for_and_is_listed() {
    let rejection = json!({"kind": "UserRejectObservation", "id": "o-b", "source": "user", "tool_name": "say",
        "tool_call_id": "call-b", "action_id": "b", "rejection_reason": "no"});
    let rejected = vec![action("b", "r-b", "say", &json!({"text": "x"})), rejection];
    let waiting = vec![action("c", "r-c", "say", &json!({"text": "x"}))];
    let events = [said("a", "x").to_vec(), rejected, waiting].concat();
    let (asked, _folder) = replay(events.clone());
    let run = asked.run().await.unwrap();
    run.verify();
    assert_eq!((run.executed(), run.not_executed()), (1, vec!["say", "say"]));
    let reasons = about(&run)["Not executed"].clone();
    assert_eq!(reasons[0]["reason"], "rejected when it was recorded");
    assert_eq!(reasons[1]["reason"], "recorded without an observation");
    let (asked, _folder) = replay(events);
    assert_eq!(asked.with_unobserved().run().await.unwrap().executed(), 3);
}

#[tokio::test]
async fn a_call_that_never_became_an_action_is_never_executed() {
    let mut call = action("b", "r-b", "nonsense", &json!({}));
    call.as_object_mut().unwrap().remove("action");
    let error = json!({"kind": "AgentErrorEvent", "id": "o-b", "source": "agent", "tool_name": "nonsense",
        "tool_call_id": "call-b", "error": "Tool 'nonsense' not found"});
    let (replay, _folder) = replay([said("a", "x").to_vec(), vec![call, error]].concat());
    let run = replay.with_unobserved().run().await.unwrap();
    run.verify();
    assert_eq!(run.not_executed(), ["nonsense"]);
}

#[tokio::test]
async fn the_same_error_as_recorded_is_not_drift_and_the_correction_after_it_is_replayed() {
    let error = json!({"kind": "AgentErrorEvent", "id": "o-a", "source": "agent", "tool_name": "read",
        "tool_call_id": "call-a", "error": "no such file"});
    let first = vec![action("a", "r-a", "read", &json!({"path": "nte.txt"})), error];
    let second = vec![action("b", "r-b", "read", &json!({"path": "note.txt"})), observation("b", "read", "hi")];
    let (replay, _folder) = replay([first, second].concat());
    let replay = replay.tool("read", |args| async move {
        if args["path"] == "note.txt" { Ok("hi".into()) } else { Err("no such file".to_owned()) }
    });
    let run = replay.run().await.unwrap();
    run.verify();
    assert_eq!(run.executed(), 2);
}

#[tokio::test]
async fn an_observation_that_answers_no_action_is_reported_and_fails() {
    let (replay, _folder) = replay([said("a", "x").to_vec(), vec![observation("gone", "say", "x")]].concat());
    let run = replay.run().await.unwrap();
    assert_eq!((run.drifted(), run.never_reached()), (0, 1));
    assert_eq!(about(&run)["Never reached"][0]["action_id"], "gone");
    assert!(std::panic::catch_unwind(|| run.verify()).is_err());
}

#[tokio::test]
async fn several_observations_of_one_action_are_a_list() {
    let mut second = observation("a", "say", "more");
    second["id"] = "o-a2".into();
    let events = [said("a", "x").to_vec(), vec![second]].concat();
    let (alone, _folder) = replay(events.clone());
    let run = alone.run().await.unwrap();
    assert_eq!(lines(&run)[0]["Drift from expected observation"]["Difference"][0]["pointer"], "/1");
    let (both, _folder) = replay(events);
    let both =
        both.tool("say", |_| async { Ok(json!([observation("q", "say", "x"), observation("q", "say", "more")])) });
    both.run().await.unwrap().verify();
}

#[tokio::test]
async fn drift_and_a_panic_of_a_tool_do_not_stop_the_script() {
    let events = [said("a", "x"), said("b", "x"), said("c", "x")].concat();
    let (replay, _folder) = replay(events);
    let count = Arc::new(Mutex::new(0));
    let replay = replay.tool("say", move |_| {
        let mut count = count.lock().unwrap();
        *count += 1;
        let call = *count;
        async move {
            assert_ne!(call, 1, "a tool's own mistake");
            Ok(if call == 2 { "other".into() } else { "x".into() })
        }
    });
    let run = replay.run().await.unwrap();
    assert_eq!((run.executed(), run.drifted(), lines(&run).len()), (3, 2, 3));
}

#[tokio::test]
async fn nothing_to_replay_is_an_error() {
    let (nothing, _folder) = replay(vec![user("u", "hello")]);
    let error = nothing.run().await.unwrap_err().to_string();
    assert!(error.contains("no action to execute"), "{error}");
    let (empty, _folder) = replay(Vec::new());
    assert!(empty.run().await.unwrap_err().to_string().contains("empty"));
    let without = ToolReplay::new().run().await.unwrap_err().to_string();
    assert!(without.contains("there is no recording to replay"), "{without}");
}

#[tokio::test]
async fn a_folder_takes_precedence_over_events_in_memory() {
    let (replay, folder) = replay(said("a", "x").to_vec());
    let error = replay.folder(folder.path().join("nowhere")).run().await.unwrap_err().to_string();
    assert!(error.contains("no such folder"), "{error}");
}

#[tokio::test]
async fn each_run_has_its_own_log() {
    let (first, folder) = replay(said("a", "x").to_vec());
    let first = first.run().await.unwrap();
    let second = ToolReplay::new().events(said("a", "x").to_vec()).logs_in(folder.path());
    let second = second.tool("say", |_| async { Ok("y".into()) }).run().await.unwrap();
    assert_ne!(first.log(), second.log());
    assert_eq!(lines(&first)[0]["Drift from expected observation"], "No drift");
}

#[tokio::test]
async fn each_of_ten_thousand_actions_is_compared_with_its_own_observation() {
    let events = (0..10_000).flat_map(|i| {
        let text = if i == 7_777 { "another".to_owned() } else { format!("text {i}") };
        let id = format!("a{i}");
        [action(&id, &format!("r{i}"), "say", &json!({"text": format!("text {i}")})), observation(&id, "say", &text)]
    });
    let (replay, _folder) = replay(events.collect());
    let run = replay.run().await.unwrap();
    assert_eq!((run.executed(), run.drifted()), (10_000, 1));
    assert_eq!(run.outcome.quoted[0].number, 7_778);
}
