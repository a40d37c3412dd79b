//! Which steps are served and which run live.

use futures_util::future::join_all;

use super::*;

#[tokio::test]
async fn a_retry_serves_what_is_recorded_and_runs_the_rest() {
    let folder = Folder::new();
    let first = folder.open();
    first.model("a", "x").await;
    first.tool("ls", json!({ "path": "/" }), "y").await;
    assert_eq!(first.counters(), (0, 2, None));
    drop(first);

    let retry = folder.open();
    assert_eq!(retry.model("a", "other").await, "x");
    assert_eq!(retry.tool("ls", json!({ "path": "/" }), "other").await, "y");
    assert_eq!(retry.calls.get(), 0);
    assert_eq!(retry.model("b", "z").await, "z");
    assert_eq!(retry.calls.get(), 1);
    assert_eq!(retry.counters(), (2, 1, None));
    retry.warns(&[]);
}

#[tokio::test]
async fn model_and_tool_steps_share_one_counter() {
    let folder = Folder::new();
    let attempt = folder.open();
    let numbers = std::cell::RefCell::new(Vec::new());
    let note = |step: Step| {
        numbers.borrow_mut().push(step.number());
        async { Ok::<_, String>(()) }
    };
    attempt.run.model("plan", &ModelRequest::new("m", "a"), note).await.unwrap();
    attempt.run.tool(&ToolRequest::new("ls", &()), note).await.unwrap();
    attempt.run.model("plan", &ModelRequest::new("m", "b"), note).await.unwrap();
    let second = attempt.journal.run();
    second.tool(&ToolRequest::new("ls", &()), note).await.unwrap();
    assert_eq!(*numbers.borrow(), ["0.0", "0.1", "0.2", "1.0"]);
}

#[tokio::test]
async fn parallel_steps_are_numbered_in_start_order() {
    let folder = Folder::new();
    let attempt = folder.open();
    let number = |step: Step| async move { Ok::<_, String>(step.number()) };
    let tool = |name: &str| attempt.run.tool(&ToolRequest::new(name, &()), number);
    let (a, b, c) = (tool("a"), tool("b"), tool("c"));
    // Polled in reverse order, as a scheduler may do.
    assert_eq!((c.await.unwrap(), b.await.unwrap(), a.await.unwrap()), ("0.2".into(), "0.1".into(), "0.0".into()));
    drop(attempt);

    let retry = folder.open();
    for (name, number) in [("a", "0.0"), ("b", "0.1"), ("c", "0.2")] {
        assert_eq!(retry.tool_as_recorded(name).await, number);
    }
    assert_eq!(retry.counters(), (3, 0, None));
}

impl Attempt {
    async fn tool_as_recorded(&self, name: &str) -> String {
        self.run.tool(&ToolRequest::new(name, &()), |_| self.call("live")).await.unwrap()
    }
}

#[tokio::test]
async fn nested_runs_are_numbered_by_parent_position_and_n() {
    let folder = Folder::new();
    let nested = |attempt: &Attempt, fails: bool| {
        attempt.run.tool(&ToolRequest::new("agent", &()), move |step| async move {
            let runs = [step.nested(), step.nested()];
            let mut said = Vec::new();
            for run in &runs {
                said.push(run.number().to_owned());
                let call = |inner: Step| async move { Ok::<_, String>(inner.number()) };
                said.push(run.model("plan", &ModelRequest::new("m", run.number()), call).await?);
            }
            if fails { Err("killed".to_owned()) } else { Ok(said) }
        })
    };
    let first = folder.open();
    first.model("a", "x").await;
    assert_eq!(nested(&first, true).await, Err("killed".to_owned()));
    drop(first);

    let retry = folder.open();
    retry.model("a", "").await;
    assert_eq!(nested(&retry, false).await.unwrap(), ["0.1.0", "0.1.0.0", "0.1.1", "0.1.1.0"]);
    assert_eq!(retry.counters(), (3, 1, None), "the nested steps were served, the step around them ran");
    drop(retry);

    let again = folder.open();
    again.model("a", "").await;
    nested(&again, false).await.unwrap();
    assert_eq!(again.counters(), (2, 0, None), "the step around them is served as a whole");
}

