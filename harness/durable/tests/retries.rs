//! Steps that fail and are tried again in the same process.

use super::*;

fn request(prompt: &str) -> ModelRequest {
    ModelRequest::new("m", &json!([prompt]))
}

impl Attempt {
    async fn failing(&self, prompt: &str) {
        self.run.model("plan", &request(prompt), |_| async { Err::<String, _>("429") }).await.unwrap_err();
    }

    async fn asking(&self, prompt: &str, answer: &str) -> String {
        self.run.model("plan", &request(prompt), |_| self.call(answer)).await.unwrap()
    }
}

#[tokio::test]
async fn a_step_that_was_retried_in_the_process_costs_nothing_after_a_crash() {
    let folder = Folder::new();
    let first = folder.open();
    first.failing("a").await;
    first.failing("a").await;
    assert_eq!(first.asking("a", "x").await, "x");
    first.tool("ls", json!({}), "y").await;
    first.failing("b").await;
    first.asking("b", "z").await;
    drop(first);

    let retry = folder.open();
    assert_eq!(retry.asking("a", "live").await, "x");
    assert_eq!(retry.tool("ls", json!({}), "live").await, "y");
    assert_eq!(retry.asking("b", "live").await, "z");
    assert_eq!(retry.counters(), (3, 0, None));
    retry.warns(&[]);
}

#[tokio::test]
async fn a_step_that_was_cancelled_and_tried_again_costs_nothing_after_a_crash() {
    let folder = Folder::new();
    let first = folder.open();
    let hanging = request("a");
    let mut hanging = Box::pin(first.run.model("plan", &hanging, |_| std::future::pending::<Result<String, ()>>()));
    assert!(futures_util::FutureExt::now_or_never(&mut hanging).is_none());
    drop(hanging); // as a timeout does
    first.asking("a", "x").await;
    first.tool("ls", json!({}), "y").await;
    drop(first);

    let retry = folder.open();
    assert_eq!(retry.asking("a", "live").await, "x");
    assert_eq!(retry.tool("ls", json!({}), "live").await, "y");
    assert_eq!(retry.counters(), (2, 0, None));
}

#[tokio::test]
async fn a_failed_step_is_an_entry_so_a_different_request_in_its_place_diverges() {
    let folder = Folder::new();
    let first = folder.open();
    first.failing("a").await;
    first.tool("ls", json!({}), "stale").await;
    drop(first);

    let changed = folder.open();
    changed.asking("A", "x").await;
    assert_eq!(changed.tool("ls", json!({}), "fresh").await, "fresh");
    assert_eq!(changed.counters(), (0, 2, Some("0.0".into())));
}

#[tokio::test]
async fn a_retry_of_a_step_is_served_what_the_agents_inside_it_finished() {
    let folder = Folder::new();
    let attempt = folder.open();
    for fails in [true, false] {
        let inner = attempt.run.tool(&ToolRequest::new("agent", &()), |step| {
            let run = step.nested();
            let attempt = &attempt;
            async move {
                let said: String = run.model("plan", &request("inside"), |_| attempt.call("paid once")).await?;
                if fails { Err("429".to_owned()) } else { Ok(said) }
            }
        });
        assert_eq!(inner.await.is_err(), fails);
    }
    assert_eq!(attempt.calls.get(), 1);
    assert_eq!(attempt.counters(), (1, 3, None));
}

#[tokio::test]
async fn a_step_after_a_live_one_is_discarded_although_the_process_was_killed_before_the_next_step() {
    let folder = Folder::new();
    let opaque = ToolRequest::new("opaque", &not_json());
    let first = folder.open();
    first.failing("a").await;
    first.run.tool(&opaque, |_| first.call("of the first")).await.unwrap();
    drop(first);

    let second = folder.open();
    second.asking("a", "x").await; // killed here
    drop(second);

    let third = folder.open();
    assert_eq!(third.asking("a", "live").await, "x");
    let opaque = third.run.tool(&opaque, |_| third.call("of the third")).await;
    assert_eq!(opaque.unwrap(), "of the third");
}

#[tokio::test]
async fn a_step_that_ran_live_because_of_unverified_refuse_is_not_served_to_a_later_attempt() {
    let folder = Folder::new();
    let opaque = ToolRequest::new("opaque", &not_json());
    let first = folder.open();
    first.asking("a", "x").await;
    first.run.tool(&opaque, |_| first.call("of the first")).await.unwrap();
    drop(first);

    let journal = Journal::open(&folder.file()).unwrap().unverified(Unverified::Refuse);
    let second = Attempt { run: journal.run(), journal, calls: Cell::new(0) };
    second.asking("a", "live").await;
    let mut running = Box::pin(second.run.tool(&opaque, |_| std::future::pending::<Result<String, ()>>()));
    assert!(futures_util::FutureExt::now_or_never(&mut running).is_none()); // killed here
    drop((running, second));

    let third = folder.open();
    third.asking("a", "live").await;
    let opaque = third.run.tool(&opaque, |_| third.call("of the third")).await;
    assert_eq!(opaque.unwrap(), "of the third");
}
