//! Two writers, torn and damaged files, and kills at any byte.

use super::*;

#[tokio::test]
async fn a_second_writer_is_refused_and_nothing_is_lost() {
    let folder = Folder::new();
    let first = folder.open();
    first.model("a", "x").await;
    let refused = Journal::open(&folder.file()).unwrap_err().to_string();
    assert_eq!(
        refused,
        format!(
            "{}: another writer has this journal open\n  two writers would overwrite each other: wait for the first to \
             end, or give each run its own file",
            folder.file().display()
        )
    );
    first.model("b", "y").await;
    drop(first);
    let retry = folder.open();
    retry.model("a", "").await;
    retry.model("b", "").await;
    assert_eq!(retry.counters(), (2, 0, None));
}

#[tokio::test]
async fn a_run_that_still_exists_is_a_writer() {
    let folder = Folder::new();
    let Attempt { journal, run, .. } = folder.open();
    drop(journal);
    assert!(Journal::open(&folder.file()).is_err());
    drop(run);
    folder.open();
}

/// Runs five steps. The fourth differs if `changed`, so after two attempts the file has a divergence too.
async fn steps(attempt: &Attempt, changed: bool) -> Vec<String> {
    let mut said = Vec::new();
    for (i, prompt) in ["a", "b", "c", if changed { "D" } else { "d" }, "é"].into_iter().enumerate() {
        said.push(if i % 2 == 0 {
            attempt.model(prompt, &format!("{i} {prompt}")).await
        } else {
            attempt.tool("ls", json!({ "path": prompt }), &format!("{i} {prompt}\n")).await
        });
    }
    said
}

#[tokio::test]
async fn a_kill_at_any_byte_loses_at_most_the_line_that_was_being_written() {
    let folder = Folder::new();
    steps(&folder.open(), false).await;
    let result = steps(&folder.open(), true).await;
    let whole = std::fs::read(folder.file()).unwrap();
    let line_ends: Vec<usize> = (0..whole.len()).filter(|i| whole[*i] == b'\n').collect();
    assert_eq!(line_ends.len(), 1 + 5 + 1 + 2, "format, steps, divergence, steps");

    for length in 0..=whole.len() {
        std::fs::write(folder.file(), &whole[..length]).unwrap();
        let retry = folder.open();
        let warnings = retry.journal.warnings();
        let torn = length > 0 && !line_ends.iter().any(|end| [*end, end + 1].contains(&length));
        assert_eq!(warnings.len(), usize::from(torn), "at byte {length}: {warnings:?}");
        if torn {
            let line = line_ends.iter().filter(|end| **end < length).count() + 1;
            let place = format!("steps.jsonl:{line}: torn while it was written, and left out: ");
            assert!(warnings[0].contains(&place), "{warnings:?}");
        }
        // Each step is synced, which is slow, so within a line the attempt goes on only at some bytes.
        if length % 16 > 0 && !line_ends.iter().any(|end| end.abs_diff(length) < 2) {
            continue;
        }
        assert_eq!(steps(&retry, true).await, result, "at byte {length}");
        // The first three steps are never stale. The last two are served only from the second attempt.
        let stored = line_ends.iter().filter(|end| **end <= length).count();
        let expected = match stored {
            0..=4 => stored.saturating_sub(1),
            5..=7 => 3,
            stored => stored - 4,
        };
        assert_eq!(retry.counters().0, expected, "at byte {length}, {stored} lines");
        drop(retry);

        let again = folder.open();
        assert_eq!(steps(&again, true).await, result, "at byte {length}, again");
        assert_eq!(again.counters(), (5, 0, None), "at byte {length}, again");
        assert_eq!(again.journal.warnings(), Vec::<String>::new(), "at byte {length}, again");
    }
}

#[tokio::test]
async fn a_line_with_blocks_that_never_reached_the_disk_is_a_torn_line() {
    let folder = Folder::new();
    folder.open().model("a", "x").await;
    let mut bytes = std::fs::read(folder.file()).unwrap();
    bytes.extend(b"{\"step\":\0\0\0\0}}\n");
    std::fs::write(folder.file(), bytes).unwrap();
    let retry = folder.open();
    retry.warns(&["steps.jsonl:3: torn while it was written, and left out: expected value"]);
    assert_eq!(retry.model("a", "").await, "x");
}

