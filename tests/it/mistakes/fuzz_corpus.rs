//! The fuzz targets over their committed corpus: what fuzzing found once is found again without it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

#[expect(unreachable_pub, clippy::expect_used, reason = "a library of its own there, whose panics are its findings")]
#[path = "../../fuzz/targets.rs"]
mod targets;

tests!(every_input_of_the_corpus_holds);

fn every_input_of_the_corpus_holds() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus");
    let mut names: Vec<String> = files(&corpus).iter().map(|(name, _)| name.clone()).collect();
    names.sort();
    assert_eq!(names, targets::TARGETS.map(|(name, _)| name), "each target has a corpus, each corpus a target");
    for (name, target) in targets::TARGETS {
        for (input, path) in files(&corpus.join(name)) {
            let bytes = std::fs::read(path).unwrap();
            // And cut short, as a torn file or an aborted stream is.
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