#[tokio::test]
async fn the_first_mismatch_and_all_later_steps_run_live_stale_tool_results_included() {
    let folder = Folder::new();
    let first = folder.open();
    first.model("a", "x").await;
    first.model("b", "call ls").await;
    first.tool("ls", json!({}), "stale").await;
    first.model("c", "done").await;
    drop(first);

    let retry = folder.open();
    retry.model("a", "").await;
    retry.model("B", "call ls").await;
    assert_eq!(retry.tool("ls", json!({}), "fresh").await, "fresh", "name, arguments and call id are the same");
    assert_eq!(retry.model("c", "again").await, "again");
    assert_eq!(retry.counters(), (1, 3, Some("0.1".into())));
    retry.warns(&[
        "step 0.1 (model `plan`): its request differs from the last attempt's in its messages; this step and all later \
         ones run live",
    ]);
}

#[tokio::test]
async fn a_different_name_or_kind_at_a_number_is_a_mismatch() {
    let folder = Folder::new();
    let first = folder.open();
    first.run.tool(&ToolRequest::new("ls", &()), |_| first.call("x")).await.unwrap();
    drop(first);

    let renamed = folder.open();
    renamed.run.tool(&ToolRequest::new("cat", &()), |_| async { Err::<String, _>(()) }).await.unwrap_err();
    assert_eq!(renamed.counters(), (0, 1, Some("0.0".into())));
    renamed.warns(&["step 0.0 (tool `cat`): the last attempt had tool `ls` here"]);
    drop(renamed);

    let other_kind = folder.open();
    other_kind.run.model("ls", &ModelRequest::new("m", "a"), |_| other_kind.call("x")).await.unwrap();
    other_kind.warns(&["step 0.0 (model `ls`): the last attempt had tool `ls` here"]);
}

/// The attempt after a diverged one must not be served results that were recorded before the divergence.
#[tokio::test]
async fn a_step_that_a_divergence_made_stale_stays_stale() {
    let folder = Folder::new();
    let first = folder.open();
    first.model("a", "x").await;
    first.tool("ls", json!({}), "stale").await;
    first.tool("cat", json!({}), "stale too").await;
    drop(first);

    let second = folder.open();
    second.model("A", "y").await; // killed here
    drop(second);

    let third = folder.open();
    assert_eq!(third.model("A", "").await, "y");
    assert_eq!(third.tool("ls", json!({}), "fresh").await, "fresh");
    assert_eq!(third.tool("cat", json!({}), "fresh too").await, "fresh too");
    assert_eq!(third.counters(), (1, 2, None));
}

#[tokio::test]
async fn a_divergence_whose_step_fails_leaves_the_recorded_steps_for_the_original_request() {
    let folder = Folder::new();
    folder.open().model("a", "x").await;
    let changed = folder.open();
    let request = ModelRequest::new("m", "something else");
    changed.run.model("plan", &request, |_| async { Err::<String, _>("down") }).await.unwrap_err();
    drop(changed);
    assert_eq!(folder.open().model("a", "other").await, "x");
}

#[tokio::test]
async fn parallel_steps_before_a_divergence_are_served_and_kept() {
    let folder = Folder::new();
    let names = ["a", "b", "c", "d"];
    let first = folder.open();
    join_all(names.iter().map(|name| first.tool(name, json!({}), "old"))).await;
    drop(first);

    let second = folder.open();
    let changed = |name: &str| json!({ "changed": name });
    let tool = |name: &'static str| {
        let args = if name == "b" { changed(name) } else { json!({}) };
        second.tool(name, args, "new")
    };
    assert_eq!(join_all(names.map(tool)).await, ["old", "new", "new", "new"]);
    assert_eq!(second.counters(), (1, 3, Some("0.1".into())));
    drop(second);

    let third = folder.open();
    let tool = |name: &'static str| third.tool(name, if name == "b" { changed(name) } else { json!({}) }, "newest");
    assert_eq!(join_all(names.map(tool)).await, ["old", "new", "new", "new"]);
    assert_eq!(third.counters(), (4, 0, None));
}

