//! Runs the fuzz targets on their committed corpus, so faults that fuzzing once found are found again without it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

#[expect(unreachable_pub, clippy::expect_used, reason = "this file is a library there, and reports findings by panics")]
#[path = "../../fuzz/targets.rs"]
mod targets;

tests!(every_input_of_the_fuzz_corpus_passes);

fn every_input_of_the_fuzz_corpus_passes() {
    let corpus = crate::support::tree::repository().join("tests/fuzz/corpus");
    let mut names: Vec<String> = files(&corpus).iter().map(|(name, _)| name.clone()).collect();
    names.sort();
    assert_eq!(names, targets::TARGETS.map(|(name, _)| name), "each target has a corpus, each corpus a target");
    for (name, target) in targets::TARGETS {
        for (input, path) in files(&corpus.join(name)) {
            let bytes = std::fs::read(path).unwrap();
            // Each input is also cut short, like a torn file or an aborted stream.
            for length in [bytes.len(), bytes.len() / 2, bytes.len().saturating_sub(1), 1, 0] {
                let part = &bytes[..length.min(bytes.len())];
                let held = catch_unwind(AssertUnwindSafe(|| target(part))).is_ok();
                assert!(held, "tests/fuzz/corpus/{name}/{input}, its first {length} bytes");
            }
        }
    }
}

fn files(folder: &Path) -> Vec<(String, std::path::PathBuf)> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path())).collect()
}
