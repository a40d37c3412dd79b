//! How heavy each crate is: the lines of its code, and the size of its data files.

use super::source::{files, sources};
use crate::support::tree::repository;

/// The width of a line. A longer one, which only a text can make, counts as several.
const WIDTH: usize = 120;

/// Returns the lines of code of a crate: no comments, no blanks, no tests. What is generated counts like what is written.
pub(super) fn lines(of: &str) -> usize {
    let lines = |code: &str| -> usize {
        code.lines().map(str::trim_end).filter(|line| !line.is_empty()).map(|line| line.len().div_ceil(WIDTH)).sum()
    };
    sources(of).iter().map(|source| lines(&source.code)).sum()
}

/// Returns the size of a crate's data files in KB.
pub(super) fn data(of: &str) -> u64 {
    let is_data = |path: &std::path::PathBuf| !path.extension().is_some_and(|ending| ending == "rs" || ending == "md");
    let files = files(&repository().join(of)).into_iter().filter(is_data);
    files.map(|path| path.metadata().unwrap().len()).sum::<u64>().div_ceil(1024)
}
