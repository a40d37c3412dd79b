//! Replacements that are made before texts are compared.

use regex::Regex;

/// A replacement in the text that the key hashes.
#[derive(Clone, Debug)]
pub struct NormalizeRule {
    /// The text to replace.
    pub pattern: Regex,
    /// The replacement; `$1` is the first group.
    pub replace: String,
}