#[tokio::test]
async fn a_diverging_step_that_was_in_flight_costs_its_neighbours_nothing() {
    let folder = Folder::new();
    let first = folder.open();
    first.tool("a", json!({}), "old").await;
    first.tool("b", json!({}), "old").await;
    drop(first);

    let second = folder.open();
    let changed = ToolRequest::new("a", &json!({ "changed": true })).call_id("call_1");
    let mut in_flight = Box::pin(second.run.tool(&changed, |_| std::future::pending::<Result<String, ()>>()));
    assert!(futures_util::FutureExt::now_or_never(&mut in_flight).is_none());
    second.tool("b", json!({}), "new").await; // killed here
    drop((in_flight, second));

    let third = folder.open();
    third.run.tool(&changed, |_| third.call("newest")).await.unwrap();
    assert_eq!(third.tool("b", json!({}), "newest").await, "new");
    assert_eq!(third.counters(), (1, 1, None));
}

#[tokio::test]
async fn a_divergence_in_one_run_ends_serving_in_all() {
    let folder = Folder::new();
    let first = folder.open();
    first.model("a", "x").await;
    let other = first.journal.run();
    other.tool(&ToolRequest::new("ls", &()), |_| first.call("stale")).await.unwrap();
    drop((first, other));

    let retry = folder.open();
    retry.model("A", "y").await;
    let other = retry.journal.run();
    assert_eq!(other.tool(&ToolRequest::new("ls", &()), |_| retry.call("fresh")).await.unwrap(), "fresh");
}

#[tokio::test]
async fn a_missing_entry_alone_does_not_diverge() {
    let folder = Folder::new();
    let first = folder.open();
    first.model("a", "x").await;
    first.run.tool(&ToolRequest::new("down", &()), |_| async { Err::<String, _>("503") }).await.unwrap_err();
    first.tool("ls", json!({}), "y").await;
    drop(first);

    let retry = folder.open();
    retry.model("a", "").await;
    retry.run.tool(&ToolRequest::new("down", &()), |_| retry.call("up")).await.unwrap();
    assert_eq!(retry.tool("ls", json!({}), "other").await, "y");
    assert_eq!(retry.counters(), (2, 1, None));
    retry.warns(&[]);
}

/// Runs a step that can be fingerprinted and two that cannot.
async fn unverifiable(attempt: &Attempt, prompt: &str) -> [String; 3] {
    let opaque = ModelRequest::new("m", &not_json());
    let first = attempt.model(prompt, "live").await;
    let second = attempt.run.model("plan", &opaque, |_| attempt.call("live")).await.unwrap();
    let third = attempt.run.tool(&ToolRequest::new("ls", &not_json()), |_| attempt.call("live")).await.unwrap();
    [first, second, third]
}

#[tokio::test]
async fn a_step_without_a_fingerprint_is_served_only_after_a_served_one() {
    let folder = Folder::new();
    unverifiable(&folder.open(), "a").await;

    let retry = folder.open();
    unverifiable(&retry, "a").await;
    assert_eq!(retry.counters(), (3, 0, None));
    let served = "cannot be fingerprinted, and is served unverified because the step before it was served: ";
    retry.warns(&[
        &format!("step 0.1 (model `plan`): {served}`messages` is not JSON: key must be a string"),
        &format!("step 0.2 (tool `ls`): {served}`args` is not JSON: key must be a string"),
    ]);
    drop(retry);

    let diverged = folder.open();
    unverifiable(&diverged, "A").await;
    assert_eq!(diverged.counters(), (0, 3, Some("0.0".into())));
    let live = "cannot be fingerprinted, so it runs live: ";
    diverged.warns(&["its request differs from the last attempt's in its ", live, live]);
}

