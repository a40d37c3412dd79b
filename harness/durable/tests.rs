//! The rules of the journal that the module documents, with a test for each.

mod fingerprints;
mod retries;
mod steps;
mod storing;
mod writing;

use std::cell::Cell;
use std::future::{Ready, ready};
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

/// A journal in its own folder.
struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("steps.jsonl")
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.file()).unwrap()
    }

    /// Starts an attempt.
    fn open(&self) -> Attempt {
        let journal = Journal::open(&self.file()).unwrap();
        Attempt { run: journal.run(), journal, calls: Cell::new(0) }
    }
}

/// A journal with one run, and the number of calls that were really made.
struct Attempt {
    journal: Journal,
    run: Run,
    calls: Cell<usize>,
}

impl Attempt {
    /// Runs a model step that answers with a text.
    async fn model(&self, prompt: &str, answer: &str) -> String {
        let request = ModelRequest::new("m", &json!([{ "role": "user", "content": prompt }]));
        self.run.model("plan", &request, |_| self.call(answer)).await.unwrap()
    }

    /// Runs a tool step that returns a text.
    async fn tool(&self, name: &str, args: Value, result: &str) -> String {
        self.run.tool(&ToolRequest::new(name, &args).call_id("call_1"), |_| self.call(result)).await.unwrap()
    }

    fn call(&self, result: &str) -> Ready<Result<String, String>> {
        self.calls.set(self.calls.get() + 1);
        ready(Ok(result.to_owned()))
    }

    /// Returns the number of replayed steps, that of live steps, and where the attempt diverged.
    fn counters(&self) -> (usize, usize, Option<String>) {
        let Counters { replayed, live, diverged_at } = self.journal.counters();
        (replayed, live, diverged_at)
    }

    #[track_caller]
    fn warns(&self, texts: &[&str]) {
        let warnings = self.journal.warnings();
        assert_eq!(warnings.len(), texts.len(), "{warnings:#?}");
        for (warning, text) in warnings.iter().zip(texts) {
            assert!(warning.contains(text), "{text:?} is not in {warning:?}");
        }
    }
}

/// A value that JSON cannot express: a map whose keys are lists.
fn not_json() -> std::collections::BTreeMap<Vec<u8>, u8> {
    [(vec![1], 1)].into()
}
