//! Committed files that are generated from the code: a test generates them again and compares. The unit tests of several crates
//! include this file.

use std::path::Path;

/// The environment variable that makes such a test write its file.
const WRITE: &str = "RETAKE_WRITE_REFERENCE";

/// Asserts that a file of this project has the generated text. The failure names the command that writes the file.
#[track_caller]
pub(crate) fn assert_current(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let at = committed.lines().zip(text.lines()).position(|(is, should)| is != should);
    assert!(
        committed == text,
        "{file} differs from what the code generates, from line {} on: write it with {WRITE}=1 cargo test --workspace --features retake-cli/schema reference",
        at.map_or(committed.lines().count().min(text.lines().count()), |at| at) + 1
    );
}