#[tokio::test]
async fn a_step_without_a_fingerprint_runs_live_after_a_live_one_and_does_not_diverge() {
    let folder = Folder::new();
    let steps = async |attempt: &Attempt, fails: bool| {
        let down = ToolRequest::new("down", &());
        let result = if fails { Err("503") } else { Ok("up".to_owned()) };
        let _ = attempt.run.tool(&down, |_| async { result }).await;
        attempt.run.tool(&ToolRequest::new("opaque", &not_json()), |_| attempt.call("x")).await.unwrap();
        attempt.tool("ls", json!({}), "y").await;
    };
    steps(&folder.open(), true).await;
    let retry = folder.open();
    steps(&retry, false).await;
    assert_eq!((retry.calls.get(), retry.counters()), (1, (1, 2, None)), "only `ls` was served");
}

#[tokio::test]
async fn the_first_step_of_a_run_is_not_served_without_a_fingerprint() {
    let folder = Folder::new();
    let step = async |attempt: &Attempt| {
        attempt.run.tool(&ToolRequest::new("opaque", &not_json()), |_| attempt.call("x")).await.unwrap();
        attempt.calls.get()
    };
    assert_eq!(step(&folder.open()).await, 1);
    assert_eq!(step(&folder.open()).await, 1);
}

#[tokio::test]
async fn unverified_refuse_never_serves_a_step_without_a_fingerprint() {
    let folder = Folder::new();
    unverifiable(&folder.open(), "a").await;

    let mut retry = folder.open();
    retry.journal = retry.journal.unverified(Unverified::Refuse);
    unverifiable(&retry, "a").await;
    assert_eq!(retry.counters(), (1, 2, None));
    let live = "cannot be fingerprinted, so it runs live: ";
    retry.warns(&[live, live]);
}

#[tokio::test]
async fn a_step_that_lost_or_gained_its_fingerprint_is_a_mismatch() {
    let folder = Folder::new();
    let tool = async |attempt: &Attempt, request: ToolRequest| {
        attempt.model("a", "x").await;
        attempt.run.tool(&request, |_| attempt.call("y")).await.unwrap();
        attempt.counters().2
    };
    assert_eq!(tool(&folder.open(), ToolRequest::new("ls", &not_json())).await, None);
    assert_eq!(tool(&folder.open(), ToolRequest::new("ls", &())).await, Some("0.1".into()));
    assert_eq!(tool(&folder.open(), ToolRequest::new("ls", &not_json())).await, Some("0.1".into()));
}

#[tokio::test]
async fn a_failing_step_is_not_stored_and_runs_again() {
    let folder = Folder::new();
    let request = ModelRequest::new("m", "a");
    for attempt in [folder.open()] {
        let failed = attempt.run.model("plan", &request, |_| async { Err::<String, _>("503") }).await;
        assert_eq!(failed, Err("503"), "the error is the caller's own");
    }
    let retry = folder.open();
    assert_eq!(retry.run.model("plan", &request, |_| retry.call("x")).await.unwrap(), "x");
    assert_eq!(retry.counters(), (0, 1, None));
}

