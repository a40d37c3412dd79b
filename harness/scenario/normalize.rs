//! What is replaced before texts are compared.

use regex::Regex;

/// A replacement in what the key hashes.
#[derive(Clone, Debug)]
pub struct NormalizeRule {
    /// What is replaced.
    pub pattern: Regex,
    /// By what; `$1` is the first group.
    pub replace: String,
}
