//! When results are written to the file, and when the file is removed.

use super::*;

#[tokio::test]
async fn a_failed_attempt_keeps_its_entries_and_success_removes_them() {
    let folder = Folder::new();
    let first = folder.open();
    first.model("a", "x").await;
    drop(first);
    let retry = folder.open();
    retry.model("a", "").await;
    assert!(folder.file().exists());
    let done = retry.journal.finish();
    assert_eq!(done.counters.to_string(), "1 replayed, 0 live");
    assert!(!folder.file().exists());
    assert_eq!(std::fs::read_dir(folder.0.path()).unwrap().count(), 0, "no other file is left");
    assert_eq!(folder.open().model("a", "fresh").await, "fresh");
}

/// The journal is in a folder from which nothing can be removed.
#[cfg(unix)]
#[tokio::test]
async fn cleaning_up_never_fails_the_run() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    let attempt = folder.open();
    attempt.model("a", "x").await;
    let mode = |mode| std::fs::set_permissions(folder.0.path(), std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o500);
    let done = attempt.journal.finish();
    mode(0o700);
    assert_eq!((done.counters.live, done.warnings), (1, Vec::new()));
    // Root can still remove the file. For other users it is now empty, so nothing is served from it.
    assert_eq!(std::fs::read(folder.file()).unwrap_or_default(), b"");
}