#[tokio::test]
async fn a_step_that_panics_or_is_cancelled_is_not_stored_and_runs_again() {
    let folder = Folder::new();
    let first = folder.open();
    let run = first.run.clone();
    let panicking = run.tool(&ToolRequest::new("a", &()), |_| async { panic!("a bug in a tool") });
    let panicked = tokio::spawn(async move {
        let _: Result<String, String> = panicking.await;
    });
    assert!(panicked.await.unwrap_err().is_panic());
    let mut hanging =
        Box::pin(first.run.tool(&ToolRequest::new("b", &()), |_| std::future::pending::<Result<(), ()>>()));
    assert!(futures_util::FutureExt::now_or_never(&mut hanging).is_none());
    drop(hanging);
    first.tool("c", json!({}), "z").await;
    drop((first, run));

    let retry = folder.open();
    assert_eq!(retry.tool_as_recorded("a").await, "live");
    assert_eq!(retry.tool_as_recorded("b").await, "live");
    assert_eq!(retry.tool("c", json!({}), "live").await, "z");
    assert_eq!(retry.counters(), (1, 2, None));
}

#[tokio::test]
async fn a_tool_that_is_not_replayable_gets_a_number_and_is_never_stored() {
    let folder = Folder::new();
    let steps = async |attempt: &Attempt| {
        let notify = ToolRequest::new("notify", &()).not_replayable();
        attempt.run.tool(&notify, |_| attempt.call("sent")).await.unwrap();
        attempt.tool("ls", json!({}), "x").await;
        (attempt.calls.get(), attempt.counters())
    };
    assert_eq!(steps(&folder.open()).await, (2, (0, 2, None)));
    assert!(!folder.text().contains("notify") && folder.text().contains(r#""step":"0.1""#), "{}", folder.text());
    assert_eq!(steps(&folder.open()).await, (1, (1, 1, None)));
}

#[tokio::test]
async fn a_tool_that_is_now_marked_not_replayable_runs_although_it_was_recorded() {
    let folder = Folder::new();
    folder.open().tool_as_recorded("ls").await;
    let retry = folder.open();
    retry.run.tool(&ToolRequest::new("ls", &()).not_replayable(), |_| retry.call("fresh")).await.unwrap();
    assert_eq!(retry.counters(), (0, 1, None));
}

#[tokio::test]
async fn a_stored_null_is_a_result() {
    let folder = Folder::new();
    let step = async |attempt: &Attempt| {
        let ask = ToolRequest::new("find", &());
        let found: Option<String> = attempt.run.tool(&ask, |_| async { Ok::<_, String>(None) }).await.unwrap();
        (found, attempt.counters())
    };
    assert_eq!(step(&folder.open()).await, (None, (0, 1, None)));
    assert_eq!(step(&folder.open()).await, (None, (1, 0, None)));
}

#[tokio::test]
async fn an_entry_that_no_longer_deserializes_diverges_with_a_warning() {
    let folder = Folder::new();
    let first = folder.open();
    first.tool_as_recorded("count").await;
    first.tool("ls", json!({}), "stale").await;
    drop(first);

    let retry = folder.open();
    let count: u32 = retry.run.tool(&ToolRequest::new("count", &()), |_| async { Ok::<_, ()>(3) }).await.unwrap();
    assert_eq!((count, retry.tool("ls", json!({}), "fresh").await.as_str()), (3, "fresh"));
    assert_eq!(retry.counters(), (0, 2, Some("0.0".into())));
    retry.warns(&[
        "step 0.0 (tool `count`): the recorded result does not have the expected type: invalid type: string \"live\", \
                   expected u32",
    ]);
}

#[tokio::test]
async fn steps_can_be_spawned() {
    let folder = Folder::new();
    let attempt = folder.open();
    let tool = |i: usize| attempt.run.tool(&ToolRequest::new("n", &i), move |_| async move { Ok::<_, String>(i) });
    let tasks: Vec<_> = (0..32).map(|i| tokio::spawn(tool(i))).collect();
    for (i, task) in tasks.into_iter().enumerate() {
        assert_eq!(task.await.unwrap(), Ok(i));
    }
    drop(attempt);
    let retry = folder.open();
    for i in 0..32_usize {
        let n: usize = retry.run.tool(&ToolRequest::new("n", &i), |_| async { Err(()) }).await.unwrap();
        assert_eq!(n, i);
    }
}
