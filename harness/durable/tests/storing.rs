//! What is in the file when, and when it goes.

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
    assert_eq!(std::fs::read_dir(folder.0.path()).unwrap().count(), 0, "nothing is left beside it");
    assert_eq!(folder.open().model("a", "fresh").await, "fresh");
}

/// In a folder that nothing can be removed from.
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
    // Root may remove it all the same; for others it is empty, so that nothing is served from it.
    assert_eq!(std::fs::read(folder.file()).unwrap_or_default(), b"");
}

#[tokio::test]
async fn a_finished_journal_that_is_gone_already_is_fine() {
    let folder = Folder::new();
    let attempt = folder.open();
    attempt.model("a", "x").await;
    std::fs::remove_file(folder.file()).unwrap();
    assert_eq!(attempt.journal.finish().warnings, Vec::<String>::new());
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_was_replaced_is_another_writers() {
    let folder = Folder::new();
    let first = folder.open();
    first.model("a", "x").await;
    std::fs::remove_file(folder.file()).unwrap();
    let second = folder.open();
    second.model("a", "y").await;
    assert_eq!(first.model("b", "z").await, "z");
    first.warns(&["step 0.1 (model `plan`): not recorded, so a retry runs it again: "]);
    assert!(first.journal.warnings()[0].ends_with("it was removed or replaced while it was in use"));
    first.journal.finish();
    drop((second, first.run));
    assert_eq!(folder.open().model("a", "").await, "y");
}

#[tokio::test]
async fn a_step_after_the_end_runs_live_and_brings_no_file_back() {
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
    assert!(lines[1].ends_with(r#"","value":"x"}}"#), "{text}");
    assert!(!text.contains("content"), "what was asked is not stored, only its fingerprint");
}

#[cfg(unix)]
#[tokio::test]
async fn the_file_is_its_owners() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    folder.open().model("a", "x").await;
    assert_eq!(std::fs::metadata(folder.file()).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn large_results_and_any_text_come_back_as_they_were() {
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
async fn a_result_that_is_no_json_is_returned_with_a_warning() {
    let folder = Folder::new();
    for _ in 0..2 {
        let attempt = folder.open();
        let request = ToolRequest::new("map", &());
        let result = attempt.run.tool(&request, |_| async { Ok::<_, ()>(no_json()) }).await;
        assert_eq!(result, Ok(no_json()));
        attempt.warns(&["step 0.0 (tool `map`): not recorded, so a retry runs it again: its result is not JSON"]);
    }
}

/// Floats of every magnitude, among them such as a reader that rounds once too often alters.
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
        assert!(read.iter().map(|f| f.to_bits()).eq(floats.iter().map(|f| f.to_bits())), "a float came back altered");
    }
}

#[tokio::test]
async fn a_result_that_could_not_be_read_back_is_refused_by_name_when_it_is_stored() {
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
            &format!("{}holds a number that is not finite, which JSON cannot say: 0: NaN", refused("0.1 (tool `nan`")),
            &format!("{}holds a number that is not finite, which JSON cannot say: 0: inf", refused("0.2 (tool `some`")),
        ]);
    }
}