#[tokio::test]
async fn no_part_of_a_torn_line_is_left_after_a_shorter_line() {
    let folder = Folder::new();
    folder.open().model("a", "x").await;
    let mut bytes = std::fs::read(folder.file()).unwrap();
    bytes.extend(format!("{{\"step\":{{\"step\":\"0.1\",\"name\":\"{}", "long".repeat(100)).bytes());
    std::fs::write(folder.file(), bytes).unwrap();
    let retry = folder.open();
    retry.model("a", "").await;
    retry.model("b", "y").await;
    assert_eq!(folder.text().matches('\n').count(), 3);
    assert!(folder.text().ends_with("\"value\":\"y\"}}\n"), "{}", folder.text());
}

/// Returns the error of opening a file with this text, without the file's name. Asserts that the file is unchanged.
#[track_caller]
fn refusal(text: impl AsRef<[u8]>) -> String {
    let folder = Folder::new();
    std::fs::write(folder.file(), &text).unwrap();
    let error = Journal::open(&folder.file()).unwrap_err().to_string();
    assert_eq!(std::fs::read(folder.file()).unwrap(), text.as_ref(), "a refused file is not touched");
    error.strip_prefix(&folder.file().display().to_string()).unwrap().to_owned()
}

#[test]
fn a_damaged_file_is_an_error_with_its_position_and_stays_unchanged() {
    let lines = |lines: &[&str]| [&[r#"{"format":"retake-steps/1"}"#], lines, &[""]].concat().join("\n");
    let step = r#"{"step":{"step":"0.0","kind":"tool","name":"ls","fingerprint":null,"value":1}}"#;
    assert_eq!(
        refusal(lines(&[r#"{"step":{"#, step])),
        ":2:9: EOF while parsing an object\n  the file was not changed; if you delete it, the run starts from scratch and pays \
         for each step again"
    );
    for (line, says) in [
        ("", ":2:1: EOF while parsing a value"),
        (r#"{"format":"retake-steps/1"}"#, ":2:1: expected a step, found a second `format`"),
        (&step.replace("0.0", "0"), ":2:1: expected the number of a step, such as 0.2, found \"0\""),
        (&step.replace("0.0", "0.00"), ":2:1: expected the number of a step, such as 0.2, found \"0.00\""),
        (&step.replace(r#","value":1"#, ""), ":2:67: missing field `value`"),
        (&step.replace("kind", "kinds"), ":2:29: unknown field `kinds`"),
        (r#"{"other":1}"#, ":2:8: unknown variant `other`"),
    ] {
        let said = refusal(lines(&[line, step]));
        assert!(said.starts_with(says), "{line}: {said}");
    }
    assert!(refusal([lines(&[step]).as_bytes(), b"\xff\n", step.as_bytes()].concat()).starts_with(":3:1: "));
}

#[test]
fn a_file_that_is_not_a_journal_or_is_of_another_version_is_an_error() {
    let none = ":1:1: expected a journal of steps, found something else\n  the file was not changed; give the journal its \
                own file";
    for text in ["hello", "hello\n", "{}\n", "{\"format\":\"retake/1\"", "\n", "{\"format\":\"retake-steps/1\"} x\n"] {
        assert_eq!(refusal(text), none, "{text:?}");
    }
    assert_eq!(
        refusal("{\"format\":\"retake-steps/2\"}\n{\"step\":{}}\n"),
        ":1:1: expected the format retake-steps/1, found retake-steps/2: it was written by another version of Retake\n  the \
         file was not changed; retry with that version of Retake"
    );
}

#[test]
fn a_file_that_cannot_be_opened_is_an_error_with_its_name() {
    let folder = Folder::new();
    let error = Journal::open(folder.0.path()).unwrap_err().to_string();
    let path = folder.0.path().display();
    assert_eq!(error, format!("{path}: failed to open it: it is a folder, expected a file"));
    #[cfg(unix)]
    {
        let error = Journal::open(std::path::Path::new("/dev/null")).unwrap_err().to_string();
        assert_eq!(error, "/dev/null: expected a file, found something else");
    }
}

#[test]
fn missing_folders_are_created() {
    let folder = Folder::new();
    Journal::open(&folder.0.path().join("a/b/steps.jsonl")).unwrap();
    assert!(folder.0.path().join("a/b/steps.jsonl").exists());
}
