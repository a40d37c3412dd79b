//! Committed files that are made of the code: a test makes them again and compares.

use std::path::Path;

/// The variable with which such a test writes its file.
const WRITE: &str = "RETAKE_WRITE_REFERENCE";

/// Compares a file of this project with what it has to be, and names the command that writes it.
#[track_caller]
pub(crate) fn assert_current(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os(WRITE).is_some() {
        super::write_whole(&path, text.as_bytes()).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let at = committed.lines().zip(text.lines()).position(|(is, should)| is != should);
    assert!(
        committed == text,
        "{file} is not what the code says, from line {}: write it anew with {WRITE}=1 cargo test --lib reference",
        at.map_or(committed.lines().count().min(text.lines().count()), |at| at) + 1
    );
}