#[tokio::test]
async fn finishing_a_journal_whose_file_is_already_gone_is_fine() {
    let folder = Folder::new();
    let attempt = folder.open();
    attempt.model("a", "x").await;
    std::fs::remove_file(folder.file()).unwrap();
    assert_eq!(attempt.journal.finish().warnings, Vec::<String>::new());
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_was_replaced_belongs_to_another_writer() {
    let folder = Folder::new();
    let first = folder.open();
    first.model("a", "x").await;
    std::fs::remove_file(folder.file()).unwrap();
    let second = folder.open();
    second.model("a", "y").await;
    assert_eq!(first.model("b", "z").await, "z");
    first.warns(&["step 0.1 (model `plan`): not recorded, so a retry runs it again: "]);
    assert!(first.journal.warnings()[0].ends_with("the file was removed or replaced while it was in use"));
    first.journal.finish();
    drop((second, first.run));
    assert_eq!(folder.open().model("a", "").await, "y");
}

#[tokio::test]
async fn a_step_after_the_end_runs_live_and_does_not_create_the_file_again() {
    let folder = Folder::new();
    let attempt = folder.open();
    attempt.model("a", "x").await;
    attempt.journal.finish();
    let late = attempt.run.model("plan", &ModelRequest::new("m", "b"), |_| async { Ok::<_, ()>(2) }).await;
    assert_eq!(late, Ok(2));
    assert!(!folder.file().exists());
}

#[tokio::test]
async fn a_result_is_in_the_file_before_it_is_returned() {
    let folder = Folder::new();
    let attempt = folder.open();
    attempt.model("a", "x").await;
    let text = folder.text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], r#"{"format":"retake-steps/1"}"#);
    assert!(lines[1].starts_with(r#"{"step":{"step":"0.0","kind":"model","name":"plan","fingerprint":""#), "{text}");
    assert!(lines[1].contains(r#"","parts":{"messages":""#) && lines[1].ends_with(r#""},"value":"x"}}"#), "{text}");
    assert!(!text.contains("content"), "the request is not stored, only its fingerprint");
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_can_read_the_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    folder.open().model("a", "x").await;
    assert_eq!(std::fs::metadata(folder.file()).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn large_results_and_any_text_come_back_unchanged() {
    let folder = Folder::new();
    let large = "é\u{0}\n\u{2028}\"\\".repeat(200_000);
    folder.open().model("a", &large).await;
    let retry = folder.open();
    assert!(retry.model("a", "").await == large);
    assert_eq!(retry.calls.get(), 0);
}

#[tokio::test]
async fn numbers_come_back_exactly() {
    let folder = Folder::new();
    let numbers = (u64::MAX, i128::MIN, 0.1_f64 + 0.2, f64::MIN_POSITIVE);
    for live in [1, 0] {
        let attempt = folder.open();
        let request = ToolRequest::new("n", &());
        let read = attempt.run.tool(&request, |_| async { Ok::<_, ()>(numbers) }).await;
        assert_eq!((read, attempt.counters().1), (Ok(numbers), live));
    }
}

#[tokio::test]
async fn a_result_that_is_not_json_is_returned_with_a_warning() {
    let folder = Folder::new();
    for _ in 0..2 {
        let attempt = folder.open();
        let request = ToolRequest::new("map", &());
        let result = attempt.run.tool(&request, |_| async { Ok::<_, ()>(not_json()) }).await;
        assert_eq!(result, Ok(not_json()));
        attempt.warns(&["step 0.0 (tool `map`): not recorded, so a retry runs it again: its result is not JSON"]);
    }
}

/// Floats of every magnitude, among them some that a parser with inexact rounding would change.
#[tokio::test]
async fn floats_come_back_to_the_bit() {
    let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from_bits(bits)
    };
    let floats: Vec<f64> = std::iter::repeat_with(&mut next).filter(|f| f.is_finite()).take(5_000).collect();
    let folder = Folder::new();
    for live in [1, 0] {
        let attempt = folder.open();
        let request = ToolRequest::new("n", &());
        let read = attempt.run.tool(&request, |_| async { Ok::<_, ()>(floats.clone()) }).await.unwrap();
        assert_eq!(attempt.counters().1, live);
        assert!(read.iter().map(|f| f.to_bits()).eq(floats.iter().map(|f| f.to_bits())), "a float changed");
    }
}

#[tokio::test]
async fn a_result_that_could_not_be_read_back_is_not_stored_and_a_warning_names_the_step() {
    let folder = Folder::new();
    let deep = || (0..200).fold(json!(1), |deep, _| json!([deep]));
    for _ in 0..2 {
        let attempt = folder.open();
        let tool = |name: &str| ToolRequest::new(name, &());
        attempt.run.tool(&tool("deep"), |_| async { Ok::<_, ()>(deep()) }).await.unwrap();
        let nan = attempt.run.tool(&tool("nan"), |_| async { Ok::<_, ()>(f64::NAN) }).await.unwrap();
        let some = attempt.run.tool(&tool("some"), |_| async { Ok::<_, ()>(Some(f64::INFINITY)) }).await.unwrap();
        assert!(nan.is_nan() && some == Some(f64::INFINITY));
        assert_eq!(attempt.counters(), (0, 3, None));
        let refused = |step: &str| format!("step {step}): not recorded, so a retry runs it again: its result ");
        attempt.warns(&[
            &format!("{}cannot be read back: recursion limit exceeded", refused("0.0 (tool `deep`")),
            &format!("{}contains a float that JSON cannot express (float 0: NaN)", refused("0.1 (tool `nan`")),
            &format!("{}contains a float that JSON cannot express (float 0: inf)", refused("0.2 (tool `some`")),
        ]);
    }
}

#[tokio::test]
async fn a_result_that_would_come_back_as_another_is_not_stored_and_a_warning_names_the_step() {
    #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    struct Found {
        #[expect(clippy::option_option, reason = "agents have such results")]
        price: Option<Option<u32>>,
    }
    let folder = Folder::new();
    let (lost, kept) = (Found { price: Some(None) }, Found { price: Some(Some(3)) });
    for live in [5, 3] {
        let attempt = folder.open();
        let tool = |name: &str| ToolRequest::new(name, &());
        let read = attempt.run.tool(&tool("lost"), |_| async { Ok::<_, ()>(vec![kept.clone(), lost.clone()]) }).await;
        assert_eq!(read.unwrap(), [kept.clone(), lost.clone()]);
        assert_eq!(
            attempt.run.tool(&tool("null"), |_| async { Ok::<_, ()>(Some(Value::Null)) }).await,
            Ok(Some(Value::Null))
        );
        assert_eq!(attempt.run.tool(&tool("unit"), |_| async { Ok::<_, ()>(Some(())) }).await, Ok(Some(())));
        assert_eq!(attempt.run.tool(&tool("kept"), |_| async { Ok::<_, ()>(kept.clone()) }).await, Ok(kept.clone()));
        let none = attempt.run.tool(&tool("none"), |_| async { Ok::<_, ()>(None::<Option<u32>>) }).await;
        assert_eq!((none, attempt.counters().1), (Ok(None), live));
        let warned = |step: &str| {
            format!(
                "step {step}`): not recorded, so a retry runs it again: its result contains a `Some` that JSON cannot \
                 express, such as `Some(None)`: it would come back as `None`"
            )
        };
        attempt.warns(&[&warned("0.0 (tool `lost"), &warned("0.1 (tool `null"), &warned("0.2 (tool `unit")]);
    }
}
